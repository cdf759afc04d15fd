"""From records to the cells of a table: what it is broken down by, and the contributions that make up each cell.

Each dimension is a column of the microdata with its hierarchies. Every cell, margins and sub-totals too, has the sum,
the number and the largest of its contributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.data.dataset import Dataset
from discreet.errors import CodesError, InputError
from discreet.kernels.tally import alone, largest
from discreet.tabular.breakdown import make_hierarchy, tell_places, text_of
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.asc import dimension_of
from discreet.tabular.files.rda import Metadata
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.others import Others, join, leave_out
from discreet.tabular.relations import Places
from discreet.tabular.table import decimals_of
from discreet.text import count


def dimension(
    dataset: Dataset, columns: list[str], hierarchies: list[Any], meta: Metadata | None, total: str
) -> tuple[Dimension, NDArray[np.int32]]:
    """A dimension, and the position of each record's code in it."""
    name = columns[-1]
    codes = text_of(dataset, name)
    present = codes.unique().sort()
    try:
        made = _make_dimension(dataset, columns, hierarchies, meta, total, present.to_list())
    except CodesError as error:
        raise InputError(f"{error}{tell_places(dataset, columns, error.codes)}") from None
    position = made.position
    lost = [code for code in present if code not in position]
    if lost:
        where = itemize([way.source for way in made.hierarchies])
        are = "is" if len(lost) == 1 else "are"
        raise InputError(
            f"{dataset.name}: {count(len(lost), 'code')} of column '{name}' {are} not in {where}"
            f"{tell_places(dataset, [name], lost)}; add to the hierarchy what it lacks, or correct the records"
        )
    sums = [code for code in present if not made.base[position[code]]]
    if sums:
        raise InputError(
            f"{dataset.name}: column '{name}' has {count(len(sums), 'code')} that the hierarchy adds up from others"
            f"{tell_places(dataset, [name], sums)}; give those records one of the codes below"
        )
    places = codes.replace_strict(present, [position[code] for code in present], return_dtype=pl.Int32)
    return made, places.to_numpy()


def _make_dimension(
    dataset: Dataset, columns: list[str], hierarchies: list[Any], meta: Metadata | None, total: str, present: list[str]
) -> Dimension:
    if hierarchies and isinstance(hierarchies[0], Dimension):
        return hierarchies[0]
    name = columns[-1]
    variable = next((one for one in meta.variables if one.name == name), None) if meta is not None else None
    if variable is not None and not hierarchies and len(columns) == 1:
        return dimension_of(variable, present)
    missing = [code for code in (variable.missing if variable is not None else ()) if code in present]
    ways = [make_hierarchy(one, name, present, missing, total) for one in hierarchies]
    if len(columns) > 1:
        nested = dataset.frame.select(text_of(dataset, column).alias(column) for column in columns)
        ways.insert(0, Hierarchy.from_columns(nested, columns, total=total))
    if not ways:
        if total in present:
            raise CodesError(
                f"{dataset.name}: column '{name}' has the code '{total}' of the total itself; leave those records out, "
                "or name the total differently",
                [total],
            )
        ways = [Hierarchy.flat(present, total=total, source=f"the codes of '{name}'")]
    return Dimension(name, ways, missing)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Beyond this many cells a table with all its empty cells is refused rather than begun.
MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each record brings to the table.

    Parameters
    ----------
    codes : array of int32
        The position of its code in each dimension.
    amount : array of float
        The contribution itself.
    weight : array of float, optional
        How many units of the population the record stands for.
    holding : array of int, optional
        Who the contribution belongs to; every record to itself if None.
    asked : array of bool, optional
        Whether the respondent asked for protection.
    """

    codes: NDArray[np.int32]
    amount: Floats
    weight: Floats | None = None
    holding: Ints | None = None
    asked: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table and what they are made of, an entry for each cell."""

    codes: NDArray[np.int32]
    value: Floats
    count: Floats
    tops: Floats
    asked: Floats | None
    sole: Ints
    decimals: int | None


