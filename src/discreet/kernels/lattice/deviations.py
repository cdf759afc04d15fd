"""Deviations of a 3-D table: the cheapest, the nearest that add up, and those of few cells.

Multiplied by −1 for each margin index of a cell, deviations that keep all totals are those whose sum is zero along
every line of the lattice in each of the three directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats
from discreet.kernels.lattice.interior import Program, Status
from discreet.kernels.lattice.lines import TRACE, Lines

THRESHOLDS = (3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
"""How far costed cells have to move to be kept, in parts of how far they could: the interior moves all a little."""
BALANCED, WITHIN = 1e-9, 1e-7
"""What line sums and bounds may be off, in parts of the level."""
PINNINGS = 6


class Moves(NamedTuple):
    """What cells may do: by segments, and in any case.

    An upward and a downward segment of one cell that cost less than nothing together are both used: give a cell that is
    rewarded for one direction a cost for the other.
    """

    cell: NDArray[np.integer]  # segment: its cell
    direction: NDArray[np.integer] | Floats  # segment: 1 or −1, of the signed deviation
    cost: Floats  # segment: of one unit; a reward where negative
    capacity: Floats  # segment: how far it goes, above 0 and finite
    fixed: Floats  # cell: what it moves by before any segment

    def bounds(self) -> tuple[Floats, Floats]:
        """How far down and up each cell goes."""
        down, up = (
            np.bincount(self.cell, np.where(self.direction * side > 0, self.capacity, 0.0), self.fixed.size)
            for side in (-1, 1)
        )
        return self.fixed - down, self.fixed + up


class Result(NamedTuple):
    """The cheapest deviations."""

    status: Status
    e: Floats  # cell: its signed deviation
    x: Floats  # segment: how much of it is used
    objective: float
    gap: float  # by what part of it (or of the cheapest segment's cost of one level) the objective may be off the least
    iterations: int


class Support(NamedTuple):
    """Deviations of few cells."""

    is_exact: bool  # False: line sums or bounds do not hold; solve to a smaller gap
    cells: NDArray[np.int64]  # those that move, in ascending order
    e: Floats  # cell: its signed deviation, 0 for all others


class Lattice:
    """A full table of three dimensions with its margins.

    Parameters
    ----------
    shape : three ints
        The lengths of the axes, totals included; cells are in row-major order.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape
        axes = sorted(range(3), key=lambda axis: -shape[axis])
        self.lines = Lines((shape[axes[0]], shape[axes[1]], shape[axes[2]]))
        self.size = self.lines.cells
        self._cells = np.arange(self.size).reshape(shape).transpose(axes).ravel()
        self._places = np.argsort(self._cells)

    def sums(self, e: Floats) -> Floats:
        """The sums along all lines, in no order to rely on."""
        return self.lines.sums(e[self._cells])

    def solve(
        self,
        cell: NDArray[np.integer],
        direction: NDArray[np.integer] | Floats,
        cost: Floats,
        capacity: Floats,
        fixed: Floats,
        *,
        gap: float = 1e-6,
        iterations: int = 60,
    ) -> Result:
        """Find the cheapest deviations that sum to zero along each line.

        Parameters
        ----------
        cell, direction, cost, capacity, fixed : arrays
            See `Moves`; cells without a segment stay at what is fixed.
        gap : float
            By what part of it the objective may be above the least.
        iterations : int
            How many steps of the interior-point method to try at most.

        Returns
        -------
        Result
            "infeasible" where no deviations within the bounds sum to zero; "stalled" where the steps did not suffice:
            deviations are then as far as they came.
        """
        right = -self.sums(fixed)
        right[np.abs(right) <= 1e-13 * np.abs(fixed).max(initial=0.0)] = 0.0
        able, is_possible = self._able(cell, direction, cost, right)
        x = np.zeros(cell.size)
        if not is_possible:
            return Result("infeasible", fixed.copy(), x, 0.0, np.inf, 0)
        if not able.any():
            return Result("optimal", fixed.copy(), x, 0.0, 0.0, 0)
        level = float(np.abs(right).max()) or float(np.median(capacity[able]))
        price = float(np.abs(cost[able]).max()) or 1.0
        program = Program(
            self.lines,
            self._places[cell[able]],
            direction[able].astype(np.float64),
            cost[able] / price,
            capacity[able] / level,
            right / level,
        )
        self.lines.trace = TRACE
        status, used, relative, steps = program.solve(gap, iterations)
        x[able] = used * level
        e = fixed + np.bincount(cell, direction * x, self.size)
        return Result(status, e, x, float(cost @ x), relative, steps)

    def _able(
        self, cell: NDArray[np.integer], direction: NDArray[np.integer] | Floats, cost: Floats, right: Floats
    ) -> tuple[NDArray[np.bool_], bool]:
        """Which segments can be used, and whether each line that is off has one.

        A cell alone in a line whose others are still cannot move, unless up and down together pay.
        """
        least = np.full((2, self.size), np.inf)
        np.minimum.at(least, ((direction > 0).astype(np.int64), cell), cost)
        pays = (least.sum(0) < 0.0)[self._cells]
        free = np.isfinite(least).any(0)[self._cells]
        while True:
            count = self.lines.sums(free.astype(np.float64))
            alone = ((count == 1.0) & (right == 0.0)).astype(np.float64)
            stuck = free & ~pays & (self.lines.spread(alone) > 0.0)
            if not stuck.any():
                return free[self._places][cell], not ((count == 0.0) & (right != 0.0)).any()
            free &= ~stuck

    def project(self, e: Floats, weights: Floats) -> Floats:
        """Find the deviations nearest to some that sum to zero along each line: least Σ (e' − e)² / weight.

        Parameters
        ----------
        e : array of floats
            A deviation for each cell.
        weights : array of floats
            How easily each cell moves; one of weight 0 stays. Where those that move cannot make up for the others, line
            sums are left over: see `sums`.
        """
        ordered, e = weights[self._cells], e[self._cells]
        self.lines.trace = TRACE
        enough = 1e-14 * float(np.abs(e).max(initial=0.0))
        normal = self.lines.normal(ordered)
        off = self.lines.sums(e)
        for _ in range(4):
            if np.abs(off).max() <= enough:
                break
            nearer = e - ordered * self.lines.spread(normal.solve(off, 1e-12))
            left = self.lines.sums(nearer)
            if np.abs(left).max() >= np.abs(off).max():
                break
            e, off = nearer, left
        return e[self._places]


