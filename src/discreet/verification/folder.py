"""The independent recount of a release in many files, which need not fit into memory.

Combinations are counted part by part; the counts are divided by a hash of the combination into partitions, so that all
counts of one meet in the same partition, where the combinations themselves are compared. Where more than k is promised
the records are divided so, and each partition is checked as a release of its own.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.data.files import sha256
from discreet.data.files.parts import cut, find_parts, read_head, read_piece
from discreet.data.files.source import Dialect
from discreet.errors import InputError, PromiseNotKept
from discreet.verification.promise import GroupCheck, Promise, Verification, check

MANIFEST = "release.json"
# Rows of counts that a partition holds, about: some hundred megabytes.
PARTITION_ROWS = 4_000_000
_RECORDS = "records"


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """The record of a release that is a folder."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{folder}: there is no {MANIFEST} in it; it is no release, or one that was never sealed"
        ) from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{folder / MANIFEST}: not a record of a release (cannot be read as JSON)") from None
    if not isinstance(content, dict) or "promise" not in content:
        raise InputError(f"{folder / MANIFEST}: not a record of a release (it has no promise)")
    return content


def check_parts(folder: Path, output: Mapping[str, Any]) -> list[str]:
    """Which parts are not the files they were; refused where some are missing, or others are among them."""
    listed = {part["file"]: part["sha256"] for part in output.get("parts", [])}
    there = {path.name for path in folder.iterdir() if path.name != MANIFEST}
    faults = [f"{name} is missing" for name in listed if name not in there]
    faults += [f"{name} does not belong to the release" for name in sorted(there - set(listed))]
    if listed and faults:
        raise PromiseNotKept(f"{folder.name} is not the release that its record is of: {'; '.join(faults)}")
    return [
        f"{name} is not the very file that the record was written for (its SHA-256 differs)"
        for name, digest in listed.items()
        if sha256(folder / name) != digest
    ]


def verify_folder(
    folder: Path, promise: Promise, output: Mapping[str, Any] | None = None, *, room: Path | None = None
) -> Verification:
    """Count every combination in all parts of a release, and what each has of confidential columns.

    Parameters
    ----------
    folder : Path
        The folder of its parts, or one file.
    promise : Promise
        What it promises.
    output : mapping, optional
        What its record says of the files.
    room : Path, optional
        A folder for what does not fit into memory; by default the system's for temporary files.
    """
    if promise.t or promise.household:
        raise InputError("of a release in parts t and household cannot be verified; verify a single file")
    changed = check_parts(folder, output) if output and folder.is_dir() else []
    with tempfile.TemporaryDirectory(dir=room) as name:
        scratch = Path(name)
        if promise.held:
            records, found = _check_records(folder, promise, output, scratch)
        else:
            records, found = _count(folder, promise, output, scratch)
    if output and output.get("parts") and output.get("records") != records:
        raise PromiseNotKept(f"{folder.name} has {records:,} records, and its record says {output.get('records'):,}")
    persons = None if promise.person is None else False
    return Verification(promise, records, tuple(found), tuple(changed), persons)


def _count(
    folder: Path, promise: Promise, output: Mapping[str, Any] | None, scratch: Path
) -> tuple[int, list[GroupCheck]]:
    """Count combinations: of each batch first, then of all batches in which one may stand."""
    found, records = [], 0
    for group in promise.groups:
        names = [*promise.by, *group]
        counted = (
            frame.lazy().group_by(frame.columns).len(_RECORDS).collect()
            for frame in _batches(folder, names, output, len(names), scratch)
        )
        keys = [str(place) for place in range(len(names))]
        combinations = small = exposed = total = 0
        smallest: int | None = None
        for frame in _divide(counted, scratch, keys):
            sizes = frame.group_by(keys).agg(pl.col(_RECORDS).sum())[_RECORDS]
            rare = sizes.filter(sizes < promise.k)
            combinations, total = combinations + len(sizes), total + int(sizes.sum())
            small, exposed = small + len(rare), exposed + int(rare.sum())
            least = int(sizes.min())  # type: ignore[arg-type]
            smallest = least if smallest is None else min(smallest, least)
        records = total
        if smallest is None:
            raise InputError("the release has no records")
        found.append(GroupCheck(tuple(names), combinations, smallest, small, exposed))
    return records, found


