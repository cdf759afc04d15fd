"""What an order is an order of: the primary cells, the exposed ones among them, or groups of these."""

from __future__ import annotations

import math
from bisect import bisect
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from discreet.attack.attacker import Attacker
from discreet.attack.system import Bools, Ints, exposed_primaries
from discreet.evolution.process import State
from discreet.solvers.tolerances import LEVEL
from discreet.tables.suppression.pattern import Pattern
from discreet.tables.suppression.problem import Problem

# Requirements times columns above which to take up a kept pattern is quicker than to make it again.
WORTH_KEEPING = 1_000_000
# Bytes of kept patterns, and at how many places of an order one is kept.
KEPT_BYTES, KEPT_PLACES = 2**27, 10


@dataclass(frozen=True, eq=False)
class Agenda:
    """Primary cells in groups to be put into an order, and those whose turn comes after all groups.

    Attributes
    ----------
    up, down
        For each column its requirements, −1 where there is none.
    groups
        The columns of each group, lighter groups first; groups of one are cells.
    last
        Columns that are left to the end.
    needed
        Which requirements must be protected: neither hopeless nor proven by primary cells alone.
    """

    up: Ints
    down: Ints
    groups: tuple[Ints, ...]
    last: Ints
    needed: Bools

    def __len__(self) -> int:
        return len(self.groups)

    def follow(self, pattern: Pattern, order: Ints) -> None:
        """Protect the groups in an order: of each the requirements upwards, then those downwards."""
        if all(len(group) == 1 for group in self.groups):
            columns = np.concatenate([*self.groups, np.empty(0, np.int64)])[order]
            pattern.protect(_keep_known(np.stack([self.up[columns], self.down[columns]], axis=1).ravel()))
            return
        for number in order.tolist():
            self._protect(pattern, self.groups[number])

    def complete(self, pattern: Pattern) -> None:
        """Protect the cells that were left to the end, as one group, and then whatever is still open."""
        if len(self.last):
            self._protect(pattern, self.last)
        left = pattern.open
        pattern.protect(left[self.needed[left]])

    def _protect(self, pattern: Pattern, group: Ints) -> None:
        protect_group(pattern, _keep_known(self.up[group]))
        protect_group(pattern, _keep_known(self.down[group]))


class Follower:
    """Follows orders on a pattern; one that begins like an earlier order is followed from where they part.

    The work is at the beginning, where hardly anything is protected yet: on a table of 200×50 cells four fifths of it
    lie in the first tenth of an order. So patterns are kept at places that are denser there, the last used ones. What
    an order leads to stays the same.

    Parameters
    ----------
    agenda : Agenda
        What is put into an order.
    pattern : Pattern
        The pattern that is made.
    """

    def __init__(self, agenda: Agenda, pattern: Pattern) -> None:
        self._agenda, self._pattern = agenda, pattern
        problem, size = pattern.problem, len(agenda)
        worth = pattern.is_compiled and problem.requirements * len(problem) >= WORTH_KEEPING
        places = {math.ceil(size * (place / (KEPT_PLACES + 1)) ** 2) for place in range(1, KEPT_PLACES + 1)}
        self._places = sorted(places) if worth else []
        self._kept: OrderedDict[bytes, State] = OrderedDict()

    def follow(self, order: Ints) -> None:
        """Make the pattern of an order."""
        shared = [place for place in self._places if order[:place].tobytes() in self._kept]
        done = shared[-1] if shared else 0
        for place in shared:
            self._kept.move_to_end(order[:place].tobytes())
        if done:
            self._pattern.load(self._kept[order[:done].tobytes()])
        else:
            self._pattern.start()
        for place in self._places[bisect(self._places, done) :]:
            self._agenda.follow(self._pattern, order[done:place])
            self._keep(order[:place])
            done = place
        self._agenda.follow(self._pattern, order[done:])

    def _keep(self, beginning: Ints) -> None:
        state = self._pattern.save()
        most = KEPT_BYTES // sum(np.asarray(part).nbytes for part in state.values())
        while len(self._kept) > most:
            self._kept.popitem(last=False)
        self._kept[beginning.tobytes()] = state


def agenda_of(
    problem: Problem, *, exposed: bool = False, unpicked: bool = False, groups: int = 0, hopeless: Ints | None = None
) -> Agenda:
    """What there is to be put into an order.

    Parameters
    ----------
    problem : Problem
        The problem.
    exposed : bool
        Only primary cells that are not protected by each other: the set K of the paper.
    unpicked : bool
        Instead of these only the ones that elimination finds, K_u; the others are left to the end.
    groups : int
        How many groups of cells of similar weight to make; 0: each cell by itself.
    hopeless : array of int, optional
        Requirements that cannot be protected whatever is suppressed, which nobody should try again.
    """
    needed = np.ones(problem.requirements, dtype=np.bool_)
    last = np.zeros(len(problem), dtype=np.bool_)
    chosen = problem.primary.copy()
    if unpicked:
        chosen &= np.isin(problem.system.cells, exposed_primaries(problem.table))
        last = problem.primary & ~chosen
    elif exposed:
        # What primary cells prove among themselves no suppression of others can undo.
        needed[:] = False
        needed[find_open(problem, problem.primary)] = True
        chosen[:] = False
        chosen[problem.cell[needed & problem.outside]] = True
    if hopeless is not None:
        needed[hopeless] = False
    up, down = np.full(len(problem), -1, dtype=np.int64), np.full(len(problem), -1, dtype=np.int64)
    for side, index in ((1, up), (-1, down)):
        mine = np.flatnonzero((problem.side == side) & needed & problem.outside)
        index[problem.cell[mine]] = mine
    able = (up >= 0) | (down >= 0)
    weight = problem.table.cost[problem.system.cells]
    columns = np.flatnonzero(chosen & able)
    columns = columns[np.argsort(weight[columns], kind="stable")]
    made = np.array_split(columns, min(groups, len(columns)) if groups else len(columns)) if len(columns) else []
    return Agenda(up, down, tuple(made), np.flatnonzero(last & able), needed)


def protect_group(pattern: Pattern, requirements: Ints) -> None:
    """Protect requirements by one solution; if there is none, each half of them by one, and so on.

    Requirements that are proven already are left out.
    """
    requirements = requirements[np.isin(requirements, pattern.open)]
    if not len(requirements):
        return
    if len(requirements) == 1:
        pattern.protect(requirements)
    elif not pattern.protect_together(requirements):
        half = len(requirements) // 2
        protect_group(pattern, requirements[:half])
        protect_group(pattern, requirements[half:])


def find_open(problem: Problem, suppressed: Bools) -> Ints:
    """The requirements that a pattern does not protect; those in the eyes of insiders are taken for such."""
    table = problem.table
    hidden = np.zeros(len(table), dtype=np.bool_)
    hidden[problem.system.cells[suppressed]] = True
    attacker = Attacker(table, hidden)
    place = np.searchsorted(attacker.cells, problem.system.cells[problem.cell])
    upwards, outside = problem.side > 0, problem.outside
    level = problem.level / problem.scale
    up, down = np.zeros(len(attacker.cells)), np.zeros(len(attacker.cells))
    up[place[upwards & outside]] = level[upwards & outside]
    down[place[~upwards & outside]] = level[~upwards & outside]
    reach = attacker.reach(down, up)
    reached = np.where(upwards, reach.up[place], reach.down[place])
    return np.flatnonzero((reached < level * (1.0 - LEVEL)) | ~outside)


def _keep_known(requirements: Ints) -> Ints:
    return requirements[requirements >= 0]
