"""The incremental attacker in a large table, by programs of parts of it.

Moves that a part of the columns can make are moves of the whole: dearer perhaps, but found in a fraction of the time.
Columns that would make them cheaper are found by their reduced costs at the prices of the relations, as in column
generation (Gilmore and Gomory 1961), as often as is asked for.

The part of a table around a cell: its codes, and on each axis the leaves that are cheapest to move along.

A set of codes that holds with each code all codes it is part of, on every axis, makes a table of its own: what leaves
take from each other shows in no other cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.provers import Inside

# What a cell that cannot move costs, and the share of a move below which capacity counts no further.
NEVER, LEAST_SHARE = 1e15, 1e-3


class Nearby:
    """Parts of the table of a problem, which must have dimensions; it may be linked.

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


# How many columns a part has as long as nothing is protected, how many at least, and what it grows by where it has no
# solution. The first programs decide most of the cost; the last ones find almost everything suppressed.
SIZE, LEAST, GROWTH = 8_000, 3_000, 4
# Beyond this many columns, and after so many corners, a program is given up: the search has something to fall back on.
MOST, CORNERS = 30_000, 5_000
# What a reduced cost must be below, in parts of the dearest price, and how many columns come in at once at least.
REDUCED, SOME = 1e-9, 200


class Restricted:
    """The program of a problem, over the columns around the cell that is moved. If none is found, there may be one.

    Parameters
    ----------
    problem : Problem
        The problem; its table has dimensions.
    wishful : array of int
        The columns that may be rewarded: those with tasks.
    size : int
        How many columns to take around the cell, as long as nothing is protected; later fewer.
    rounds : int, optional
        How often columns with negative reduced cost are taken in; until there is none if not given.
    """

    def __init__(self, problem: Problem, wishful: Ints, size: int = SIZE, rounds: int | None = 0) -> None:
        self.problem = problem
        self._wishful = wishful
        self._nearby = Nearby(problem)
        self._size, self._rounds = size, rounds
        self._entries = np.repeat(np.arange(len(problem)), np.diff(problem.system.by_starts))
        self._is_infeasible = False
        self.prices: Floats | None = None

    def cheapest(self, price: Floats, cell: int, amount: float, wish: Floats, reward: float) -> Floats | None:
        """See `Mover`."""
        self.prices = None
        able = int(np.isfinite(price).sum())
        share = np.count_nonzero(wish) / max(1, len(self._wishful))
        size = max(min(LEAST, self._size), int(self._size * share))
        while True:
            columns = np.isfinite(price) if size >= able else self._nearby.columns(cell, amount, price, size)
            columns[cell] = True
            found = self._within(columns, price, cell, amount, wish, reward)
            if found is not None or size >= min(able, MOST) or not self._is_infeasible:
                return found
            size *= GROWTH

    def _within(
        self, columns: Bools, price: Floats, cell: int, amount: float, wish: Floats, reward: float
    ) -> Floats | None:
        """The cheapest moves of some columns, and of those that come in."""
        rounds, found = 0, None
        while True:
            part = Inside(self.problem.system, columns, self._wishful, interior=True, most=CORNERS)
            better = part.cheapest(price, cell, amount, wish, reward)
            self._is_infeasible = part.is_infeasible
            found = found if better is None else better
            if better is None or rounds == self._rounds:
                return found
            rounds += 1
            fresh = self._improving(part.duals, columns, price, wish, reward)
            if not len(fresh):
                return found
            columns[fresh] = True

    def _improving(self, duals: Floats, columns: Bools, price: Floats, wish: Floats, reward: float) -> Ints:
        """The columns outside that would make the moves cheaper at the prices of relations, the best first."""
        system = self.problem.system
        cost = np.where(np.isfinite(price), price, 0.0)
        value = np.bincount(self._entries, system.by_coefficients * duals[system.by_rows], len(system))
        up = np.where(system.hi > 0, cost - np.sign(wish) * reward - value, 0.0)
        down = np.where(system.lo < 0, cost + np.sign(wish) * reward + value, 0.0)
        reduced = np.where(columns | ~np.isfinite(price), 0.0, np.minimum(up, down))
        enough = -REDUCED * max(1.0, float(cost.max(initial=0.0)))
        fresh = np.flatnonzero(reduced < enough)
        best = np.argsort(reduced[fresh], kind="stable")
        return fresh[best[: max(SOME, int(columns.sum()) // 4)]]
