"""The memetic search on large data: blocks of neighbouring groups, pass after pass, other borders each time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import finite, integers
from discreet.evolution.process import Search, State, mapped
from discreet.kernels.compiling import uninterrupted
from discreet.kernels.memetic.blocks import block_costs, borders, centroids, improve, locate, regroup, sort_records
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.random import seeded
from discreet.microdata.method import MOST_PASSES, Labels, Points, Run, kept_blocks, kept_order, split_large

# Records in a block of the first mdav: smaller ones are a worse start, larger ones take longer.
START_BLOCK_RECORDS = 10_000
# Records of an epoch: less than a second, and enough for several threads.
EPOCH_RECORDS = 50_000
# Unions of groups of more records are too large to be worked on; between such groups records only move and swap.
MOST_UNION_K = 500
# At first records are only exchanged between two or three groups, as long as a pass gains this part of the cost.
LEAST_GAIN = 0.01
# Steps per group and heat (as a share of the method's) of the next passes, and of all others: new borders gain more
# than many steps between the same ones.
PASSES = ((1.1, 0.0), (1.1, 0.0), (2.0, 0.7), (4.0, 0.7), (8.0, 0.7))


class Blocks(Search[Labels]):
    """The search under way: the first epoch makes a partition, each other one improves some blocks.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    run : Run
        Seed, threads, and a partition to start from.
    heat : float
        The temperature at the start of a block; see `Memetic`.
    groups : int
        Groups in a block.
    """

    finished = False  # there is always something to gain

    def __init__(self, points: Points, k: int, run: Run, *, heat: float, groups: int) -> None:
        self._given, self._points, self._k, self._run, self._heat, self._groups = points, points, k, run, heat, groups
        # The rows of the file in the order of the first partition, in which the points stand from then on: those of a
        # block lie side by side in memory.
        self._rows = np.empty(0, np.int64)
        # The records in an order in which those of a group stand together, and a mark at the first of each group.
        self._order = np.empty(0, np.int64)
        self._heads = np.empty(0, np.int64)
        self._starts = np.zeros(1, np.int64)  # of the blocks of this pass
        self._costs = np.zeros(0)  # of these blocks
        self._passes, self._next, self._cost = 0, 0, np.inf
        # Passes in which records were only exchanged, -1 as long as they go on; and the cost before the pass under way.
        self._exchange_passes, self._pass_cost = -1, 0.0

    @property
    def cost(self) -> float:
        """SSE of the partition."""
        return float(self._cost)

    def _epochs(self) -> Iterator[None]:
        """Make the first partition; then improve all blocks, pass after pass, with other borders each time."""
        if not len(self._order):
            self._make_first_partition()
            yield
        while True:
            if self._next == len(self._starts) - 1:
                self._draw_borders()
            blocks = len(self._starts) - 1
            effort, share = 0.0, 0.0
            if self._exchange_passes >= 0:
                effort, share = PASSES[min(self._passes - self._exchange_passes, len(PASSES)) - 1]
            while self._next < blocks:
                first, end = self._next, min(blocks, self._next + max(1, EPOCH_RECORDS * blocks // len(self._points)))
                self._costs[first:end] = self._improve(range(first, end), effort, share)
                self._next = end
                # Gains would not do: what is left may be a tiny part of all that was gained.
                self._cost = min(self._cost, math.fsum(self._costs))
                yield

    def answer(self) -> Labels:
        """The groups as they are."""
        labels = np.empty(len(self._points), np.int64)
        labels[self._rows[self._order]] = np.cumsum(self._heads) - 1
        return labels

    def _state(self) -> State:
        """The partition, and how far the pass is."""
        return {
            "order": self._rows[self._order],
            "heads": self._heads,
            "starts": self._starts,
            "costs": self._costs,
            "passes": self._passes,
            "next": self._next,
            "exchange_passes": self._exchange_passes,
            "pass_cost": self._pass_cost,
            "cost": self.cost,
        }

    def _restore(self, state: State) -> None:
        kept: dict[str, Any] = dict(state)
        order, self._heads = kept_order(kept, len(self._points), self._k)
        self._sort(order)
        self._starts, self._costs, self._next = kept_blocks(kept, self._heads, len(self._order))
        self._passes = int(integers("passes", kept["passes"], (), 0, MOST_PASSES))
        # Older files have none: all their passes took steps.
        exchange_passes = kept.get("exchange_passes", 0 if self._passes else -1)
        self._exchange_passes = int(integers("exchange_passes", exchange_passes, (), -1, self._passes))
        self._pass_cost = finite("pass_cost", kept.get("pass_cost", 0.0), least=0.0)
        self._cost = finite("cost", kept["cost"], least=0.0) if len(self._order) else math.inf

    def _make_first_partition(self) -> None:
        """Order the records by the groups that were given, or partition them by mdav within blocks."""
        if self._run.start is not None:
            labels = split_large(self._run.start, self._k)
            order = np.argsort(labels, kind="stable")
            self._heads = np.diff(labels[order], prepend=-1)
        else:
            homes, blocks = self._homes(self._points, len(self._points) // START_BLOCK_RECORDS)
            order, starts = sort_records(homes, blocks)
            heads = np.zeros(len(order), np.int64)
            spans = _spans(starts, 2 * self._k)
            mapped(
                lambda span: _first_groups(self._points, self._k, order[span], heads[span]), spans, self._run.threads
            )
            self._heads = heads
        self._sort(order)
        everything = np.array([0, len(order)])
        self._cost = float(block_costs(self._points, self._order, self._heads, everything)[0])

    def _sort(self, order: Labels) -> None:
        """Let the points stand in an order of the rows of the file; none for as they are."""
        if len(order):
            points = self._given[order]
            self._points, self._rows, self._order = points, order, np.arange(len(order))

    def _draw_borders(self) -> None:
        """Begin the next pass: put the groups of each of its blocks together."""
        if self._exchange_passes < 0 and self._passes and self._cost > (1.0 - LEAST_GAIN) * self._pass_cost:
            self._exchange_passes = self._passes
        self._passes, self._pass_cost = self._passes + 1, self.cost
        places = centroids(self._points, self._order, self._heads)
        homes, blocks = self._homes(places, len(places) // self._groups)
        self._order, self._heads, self._starts = regroup(self._order, self._heads, homes, blocks)
        self._costs = block_costs(self._points, self._order, self._heads, self._starts)
        self._next = 0

    def _homes(self, places: Points, blocks: int) -> tuple[Labels, int]:
        """Find the block of each place, and the number of blocks."""
        with uninterrupted():
            tree = borders(places, max(1, blocks), seeded(self._run.seed, 2 * self._passes))
        homes = np.empty(len(places), np.int64)
        locate(places, tree, 0, len(places), homes)
        return homes, len(tree.axes) + 1

    def _improve(self, blocks: range, effort: float, share: float) -> list[float]:
        """Improve some blocks, in place; their costs."""
        heat = share * self._heat
        effort = effort if self._k <= MOST_UNION_K else 0.0

        def improve_one(block: int) -> float:
            start, end = int(self._starts[block]), int(self._starts[block + 1])
            # A stream of its own for each block and pass, so that neither the order nor the threads matter.
            rng = seeded(self._run.seed, (self._passes << 40) + 2 * block + 1)
            return float(improve(self._points, self._order, self._heads, start, end, self._k, effort, heat, rng))

        return mapped(improve_one, blocks, self._run.threads)


def _spans(starts: Labels, least: int) -> list[slice]:
    """The blocks as stretches of the order; one with few records goes with the next."""
    spans, begin = [], 0
    for end in starts[1:].tolist():
        if end - begin >= least:
            spans.append(slice(begin, end))
            begin = end
    if begin < starts[-1]:
        begin = spans.pop().start if spans else 0
        spans.append(slice(begin, int(starts[-1])))
    return spans


def _first_groups(points: Points, k: int, order: Labels, heads: NDArray[np.int64]) -> None:
    """Partition the records of a block, in place."""
    labels = mdav(np.ascontiguousarray(points[order]), k, False, lambda _fraction: None)
    inner = np.argsort(labels, kind="stable")
    heads[:] = np.diff(labels[inner], prepend=-1)
    order[:] = order[inner]
