"""The independent recount of a release in many files, which need not fit into memory, on one machine or many.

Combinations are counted piece by piece; the counts are divided by a hash of the combination into partitions, so that
all counts of one meet in the same partition, where the combinations themselves are compared. Where more than k is
promised the records are divided so, and each partition is checked as a release of its own. Households are brought
together first, and then divided by what all of their members look like. Persons are found by original and row map.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.data.files import sha256
from discreet.data.files.parts import Piece, cut, estimate_records, find_parts, read_head, read_piece
from discreet.data.files.source import Dialect
from discreet.errors import InputError, PromiseNotKept
from discreet.executors import Pool
from discreet.verification.confidential import RECORD, Closeness
from discreet.verification.distributions import add_counts, count_values
from discreet.verification.promise import GroupCheck, Promise, Verification, check

MANIFEST = "release.json"
# Rows that a partition holds, about: some hundred megabytes.
PARTITION_ROWS = 4_000_000
_RECORDS, _LOOK, _PERSON, _VOTES = "records", "look", "person", "votes"


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


def check_parts(folder: Path, output: Mapping[str, Any], pool: Pool) -> list[str]:
    """Which parts are not the files they were; refused where some are missing, or others are among them."""
    listed = {part["file"]: part["sha256"] for part in output.get("parts", [])}
    there = {path.name for path in folder.iterdir() if path.name != MANIFEST}
    faults = [f"{name} is missing" for name in listed if name not in there]
    faults += [f"{name} does not belong to the release" for name in sorted(there - set(listed))]
    if listed and faults:
        raise PromiseNotKept(f"{folder.name} is not the release that its record is of: {'; '.join(faults)}")
    found = pool.run(sha256, [(folder / name,) for name in listed])
    return [
        f"{name} is not the very file that the record was written for (its SHA-256 differs)"
        for (name, digest), now in zip(listed.items(), found, strict=True)
        if now != digest
    ]


def verify_folder(
    folder: Path,
    promise: Promise,
    output: Mapping[str, Any] | None = None,
    *,
    origin: tuple[str | Path, str | Path] | None = None,
    room: Path | None = None,
    pool: Pool | None = None,
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
    origin : tuple of paths, optional
        The original, which has the column of persons, and the row map: files or folders of parts.
    room : Path, optional
        A folder for what does not fit into memory, which all workers see; by default the system's for temporary files.
    pool : Pool, optional
        What the work is done on; by default this process.
    """
    pool = pool or Pool(None, 1)
    changed = check_parts(folder, output, pool) if output and folder.is_dir() else []
    seen = promise
    if promise.person is not None and origin is None:
        # Whose a record is stands in no part: how many different values there are can be seen, but not who has votes.
        seen = replace(promise, person=None, t=(), l=tuple(said for said in promise.l if not said.entropy))
    with ExitStack() as stack:
        stack.callback(_load.cache_clear)
        scratch = stack.enter_context(tempfile.TemporaryDirectory(dir=room))
        _state(Path(scratch), folder, seen, output)
        if seen.person is not None and origin is not None:
            _trace_persons(scratch, folder, seen.person, *origin, pool)
        found, records = [], 0
        for group in range(len(promise.groups)):
            records, checked = _recount(scratch, group, pool)
            found.append(checked)
    if output and output.get("parts") and output.get("records") != records:
        raise PromiseNotKept(f"{folder.name} has {records:,} records, and its record says {output.get('records'):,}")
    persons = None if promise.person is None else origin is not None
    return Verification(promise, records, tuple(found), tuple(changed), persons)


def _trace_persons(scratch: str, folder: Path, person: str, original: Any, row_map: Any, pool: Pool) -> None:
    """Find by the original and the row map whose each row is and its vote, and keep both for each piece."""
    plan = _load(scratch)
    whose = _read_columns(original, [person], plan.scratch).to_series()
    if whose.null_count():
        raise InputError(f"{original}: column '{person}' does not say whose {whose.null_count():,} records are")
    codes = whose.rank("dense").to_numpy().astype(np.int64)
    votes = 1.0 / np.bincount(codes)[codes]
    link = _read_columns(row_map, ["release_row", "input_record"], plan.scratch).cast(pl.Int64, strict=False)
    sizes = pool.run(count_piece, [(scratch, piece) for piece in range(len(plan.pieces))])
    whole = np.arange(1, len(codes) + 1)
    if sum(sizes) != len(codes) or any(not np.array_equal(np.sort(one), whole) for one in link.get_columns()):
        raise InputError(
            f"{row_map}: it does not link the {len(codes):,} records of {original} to the {sum(sizes):,} rows of "
            f"{folder.name}, each once; it is of another release"
        )
    records = link.sort("release_row")["input_record"].to_numpy() - 1
    for piece, rows in enumerate(np.split(records, np.cumsum(sizes)[:-1])):
        traced = pl.DataFrame({_PERSON: codes[rows], _VOTES: votes[rows]})
        traced.write_ipc(plan.scratch / f"persons-{piece:05}.arrow")


