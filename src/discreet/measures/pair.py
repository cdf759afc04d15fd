"""An original and its release as numbers, record beside record, and which row was made from which record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values, is_comparable
from discreet.data.dataset import Dataset, accept_part
from discreet.data.embedding import Embedding, embed
from discreet.data.files import record_of
from discreet.data.rows import read_row_map
from discreet.data.values import read_numbers
from discreet.errors import InputError
from discreet.measures.risk import class_ids
from discreet.text import count

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pair:
    """Original and release, aligned.

    Parameters
    ----------
    attributes : tuple of Attribute
        The quasi-identifiers of the original.
    released : tuple of arrays
        Their values in the release, row by row beside the original.
    confidential : tuple of Attribute
        Confidential columns of the release, in the same order of rows.
    weights : array of float, optional
        The sampling weight of each record.
    """

    attributes: tuple[Attribute, ...]
    released: tuple[Values, ...]
    confidential: tuple[Attribute, ...] = ()
    weights: Values | None = None

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.attributes[0].values)

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [attribute.name for attribute in self.attributes]

    @property
    def blank(self) -> list[str]:
        """The attributes that have no value in the release."""
        pairs = zip(self.attributes, self.released, strict=True)
        return [attribute.name for attribute, values in pairs if np.isnan(values).all()]

    def numeric(self, *, blank: bool = True, dates: bool = False) -> tuple[list[str], Points, Points]:
        """The numeric attributes, with or without those blank in the release, with or without dates.

        Names, original and released values.
        """
        left_out = [] if blank else self.blank
        kinds = ("numeric", "date") if dates else ("numeric",)
        chosen = [i for i, a in enumerate(self.attributes) if a.kind in kinds and a.name not in left_out]
        if not chosen:
            return [], np.empty((self.records, 0)), np.empty((self.records, 0))
        return (
            [self.attributes[i].name for i in chosen],
            np.column_stack([self.attributes[i].values for i in chosen]),
            np.column_stack([self.released[i] for i in chosen]),
        )

    @cached_property
    def embedding(self) -> Embedding:
        """The space in which an intruder compares: fixed by the original, all attributes with the same weight."""
        return embed([replace(attribute, weight=1.0, ancestry=()) for attribute in self.attributes])[0]

    @cached_property
    def points(self) -> tuple[Points, Points]:
        """Original and released records as vectors."""
        original = self.embedding.points([attribute.values for attribute in self.attributes])
        return original, self.embedding.points(self.released)

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The class of each released record: those that share all values of the quasi-identifiers."""
        return class_ids(self.released)


_HOW = "name a key column that both files have (key), or give the row map of the release (row_map)"


def align(
    original: Dataset, release: Dataset, quasi: Sequence[str], *, key: str | None = None, row_map: Any = None
) -> tuple[NDArray[np.int64], str]:
    """For each record of the original the row of the release that was made from it; and by what they were aligned.

    By the row map, else by the key, else by position. By position is refused where the order of the release was plainly
    destroyed: linkage and every other comparison by record would then be meaningless. By the key, a record that whoever
    made the release removed has the row -1.
    """
    if key is not None and row_map is not None:
        raise InputError("give either a key or a row map, not both")
    if row_map is not None:
        return read_row_map(row_map, original, release), "row map"
    if key is not None:
        return _by_key(original, release, key), "key"
    if original.frame.height != release.frame.height:
        raise InputError(
            f"{original.name} has {original.frame.height:,} records and {release.name} has {release.frame.height:,}; "
            f"to compare them record by record, {_HOW}"
        )
    _refuse_destroyed_order(original, release, quasi)
    return np.arange(original.frame.height), "position"


def leave_out(
    original: Dataset, data: Any, rows: NDArray[np.int64], suppressed: NDArray[np.bool_] | None = None
) -> tuple[Dataset, NDArray[np.int64]]:
    """The records that have a row in the release, and their places among all; a note says how many have none.

    Parameters
    ----------
    original : Dataset
        All records.
    data : path or frame
        What they came in as.
    rows : array of int
        The row of each record, -1 where it was removed.
    suppressed : array of bool, optional
        The rows of the release that tell nothing, to be left out as well.
    """
    removed = rows < 0
    hidden = np.zeros(len(rows), np.bool_) if suppressed is None else suppressed[rows] & ~removed
    kept = ~removed & ~hidden
    if kept.all():
        return original, np.arange(len(rows))
    notes = []
    if removed.any():
        number = f"{int(removed.sum()):,} of the {len(rows):,} records"
        notes.append(f"{number} of {original.name} are not in the release given and left out")
    if hidden.any():
        notes.append(f"{count(int(hidden.sum()), 'record')} suppressed in the release given (*) left out")
    return accept_part(original, data, kept, notes), np.flatnonzero(kept)


