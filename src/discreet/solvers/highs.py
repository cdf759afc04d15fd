"""Linear programs on HiGHS: the only module that knows its interface.

Every linear program of this package runs on one thread, by the clock of its own iterations and from a fixed seed, so
that a run can be repeated; whoever sets one up says what differs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from discreet.solvers.tolerances import LP, LP_COARSE

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Option = bool | int | float | str

COMMON_OPTIONS: dict[str, Option] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "solver": "simplex",
    # An interior point method that has not come near in so many iterations goes round in circles, and for ever.
    "ipm_iteration_limit": 1_000,
}
# What a basis says of a column or a row, as HiGHS numbers it.
AT_LOWER, BASIC = int(highspy.HighsBasisStatus.kLower), int(highspy.HighsBasisStatus.kBasic)
FEASIBLE = int(highspy.SolutionStatus.kSolutionStatusFeasible)
_BASIS_STATUS = [highspy.HighsBasisStatus(value) for value in range(5)]


class Status(Enum):
    """How a run has ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    BEYOND_LIMIT = "beyond limit"
    INTERRUPTED = "interrupted"  # by the limit on iterations; a further run goes on
    UNDECIDED = "undecided"


_STATUS = {
    highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
    highspy.HighsModelStatus.kUnbounded: Status.UNBOUNDED,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.UNBOUNDED,
    highspy.HighsModelStatus.kObjectiveBound: Status.BEYOND_LIMIT,
    highspy.HighsModelStatus.kIterationLimit: Status.INTERRUPTED,
}


class Matrix(NamedTuple):
    """A sparse matrix: where each row or column starts, the places of its entries, and the entries."""

    starts: Ints
    places: Ints
    coefficients: Floats
    by_rows: bool = False


class Way(NamedTuple):
    """One way to solve a linear program: the method ("simplex" or "ipm"), presolve ("on" or "off") and tolerance."""

    method: str
    presolve: str
    tolerance: float


@dataclass(frozen=True, eq=False)
class Basis:
    """The status of each column and of each row, as HiGHS numbers them."""

    columns: NDArray[np.int8]
    rows: NDArray[np.int8]

    def grow(self, columns: int, rows: int) -> Basis:
        """The basis with further columns, at their lower ends, and further rows, not binding."""
        return Basis(
            np.concatenate([self.columns, np.full(columns - len(self.columns), AT_LOWER, np.int8)]),
            np.concatenate([self.rows, np.full(rows - len(self.rows), BASIC, np.int8)]),
        )