def _read_columns(data: str | Path, names: Sequence[str], scratch: Path) -> pl.DataFrame:
    """Some columns of a file or of many, in the order of the files."""
    paths, format_name = find_parts(data)
    head = read_head(paths[0], format_name, scratch)
    absent = [name for name in names if name not in head.frame.columns]
    if absent:
        raise InputError(f"{data}: there is no column '{absent[0]}'")
    pieces = cut(paths, format_name)
    return pl.concat(
        batch for piece in pieces for batch in read_piece(piece, format_name, names, head.frame.schema, head.dialect)
    )


@dataclass(frozen=True, eq=False)
class _Recount:
    """What tasks need to know."""

    scratch: Path
    format: str
    schema: pl.Schema
    dialect: Dialect | None
    pieces: list[Piece]
    partitions: int
    promise: Promise

    @property
    def decimal(self) -> str:
        return self.dialect.decimal if self.dialect else "."

    @property
    def counts_alone(self) -> bool:
        """Whether nothing but the records of each combination is counted."""
        return not self.promise.held and self.promise.unit == RECORD

    def names(self, group: int) -> list[str]:
        """The columns whose combinations are counted."""
        return [*self.promise.by, *self.promise.groups[group]]

    def extra(self) -> list[str]:
        """The columns that are looked at beside them."""
        held = list(dict.fromkeys(said.column for said in self.promise.held))
        return [*held, *([self.promise.household] if self.promise.household else [])]