def _by_key(original: Dataset, release: Dataset, key: str) -> NDArray[np.int64]:
    """The row of each record, -1 for those that were removed."""
    sides = []
    for dataset in (original, release):
        if key not in dataset.frame.columns:
            raise InputError(f"{dataset.name}: there is no column '{key}' to be the key")
        column = dataset.frame[key]
        if column.null_count():
            raise InputError(f"{dataset.name}: the key '{key}' is missing in {column.null_count():,} records")
        if column.n_unique() < len(column):
            raise InputError(f"{dataset.name}: the key '{key}' is not unique; a key must name one record")
        sides.append(column)
    if sides[0].dtype != sides[1].dtype:
        sides = _comparable(sides)
    left = pl.DataFrame({"key": sides[0]})
    right = pl.DataFrame({"key": sides[1], "row": np.arange(len(sides[1]))})
    rows = left.join(right, on="key", how="left", maintain_order="left")["row"]
    found = len(rows) - rows.null_count()
    if not found:
        raise InputError(
            f"{release.name}: none of its rows has a record in {original.name} by the key '{key}'; it is a release of "
            "other data, or its key was changed"
        )
    if len(sides[1]) > found:
        raise InputError(
            f"{release.name}: {count(len(sides[1]) - found, 'row')} of it "
            f"{'has' if len(sides[1]) - found == 1 else 'have'} no record in {original.name} by the key '{key}'"
        )
    return rows.fill_null(-1).to_numpy().astype(np.int64)


def _comparable(sides: list[pl.Series]) -> list[pl.Series]:
    """Keys of two types in one: as whole numbers if all of both are, else as texts."""
    texts = [side.cast(pl.String) for side in sides]
    numbers = [text.str.replace(r"\.0$", "").cast(pl.Int64, strict=False) for text in texts]
    return texts if any(column.null_count() for column in numbers) else numbers


def _refuse_destroyed_order(original: Dataset, release: Dataset, quasi: Sequence[str]) -> None:
    """Rows that were sorted on the way out do not stand beside their originals any more."""
    reason = "its record says that its rows were sorted" if _is_recorded_as_sorted(release) else ""
    known = {name for name, dtype in original.frame.schema.items() if is_comparable(dtype)}
    common = [name for name, dtype in release.frame.schema.items() if name in known and is_comparable(dtype)]
    before, after = (Order(dataset, common) for dataset in (original, release))
    for name in common:
        same = before.texts[name].equals(after.texts[name])
        unique = after.texts[name].n_unique() == release.frame.height
        if same and (unique or not after.is_sorted([name])) and not reason:
            # The same row by row, and either as good as a key or in no order of its own: rows were left alone.
            return
        if not same and name not in quasi and before.texts[name].sort().equals(after.texts[name].sort()):
            reason = reason or f"its column '{name}' has the same values in another order"
    could_tell = release.frame.height > 2 and release.frame.n_unique() > 1
    if not reason and could_tell and after.is_sorted(common) and not before.is_sorted(common):
        reason = "its rows are sorted by all columns, and those of the original are not"
    if reason:
        raise InputError(f"{release.name}: the order of the records was destroyed ({reason}); {_HOW}")


def _is_recorded_as_sorted(release: Dataset) -> bool:
    """What the record beside a release of ours says."""
    output = record_of(release.source) if release.source else None
    return output is not None and output.get("order") == "sorted"


class Order:
    """The columns of a file, to ask whether its rows are sorted by them."""

    def __init__(self, dataset: Dataset, names: Sequence[str]) -> None:
        plain = dataset.frame.select(pl.col(name).cast(pl.String, strict=False) for name in names)
        self.texts = {name: plain[name] for name in names}
        # Numbers in text sort as numbers or as text, whichever a tool took them for.
        self.readings = {name: (_as_numbers(dataset, name), plain[name]) for name in names}

    def is_sorted(self, names: Sequence[str]) -> bool:
        """Whether rows ascend by the first column, those equal in it by the second, and so on; missing values last."""
        tied = np.ones(max(len(next(iter(self.texts.values()))) - 1, 0), bool)
        for name in names:
            for column in self.readings[name]:
                ranks = column.rank("dense").fill_null(len(column) + 1).to_numpy()
                if not (ranks[1:] < ranks[:-1])[tied].any():
                    tied &= ranks[1:] == ranks[:-1]
                    break
            else:
                return False
        return True


def _as_numbers(dataset: Dataset, name: str) -> pl.Series:
    column = dataset.frame[name]
    if column.dtype != pl.String:
        return column
    numbers, wrong = read_numbers(column, dataset.decimal)
    return column if len(wrong) else numbers
