"""Which records are one household, the classes in which households are protected, and the numbers they go out with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Attribute
from discreet.data.databases.rows import sort_order
from discreet.data.dataset import Dataset
from discreet.data.profile import BEWARE
from discreet.data.rows import read_persons
from discreet.errors import InputError
from discreet.microdata.classes import AttributeGroup, Classes, find_missing, find_strata, pattern_classes
from discreet.text import count

Labels = NDArray[np.int64]
# Households of one size × their members: the record of each.
Members = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Households:
    """Which records are one household.

    Parameters
    ----------
    name : str
        The column that says it; it is released with new numbers.
    codes : array of int
        The household of each record, numbered from 0; of one that was cut, the part.
    cut, parts : int
        How many households were cut, and into how many parts.
    """

    name: str
    codes: Labels
    cut: int = 0
    parts: int = 0

    def by_size(self) -> list[Members]:
        """The records of the households, size by size, each household's in the order of the file."""
        order = np.argsort(self.codes, kind="stable")
        sizes = np.bincount(self.codes)
        starts = np.cumsum(sizes) - sizes
        return [order[starts[sizes == size][:, None] + np.arange(size)] for size in np.unique(sizes).tolist()]

    @property
    def firsts(self) -> Labels:
        """One record of each household."""
        return np.unique(self.codes, return_index=True)[1].astype(np.int64)

    def group(self, looks: Labels) -> Labels:
        """The group of each record, given how records look: households of one size whose members look the same."""
        groups, count = np.empty(len(looks), np.int64), 0
        for members in self.by_size():
            alike = np.unique(np.sort(looks[members], axis=1), axis=0, return_inverse=True)[1].ravel()
            groups[members] = count + alike[:, None]
            count += int(alike.max()) + 1
        return groups

    def counts(self) -> dict[str, int]:
        """How many there are, how many were cut, and into how many parts."""
        return {"households": int(self.codes.max()) + 1, "households_cut": self.cut, "household_parts": self.parts}

    def notes(self) -> list[str]:
        """What to know of them."""
        sizes = np.bincount(self.codes)
        return tell_households(len(sizes), int(sizes.min()), int(sizes.max()), self.cut, self.parts)


def tell_households(number: int, least: int, most: int, cut: int, parts: int) -> list[str]:
    """What to know of so many households of so many members, some of which were cut into parts."""
    range_ = f"{least}" if least == most else f"{least} to {most}"
    told = [
        f"{count(number, 'household')} of {range_} {'member' if range_ == '1' else 'members'}, protected as "
        "wholes; their numbers are new, in the order of what is released of them"
    ]
    if cut:
        told.append(
            f"{BEWARE}{count(cut, 'household')} became {count(parts, 'part')} with numbers of their own, "
            "as asked for: the promise is of the parts, and whoever knows all members may put parts together"
        )
    return told


def read_households(dataset: Dataset, name: str, by: list[str], most: int | None = None) -> Households:
    """Which records are one household, those of more than `most` members cut; refused if one is in several strata."""
    codes = (read_persons(dataset, name, "household").rank("dense") - 1).to_numpy().astype(np.int64)
    stratum = _number_strata(dataset, by)
    first = np.empty(int(codes.max()) + 1, np.int64)
    first[codes[::-1]] = stratum[::-1]
    apart = np.flatnonzero(first[codes] != stratum)
    if len(apart):
        torn = len(np.unique(codes[apart]))
        raise InputError(
            f"{dataset.name}: members of {count(torn, 'household')} differ in {', '.join(by)} (the first: "
            f"{dataset.place(int(apart[0]))}); a stratum must hold whole households: correct them, or name other "
            "columns as by"
        )
    return Households(name, codes) if most is None else _cut(name, codes, most)


