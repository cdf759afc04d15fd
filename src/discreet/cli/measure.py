"""`discreet measure`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet.cli.options import (
    CONSOLE,
    DETECT,
    LINKAGE,
    TYPES,
    Columns,
    Console,
    LinkageOptions,
    Reading,
    TypeOptions,
    documented_by,
)
from discreet.measures.measure import measure as verb


@documented_by(verb)
def measure(
    original: Path,
    released: Annotated[Path, Parameter(name="RELEASE")],
    /,
    *,
    quasi: Columns = None,
    confidential: Columns = None,
    key: str | None = None,
    row_map: Path | None = None,
    measures: Columns = None,
    types: TypeOptions = TYPES,
    config: Path | None = None,
    linkage: LinkageOptions = LINKAGE,
    seed: int = 0,
    per_record: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    original
        The microdata before protection.
    released
        The release, whoever made it.
    per_record
        Also write an internal file with the risk of each record of the original.
    force
        Replace that file if it exists already.
    json
        Print the measures as JSON to standard output.
    """
    from discreet.cli.progress import Reporter
    from discreet.data.files import check_writable_format, read_recorded, record_of, write
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.evidence import as_json, describe_input, evidence

    if per_record:
        format_name = check_writable_format(per_record)
        AtomicFiles([per_record], force=console.force)
        read = {"the original": original, "the release": released, "the row map": row_map, "the configuration": config}
        spare([per_record], read)
        measures = [*(measures or ["fast"]), "risk"]
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        before = reading.read(original, beside=released)
        # Where nothing is said of the reading, the record of a release of ours knows best.
        record = record_of(released) if reading == DETECT else None
        after = read_recorded(released, record) if record else reading.read(released, beside=original)
        found = verb(
            before,
            after,
            quasi=quasi,
            confidential=confidential,
            key=key,
            row_map=row_map,
            measures=measures or "fast",
            config=config,
            seed=seed,
            progress=report,
            **types.given(),
            **linkage.given(),
        )
    if per_record:
        import polars as pl

        columns = {"input_record": range(1, found.records + 1), **found.per_record}
        frame = pl.DataFrame(columns).fill_nan(None)
        with AtomicFiles([per_record], force=console.force) as files:
            write(frame, files.temporary(per_record), format_name=format_name)
    if console.json:
        account = evidence(
            "measures",
            parameters={"alignment": found.alignment, "choices": asdict(found.choices)},
            measures=found.figures,
            given=describe_input(before, before.frame.height, before.frame.width),
            output=describe_input(after, after.frame.height, after.frame.width),
            notes=found.notes,
        )
        print(as_json(account))
    if not console.quiet:
        print(found.summary(), file=sys.stderr)
    return 0
