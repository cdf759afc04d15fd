"""What is wrong with shares of suppression: cuts that they violate, from flows or from the duals of linear programs."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discreet.kernels.circulation import adjacency
from discreet.kernels.cuts import shortfalls
from discreet.tables.suppression.inequalities import VIOLATION, Cut, capacity_cut, rounded
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.network import ends_of, networks
from discreet.verification.attack.system import Bools, Floats, Ints

DUST = 1e-9


class Separator(Protocol):
    """Finds cuts that shares of suppression violate."""

    def lacking(self, share: Floats) -> Floats:
        """What each task lacks; 0 where it is protected."""
        ...

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts that the shares violate; for whole shares none only if they protect every task."""
        ...


class FlowCuts:
    """Cuts of problems that are networks.

    A task is a flow from one end of its cell to the other; nothing needs to carry more than its level. Where it does
    not fit, a least cut of nodes is crossed by too little capacity. A further column that is suppressed must itself be
    of use to a flow: every cut of nodes that it crosses is crossed by another suppressed one (a bridge inequality).

    Parameters
    ----------
    problem : Problem
        The problem.
    signs : array of int
        1 or −1 for each relation, which make every cell an arc.
    """

    def __init__(self, problem: Problem, signs: Ints) -> None:
        self.problem = problem
        self._tail, self._head = ends_of(problem.system, signs)
        self._nodes = len(problem.system.relations) + 1

    def lacking(self, share: Floats) -> Floats:
        """What each task lacks; 0 where it is protected."""
        problem = self.problem
        return self._shortfalls(share, problem.cell, problem.side, problem.level, problem.level, bounded=True)[0]

    def cuts(self, share: Floats) -> list[Cut]:
        """Capacity cuts, their roundings and bridge inequalities that the shares violate."""
        problem = self.problem
        found = []
        lacking, near, far = self._shortfalls(
            share, problem.cell, problem.side, problem.level, problem.level, bounded=True
        )
        for task in np.flatnonzero(lacking > 0):
            for inside in (near[task], far[task]):
                cut = self._capacity(int(task), inside)
                if cut is None:
                    continue
                if cut.lacks(share) > VIOLATION:
                    found.append(cut)
                better = rounded(cut, share)
                if better is not None:
                    found.append(better)
        return found + self._bridges(share)

    def _bridges(self, share: Floats) -> list[Cut]:
        columns = np.flatnonzero((share > 1e-4) & ~self.problem.primary)
        ones = np.ones(len(columns))
        lacking, near, _ = self._shortfalls(
            share, columns, np.ones(len(columns), np.int64), share[columns], ones, bounded=False
        )
        found = []
        for at in np.flatnonzero(lacking > VIOLATION):
            inside, column = near[at], columns[at]
            crossing = inside[self._tail] != inside[self._head]
            crossing[column] = False
            if (crossing & self.problem.primary).any():
                continue
            others = np.flatnonzero(crossing)
            order = np.argsort(np.append(others, column))
            found.append(Cut(np.append(others, column)[order], np.append(np.ones(len(others)), -1.0)[order], 0.0))
        return found

    def _capacity(self, task: int, inside: Bools) -> Cut | None:
        problem = self.problem
        level, system = float(problem.level[task]), problem.system
        begins, ends = inside[self._tail], inside[self._head]
        leaving, entering = begins & ~ends, ends & ~begins
        leaving[problem.cell[task]] = entering[problem.cell[task]] = False
        columns = np.flatnonzero(leaving | entering)
        capacities = np.minimum(np.where(leaving[columns], system.hi[columns], -system.lo[columns]), level)
        return capacity_cut(columns, capacities, level, problem.primary)

    def _shortfalls(
        self, share: Floats, cells: Ints, sides: Ints, wanted: Floats, caps: Floats, *, bounded: bool
    ) -> tuple[Floats, Bools, Bools]:
        """What moves lack when only the columns with a share are there."""
        system = self.problem.system
        used = share > 0
        used[cells] = True
        number = np.cumsum(used) - 1
        tail, head = self._tail[used], self._head[used]
        size = int(used.sum())
        lo, hi = (system.lo[used], system.hi[used]) if bounded else (-np.ones(size), np.ones(size))
        return shortfalls(
            tail,
            head,
            lo,
            hi,
            share[used],
            *adjacency(tail, head, self._nodes),
            number[cells],
            sides,
            wanted,
            caps,
            DUST,
        )


def separator_of(problem: Problem, *, programs: bool = True) -> Separator:
    """Flows where the problem is a network, linear programs otherwise, unless none are to be solved."""
    flat, signs = networks(problem.system)
    if flat.all():
        return FlowCuts(problem, signs)
    from discreet.tables.suppression.dual_cuts import DualCuts

    return DualCuts(problem, programs=programs)
