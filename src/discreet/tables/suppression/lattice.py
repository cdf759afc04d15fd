"""The linear program of a full table of three dimensions, by an interior-point method made for it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from discreet.attack.grid import grid_of
from discreet.attack.system import Bools, Floats, Ints
from discreet.kernels.lattice.deviations import Lattice, Moves, support
from discreet.tables.suppression.problem import Problem


def one_thread() -> AbstractContextManager[Any]:
    """A context in which matrices are multiplied and factored by the calling thread alone.

    The libraries behind numpy and scipy share work among threads by themselves, and how they do changes rounding:
    results would depend on the machine. For matrices of some hundred rows it does not pay either.
    """
    found: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return found


@cache
def _controller() -> Any:
    # It knows the libraries that are loaded when it is made.
    return ThreadpoolController()


# How near to the optimum to come, and how near if that does not tell what really moves.
GAPS = (1e-4, 1e-6, 1e-8)
NEWTON_STEPS = 80
# Capacities are cut at so many times the largest amount that is wanted: what is wider than that might as well be open.
LARGEST_CAPACITY = 4.0


class LatticeProver:
    """The linear program of a full table of three dimensions.

    Parameters
    ----------
    problem : Problem
        The problem.
    shape : three ints
        The lengths of the axes.
    sign : array of float
        For each cell of the table what its deviation is multiplied by so that all lines sum to zero.
    """

    def __init__(self, problem: Problem, shape: tuple[int, int, int], sign: Floats) -> None:
        system = problem.system
        self._cells = system.cells
        self._sign = sign[system.cells]
        self._lo, self._hi = system.lo, system.hi
        self._lattice = Lattice(shape)
        self.dual_ray: Floats | None = None

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float) -> Floats | None:
        """See `Prover`."""
        able = np.isfinite(price)
        able[cell] = False
        widest = LARGEST_CAPACITY * max(abs(amount), float(np.abs(target).max(initial=0.0)))
        parts: list[tuple[Ints, Floats, Floats, Floats]] = []
        for side, room in ((1.0, self._hi), (-1.0, -self._lo)):
            wanted = np.where(able, np.minimum(np.maximum(side * target, 0.0), room), 0.0)
            against = np.where(side * target < 0, bonus, 0.0)
            rest = np.where(able, np.minimum(room, widest) - wanted, 0.0)
            for capacity, cost in ((wanted, price - bonus), (rest, price + against)):
                there = np.flatnonzero(capacity > 0)
                parts.append((there, np.full(len(there), side), cost[there], capacity[there]))
        column, sides, cost, capacity = (np.concatenate(one) for one in zip(*parts, strict=True))
        fixed = np.zeros(self._lattice.size)
        fixed[self._cells[cell]] = self._sign[cell] * amount
        moves = Moves(self._cells[column], sides * self._sign[column], cost, capacity, fixed)
        free = np.zeros(self._lattice.size, dtype=np.bool_)
        free[self._cells[price == 0.0]] = True
        with one_thread():
            return self._solve(moves, abs(amount), free)

    def _solve(self, moves: Moves, level: float, free: Bools) -> Floats | None:
        """The cheapest deviations of cells that really move, None if there are none."""
        for gap in GAPS:
            result = self._lattice.solve(*moves, gap=gap, iterations=NEWTON_STEPS)
            if result.status == "infeasible":
                return None
            found = support(self._lattice, moves, result, level, free=free)
            if found.is_exact:
                return np.clip(self._sign * found.e[self._cells], self._lo, self._hi)
        return None


def lattice_of(problem: Problem) -> LatticeProver | None:
    """The prover of a problem whose table is a full one of three dimensions, each a total and its parts."""
    grid = grid_of(problem.table)
    if grid is None or grid.codes.shape[1] != 3:
        return None
    sizes = grid.codes.max(axis=0) + 1
    n = len(problem.table)
    flat = len(grid.starts) == 4 and all((grid.line[axis, : sizes[axis]] == axis).all() for axis in range(3))
    if not flat or int(np.prod(sizes)) != n:
        return None
    expected = np.array([sizes[1] * sizes[2], sizes[2], 1])
    if (grid.codes @ expected != np.arange(n)).any():
        return None
    sign = np.ones(n)
    for axis in range(3):
        sign *= grid.sign[axis, grid.codes[:, axis]]
    return LatticeProver(problem, (int(sizes[0]), int(sizes[1]), int(sizes[2])), sign)
