"""The linear relaxation of the least suppression on HiGHS: shares of columns that satisfy the cuts found so far.

The linear relaxation with cuts: solve it, look for cuts that its solution violates, add them, and again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.process import State
from discreet.tables.suppression.exact.cuts import Cut, Pool, rounded
from discreet.tables.suppression.exact.range_cuts import ranged_separator_of
from discreet.tables.suppression.exact.separation import Separator
from discreet.tables.suppression.problem import Problem

STATUS = [highspy.HighsBasisStatus(value) for value in range(5)]
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "solver": "simplex",
    "presolve": "off",
    "simplex_strategy": 1,
    # Steepest edge weights would be worked out anew for every basis that is set.
    "simplex_dual_edge_weight_strategy": 1,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}
SLACK = 1e-6


class Master:
    """Shares of least cost.

    Parameters
    ----------
    weight : array of float
        What each column costs, about 1 on average.
    primary : array of bool
        Columns that are suppressed.
    pool : Pool
        The cuts that may become rows.
    """

    def __init__(self, weight: Floats, primary: Bools, pool: Pool) -> None:
        self.pool = pool
        self.weight = weight
        self.rows: list[int] = []
        self._has: set[int] = set()
        n = len(weight)
        self.lower, self.upper = primary.astype(np.float64), np.ones(n)
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            self._highs.setOptionValue(name, value)
        nothing = np.zeros(0, np.int32)
        self._highs.addCols(n, weight, self.lower, self.upper, 0, nothing, nothing, np.zeros(0))

    def require(self, cuts: list[int]) -> int:
        """Make cuts rows that are none yet; tell how many."""
        fresh = [cut for cut in cuts if cut not in self._has]
        if not fresh:
            return 0
        found = [self.pool.cuts[cut] for cut in fresh]
        sizes = [len(cut.columns) for cut in found]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self._highs.addRows(
            len(found),
            np.array([cut.least for cut in found]),
            np.full(len(found), np.inf),
            int(starts[-1]),
            starts[:-1].astype(np.int32),
            np.concatenate([cut.columns for cut in found]).astype(np.int32),
            np.concatenate([cut.coefficients for cut in found]),
        )
        self.rows += fresh
        self._has.update(fresh)
        return len(fresh)

    def within(self, lower: Floats, upper: Floats) -> None:
        """Set the bounds of the shares."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper))
        if len(changed):
            self._highs.changeColsBounds(len(changed), changed.astype(np.int32), lower[changed], upper[changed])
        self.lower, self.upper = lower.copy(), upper.copy()

    def solve(self, limit: int | None = None) -> bool:
        """Solve it, or do so many iterations; tell whether there is a solution or may be one."""
        self._highs.setOptionValue("simplex_iteration_limit", 2**31 - 1 if limit is None else limit)
        self._highs.run()
        return bool(self._highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible)

    @property
    def share(self) -> Floats:
        """The share of each column; 0 and 1 exactly where they are meant."""
        share = np.array(self._highs.getSolution().col_value)
        share[share < 1e-9] = 0.0
        share[share > 1 - 1e-9] = 1.0
        return share

    def bound(self) -> tuple[float, Floats]:
        """A lower bound that holds whatever the solver's tolerances, and the reduced cost of each column.

        Any weights of the rows that are not negative give one.
        """
        duals = np.maximum(np.array(self._highs.getSolution().row_dual), 0.0)
        reduced = self.weight.copy()
        total = 0.0
        for row in np.flatnonzero(duals):
            cut = self.pool.cuts[self.rows[row]]
            reduced[cut.columns] -= duals[row] * cut.coefficients
            total += duals[row] * cut.least
        total += float((np.where(reduced > 0, self.lower, self.upper) * reduced).sum())
        return total, reduced

    @property
    def basis(self) -> tuple[Ints, Ints]:
        """The status of each column and of each row, as HiGHS numbers them; none before there is any."""
        found = self._highs.getBasis()
        if not found.valid:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return (
            np.array([int(status) for status in found.col_status], dtype=np.int64),
            np.array([int(status) for status in found.row_status], dtype=np.int64),
        )

    @basis.setter
    def basis(self, basis: tuple[Ints, Ints]) -> None:
        columns, rows = basis
        if len(columns):
            found = highspy.HighsBasis()
            found.col_status = [STATUS[status] for status in columns.tolist()]
            found.row_status = [STATUS[status] for status in rows.tolist()]
            self._highs.setBasis(found)

    def settle(self) -> None:
        """Keep nothing but the basis: what comes next is the same as after a load."""
        basis = self.basis
        self._highs.clearSolver()
        self.basis = basis

    @property
    def objective(self) -> float:
        """The cost that the solver has reached."""
        return float(self._highs.getInfo().objective_function_value)

    def forget(self) -> int:
        """Let go of the rows that do not bind; tell how many."""
        solution = self._highs.getSolution()
        value = np.array(solution.row_value)
        least = np.array([self.pool.cuts[row].least for row in self.rows])
        basis = self._highs.getBasis().row_status
        basic = np.array([status == highspy.HighsBasisStatus.kBasic for status in basis])
        loose = np.flatnonzero(basic & (value > least + SLACK))
        if len(loose):
            self._highs.deleteRows(len(loose), loose.astype(np.int32))
            gone = set(loose.tolist())
            self._has -= {self.rows[row] for row in gone}
            self.rows = [cut for at, cut in enumerate(self.rows) if at not in gone]
        return len(loose)

    def probe(self, column: int, iterations: int) -> tuple[float, float]:
        """Bounds with a column published and suppressed, after a few iterations from where the solver is."""
        basis = self._highs.getBasis()
        found = []
        for low, high in ((0.0, 0.0), (1.0, 1.0)):
            self._highs.changeColBounds(column, low, high)
            self._highs.setBasis(basis)
            fits = self.solve(iterations)
            found.append(self.objective if fits else np.inf)
            self._highs.changeColBounds(column, self.lower[column], self.upper[column])
        self._highs.setBasis(basis)
        return found[0], found[1]


