"""The attacker's linear programs on HiGHS: one cell as far as it goes, or many at once.

A single program is solved by the dual simplex method from the slack basis, which takes a fraction of the time that it
takes from the basis of the program before: that one is optimal for another cell, and far from this one.
"""

from __future__ import annotations

from functools import cached_property

import highspy
import numpy as np
from scipy.sparse import csr_array

from discreet.attack.system import Floats, System

OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "solver": "simplex",
}
FINE, COARSE = 1e-9, 1e-7


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
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            self._highs.setOptionValue(name, value)
        self._highs.setOptionValue("run_crossover", "on" if vertices else "off")
        n, m = len(system), len(system.relations)
        zeros = np.zeros(m)
        self._highs.passModel(
            n,
            m,
            len(system.columns),
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMaximize),
            0.0,
            np.zeros(n),
            system.lo,
            system.hi,
            zeros,
            zeros,
            system.starts.astype(np.int32),
            system.columns.astype(np.int32),
            system.coefficients,
            np.zeros(n, np.int32),
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
            self._highs.changeColBounds(column, *ends)
        self._highs.changeColCost(column, float(side))
        self._highs.setOptionValue("run_crossover", "on" if sharp or self._vertices else "off")
        found = self._solved(interior=interior)
        self._highs.setOptionValue("run_crossover", "on" if self._vertices else "off")
        self._highs.changeColCost(column, 0.0)
        self._highs.changeColBounds(column, float(self.system.lo[column]), float(self.system.hi[column]))
        return found

    def together(self, weights: Floats, lo: Floats, hi: Floats, *, interior: bool) -> Floats | None:
        """Deviations within bounds of their own that bring many columns far at once: the largest weighted sum."""
        n = len(self.system)
        every = np.arange(n, dtype=np.int32)
        self._highs.changeColsBounds(n, every, lo, hi)
        self._highs.changeColsCost(n, every, weights)
        found = self._solved(interior=interior)
        self._highs.changeColsCost(n, every, np.zeros(n))
        self._highs.changeColsBounds(n, every, self.system.lo, self.system.hi)
        return found

    def _solved(self, *, interior: bool) -> Floats | None:
        usual = "ipm" if interior else "simplex"
        # Large numbers may be too much for one method or for the finest tolerance, and not for another. What is found
        # is checked by whoever uses it.
        for solver, presolve, tolerance in (
            (usual, "off", FINE),
            (usual, "off", COARSE),
            ("simplex", "on", COARSE),
            ("ipm", "on", COARSE),
        ):
            self._highs.clearSolver()
            self._highs.setOptionValue("solver", solver)
            self._highs.setOptionValue("presolve", presolve)
            self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
            self._highs.setOptionValue("dual_feasibility_tolerance", tolerance)
            self._highs.run()
            status = self._highs.getModelStatus()
            if status in (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible):
                return None
            if status == highspy.HighsModelStatus.kOptimal:
                return np.array(self._highs.getSolution().col_value)
        # What no method has solved proves nothing.
        return np.zeros(len(self.system))
