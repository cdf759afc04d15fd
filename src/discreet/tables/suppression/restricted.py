"""The incremental attacker in a large table, by programs of parts of it.

Moves that a part of the columns can make are moves of the whole: dearer perhaps, but found in a fraction of the time.
Columns that would make them cheaper are found by their reduced costs at the prices of the relations, as in column
generation (Gilmore and Gomory 1961), as often as is asked for.
"""

from __future__ import annotations

import numpy as np

from discreet.tables.suppression.forcing import Inside
from discreet.tables.suppression.nearby import Nearby
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.system import Bools, Floats, Ints

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
