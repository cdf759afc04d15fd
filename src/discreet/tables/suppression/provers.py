"""The incremental attacker as a linear program: move one cell by its level, as cheaply as can be, and others with it.

Fischetti and Salazar (2001), as in Smith and others (2012, II.B). Every cell has a variable for each direction, with a
price. Cells that are to be moved as well, if that costs little, have a segment with a small reward as far as is wanted.
"""

from __future__ import annotations

from typing import Protocol

import highspy
import numpy as np

from discreet.attack.program import COARSE, FINE, OPTIONS
from discreet.attack.system import Bools, Floats, Ints, System

# From this many variables on it pays to look for what can be left out first.
LARGE = 20_000
# From this many variables and rewarded cells on interior points are faster than going from corner to corner.
WIDE, MANY = 5_000, 500
# There capacities are cut at so many times the largest move that is wanted: what is wider might as well be open.
ROOMY = 4.0


class Mover(Protocol):
    """Finds the cheapest moves of cells that obey all relations."""

    @property
    def prices(self) -> Floats | None:
        """Prices of all relations that show why the last program has no solution, if they are known."""
        ...

    def cheapest(self, price: Floats, cell: int, amount: float, wish: Floats, reward: float) -> Floats | None:
        """Find the cheapest deviations in which a cell moves by an amount.

        Parameters
        ----------
        price : array of float
            What a unit of each cell's move costs; infinite if it must stay.
        cell, amount : int, float
            The cell that is moved, and by how much; negative for down.
        wish : array of float
            How far other cells are to move if that costs little, with sign; 0 where it does not matter.
        reward : float
            What each unit of such a move is worth.

        Returns
        -------
        array of float or None
            None if there are no such deviations.
        """
        ...


class Forcing:
    """The program of a system on HiGHS.

    Parameters
    ----------
    system : System
        The system.
    wishful : array of int
        The columns that may be rewarded: those with tasks.
    interior : bool
        Whether programs with many rewards may be solved by interior points, which then go to a corner.
    most : int, optional
        After how many corners to go on by interior points, and to give up in the end; never if not given.
    """

    def __init__(self, system: System, wishful: Ints, *, interior: bool = False, most: int | None = None) -> None:
        self.system = system
        self._interior, self._most = interior, most
        n, m = len(system), len(system.relations)
        self._wishful = wishful
        # Up and down of all, then the rewarded segments: their signs change from program to program, so both.
        self._order = np.concatenate([np.arange(n), np.arange(n), wishful, wishful])
        self._sign = np.concatenate([np.ones(n), -np.ones(n), np.ones(len(wishful)), -np.ones(len(wishful))])
        counts = np.diff(system.by_starts)[self._order]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        at = np.repeat(system.by_starts[self._order] - starts[:-1], counts) + np.arange(starts[-1])
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            self._highs.setOptionValue(name, value)
        if most is not None:
            self._highs.setOptionValue("simplex_iteration_limit", most)
        self.variables = len(self._order)
        self.prices: Floats | None = None
        self.duals: Floats = np.zeros(m)
        self.is_infeasible = False
        self._every = np.arange(self.variables, dtype=np.int32)
        zeros = np.zeros(m)
        self._highs.passModel(
            self.variables,
            m,
            len(at),
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            np.zeros(self.variables),
            np.zeros(self.variables),
            np.zeros(self.variables),
            zeros,
            zeros,
            starts,
            system.by_rows[at].astype(np.int32),
            system.by_coefficients[at] * np.repeat(self._sign, counts),
            np.zeros(self.variables, np.int32),
        )

    def cheapest(self, price: Floats, cell: int, amount: float, wish: Floats, reward: float) -> Floats | None:
        """See `Mover`."""
        lo, hi = self.system.lo, self.system.hi
        able = np.isfinite(price)
        wished = wish[self._wishful]
        many = self._interior and self.variables >= WIDE and int(np.count_nonzero(wished)) >= MANY
        widest = ROOMY * max(abs(amount), float(np.abs(wished).max(initial=0.0))) if many else np.inf
        up = np.where(able, np.minimum(hi, widest), 0.0)
        down = np.where(able, np.minimum(-lo, widest), 0.0)
        first_up, first_down = np.minimum(np.maximum(wish, 0.0), up), np.minimum(np.maximum(-wish, 0.0), down)
        first_up[cell] = first_down[cell] = 0.0
        up, down = up - first_up, down - first_down
        up[cell], down[cell] = max(amount, 0.0), max(-amount, 0.0)
        most = np.concatenate([up, down, first_up[self._wishful], first_down[self._wishful]])
        least = np.zeros(self.variables)
        n = len(self.system)
        least[cell], least[n + cell] = up[cell], down[cell]
        cost = np.where(able, price, 0.0)
        # Against its wish a cell moves at a price, or else up and down at once would be rewarded.
        cost_up, cost_down = np.where(wish < 0, cost + reward, cost), np.where(wish > 0, cost + reward, cost)
        rewards = np.where(wished != 0, cost[self._wishful] - reward, 0.0)
        self._highs.changeColsCost(self.variables, self._every, np.concatenate([cost_up, cost_down, rewards, rewards]))
        self._highs.changeColsBounds(self.variables, self._every, least, most)
        found = self._solved(interior=many)
        if found is None and many and self._most is None:
            # With all the room there is, and corner by corner, something may be found still.
            self._interior = False
            moves = self.cheapest(price, cell, amount, wish, reward)
            self._interior = True
            return moves
        if found is None:
            return None
        return np.clip(np.bincount(self._order, self._sign * found, n), lo, hi)

    def _solved(self, *, interior: bool) -> Floats | None:
        usual = "on" if self.variables >= LARGE or interior else "off"
        self.prices, self.is_infeasible = None, False
        ways = [("ipm" if interior else "simplex", usual, FINE), ("simplex", "off", COARSE), ("simplex", "on", COARSE)]
        for solver, presolve, tolerance in (*ways[: 3 if self._most is None else 1], ("ipm", "on", COARSE)):
            self._highs.clearSolver()
            self._highs.setOptionValue("solver", solver)
            self._highs.setOptionValue("presolve", presolve)
            self._highs.setOptionValue("primal_feasibility_tolerance", tolerance)
            self._highs.setOptionValue("dual_feasibility_tolerance", tolerance)
            self._highs.run()
            status = self._highs.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                solution = self._highs.getSolution()
                self.duals = np.array(solution.row_dual)
                return np.array(solution.col_value)
            if status == highspy.HighsModelStatus.kInfeasible:
                _, there, ray = self._highs.getDualRay()  # type: ignore[attr-defined]
                self.prices, self.is_infeasible = np.array(ray) if there else None, True
                return None
        return None


