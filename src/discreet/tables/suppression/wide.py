"""Linear programs over large parts of a large table: what the heaviest requirements need decides most of the cost.

A giant moves only with thousands of others, which a small part of the table has not, or only in costly sums. What one
solution over a large part takes protects thousands of requirements besides, if each is worth something to it.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.problem import NOTHING, Problem
from discreet.tables.suppression.provers import ConfinedProver, LinearProver, Neighbourhoods

# About how many columns a program has; all, if they are no more than half as many again.
WIDE_PART = 40_000
# What moves of sums and parts of the cell are worth, in times of what others are, from what part of its move on.
ALONG, LARGE_SHARE = 100.0, 0.3
# What a unit of a move costs at least in a program of one light requirement, in parts of the median weight: what costs
# nothing moves by thousands. And after how many vertices the requirement counts as heavy.
LEAST_PRICE, LIGHT_VERTICES = 1e-3, 5_000
# How many columns are taken around a cell whose level is no more than the median weight; all around others.
LIGHT_PART = 4_000


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
        prover = ConfinedProver(
            self.problem.system, columns, self._targeted, is_interior_allowed=True, interior_targets=0
        )
        # Each of these would else need a program of its own, as costly as this one.
        is_along = self.related(cell) & (target * np.sign(amount) >= LARGE_SHARE * abs(amount))
        return prover.cheapest(price, cell, amount, target, np.where(is_along, ALONG * bonus, bonus))

    def related(self, cell: int) -> Bools:
        """Which columns have a code of the cell, a part of it or what it is part of on every axis."""
        found = np.ones(len(self.problem), dtype=np.bool_)
        for axis, one in enumerate(self.problem.table.dimensions):
            own = int(self._codes[cell, axis])
            codes = [code for code in range(len(one.codes)) if own in one.ancestors[code]]
            found &= np.isin(self._codes[:, axis], [own, *codes, *np.asarray(one.ancestors[own]).tolist()])
        return found


class LightProver:
    """The linear program of one requirement that needs few cells, minding no other. It gives up on others.

    From the slack basis few vertices lead to few cells: a tenth of a second in a whole table of 60,000 cells, less in a
    part of it.

    Parameters
    ----------
    problem : Problem
        The problem; its table has dimensions.
    """

    dual_ray: Floats | None = None

    def __init__(self, problem: Problem) -> None:
        self._system, self._neighbourhoods = problem.system, Neighbourhoods(problem)
        self._whole = LinearProver(problem.system, NOTHING, most_vertices=LIGHT_VERTICES)
        self._typical_weight = float(np.median(problem.weight[problem.weight > 0]))

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float) -> Floats | None:
        """See `Prover`; targets are not minded."""
        price, found = np.maximum(price, LEAST_PRICE * self._typical_weight), None
        if abs(amount) <= self._typical_weight:
            columns = self._neighbourhoods.columns(cell, amount, price, LIGHT_PART)
            part = ConfinedProver(self._system, columns, NOTHING, most_vertices=LIGHT_VERTICES)
            found = part.cheapest_by_vertices(price, cell, amount)
        return self._whole.cheapest_by_vertices(price, cell, amount) if found is None else found
