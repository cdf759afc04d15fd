"""What an earlier release and this one tell together: records whose classes in both share fewer than k respondents.

Each release on its own shows a respondent among k. Whoever finds him in both knows that he is one of those who stand in
both classes, and these may be fewer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.databases.address import is_address
from discreet.data.dataset import Dataset, accept
from discreet.data.files import read, read_recorded, record_of
from discreet.data.files.source import Source
from discreet.data.rows import read_row_map
from discreet.errors import InputError
from discreet.text import count
from discreet.verification.promise import Promise

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Previous:
    """An earlier release.

    Parameters
    ----------
    dataset : Dataset
        What was released.
    protected : tuple of str
        Its quasi-identifiers and strata, by its record; nothing where it has none.
    row_map : path or frame, optional
        Its row map: the records of this input by their number, or by a column that names respondents.
    """

    dataset: Dataset
    protected: tuple[str, ...] = ()
    row_map: Any = None


def read_previous(release: Any, row_map: Any = None, said: Mapping[str, str] | None = None) -> Previous | None:
    """Read an earlier release, whoever made it: that of the call, else of a configuration; None if there is none."""
    if release is None and row_map is None and said:
        return read_previous(said.get("previous_release"), said.get("previous_row_map"))
    if release is None:
        if row_map is not None:
            raise InputError("previous_row_map is the row map of an earlier release; name that as previous_release")
        return None
    protected: tuple[str, ...] = ()
    if is_address(release):
        release = read(release)
    elif isinstance(release, str | Path):
        release = Path(release)
    if isinstance(release, Path | Source) and (output := record_of(release)):
        path = release.path if isinstance(release, Source) else release
        record = json.loads(path.with_name(f"{path.name}.release.json").read_text(encoding="utf-8"))
        promise = record.get("promise")
        protected = tuple(Promise.from_dict(promise if isinstance(promise, dict) else {}).columns())
        release = release if isinstance(release, Source) else read_recorded(release, output)
    return Previous(accept(release, "the previous release"), protected, row_map)


def intersect(
    previous: Previous,
    release: pl.DataFrame,
    original: Dataset,
    protected: Sequence[str],
    unchanged: Sequence[str],
    k: int,
) -> dict[str, Any]:
    """Count the records that stand in both releases and whose two classes share fewer than k.

    Parameters
    ----------
    previous : Previous
        The earlier release.
    release : polars.DataFrame
        This release, in the order of the original.
    original : Dataset
        The original.
    protected : sequence of str
        Its quasi-identifiers and strata: records that share their values are a class.
    unchanged : sequence of str
        Columns that are released as they are, by which an intruder without further knowledge links both releases.
    k : int
        How many must share what is known of a record.
    """
    earlier = previous.dataset.frame
    names = [name for name in previous.protected or protected if name in earlier.columns]
    if not names:
        raise InputError(f"{previous.dataset.name}: it has none of the quasi-identifiers, so it has no classes")
    now, before = _classes(release, protected), _classes(earlier, names)
    if previous.row_map is not None:
        records, rows, by = _follow(previous, original)
        pairs, inverse, sizes = np.unique(
            np.column_stack([now[records], before[rows]]), axis=0, return_inverse=True, return_counts=True
        )
        shared = sizes[inverse.ravel()] if len(pairs) else np.zeros(0, np.int64)
        return _tell(by, [], shared, k)
    held = [name for name in unchanged if name in earlier.columns]
    return _tell("values", held, _link_by_values(release, earlier, held, now, before) if held else np.zeros(0), k)


def _tell(by: str, columns: list[str], shared: NDArray[Any], k: int) -> dict[str, Any]:
    return {
        "linked_by": by,
        "columns": columns,
        "linked": len(shared),
        "exposed": int(np.count_nonzero(shared < k)),
        "smallest": int(shared.min()) if len(shared) else None,
        "k": k,
    }


def together(found: Mapping[str, Any] | None) -> str:
    """What the earlier release and this one tell together."""
    if found is None:
        return ""
    how = (
        f"values of {', '.join(found['columns']) or 'no column'}"
        if found["linked_by"] == "values"
        else found["linked_by"]
    )
    linked = f"{count(found['linked'], 'record')} linked with the earlier release by {how}"
    if not found["exposed"]:
        return (
            f"{linked}; the classes of each have at least {found['k']} in common." if found["linked"] else f"{linked}."
        )
    exposed, smallest = found["exposed"], found["smallest"]
    return (
        f"{linked}; the two classes of {count(exposed, 'record')} have fewer than {found['k']} in common, the smallest "
        f"{smallest}: whoever finds them in both releases finds them among so few."
    )


def _classes(frame: pl.DataFrame, names: Sequence[str]) -> Ints:
    """The class of each row: those that share the values of some columns; a missing value equals a missing value."""
    row = "\0row"
    groups = frame.select(names).with_row_index(row).group_by(list(names), maintain_order=True).agg(row)
    ids = np.empty(frame.height, np.int64)
    listed = groups.select(row).with_row_index("\0class").explode(row)
    ids[listed[row].to_numpy()] = listed["\0class"].to_numpy()
    return ids


def _follow(previous: Previous, original: Dataset) -> tuple[Ints, Ints, str]:
    """The records that stand in both, their rows in the earlier release, and by what they were linked."""
    frame = accept(previous.row_map).frame
    keys = [name for name in frame.columns if name in original.frame.columns]
    if not keys:
        return np.arange(original.frame.height), read_row_map(previous.row_map, original, previous.dataset), "row map"
    key = keys[0]
    if "release_row" not in frame.columns:
        raise InputError("previous_row_map: not a row map; it must have the column release_row")
    link = frame.select(pl.col(key).cast(pl.String), pl.col("release_row").cast(pl.Int64, strict=False)).drop_nulls()
    known = original.frame.select(pl.col(key).cast(pl.String)).with_row_index("record").drop_nulls()
    height = previous.dataset.frame.height
    if link[key].is_duplicated().any() or known[key].is_duplicated().any():
        raise InputError(f"previous_row_map: '{key}' must name each respondent once, in it and in {original.name}")
    if not link["release_row"].is_between(1, height).all() or link["release_row"].is_duplicated().any():
        raise InputError(f"previous_row_map: it does not number the {height:,} rows of {previous.dataset.name}")
    both = known.join(link, on=key, how="inner")
    return both["record"].to_numpy().astype(np.int64), both["release_row"].to_numpy() - 1, key


def _link_by_values(
    release: pl.DataFrame, earlier: pl.DataFrame, held: list[str], now: Ints, before: Ints
) -> NDArray[np.int64]:
    """For each record that unchanged values alone name in both releases, how many may stand in both of its classes.

    Those are at most as many as the two classes have rows with the same unchanged values.
    """
    both = pl.concat([_texts(frame, held) for frame in (release, earlier)])
    ids = _classes(both, held)
    mine = pl.DataFrame({"now": now, "id": ids[: release.height]})
    theirs = pl.DataFrame({"before": before, "id": ids[release.height :]})
    alone = [frame.filter(~pl.col("id").is_duplicated()) for frame in (mine, theirs)]
    linked = alone[0].join(alone[1], on="id", how="inner").select("now", "before")
    shared = (
        linked.unique()
        .join(mine.group_by("now", "id").len("mine"), on="now")
        .join(theirs.group_by("before", "id").len("theirs"), on=["before", "id"])
        .group_by("now", "before")
        .agg(pl.min_horizontal("mine", "theirs").sum().alias("shared"))
    )
    return linked.join(shared, on=["now", "before"])["shared"].to_numpy().astype(np.int64)


def _texts(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Columns as texts, a whole number the same whether it came as an integer or not."""
    return frame.select(pl.col(name).cast(pl.String).str.strip_chars().str.replace(r"\.0+$", "") for name in names)
