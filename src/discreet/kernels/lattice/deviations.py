"""Deviations of a 3-D table: the cheapest, the nearest that add up, and those of few cells.

Multiplied by −1 for each margin index of a cell, deviations that keep all totals are those whose sum is zero along
every line of the lattice in each of the three directions: cell (i, j, l) stands in the lines (i, j), (i, l) and (j, l).

Both linear programs and least squares ask for the normal matrix of the lines under weights of cells. It is diagonal for
the lines (i, j), which go out in closed form; then the lines (i, l) meet only within a slice i: one small Cholesky
factor each. What stays is one dense matrix for the lines (j, l), small as the axes are taken in falling order. Lines
depend on each other, so that the matrix is singular: a trace of its diagonal is added to factor it, and conjugate
gradients on the true matrix take back what that changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, blas, lapack

from discreet.kernels.arrays import Floats
from discreet.kernels.jit import formula
from discreet.kernels.lattice.interior import Program, Status

TRACE = 1e-13
"""What is added to the normal matrix, in parts of its diagonal; more where rounding asks for it."""
THRESHOLDS = (3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
"""How far costed cells have to move to be kept, in parts of how far they could: the interior moves all a little."""
BALANCED, WITHIN = 1e-9, 1e-7
"""What line sums and bounds may be off, in parts of the level."""
PINNINGS = 6
"""How often cells that would leave their bounds are held there before giving up."""


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


class Lines:
    """The lines of a lattice with axes in falling order; what belongs to lines is one vector: (i, j), (i, l), (j, l).

    Parameters
    ----------
    shape : three ints
        I ≥ J ≥ L.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        i, j, l = self.shape = shape  # noqa: E741
        self.ends = (i * j, i * j + i * l)
        self.size = i * j + i * l + j * l
        self.cells = i * j * l
        self.trace = TRACE

    def sums(self, cells: Floats) -> Floats:
        """The sum of each line."""
        found = np.zeros(self.size)
        _sums(cells.reshape(self.shape), *self.split(found))
        return found

    def spread(self, lines: Floats) -> Floats:
        """For each cell, the sum of what its three lines have."""
        found = np.empty(self.shape)
        _spread(*self.split(lines), found)
        return found.ravel()

    def normal(self, weights: Floats) -> Normal:
        """The normal matrix of the lines for given weights of cells."""
        return Normal(self, weights)

    def split(self, lines: Floats) -> tuple[Floats, Floats, Floats]:
        """The parts of a vector of lines as matrices."""
        i, j, l = self.shape  # noqa: E741
        one, two = self.ends
        return lines[:one].reshape(i, j), lines[one:two].reshape(i, l), lines[two:].reshape(j, l)


class Normal:
    """The normal matrix of the lines for given weights of cells, factored.

    Parameters
    ----------
    lines : Lines
        The lattice.
    weights : array of floats
        One for each cell, at least 0; cells of weight 0 are not there.
    """

    def __init__(self, lines: Lines, weights: Floats) -> None:
        self.lines, self.weights = lines, weights
        self.cube = weights.reshape(lines.shape)
        # A line without cells asks for nothing and gets nothing.
        diagonal = lines.sums(weights)
        self.is_empty = diagonal == 0.0
        diagonal[self.is_empty] = 1.0
        self.diagonal = diagonal
        # What was too little for a program's last matrix is too little for its next one: weights only grow apart.
        while not self._factored(lines.trace):
            lines.trace *= 10.0
            if lines.trace > 1e-2:
                raise LinAlgError("weights that are not finite")

    def _factored(self, trace: float) -> bool:
        i, j, l = self.lines.shape  # noqa: E741
        first, second, third = self.lines.split(self.diagonal * (1.0 + trace))
        self.first = first
        self.inverses = np.zeros((i, l, l))
        self.crossing = np.empty((i * l, j * l))
        dense = np.zeros((j * l, j * l))
        if not _eliminate(self.cube, first, second, third, self.inverses, self.crossing, dense):
            return False
        dense = blas.dsyrk(-1.0, self.crossing.T, beta=1.0, c=dense.T, overwrite_c=True, lower=True)
        self.dense, failed = lapack.dpotrf(dense, lower=True, overwrite_a=True, clean=False)
        return bool(failed == 0)

    def approximate(self, right: Floats) -> Floats:
        """Solve the system with the trace added."""
        found = right.copy()
        one, two, three = self.lines.split(found)
        _forward(self.cube, self.first, self.inverses, one, two, three)
        inner, last = two.ravel(), three.ravel()
        last -= inner @ self.crossing
        last[:], _ = lapack.dpotrs(self.dense, last, lower=True)
        inner -= self.crossing @ last
        _backward(self.cube, self.first, self.inverses, one, two, three)
        return found

    def times(self, lines: Floats) -> Floats:
        """The product of the matrix itself, without the trace, with a vector."""
        return self.lines.sums(self.weights * self.lines.spread(lines))

    def solve(self, right: Floats, tolerance: float = 1e-10, iterations: int = 12) -> Floats:
        """Solve the system: conjugate gradients from the approximate solution on; the best there is after some steps.

        Parameters
        ----------
        right : array of floats
            One for each line.
        tolerance : float
            What may be left of the largest entry.
        iterations : int
            How many steps to try at most.
        """
        right = np.where(self.is_empty, 0.0, right)
        enough = tolerance * np.abs(right).max()
        found = self.approximate(right)
        left = right - self.times(found)
        best, least = found, np.abs(left).max()
        direction, before = np.zeros_like(found), 1.0
        for step in range(iterations):
            if least <= enough:
                break
            turned = self.approximate(left)
            now = float(left @ turned)
            direction = turned + (now / before * direction if step else 0.0)
            image = self.times(direction)
            curvature = float(direction @ image)
            if not (now > 0.0 and curvature > 0.0):
                break
            found = found + now / curvature * direction
            left = left - now / curvature * image
            before = now
            if np.abs(left).max() < least:
                best, least = found, np.abs(left).max()
        return best


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


