"""The linear relaxation with cuts: solve it, look for cuts that its solution violates, add them, and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.tables.suppression.benders import Separator
from discreet.tables.suppression.inequalities import Cut, Pool, rounded
from discreet.tables.suppression.master import Master
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.range_cuts import ranged_separator_of
from discreet.verification.attack.system import Bools, Floats

if TYPE_CHECKING:
    from discreet.evolution.process import State

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
