"""Flows that can also protect several cells at once, and whose patterns depend on the order of tasks alone."""

from __future__ import annotations

import numpy as np

from discreet.kernels import patterns
from discreet.kernels.group_flow import able, group_flow
from discreet.kernels.least_cost import forget
from discreet.tables.suppression.flows import CHARGE, Flows
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.system import Bools, Ints


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