def _check_records(
    folder: Path, promise: Promise, output: Mapping[str, Any] | None, scratch: Path
) -> tuple[int, list[GroupCheck]]:
    """Check the records of each partition as a release of its own: a class is in one partition as a whole."""
    found, records = [], 0
    held = list(dict.fromkeys(said.column for said in promise.held))
    decimal = ((output or {}).get("dialect") or {}).get("decimal", ".")
    for group in promise.groups:
        names = [*promise.by, *group]
        own = replace(promise, groups=(tuple(group),), person=None)
        whole: GroupCheck | None = None
        records = 0
        batches = _batches(folder, [*names, *held], output, len(names), scratch)
        for frame in _divide(batches, scratch, [str(place) for place in range(len(names))]):
            verdict = check(frame.rename(dict(zip(frame.columns, [*names, *held], strict=True))), own, decimal=decimal)
            records += frame.height
            whole = verdict.checks[0] if whole is None else _add(whole, verdict.checks[0])
        if whole is None:
            raise InputError("the release has no records")
        found.append(whole)
    return records, found


def _add(one: GroupCheck, other: GroupCheck) -> GroupCheck:
    """What was counted in two partitions, which share no class."""
    held = tuple(
        replace(
            mine,
            worst=min(mine.worst, theirs.worst),
            broken=mine.broken + theirs.broken,
            exposed=mine.exposed + theirs.exposed,
        )
        for mine, theirs in zip(one.held, other.held, strict=True)
    )
    return GroupCheck(
        one.columns,
        one.combinations + other.combinations,
        min(one.smallest, other.smallest),
        one.too_small + other.too_small,
        one.exposed + other.exposed,
        held,
    )


def _divide(frames: Iterator[pl.DataFrame], scratch: Path, keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Divide frames by a hash of their keys, on the disk, into as many as it takes for each to be of moderate size."""
    stage, rows = scratch / "all", 0
    stage.mkdir()
    for number, frame in enumerate(frames):
        frame.write_ipc(stage / f"{number}.arrow")
        rows += frame.height
    partitions = max(1, -(-rows // PARTITION_ROWS))
    if partitions > 1:
        pieces: list[list[Path]] = [[] for _ in range(partitions)]
        for path in sorted(stage.iterdir(), key=lambda one: int(one.stem)):
            frame = pl.read_ipc(path)
            home = frame.select(keys).hash_rows(seed=1) % partitions
            for number, part in enumerate(pieces):
                part.append(stage / f"{path.stem}-{number}.part")
                frame.filter(home == number).write_ipc(part[-1])
            path.unlink()
    else:
        pieces = [sorted(stage.iterdir(), key=lambda one: int(one.stem))]
    for part in pieces:
        if part:
            yield pl.concat([pl.read_ipc(path) for path in part])
            for path in part:
                path.unlink()
    stage.rmdir()


def _batches(
    folder: Path, names: Sequence[str], output: Mapping[str, Any] | None, keys: int, scratch: Path
) -> Iterator[pl.DataFrame]:
    """The columns of a release, batch by batch, named by their place; so many first ones are to be compared."""
    paths, format_name = find_parts(folder)
    dialect: Dialect | None = None
    if format_name == "csv":
        said = (output or {}).get("dialect")
        how = {} if not said else {name: said[name] for name in ("delimiter", "encoding", "decimal", "header")}
        head = read_head(paths[0], format_name, scratch, **how)
        dialect = head.dialect
    else:
        head = read_head(paths[0], format_name, scratch)
    frame = head.frame
    if output and dialect is not None and not dialect.header and len(output.get("columns", [])) == frame.width:
        frame = frame.rename(dict(zip(frame.columns, output["columns"], strict=True)))
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise InputError(f"column '{absent[0]}' of the promise is not in the release")
    for piece in cut(paths, format_name):
        for batch in read_piece(piece, format_name, names, frame.schema, dialect):
            batch.columns = [str(place) for place in range(batch.width)]
            yield batch.with_columns(_bits(batch[str(place)]) for place in range(keys))


def _bits(column: pl.Series) -> pl.Series:
    """Floats by their bits: whoever reads the file can tell minus zero from zero; missing ones are alike."""
    if not column.dtype.is_float():
        return column
    return pl.Series(column.name, column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy().view(np.int64))
