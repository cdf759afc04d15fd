"""Patterns of tables whose relations form a network: every step is a flow, and a kernel does it in microseconds.

Flows that can also protect several cells at once, and whose patterns depend on the order of tasks alone.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.network import ends_of
from discreet.attack.system import Bools, Ints
from discreet.kernels.arrays import Words
from discreet.kernels.flows import patterns, repairs
from discreet.kernels.flows.least_cost import able, forget, graph_of, group_flow, room_for
from discreet.kernels.random import seeded
from discreet.tables.suppression.problem import Problem

# What a move of a suppressed secondary cell costs, in parts of its weight: certificates keep off dear cells, so that
# these may be published again.
CHARGE = 1e-3
DUST = 1e-13
# How full the pool of certificates may be before a clean-up or a repair.
ROOM = 0.5


class Flows:
    """A pattern of a network problem, with a certificate for each task that is protected.

    Parameters
    ----------
    problem : Problem
        The problem.
    signs : array of int
        1 or −1 for each relation, which make every cell an arc.
    """

    def __init__(self, problem: Problem, signs: Ints) -> None:
        self.problem, self.signs = problem, signs
        system = problem.system
        tail, head = ends_of(system, signs)
        self._graph = graph_of(tail, head, system.lo, system.hi, len(system.relations) + 1)
        self._room = room_for(self._graph)
        self._tasks = patterns.Tasks(problem.cell, problem.side, problem.level, *problem.tasks_by_column())
        room = np.concatenate([system.hi, -system.lo])
        largest = float(room[np.isfinite(room)].max(initial=1.0))
        whole = bool((np.rint(room[np.isfinite(room)]) == room[np.isfinite(room)]).all())
        self._tolerance = 0.0 if whole else DUST * largest
        self._pattern = self._empty()
        patterns.begin(self._graph, self._pattern, CHARGE)

    def _empty(self) -> patterns.Pattern:
        n, tasks = len(self.problem), self.problem.tasks
        return patterns.Pattern(
            self.problem.primary.copy(),
            self.problem.primary,
            self.problem.weight.copy(),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.full(tasks, -1, dtype=np.int64),
            np.zeros(tasks, dtype=np.int64),
            np.zeros(max(100_000, 4 * n, 64 * tasks), dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )

    def twin(self) -> Flows:
        """Another one of the same kind and problem, with a pattern of its own."""
        return type(self)(self.problem, self.signs)

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed, the primary ones among them."""
        return self._pattern.suppressed.copy()

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        return float(patterns.cost_of(self._pattern))

    @property
    def open(self) -> Ints:
        """Tasks that are not protected, or not known to be."""
        return np.flatnonzero(self._pattern.first < 0)

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given."""
        pattern = self._pattern
        pattern.suppressed[:] = self.problem.primary
        if suppressed is not None:
            pattern.suppressed[:] |= suppressed
        pattern.uses[:] = 0
        pattern.witness[:] = -1
        pattern.first[:] = -1
        pattern.size[:] = 0
        pattern.end[0] = 0
        patterns.begin(self._graph, pattern, CHARGE)

    def protect(self, order: Ints) -> int:
        """Protect tasks in an order, each at the least additional cost; tell how many could not be."""
        while True:
            failed = patterns.protect(
                self._graph, self._room, self._tasks, self._pattern, order.astype(np.int64), CHARGE, self._tolerance
            )
            if not failed or not patterns.is_full(self._pattern):
                return int(failed)
            self._make_room()

    def _make_room(self) -> None:
        """Let certificates fill no more than a part of their pool, so that there is room for others."""
        patterns.compact(self._pattern, ROOM)
        pool = self._pattern.pool
        if self._pattern.end[0] > ROOM * len(pool) or patterns.is_full(self._pattern):
            self._pattern = self._pattern._replace(pool=np.concatenate([pool, np.zeros_like(pool)]))

    @property
    def dearest_first(self) -> Ints:
        """The secondary cells, the dearest first."""
        return np.asarray(patterns.dearest_first(self._pattern))

    def clean(self, cells: Ints | None = None) -> int:
        """Publish secondary cells that nothing needs, the dearest first or in an order given; tell how many."""
        self._make_room()
        order = self.dearest_first if cells is None else cells
        return int(patterns.clean(self._graph, self._room, self._tasks, self._pattern, order, CHARGE, self._tolerance))

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair so many times; give the cost of the pattern that is kept."""
        self._make_room()
        cost, _ = repairs.ruin_and_repair(
            self._graph,
            self._room,
            self._tasks,
            self._pattern,
            state,
            rounds,
            most,
            heat,
            CHARGE,
            self._tolerance,
        )
        return float(cost)


def random_state(seed: int) -> Words:
    """The random state of a search."""
    return seeded(seed, 0)


class GroupFlows(Flows):
    """As `Flows`, with groups.

    Parameters
    ----------
    problem : Problem
        The problem.
    signs : array of int
        1 or −1 for each relation, which make every cell an arc.
    """

    def __init__(self, problem: Problem, signs: Ints) -> None:
        super().__init__(problem, signs)
        graph = self._graph
        self._fresh = graph.arcs.copy(), graph.places.copy(), graph.ends.copy()

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given.

        Of parallel arcs of one price the one that stands first is taken, and every pattern moves arcs about.
        They go back to their places, so that the same order always gives the same pattern, also after a resumption.
        """
        graph = self._graph
        graph.arcs[:], graph.places[:], graph.ends[:] = self._fresh
        super().start(suppressed)

    def protect_together(self, tasks: Ints) -> bool:
        """Protect some tasks of different cells by one solution in which each moves by its level; tell if there is one.

        Tasks that what is suppressed protects already need no part in it. Without a solution no cell is suppressed.
        """
        problem, pattern, graph, room = self.problem, self._pattern, self._graph, self._room
        cells, sides, levels = problem.cell[tasks], problem.side[tasks], problem.level[tasks]
        left = ~able(graph, room, pattern.inside, cells, sides, levels, self._tolerance)
        possible, count = group_flow(
            graph, room, pattern.price, cells[left], sides[left], levels[left], self._tolerance
        )
        moved = room.moved[:count]
        new = moved[(np.abs(room.flow[moved]) > self._tolerance) & ~pattern.suppressed[moved]]
        forget(room, count)
        if not possible:
            return False
        if len(new):
            pattern.suppressed[new] = True
            patterns.begin(graph, pattern, CHARGE)
        # Each task gets a certificate of its own, among the cells that are now suppressed: the solution as a whole
        # would tie every cell of it to every task.
        return self.protect(tasks) == 0