class LinearProgram:
    """A linear program that can be changed and solved again.

    Parameters
    ----------
    cost : array of float
        What a unit of each column costs.
    lower, upper : arrays of float
        The bounds of the columns.
    row_lower, row_upper : arrays of float
        The bounds of the rows.
    matrix : Matrix
        The coefficients of the rows.
    maximise : bool
        Whether the largest cost is sought, and not the least.
    are_whole : bool
        Whether the columns have whole values only; then there are neither duals nor a basis.
    options
        Options of HiGHS, besides those that all linear programs have in common.
    """

    def __init__(
        self,
        *,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        row_lower: Floats,
        row_upper: Floats,
        matrix: Matrix,
        maximise: bool = False,
        are_whole: bool = False,
        **options: Option,
    ) -> None:
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        # A method of linear programs would take the values as any.
        self.set(**{**COMMON_OPTIONS, **({"solver": "choose"} if are_whole else {}), **options})
        count = len(cost)
        self._every = np.arange(count, dtype=np.int32)
        layout = highspy.MatrixFormat.kRowwise if matrix.by_rows else highspy.MatrixFormat.kColwise
        sense = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
        self._highs.passModel(
            count,
            len(row_lower),
            len(matrix.places),
            int(layout),
            int(sense),
            0.0,
            cost,
            lower,
            upper,
            row_lower,
            row_upper,
            matrix.starts.astype(np.int32),
            matrix.places.astype(np.int32),
            matrix.coefficients,
            np.full(count, are_whole, np.int32),
        )

    def set(self, **options: Option) -> None:
        """Set options of HiGHS."""
        for name, value in options.items():
            self._highs.setOptionValue(name, value)

    def set_tolerance(self, tolerance: float) -> None:
        """Set by how much a solution may violate bounds and rows, and reduced costs their signs."""
        self.set(primal_feasibility_tolerance=tolerance, dual_feasibility_tolerance=tolerance)

    def run(self) -> Status:
        """Solve it from where the solver is."""
        self._highs.run()
        return _STATUS.get(self._highs.getModelStatus(), Status.UNDECIDED)

    def solve(self, ways: Iterable[Way], final: Collection[Status]) -> Status:
        """Solve it from the slack basis in one way after another, until one ends with one of the final statuses.

        Large numbers may be too much for one method or for the finest tolerance, and not for another.
        """
        for way in ways:
            self.restart()
            self.set(solver=way.method, presolve=way.presolve)
            self.set_tolerance(way.tolerance)
            status = self.run()
            if status in final:
                return status
        return Status.UNDECIDED

    def restart(self) -> None:
        """Forget the basis and all else that the solver has worked out."""
        self._highs.clearSolver()

    @property
    def values(self) -> Floats:
        """The value of each column in the last solution."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def row_values(self) -> Floats:
        """The value of each row in the last solution."""
        return np.array(self._highs.getSolution().row_value)

    @property
    def duals(self) -> Floats:
        """The dual of each row in the last solution."""
        return np.array(self._highs.getSolution().row_dual)

    @property
    def objective(self) -> float:
        """The cost that the solver has reached."""
        return float(self._highs.getInfo().objective_function_value)

    @property
    def proven(self) -> float:
        """No solution costs less; what the solver has proven so far if the columns have whole values."""
        info = self._highs.getInfo()
        return float(info.mip_dual_bound if self._highs.getLp().integrality_ else info.objective_function_value)

    @property
    def has_solution(self) -> bool:
        """Whether there is a solution that obeys all bounds, be it the best or not."""
        return bool(self._highs.getInfo().primal_solution_status == FEASIBLE)

    @property
    def nodes(self) -> int:
        """Nodes of the search tree in the last run, if the columns have whole values."""
        return max(0, int(self._highs.getInfo().mip_node_count))

    @property
    def iterations(self) -> int:
        """Iterations of the simplex method in the last run."""
        return max(0, int(self._highs.getInfo().simplex_iteration_count))

    @property
    def dual_ray(self) -> Floats | None:
        """Weights of the rows that prove the last linear program infeasible, if the solver has them."""
        _, there, ray = self._highs.getDualRay()  # type: ignore[attr-defined]
        return np.array(ray) if there else None

    @property
    def has_basis(self) -> bool:
        """Whether the solver stands at a basis."""
        return bool(self._highs.getBasis().valid)

    @property
    def basis(self) -> Basis:
        """The basis at which the solver stands."""
        found = self._highs.getBasis()
        return Basis(
            np.array([int(status) for status in found.col_status], np.int8),
            np.array([int(status) for status in found.row_status], np.int8),
        )

    @basis.setter
    def basis(self, basis: Basis) -> None:
        start = highspy.HighsBasis()
        start.alien = False  # it is the solver's own: to see whether it is one takes longer than to go on from it
        start.col_status = [_BASIS_STATUS[status] for status in basis.columns.tolist()]
        start.row_status = [_BASIS_STATUS[status] for status in basis.rows.tolist()]
        self._highs.setBasis(start)

    def mark(self) -> Any:
        """The solver's own record of where it stands, for `go_back`: quicker than a basis, for this run only."""
        return self._highs.getBasis()

    def go_back(self, mark: Any) -> None:
        """Stand where the solver stood at a mark."""
        self._highs.setBasis(mark)

    def change_cost(self, column: int, cost: float) -> None:
        """Change the cost of one column."""
        self._highs.changeColCost(column, cost)

    def change_costs(self, cost: Floats) -> None:
        """Change the costs of all columns."""
        self._highs.changeColsCost(len(self._every), self._every, cost)

    def change_bound(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of one column."""
        self._highs.changeColBounds(column, lower, upper)

    def change_bounds(self, lower: Floats, upper: Floats, columns: Ints | None = None) -> None:
        """Change the bounds of some columns, of all if none are given."""
        chosen = self._every if columns is None else columns.astype(np.int32)
        if len(chosen):
            self._highs.changeColsBounds(len(chosen), chosen, lower, upper)

    def change_row_bounds(self, lower: Floats, upper: Floats, rows: Ints) -> None:
        """Change the bounds of some rows."""
        self._highs.changeRowsBounds(len(rows), rows.astype(np.int32), lower, upper)  # type: ignore[attr-defined]

    def add_rows(self, lower: Floats, upper: Floats, matrix: Matrix) -> None:
        """Add rows; the matrix is theirs alone, by rows, with one start for each."""
        self._highs.addRows(
            len(lower),
            lower,
            upper,
            len(matrix.places),
            matrix.starts.astype(np.int32),
            matrix.places.astype(np.int32),
            matrix.coefficients,
        )

    def delete_rows(self, rows: Ints) -> None:
        """Delete rows; those after them move up."""
        self._highs.deleteRows(len(rows), rows.astype(np.int32))


# From the finest tolerance to the coarse one, with another method or presolve where that does not do.
FINE_SIMPLEX, COARSE_SIMPLEX = Way("simplex", "off", LP), Way("simplex", "off", LP_COARSE)
PRESOLVED_SIMPLEX, PRESOLVED_INTERIOR = Way("simplex", "on", LP_COARSE), Way("ipm", "on", LP_COARSE)
