"""Why a cell cannot be published: cuts that every pattern which protects a task has to satisfy.

Where a task cannot be proven, the dual of its linear program says why: with prices y of the relations the moves of
suppressed cells do not add up to that of the primary cell. The capacities of the cells under these prices make a cut
(Fischetti and Salazar, 2001): Σ coefficient · suppressed ≥ 1. It holds for every pattern, so that one program that
fails tells of many cells, now and later, that they are needed.
"""

from __future__ import annotations

import numpy as np

from discreet.verification.attack.system import Bools, Floats, Ints, System

MOST = 4_000
# A cut has to be missed by this to count: less may be rounding.
CLEAR = 1e-7


class Cuts:
    """Cuts of a system.

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
        self._held: tuple[Ints, Ints, Floats] | None = None

    def __len__(self) -> int:
        return len(self._columns)

    def add(self, prices: Floats, cell: int, amount: float, suppressed: Bools) -> bool:
        """Add the cut that prices of relations make for a cell that is to move by an amount; tell if it is one."""
        system = self.system
        turned = np.bincount(self._entries, prices[system.by_rows] * system.by_coefficients, len(system))
        turned[np.abs(turned) <= 1e-9 * np.abs(turned).max(initial=0.0)] = 0.0
        wanted = -turned[cell] * amount
        if wanted < 0:
            turned, wanted = -turned, -wanted
        if wanted <= 0:
            return False
        columns = np.flatnonzero(turned)
        columns = columns[columns != cell]
        along = turned[columns]
        room = along * np.where(along > 0, system.hi[columns], system.lo[columns])
        coefficients = np.minimum(room / wanted, 1.0)
        if coefficients[suppressed[columns]].sum() >= 1 - CLEAR:
            return False
        if len(self) >= MOST:
            del self._columns[: MOST // 4], self._coefficients[: MOST // 4]
        self._columns.append(columns[coefficients > 0])
        self._coefficients.append(coefficients[coefficients > 0])
        self._held = None
        return True

    def essential(self, suppressed: Bools) -> Bools:
        """Which suppressed cells a cut shows to be needed."""
        found = np.zeros(len(self.system), dtype=np.bool_)
        if not len(self):
            return found
        if self._held is None:
            sizes = np.array([len(one) for one in self._columns])
            rows = np.repeat(np.arange(len(sizes)), sizes)
            self._held = rows, np.concatenate(self._columns), np.concatenate(self._coefficients)
        rows, columns, coefficients = self._held
        there = np.where(suppressed[columns], coefficients, 0.0)
        total = np.bincount(rows, there, len(self))
        found[columns[total[rows] - there < 1 - CLEAR]] = True
        return found & suppressed
