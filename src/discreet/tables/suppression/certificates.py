"""Certificates: for each requirement that a pattern protects, the secondary cells that move when its primary does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.checks import floats, integers
from discreet.evolution.process import State, inside, part

# Certificates that nothing refers to any more go once there are so many for each that is in use.
STALE_PER_USED = 4


class Certificates:
    """The certificates of requirements, with an index from cells to certificates; one may serve many requirements.

    Parameters
    ----------
    columns : int
        How many cells may be suppressed.
    requirements : int
        How many requirements there are.

    Attributes
    ----------
    number
        The certificate of each requirement, −1 if it has none. A copy is enough to come back to it with `restore`.
    """

    def __init__(self, columns: int, requirements: int) -> None:
        self.number: Ints = np.full(requirements, -1, dtype=np.int64)
        self._columns = columns
        self._cells: list[Ints] = []
        self._with: dict[int, list[int]] = {}

    def add(self, cells: Ints, requirements: Ints) -> None:
        """Record that some requirements are protected as long as some cells are suppressed."""
        self._append(cells)
        self.number[requirements] = len(self._cells) - 1

    def _append(self, cells: Ints) -> None:
        for cell in cells.tolist():
            self._with.setdefault(cell, []).append(len(self._cells))
        self._cells.append(cells)

    def cells(self, requirement: int) -> Ints:
        """The cells that a requirement with a certificate rests on."""
        return self._cells[int(self.number[requirement])]

    def users(self, cells: Ints) -> Ints:
        """The requirements that rest on any of some cells."""
        numbers = [number for cell in cells.tolist() for number in self._with.get(cell, ())]
        if not numbers:
            return np.empty(0, dtype=np.int64)
        marked = np.zeros(len(self._cells) + 1, dtype=np.bool_)
        marked[numbers] = True
        return np.flatnonzero(marked[self.number])

    def needed(self, number: Ints | None = None) -> Bools:
        """Which cells any requirement rests on, with the certificates they have or those that are given."""
        number = self.number if number is None else number
        found = np.zeros(self._columns, dtype=np.bool_)
        for one in np.unique(number[number >= 0]).tolist():
            found[self._cells[one]] = True
        return found

    def restore(self, number: Ints) -> None:
        """Come back to what a copy of `number` says; nothing may have been tidied up since."""
        self.number[:] = number

    def tidy(self) -> None:
        """Drop certificates that no requirement has, once there are many."""
        used = np.unique(self.number[self.number >= 0])
        if len(self._cells) >= 1_000 + STALE_PER_USED * len(used):
            self._keep(used)

    def _keep(self, used: Ints) -> None:
        number = np.full(len(self._cells) + 1, -1, dtype=np.int64)
        number[used] = np.arange(len(used))
        kept = [self._cells[old] for old in used.tolist()]
        self.number[:] = number[self.number]
        self._cells, self._with = [], {}
        for cells in kept:
            self._append(cells)

    def clear(self) -> None:
        """Drop everything."""
        self.number[:] = -1
        self._cells, self._with = [], {}

    def save(self) -> State:
        """Every certificate, to go on from with `load`."""
        return inside("certificates", pack(self._cells)) | {"number": self.number.copy()}

    def load(self, state: State) -> None:
        """Go on from what `save` gave."""
        self.clear()
        for cells in unpack_places(part("certificates", state), self._columns):
            self._append(cells)
        self.number[:] = integers("number", state["number"], self.number.shape, -1, len(self._cells) - 1)


def pack(arrays: list[Ints] | list[Floats]) -> State:
    """Arrays of one dimension and type as a state: their sizes, and all of them end to end."""
    sizes = np.array([len(array) for array in arrays], dtype=np.int64)
    return {"sizes": sizes, "joined": np.concatenate(arrays) if arrays else np.empty(0, np.int64)}


def unpack_places(state: State, most: int) -> list[Ints]:
    """The arrays that `pack` was given, each of places among so many."""
    joined = integers("joined", state["joined"], (-1,), 0, most - 1)
    return _split(state, joined)


def unpack_numbers(state: State) -> list[Floats]:
    """The arrays that `pack` was given, of numbers."""
    joined = state["joined"]
    return _split(state, floats("joined", joined, (-1,)) if np.size(joined) else np.empty(0))


def _split(state: State, joined: NDArray[Any]) -> list[NDArray[Any]]:
    ends = np.cumsum(integers("sizes", state["sizes"], (-1,), 0, len(joined)))
    if (ends[-1] if len(ends) else 0) != len(joined):
        raise ValueError("the arrays are not as long as they say")
    return np.split(joined, ends[:-1]) if len(ends) else []