def tally(dimensions: Sequence[Dimension], given: Contributions, top: int) -> Cells:
    """Sum up the contributions for every combination of codes, sub-totals and totals that has any.

    Parameters
    ----------
    dimensions : sequence of Dimension
        What to break down by.
    given : Contributions
        The records.
    top : int
        How many of the largest contributions to keep for each cell.
    """
    units, decimals = _units(given)
    places = Places([len(one.codes) for one in dimensions], np.empty((0, len(dimensions)), np.int32))
    who = np.arange(len(given.amount)) if given.holding is None else given.holding
    found: list[tuple[Any, ...]] = []
    for rows, keys in _views(dimensions, given.codes, places.strides):
        cells, place = np.unique(keys, return_inverse=True)
        place = place.astype(np.int64)
        n = len(cells)
        amount, weight = given.amount[rows], None if given.weight is None else given.weight[rows]
        value = _sum(place, units[rows], n)
        owner, asked = who[rows], None if given.asked is None else given.asked[rows]
        if given.holding is not None:
            place, owner, amount, weight, asked = _merge_holdings(place, owner, amount, weight, asked)
        count = np.bincount(place, weights=weight, minlength=n).astype(np.float64)
        tops = np.full((n, top), -np.inf)
        largest(place, amount, n, tops)
        requested = None
        if asked is not None:
            first = np.full((n, 1), -np.inf)
            largest(place[asked], amount[asked], n, first)
            requested = np.where(np.isneginf(first[:, 0]), 0.0, first[:, 0])
        tops[np.isneginf(tops)] = 0.0
        found.append((cells, value, count, tops, requested, alone(place, owner, n)))
    keys = np.concatenate([one[0] for one in found])
    order = np.argsort(keys, kind="stable")
    scale = 10.0 ** (decimals or 0)
    return Cells(
        _codes(keys[order], dimensions, places.strides),
        np.concatenate([one[1] for one in found])[order] / scale,
        np.concatenate([one[2] for one in found])[order],
        np.concatenate([one[3] for one in found])[order],
        None if given.asked is None else np.concatenate([one[4] for one in found])[order],
        np.concatenate([one[5] for one in found])[order],
        decimals,
    )


def leave_out_soles(dimensions: Sequence[Dimension], given: Contributions, cells: Cells, soles: Ints) -> Others:
    """What is left of each cell without each sole contributor who takes part in it and is not alone there.

    A holding may take part in cells without being alone below them, and so may anybody in the cells of a linked table:
    nothing in the cells tells what they bring.

    Parameters
    ----------
    dimensions, given
        As for `tally`.
    cells : Cells
        What it gave.
    soles : array of int
        Who is alone in some cell, of this table or of one that is linked to it.
    """
    units, _ = _units(given)
    places = Places([len(one.codes) for one in dimensions], cells.codes)
    keys = places.keys
    who = np.arange(len(given.amount)) if given.holding is None else given.holding
    is_sole = np.zeros(int(who.max(initial=0)) + 1, dtype=np.bool_)
    is_sole[soles] = True
    top, scale = cells.tops.shape[1], 10.0 ** (cells.decimals or 0)
    found = []
    for rows, key in _views(dimensions, given.codes, places.strides):
        place, owner = np.searchsorted(keys, key), who[rows]
        brought = _merge_holdings(place, owner, units[rows].astype(np.float64), None, None)[2]
        weight = None if given.weight is None else given.weight[rows]
        asked = None if given.asked is None else given.asked[rows]
        place, owner, amount, weight, asked = _merge_holdings(place, owner, given.amount[rows], weight, asked)
        tops = np.full((len(keys), top + 1), -np.inf)
        largest(place, amount, len(keys), tops)
        pair = np.flatnonzero(is_sole[owner] & (cells.sole[place] != owner))
        cell = place[pair]
        rest = leave_out(tops[cell], amount[pair])
        left = None
        if asked is not None:
            first = np.full((len(keys), 2), -np.inf)
            largest(place[asked], amount[asked], len(keys), first)
            mine = np.where(asked[pair], amount[pair], np.nan)
            left = _nothing_if_none(leave_out(first[cell], mine)[:, 0])
        found.append(
            Others(
                owner[pair],
                cell,
                (cells.value[cell] * scale - brought[pair]) / scale,
                cells.count[cell] - (1.0 if weight is None else weight[pair]),
                _nothing_if_none(rest),
                left,
            )
        )
    return join(found)


