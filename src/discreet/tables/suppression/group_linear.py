"""Linear programs that move several cells at once, for tables of any kind."""

from __future__ import annotations

from functools import cached_property

import highspy
import numpy as np

from discreet.attack.program import COARSE, FINE, OPTIONS
from discreet.attack.system import Floats, Ints, System
from discreet.tables.suppression.program_pattern import Linear
from discreet.tables.suppression.provers import LARGE


class GroupProgram:
    """The cheapest way to move several cells of a system at once.

    Parameters
    ----------
    system : System
        The system.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        n, m = len(system), len(system.relations)
        # Up and down of every column.
        starts = np.concatenate([system.by_starts, system.by_starts[1:] + system.by_starts[-1]])
        self._every = np.arange(2 * n, dtype=np.int32)
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            self._highs.setOptionValue(name, value)
        self._highs.setOptionValue("solver", "ipm" if 2 * n >= LARGE else "simplex")
        self._highs.setOptionValue("presolve", "off")
        self._highs.passModel(
            2 * n,
            m,
            2 * len(system.by_rows),
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            np.zeros(2 * n),
            np.zeros(2 * n),
            np.zeros(2 * n),
            np.zeros(m),
            np.zeros(m),
            starts.astype(np.int32),
            np.concatenate([system.by_rows, system.by_rows]).astype(np.int32),
            np.concatenate([system.by_coefficients, -system.by_coefficients]),
            np.zeros(2 * n, np.int32),
        )

    def moves(self, price: Floats, cells: Ints, amounts: Floats) -> Floats | None:
        """The cheapest deviations in which some cells move by given amounts, None if there are none.

        Parameters
        ----------
        price : array of float
            What a unit of each cell's move costs; infinite if it must stay.
        cells, amounts : arrays
            The cells, each once, and by how much they move; negative for down.
        """
        lo, hi, n = self.system.lo, self.system.hi, len(self.system)
        if ((amounts > hi[cells]) | (amounts < lo[cells])).any():
            return None
        able = np.isfinite(price)
        up, down = np.where(able, hi, 0.0), np.where(able, -lo, 0.0)
        up[cells], down[cells] = np.maximum(amounts, 0.0), np.maximum(-amounts, 0.0)
        least = np.zeros(2 * n)
        least[cells], least[n + cells] = up[cells], down[cells]
        cost = np.where(able, price, 0.0)
        self._highs.changeColsCost(2 * n, self._every, np.concatenate([cost, cost]))
        self._highs.changeColsBounds(2 * n, self._every, least, np.concatenate([up, down]))
        for tolerance in (FINE, COARSE):
            # From the slack basis: the last one is far from what the next group needs.
            self._highs.clearSolver()
            self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
            self._highs.setOptionValue("dual_feasibility_tolerance", tolerance)
            self._highs.run()
            status = self._highs.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                found: Floats = np.array(self._highs.getSolution().col_value, dtype=np.float64)
                return np.clip(found[:n] - found[n:], lo, hi)
            if status == highspy.HighsModelStatus.kInfeasible:
                return None
        return None


class GroupLinear(Linear):
    """As `Linear`, with groups."""

    @cached_property
    def _groups(self) -> GroupProgram:
        return GroupProgram(self.problem.system)

    def protect_together(self, tasks: Ints) -> bool:
        """Protect some tasks of different cells by one solution in which each moves by its level; tell if there is one.

        Without a solution nothing is changed.
        """
        problem, price = self.problem, self._prices()
        found = self._groups.moves(price, problem.cell[tasks], problem.side[tasks] * problem.level[tasks])
        if found is None:
            return False
        for task in tasks.tolist():
            self._take(found, task, price)
        return True
