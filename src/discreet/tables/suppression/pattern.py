"""A pattern of suppressed cells with a certificate for each task that is protected: moves that prove it.

Why each task of a pattern is protected: the secondary cells that move when its primary cell does.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.problem import Problem

# Certificates that nothing refers to any more go once there are so many for each that is in use.
STALE = 4


class Certificates:
    """The certificates of tasks, with an index from cells to certificates; one may do for many tasks.

    Parameters
    ----------
    columns : int
        How many cells there are.
    tasks : int
        How many tasks there are.

    Attributes
    ----------
    by
        The certificate of each task, −1 if it has none. A copy of it is enough to come back to it with `restore`.
    """

    def __init__(self, columns: int, tasks: int) -> None:
        self.by: Ints = np.full(tasks, -1, dtype=np.int64)
        self._columns = columns
        self._cells: list[Ints] = []
        self._with: dict[int, list[int]] = {}

    def add(self, cells: Ints, tasks: Ints) -> None:
        """Write down that some tasks are protected as long as some cells are suppressed."""
        number = len(self._cells)
        self._cells.append(cells)
        for cell in cells.tolist():
            self._with.setdefault(cell, []).append(number)
        self.by[tasks] = number

    def of(self, task: int) -> Ints:
        """The cells that a task with a certificate rests on."""
        return self._cells[int(self.by[task])]

    def users(self, cells: Ints) -> Ints:
        """The tasks that rest on any of some cells."""
        numbers = [number for cell in cells.tolist() for number in self._with.get(cell, ())]
        if not numbers:
            return np.empty(0, dtype=np.int64)
        marked = np.zeros(len(self._cells) + 1, dtype=np.bool_)
        marked[numbers] = True
        return np.flatnonzero(marked[self.by])

    def needed(self, by: Ints | None = None) -> Bools:
        """Which cells any task rests on, with the certificates they have or those that are given."""
        by = self.by if by is None else by
        found = np.zeros(self._columns, dtype=np.bool_)
        for number in np.unique(by[by >= 0]).tolist():
            found[self._cells[number]] = True
        return found

    def restore(self, by: Ints) -> None:
        """Come back to what a copy of `by` says; nothing may have been tidied up since."""
        self.by[:] = by

    def tidy(self) -> None:
        """Forget certificates that no task has."""
        used = np.unique(self.by[self.by >= 0])
        if len(self._cells) < 1_000 + STALE * len(used):
            return
        number = np.full(len(self._cells) + 1, -1, dtype=np.int64)
        number[used] = np.arange(len(used))
        self._cells = [self._cells[old] for old in used.tolist()]
        self.by[:] = number[self.by]
        self._with = {}
        for new, cells in enumerate(self._cells):
            for cell in cells.tolist():
                self._with.setdefault(cell, []).append(new)

    def clear(self) -> None:
        """Forget everything."""
        self.by[:] = -1
        self._cells, self._with = [], {}


# What a move of a suppressed secondary cell costs, in parts of its weight: certificates keep off dear cells, so that
# these may be published again.
CHARGE = 1e-3
# Moves below this, in units and in parts of the largest, are rounding.
DUST, SHARE = 1e-9, 1e-11
# What may be lacking of a level, in parts of it.
LACKING = 1e-10


class Certified:
    """A pattern of a problem, with a certificate for each task that is protected.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        n = len(problem)
        self._up, self._down = problem.tasks_by_column()
        self._wishful = np.flatnonzero((self._up >= 0) | (self._down >= 0))
        self._suppressed = problem.primary.copy()
        self._proofs = Certificates(n, problem.tasks)
        self._turn = np.where(np.arange(n) * 2654435761 % 4294967296 < 2147483648, 1.0, -1.0)
        weights = problem.weight[problem.weight > 0]
        self._typical = float(np.median(weights)) if len(weights) else 0.0

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed, the primary ones among them; a copy."""
        return self._suppressed.copy()

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        return self.problem.cost(self._suppressed)

    @property
    def open(self) -> Ints:
        """Tasks that are not protected, or not known to be."""
        return np.flatnonzero(self._proofs.by < 0)

    def _prices(self) -> Floats:
        weight = self.problem.weight
        price: Floats = np.where(self._suppressed, CHARGE * weight, weight)
        price[self.problem.primary] = 0.0
        return price

    def _wishes(self) -> Floats:
        """How far each cell with an open task is to move: to the side that is open, or to one of the two."""
        level = self.problem.level
        up, down = self._open_level(self._up, level), self._open_level(self._down, level)
        side = np.where((up > 0) & (down > 0), self._turn, np.where(up > 0, 1.0, -1.0))
        return np.where(side > 0, up, -down)

    def _open_level(self, index: Ints, level: Floats) -> Floats:
        still = (index >= 0) & (self._proofs.by[index] < 0)
        return np.where(still, level[index], 0.0)

    def _take(self, deviations: Floats, task: int, price: Floats) -> None:
        """Suppress what moves, and write down what that proves."""
        columns = moving(deviations)
        fresh = columns[~self._suppressed[columns]]
        self._suppressed[fresh] = True
        price[fresh] = CHARGE * self.problem.weight[fresh]
        tasks = self._proven(columns, deviations[columns])
        self._certify(columns, np.union1d(tasks, [task]))

    def _certify(self, columns: Ints, tasks: Ints) -> None:
        self._proofs.add(columns[~self.problem.primary[columns]], tasks)

    def _proven(self, columns: Ints, deviations: Floats) -> Ints:
        """The open tasks that moves prove, stretched along and against themselves as far as the bounds allow."""
        problem, system = self.problem, self.problem.system
        found = []
        for direction in (deviations, -deviations):
            room = np.where(direction > 0, system.hi[columns], system.lo[columns])
            longest = float((room / direction).min(initial=np.inf))
            reach = np.where(problem.primary[columns], direction * longest, 0.0)
            for side, index in ((1, self._up), (-1, self._down)):
                task = index[columns]
                enough = side * reach >= (1 - LACKING) * problem.level[task]
                found.append(task[(task >= 0) & (self._proofs.by[task] < 0) & enough & (side * reach > 0)])
        return np.unique(np.concatenate(found))


def moving(deviations: Floats) -> Ints:
    """The columns that move, but for rounding."""
    sizes = np.abs(deviations)
    return np.flatnonzero(sizes > max(DUST, SHARE * float(sizes.max(initial=0.0))))
