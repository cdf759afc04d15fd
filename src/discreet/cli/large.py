"""`discreet protect` of data in parts or larger than memory: which data that is, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.printing import show_json, tell
from discreet.cli.progress import Reporter
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.cli.options import Console, LargeOptions


def is_large(data: Path, memory: str | None) -> bool:
    """Whether data is in several files, or in one that would not fit into the memory."""
    from discreet.data.files.parts import exceeds, is_many
    from discreet.data.memory import parse_size

    return is_many(data) or exceeds(data, None if memory is None else parse_size(memory))


def publish_large(
    data: Path,
    output: Path,
    given: Mapping[str, Any],
    large: LargeOptions,
    alone: Mapping[str, Any],
    *,
    reading: Mapping[str, Any],
    console: Console,
) -> int:
    """Protect data in parts; what only a file in memory can have is refused."""
    from discreet.data.databases.address import is_address
    from discreet.microdata.protect_large import protect_large

    if is_address(output):
        raise InputError("a table larger than memory is released into a folder of Parquet files; name one as output")
    others = ("labels", "target", "bound", "measures", "order")
    asked = [name for name in others if given.get(name) is not None] + [name for name, value in alone.items() if value]
    if asked:
        raise InputError(
            f"{', '.join(dict.fromkeys(asked)).replace('_', '-')}: not for data in parts or larger than memory; leave "
            "it out, or allow more with --memory"
        )
    kept: Any = {name: value for name, value in given.items() if value is not None} | large.given()
    with Reporter(quiet=console.quiet) as report:
        release = protect_large(data, output, reading=reading, force=console.force, progress=report, **kept)
    if console.json:
        show_json(release.evidence)
    if not console.quiet:
        tell(release.summary())
    return 0


def suppress_tables(
    folder: Path,
    output: Path,
    given: Mapping[str, Any],
    where: Mapping[str, Any],
    alone: Mapping[str, Any],
    *,
    console: Console,
) -> int:
    """Suppress cells in all tables of a folder; what is of one table only is refused."""
    from discreet.errors import PARTIAL
    from discreet.tables.suppress_folder import suppress_folder

    asked = [name for name, value in {**alone, "checkpoint": given.get("checkpoint")}.items() if value]
    if asked:
        raise InputError(f"{', '.join(asked).replace('_', '-')}: for one table, not for a folder; leave it out")
    kept: Any = {name: value for name, value in given.items() if value is not None}
    with Reporter(quiet=console.quiet) as report:
        found = suppress_folder(folder, output, force=console.force, progress=report, **where, **kept)
    if console.json:
        show_json({"schema": "discreet/tables/1", "tables": found})
    good = {"done", "kept"}
    for name, told in found.items():
        if not console.quiet or told not in good:
            tell(f"{name}: {told}")
    if not set(found.values()) <= good | {"partial"}:
        return 1
    return PARTIAL if "partial" in found.values() else 0
