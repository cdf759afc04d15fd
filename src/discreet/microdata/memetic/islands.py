"""The memetic search on data of moderate size: annealed partitions side by side, and what they inherit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evolution.cycles import Cycles
from discreet.evolution.parallel import mapped
from discreet.evolution.process import Advancing, State, inside, part
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.memetic.pool import clear, note, pooled
from discreet.kernels.memetic.unions import anneal, room_for, slot_costs, slotted
from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.partitions.path import cut_order
from discreet.kernels.partitions.tour import chain
from discreet.kernels.partitions.vmdav import vmdav
from discreet.kernels.random import below, seeded
from discreet.kernels.space.lists import neighbour_lists
from discreet.microdata.memetic.regions import REACH, recombined
from discreet.microdata.method import Labels, Points, Run, fitted
from discreet.microdata.set_partitioning.exact import Exact, Proving

if TYPE_CHECKING:
    from discreet.microdata.memetic.memetic import Memetic

# Steps of an epoch per group and island: 5 to 50 ms up to some thousand records.
EFFORT = 5
# But no more than this work, in pairs of records of a union: with a large k a step takes milliseconds.
WORK = 30_000_000
CYCLES = Cycles(first=32, growth=1.3)
HEATS = (2.0, 1.0)
# From this cycle on regions are put together anew: before it, the groups formed so far are not worth it.
RIPE = 3
# For each k: up to so many records an exact search goes on beside the islands, from this cycle on. It may find what
# they do not, or prove that there is nothing to be found. Its epochs take up to a second, with k = 4 several: it waits.
PROVABLE = {2: (3_000, 6), 3: (2_000, 6), 4: (1_200, 9), 5: (300, 6), 6: (100, 6)}
# It begins earlier if so many cycles were in vain, and does so many epochs a cycle.
VAIN = 2
PROOFS = 25
# Cost and bound that differ by no more than this part of them prove the optimum.
PROVEN = 1e-8
# So many cycles without a better partition end the search; a proof under way is completed first.
PATIENCE = 6
# Groups to remember per record and island, as long as they have no more members than that in all (128 MB).
MEMORY = 40
MEMBERS = 16_000_000


class Island:
    """A partition being annealed, with its random state and the groups it has formed."""

    def __init__(self, labels: Labels, k: int, seed: int, number: int, remember: bool) -> None:

        self.k = k
        self.groups = slotted(labels, k)
        room = min(MEMORY * len(labels), MEMBERS // (2 * k - 1))
        self.pool = pooled(len(labels), k, room if remember else 0)
        self.rng = seeded(seed, number)

    def settle(self, labels: Labels) -> None:
        """Begin anew from a partition; a memory that is nearly full is emptied."""

        self.groups = slotted(labels, self.k)
        if 10 * self.pool.filled[0] > 9 * len(self.pool.sizes):
            clear(self.pool)

    def save(self) -> State:
        """Its arrays."""
        count = int(self.pool.filled[0])
        kept: State = {name: array.copy() for name, array in self.groups._asdict().items()}
        pool: State = {
            "members": self.pool.members[:count].copy(),
            "sizes": self.pool.sizes[:count].copy(),
            "costs": self.pool.costs[:count].copy(),
        }
        return inside("groups", kept) | inside("pool", pool) | {"rng": self.rng.copy()}

    def load(self, state: State) -> None:
        """Take over saved arrays."""

        for name, array in part("groups", state).items():
            getattr(self.groups, name)[...] = array
        clear(self.pool)
        kept: dict[str, Any] = part("pool", state)
        for members, size, cost in zip(kept["members"], kept["sizes"], kept["costs"], strict=True):
            note(self.pool, members[:size], cost)
        self.rng[:] = state["rng"]


class Islands(Advancing):
    """The search under way; an epoch is some annealing on each island, or the solution of a few regions.

    Parameters
    ----------
    method : Memetic
        The parameters.
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    run : Run
        Seed, threads, and a partition to start from.
    """

    def __init__(self, method: Memetic, points: Points, k: int, run: Run) -> None:

        self._method, self._points, self._k, self._threads = method, points, k, run.threads
        self._near = neighbour_lists(points, min(method.neighbours, len(points) - 1))
        self._best = _start(points, k, run)
        self._cost = _cost(points, self._best)
        self._islands = [Island(self._best, k, run.seed, i + 1, method.regions) for i in range(method.islands)]
        self._rng = seeded(run.seed, 0)
        self._epoch, self._pending, self._proofs, self._better, self._idle = 0, 0, 0, False, 0
        self._proof: Proving | None = None
        self._proved = self._best  # what the proof began with

    @property
    def cost(self) -> float:
        """SSE of the best partition so far."""
        return self._cost

    @property
    def finished(self) -> bool:
        """Whether the best partition is proven to be optimal, or many cycles have found nothing better."""
        if self._proof is None:
            return self._idle >= PATIENCE
        over = self._proof.finished and self._proof.cost >= self._cost
        return over and (self._idle >= PATIENCE or self._proof.bound >= self._cost * (1.0 - PROVEN))

    @property
    def bound(self) -> float | None:
        """A lower bound of the SSE, once there is one."""
        return None if self._proof is None else min(self._proof.bound, self._cost)

    def advance(self) -> None:
        """Anneal for an epoch, or solve the next regions."""
        if self._pending:
            self._solve_regions()
            self._pending -= 1
        elif self._proofs:
            self._prove()
            self._proofs -= 1
        else:
            place = CYCLES.place(self._epoch)
            heat = self._method.heat * HEATS[place.cycle % len(HEATS)] * (1.0 - place.fraction) ** 2
            mapped(lambda island: self._anneal(island, heat), self._islands, self._threads)
            self._epoch += 1
            if not place.last:
                return
            for island in self._islands:
                self._inherit(island.groups.labels)
            if self._method.regions and place.cycle >= RIPE:
                # Each record belongs to two regions on average.
                self._pending = -(-2 * len(self._points) // (REACH * len(self._islands)))
            most, deep = PROVABLE.get(self._k, (0, 0))
            if len(self._points) <= most and (place.cycle >= deep or self._idle >= VAIN):
                self._proofs = PROOFS
        if not self._pending and not self._proofs:
            self._idle = 0 if self._better else self._idle + 1
            self._better = False
            for island in self._islands:
                island.settle(self._best)

    def answer(self) -> Labels:
        """The best partition, with what the islands are better at when they are cooled at once."""

        best, cost = self._best, self._cost
        for island in self._islands:
            groups = slotted(_numbered(island.groups.labels), self._k)
            anneal(
                self._points, self._k, self._near, 0.0, self._steps, groups, pooled(0, self._k, 0), island.rng.copy()
            )
            child, won = _crossed(self._points, self._k, best, groups.labels)
            if won and _cost(self._points, child) < cost:
                best, cost = child, _cost(self._points, child)
        return best

    def rehearse(self) -> None:
        """Do each kind of work once."""
        for island in self._islands:
            self._anneal(island, 0.1)
            self._inherit(island.groups.labels)
        if self._method.regions:
            self._solve_regions()
        self.answer()
        _rehearse_proof()

    def save(self) -> State:
        """Everything that changes."""
        state: State = {
            "best": self._best.copy(),
            "rng": self._rng.copy(),
            "counts": _ints(self._epoch, self._pending, self._proofs, int(self._better), self._idle),
        }
        if self._proof is not None:
            state |= {"proved": self._proved.copy(), **inside("proof", self._proof.save())}
        for number, island in enumerate(self._islands):
            state |= inside(str(number), island.save())
        return state

    def load(self, state: State) -> None:
        """Go on from a saved state."""

        self._best = np.array(state["best"], np.int64)
        self._cost = _cost(self._points, self._best)
        self._rng[:] = state["rng"]
        self._epoch, self._pending, self._proofs, better, self._idle = np.asarray(state["counts"]).tolist()
        self._better = bool(better)
        self._proof = None
        if "proved" in state:
            self._begin_proof(np.array(state["proved"], np.int64)).load(part("proof", state))
        for number, island in enumerate(self._islands):
            island.load(part(str(number), state))

    @property
    def _steps(self) -> int:

        return max(1, min(EFFORT * len(self._points) // self._k, WORK // room_for(self._k) ** 2))

    def _anneal(self, island: Island, heat: float) -> None:

        anneal(self._points, self._k, self._near, heat, self._steps, island.groups, island.pool, island.rng)

    def _inherit(self, labels: Labels) -> None:
        """Let the best partition inherit what another one is better at."""
        child, won = _crossed(self._points, self._k, self._best, labels)
        cost = _cost(self._points, child)
        if won and cost < self._cost:
            self._best, self._cost, self._better = child, cost, True

    def _prove(self) -> None:
        """Do an epoch of the exact search, which shares the best partition with the islands."""
        proof = self._begin_proof(self._best) if self._proof is None else self._proof
        proof.offer(self._best)
        if not proof.finished:
            proof.advance()
        if proof.cost < self._cost:
            self._inherit(proof.answer())

    def _begin_proof(self, start: Labels) -> Proving:

        self._proved = start
        self._proof = Exact().search(self._points, self._k, Run(start=start))
        return self._proof

    def _solve_regions(self) -> None:
        """Put as many regions together anew as there are islands, each round a random record."""

        pools = [island.pool for island in self._islands]
        centres = [below(self._rng, len(self._points)) for _ in self._islands]
        best = self._best
        found = mapped(lambda centre: recombined(self._points, best, pools, centre), centres, self._threads)
        for labels in found:
            self._inherit(labels)


def _rehearse_proof() -> None:
    """Prove an optimum for which all that an exact search can do is needed, branch and bound too."""

    proof = Exact().search(np.random.default_rng(0).normal(size=(16, 8)), 3, Run())
    for _ in range(100):  # 27 are enough
        if not proof.finished:
            proof.advance()


def _start(points: Points, k: int, run: Run) -> Labels:
    """The best of the constructions and of a partition that was given, wherever they can be told apart."""

    groups = mdav(points, k, False, run.progress)
    candidates = [
        groups,
        vmdav(points, k, 0.2, run.progress),
        cut_order(points, chain(points, groups, run.progress), k, run.progress),
    ]
    if run.start is not None:
        candidates.append(run.start)
    best = fitted(candidates.pop(), k)
    for labels in candidates:
        best, _ = _crossed(points, k, best, fitted(labels, k))
    return best


def _crossed(points: Points, k: int, mother: Labels, father: Labels) -> tuple[Labels, int]:

    father = _numbered(father)
    return cross(mother, slot_costs(points, slotted(mother, k)), father, slot_costs(points, slotted(father, k)))


def _numbered(labels: Labels) -> Labels:
    """Labels 0 to g−1: slots that are empty are left out."""

    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _cost(points: Points, labels: Labels) -> float:

    return float(within_sse(points, labels))


def _ints(*values: int) -> Labels:

    return np.array(values, np.int64)
