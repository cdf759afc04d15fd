"""Why each task of a pattern is protected: the secondary cells that move when its primary cell does."""

from __future__ import annotations

import numpy as np

from discreet.verification.attack.system import Bools, Ints

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
