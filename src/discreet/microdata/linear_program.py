"""The linear relaxation of set partitioning in HiGHS: some of the groups may be barred, rows and groups can be added.

One thread, tight tolerances, no clock. The tolerances are absolute: costs should average about 1 per record.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from discreet.microdata.columns import Columns, Floats, Ints
from discreet.microdata.odd_sets import OddSets

Bytes = NDArray[np.int8]
LOWER, BASIC = int(highspy.HighsBasisStatus.kLower), int(highspy.HighsBasisStatus.kBasic)
STATUS = [highspy.HighsBasisStatus(value) for value in range(5)]
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "solver": "simplex",
    "presolve": "off",
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


@dataclass(frozen=True, eq=False)
class Basis:
    """The status of each group and of each row (records, then odd sets), as HiGHS numbers them."""

    groups: Bytes
    rows: Bytes

    def grown(self, groups: int, rows: int) -> Basis:
        """The basis with further groups, at zero, and further rows, not binding."""
        return Basis(
            np.concatenate([self.groups, np.full(groups - len(self.groups), LOWER, np.int8)]),
            np.concatenate([self.rows, np.full(rows - len(self.rows), BASIC, np.int8)]),
        )


class LinearProgram:
    """Shares of groups that cover each record once at the least cost, and satisfy odd set inequalities.

    Parameters
    ----------
    columns : Columns
        The groups.
    sets : OddSets
        The inequalities.
    n : int
        Number of records.
    """

    def __init__(self, columns: Columns, sets: OddSets, n: int) -> None:
        self.columns, self.n = columns, n
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            self._highs.setOptionValue(name, value)
        # A guard: a run needs far fewer.
        self._highs.setOptionValue("simplex_iteration_limit", 100 * n + len(columns))
        count = len(columns)
        group, which, coefficient = sets.coefficients(columns, n)
        places = np.argsort(np.concatenate([columns.owners, group]), kind="stable")
        starts = columns.starts + np.concatenate([[0], np.cumsum(np.bincount(group, minlength=count))])
        self._highs.passModel(
            count,
            n + len(sets),
            len(places),
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            columns.costs,
            np.zeros(count),
            np.full(count, np.inf),
            np.concatenate([np.ones(n), np.full(len(sets), -np.inf)]),
            np.concatenate([np.ones(n), sets.limits]),
            starts.astype(np.int32),
            np.concatenate([columns.members, n + which])[places].astype(np.int32),
            np.concatenate([np.ones(len(columns.members)), coefficient])[places],
            np.zeros(count, np.int32),
        )

    def solve(self, basis: Basis | None = None, *, primal: bool = False, limit: float = np.inf) -> float:
        """Solve it; give the least cost.

        Without a basis the dual simplex method goes on from where it is, at first from the empty basis: that takes 0.7
        s for 200,000 groups of 1,000 records, where interior points take 8 s and the primal method 78 s. The primal
        method is for a basis to which groups were added.

        Parameters
        ----------
        basis : Basis, optional
            Where to start.
        primal : bool
            Use the primal simplex method.
        limit : float
            Costs from here on need not be known.

        Returns
        -------
        float
            The cost; infinite if there is no solution below the limit; nan if the solver gave up.
        """
        if basis is not None:
            start = highspy.HighsBasis()
            start.col_status = [STATUS[s] for s in basis.groups.tolist()]
            start.row_status = [STATUS[s] for s in basis.rows.tolist()]
            self._highs.setBasis(start)
        self._highs.setOptionValue("simplex_strategy", 4 if primal else 1)
        self._highs.setOptionValue("objective_bound", limit)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kObjectiveBound):
            return np.inf
        if status != highspy.HighsModelStatus.kOptimal:
            return np.nan
        return float(self._highs.getInfo().objective_function_value)

    @property
    def values(self) -> Floats:
        """The share of each group."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def duals(self) -> Floats:
        """The dual of each record."""
        return np.array(self._highs.getSolution().row_dual)[: self.n]

    @property
    def weights(self) -> Floats:
        """The weight of each odd set: minus its dual."""
        weights: Floats = np.maximum(-np.array(self._highs.getSolution().row_dual)[self.n :], 0.0)
        return weights

    @property
    def basis(self) -> Basis:
        """Where the solver has arrived."""
        found = self._highs.getBasis()
        return Basis(
            np.array([int(s) for s in found.col_status], np.int8),
            np.array([int(s) for s in found.row_status], np.int8),
        )

    def bar(self, groups: Ints) -> None:
        """Keep groups out."""
        self._bound(groups, 0.0)

    def admit(self, groups: Ints) -> None:
        """Let barred groups in again."""
        self._bound(groups, np.inf)

    def require(self, sets: OddSets) -> None:
        """Add odd set inequalities."""
        group, which, coefficient = sets.coefficients(self.columns, self.n)
        order = np.argsort(which, kind="stable")
        self._highs.addRows(
            len(sets),
            np.full(len(sets), -np.inf),
            sets.limits,
            len(order),
            np.searchsorted(which[order], np.arange(len(sets))).astype(np.int32),
            group[order].astype(np.int32),
            coefficient[order],
        )

    def _bound(self, groups: Ints, upper: float) -> None:
        if len(groups):
            self._highs.changeColsBounds(
                len(groups), groups.astype(np.int32), np.zeros(len(groups)), np.full(len(groups), upper)
            )
