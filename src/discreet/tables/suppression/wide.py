"""Linear programs over large parts of a large table: what the heaviest requirements need decides most of the cost.

A giant moves only with thousands of others, which a small part of the table has not, or only in costly sums. What one
solution over a large part takes protects thousands of requirements besides, if each is worth something to it.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.provers import ConfinedProver, Neighbourhoods

# About how many columns a program has; all, if they are no more than half as many again.
WIDE_PART = 40_000
# How many columns are taken around a cell, besides those that are suppressed, once these may do nearly alone.
NEAR_PART = 6_000
# What moves of sums and parts of the cell are worth, in times of what others are, from what part of its move on.
ALONG, LARGE_SHARE = 100.0, 0.3


class WideProver:
    """The linear program of a large part of the table. If it finds no solution, there may be one.

    Parameters
    ----------
    problem : Problem
        The problem; its table has dimensions.
    targeted : array of int
        The columns that may have targets: those with requirements.
    """

    dual_ray: Floats | None = None

    def __init__(self, problem: Problem, targeted: Ints) -> None:
        self.problem, self._targeted = problem, targeted
        self._neighbourhoods = Neighbourhoods(problem)
        self._codes = problem.table.codes[problem.system.cells]

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float) -> Floats | None:
        """See `Prover`."""
        columns = np.isfinite(price)
        if int(columns.sum()) > 1.5 * WIDE_PART:
            columns = self._neighbourhoods.columns(cell, amount, price, WIDE_PART)
        columns[cell] = True
        prover = ConfinedProver(self.problem.system, columns, self._targeted, is_interior_allowed=True)
        # Each of these would else need a program of its own, as costly as this one.
        is_along = self.related(cell) & (target * np.sign(amount) >= LARGE_SHARE * abs(amount))
        return prover.cheapest(price, cell, amount, target, np.where(is_along, ALONG * bonus, bonus))

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
