"""Baselines without a search: the margins of the lines of unsafe cells, and the hypercube method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from discreet.attack.grid import grid_of
from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.checks import integers
from discreet.evolution.process import Search, State
from discreet.kernels.boxes import Grid
from discreet.tables.suppression.orders.agenda import find_open
from discreet.tables.suppression.pattern import Pattern, pattern_of
from discreet.tables.suppression.problem import Problem

# Boxes looked at for one cell at most; where there are more, the heaviest partners are left out.
MOST_BOXES = 300_000
# After so many rounds whole lines are suppressed instead of margins.
ROUNDS = 12


def marginal(pattern: Pattern) -> Bools:
    """Suppress the margins of every line with an exposed primary cell, their own margins next, until all are safe.

    The method of last resort: quick to explain, and costly. Where margins do not help, whole lines go; where these do
    not help either, the pattern does what can be done.

    Parameters
    ----------
    pattern : Pattern
        Of the problem; it holds the pattern afterwards.

    Returns
    -------
    array of bool
        Which columns are suppressed, the primary ones among them.
    """
    problem = pattern.problem
    suppressed = problem.primary.copy()
    for number in range(2 * ROUNDS):
        left = find_open(problem, suppressed)
        left = left[problem.outside[left]]
        if not len(left):
            break
        new = _margins(problem, suppressed, problem.cell[left], whole=number >= ROUNDS)
        if not new.any():
            break
        suppressed |= new
    pattern.start(suppressed)
    pattern.protect(find_open(problem, suppressed))
    return pattern.suppressed


def _margins(problem: Problem, suppressed: Bools, columns: Ints, *, whole: bool) -> Bools:
    """Published totals of the lines of some columns; if there are none, of suppressed cells in these, and so on."""
    system = problem.system
    rows = np.repeat(np.arange(len(system.relations)), np.diff(system.starts))
    falling = np.bincount(rows[system.coefficients < 0], minlength=len(system.relations))
    rising = np.bincount(rows[system.coefficients > 0], minlength=len(system.relations))
    # A total stands alone on its side of the equation.
    total = (system.coefficients < 0) == (falling <= rising)[rows]
    front = np.zeros(len(problem), dtype=np.bool_)
    front[columns] = True
    while True:
        touched = np.zeros(len(system.relations), dtype=np.bool_)
        touched[rows[front[system.columns]]] = True
        entries = touched[rows]
        new = np.zeros(len(problem), dtype=np.bool_)
        if not whole:
            new[system.columns[entries & total]] = True
            new &= ~suppressed
            if new.any():
                return new
        wider = front.copy()
        wider[system.columns[entries]] = True
        wider &= suppressed
        if whole or (wider == front).all():
            new[system.columns[entries]] = True
            return new & ~suppressed
        front = wider


def hypercube(pattern: Pattern) -> Bools:
    """Protect each primary cell by the cheapest box of 2^D cells around it that can carry its levels.

    Cells go by falling level. Along every dimension a box has two codes of one equation, so that its corners can
    exchange value without a trace. Cells without such a box, as in the middle of a hierarchy, are left to the
    pattern.

    Parameters
    ----------
    pattern : Pattern
        Of the problem; it holds the pattern afterwards.

    Returns
    -------
    array of bool
        Which columns are suppressed, the primary ones among them.
    """
    covered, left = cover_by_hypercubes(pattern.problem)
    pattern.start(covered)
    pattern.protect(left)
    return pattern.suppressed


def cover_by_hypercubes(problem: Problem) -> tuple[Bools, Ints]:
    """The primary cells with the hypercubes around them, and the requirements that these leave, by falling level."""
    suppressed = problem.primary.copy()
    level = np.zeros((2, len(problem)))
    level[1], level[0] = problem.by_side()
    grid = grid_of(problem.table)
    done = np.zeros((2, len(problem)), dtype=np.bool_)
    if grid is not None:
        boxes = _Boxes(problem, grid)
        most = level.max(axis=0)
        wanted = np.flatnonzero(most > 0)
        for column in wanted[np.argsort(-most[wanted], kind="stable")].tolist():
            up, down = level[:, column]
            # One box for both sides; else one for each.
            for one in ((up, down), (up, 0.0), (0.0, down)):
                found = boxes.cheapest(column, *one)
                if found is not None:
                    suppressed[found] = True
                    done[0, column] |= one[0] >= up
                    done[1, column] |= one[1] >= down
                if done[:, column].all():
                    break
    left = np.flatnonzero(~done[np.where(problem.side > 0, 0, 1), problem.cell] | ~problem.outside)
    return suppressed, left[np.argsort(-problem.level[left], kind="stable")]


class _Boxes:
    """The boxes of a problem, and what each would cost more.

    Parameters
    ----------
    problem : Problem
        The problem.
    grid : Grid
        Where its cells stand.
    """

    def __init__(self, problem: Problem, grid: Grid) -> None:
        self._grid = grid
        cells = problem.system.cells
        self._cells = cells
        # One cell more than there are stands for none: the cell −1.
        size = len(problem.table) + 1
        self._column = np.full(size, -1, dtype=np.int64)
        self._column[cells] = np.arange(len(cells))
        self._hi, self._lo, self._added = np.zeros(size), np.zeros(size), np.full(size, np.inf)
        self._hi[cells], self._lo[cells] = problem.system.hi, -problem.system.lo
        self._added[cells] = problem.weight

    def cheapest(self, column: int, up: float, down: float) -> Ints | None:
        """The columns of the cheapest box that lets a column move so far up and down, paid for; None without one."""
        grid, cell = self._grid, int(self._cells[column])
        if self._hi[cell] < up or self._lo[cell] < down:
            return None
        codes = grid.codes[cell]
        key = int(codes @ grid.strides)
        shifts: list[Ints] = []
        turns: list[Ints] = []
        for axis, code in enumerate(codes.tolist()):
            line = int(grid.line[axis, code])
            if line < 0:
                return None
            members = grid.members[grid.starts[line] : grid.starts[line + 1]]
            members = members[members != code]
            shift = (members - code) * grid.strides[axis]
            turn = np.where(grid.sign[axis, members] == grid.sign[axis, code], -1, 1)
            cost, able = self._judge(grid.lookup[key + shift], turn, up, down)
            able &= np.isfinite(cost)
            shift, turn, cost = shift[able], turn[able], cost[able]
            best = np.argsort(cost, kind="stable")[: max(2, int(MOST_BOXES ** (1 / len(codes))))]
            kept = best if _product(shifts) * len(shift) > MOST_BOXES else np.arange(len(shift))
            shifts.append(shift[kept])
            turns.append(turn[kept])
        if not all(len(shift) for shift in shifts):
            return None
        chosen = self._search(key, shifts, turns, up, down)
        if chosen is None:
            return None
        keys = np.array([key])
        for step in chosen:
            keys = np.concatenate([keys, keys + step])
        corners = np.asarray(grid.lookup[keys], dtype=np.int64)
        self._added[corners] = 0.0
        return self._column[corners]

    def _search(
        self, key: int, shifts: list[Ints], turns: list[Ints], up: float, down: float
    ) -> tuple[int, ...] | None:
        """The steps along the axes to the opposite corner of the cheapest box."""
        axes = len(shifts)
        total = np.zeros([len(shift) for shift in shifts])
        for corner in range(1, 1 << axes):
            keys, turned = np.full([1] * axes, key), np.ones([1] * axes, dtype=np.int64)
            for axis in range(axes):
                if corner >> axis & 1:
                    shape = [-1 if axis == other else 1 for other in range(axes)]
                    keys = keys + shifts[axis].reshape(shape)
                    turned = turned * turns[axis].reshape(shape)
            cost, able = self._judge(self._grid.lookup[keys], turned, up, down)
            total += np.where(able, cost, np.inf)
        best = np.unravel_index(int(np.argmin(total)), total.shape)
        if not np.isfinite(total[best]):
            return None
        return tuple(int(shift[place]) for shift, place in zip(shifts, best, strict=True))

    def _judge(self, cells: Ints, turns: Ints, up: float, down: float) -> tuple[Floats, Bools]:
        """What cells would cost more, and whether they can go along with a move so far up and down."""
        hi, lo = self._hi[cells], self._lo[cells]
        able = np.where(turns > 0, (hi >= up) & (lo >= down), (lo >= up) & (hi >= down))
        return self._added[cells], able


def _product(shifts: list[Ints]) -> int:
    return int(np.prod([len(shift) for shift in shifts], dtype=np.float64))


@dataclass(frozen=True)
class Hypercube:
    """For each unsafe cell the cheapest box of cells that can carry its level.

    References
    ----------
    S. Giessing, D. Repsilber, Tools and strategies to protect multiple tables with the GHQUAR cell suppression engine,
    Inference Control in Statistical Databases, LNCS 2316, Springer (2002) 181-192.
    """

    def search(self, problem: Problem, seed: int, previous: Bools | None = None) -> Construction:
        """The construction of one component of a problem."""
        return Construction(pattern_of(problem), hypercube)


@dataclass(frozen=True)
class Marginal:
    """The totals of the lines of unsafe cells: the last resort.

    References
    ----------
    None: it is what can be done by hand, and what others are compared with.
    """

    def search(self, problem: Problem, seed: int, previous: Bools | None = None) -> Construction:
        """The construction of one component of a problem."""
        return Construction(pattern_of(problem), marginal)


class Construction(Search[Bools]):
    """A pattern that is made in one epoch.

    Parameters
    ----------
    pattern : Pattern
        A pattern of the problem, which is changed.
    make : callable
        Makes the pattern.
    """

    def __init__(self, pattern: Pattern, make: Callable[[Pattern], Bools]) -> None:
        self.problem = pattern.problem
        self._pattern, self._make = pattern, make
        self._made: Bools | None = None

    @property
    def cost(self) -> float:
        """Cost of the pattern; infinite before there is any."""
        return float("inf") if self._made is None else self.problem.cost(self._made)

    @property
    def finished(self) -> bool:
        """Whether the pattern is made."""
        return self._made is not None

    def _epochs(self) -> Iterator[None]:
        if self._made is None:
            self._made = self._make(self._pattern)
            yield

    def answer(self) -> Bools:
        """The pattern over the columns."""
        return self.problem.primary.copy() if self._made is None else self._made.copy()

    def _state(self) -> State:
        return {} if self._made is None else {"pattern": self._made}

    def _restore(self, state: State) -> None:
        made = integers("pattern", state["pattern"], (len(self.problem),), 0, 1) if state else None
        self._made = None if made is None else made.astype(np.bool_)
