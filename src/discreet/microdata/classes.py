"""Classes of records that are protected apart: strata, within them patterns of missing values; per attribute group.

Small patterns are blanked until k records share one.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute
from discreet.data.dataset import Dataset
from discreet.errors import InputError


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows of each class, and where values have to be blanked so that a class shares one missing pattern."""

    rows: list[NDArray[np.int64]]
    blank: NDArray[np.bool_]

    @property
    def blanked(self) -> int:
        """Number of values that were there and are blanked."""
        return int(self.blank.sum())


def split(dataset: Dataset, attributes: Sequence[Attribute], by: list[str], k: int) -> Classes:
    """Split the records by stratum and missing pattern into classes of at least k."""
    strata = find_strata(dataset, by)
    small = [rows for rows in strata if len(rows) < k]
    if small:
        raise InputError(_too_small(dataset, by, small, len(strata), k))
    missing = find_missing(dataset, attributes)
    names = [attribute.name for attribute in attributes]
    parts: list[NDArray[np.int64]] = []
    blank = np.zeros_like(missing)
    for rows in strata:
        for pattern, members in pattern_classes(missing[rows], k, names):
            parts.append(rows[members])
            blank[np.ix_(rows[members], np.array(sorted(pattern), np.int64))] = True
    return Classes(parts, blank & ~missing)


def find_missing(dataset: Dataset, attributes: Sequence[Attribute]) -> NDArray[np.bool_]:
    """Where values are missing and stay so, records × attributes; refused where they may not be."""
    missing = np.column_stack([np.isnan(attribute.values) for attribute in attributes])
    for column, attribute in enumerate(attributes):
        if attribute.missing == "error" and missing[:, column].any():
            first = int(np.argmax(missing[:, column]))
            raise InputError(
                f"{dataset.name}: column '{attribute.name}' has {missing[:, column].sum():,} missing values, the first "
                f"at {dataset.place(first)}; fill them, or choose missing 'separate' or 'impute'"
            )
        if attribute.missing == "impute":
            missing[:, column] = False
    return missing


def find_strata(dataset: Dataset, by: list[str]) -> list[NDArray[np.int64]]:
    """The records of each stratum."""
    if not by:
        return [np.arange(dataset.frame.height)]
    groups = dataset.frame.select(by).with_row_index("\0row").group_by(by, maintain_order=True).agg("\0row")
    return [np.asarray(rows, dtype=np.int64) for rows in groups["\0row"].to_list()]


def _too_small(dataset: Dataset, by: list[str], small: list[NDArray[np.int64]], strata: int, k: int) -> str:
    if not by:
        return (
            f"{dataset.name}: k = {k} is more than the {dataset.frame.height:,} records there are; choose a smaller k"
        )
    least = min(small, key=len)
    return (
        f"{dataset.name}: {len(small)} of {strata} strata of {', '.join(by)} have fewer than k = {k} records; the "
        f"smallest has {len(least)} (its first record: {dataset.place(int(least[0]))}). Merge strata, or name "
        "fewer columns as by."
    )


@dataclass(frozen=True, eq=False)
class AttributeGroup:
    """Attributes that are protected together.

    Parameters
    ----------
    columns : tuple of int
        Their positions among all attributes.
    classes : Classes
        The classes of records by stratum and by the pattern of missing values in these attributes alone.
    """

    columns: tuple[int, ...]
    classes: Classes


def attribute_groups(
    dataset: Dataset, attributes: Sequence[Attribute], groups: Sequence[Sequence[str]], by: list[str], k: int
) -> list[AttributeGroup]:
    """Groups of columns as groups of attributes, each with its classes of at least k records."""
    position = {attribute.name: column for column, attribute in enumerate(attributes)}
    members = [tuple(position[name] for name in group) for group in groups]
    return [
        AttributeGroup(columns, split(dataset, [attributes[column] for column in columns], by, k))
        for columns in members
    ]


def blanks(groups: Sequence[AttributeGroup], records: int) -> NDArray[np.bool_]:
    """Where values have to be blanked, records × attributes."""
    blank = np.zeros((records, sum(len(group.columns) for group in groups)), bool)
    for group in groups:
        blank[:, list(group.columns)] = group.classes.blank
    return blank