def _nothing_if_none(tops: Floats) -> Floats:
    return np.where(np.isneginf(tops), 0.0, tops)


def _units(given: Contributions) -> tuple[NDArray[Any], int | None]:
    """The weighted contributions in units of their last decimal, as whole numbers if they are: these add up exactly."""
    weighted = given.amount if given.weight is None else given.amount * given.weight
    decimals = decimals_of(given.amount)
    if given.weight is not None and decimals is not None:
        more = decimals_of(given.weight)
        decimals = None if more is None else decimals + more
    if decimals is None or float(np.abs(weighted).sum()) * 10.0**decimals >= 2.0**53:
        return weighted, None
    return np.rint(weighted * 10.0**decimals).astype(np.int64), decimals


def _sum(place: Ints, units: NDArray[Any], n: int) -> Floats:
    # Sums of doubles that hold whole numbers are exact below 2⁵³, which _units has made sure of.
    return np.bincount(place, weights=units, minlength=n).astype(np.float64)


def _views(
    dimensions: Sequence[Dimension], codes: NDArray[np.int32], strides: Ints
) -> Iterator[tuple[slice | NDArray[np.bool_], Ints]]:
    """For each combination of levels the records that have them, and the key of the cell they go to.

    A level is a depth of a hierarchy: a record has one code there at most, and every cell belongs to one combination.
    """
    levels = [_levels(one) for one in dimensions]
    for combination in product(*levels):
        keys = np.zeros(len(codes), dtype=np.int64)
        inside = np.ones(len(codes), dtype=np.bool_)
        for axis, view in enumerate(combination):
            above = view[codes[:, axis]]
            inside &= above >= 0
            keys += above * strides[axis]
        if inside.all():
            yield slice(None), keys
        elif inside.any():
            yield inside, keys[inside]


def _levels(dimension: Dimension) -> list[Ints]:
    """For each level of each hierarchy the code that every base code belongs to there; −1 where it has none."""
    home: dict[int, tuple[int, int]] = {}
    for number, way in enumerate(dimension.hierarchies):
        for code, depth in zip(way.codes, way.depths.tolist(), strict=True):
            home.setdefault(dimension.position[code], (number, depth))
    views: dict[tuple[int, int], Ints] = {}
    for base in np.flatnonzero(dimension.base).tolist():
        for code in dimension.ancestors[base].tolist():
            view = views.setdefault(home[code], np.full(len(dimension.codes), -1, dtype=np.int64))
            view[base] = code
    return [views[level] for level in sorted(views)]


def _merge_holdings(
    place: Ints, owner: Ints, amount: Floats, weight: Floats | None, asked: NDArray[np.bool_] | None
) -> tuple[Ints, Ints, Floats, Floats | None, NDArray[np.bool_] | None]:
    """One contribution for each holding in a cell: the sum of its own, its largest weight, asked if any part did."""
    span = int(owner.max(initial=0)) + 1
    pairs, which = np.unique(place * span + owner, return_inverse=True)
    summed = np.bincount(which, weights=amount, minlength=len(pairs)).astype(np.float64)
    heaviest = None
    if weight is not None:
        heaviest = np.zeros(len(pairs))
        np.maximum.at(heaviest, which, weight)
    wanted = None if asked is None else np.bincount(which, weights=asked, minlength=len(pairs)) > 0
    return pairs // span, pairs % span, summed, heaviest, wanted


def _codes(keys: Ints, dimensions: Sequence[Dimension], strides: Ints) -> NDArray[np.int32]:
    codes = np.empty((len(keys), len(dimensions)), dtype=np.int32)
    for axis, stride in enumerate(strides.tolist()):
        codes[:, axis] = keys // stride % len(dimensions[axis].codes)
    return codes