def _state(scratch: Path, folder: Path, promise: Promise, output: Mapping[str, Any] | None) -> None:
    """Find the parts and how they are written, and keep it for the tasks."""
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
    named = [*promise.columns(), *(said.column for said in promise.held)]
    named += [] if promise.household is None else [promise.household]
    absent = [name for name in named if name not in frame.columns]
    if absent:
        raise InputError(f"column '{absent[0]}' of the promise is not in the release")
    frame.clear().write_ipc(scratch / "schema.arrow")
    plan = {
        "format": format_name,
        "dialect": asdict(dialect) if dialect else None,
        "pieces": [asdict(piece) for piece in cut([path.resolve() for path in paths], format_name)],
        "partitions": -(-estimate_records(paths, format_name) // PARTITION_ROWS),
        "promise": promise.as_dict(),
    }
    (scratch / "plan.json").write_text(json.dumps(plan), encoding="utf-8")


@lru_cache(maxsize=2)
def _load(scratch: str) -> _Recount:
    folder = Path(scratch)
    said = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    return _Recount(
        folder,
        said["format"],
        pl.read_ipc(folder / "schema.arrow").schema,
        Dialect(**said["dialect"]) if said["dialect"] else None,
        [Piece(**piece) for piece in said["pieces"]],
        said["partitions"],
        Promise.from_dict(said["promise"]),
    )


def _recount(scratch: str, group: int, pool: Pool) -> tuple[int, GroupCheck]:
    """Count over one group of columns: how many records there are, and what was found."""
    plan = _load(scratch)
    every = [(scratch, group, partition) for partition in range(plan.partitions)]
    pool.run(divide_piece, [(scratch, group, piece) for piece in range(len(plan.pieces))])
    if plan.promise.household is not None:
        pool.run(divide_homes, every)
    stage = "homes" if plan.promise.household is not None else "rows"
    for place in range(len(plan.promise.t)):
        counted = [pl.read_ipc(path) for path in sorted(plan.scratch.glob(f"{stage}-{group}-*.{place}"))]
        add_counts(counted).write_ipc(plan.scratch / f"whole-{place}.arrow")
    whole: GroupCheck | None = None
    records = 0
    for found in pool.run(check_partition, [(*given, stage) for given in every]):
        if found is not None:
            records += found[0]
            whole = found[1] if whole is None else _add(whole, found[1])
    if whole is None:
        raise InputError("the release has no records")
    for path in sorted(plan.scratch.glob(f"*-{group}-*")):
        path.unlink()
    return records, whole


def count_piece(scratch: str, number: int) -> int:
    """How many rows a piece of the release has."""
    plan = _load(scratch)
    first = list(plan.schema)[:1]
    return sum(batch.height for batch in read_piece(plan.pieces[number], plan.format, first, plan.schema, plan.dialect))


def divide_piece(scratch: str, group: int, number: int) -> None:
    """Read one piece of the release, and divide its counts or its records among the partitions."""
    plan = _load(scratch)
    promise, names = plan.promise, plan.names(group)
    keys = [str(place) for place in range(len(names))]
    frames: list[pl.DataFrame] = []
    for batch in read_piece(plan.pieces[number], plan.format, [*names, *plan.extra()], plan.schema, plan.dialect):
        batch.columns = [str(place) for place in range(batch.width)]
        frame = batch.with_columns(_bits(batch[key]) for key in keys)
        if plan.counts_alone:
            frame = frame.lazy().group_by(keys).len(_RECORDS).collect()
        frames.append(frame)
    if not frames:
        return
    rows = pl.concat(frames)
    if promise.household is not None:
        _divide(plan, rows, [str(rows.width - 1)], f"rows-{group}-{number:05}")
        return
    votes = None
    if promise.person is not None:
        traced = pl.read_ipc(plan.scratch / f"persons-{number:05}.arrow")
        rows, votes = pl.concat([rows, traced], how="horizontal"), traced[_VOTES].to_numpy()
    _count_values(plan, rows, f"rows-{group}-{number:05}", group, votes)
    _divide(plan, rows, keys, f"rows-{group}-{number:05}")


def divide_homes(scratch: str, group: int, partition: int) -> None:
    """Divide whole households by what they look like: the combinations of all members, put in order."""
    plan = _load(scratch)
    rows = _read(plan, f"rows-{group}", partition)
    if rows is None:
        return
    household = str(rows.width - 1)
    lost = rows[household].null_count()
    if lost:
        raise InputError(f"column '{plan.promise.household}' does not say of which household {lost:,} records are")
    keys = [str(place) for place in range(len(plan.names(group)))]
    # Each combination as a text that no other has.
    texts = rows.select(pl.struct(keys).struct.json_encode().alias(_LOOK)).to_series()
    homes = pl.DataFrame([rows[household].alias("home"), texts]).group_by("home").agg(pl.col(_LOOK).sort(), pl.len())
    homes = homes.with_columns(pl.col(_LOOK).list.join("\n"))
    joined = rows.join(homes, left_on=household, right_on="home", how="left", maintain_order="left")
    votes = 1.0 / joined["len"].cast(pl.Float64).to_numpy()
    _count_values(plan, rows, f"homes-{group}-{partition:05}", group, votes)
    _divide(plan, joined.drop("len"), [_LOOK], f"homes-{group}-{partition:05}")


def check_partition(scratch: str, group: int, partition: int, stage: str) -> tuple[int, GroupCheck] | None:
    """Check one partition: how many records it has, and what was found."""
    plan = _load(scratch)
    rows = _read(plan, f"{stage}-{group}", partition)
    if rows is None:
        return None
    promise, names = plan.promise, plan.names(group)
    if plan.counts_alone:
        keys = [str(place) for place in range(len(names))]
        sizes = rows.group_by(keys).agg(pl.col(_RECORDS).sum())[_RECORDS]
        rare = sizes.filter(sizes < promise.k)
        least = int(sizes.min())  # type: ignore[arg-type]
        return int(sizes.sum()), GroupCheck(tuple(names), len(sizes), least, len(rare), int(rare.sum()))
    frame = rows.drop(_LOOK, _PERSON, _VOTES, strict=False)
    frame = frame.rename(dict(zip(frame.columns, [*names, *plan.extra()], strict=True)))
    own = replace(promise, groups=(promise.groups[group],))
    columns = [said.column for said in promise.t]
    known = {column: pl.read_ipc(plan.scratch / f"whole-{place}.arrow") for place, column in enumerate(columns)}
    traced = promise.person is not None
    persons, votes = (rows[_PERSON], rows[_VOTES].to_numpy()) if traced else (None, None)
    found = check(frame, own, persons=persons, votes=votes, decimal=plan.decimal, whole=known)
    return frame.height, found.checks[0]


def _count_values(plan: _Recount, rows: pl.DataFrame, name: str, group: int, votes: Any) -> None:
    """Count the values of the columns of t-closeness, for the distribution in the whole release."""
    named = [*plan.names(group), *plan.extra()]
    for place, said in enumerate(plan.promise.t):
        column = rows[str(named.index(said.column))].alias(said.column)
        count_values(column, said.scale, plan.decimal, votes).write_ipc(plan.scratch / f"{name}.{place}")


def _divide(plan: _Recount, frame: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    """Divide rows by a hash of their keys, on the disk."""
    if plan.partitions == 1:
        frame.write_ipc(plan.scratch / f"{name}-00000.arrow")
        return
    home = frame.select(keys).hash_rows(seed=1) % plan.partitions
    for partition in range(plan.partitions):
        frame.filter(home == partition).write_ipc(plan.scratch / f"{name}-{partition:05}.arrow")


def _read(plan: _Recount, name: str, partition: int) -> pl.DataFrame | None:
    """The rows of a partition, whoever wrote them, in their order."""
    frames = [pl.read_ipc(path) for path in sorted(plan.scratch.glob(f"{name}-*-{partition:05}.arrow"))]
    rows = pl.concat(frames) if frames else None
    return rows if rows is not None and rows.height else None


def _add(one: GroupCheck, other: GroupCheck) -> GroupCheck:
    """What was counted in two partitions, which share no class."""
    held = tuple(
        replace(
            mine,
            worst=(max if isinstance(mine.promise, Closeness) else min)(mine.worst, theirs.worst),
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


def _bits(column: pl.Series) -> pl.Series:
    """Floats by their bits: whoever reads the file can tell minus zero from zero; missing ones are alike."""
    if not column.dtype.is_float():
        return column
    return pl.Series(column.name, column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy().view(np.int64))
