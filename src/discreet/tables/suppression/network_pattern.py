"""Patterns of tables whose relations form a network: every step is a flow, which a kernel finds in microseconds."""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Ints, ends_of
from discreet.evolution.checks import integers
from discreet.evolution.process import State
from discreet.kernels.arrays import Words
from discreet.kernels.flows import patterns, repairs
from discreet.kernels.flows.graph import graph_of
from discreet.kernels.flows.least_cost import able, forget, group_flow, room_for
from discreet.solvers.tolerances import ROUNDING
from discreet.tables.suppression.problem import Problem

# What a move of a suppressed secondary cell costs, in parts of its weight: certificates keep off costly cells, so that
# these may be published again.
CHARGE = 1e-3
# How full the pool of certificates may be before a clean-up or a repair.
FULL_POOL = 0.5
# How full it may be during a clean-up before gaps in it are closed.
CLOSE_GAPS = 0.75


class NetworkPattern:
    """A pattern of a network problem, with a certificate for each requirement that is protected.

    Parameters
    ----------
    problem : Problem
        The problem, a network.
    """

    is_compiled = True

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        system = problem.system
        tail, head = ends_of(system, problem.signs)
        self._graph = graph_of(tail, head, system.lo, system.hi, len(system.relations) + 1)
        self._fresh = self._graph.arcs.copy(), self._graph.places.copy(), self._graph.ends.copy()
        self._room = room_for(self._graph)
        self._requirements = patterns.Requirements(
            problem.cell,
            problem.side,
            problem.level,
            *problem.requirements_by_column(),
            problem.view,
            np.cumsum([0, *(len(known) for known in problem.known)]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *problem.known]),
        )
        room = np.concatenate([system.hi, -system.lo])
        largest = float(room[np.isfinite(room)].max(initial=1.0))
        whole = bool((np.rint(room[np.isfinite(room)]) == room[np.isfinite(room)]).all())
        self._tolerance = 0.0 if whole else ROUNDING * largest
        self._pattern = self._empty()
        patterns.begin(self._graph, self._pattern, CHARGE)

    def _empty(self) -> patterns.Pattern:
        n, requirements = len(self.problem), self.problem.requirements
        return patterns.Pattern(
            suppressed=self.problem.primary.copy(),
            primary=self.problem.primary,
            weight=self.problem.weight.copy(),
            price=np.zeros(n),
            inside=np.zeros(n),
            uses=np.zeros(n, dtype=np.int64),
            witness=np.full(n, -1, dtype=np.int64),
            first=np.full(requirements, -1, dtype=np.int64),
            size=np.zeros(requirements, dtype=np.int64),
            pool=np.zeros(max(100_000, 4 * n, 64 * requirements), dtype=np.int64),
            end=np.zeros(1, dtype=np.int64),
        )

    def twin(self) -> NetworkPattern:
        """Another one of the same problem, with a pattern of its own."""
        return NetworkPattern(self.problem)

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed, the primary ones among them; a copy."""
        return self._pattern.suppressed.copy()

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        return float(patterns.cost_of(self._pattern))

    @property
    def open(self) -> Ints:
        """Requirements that are not protected, or not known to be."""
        return np.flatnonzero(self._pattern.first < 0)

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given.

        Of parallel arcs of one price the one that stands first is taken, and every pattern moves arcs about.
        They go back to their places, so that the same order always gives the same pattern, also after a resumption.
        """
        graph, pattern = self._graph, self._pattern
        graph.arcs[:], graph.places[:], graph.ends[:] = self._fresh
        pattern.suppressed[:] = self.problem.primary
        if suppressed is not None:
            pattern.suppressed[:] |= suppressed
        pattern.uses[:] = 0
        pattern.witness[:] = -1
        pattern.first[:] = -1
        pattern.size[:] = 0
        pattern.end[0] = 0
        patterns.begin(graph, pattern, CHARGE)

    def protect(self, order: Ints) -> int:
        """Protect requirements in an order, each at the least additional cost; count those that could not be."""
        while True:
            failed = patterns.protect(
                self._graph,
                self._room,
                self._requirements,
                self._pattern,
                order.astype(np.int64),
                CHARGE,
                self._tolerance,
            )
            if not failed or not patterns.is_full(self._pattern):
                return int(failed)
            self._make_room()

    def protect_together(self, requirements: Ints) -> bool:
        """Protect requirements of different cells by one solution in which each moves by its level, if there is one.

        Those that what is suppressed protects already need no part in it. Without a solution no cell is suppressed.
        """
        problem, pattern, graph, room = self.problem, self._pattern, self._graph, self._room
        cells, sides, levels = problem.cell[requirements], problem.side[requirements], problem.level[requirements]
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
        # Each requirement gets a certificate of its own, among the cells that are now suppressed: the solution as a
        # whole would tie every cell of it to every requirement.
        return self.protect(requirements) == 0

    def _make_room(self) -> None:
        """Let certificates fill no more than a part of their pool, so that there is room for others."""
        patterns.compact(self._pattern, FULL_POOL)
        pool = self._pattern.pool
        if self._pattern.end[0] > FULL_POOL * len(pool) or patterns.is_full(self._pattern):
            self._pattern = self._pattern._replace(pool=np.concatenate([pool, np.zeros_like(pool)]))

    @property
    def costliest_first(self) -> Ints:
        """The secondary cells, the costliest first."""
        return np.asarray(patterns.costliest_first(self._pattern))

    def clean(self, cells: Ints | None = None) -> int:
        """Publish secondary cells that nothing needs, the costliest first or in an order given; count them."""
        self._make_room()
        order = self.costliest_first if cells is None else cells
        return int(
            patterns.clean(
                self._graph,
                self._room,
                self._requirements,
                self._pattern,
                order,
                CHARGE,
                self._tolerance,
                CLOSE_GAPS,
            )
        )

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair so many times; give the cost of the pattern that is kept."""
        self._make_room()
        cost, _ = repairs.ruin_and_repair(
            self._graph,
            self._room,
            self._requirements,
            self._pattern,
            state,
            rounds,
            most,
            heat,
            CHARGE,
            self._tolerance,
        )
        return float(cost)

    def save(self) -> State:
        """All that later steps depend on: the pattern, its certificates, and where arcs stand."""
        pattern, graph = self._pattern, self._graph
        return {
            "suppressed": pattern.suppressed.copy(),
            "uses": pattern.uses.copy(),
            "witness": pattern.witness.copy(),
            "first": pattern.first.copy(),
            "size": pattern.size.copy(),
            "pool": pattern.pool[: pattern.end[0]].copy(),
            "pool_size": len(pattern.pool),
            "arcs": graph.arcs.copy(),
            "places": graph.places.copy(),
            "ends": graph.ends.copy(),
        }

    def load(self, state: State) -> None:
        """Go on from a saved pattern."""
        n, requirements = len(self.problem), self.problem.requirements
        self.start(integers("suppressed", state["suppressed"], (n,), 0, 1).astype(np.bool_))
        kept = integers("pool", state["pool"], (-1,), 0, n - 1)
        room = int(integers("pool_size", state["pool_size"], (), len(kept), max(10**7, 64 * (len(kept) + n))))
        pool = np.zeros(room, dtype=np.int64)
        self._pattern = self._pattern._replace(pool=pool)
        pattern = self._pattern
        pool[: len(kept)] = kept
        pattern.end[0] = len(kept)
        pattern.uses[:] = integers("uses", state["uses"], (n,), 0, requirements)
        pattern.witness[:] = integers("witness", state["witness"], (n,), -1, requirements - 1)
        pattern.first[:] = integers("first", state["first"], (requirements,), -1, len(kept))
        pattern.size[:] = integers("size", state["size"], (requirements,), 0, len(kept))
        if (pattern.first + pattern.size > len(kept)).any():
            raise ValueError("a certificate ends behind all certificates")
        self._load_arcs(state)

    def _load_arcs(self, state: State) -> None:
        """Take over where arcs stand: at each node the same as ever, in another order."""
        graph, (arcs, places, _) = self._graph, self._fresh
        node = np.repeat(np.arange(len(graph.starts) - 1), np.diff(graph.starts))
        told = integers("arcs", state["arcs"], arcs.shape, int(arcs.min(initial=0)), int(arcs.max(initial=0)))
        stand = integers("places", state["places"], places.shape, 0, len(arcs) - 1)
        ends = integers("ends", state["ends"], graph.ends.shape, 0, len(arcs))
        same = (told[np.lexsort((told, node))] == arcs[np.lexsort((arcs, node))]).all()
        same &= (np.sort(stand, axis=None) == np.sort(places, axis=None)).all()
        if not same or (ends < graph.starts[:-1]).any() or (ends > graph.starts[1:]).any():
            raise ValueError("the arcs kept are not those of the table")
        graph.arcs[:], graph.places[:], graph.ends[:] = told, stand, ends