def complete(dimensions: Sequence[Dimension], cells: Cells, impossible: Impossible | None = None) -> Cells:
    """The cells with those to which nobody contributes, but for combinations that are impossible.

    Parameters
    ----------
    dimensions : sequence of Dimension
        What the table is broken down by.
    cells : Cells
        What `tally` gave.
    impossible : Impossible, optional
        Combinations of codes that nobody can have.
    """
    held = Places([len(one.codes) for one in dimensions], cells.codes)
    if held.span > MOST_CELLS:
        raise InputError(f"the table would have {held.span:,} cells with its empty ones; leave the empty ones out")
    every = np.arange(held.span, dtype=np.int64)
    names = [one.name for one in dimensions]
    said = [] if impossible is None else [one for one in impossible.rows if set(one) <= set(names)]
    if said:
        every = _possible(dimensions, [{names.index(name): code for name, code in one.items()} for one in said])
    at = np.searchsorted(every, held.keys)

    def spread(column: NDArray[Any], rest: float) -> Any:
        filled = np.full((len(every), *column.shape[1:]), rest, dtype=column.dtype)
        filled[at] = column
        return filled

    return Cells(
        _codes(every, dimensions, held.strides),
        spread(cells.value, 0.0),
        spread(cells.count, 0.0),
        spread(cells.tops, 0.0),
        None if cells.asked is None else spread(cells.asked, 0.0),
        spread(cells.sole, -1),
        cells.decimals,
    )


@dataclass(frozen=True)
class Impossible:
    """Combinations of codes that nobody can have, as everybody knows; each as a code for some of the dimensions."""

    source: str
    rows: list[dict[str, str]]

    def refuse(self, dataset: Dataset, dimensions: Sequence[Dimension], codes: NDArray[np.int32]) -> None:
        """Refuse combinations that cannot be understood, and records that have one."""
        known = {one.name: one for one in dimensions}
        for row in self.rows:
            for name, code in row.items():
                if name not in known:
                    raise InputError(
                        f"{self.source} has a column '{name}', which is no dimension of the table; it has "
                        f"{itemize(list(known))}"
                    )
                if code not in known[name].position:
                    raise InputError(
                        f"{self.source} has a code of '{name}' that is none of the table's; correct it, or add it to "
                        "the hierarchy"
                    )
        axes = {one.name: axis for axis, one in enumerate(dimensions)}
        said = [{axes[name]: code for name, code in row.items()} for row in self.rows]
        wrong = np.flatnonzero(_are_impossible(dimensions, said, codes))
        if len(wrong):
            have = "has a combination" if len(wrong) == 1 else "have combinations"
            raise InputError(
                f"{dataset.name}: {count(len(wrong), 'record')} ({dataset.places(wrong)}) {have} of codes that "
                f"{self.source} calls impossible; correct the records, or delete the combination there"
            )


def _are_impossible(
    dimensions: Sequence[Dimension], said: list[dict[int, str]], codes: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Which combinations of base codes are, or are part of, one that is said to be impossible."""
    found = np.zeros(len(codes), dtype=np.bool_)
    for row in said:
        inside = np.ones(len(codes), dtype=np.bool_)
        for axis, code in row.items():
            one = dimensions[axis]
            part = np.array([bool((line == one.position[code]).any()) for line in one.ancestors])
            inside &= part[codes[:, axis]]
        found |= inside
    return found


def _possible(dimensions: Sequence[Dimension], said: list[dict[int, str]]) -> Ints:
    """The keys of all cells that some combination of base codes which is not impossible is part of, in order."""
    bases = np.meshgrid(*(np.flatnonzero(one.base) for one in dimensions), indexing="ij")
    codes = np.stack([one.ravel() for one in bases], axis=1).astype(np.int32)
    codes = codes[~_are_impossible(dimensions, said, codes)]
    strides = Places([len(one.codes) for one in dimensions], codes[:0]).strides
    return np.unique(np.concatenate([np.unique(keys) for _, keys in _views(dimensions, codes, strides)]))