def pattern_classes(
    missing: NDArray[np.bool_], k: int, names: Sequence[str], units: tuple[str, str] = ("record", "records")
) -> list[tuple[frozenset[int], NDArray[np.int64]]]:
    """Split records into classes of at least k that share a missing pattern.

    Parameters
    ----------
    missing : array of bool, records × attributes
        Where a value is missing.
    k : int
        Least size of a class.
    names : sequence of str
        The attributes.
    units : pair of str
        What is divided, one and several, for the message where it is impossible.

    Returns
    -------
    list of (pattern, rows)
        The attributes to be blank in a class, which include those missing in its records, and the records.

    Notes
    -----
    Records of a pattern with fewer than k records have further attributes blanked, as few values as a greedy choice
    finds, until k of them show the same pattern. Records of patterns that are large enough are never touched: a small
    pattern can join a large one only by taking on all of its blanks.
    """
    words = _words(missing)
    if words.shape[1] == 1:  # many times faster than comparing rows
        flat, inverse = np.unique(words[:, 0], return_inverse=True)
        distinct = flat[:, None]
    else:
        distinct, inverse = np.unique(words, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    sizes = np.bincount(inverse.ravel(), minlength=len(distinct))
    rows = np.split(order, np.cumsum(sizes)[:-1])
    joined = _join_words(distinct, sizes, k, names, units)
    return [(pattern, np.sort(np.concatenate([rows[place] for place in places]))) for pattern, places in joined]


def join_patterns(
    patterns: NDArray[np.bool_],
    sizes: NDArray[np.int64],
    k: int,
    names: Sequence[str],
    units: tuple[str, str] = ("record", "records"),
) -> list[tuple[frozenset[int], NDArray[np.int64]]]:
    """The same for patterns of which only is known how many records have each: patterns in place of records."""
    return _join_words(_words(patterns), sizes, k, names, units)


def _join_words(
    distinct: NDArray[np.uint64], sizes: NDArray[np.int64], k: int, names: Sequence[str], units: tuple[str, str]
) -> list[tuple[frozenset[int], NDArray[np.int64]]]:
    """Let patterns join until each class has k; the blanks of a class, and the places of its patterns."""

    def begin() -> _Patterns:
        return _Patterns(distinct, sizes, sizes < k, [[np.array([place])] for place in range(len(distinct))])

    classes = begin()
    lone = classes.settle(k, join_large=True)
    if lone is not None and sizes[sizes < k].sum() >= k:
        # Some joined a large pattern and left too few for the others: then all that are small stay together.
        classes = begin()
        lone = classes.settle(k, join_large=False)
    if lone is not None:
        pattern = np.flatnonzero(_bits(classes.words[lone], len(names)))
        lacking = list(dict.fromkeys(names[int(i)] for i in pattern))
        raise InputError(_too_few(int(classes.sizes[lone]), k, lacking, units))
    return [
        (frozenset(np.flatnonzero(_bits(words, len(names))).tolist()), np.concatenate(members))
        for words, members in zip(classes.words, classes.rows, strict=True)
        if members is not None
    ]


@dataclass
class _Patterns:
    """Classes of records by their missing pattern, which is a set of bits so that many can be compared at once."""

    words: NDArray[np.uint64]  # class × words of 64 attributes
    sizes: NDArray[np.int64]  # 0 once a class has joined another
    touched: NDArray[np.bool_]  # whether its records are blanked beyond what they lacked
    rows: list[list[NDArray[np.int64]] | None]

    def __post_init__(self) -> None:
        self.words, self.sizes = self.words.copy(), self.sizes.copy()

    def settle(self, k: int, *, join_large: bool) -> int | None:
        """Let small classes join others until all have k records; the class that could not, or None."""
        # The smallest class joins another first; its place in the list decides among equals.
        waiting = [(int(size), at) for at, size in enumerate(self.sizes) if size < k]
        heapq.heapify(waiting)
        while waiting:
            size, small = heapq.heappop(waiting)
            if size != self.sizes[small]:
                continue  # it has joined another, or grown, since it was put here
            partner = self.cheapest(small, join_large)
            if partner is None:
                return small
            self.join(small, partner)
            if self.sizes[partner] < k:
                heapq.heappush(waiting, (int(self.sizes[partner]), partner))
        return None

    def cheapest(self, small: int, join_large: bool) -> int | None:
        """The class to join with the fewest values blanked: a touched one, or one that lacks at least the same."""
        own = self.words[small]
        of_mine = np.bitwise_count(self.words & ~own).sum(axis=1, dtype=np.int64)
        of_theirs = np.bitwise_count(own & ~self.words).sum(axis=1, dtype=np.int64)
        possible = (self.sizes > 0) & (self.touched | (join_large & (of_theirs == 0)))
        possible[small] = False
        if not possible.any():
            return None
        cost = np.where(possible, self.sizes[small] * of_mine + self.sizes * of_theirs, np.iinfo(np.int64).max)
        # Of equal ones the smallest, then the first.
        ties = np.flatnonzero(cost == cost.min())
        return int(ties[np.argmin(self.sizes[ties])])

    def join(self, small: int, partner: int) -> None:
        """Let one class take on the blanks of both."""
        self.words[partner] |= self.words[small]
        self.sizes[partner] += self.sizes[small]
        self.sizes[small] = 0
        mine, theirs = self.rows[small], self.rows[partner]
        if mine is not None and theirs is not None:
            theirs.extend(mine)
        self.rows[small] = None


def _words(patterns: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of truth values as words of 64 bits."""
    bits = np.packbits(patterns, axis=1, bitorder="little")
    padded = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view("<u8").astype(np.uint64)


def _bits(words: NDArray[np.uint64], count: int) -> NDArray[np.uint8]:
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")[:count]


def _too_few(count: int, k: int, names: list[str], units: tuple[str, str]) -> str:
    records = f"1 {units[0]} lacks" if count == 1 else f"{count} {units[1]} lack"
    columns = ", ".join(f"'{name}'" for name in names) or "nothing"
    return (
        f"{records} a value in {columns}, and fewer than k = {k} {units[1]} do, so no group of them can be formed. "
        f"Fill the gaps with missing 'impute', give the column the role ignore, or leave those {units[1]} out."
    )