class Inside:
    """The program of some of the columns, the others staying where they are; arrays are over all columns.

    Parameters
    ----------
    system : System
        The whole system.
    columns : array of bool
        Which columns may move.
    wishful : array of int
        The columns that may be rewarded.
    interior, most : bool, int
        As in `Forcing`.
    """

    def __init__(
        self, system: System, columns: Bools, wishful: Ints, *, interior: bool = False, most: int | None = None
    ) -> None:
        self._cells = np.flatnonzero(columns)
        self._number = np.cumsum(columns) - 1
        self._size = len(system)
        part = system.part(columns)
        self._rows = np.searchsorted(system.relations, part.relations)
        self._relations = len(system.relations)
        wished = self._number[wishful[columns[wishful]]].astype(np.int64)
        self._program = Forcing(part, wished, interior=interior, most=most)

    def cheapest(self, price: Floats, cell: int, amount: float, wish: Floats, reward: float) -> Floats | None:
        """See `Mover`."""
        cells = self._cells
        found = self._program.cheapest(price[cells], int(self._number[cell]), amount, wish[cells], reward)
        if found is None:
            return None
        deviations = np.zeros(self._size)
        deviations[cells] = found
        return deviations

    @property
    def prices(self) -> Floats | None:
        """Prices of all relations that show why the last program has no solution, if they are known."""
        found = self._program.prices
        return None if found is None else self._over_all(found)

    @property
    def duals(self) -> Floats:
        """What a unit of each relation is worth in the last program that has a solution."""
        return self._over_all(self._program.duals)

    @property
    def is_infeasible(self) -> bool:
        """Whether the last program has no solution, and not only none that was found."""
        return self._program.is_infeasible

    def _over_all(self, prices: Floats) -> Floats:
        found = np.zeros(self._relations)
        found[self._rows] = prices
        return found
