"""Linear programs over large parts of a large table: what the heaviest requirements need decides most of the cost.

A giant moves only with thousands of others, which a small part of the table has not, or only in costly sums. What one
solution over a large part takes protects thousands of requirements besides, if each is worth something to it.

A linear program pays for every unit of a move, a pattern once for a cell, however little it moves. So costly moves are
rerouted by slope scaling (Kim and Pardalos, 1999): the next program prices a cell by what it would cost in the pattern
if it moved as far as it did last, and what moved little is dear. Some codes of one axis after the other come in with
all their cells, for other ways round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.provers import MOST_VERTICES, ConfinedProver, Neighbourhoods, moving

# About how many columns a program has; all, if they are no more than half as many again.
WIDE_PART = 40_000
# How many columns are taken around a cell, besides those that are suppressed, once these may do nearly alone.
NEAR_PART = 6_000
# What moves of sums and parts of the cell are worth, in times of what others are, from what part of its move on.
ALONG, LARGE_SHARE = 100.0, 0.3
# How far a cell that did not move is taken to go in each round of rerouting, in parts of the move.
FLOORS = (0.02, 0.01, 5e-3, 2e-3, 2e-3)
# Moves are rerouted that take at least this part of what the pattern costs then; a round that gains less than the other
# part of it is the last one.
REROUTED, LEAST_GAIN = 0.03, 2e-3
# No price of a round is more than so many times the median weight: nothing that dear moves, and digits would be lost.
DEAREST = 1e5
# About how many columns come in with a round, besides those that moved and those that are suppressed.
FURTHER = 8_000


class Task(NamedTuple):
    """What moves are for: arrays are over all columns."""

    price: Floats  # of a unit of each one's move, or of taking it; infinite if it must stay
    suppressed: Bools
    cell: int  # that moves
    amount: float  # by so much; negative for down
    target: Floats  # how far others are to move
    worth: Floats  # what each unit of such a move is worth

    def taken(self, moves: Floats) -> float:
        """What the columns cost that moves take."""
        moved = moving(moves)
        return float(self.price[moved[~self.suppressed[moved]]].sum())

    def charge(self, moves: Floats) -> float:
        """What the columns cost that moves take, less what the moves are worth to others."""
        done = np.clip(np.sign(self.target) * moves, 0.0, np.abs(self.target))
        return self.taken(moves) - float((self.worth * done).sum()) / abs(self.amount)


class WideProver:
    """Linear programs of large parts of the table. If one finds no solution, there may be one.

    Parameters
    ----------
    problem : Problem
        The problem; its table has dimensions.
    targeted : array of int
        The columns that may have targets: those with requirements.
    """

    def __init__(self, problem: Problem, targeted: Ints) -> None:
        self.problem, self._targeted = problem, targeted
        self._neighbourhoods = Neighbourhoods(problem)
        self._codes = problem.table.codes[problem.system.cells]
        weights = problem.weight[problem.weight > 0]
        self._dearest = DEAREST * float(np.median(weights)) if len(weights) else np.inf

    def cheapest(self, task: Task) -> Floats | None:
        """The moves that cost least by the unit; None if there are none."""
        columns = np.isfinite(task.price)
        if int(columns.sum()) > 1.5 * WIDE_PART:
            columns = self._neighbourhoods.columns(task.cell, task.amount, task.price, WIDE_PART)
        return self._solve(task, columns, task.price)

    def reroute(self, moves: Floats, task: Task, number: int) -> Floats | None:
        """Moves for the same task that take less, perhaps: a round of slope scaling, by its number."""
        share = np.maximum(np.abs(moves) / abs(task.amount), FLOORS[number])
        price = np.where(task.suppressed, task.price, np.minimum(task.price / share, self._dearest))
        able = np.isfinite(task.price)
        known = task.suppressed.copy()
        known[moving(moves)] = True
        columns = able & (known | self._further(able & ~known, task.cell, number))
        # There are moves already: these are not worth more time than an interior point method takes.
        return self._solve(task, columns, np.where(able, price, np.inf), MOST_VERTICES)

    def _further(self, others: Bools, cell: int, number: int) -> Bools:
        """All columns of some codes of an axis that have so many of others; another axis in every round."""
        codes = self._codes[:, number % self._codes.shape[1]]
        shuffled = np.random.default_rng([cell, number]).permutation(int(codes.max()) + 1)
        fresh = np.bincount(codes[others], minlength=len(shuffled))
        return np.isin(codes, shuffled[: 1 + int(np.searchsorted(np.cumsum(fresh[shuffled]), FURTHER))])

    def _solve(self, task: Task, columns: Bools, price: Floats, most_vertices: int | None = None) -> Floats | None:
        columns[task.cell] = True
        prover = ConfinedProver(
            self.problem.system, columns, self._targeted, is_interior_allowed=True, most_vertices=most_vertices
        )
        return prover.cheapest(price, task.cell, task.amount, task.target, task.worth)

    def worth(self, cell: int, amount: float, target: Floats, bonus: float) -> Floats:
        """What a unit of each column's move is worth."""
        # Each of these would else need a program of its own, as costly as this one.
        is_along = self.related(cell) & (target * np.sign(amount) >= LARGE_SHARE * abs(amount))
        return np.where(is_along, ALONG * bonus, bonus)

    def near(self, price: Floats, cell: int, amount: float, suppressed: Bools) -> Floats:
        """The prices of what is suppressed or around a cell; infinite for all others."""
        kept = suppressed | self._neighbourhoods.columns(cell, amount, price, NEAR_PART)
        return np.where(kept, price, np.inf)

    def related(self, cell: int) -> Bools:
        """Which columns have a code of the cell, a part of it or what it is part of on every axis."""
        found = np.ones(len(self.problem), dtype=np.bool_)
        for axis, one in enumerate(self.problem.table.dimensions):
            own = int(self._codes[cell, axis])
            codes = [code for code in range(len(one.codes)) if own in one.ancestors[code]]
            found &= np.isin(self._codes[:, axis], [own, *codes, *np.asarray(one.ancestors[own]).tolist()])
        return found