@formula
def _sums(cube: Floats, first: Floats, second: Floats, third: Floats) -> None:
    """Add each cell to what its three lines have."""
    for i in range(cube.shape[0]):
        for j in range(cube.shape[1]):
            total = 0.0
            for l in range(cube.shape[2]):  # noqa: E741
                value = cube[i, j, l]
                total += value
                second[i, l] += value
                third[j, l] += value
            first[i, j] += total


@formula
def _spread(first: Floats, second: Floats, third: Floats, cube: Floats) -> None:
    """Give each cell the sum of what its three lines have."""
    for i in range(cube.shape[0]):
        for j in range(cube.shape[1]):
            for l in range(cube.shape[2]):  # noqa: E741
                cube[i, j, l] = (first[i, j] + second[i, l]) + third[j, l]


@formula
def _eliminate(
    cube: Floats,
    first: Floats,
    second: Floats,
    third: Floats,
    inverses: Floats,
    crossing: Floats,
    dense: Floats,
) -> bool:
    """Take out the lines (i, j), then the lines (i, l) of each slice; False where rounding spoils a slice.

    What stays of a slice is second − Σ_j c_j c_jᵀ / first_j with c_j the weights of line (i, j). `inverses` gets the
    inverses of its Cholesky factors; `crossing` their products with what the slice has in common with the lines (j, l):
    diag(c_j) − c_j c_jᵀ / first_j for each j; `dense`, in its upper half, what the lines (i, j) leave of the last ones.
    """
    rows, columns, depth = cube.shape
    work = np.empty((depth, depth))
    shares, turned = np.empty(depth), np.empty(depth)
    for j in range(columns):
        for a in range(depth):
            dense[j * depth + a, j * depth + a] = third[j, a]
    for i in range(rows):
        work[:] = 0.0
        for j in range(columns):
            for a in range(depth):
                share = cube[i, j, a] / first[i, j]
                if share == 0.0:
                    continue
                for b in range(a + 1):
                    work[a, b] -= share * cube[i, j, b]
                for b in range(a, depth):
                    dense[j * depth + a, j * depth + b] -= share * cube[i, j, b]
        for a in range(depth):
            work[a, a] += second[i, a]
        if not _invert(work, inverses[i]):
            return False
        inverse = inverses[i]
        for j in range(columns):
            for a in range(depth):
                shares[a] = cube[i, j, a] / first[i, j]
                total = 0.0
                for b in range(a + 1):
                    total += inverse[a, b] * cube[i, j, b]
                turned[a] = total
            for a in range(depth):
                row = crossing[i * depth + a, j * depth : (j + 1) * depth]
                for b in range(depth):
                    row[b] = inverse[a, b] * cube[i, j, b] - turned[a] * shares[b]
    return True


@formula
def _invert(matrix: Floats, inverse: Floats) -> bool:
    """Invert the Cholesky factor of a matrix, of which the lower half is given and used up; False if it has none."""
    size = matrix.shape[0]
    for a in range(size):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            if a != b:
                matrix[a, b] = total / matrix[b, b]
            elif total > 0.0:
                matrix[a, a] = np.sqrt(total)
            else:
                return False
    for b in range(size):
        inverse[b, b] = 1.0 / matrix[b, b]
        for a in range(b + 1, size):
            total = 0.0
            for c in range(b, a):
                total -= matrix[a, c] * inverse[c, b]
            inverse[a, b] = total / matrix[a, a]
    return True


@formula
def _forward(cube: Floats, first: Floats, inverses: Floats, one: Floats, two: Floats, three: Floats) -> None:
    """Carry a right-hand side over to the lines (j, l), but for what `crossing` does."""
    rows, columns, depth = cube.shape
    work = np.empty(depth)
    for i in range(rows):
        for j in range(columns):
            scaled = one[i, j] / first[i, j]
            for l in range(depth):  # noqa: E741
                part = scaled * cube[i, j, l]
                two[i, l] -= part
                three[j, l] -= part
        for a in range(depth):
            total = 0.0
            for b in range(a + 1):
                total += inverses[i, a, b] * two[i, b]
            work[a] = total
        two[i] = work


@formula
def _backward(cube: Floats, first: Floats, inverses: Floats, one: Floats, two: Floats, three: Floats) -> None:
    """Solve for the lines (i, l) and (i, j) when those of (j, l) are known."""
    rows, columns, depth = cube.shape
    work = np.empty(depth)
    for i in range(rows):
        work[:] = 0.0
        for a in range(depth):
            for b in range(a + 1):
                work[b] += inverses[i, a, b] * two[i, a]
        two[i] = work
        for j in range(columns):
            total = 0.0
            for l in range(depth):  # noqa: E741
                total += cube[i, j, l] * (two[i, l] + three[j, l])
            one[i, j] = (one[i, j] - total) / first[i, j]