# Cuts that hold exactly are rounded once there are few others to be had.
FEW = 100
MANY = 400
# The solver's tolerances are absolute: the cost of a pattern is scaled to about this.
SIZE = 256.0


class Round(NamedTuple):
    """What a round has found: a bound, the shares and their reduced costs, and whether there were cuts to add."""

    bound: float
    share: Floats
    reduced: Floats
    added: int
    violated: bool


class Relaxation:
    """Shares of columns of least cost that no cut known or found forbids.

    Parameters
    ----------
    problem : Problem
        The problem; every task can be protected.
    scale : float
        What costs are multiplied by.
    programs : bool
        Whether to solve linear programs to find cuts where the problem is no network.
    """

    def __init__(self, problem: Problem, scale: float, *, programs: bool = True) -> None:
        self.problem, self.scale = problem, scale
        self.pool = Pool()
        self.separator: Separator = ranged_separator_of(problem, programs=programs)
        self.master = Master(problem.weight * self.scale, problem.primary, self.pool)

    def round(self, cutoff: float = np.inf) -> Round:
        """Solve, and add the cuts that are violated, unless the bound is beyond what is of interest."""
        master = self.master
        if not master.solve():
            return Round(np.inf, master.lower, master.weight, 0, violated=False)
        bound, reduced = master.bound()
        share = master.share
        if bound / self.scale > cutoff:
            return Round(bound / self.scale, share, reduced / self.scale, 0, violated=False)
        if len(master.rows) > MANY + len(self.problem) // 4:
            master.forget()
        cuts = self.separator.cuts(share)
        violated = bool(cuts)
        if len(cuts) < FEW:
            cuts += self._roundings(share)
        added = master.require(self.pool.add(cuts))
        return Round(bound / self.scale, share, reduced / self.scale, added, violated)

    def _roundings(self, share: Floats) -> list[Cut]:
        """Roundings of capacity cuts that hold exactly."""
        found = []
        for row in self.master.rows:
            cut = self.pool.cuts[row]
            if cut.capacity and cut.lacks(share) > -1e-6:
                better = rounded(cut, share)
                if better is not None:
                    found.append(better)
        return found

    def part(self, keep: Bools) -> Relaxation:
        """The relaxation of some of the columns, the others being published, with the rows that there are."""
        rest = Relaxation(self.problem.part(keep), self.scale)
        number = np.cumsum(keep) - 1
        cuts = []
        for row in self.master.rows:
            cut = self.pool.cuts[row]
            inside = keep[cut.columns]
            cuts.append(cut._replace(columns=number[cut.columns[inside]], coefficients=cut.coefficients[inside]))
        rest.master.require(rest.pool.add(cuts))
        return rest

    def save(self) -> State:
        """All that the next rounds depend on."""
        cuts = self.pool.cuts
        columns, rows = self.master.basis
        return {
            "sizes": np.array([len(cut.columns) for cut in cuts], dtype=np.int64),
            "columns": np.concatenate([np.zeros(0, np.int64), *(cut.columns for cut in cuts)]),
            "coefficients": np.concatenate([np.zeros(0), *(cut.coefficients for cut in cuts)]),
            "least": np.array([cut.least for cut in cuts]),
            "capacity": np.array([cut.capacity for cut in cuts], dtype=np.bool_),
            "rows": np.array(self.master.rows, dtype=np.int64),
            "basis.columns": columns,
            "basis.rows": rows,
            "lower": self.master.lower.copy(),
            "upper": self.master.upper.copy(),
        }

    def load(self, held: dict[str, Any]) -> None:
        """Go on from a saved state."""
        ends = np.cumsum(held["sizes"])[:-1]
        columns, coefficients = np.split(held["columns"], ends), np.split(held["coefficients"], ends)
        self.pool = Pool()
        if len(held["sizes"]):
            self.pool.add(
                Cut(*cut)
                for cut in zip(columns, coefficients, held["least"].tolist(), held["capacity"].tolist(), strict=True)
            )
        self.master = Master(self.problem.weight * self.scale, self.problem.primary, self.pool)
        self.master.require(held["rows"].tolist())
        self.master.within(held["lower"], held["upper"])
        self.master.basis = held["basis.columns"], held["basis.rows"]


def scale_for(cost: float) -> float:
    """The power of two that brings a cost near what the solver's absolute tolerances are made for."""
    return float(2.0 ** np.round(np.log2(SIZE / cost))) if cost > 0 else 1.0