def _cut(name: str, codes: Labels, most: int) -> Households:
    """Cut households of more than `most` members into parts as equal as can be, in the order of the file."""
    sizes = np.bincount(codes)
    parts = -(-sizes // most)
    order = np.argsort(codes, kind="stable")
    place = np.empty(len(codes), np.int64)  # of a record in its household
    place[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    part = place * parts[codes] // sizes[codes]
    large = parts > 1
    return Households(name, (np.cumsum(parts) - parts)[codes] + part, int(large.sum()), int(parts[large].sum()))


class HouseholdClass(NamedTuple):
    """Households of one size, stratum and pattern of missing values.

    Members that stand at the same place lack the same values, and those of places of the same kind may change places.
    """

    members: Members
    kinds: Labels


@dataclass(frozen=True, eq=False)
class HouseholdClasses(Classes):
    """The classes of records that those of households are."""

    parts: Sequence[HouseholdClass] = ()


def household_groups(
    dataset: Dataset,
    attributes: Sequence[Attribute],
    groups: Sequence[Sequence[str]],
    by: list[str],
    k: int,
    households: Households,
) -> list[AttributeGroup]:
    """Groups of columns as groups of attributes, each with its classes of at least k households."""
    stratum = _number_strata(dataset, by)
    by_size = households.by_size()
    _check_sizes(dataset, by, by_size, stratum, k)
    position = {attribute.name: column for column, attribute in enumerate(attributes)}
    found = []
    for group in groups:
        columns = tuple(position[name] for name in group)
        own = [attributes[column] for column in columns]
        found.append(AttributeGroup(columns, _classes(find_missing(dataset, own), list(group), by_size, stratum, k)))
    return found


def _classes(
    missing: NDArray[np.bool_], names: list[str], by_size: Sequence[Members], stratum: Labels, k: int
) -> HouseholdClasses:
    """Divide the households by size, stratum and missing pattern into classes of at least k."""
    distinct, pattern = np.unique(missing, axis=0, return_inverse=True) if missing.any() else (missing[:1], None)
    # Members are put in the order of what they lack, those who lack least first.
    rank = np.argsort(np.lexsort((np.arange(len(distinct)), distinct.sum(axis=1))))
    blank = np.zeros_like(missing)
    parts = []
    for members in by_size:
        size = members.shape[1]
        if pattern is not None and size > 1:
            order = np.argsort(rank[pattern.ravel()][members], axis=1, kind="stable")
            members = np.take_along_axis(members, order, axis=1)
        unit = f"of {count(size, 'member')}"
        for number in np.unique(stratum[members[:, 0]]).tolist():
            within = members[stratum[members[:, 0]] == number]
            lacks = missing[within].reshape(len(within), -1)
            for gaps, rows in pattern_classes(lacks, k, names * size, (f"household {unit}", f"households {unit}")):
                held = np.zeros((size, len(names)), bool)
                held.reshape(-1)[sorted(gaps)] = True
                blank[within[rows]] = held
                parts.append(HouseholdClass(within[rows], np.unique(held, axis=0, return_inverse=True)[1].ravel()))
    return HouseholdClasses([np.sort(part.members, axis=None) for part in parts], blank & ~missing, parts)


def _number_strata(dataset: Dataset, by: list[str]) -> Labels:
    stratum = np.empty(dataset.frame.height, np.int64)
    for number, rows in enumerate(find_strata(dataset, by)):
        stratum[rows] = number
    return stratum


def _check_sizes(dataset: Dataset, by: list[str], by_size: Sequence[Members], stratum: Labels, k: int) -> None:
    """Refuse sizes that fewer than k households have."""
    strata = int(stratum.max()) + 1
    counts = np.zeros((strata, max(members.shape[1] for members in by_size) + 1), np.int64)
    for members in by_size:
        counts[:, members.shape[1]] = np.bincount(stratum[members[:, 0]], minlength=strata)
    check_sizes(dataset.name, by, counts, k)


def check_sizes(name: str, by: list[str], counts: Labels, k: int) -> None:
    """Refuse sizes that fewer than k households have, and say what can be done.

    Parameters
    ----------
    name : str
        What the data is called.
    by : list of str
        The columns that make strata.
    counts : array of int, strata × sizes
        How many households of each size there are.
    k : int
        Least number of households.
    """
    strata = len(counts)
    rare = (counts > 0) & (counts < k)
    if not rare.any():
        return
    sizes = [
        f"{size} ({count(int(counts[rare[:, size], size].min()), 'household')})"
        for size in np.flatnonzero(rare.any(axis=0)).tolist()
    ]
    where = f", in some of the {strata:,} strata of {', '.join(by)}" if by else ""
    helps = ["leave these households out"]
    most = next((most for most in range(counts.shape[1] - 2, 0, -1) if not _is_rare(_cut_sizes(counts, most), k)), None)
    helps += [] if most is None else [f"cut larger ones into parts: split_households {most} would do"]
    helps += ["name fewer columns as by"] if by else []
    raise InputError(
        f"{name}: fewer than k = {k} households have this number of members{where}: {', '.join(sizes)}. They "
        f"cannot look like k others; {', or '.join(helps)}"
    )


def _is_rare(counts: Labels, k: int) -> bool:
    return bool(((counts > 0) & (counts < k)).any())


def _cut_sizes(counts: Labels, most: int) -> Labels:
    """How many households of each size there are in each stratum when larger ones are cut."""
    found = counts.copy()
    found[:, most + 1 :] = 0
    for size in range(most + 1, counts.shape[1]):
        parts = -(-size // most)
        found[:, size // parts] += counts[:, size] * (parts - size % parts)
        found[:, -(-size // parts)] += counts[:, size] * (size % parts)
    return found


def number_households(frame: pl.DataFrame, households: Households) -> Labels:
    """New numbers from 1, in the order of what is released of the households and of nothing else.

    Households of which the same is released cannot be told apart, so that their order tells nothing.
    """
    order = sort_order(frame)
    rows = frame[order]
    new = rows.select(pl.any_horizontal(pl.all().ne_missing(pl.all().shift(1)))).to_series().to_numpy()
    rank = np.empty(frame.height, np.int64)
    rank[order] = np.cumsum(np.r_[False, new[1:]])
    numbers, given = np.empty(frame.height, np.int64), 0
    for members in households.by_size():
        looks = np.sort(rank[members], axis=1)
        place = np.empty(len(members), np.int64)
        place[np.lexsort(looks.T[::-1])] = np.arange(len(members))
        numbers[members] = given + 1 + place[:, None]
        given += len(members)
    return numbers
