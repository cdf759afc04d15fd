"""Constraints on groups besides their size: persons, l-diversity and t-closeness, as arrays that a search needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from discreet.data.attributes import read_confidential
from discreet.data.dataset import Dataset
from discreet.data.roles import Declarations
from discreet.errors import InputError
from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.promised.annealing import anneal
from discreet.kernels.promised.constraints import (
    DISTINCT,
    ENTROPY,
    EQUAL,
    FEW,
    ORDERED,
    Promised,
    count_persons,
    group_excesses,
    measured,
)
from discreet.kernels.promised.mending import centroids_of, merge_lacking
from discreet.kernels.promised.slots import slotted
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from discreet.microdata.classes import AttributeGroup, Classes
from discreet.microdata.households import HouseholdClasses, Households
from discreet.microdata.records import Labels, Points, Records, renumber
from discreet.text import count
from discreet.verification.confidential import Closeness, Diversity
from discreet.verification.promise import Promise

# Neighbours of a group that are merged with it, and of a record in the descent after it, and steps of that per record.
NEIGHBOURS, STEPS = 16, 60
# Stretches of the shares by which a value is looked up.
LOOKS = 1024


@dataclass(frozen=True, eq=False)
class Constraint:
    """What groups must keep in one column.

    Parameters
    ----------
    name : str
        The column.
    kind : int
        By the number of values, their entropy, or the distance to all records, ordered or not.
    limit : float
        The least number, the least entropy, or the greatest distance.
    codes : array of int
        The value of each record, numbered in their order; a missing value is the lowest.
    shares : array of float
        The share of each value in all records of the file.
    """

    name: str
    kind: int
    limit: float
    codes: Ints
    shares: Floats


@dataclass(frozen=True, eq=False)
class Constraints:
    """What every group must keep, for all records or for a part of them.

    Parameters
    ----------
    k : int
        Least number of different persons.
    persons : array of int
        The person of each record; or the household, which counts as one.
    votes : array of float
        What each record counts: 1, or its share in the records of its person in the whole file.
    columns : tuple of Constraint
        What groups must keep in columns.
    width : int
        How many records, one after the other, are grouped as one: the members of a household.
    """

    k: int
    persons: Ints
    votes: Floats
    columns: tuple[Constraint, ...] = field(default=())
    width: int = 1

    def __len__(self) -> int:
        return len(self.persons) // self.width

    def take(self, units: Ints) -> Constraints:
        """The same for some of what is grouped; the reference stays that of the whole file."""
        if len(units) == len(self) and np.array_equal(units, np.arange(len(units))):
            return self
        return self._take((units[:, None] * self.width + np.arange(self.width)).ravel(), self.width)

    def join(self, members: Ints) -> Constraints:
        """The same for households of one size, each of which is grouped as one: the records of their members."""
        return self._take(members.ravel(), members.shape[1])

    def _take(self, rows: Ints, width: int) -> Constraints:
        persons = np.unique(self.persons[rows], return_inverse=True)[1].astype(np.int64)
        columns = tuple(replace(column, codes=column.codes[rows]) for column in self.columns)
        taken = replace(self, persons=persons, votes=self.votes[rows], columns=columns, width=width)
        # The reference, which may be long, is shared.
        taken.__dict__["promised"] = self.promised._replace(**taken._own())
        return taken

    def _own(self) -> dict[str, Any]:
        """What kernels take of the records."""
        codes = np.ascontiguousarray([column.codes for column in self.columns], np.int64)
        codes = codes.reshape(len(self.columns), -1) if self.columns else np.zeros((0, len(self.persons)), np.int64)
        middles = codes
        if self.width > 1:
            within = np.sort(codes.reshape(len(codes), -1, self.width), axis=2)
            middles = np.ascontiguousarray(within[:, :, (self.width - 1) // 2])
        return {
            "width": self.width,
            "several": is_several(self.persons),
            "equal": bool((self.votes == self.votes[:1]).all()),
            "persons": self.persons,
            "votes": self.votes,
            "codes": codes,
            "middles": middles,
        }

    @cached_property
    def promised(self) -> Promised:
        """The same as kernels take it."""
        counts = [len(column.shares) for column in self.columns]
        cumulated = [_cumulate(column.shares) for column in self.columns]
        at_least = np.arange(LOOKS + 1) / LOOKS
        looks = [
            np.append(np.searchsorted(own, at_least), len(own)).clip(max=len(own) - 1) for own in cumulated
        ] or np.zeros((0, LOOKS + 2))
        parts = np.arange(FEW + 1) / np.arange(FEW + 1).clip(min=1)[:, None]
        return Promised(
            k=self.k,
            **self._own(),
            kinds=np.array([column.kind for column in self.columns], np.int64),
            limits=np.array([column.limit for column in self.columns], np.float64),
            firsts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            shares=np.concatenate([np.empty(0), *(column.shares for column in self.columns)]),
            cumulated=np.concatenate([np.empty(0), *cumulated]),
            prefixes=np.concatenate([np.empty(0), *(np.append(0.0, np.cumsum(own)[:-1]) for own in cumulated)]),
            looks=np.array(looks, np.int64),
            crossings=np.array([np.searchsorted(own, parts) for own in cumulated], np.int64).reshape(-1, *parts.shape),
        )

    def loosen(self) -> Constraints:
        """The same columns with limits that every group of k keeps."""
        columns = tuple(replace(column, limit=float(column.kind >= ORDERED)) for column in self.columns)
        return replace(self, persons=np.arange(len(self.persons)) // self.width, columns=columns)

    @property
    def closest(self) -> Constraint | None:
        """The ordered column whose distribution must be closest to that of all records, if any must be."""
        ordered = [column for column in self.columns if column.kind == ORDERED]
        return min(ordered, key=lambda column: column.limit, default=None)

    def middles(self, column: Constraint) -> Ints:
        """The value of each record in a column; of a household, the middle one of its members."""
        middles: Ints = self.promised.middles[self.columns.index(column)]
        return middles

    def excesses(self, labels: Ints) -> Floats:
        """How far each group is from what it must keep, labels 0 to g−1; 0 where it does."""
        order = np.argsort(labels, kind="stable")
        return group_excesses(self.promised, order, np.concatenate([[0], np.cumsum(np.bincount(labels))]))

    def keep(self, labels: Ints) -> bool:
        """Whether every group keeps all of it."""
        return not self.excesses(labels).any()

    def count_persons(self) -> int:
        """The number of different persons."""
        return int(count_persons(self.promised, np.arange(len(self.persons))))

    def measure(self, column: int) -> float:
        """What a column comes to in all of these records: number of values, entropy or distance."""
        return float(measured(self.promised, column, np.arange(len(self.persons))))


def constraints_of(
    dataset: Dataset,
    declarations: Declarations,
    promise: Promise,
    persons: pl.Series | None,
    households: Households | None = None,
) -> Constraints | None:
    """What groups must keep besides their size, so that a release keeps its promise; None where that is nothing.

    Parameters
    ----------
    dataset : Dataset
        The data.
    declarations : Declarations
        What its columns are.
    promise : Promise
        What is promised.
    persons : Series, optional
        Whose each record is, where persons may have several.
    households : Households, optional
        Which records are one household, where these are grouped as wholes: as persons are counted, so are they.
    """
    numbers = np.arange(dataset.frame.height)
    if households is not None:
        numbers = households.codes
    elif persons is not None:
        numbers = persons.rank("dense").to_numpy().astype(np.int64) - 1
    votes: Floats = 1.0 / np.bincount(numbers)[numbers]
    columns = []
    for said in promise.held:
        if not said.holds_anyway:
            codes, ordered = _read_codes(dataset, declarations, said.column)
            kind, limit = limit_of(said, ordered=ordered)
            columns.append(Constraint(said.column, kind, limit, codes, np.bincount(codes, votes) / votes.sum()))
    # Groups of k households are of k, whatever they have.
    needed = columns or (households is None and is_several(numbers))
    return Constraints(promise.k, numbers, votes, tuple(columns)) if needed else None


def limit_of(said: Diversity | Closeness, *, ordered: bool) -> tuple[int, float]:
    """How a column is judged, and its limit: a number of values, an entropy, or a distance."""
    if isinstance(said, Closeness):
        return (ORDERED if ordered else EQUAL), said.most
    return (ENTROPY, math.log(said.least)) if said.entropy else (DISTINCT, float(said.least))


def _read_codes(dataset: Dataset, declarations: Declarations, name: str) -> tuple[Ints, bool]:
    """The values of a column as numbers in their order, missing ones lowest; and whether their order means anything."""
    attribute = read_confidential(dataset, declarations[name])
    if attribute is None:
        if dataset.frame[name].null_count() < dataset.frame.height:
            raise InputError(f"{dataset.name}: column '{name}' has no values that can be compared for l or t")
        return np.zeros(dataset.frame.height, np.int64), False
    values = np.where(np.isnan(attribute.values), -np.inf, attribute.values)
    return np.unique(values, return_inverse=True)[1].astype(np.int64), attribute.kind != "nominal"


def is_several(persons: Ints) -> bool:
    """Whether a person has several of the records; persons are numbered 0, 1, …"""
    return int(persons.max(initial=-1)) + 1 < len(persons)


def _cumulate(shares: Floats) -> Floats:
    """Shares, cumulated; the last is all, whatever rounding says."""
    cumulated = np.minimum(np.cumsum(shares), 1.0)
    cumulated[-1:] = 1.0
    return cumulated


def merge(points: Points, constraints: Constraints, labels: Labels) -> Labels:
    """The groups after mergers by which all keep what they must; all records together do."""
    if labels.max() == 0 or constraints.keep(labels):
        return labels
    centres = centroids_of(points, labels)
    near = neighbour_lists(centres, min(NEIGHBOURS, len(centres) - 1))
    return merge_lacking(points, constraints.promised, labels, near)


def repair(records: Records, constraints: Constraints, labels: Labels) -> Labels:
    """The groups after mergers, and among those that were merged splits, swaps and moves, at the least cost.

    Parameters
    ----------
    records : Records
        The records.
    constraints : Constraints
        What groups must keep; all records together do.
    labels : array of n ints
        The group of each record, 0 to g−1; groups that keep all of it and are not needed by others stay as they are.
    """
    merged = merge(records.points(), constraints, labels)
    if merged is labels:
        return labels
    touched = np.flatnonzero(np.bincount(labels)[labels] != np.bincount(merged)[merged])
    own = renumber(merged[touched])
    part, some = records.take(touched), constraints.take(touched)
    near = neighbour_lists(part.points(), min(NEIGHBOURS, len(touched) - 1))
    groups = slotted(part.mixed, own, some.k, int(np.bincount(own).max()))
    anneal(part.mixed, some.promised, near, 0.0, STEPS * len(touched), groups, seeded(0, 0))
    merged[touched] = merged.max() + 1 + groups.labels
    return renumber(merged)


def check_possible(dataset: Dataset, groups: Sequence[AttributeGroup], constraints: Constraints) -> None:
    """Refuse what no grouping can keep: then a class as a whole does not keep it; say what would be possible."""
    for group in groups:
        for number, rows in enumerate(group.classes.rows):
            own = constraints.take(rows)
            if not own.keep(np.zeros(len(rows), np.int64)):
                what, helps = _name_class(dataset, group.classes, number)
                raise InputError(f"{dataset.name}: {what} {'; '.join(list_lacks(own))}. {helps}.")


def _name_class(dataset: Dataset, classes: Classes, number: int) -> tuple[str, str]:
    """What a class is, and what may help if it does not keep what is asked for."""
    rows = classes.rows[number]
    what, helps = f"{len(rows):,} records", "Merge strata, or fill gaps (impute)"
    if isinstance(classes, HouseholdClasses):
        households, size = classes.parts[number].members.shape
        what = f"{count(households, 'household')} of {count(size, 'member')}"
        helps = "Merge strata, fill gaps (impute), or cut larger households into parts (split_households)"
    if len(rows) == dataset.frame.height:
        return f"the {what} there are", helps
    return f"{what} of one stratum and pattern of missing values (the first: {dataset.place(int(rows[0]))})", helps


def list_lacks(own: Constraints) -> list[str]:
    """What a class as a whole does not keep, and what it could."""
    words = []
    persons = own.count_persons()
    if persons < own.k:
        words.append(f"are of {persons} persons, fewer than k = {own.k}: k = {persons} would be possible")
    for at, column in enumerate(own.columns):
        found = own.measure(at)
        if column.kind == DISTINCT and found < column.limit:
            words.append(f"have {found:.0f} different values of '{column.name}': l = {found:.0f} would be possible")
        elif column.kind == ENTROPY and found < column.limit:
            least = math.floor(math.exp(found) * 1e4) / 1e4
            words.append(f"have an entropy in '{column.name}' worth {least:g} values: entropy:{least:g} is possible")
        elif column.kind >= ORDERED and found > column.limit:
            least = math.ceil(found * 1e4) / 1e4
            words.append(f"are {least:.4f} from all records in '{column.name}': t = {least:.4f} would be possible")
    return words
