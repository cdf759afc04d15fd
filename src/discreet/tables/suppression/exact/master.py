"""The linear relaxation of the cheapest pattern: shares of columns that satisfy the cuts found so far.

Solve it, look for cuts that its solution violates, add them, and again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.attack.system import Bools, Floats
from discreet.evolution.checks import floats, integers
from discreet.evolution.process import State
from discreet.solvers.highs import BASIC, Basis, LinearProgram, Matrix, Status
from discreet.solvers.tolerances import LP, VIOLATION
from discreet.tables.suppression.exact.cuts import Cut, Pool, load_cuts, rounded, save_cuts
from discreet.tables.suppression.exact.range_cuts import ranged_separator_of
from discreet.tables.suppression.exact.separation import CutFinder
from discreet.tables.suppression.problem import Problem


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
        nothing = np.zeros(0)
        self._linear = LinearProgram(
            cost=weight,
            lower=self.lower,
            upper=self.upper,
            row_lower=nothing,
            row_upper=nothing,
            matrix=Matrix(np.zeros(n + 1, np.int32), np.zeros(0, np.int32), nothing),
            presolve="off",
            simplex_strategy=1,
            # Steepest edge weights would be worked out anew for every basis that is set.
            simplex_dual_edge_weight_strategy=1,
        )
        self._linear.set_tolerance(LP)

    def require(self, cuts: list[int]) -> int:
        """Make cuts rows that are none yet; tell how many."""
        fresh = [cut for cut in cuts if cut not in self._has]
        if not fresh:
            return 0
        found = [self.pool.cuts[cut] for cut in fresh]
        sizes = [len(cut.columns) for cut in found]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.concatenate([cut.columns for cut in found])
        coefficients = np.concatenate([cut.coefficients for cut in found])
        self._linear.add_rows(
            np.array([cut.least for cut in found]),
            np.full(len(found), np.inf),
            Matrix(starts[:-1], places, coefficients, by_rows=True),
        )
        self.rows += fresh
        self._has.update(fresh)
        return len(fresh)

    def within(self, lower: Floats, upper: Floats) -> None:
        """Set the bounds of the shares."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper))
        self._linear.change_bounds(lower[changed], upper[changed], changed)
        self.lower, self.upper = lower.copy(), upper.copy()

    def solve(self, limit: int | None = None) -> bool:
        """Solve it, or do so many iterations; tell whether there is a solution or may be one."""
        self._linear.set(simplex_iteration_limit=2**31 - 1 if limit is None else limit)
        return self._linear.run() is not Status.INFEASIBLE

    @property
    def share(self) -> Floats:
        """The share of each column; 0 and 1 exactly where they are meant."""
        share = self._linear.values
        share[share < LP] = 0.0
        share[share > 1 - LP] = 1.0
        return share

    def bound(self) -> tuple[float, Floats]:
        """A lower bound that holds whatever the solver's tolerances, and the reduced cost of each column.

        Any weights of the rows that are not negative give one.
        """
        duals = np.maximum(self._linear.duals, 0.0)
        reduced = self.weight.copy()
        total = 0.0
        for row in np.flatnonzero(duals):
            cut = self.pool.cuts[self.rows[row]]
            reduced[cut.columns] -= duals[row] * cut.coefficients
            total += duals[row] * cut.least
        total += float((np.where(reduced > 0, self.lower, self.upper) * reduced).sum())
        return total, reduced

    @property
    def basis(self) -> Basis:
        """The basis at which the solver stands; an empty one before there is any."""
        return self._linear.basis if self._linear.has_basis else Basis(np.zeros(0, np.int8), np.zeros(0, np.int8))

    @basis.setter
    def basis(self, basis: Basis) -> None:
        if len(basis.columns):
            self._linear.basis = basis

    def keep_basis_only(self) -> None:
        """Keep nothing but the basis: what comes next is the same as after a load."""
        basis = self.basis
        self._linear.restart()
        self.basis = basis

    def keep_rows_only(self) -> None:
        """Let go of the cuts in the pool that are no rows."""
        cuts, self.pool = [self.pool.cuts[row] for row in self.rows], Pool()
        self.rows = self.pool.add(cuts)
        self._has = set(self.rows)

    @property
    def objective(self) -> float:
        """The cost that the solver has reached."""
        return self._linear.objective

    @property
    def binding(self) -> list[int]:
        """The cuts that hold exactly."""
        return [self.rows[row] for row in np.flatnonzero(self._slack < VIOLATION).tolist()]

    @property
    def _slack(self) -> Floats:
        """By how much the sum of each row is above what it must be."""
        least: Floats = np.array([self.pool.cuts[row].least for row in self.rows])
        return np.subtract(self._linear.row_values, least)

    def forget(self) -> int:
        """Let go of the rows that do not bind; tell how many."""
        loose = np.flatnonzero((self._linear.basis.rows == BASIC) & (self._slack > VIOLATION))
        if len(loose):
            self._linear.delete_rows(loose)
            gone = set(loose.tolist())
            self._has -= {self.rows[row] for row in gone}
            self.rows = [cut for at, cut in enumerate(self.rows) if at not in gone]
        return len(loose)

    def probe(self, column: int, iterations: int) -> tuple[float, float]:
        """Bounds with a column published and suppressed, after a few iterations from where the solver is."""
        here = self._linear.mark()
        found = []
        for low, high in ((0.0, 0.0), (1.0, 1.0)):
            self._linear.change_bound(column, low, high)
            self._linear.go_back(here)
            fits = self.solve(iterations)
            found.append(self.objective if fits else np.inf)
            self._linear.change_bound(column, self.lower[column], self.upper[column])
        self._linear.go_back(here)
        return found[0], found[1]


