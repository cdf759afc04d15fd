"""Provers: the cheapest way to protect a requirement, as a linear program.

The incremental attacker of Fischetti and Salazar (2001), as in Smith and others (2012, II.B): move one cell by its
level while all relations hold. Every cell has a variable for each direction, with a price. Cells that are to move as
well, if that costs little, have a segment with a bonus as far as their target.

In a large table the linear program is of a part of it: the cell's codes, and on each axis the leaves cheapest to move
along. A set of codes that holds with each code all codes it is part of, on every axis, makes a table of its own: what
leaves take from each other shows in no other cell. So moves of a part are moves of the whole: costlier perhaps, but
found in a fraction of the time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.attack.system import Bools, Floats, Ints, System
from discreet.solvers.highs import (
    COARSE_SIMPLEX,
    PRESOLVED_INTERIOR,
    PRESOLVED_SIMPLEX,
    LinearProgram,
    Matrix,
    Status,
    Way,
)
from discreet.solvers.tolerances import LP, LP_COARSE, MOVED, REACH, SMALL
from discreet.tables.suppression.problem import Problem

# From this many variables on presolving pays.
PRESOLVED_VARIABLES = 20_000
# From this many variables and targets on an interior-point method is faster than the simplex method.
INTERIOR_VARIABLES, INTERIOR_TARGETS = 5_000, 500
# There capacities are cut at so many times the largest move that is wanted: what is wider might as well be open.
INTERIOR_CAPACITY = 4.0
# Moves below this, in units, are rounding.
MOVED_UNITS = 1e-9
# What a cell that cannot move costs, and the share of a move below which capacity counts no further.
NEVER, LEAST_SHARE = 1e15, 1e-3
# How many columns a part has as long as nothing is protected, how many at least, and what it grows by where it has no
# solution. The first programs decide most of the cost; the last ones find almost everything suppressed.
PART, SMALLEST_PART, PART_GROWTH = 8_000, 3_000, 4
# Beyond this many columns, and after so many vertices, a program is given up: the search has a pattern to fall back on.
LARGEST_PART, MOST_VERTICES = 30_000, 5_000


class Prover(Protocol):
    """Finds the cheapest moves of cells that obey all relations."""

    @property
    def dual_ray(self) -> Floats | None:
        """Prices of all relations that show why the last linear program is infeasible, if they are known."""
        ...

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float) -> Floats | None:
        """Find the cheapest deviations in which a cell moves by an amount.

        Parameters
        ----------
        price : array of float
            What a unit of each cell's move costs; infinite if it must stay.
        cell, amount : int, float
            The cell that is moved, and by how much; negative for down.
        target : array of float
            How far other cells are to move if that costs little, with sign; 0 where it does not matter.
        bonus : float
            What each unit of such a move is worth.

        Returns
        -------
        array of float or None
            None if there are no such deviations.
        """
        ...


class LinearProver:
    """The linear program of a system on HiGHS.

    Parameters
    ----------
    system : System
        The system.
    targeted : array of int
        The columns that may have targets: those with requirements.
    is_interior_allowed : bool
        Whether programs with many targets may be solved by an interior-point method, which then goes to a vertex.
    most_vertices : int, optional
        After how many vertices to go on by interior points, or to give up where they are not allowed; never by default.
    """

    def __init__(
        self,
        system: System,
        targeted: Ints,
        *,
        is_interior_allowed: bool = False,
        most_vertices: int | None = None,
    ) -> None:
        self.system = system
        self._is_interior_allowed, self._most_vertices = is_interior_allowed, most_vertices
        n, m = len(system), len(system.relations)
        self._targeted = targeted
        # Up and down of all, then the segments with a bonus: their signs change from program to program, so both.
        self._order = np.concatenate([np.arange(n), np.arange(n), targeted, targeted])
        self._sign = np.concatenate([np.ones(n), -np.ones(n), np.ones(len(targeted)), -np.ones(len(targeted))])
        counts = np.diff(system.by_starts)[self._order]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        at = np.repeat(system.by_starts[self._order] - starts[:-1], counts) + np.arange(starts[-1])
        self.variables = len(self._order)
        self.dual_ray: Floats | None = None
        self.is_infeasible = False
        nothing, zeros = np.zeros(self.variables), np.zeros(m)
        self._program = LinearProgram(
            cost=nothing,
            lower=nothing,
            upper=nothing,
            row_lower=zeros,
            row_upper=zeros,
            matrix=Matrix(starts, system.by_rows[at], system.by_coefficients[at] * np.repeat(self._sign, counts)),
        )
        if most_vertices is not None:
            self._program.set(simplex_iteration_limit=most_vertices)

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float | Floats) -> Floats | None:
        """See `Prover`."""
        if 0 < abs(amount) < SMALL * self.system.widest:
            # Among moves that are far larger a small one is rounding.
            ways = [Way("simplex", "off", LP), COARSE_SIMPLEX, PRESOLVED_INTERIOR]
            small = self._move(price, np.array([cell]), np.array([amount]), target, bonus, REACH, ways, abs(amount))
            if small is not None:
                return small
        targets = target[self._targeted]
        is_interior = (
            self._is_interior_allowed
            and self.variables >= INTERIOR_VARIABLES
            and int(np.count_nonzero(targets)) >= INTERIOR_TARGETS
        )
        widest = np.inf
        if is_interior:
            widest = INTERIOR_CAPACITY * max(abs(amount), float(np.abs(targets).max(initial=0.0)))
        solver = "ipm" if is_interior else "simplex"
        presolve = "on" if self.variables >= PRESOLVED_VARIABLES or is_interior else "off"
        ways = [Way(solver, presolve, LP), COARSE_SIMPLEX, PRESOLVED_SIMPLEX]
        if self._most_vertices is None or self._is_interior_allowed:
            ways = [*ways[: 3 if self._most_vertices is None else 1], PRESOLVED_INTERIOR]
        else:
            ways = ways[:1]
        found = self._move(price, np.array([cell]), np.array([amount]), target, bonus, widest, ways)
        if found is None and is_interior and self._most_vertices is None:
            # With all the capacity there is, and vertex by vertex, something may be found still.
            self._is_interior_allowed = False
            found = self.cheapest(price, cell, amount, target, bonus)
            self._is_interior_allowed = True
        return found

    def cheapest_together(self, price: Floats, cells: Ints, amounts: Floats) -> Floats | None:
        """Find the cheapest deviations in which several cells, each given once, move by amounts; None without any."""
        if ((amounts > self.system.hi[cells]) | (amounts < self.system.lo[cells])).any():
            return None
        solver = "ipm" if self.variables >= PRESOLVED_VARIABLES else "simplex"
        ways = [Way(solver, "off", LP), Way(solver, "off", LP_COARSE)]
        return self._move(price, cells, amounts, np.zeros(len(price)), 0.0, np.inf, ways)

    def _move(
        self,
        price: Floats,
        cells: Ints,
        amounts: Floats,
        target: Floats,
        bonus: float | Floats,
        widest: float,
        ways: list[Way],
        unit: float = 1.0,
    ) -> Floats | None:
        """The cheapest deviations with given moves of some cells, capacities cut at the widest, solved in some way.

        All that is solved is in a unit, the widest too; what is given and found is not.
        """
        lo, hi, n = self.system.lo / unit, self.system.hi / unit, len(self.system)
        amounts, target = amounts / unit, target / unit
        able = np.isfinite(price)
        targets = target[self._targeted]
        up = np.where(able, np.minimum(hi, widest), 0.0)
        down = np.where(able, np.minimum(-lo, widest), 0.0)
        first_up, first_down = np.minimum(np.maximum(target, 0.0), up), np.minimum(np.maximum(-target, 0.0), down)
        first_up[cells] = first_down[cells] = 0.0
        up, down = up - first_up, down - first_down
        up[cells], down[cells] = np.maximum(amounts, 0.0), np.maximum(-amounts, 0.0)
        most = np.concatenate([up, down, first_up[self._targeted], first_down[self._targeted]])
        least = np.zeros(self.variables)
        least[cells], least[n + cells] = up[cells], down[cells]
        cost, worth = np.where(able, price, 0.0), np.broadcast_to(bonus, n)
        # Against its target a cell moves at a price, or else up and down at once would earn the bonus.
        cost_up, cost_down = np.where(target < 0, cost + worth, cost), np.where(target > 0, cost + worth, cost)
        earned = np.where(targets != 0, cost[self._targeted] - worth[self._targeted], 0.0)
        self._program.change_costs(np.concatenate([cost_up, cost_down, earned, earned]))
        self._program.change_bounds(least, most)
        # From scratch, so that what is found does not depend on what was solved before.
        status = self._program.solve(ways, (Status.OPTIMAL, Status.INFEASIBLE))
        self.is_infeasible = status is Status.INFEASIBLE
        self.dual_ray = self._program.dual_ray if self.is_infeasible else None
        if status is not Status.OPTIMAL:
            return None
        found: Floats = np.clip(np.bincount(self._order, self._sign * self._program.values, n), lo, hi)
        return found * unit


class ConfinedProver:
    """The linear program of some of the columns, the others staying where they are; arrays are over all columns.

    Parameters
    ----------
    system : System
        The whole system.
    columns : array of bool
        Which columns may move.
    targeted : array of int
        The columns that may have targets.
    is_interior_allowed, most_vertices : bool, int
        As in `LinearProver`.
    """

    def __init__(
        self,
        system: System,
        columns: Bools,
        targeted: Ints,
        *,
        is_interior_allowed: bool = False,
        most_vertices: int | None = None,
    ) -> None:
        self._cells = np.flatnonzero(columns)
        self._number = np.cumsum(columns) - 1
        self._size = len(system)
        part = system.part(columns)
        self._rows = np.searchsorted(system.relations, part.relations)
        self._relations = len(system.relations)
        inner = self._number[targeted[columns[targeted]]].astype(np.int64)
        self._prover = LinearProver(part, inner, is_interior_allowed=is_interior_allowed, most_vertices=most_vertices)

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float | Floats) -> Floats | None:
        """See `Prover`."""
        cells = self._cells
        worth = np.broadcast_to(bonus, len(price))[cells]
        found = self._prover.cheapest(price[cells], int(self._number[cell]), amount, target[cells], worth)
        if found is None:
            return None
        deviations = np.zeros(self._size)
        deviations[cells] = found
        return deviations

    @property
    def dual_ray(self) -> Floats | None:
        """Prices of all relations that show why the last linear program is infeasible, if they are known."""
        found = self._prover.dual_ray
        if found is None:
            return None
        prices = np.zeros(self._relations)
        prices[self._rows] = found
        return prices

    @property
    def is_infeasible(self) -> bool:
        """Whether the last linear program has no solution, and not only none that was found."""
        return self._prover.is_infeasible


class Neighbourhoods:
    """Parts of the table of a problem around its cells; the table has dimensions, and may be linked.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        table, cells = problem.table, problem.system.cells
        self._codes = np.ascontiguousarray(table.codes[cells].T)
        self._keys = table.places.keys[cells]
        self._number = np.full(len(table) + 1, -1, dtype=np.int64)
        self._number[cells] = np.arange(len(cells))
        # For each axis and leaf its code and all that it is part of, filled up with a code beyond the last.
        self._paths: list[Ints] = []
        for one in table.dimensions:
            lines = [one.ancestors[code] for code in np.flatnonzero(one.base).tolist()]
            paths = np.full((len(lines), max(map(len, lines))), len(one.codes), dtype=np.int64)
            for row, line in zip(paths, lines, strict=True):
                row[: len(line)] = line
            self._paths.append(paths)

    def columns(self, cell: int, amount: float, price: Floats, size: int) -> Bools:
        """Columns of about so many that are around one, those with a finite price."""
        able = np.isfinite(price)
        able[cell] = True
        ranked = [self._rank_leaves(axis, cell, amount, price) for axis in range(len(self._paths))]
        many = 2
        kept = self._kept(ranked, cell, many, able)
        while kept.sum() < size and many < max(map(len, ranked)):
            wider = self._kept(ranked, cell, many + max(1, many // 4), able)
            if wider.sum() > 1.5 * size:
                break
            many, kept = many + max(1, many // 4), wider
        return kept

    def _kept(self, ranked: list[Ints], cell: int, many: int, able: Bools) -> Bools:
        kept = able.copy()
        for axis, leaves in enumerate(ranked):
            dimension = self.problem.table.dimensions[axis]
            chosen = np.zeros(len(dimension.codes) + 1, dtype=np.bool_)
            chosen[self._paths[axis][leaves[:many]]] = True
            chosen[dimension.ancestors[int(self._codes[axis, cell])]] = True
            kept &= chosen[self._codes[axis]]
        return kept

    def _rank_leaves(self, axis: int, cell: int, amount: float, price: Floats) -> Ints:
        """The leaves of an axis, those first that cost least to move on the line of a cell."""
        problem, paths = self.problem, self._paths[axis]
        dimension, own = problem.table.dimensions[axis], int(self._codes[axis, cell])
        steps: NDArray[np.int64] = np.arange(len(dimension.codes)) - own
        line = self._number[problem.table.places.find(self._keys[cell] + steps * problem.table.places.strides[axis])]
        room = np.where(line >= 0, np.minimum(problem.system.hi[line], -problem.system.lo[line]), 0.0)
        share = np.clip(room / abs(amount), LEAST_SHARE, 1.0)
        cost = np.full(len(line) + 1, NEVER)
        cost[:-1] = np.where((line >= 0) & (room > 0), np.minimum(price[line] / share, NEVER), NEVER)
        cost[-1], cost[dimension.ancestors[own]] = 0.0, 0.0
        order = np.argsort(cost[paths].sum(axis=1), kind="stable")
        # A third of those that are first are leaves of the code itself, so that it can move with them.
        inner = (paths == own).any(axis=1)[order]
        place = np.where(inner, 3.0 * np.cumsum(inner), np.arange(1.0, len(order) + 1))
        return order[np.argsort(np.minimum(place, np.arange(1.0, len(order) + 1)), kind="stable")]


class SubtableProver:
    """The linear program of the columns around the cell that is moved. If it finds no solution, there may be one.

    Parameters
    ----------
    problem : Problem
        The problem; its table has dimensions.
    targeted : array of int
        The columns that may have targets: those with requirements.
    size : int
        How many columns to take around the cell, as long as nothing is protected; later fewer.
    """

    dual_ray: Floats | None = None

    def __init__(self, problem: Problem, targeted: Ints, size: int = PART) -> None:
        self.problem = problem
        self._targeted = targeted
        self._neighbourhoods = Neighbourhoods(problem)
        self._size = size

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float) -> Floats | None:
        """See `Prover`."""
        able = int(np.isfinite(price).sum())
        share = np.count_nonzero(target) / max(1, len(self._targeted))
        size = max(min(SMALLEST_PART, self._size), int(self._size * share))
        while True:
            columns = np.isfinite(price) if size >= able else self._neighbourhoods.columns(cell, amount, price, size)
            columns[cell] = True
            prover = ConfinedProver(
                self.problem.system, columns, self._targeted, is_interior_allowed=True, most_vertices=MOST_VERTICES
            )
            found = prover.cheapest(price, cell, amount, target, bonus)
            if found is not None or size >= min(able, LARGEST_PART) or not prover.is_infeasible:
                return found
            size *= PART_GROWTH


def moving(deviations: Floats) -> Ints:
    """The columns that move, but for rounding."""
    sizes = np.abs(deviations)
    return np.flatnonzero(sizes > max(MOVED_UNITS, MOVED * float(sizes.max(initial=0.0))))
