"""Systems in which every cell is an arc between two relations: how far it moves is a maximum flow."""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Floats, Ints, System
from discreet.kernels.flows.circulation import adjacency, circulation, orient, widest
from discreet.solvers.tolerances import ROUNDING


class Network:
    """The columns of a system of which every component is a network.

    Parameters
    ----------
    system : System
        The system.
    signs : array of int
        1 or −1 for each row, which make every column leave one row and enter another.
    """

    def __init__(self, system: System, signs: Ints) -> None:
        self.system = system
        self._ends = ends_of(system, signs)
        self._around = adjacency(*self._ends, len(system.relations) + 1)
        room = np.concatenate([system.hi, -system.lo])
        self._tolerance = ROUNDING * float(room[np.isfinite(room)].max(initial=1.0))
        whole = (np.rint(room) == room) | np.isinf(room)
        if whole.all():
            self._tolerance = 0.0

    def reach(
        self, columns: Ints, side: int, limits: Floats, *, listed: bool = False
    ) -> tuple[Floats, Ints, Ints, Floats]:
        """How far each of some columns can go to one side, as far as its limit; listed, the deviations that show it."""
        tail, head = self._ends
        lo, hi = self.system.lo, self.system.hi
        return widest(tail, head, lo, hi, *self._around, columns, side, limits, self._tolerance, listed)

    def solution(self, column: int, side: int, limit: float) -> Floats:
        """Deviations of all columns that bring one as far as it can go, or as its limit."""
        tail, head = self._ends
        lo, hi = self.system.lo, self.system.hi
        return circulation(tail, head, lo, hi, *self._around, column, side, limit, self._tolerance)


def ends_of(system: System, signs: Ints) -> tuple[Ints, Ints]:
    """The relation that each column leaves and the one it enters; one more than there are stands for none."""
    ground = len(system.relations)
    turned = system.by_coefficients * signs[system.by_rows]
    columns = np.repeat(np.arange(len(system)), np.diff(system.by_starts))
    tail, head = np.full(len(system), ground), np.full(len(system), ground)
    tail[columns[turned < 0]] = system.by_rows[turned < 0]
    head[columns[turned > 0]] = system.by_rows[turned > 0]
    return tail, head


def networks(system: System) -> tuple[Bools, Ints]:
    """Which columns belong to a component that is a network, and the signs of rows that make it one."""
    count, component = system.components
    signs, found = orient(
        system.starts, system.columns, system.by_starts, system.by_rows, system.by_coefficients, component, count
    )
    return found[component], signs
