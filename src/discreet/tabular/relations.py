"""The linear relations of a table, sparse: each says that a weighted sum of cells is a known number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.text import count

Part = tuple[tuple[int, tuple[int, ...]], ...]
"""One table of several linked ones: the dimensions it spans, each with the hierarchies that hold in it."""


class CellsError(InputError):
    """Cells that make no table. They are named by their codes, unless a reader of a file tells their lines instead.

    Parameters
    ----------
    fault : str
        What is wrong.
    advice : str
        What to do about it.
    cells : array of int
        The cells.
    names : list of str
        What to call them.
    """

    def __init__(self, fault: str, advice: str, cells: NDArray[Any], names: Sequence[str]) -> None:
        super().__init__(f"{fault}: {itemize(names)}; {advice}")
        self.fault, self.advice, self.cells = fault, advice, cells

    def at(self, places: Callable[[int], str]) -> str:
        """The same, with the places of the cells in place of their codes."""
        return f"{self.fault}: {itemize([places(cell) for cell in self.cells.tolist()])}; {self.advice}"


# Beyond this a table of all places would take more memory than searching takes time.
MOST_DENSE_KEYS = 1 << 25


@dataclass(frozen=True, eq=False)
class Relations:
    """Relations M y = b over the cells 0..n−1 of a table.

    Parameters
    ----------
    starts : array of int
        The cells of relation r are `cells[starts[r]:starts[r + 1]]`.
    cells : array of int32
        The cells that each relation names.
    coefficients : array of float
        What each counts: 1 for a part and −1 for the total.
    rhs : array of float
        What each relation sums to; 0 unless the table says otherwise.
    n : int
        Number of cells.
    implied : array of bool, optional
        Relations that follow from the others: the sums of margins, where all that they are margins of add up.
    """

    starts: NDArray[np.int64]
    cells: NDArray[np.int32]
    coefficients: NDArray[np.float64]
    rhs: NDArray[np.float64]
    n: int
    implied: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.rhs)

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The relation of each entry."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    @cached_property
    def by_cell(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """The transpose: starts, relations and coefficients of each cell."""
        matrix = self.matrix.tocsc()
        return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data

    @cached_property
    def matrix(self) -> csr_array:
        """The relations as a sparse matrix."""
        return csr_array((self.coefficients, self.cells, self.starts), shape=(len(self), self.n))

    def residuals(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """By how much the values miss each relation."""
        missed: NDArray[np.float64] = self.matrix @ values - self.rhs
        return missed

    def of(self, relation: int) -> NDArray[np.int32]:
        """The cells of one relation."""
        return self.cells[self.starts[relation] : self.starts[relation + 1]]


def build_relations(rows: Any, cells: Any, coefficients: Any, rhs: Any, n: int, implied: Any = None) -> Relations:
    """Relations from entries in any order."""
    rows, cells = np.asarray(rows), np.asarray(cells)
    coefficients = np.asarray(coefficients, dtype=np.float64)
    order = np.argsort(rows, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(rhs)))]).astype(np.int64)
    return Relations(
        starts,
        cells[order].astype(np.int32),
        coefficients[order],
        np.asarray(rhs, dtype=np.float64),
        n,
        implied,
    )


class Places:
    """Where each combination of codes stands among the cells of a table.

    Parameters
    ----------
    sizes : sequence of int
        Number of codes of each dimension.
    codes : array of int
        The codes of each cell, a column for each dimension.
    """

    def __init__(self, sizes: Sequence[int], codes: NDArray[np.int32]) -> None:
        # As Python's numbers, which do not overflow before the check.
        if math.prod(int(size) for size in sizes) >= 1 << 62:
            raise InputError("the dimensions have too many combinations of codes for one table; leave some out")
        self.strides = np.ones(len(sizes), dtype=np.int64)
        span = 1
        for at in range(len(sizes) - 1, -1, -1):
            self.strides[at] = span
            span *= int(sizes[at])
        self.span = span
        self.keys = codes.astype(np.int64) @ self.strides
        self._dense: NDArray[np.int32] | None = None
        if span <= MOST_DENSE_KEYS or span <= 8 * len(codes):
            self._dense = np.full(span, -1, dtype=np.int32)
            self._dense[self.keys] = np.arange(len(codes), dtype=np.int32)
            self._repeated = int((self._dense[self.keys] != np.arange(len(codes))).sum())
        else:
            self._order = np.argsort(self.keys, kind="stable").astype(np.int32)
            self._sorted = self.keys[self._order]
            self._repeated = int((np.diff(self._sorted) == 0).sum())

    @property
    def repeated(self) -> NDArray[np.int64]:
        """Cells whose codes another cell has too."""
        if not self._repeated:
            return np.empty(0, dtype=np.int64)
        _, first = np.unique(self.keys, return_index=True)
        return np.setdiff1d(np.arange(len(self.keys)), first)

    @property
    def lookup(self) -> NDArray[np.int32] | None:
        """The cell at each key, −1 where there is none; None where that would be too large."""
        return self._dense

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """The cells at keys, −1 where there is none."""
        if self._dense is not None:
            return self._dense[keys]
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[at] == keys, self._order[at], np.int32(-1))


def whole(dimensions: Sequence[Dimension]) -> tuple[Part, ...]:
    """The parts of a table that is not linked to others: itself."""
    return (tuple((at, tuple(range(len(one.hierarchies)))) for at, one in enumerate(dimensions)),)


def relations_of(
    dimensions: Sequence[Dimension], parts: Sequence[Part], codes: NDArray[np.int32], places: Places
) -> Relations:
    """Every relation between the cells of a table, or of linked tables.

    In each part, for each dimension and hierarchy, a cell whose code is a sum equals the cells of the codes below it.
    A combination of codes that has no cell is a zero that everybody knows.

    Parameters
    ----------
    dimensions : sequence of Dimension
        The dimensions of all parts.
    parts : sequence of Part
        The linked tables.
    codes : array of int32
        The codes of each cell, a column for each dimension.
    places : Places
        Where to find a cell by its codes.
    """
    n = len(codes)
    rows: list[NDArray[Any]] = []
    cells: list[NDArray[Any]] = []
    totals: list[NDArray[Any]] = []
    implied: list[NDArray[np.bool_]] = []
    known: dict[tuple[int, int], NDArray[np.bool_]] = {}
    made = 0
    for part in parts:
        inside = np.flatnonzero(is_inside(dimensions, part, codes))
        sums = {(axis, way): _sums(dimensions, axis, way, codes, inside, places) for axis, ways in part for way in ways}
        for axis, ways in part:
            for way in ways:
                child, total = sums[axis, way]
                # Linked tables share margins: a relation that an earlier part has already is not said twice.
                seen = known.setdefault((axis, way), np.zeros(n, dtype=np.bool_))
                fresh = ~seen[total]
                number = np.zeros(n, dtype=np.int32)
                heads = np.flatnonzero(np.bincount(total[fresh], minlength=n))
                number[heads] = np.arange(made, made + len(heads), dtype=np.int32)
                rows.append(number[total[fresh]])
                cells.append(child[fresh].astype(np.int32))
                totals.append(heads.astype(np.int32))
                implied.append(_find_implied(dimensions, part, (axis, way), sums, n)[heads])
                seen[heads] = True
                made += len(heads)
    head = np.concatenate([*totals, np.empty(0, np.int32)])
    part_rows = np.concatenate([*rows, np.empty(0, np.int32)])
    part_cells = np.concatenate([*cells, np.empty(0, np.int32)])
    return build_relations(
        np.concatenate([np.arange(made, dtype=np.int32), part_rows]),
        np.concatenate([head, part_cells]),
        np.concatenate([np.full(made, -1.0), np.ones(len(part_cells))]),
        np.zeros(made),
        n,
        np.concatenate([*implied, np.empty(0, np.bool_)]),
    )


Sums = tuple[NDArray[np.int64], NDArray[np.int32]]


def _sums(
    dimensions: Sequence[Dimension],
    axis: int,
    way: int,
    codes: NDArray[np.int32],
    inside: NDArray[np.int64],
    places: Places,
) -> Sums:
    """The cells that are part of a sum over an axis by one hierarchy, and the cell that each is part of."""
    parents = dimensions[axis].parents[way][codes[inside, axis]]
    child = inside[parents >= 0]
    step = (parents[parents >= 0] - codes[child, axis]) * places.strides[axis]
    total = places.find(places.keys[child] + step)
    if (total < 0).any():
        lost = np.sort(child[total < 0])
        these = "the total that it belongs" if len(lost) == 1 else "the totals that they belong"
        raise CellsError(
            f"the table has {count(len(lost), 'cell')} but not {these} to in '{dimensions[axis].name}'",
            "give the table all its sub-totals",
            lost,
            [name_cell(dimensions, codes[cell]) for cell in lost],
        )
    return child, total


def _find_implied(
    dimensions: Sequence[Dimension], part: Part, own: tuple[int, int], sums: dict[tuple[int, int], Sums], n: int
) -> NDArray[np.bool_]:
    """At which totals the relation over an axis by one hierarchy follows from others.

    Take the axes in an order. A relation whose code on an earlier axis is a sum is itself the sum of the relations at
    the codes below, since these add up over the earlier axis for every cell in it. That needs all of these relations:
    a cell below that has no cells below itself over the axis, or a part of the relation that has none over the earlier
    axis, is a zero that only this relation tells. Hierarchical axes come first: a table of two dimensions, one of them
    flat, is then a network.
    """
    order = sorted(part, key=lambda span: (dimensions[span[0]].is_flat, span[0]))
    follows = np.zeros(n, dtype=np.bool_)
    child, total = sums[own]
    for earlier, ways in order:
        if earlier == own[0]:
            break
        for way in ways:
            below, above = sums[earlier, way]
            sum_here, sum_there = _mark(total, n), _mark(above, n)
            lacking = _mark(above[~sum_here[below]], n) | _mark(total[~sum_there[child]], n)
            follows |= sum_there & ~lacking
    return follows


def _mark(cells: NDArray[Any], n: int) -> NDArray[np.bool_]:
    marked = np.zeros(n, dtype=np.bool_)
    marked[cells] = True
    return marked


def is_inside(dimensions: Sequence[Dimension], part: Part, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which cells are in a part: at the total of every dimension that it does not span."""
    inside = np.ones(len(codes), dtype=np.bool_)
    spanned = dict(part)
    for axis, dimension in enumerate(dimensions):
        if axis not in spanned:
            inside &= codes[:, axis] == 0
        elif len(spanned[axis]) < len(dimension.hierarchies):
            allowed = np.zeros(len(dimension.codes), dtype=np.bool_)
            for way in spanned[axis]:
                allowed[[dimension.position[code] for code in dimension.hierarchies[way].codes]] = True
            inside &= allowed[codes[:, axis]]
    return inside


def name_cell(dimensions: Sequence[Dimension], codes: NDArray[np.int32]) -> str:
    """What to call a cell in a message: its codes."""
    return " × ".join(f"{one.name}={one.codes[code]}" for one, code in zip(dimensions, codes, strict=True))
