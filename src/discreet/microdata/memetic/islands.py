"""The memetic search on data of moderate size: annealed partitions side by side, and what they inherit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.evolution.checks import floats, integers, whole, words
from discreet.evolution.process import Search, State, inside, mapped, part
from discreet.evolution.stops import Cycles
from discreet.kernels.arrays import Floats
from discreet.kernels.compiling import Kernels, second_process
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.memetic.pool import clear, note, pooled, thin
from discreet.kernels.memetic.unions import ROOM, anneal, room_for, slot_costs, slotted
from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.partitions.path import cut_order
from discreet.kernels.partitions.tour import chain
from discreet.kernels.partitions.vmdav import vmdav
from discreet.kernels.pricing.odd_cycles import odd_cycles, triangles
from discreet.kernels.pricing.pricing import all_below, lower, price
from discreet.kernels.random import below, seeded
from discreet.kernels.space.lists import neighbour_lists
from discreet.microdata.memetic.regions import Recombined, recombine, region_records
from discreet.microdata.method import Labels, Points, Run, kept_partition, renumber, split_large
from discreet.microdata.set_partitioning.columns import columns_of, share_costs
from discreet.microdata.set_partitioning.exact import Exact, ExactSearch
from discreet.microdata.set_partitioning.relaxation import Steps

# Most work of an epoch on an island, in pairs of records of a union: with a large k a step takes milliseconds.
EPOCH_WORK = 30_000_000
# Temperature at the start of even and of odd cycles, times the method's.
START_HEATS = (2.0, 1.0)
# From this cycle on regions are recombined: before it, the groups formed so far are not worth it.
FIRST_REGION_CYCLE = 3
# For each k: up to so many records an exact search goes on beside the islands, from this cycle on. It may find what
# they do not, or prove that there is nothing to be found. Its epochs take up to a second, with k = 4 several: it waits.
PROVABLE = {2: (3_000, 6), 3: (2_000, 6), 4: (1_200, 9), 5: (300, 6), 6: (100, 6)}
# It begins earlier after so many cycles without a better partition.
IDLE_CYCLES_BEFORE_PROOF = 2
# Cost and bound that differ by no more than this part of them prove the optimum.
PROVEN_GAP = 1e-8
# Groups to remember per record and island, as long as they have no more members than that in all (128 MB).
GROUPS_PER_RECORD = 100
MOST_MEMBERS = 16_000_000
# A pool that is nearly full keeps one in so many of its groups.
KEPT_PART = 3


@dataclass(frozen=True)
class IslandParameters:
    """The parameters of the search on islands; `Memetic` says what they are."""

    islands: int = 2
    heat: float = 0.03
    neighbours: int = 12
    regions: bool = True
    effort: int = 5
    cycle: int = 32
    growth: float = 1.3
    patience: int = 6
    proofs: int = 25


class Island:
    """A partition being annealed, with its random state and the pool of the groups it has formed."""

    def __init__(self, labels: Labels, k: int, seed: int, number: int, remembers: bool) -> None:
        self.k = k
        self.groups = slotted(labels, k)
        room = min(GROUPS_PER_RECORD * len(labels), MOST_MEMBERS // (2 * k - 1))
        self.pool = pooled(len(labels), k, room if remembers else 0)
        self.rng = seeded(seed, number)

    def restart(self, labels: Labels) -> None:
        """Begin anew from a partition."""
        self.groups = slotted(labels, self.k)

    def make_room(self, duals: Floats) -> None:
        """Where the pool is nearly full, keep the part of it that costs least beyond the duals of the records."""
        room = len(self.pool.sizes)
        if 10 * self.pool.filled[0] > 9 * room:
            # A new pool: the old one may be part of a saved state.
            self.pool = thin(self.pool, duals, room // KEPT_PART)

    def state(self) -> State:
        """Random state and pool at the beginning of a cycle: during it, groups are only added to the pool."""
        count = int(self.pool.filled[0])
        pool: State = {name: getattr(self.pool, name)[:count] for name in ("members", "sizes", "costs")}
        return {"rng": self.rng.copy(), **inside("pool", pool)}

    def restore(self, labels: Labels, state: State) -> None:
        """Begin a cycle from a partition, with a saved random state and pool."""
        self.groups = slotted(labels, self.k)
        clear(self.pool)
        kept: dict[str, Any] = part("pool", state)
        sizes = integers("pool.sizes", kept["sizes"], (-1,), self.k, 2 * self.k - 1)
        groups = integers(
            "pool.members", kept["members"], (len(sizes), self.pool.members.shape[1]), -1, len(labels) - 1
        )
        costs = floats("pool.costs", kept["costs"], (len(sizes),))
        if len(sizes) > len(self.pool.sizes):
            raise ValueError("the pool has more groups than it can hold")
        for members, size, cost in zip(groups, sizes, costs, strict=True):
            if (np.diff(np.sort(members[:size]), prepend=-1) <= 0).any():
                raise ValueError("a group of the pool has a record twice, or none at all")
            note(self.pool, members[:size], cost)
        self.rng[:] = words("rng", state["rng"], self.rng)


class Islands(Search[Labels]):
    """The search under way; an epoch is some annealing on each island, some regions, or a step of a proof.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    run : Run
        Seed, threads, and a partition to start from.
    params : IslandParameters
        The parameters of the method.
    """

    def __init__(self, points: Points, k: int, run: Run, params: IslandParameters) -> None:
        self._points, self._k, self._threads, self._params = points, k, run.threads, params
        self._near = neighbour_lists(points, min(params.neighbours, len(points) - 1))
        self._best = _start(points, k, run)
        self._cost = _cost(points, self._best)
        self._islands = [Island(self._best, k, run.seed, i + 1, params.regions) for i in range(params.islands)]
        self._rng = seeded(run.seed, 0)
        # What each record bears of the cost: at first its part of its group's, then by relaxations of regions.
        self._duals = share_costs(columns_of(points, self._best), self._best)
        self._cycle, self._idle_cycles = 0, 0
        self._proof: ExactSearch | None = None
        self._proof_start = self._best

    @property
    def cost(self) -> float:
        """SSE of the best partition so far."""
        return self._cost

    @property
    def finished(self) -> bool:
        """Whether the best partition is proven to be optimal, or many cycles have found nothing better."""
        idle = self._idle_cycles >= self._params.patience
        if self._proof is None:
            return idle
        over = self._proof.finished and self._proof.cost >= self._cost
        return over and (idle or self._proof.bound >= self._cost * (1.0 - PROVEN_GAP))

    @property
    def bound(self) -> float | None:
        """A lower bound of the SSE, once there is one."""
        return None if self._proof is None else min(self._proof.bound, self._cost)

    def _epochs(self) -> Iterator[None]:
        """Anneal side by side, inherit what is better, recombine regions, prove: in cycles that grow."""
        cycles = Cycles(self._params.cycle, self._params.growth)
        while True:
            self._begin_phase()
            before = self._cost
            for place in cycles.places(self._cycle):
                if place.epoch > 0:
                    yield
                heat = self._params.heat * START_HEATS[self._cycle % len(START_HEATS)] * (1.0 - place.fraction) ** 2
                for island in self._islands:
                    island.make_room(self._duals)
                mapped(partial(self._anneal, heat=heat), self._islands, self._threads)
                self._inherit(island.groups.labels for island in self._islands)
            for _ in range(self._region_rounds()):
                yield
                yield from self._recombine_regions()
            for _ in range(self._proof_steps()):
                yield
                yield from self._prove()
            self._cycle += 1
            self._idle_cycles = 0 if self._cost < before else self._idle_cycles + 1
            for island in self._islands:
                island.restart(self._best)
            yield

    def answer(self) -> Labels:
        """The best partition, with what the islands are better at when they are cooled at once."""
        best, cost = self._best, self._cost
        for island in self._islands:
            groups = slotted(renumber(island.groups.labels), self._k)
            nothing, rng = pooled(0, self._k, 0), island.rng.copy()
            anneal(self._points, self._k, self._near, 0.0, self._steps, False, groups, nothing, rng)
            child, won = _cross(self._points, self._k, best, groups.labels)
            if won and _cost(self._points, child) < cost:
                best, cost = child, _cost(self._points, child)
        return best

    def rehearse(self) -> None:
        """Do each kind of work but proofs once, so that it is compiled."""
        for island in self._islands:
            self._anneal(island, heat=0.1)
        self._inherit(island.groups.labels for island in self._islands)
        if self._params.regions:
            deque(self._recombine_regions(), maxlen=0)
        self.answer()

    def _state(self) -> State:
        """The best partition, from which every island begins its cycle, the pools, and the proof."""
        state: State = {
            "best": self._best,
            "rng": self._rng.copy(),
            "duals": self._duals.copy(),
            "cycle": self._cycle,
            "idle_cycles": self._idle_cycles,
        }
        if self._proof is not None:
            state |= {"proof_start": self._proof_start, **inside("proof", self._proof.save())}
        for number, island in enumerate(self._islands):
            state |= inside(str(number), island.state())
        return state

    def _restore(self, state: State) -> None:
        kept: dict[str, Any] = dict(state)
        n = len(self._points)
        self._best = kept_partition("best", kept["best"], n, self._k)
        self._cost = _cost(self._points, self._best)
        self._rng[:] = words("rng", kept["rng"], self._rng)
        self._duals = floats("duals", kept["duals"], (n,)).copy()
        self._cycle, self._idle_cycles = (whole(name, kept[name], 0) for name in ("cycle", "idle_cycles"))
        self._proof = None
        if "proof_start" in kept:
            self._begin_proof(kept_partition("proof_start", kept["proof_start"], n, self._k)).load(part("proof", state))
        for number, island in enumerate(self._islands):
            island.restore(self._best, part(str(number), state))

    @property
    def _steps(self) -> int:
        wanted = self._params.effort * len(self._points) // self._k
        return max(1, min(wanted, EPOCH_WORK // room_for(self._k, ROOM) ** 2))

    def _anneal(self, island: Island, *, heat: float) -> None:
        anneal(self._points, self._k, self._near, heat, self._steps, False, island.groups, island.pool, island.rng)

    def _inherit(self, partitions: Iterable[Labels]) -> None:
        """Let the best partition inherit what each other one is better at."""
        for labels in partitions:
            child, won = _cross(self._points, self._k, self._best, labels)
            cost = _cost(self._points, child)
            if won and cost < self._cost:
                self._best, self._cost = child, cost

    def _region_rounds(self) -> int:
        """How often regions are recombined in this cycle: ever more, until each record is in two regions on average."""
        if not self._params.regions or self._cycle < FIRST_REGION_CYCLE:
            return 0
        most = -(-2 * len(self._points) // (region_records(self._k) * len(self._islands)))
        return min(most, self._cycle - FIRST_REGION_CYCLE + 1)

    def _recombine_regions(self) -> Iterator[None]:
        """Recombine as many regions as there are islands, each round a random record, and let the outcome descend."""
        pools = [island.pool for island in self._islands]
        works = [
            recombine(self._points, self._k, self._best, pools, self._duals, below(self._rng, len(self._points)))
            for _ in self._islands
        ]
        found: list[Recombined | None] = [None] * len(works)

        def advance(number: int) -> None:
            found[number] = next(works[number])

        while under_way := [number for number, outcome in enumerate(found) if outcome is None]:
            mapped(advance, under_way, self._threads)
            yield
        outcomes = [outcome for outcome in found if outcome is not None]
        for outcome in outcomes:
            self._duals[outcome.records] = outcome.duals
        self._inherit(mapped(self._descend, zip(self._islands, outcomes, strict=True), self._threads))

    def _descend(self, pair: tuple[Island, Recombined]) -> Labels:
        """Let a partition descend, with the random state and the pool of an island."""
        island, outcome = pair
        groups = slotted(outcome.labels, self._k)
        anneal(self._points, self._k, self._near, 0.0, self._steps, False, groups, island.pool, island.rng)
        return renumber(groups.labels)

    def _proof_steps(self) -> int:
        """How many steps of the exact search belong to this cycle."""
        first_cycle = PROVABLE.get(self._k, (0, 0))[1]
        due = self._cycle >= first_cycle or self._idle_cycles >= IDLE_CYCLES_BEFORE_PROOF
        return self._params.proofs if due and can_be_proven(len(self._points), self._k) else 0

    def _prove(self) -> Steps:
        """Do a step of the exact search, with interruptions; it shares the best partition with the islands."""
        proof = self._begin_proof(self._best) if self._proof is None else self._proof
        proof.offer(self._best)
        yield from proof.advancing()
        if proof.cost < self._cost:
            self._inherit([proof.answer()])

    def _begin_proof(self, start: Labels) -> ExactSearch:
        self._proof_start = start
        self._proof = Exact().search(self._points, self._k, Run(start=start))
        return self._proof


def can_be_proven(records: int, k: int) -> bool:
    """Whether an exact search may go on beside the islands."""
    return records <= PROVABLE.get(k, (0, 0))[0]


def compile_kernels(points: Points, k: int, prove: bool) -> None:
    """Compile what the constructions need, in a second process what the islands need, and then what proofs need.

    A proof begins after some cycles at the earliest, so the search does not wait for its kernels before it begins.
    """
    later: Kernels = {
        "discreet.kernels.pricing.pricing": [price, lower, all_below],
        "discreet.kernels.pricing.odd_cycles": [odd_cycles, triangles],
    }
    with second_process({"discreet.kernels.memetic.unions": [anneal]}, later if prove else {}):
        _constructions(points, k, Run())
        neighbour_lists(points, 1)


def rehearse_proof() -> None:
    """Prove an optimum for which all that an exact search can do is needed, branch and bound too."""
    proof = Exact().search(np.random.default_rng(0).normal(size=(16, 8)), 3, Run())
    for _ in proof.epochs():  # 27
        pass


def _start(points: Points, k: int, run: Run) -> Labels:
    """The best of the constructions and of a partition that was given, wherever they can be told apart."""
    candidates = _constructions(points, k, run)
    if run.start is not None:
        candidates.append(run.start)
    best = split_large(candidates.pop(), k)
    for labels in candidates:
        best, _ = _cross(points, k, best, split_large(labels, k))
    return best


def _constructions(points: Points, k: int, run: Run) -> list[Labels]:
    groups = mdav(points, k, False, run.progress)
    return [
        groups,
        vmdav(points, k, 0.2, run.progress),
        cut_order(points, chain(points, groups, run.progress), k, run.progress),
    ]


def _cross(points: Points, k: int, mother: Labels, father: Labels) -> tuple[Labels, int]:
    """The child that has the better of both in each component, and in how many the father's is better."""
    father = renumber(father)
    return cross(mother, slot_costs(points, slotted(mother, k)), father, slot_costs(points, slotted(father, k)))


def _cost(points: Points, labels: Labels) -> float:
    return float(within_sse(points, labels))
