"""The lines of a table of three dimensions, and the normal equations of their sums.

Cell (i, j, l) stands in three lines: (i, j), (i, l) and (j, l). Both linear programs and least squares ask for the
normal matrix of the lines under weights of cells. It is diagonal for the lines (i, j), which go out in closed form;
then the lines (i, l) meet only within a slice i: one small Cholesky factor each. What stays is one dense matrix for the
lines (j, l), small as the axes are taken in falling order. Lines depend on each other, so that the matrix is singular:
a trace of its diagonal is added to factor it, and conjugate gradients on the true matrix take back what that changed.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack

from discreet.kernels.arrays import Floats
from discreet.kernels.jit import formula

TRACE = 1e-13
"""What is added to the normal matrix, in parts of its diagonal; more where rounding asks for it."""


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
