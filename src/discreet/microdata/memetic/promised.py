"""The memetic search for groups that keep further promises: l-diversity, t-closeness, several records of one person."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import finite, offsets, whole
from discreet.evolution.process import Search, State, mapped
from discreet.evolution.stops import Cycles
from discreet.kernels.compiling import uninterrupted
from discreet.kernels.memetic.blocks import borders, centroids, locate, regroup
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.mixed.groups import group_losses
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.promised.annealing import anneal
from discreet.kernels.promised.slots import slot_losses, slotted
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from discreet.microdata.method import Labels, Run, kept_order
from discreet.microdata.methods.closeness import one_of_each_part
from discreet.microdata.promises import Constraints, merge, repair
from discreet.microdata.records import Records, renumber
from discreet.text import silent

# Up to so many records are annealed as a whole; above it, in blocks of about so many.
MOST_WHOLE, BLOCK_RECORDS = 5_000, 2_500
# Strata of the constrained columns, each of which every block of the first partition has its share of.
STRATA = 128
# Neighbours of each record that are looked at.
NEIGHBOURS = 24
# Steps of an epoch per record, where all are annealed as a whole.
EPOCH_STEPS = 7
# Steps per record of the descent from a construction.
FIRST_STEPS = 20
# The temperature is the method's heat times the loss of so many records: a union of the other searches has about these.
UNION_RECORDS = 30
# Temperature at the start of even and of odd cycles or passes, times the method's.
START_HEATS = (2.0, 0.5)
# Steps per record and heat of the first passes over blocks, and of all others: the first descends only.
PASSES = ((15.0, 0.0), (45.0, 1.0))
# Temperatures of a pass in a block.
STAGES = 8
# Records of an epoch, where they are annealed in blocks.
EPOCH_RECORDS = 20_000


class Chain:
    """A partition being annealed, in which a group may grow to twice the size of the largest.

    Parameters
    ----------
    records, constraints
        The records, and what groups must keep.
    near : array of shape (n, m)
        The nearest records of each.
    labels : array of n ints
        The partition to begin with, which keeps all of it.
    rng : array of 4 words
        The random state.
    """

    def __init__(
        self, records: Records, constraints: Constraints, near: Labels, labels: Labels, rng: NDArray[np.uint64]
    ) -> None:
        self._mixed, self._promised, self._near, self._rng = records.mixed, constraints.promised, near, rng
        most = min(len(labels), 2 * int(np.bincount(labels).max()))
        self.groups = slotted(self._mixed, labels, constraints.k, most)

    def anneal(self, temperature: float, effort: float) -> None:
        """Take so many steps per record at a temperature."""
        steps = max(1, int(effort * len(self._near)))
        anneal(self._mixed, self._promised, self._near, temperature, steps, self.groups, self._rng)

    def losses(self) -> NDArray[np.float64]:
        """What each group loses."""
        return slot_losses(self._mixed, self.groups)


class PromisedSearch(Search[Labels]):
    """The search under way: a first partition that keeps all promises, then nothing but partitions that do.

    Parameters
    ----------
    records : Records
        The records.
    constraints : Constraints
        What groups must keep; all records together do.
    run : Run
        Seed, threads, and a partition to start from.
    heat, islands, cycle, growth, patience
        See `Memetic`.
    """

    def __init__(
        self,
        records: Records,
        constraints: Constraints,
        run: Run,
        *,
        heat: float,
        islands: int,
        cycle: int,
        growth: float,
        patience: int,
    ) -> None:
        self._records, self._constraints, self._run = records, constraints, run
        self._heat, self._islands, self._patience = heat, islands, patience
        self._cycles = Cycles(max(1, cycle // 2), growth)  # an epoch takes longer than those of other searches
        self._points = records.points()
        # The records in an order in which those of a group stand together, and a mark at the first of each group.
        self._order, self._heads = np.empty(0, np.int64), np.empty(0, np.int64)
        self._starts = np.zeros(1, np.int64)  # of the blocks of this pass
        self._passes, self._next, self._idle = 0, 0, 0
        self._chains: list[Chain] = []
        self._cost = np.inf

    @property
    def cost(self) -> float:
        """What the partition loses when means and modes are written."""
        return float(self._cost)

    @property
    def finished(self) -> bool:
        """Whether nothing is lost, or several cycles have found nothing better."""
        return self._cost == 0.0 or self._idle >= self._patience

    def _epochs(self) -> Iterator[None]:
        if not len(self._order):
            self._make_first_partition()
            yield
        yield from self._anneal_whole() if len(self._records) <= MOST_WHOLE else self._anneal_blocks()

    def _anneal_whole(self) -> Iterator[None]:
        """Anneal some partitions side by side and inherit what is better in them, in cycles that grow."""
        near = neighbour_lists(self._points, min(NEIGHBOURS, len(self._points) - 1))
        while True:
            self._begin_phase()
            before, labels, number = self._cost, self._labels(), self._passes
            heat = self._temperature(self._cost / len(labels))
            self._chains = [
                Chain(self._records, self._constraints, near, labels, seeded(self._run.seed, (number << 20) + island))
                for island in range(self._islands)
            ]
            for place in self._cycles.places(number):
                if place.epoch > 0:
                    yield
                now = heat * (1.0 - place.fraction) ** 2
                mapped(partial(Chain.anneal, temperature=now, effort=EPOCH_STEPS), self._chains, self._run.threads)
                self._adopt(self._inherit())
            self._chains = []
            self._passes += 1
            self._idle = 0 if self._cost < before else self._idle + 1
            yield

    def _anneal_blocks(self) -> Iterator[None]:
        """Anneal blocks of neighbouring groups, pass after pass, with other borders each time."""
        while True:
            if self._next == len(self._starts) - 1:
                self._draw_borders()
            blocks = len(self._starts) - 1
            while self._next < blocks:
                end = min(blocks, self._next + max(1, EPOCH_RECORDS * blocks // len(self._records)))
                gains = mapped(self._improve, range(self._next, end), self._run.threads)
                self._next, self._cost = end, max(0.0, self._cost - math.fsum(gains))
                yield

    def answer(self) -> Labels:
        """The groups as they are, with what is better in partitions under way."""
        return self._inherit()

    def _labels(self) -> Labels:
        labels = np.empty(len(self._order), np.int64)
        labels[self._order] = np.cumsum(self._heads) - 1
        return labels

    def _inherit(self) -> Labels:
        """The partition with whatever is better on an island; components of both keep what their groups keep."""
        labels = self._labels()
        for chain in self._chains:
            labels, _ = cross(labels, self._losses(labels), chain.groups.labels, chain.losses())
        return labels

    def _losses(self, labels: Labels) -> NDArray[np.float64]:
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        return group_losses(self._records.mixed, np.argsort(labels, kind="stable"), starts)

    def _adopt(self, labels: Labels) -> None:
        """Take a partition over."""
        self._order = np.argsort(labels, kind="stable")
        self._heads = np.diff(labels[self._order], prepend=-1)
        self._cost = min(self._cost, math.fsum(self._losses(labels)))

    def _temperature(self, loss: float) -> float:
        """The temperature to begin with, given the loss per record."""
        return self._heat * START_HEATS[self._passes % len(START_HEATS)] * UNION_RECORDS * loss

    def _make_first_partition(self) -> None:
        """Begin with the groups that were given, repaired if need be, or construct some in blocks that keep it all."""
        if self._run.start is not None:
            self._adopt(repair(self._records, self._constraints, self._run.start))
            return
        parts = divide(self._points, self._constraints, MOST_WHOLE)
        # Of large data a second construction takes longer than the first pass, which gains more.
        tries = 2 if len(parts) == 1 else 1
        found = mapped(
            lambda rows: construct(self._records.take(rows), self._constraints.take(rows), tries),
            parts,
            self._run.threads,
        )
        labels, count = np.empty(len(self._records), np.int64), 0
        for rows, own in zip(parts, found, strict=True):
            labels[rows] = own + count
            count += int(own.max()) + 1
        self._adopt(labels)

    def _draw_borders(self) -> None:
        """Begin the next pass: put the groups of each of its blocks together."""
        self._passes += 1
        places = centroids(self._points, self._order, self._heads)
        with uninterrupted():
            tree = borders(places, len(self._order) // BLOCK_RECORDS, seeded(self._run.seed, self._passes << 40))
        homes = np.empty(len(places), np.int64)
        locate(places, tree, 0, len(places), homes)
        self._order, self._heads, starts = regroup(self._order, self._heads, homes, len(tree.axes) + 1)
        self._starts = np.unique(starts)
        self._next = 0

    def _improve(self, block: int) -> float:
        """Anneal a block, in place; what is gained."""
        span = slice(int(self._starts[block]), int(self._starts[block + 1]))
        rows, labels = self._order[span], np.cumsum(self._heads[span]) - 1
        if labels[-1] == 0:
            return 0.0
        effort, share = PASSES[min(self._passes, len(PASSES)) - 1]
        records, constraints = self._records.take(rows), self._constraints.take(rows)
        near = neighbour_lists(np.ascontiguousarray(self._points[rows]), min(NEIGHBOURS, len(rows) - 1))
        # A stream of its own for each block and pass, so that neither the order nor the threads matter.
        rng = seeded(self._run.seed, (self._passes << 40) + block + 1)
        chain = Chain(records, constraints, near, labels, rng)
        before = chain.losses()
        heat = share * self._temperature(float(before.sum()) / len(rows))
        for stage in range(STAGES):
            chain.anneal(heat * (1.0 - stage / (STAGES - 1)) ** 2, effort / STAGES)
        # What annealing has made worse somewhere is not taken.
        child, _ = cross(labels, before, chain.groups.labels, chain.losses())
        inner = np.argsort(child, kind="stable")
        self._order[span], self._heads[span] = rows[inner], np.diff(child[inner], prepend=-1)
        starts = np.concatenate([[0], np.cumsum(np.bincount(child))])
        return float(before.sum() - group_losses(records.mixed, inner, starts).sum())

    def _state(self) -> State:
        return {
            "order": self._order,
            "heads": self._heads,
            "starts": self._starts,
            "passes": self._passes,
            "next": self._next,
            "idle": self._idle,
            "cost": self.cost,
        }

    def _restore(self, state: State) -> None:
        kept: dict[str, Any] = dict(state)
        n = len(self._records)
        self._order, self._heads = kept_order(kept, n, self._constraints.k)
        self._starts, self._chains = np.zeros(1, np.int64), []
        begun = len(self._order) > 0
        if begun and not self._constraints.keep(self._labels()):
            raise ValueError("the groups kept break a promise")
        if begun and np.size(kept["starts"]) > 1:
            self._starts = offsets("starts", kept["starts"], n)
            if (np.diff(self._starts) <= 0).any() or not self._heads[self._starts[:-1]].all():
                raise ValueError("a block is empty, or begins within a group")
        self._passes, self._next, self._idle = (whole(name, kept[name], 0) for name in ("passes", "next", "idle"))
        if self._next > len(self._starts) - 1:
            raise ValueError("the pass is further than there are blocks")
        self._cost = finite("cost", kept["cost"], least=0.0) if begun else np.inf


def construct(records: Records, constraints: Constraints, tries: int) -> Labels:
    """A partition that keeps all promises: the best of some constructions, merged and then let descend."""
    n, k = len(records), constraints.k
    if n < 2 * k:
        return np.zeros(n, np.int64)
    points = records.points()
    near = neighbour_lists(points, min(NEIGHBOURS, n - 1))
    made = [mdav(points, k, False, silent)]
    if constraints.closest is not None:
        # Where most groups would have to be merged, classes that keep t by the way they are made come first.
        lacking = np.count_nonzero(constraints.excesses(made[0])) > made[0].max() / 2
        made.insert(0 if lacking else 1, one_of_each_part(points, constraints))
    found: list[Labels] = []
    for labels in made[:tries]:
        chain = Chain(records, constraints, near, merge(points, constraints, labels), seeded(0, len(found)))
        chain.anneal(0.0, FIRST_STEPS)
        found.append(renumber(chain.groups.labels))
    return min(found, key=records.loss)


def divide(points: NDArray[np.float64], constraints: Constraints, most: int) -> list[Labels]:
    """Divide records into blocks of neighbours, each with its share of every stratum of the constrained columns.

    A block that cannot be halved without breaking a promise stays larger than the most.
    """
    strata = _strata(constraints)
    waiting, done = [np.arange(len(points))], []
    while waiting:
        rows = waiting.pop()
        halves = [] if len(rows) <= most else _halve(points, constraints, strata, rows)
        waiting += halves
        done += [] if halves else [rows]
    return done


def _strata(constraints: Constraints) -> Labels:
    """Strata of the constrained columns together, each column in about as many parts of equal shares."""
    strata = np.zeros(len(constraints), np.int64)
    columns = constraints.columns
    parts = max(2, round(STRATA ** (1 / max(1, len(columns)))))
    for column in columns:
        middle = np.cumsum(column.shares) - column.shares / 2
        strata = strata * parts + np.minimum((middle * parts).astype(np.int64), parts - 1)[constraints.middles(column)]
    return strata


def _halve(points: NDArray[np.float64], constraints: Constraints, strata: Labels, rows: Labels) -> list[Labels]:
    """Halve each stratum across the widest attribute that leaves two blocks which keep all promises; else nothing."""
    for axis in np.argsort(-np.ptp(points[rows], axis=0), kind="stable"):
        order = rows[np.lexsort((points[rows, axis], strata[rows]))]
        firsts = np.diff(strata[order], prepend=-1) != 0
        starts = np.flatnonzero(firsts)
        home = np.cumsum(firsts) - 1
        sizes = np.diff(np.append(starts, len(order)))
        # The odd record of a stratum goes to either side in turn.
        lower = np.arange(len(order)) - starts[home] < (sizes + np.arange(len(sizes)) % 2)[home] // 2
        halves = [np.sort(order[lower]), np.sort(order[~lower])]
        if all(len(half) and constraints.take(half).keep(np.zeros(len(half), np.int64)) for half in halves):
            return halves
    return []