# Cuts that hold exactly are rounded once there are so few others to be had.
FEW_CUTS = 100
# Rows that do not bind go once there are more rows than this, and a quarter of the columns.
MANY_ROWS = 400
# The solver's tolerances are absolute: the cost of a pattern is scaled to about this.
SCALED_COST = 256.0


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
        The problem; every requirement can be protected.
    scale : float
        What costs are multiplied by.
    separator : CutFinder, optional
        Where cuts come from; from all that the problem asks for if not given.
    """

    def __init__(self, problem: Problem, scale: float, separator: CutFinder | None = None) -> None:
        self.problem, self.scale = problem, scale
        self.pool = Pool()
        self.separator: CutFinder = ranged_separator_of(problem) if separator is None else separator
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
        binding = master.binding
        if len(master.rows) > MANY_ROWS + len(self.problem) // 4:
            master.forget()
        cuts = self.separator.cuts(share)
        violated = bool(cuts)
        if len(cuts) < FEW_CUTS:
            cuts += self._roundings(binding, share)
        added = self.require(cuts)
        return Round(bound / self.scale, share, reduced / self.scale, added, violated)

    def require(self, cuts: list[Cut]) -> int:
        """Take cuts as rows; tell how many are new."""
        return self.master.require(self.pool.add(cuts))

    def keep_rows_only(self) -> None:
        """Let go of the cuts that are no rows."""
        self.master.keep_rows_only()
        self.pool = self.master.pool

    def _roundings(self, binding: list[int], share: Floats) -> list[Cut]:
        """Roundings of capacity cuts that hold exactly."""
        cuts = [self.pool.cuts[row] for row in binding]
        found = [rounded(cut, share) for cut in cuts if cut.capacity]
        return [cut for cut in found if cut is not None]

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
        basis = self.master.basis
        return save_cuts(self.pool.cuts) | {
            "rows": np.array(self.master.rows, dtype=np.int64),
            "basis.columns": basis.columns,
            "basis.rows": basis.rows,
            "lower": self.master.lower.copy(),
            "upper": self.master.upper.copy(),
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: dict[str, Any] = dict(state)
        self.pool = Pool()
        self.pool.add(load_cuts(state, len(self.problem)))
        self.master = Master(self.problem.weight * self.scale, self.problem.primary, self.pool)
        self.master.require(integers("rows", held["rows"], (-1,), 0, len(self.pool) - 1).tolist())
        every = (len(self.problem),)
        lower, upper = (np.clip(floats(name, held[name], every), 0.0, 1.0) for name in ("lower", "upper"))
        self.master.within(lower, upper)
        # No basis, or one of all columns and rows.
        size = len(self.problem) if np.size(held["basis.columns"]) else 0
        rows = len(self.master.rows) if size else 0
        self.master.basis = Basis(
            integers("basis.columns", held["basis.columns"], (size,), 0, 4).astype(np.int8),
            integers("basis.rows", held["basis.rows"], (rows,), 0, 4).astype(np.int8),
        )


def scale_for(cost: float) -> float:
    """The power of two that brings a cost near what the solver's absolute tolerances are made for."""
    return float(2.0 ** np.round(np.log2(SCALED_COST / cost))) if cost > 0 else 1.0