def support(
    lattice: Lattice, moves: Moves, result: Result, level: float, *, free: NDArray[np.bool_] | None = None
) -> Support:
    """Keep of a solution the cells that really move, few if that goes, and let them make up for the others.

    Parameters
    ----------
    lattice : Lattice
        The table.
    moves, result : Moves, Result
        The program and its solution.
    level : float
        How far the cell goes that was made to move: what deviations are measured by.
    free : array of bools, optional
        Cells that may move by however little; by default those without a segment of positive cost.
    """
    bounds = low, high = moves.bounds()
    if free is None:
        free = np.ones(lattice.size, np.bool_)
        free[moves.cell[moves.cost > 0.0]] = False
    change = result.e - moves.fixed
    reach = np.minimum(level, np.where(change > 0.0, high - moves.fixed, moves.fixed - low))
    for threshold in THRESHOLDS:
        kept = (low < high) & (free | (np.abs(change) > threshold * reach))
        e = _balanced(lattice, np.where(kept, result.e, moves.fixed), kept, bounds, level)
        if e is not None:
            return Support(True, np.flatnonzero(e), e)
    return Support(False, np.flatnonzero(result.e), result.e)


def _balanced(
    lattice: Lattice, e: Floats, kept: NDArray[np.bool_], bounds: tuple[Floats, Floats], level: float
) -> Floats | None:
    """Make up for line sums within bounds; None if that fails. Cells that would leave their bounds are held there."""
    low, high = bounds
    for _ in range(PINNINGS):
        # Cells give by what they moved anyway and have left: small deviations stay what they are in proportion.
        room = np.minimum(np.minimum(e - low, high - e), np.abs(e) + 1e-3 * level)
        found = lattice.project(e, np.where(kept, np.clip(room / level, 1e-4, 1.0) ** 2, 0.0))
        if np.abs(lattice.sums(found)).max() > BALANCED * level:
            return None
        inside = np.clip(found, low, high)
        off = np.abs(found - inside)
        if off.max() <= WITHIN * level:
            return found
        kept, e = kept & (off == 0.0), np.where(off > 0.0, inside, e)
    return None
