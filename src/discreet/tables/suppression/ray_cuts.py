"""Cuts from linear programs without a solution: why a requirement cannot do without a cell.

The dual ray of such a program says it: the capacities of cells under these prices of relations make a cut (Fischetti
and Salazar, 2001), Σ coefficient · suppressed ≥ 1, which holds for every pattern, so that one infeasible program shows
of many cells, now and later, that they are needed.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Floats, Ints, System
from discreet.evolution.process import State, inside, part
from discreet.tables.suppression.certificates import pack, unpack_numbers, unpack_places
from discreet.tables.suppression.problem import NOTHING

# How many cuts are kept, and by what a cut has to be missed to count: less may be rounding.
MOST_CUTS, MISSED = 4_000, 1e-7


class Cuts:
    """Cuts of a system, from the dual rays of infeasible linear programs.

    Parameters
    ----------
    system : System
        The system.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._entries = np.repeat(np.arange(len(system)), np.diff(system.by_starts))
        self._columns: list[Ints] = []
        self._coefficients: list[Floats] = []
        self._joined: tuple[Ints, Ints, Floats] | None = None

    def __len__(self) -> int:
        return len(self._columns)

    def add(self, prices: Floats, cell: int, amount: float, suppressed: Bools, fixed: Ints = NOTHING) -> bool:
        """Add the cut that prices of relations make for a cell that is to move by an amount; whether it is one.

        Columns that are fixed add nothing to it.
        """
        system = self.system
        turned = np.bincount(self._entries, prices[system.by_rows] * system.by_coefficients, len(system))
        turned[np.abs(turned) <= 1e-9 * np.abs(turned).max(initial=0.0)] = 0.0
        wanted = -turned[cell] * amount
        if wanted < 0:
            turned, wanted = -turned, -wanted
        if wanted <= 0:
            return False
        turned[fixed] = 0.0
        columns = np.flatnonzero(turned)
        columns = columns[columns != cell]
        along = turned[columns]
        room = along * np.where(along > 0, system.hi[columns], system.lo[columns])
        coefficients = np.minimum(room / wanted, 1.0)
        if coefficients[suppressed[columns]].sum() >= 1 - MISSED:
            return False
        if len(self) >= MOST_CUTS:
            del self._columns[: MOST_CUTS // 4], self._coefficients[: MOST_CUTS // 4]
        self._columns.append(columns[coefficients > 0])
        self._coefficients.append(coefficients[coefficients > 0])
        self._joined = None
        return True

    def essential(self, suppressed: Bools) -> Bools:
        """Which suppressed cells a cut shows to be needed."""
        found = np.zeros(len(self.system), dtype=np.bool_)
        if not len(self):
            return found
        if self._joined is None:
            sizes = np.array([len(one) for one in self._columns])
            rows = np.repeat(np.arange(len(sizes)), sizes)
            self._joined = rows, np.concatenate(self._columns), np.concatenate(self._coefficients)
        rows, columns, coefficients = self._joined
        there = np.where(suppressed[columns], coefficients, 0.0)
        total = np.bincount(rows, there, len(self))
        found[columns[total[rows] - there < 1 - MISSED]] = True
        return found & suppressed

    def save(self) -> State:
        """All cuts, to go on from with `load`."""
        return inside("columns", pack(self._columns)) | inside("coefficients", pack(self._coefficients))

    def load(self, state: State) -> None:
        """Go on from what `save` gave."""
        self._columns = unpack_places(part("columns", state), len(self.system))
        self._coefficients = unpack_numbers(part("coefficients", state))
        if [len(one) for one in self._columns] != [len(one) for one in self._coefficients]:
            raise ValueError("a cut has another number of columns than of coefficients")
        self._joined = None
