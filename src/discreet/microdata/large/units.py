"""What is protected apart, and what belongs together: classes of records or households, whose records they are.

A class is a stratum and within it a pattern of missing values; of households also a number of members, and the pattern
is that of all of them. Small patterns are blanked until k share one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Values
from discreet.data.dataset import Dataset
from discreet.errors import InputError
from discreet.kernels.arrays import Floats, Ints
from discreet.microdata.classes import join_patterns
from discreet.microdata.households import check_sizes, read_households
from discreet.microdata.large.request import Request
from discreet.microdata.large.work import Work
from discreet.microdata.promises import Constraint, Constraints, is_several, limit_of
from discreet.text import count
from discreet.verification.confidential import Closeness
from discreet.verification.distributions import read_codes
from discreet.verification.promise import Promise

CLASSES = "classes.arrow"
PATTERN, RECORDS, UNITS, CLASS = "\x01pattern", "\x01records", "\x01units", "\x01class"
# Numbers of persons or households of one pile are below this.
MOST_IN_PILE = 1 << 40


@dataclass(frozen=True, eq=False)
class Units:
    """Whose the records of a pile are.

    Parameters
    ----------
    numbers : array of int
        The person or household of each record; no other pile has the same number.
    votes : array of float
        The share of each record in all of its person or household.
    cut, parts : int
        How many households were cut, and into how many parts.
    """

    numbers: Ints
    votes: Floats
    cut: int = 0
    parts: int = 0

    @property
    def firsts(self) -> NDArray[np.bool_]:
        """Which records are the first of a person or household."""
        found = np.zeros(len(self.numbers), bool)
        found[np.unique(self.numbers, return_index=True)[1]] = True
        return found


def read_units(request: Request, dataset: Dataset, pile: int) -> Units | None:
    """Whose the records of a pile are; None where each is on its own."""
    if request.unit is None:
        return None
    cut = parts = 0
    if request.household is not None:
        by, most = request.columns.names("by"), request.settings.get("split_households")
        found = read_households(dataset, request.household, by, most)
        codes, cut, parts = found.codes, found.cut, found.parts
    else:
        codes = dataset.frame[request.unit].rank("dense").to_numpy().astype(np.int64) - 1
    return Units(pile * MOST_IN_PILE + codes, 1.0 / np.bincount(codes)[codes], cut, parts)


def find_firsts(units: Units, classes: Ints) -> Ints:
    """For each record the first of its person or household in the same class: all of them go where this one does."""
    pairs = (units.numbers % MOST_IN_PILE) * (int(classes.max(initial=0)) + 1) + classes
    _, first, place = np.unique(pairs, return_index=True, return_inverse=True)
    firsts: Ints = first[place.ravel()].astype(np.int64)
    return firsts


def find_missing(values: Sequence[Values]) -> Ints:
    """What each record lacks, as a set of bits."""
    missing = np.zeros(len(values[0]), np.int64)
    for place, column in enumerate(values):
        missing |= np.where(np.isnan(column), 1 << place, 0)
    return missing


def key_patterns(request: Request, missing: Ints, units: Units | None) -> pl.Series:
    """What each record lacks, as a set of bits; of a household what its members lack, those who lack least first."""
    missing = missing & ~_imputed(request)
    if request.household is None or units is None:
        return pl.Series(PATTERN, missing)
    order = _order_members(units.numbers, missing)
    rows = pl.DataFrame({"unit": units.numbers[order], PATTERN: missing[order]})
    whole = rows.group_by("unit", maintain_order=True).agg(pl.col(PATTERN).cast(pl.String))
    whole = whole.with_columns(pl.col(PATTERN).list.join(" "))
    return pl.DataFrame({"unit": units.numbers}).join(whole, on="unit", how="left", maintain_order="left")[PATTERN]


def _imputed(request: Request) -> int:
    names = [name for name in request.quasi if request.columns[name].missing == "impute"]
    return sum(1 << request.quasi.index(name) for name in names)


def _order_members(units: Ints, missing: Ints) -> Ints:
    """The records household by household, members by what they lack."""
    return np.lexsort((np.arange(len(units)), missing, np.bitwise_count(missing), units)).astype(np.int64)


def list_members(request: Request, rows: Ints, width: int, units: Ints, missing: Ints) -> Ints:
    """The records of each household of a class, so many, those at one place lacking the same; or each record alone."""
    if request.household is None:
        return rows[:, None]
    return rows[_order_members(units[rows], missing[rows] & ~_imputed(request))].reshape(-1, width)


def draw_classes(
    work: Work, request: Request, found: pl.DataFrame, lacking: Sequence[int]
) -> tuple[list[int], list[list[int]], list[int]]:
    """Settle the classes: their records, which quasi-identifiers are blank in each, and how many members it has.

    Parameters
    ----------
    work, request
        Where, and what was asked.
    found : polars.DataFrame
        How many records, and households, have each stratum and pattern of missing values.
    lacking : sequence of int
        How many records lack a value in each quasi-identifier.
    """
    by, k, names = request.columns.names("by"), request.settings["k"], request.quasi
    counted = found.group_by([*by, PATTERN]).agg(pl.col(RECORDS, UNITS).sum()).sort([*by, PATTERN], nulls_last=True)
    for name, lost in zip(names, lacking, strict=True):
        if request.columns[name].missing == "error" and lost:
            raise InputError(
                f"column '{name}' has {count(lost, 'missing value')}; fill them, or choose missing 'separate' or "
                "'impute'"
            )
    strata = counted.partition_by(by, maintain_order=True) if by else [counted]
    small = [int(stratum[UNITS].sum()) for stratum in strata if stratum[UNITS].sum() < k]
    what = "records" if request.household is None else "households"
    if small:
        where = f"{len(small)} of {len(strata)} strata of {', '.join(by)} have" if by else "the data has"
        raise InputError(f"{where} fewer than k = {k} {what} (the smallest {min(small)}); merge strata, or lower k")
    sized = [_divide_sizes(stratum, request) for stratum in strata]
    if request.household is not None:
        counts = np.zeros((len(strata), 1 + max(size for one in sized for size in one)), np.int64)
        for place, one in enumerate(sized):
            for size, own in one.items():
                counts[place, size] = own[UNITS].sum()
        check_sizes("the data", by, counts, k)
    sizes: list[int] = []
    blanks: list[list[int]] = []
    widths: list[int] = []
    tables = []
    for size, own in ((size, own) for one in sized for size, own in sorted(one.items())):
        patterns = _read_patterns(own[PATTERN], size, len(names))
        distinct, inverse = np.unique(patterns, axis=0, return_inverse=True)
        number = np.bincount(inverse.ravel(), own[UNITS].to_numpy()).astype(np.int64)
        records = np.bincount(inverse.ravel(), own[RECORDS].to_numpy()).astype(np.int64)
        home = np.empty(len(distinct), np.int64)
        of = f"of {count(size, 'member')}"
        units = ("record", "records") if request.household is None else (f"household {of}", f"households {of}")
        for blank, places in join_patterns(distinct, number, k, names * size, units):
            home[places] = len(sizes)
            sizes.append(int(records[places].sum()))
            blanks.append(sorted(blank))
            widths.append(size)
        tables.append(own.drop(RECORDS, UNITS).with_columns(pl.Series(CLASS, home[inverse.ravel()])))
    work.write_frame(CLASSES, pl.concat(tables))
    return sizes, blanks, widths


def _divide_sizes(stratum: pl.DataFrame, request: Request) -> dict[int, pl.DataFrame]:
    """The households of a stratum by their number of members; records are of one."""
    if request.household is None:
        return {1: stratum}
    members = stratum[PATTERN].str.count_matches(" ", literal=True) + 1
    return {size: stratum.filter(members == size) for size in sorted(members.unique().to_list())}


def _read_patterns(keys: pl.Series, size: int, width: int) -> NDArray[np.bool_]:
    """Patterns as truth values, members one after the other."""
    words = keys.to_numpy()
    if keys.dtype == pl.String:
        words = np.array([[int(word) for word in key.split(" ")] for key in keys], np.int64)
    bits = (words.reshape(-1, size)[:, :, None] >> np.arange(width)) & 1
    return bits.astype(bool).reshape(len(words), size * width)


def constrain(
    frame: pl.DataFrame,
    promise: Promise,
    units: Ints | None,
    votes: Floats | None,
    whole: Mapping[str, pl.DataFrame],
    decimal: str,
) -> Constraints | None:
    """What groups of some of the records must keep besides their size; None where that is nothing.

    Parameters
    ----------
    frame : polars.DataFrame
        The confidential columns.
    promise : Promise
        What is promised.
    units, votes : array, optional
        Whose each record is, and its share in all of that person or household.
    whole : mapping
        The values that all records have in the columns of t-closeness.
    decimal : str
        Decimal mark of numbers in text.
    """
    numbers = np.arange(frame.height) if units is None else np.unique(units, return_inverse=True)[1].astype(np.int64)
    votes = np.ones(frame.height) if votes is None else votes
    columns = []
    for said in promise.held:
        if not said.holds_anyway:
            known = whole.get(said.column) if isinstance(said, Closeness) else None
            codes, _ = read_codes(frame[said.column], said.scale, decimal, known)
            kind, limit = limit_of(said, ordered=said.scale.ordered)
            counted = np.bincount(codes, votes) if known is None else known["votes"].to_numpy()
            columns.append(Constraint(said.column, kind, limit, codes, counted / counted.sum()))
    # Groups of k households are of k, whatever they have.
    needed = columns or (promise.household is None and is_several(numbers))
    return Constraints(promise.k, numbers, votes, tuple(columns)) if needed else None
