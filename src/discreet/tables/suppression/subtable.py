"""Linear programs of parts of a large table: a cell's codes, and on each axis the leaves cheapest to move along.

A set of codes that holds with each code all codes it is part of, on every axis, makes a table of its own: what leaves
take from each other shows in no other cell. So moves of a part are moves of the whole: costlier perhaps, but found in a
fraction of the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.provers import ConfinedProver

# What a cell that cannot move costs, and the share of a move below which capacity counts no further.
NEVER, LEAST_SHARE = 1e15, 1e-3
# How many columns a part has as long as nothing is protected, how many at least, and what it grows by where it has no
# solution. The first programs decide most of the cost; the last ones find almost everything suppressed.
PART, SMALLEST_PART, PART_GROWTH = 8_000, 3_000, 4
# Beyond this many columns, and after so many vertices, a program is given up: the search has a pattern to fall back on.
LARGEST_PART, MOST_VERTICES = 30_000, 5_000


class Neighbourhoods:
    """Parts of the table of a problem around its cells; the table has dimensions, and may be linked.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        table, cells = problem.table, problem.system.cells
        self._codes = np.ascontiguousarray(table.codes[cells].T)
        self._keys = table.places.keys[cells]
        self._number = np.full(len(table) + 1, -1, dtype=np.int64)
        self._number[cells] = np.arange(len(cells))
        # For each axis and leaf its code and all that it is part of, filled up with a code beyond the last.
        self._paths: list[Ints] = []
        for one in table.dimensions:
            lines = [one.ancestors[code] for code in np.flatnonzero(one.base).tolist()]
            paths = np.full((len(lines), max(map(len, lines))), len(one.codes), dtype=np.int64)
            for row, line in zip(paths, lines, strict=True):
                row[: len(line)] = line
            self._paths.append(paths)

    def columns(self, cell: int, amount: float, price: Floats, size: int) -> Bools:
        """Columns of about so many that are around one, those with a finite price."""
        able = np.isfinite(price)
        able[cell] = True
        ranked = [self._ranked(axis, cell, amount, price) for axis in range(len(self._paths))]
        many = 2
        kept = self._kept(ranked, cell, many, able)
        while kept.sum() < size and many < max(map(len, ranked)):
            wider = self._kept(ranked, cell, many + max(1, many // 4), able)
            if wider.sum() > 1.5 * size:
                break
            many, kept = many + max(1, many // 4), wider
        return kept

    def _kept(self, ranked: list[Ints], cell: int, many: int, able: Bools) -> Bools:
        kept = able.copy()
        for axis, leaves in enumerate(ranked):
            dimension = self.problem.table.dimensions[axis]
            chosen = np.zeros(len(dimension.codes) + 1, dtype=np.bool_)
            chosen[self._paths[axis][leaves[:many]]] = True
            chosen[dimension.ancestors[int(self._codes[axis, cell])]] = True
            kept &= chosen[self._codes[axis]]
        return kept

    def _ranked(self, axis: int, cell: int, amount: float, price: Floats) -> Ints:
        """The leaves of an axis, those first that cost least to move on the line of a cell."""
        problem, paths = self.problem, self._paths[axis]
        dimension, own = problem.table.dimensions[axis], int(self._codes[axis, cell])
        steps: NDArray[np.int64] = np.arange(len(dimension.codes)) - own
        line = self._number[problem.table.places.find(self._keys[cell] + steps * problem.table.places.strides[axis])]
        room = np.where(line >= 0, np.minimum(problem.system.hi[line], -problem.system.lo[line]), 0.0)
        share = np.clip(room / abs(amount), LEAST_SHARE, 1.0)
        cost = np.full(len(line) + 1, NEVER)
        cost[:-1] = np.where((line >= 0) & (room > 0), np.minimum(price[line] / share, NEVER), NEVER)
        cost[-1], cost[dimension.ancestors[own]] = 0.0, 0.0
        order = np.argsort(cost[paths].sum(axis=1), kind="stable")
        # A third of those that are first are leaves of the code itself, so that it can move with them.
        inner = (paths == own).any(axis=1)[order]
        place = np.where(inner, 3.0 * np.cumsum(inner), np.arange(1.0, len(order) + 1))
        return order[np.argsort(np.minimum(place, np.arange(1.0, len(order) + 1)), kind="stable")]


class SubtableProver:
    """The linear program of the columns around the cell that is moved. If it finds no solution, there may be one.

    Parameters
    ----------
    problem : Problem
        The problem; its table has dimensions.
    targeted : array of int
        The columns that may have targets: those with requirements.
    size : int
        How many columns to take around the cell, as long as nothing is protected; later fewer.
    """

    dual_ray: Floats | None = None

    def __init__(self, problem: Problem, targeted: Ints, size: int = PART) -> None:
        self.problem = problem
        self._targeted = targeted
        self._neighbourhoods = Neighbourhoods(problem)
        self._size = size

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float) -> Floats | None:
        """See `Prover`."""
        able = int(np.isfinite(price).sum())
        share = np.count_nonzero(target) / max(1, len(self._targeted))
        size = max(min(SMALLEST_PART, self._size), int(self._size * share))
        while True:
            columns = np.isfinite(price) if size >= able else self._neighbourhoods.columns(cell, amount, price, size)
            columns[cell] = True
            prover = ConfinedProver(
                self.problem.system, columns, self._targeted, is_interior_allowed=True, most_vertices=MOST_VERTICES
            )
            found = prover.cheapest(price, cell, amount, target, bonus)
            if found is not None or size >= min(able, LARGEST_PART) or not prover.is_infeasible:
                return found
            size *= PART_GROWTH
