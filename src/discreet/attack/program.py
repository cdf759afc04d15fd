"""The attacker's linear programs on HiGHS: one cell as far as it goes, or many at once.

A single program is solved by the dual simplex method from the slack basis, which takes a fraction of the time that it
takes from the basis of the program before: that one is optimal for another cell, and far from this one.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from discreet.attack.system import Floats, System
from discreet.solvers.highs import PRESOLVED_INTERIOR, PRESOLVED_SIMPLEX, LinearProgram, Matrix, Status, Way
from discreet.solvers.tolerances import LP, LP_COARSE


class Program:
    """The deviations of a system as a linear program.

    Parameters
    ----------
    system : System
        The system; one component of it is solved fastest.
    vertices : bool
        Whether interior points are to end at a vertex, whose coordinates have small denominators.
    """

    def __init__(self, system: System, *, vertices: bool) -> None:
        self.system = system
        self._vertices = vertices
        self._linear = LinearProgram(
            cost=np.zeros(len(system)),
            lower=system.lo,
            upper=system.hi,
            row_lower=np.zeros(len(system.relations)),
            row_upper=np.zeros(len(system.relations)),
            matrix=Matrix(system.starts, system.columns, system.coefficients, by_rows=True),
            maximise=True,
            run_crossover="on" if vertices else "off",
        )

    @cached_property
    def _matrix(self) -> csr_array:

        shape = len(self.system.relations), len(self.system)
        return csr_array((self.system.coefficients, self.system.columns, self.system.starts), shape=shape)

    def missed(self, deviations: Floats) -> float:
        """By how much deviations miss a relation at most: interior points obey them but for a tolerance."""
        return float(np.abs(self._matrix @ deviations).max(initial=0.0))

    def furthest(
        self, column: int, side: int, limit: float | None, *, interior: bool, sharp: bool = False
    ) -> Floats | None:
        """Deviations that bring a column as far to one side as it can go, or a limit; None if it goes on for ever.

        Interior points stop a little short of it, unless they are to be sharp, which takes longer.
        """
        if limit is not None:
            ends = (float(self.system.lo[column]), limit) if side > 0 else (-limit, float(self.system.hi[column]))
            self._linear.change_bound(column, *ends)
        self._linear.change_cost(column, float(side))
        self._linear.set(run_crossover="on" if sharp or self._vertices else "off")
        found = self._solve(interior=interior)
        self._linear.set(run_crossover="on" if self._vertices else "off")
        self._linear.change_cost(column, 0.0)
        self._linear.change_bound(column, float(self.system.lo[column]), float(self.system.hi[column]))
        return found

    def together(self, weights: Floats, lo: Floats, hi: Floats, *, interior: bool) -> Floats | None:
        """Deviations within bounds of their own that bring many columns far at once: the largest weighted sum."""
        self._linear.change_bounds(lo, hi)
        self._linear.change_costs(weights)
        found = self._solve(interior=interior)
        self._linear.change_costs(np.zeros(len(self.system)))
        self._linear.change_bounds(self.system.lo, self.system.hi)
        return found

    def _solve(self, *, interior: bool) -> Floats | None:
        usual = "ipm" if interior else "simplex"
        ways = Way(usual, "off", LP), Way(usual, "off", LP_COARSE), PRESOLVED_SIMPLEX, PRESOLVED_INTERIOR
        # What is found is checked by whoever uses it.
        status = self._linear.solve(ways, {Status.OPTIMAL, Status.UNBOUNDED})
        if status is Status.UNBOUNDED:
            return None
        # What no method has solved proves nothing.
        return self._linear.values if status is Status.OPTIMAL else np.zeros(len(self.system))
