"""The memetic search on records with categories: blocks of similar groups, by the loss of what will be written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import finite, integers
from discreet.evolution.process import Search, State, mapped
from discreet.kernels.memetic.blocks import regroup
from discreet.kernels.memetic.unions import room_for
from discreet.kernels.mixed.groups import Mixed, centres, cut_path, find_equal, group_losses, mark_heads
from discreet.kernels.mixed.unions import ROOM, improve
from discreet.kernels.random import seeded
from discreet.microdata.method import MOST_PASSES, Labels, Run, kept_blocks, kept_order, renumber, split_large

# Groups of equal records that stay in play for each combination of values: they can lend to those who are too few.
EQUAL_GROUPS_IN_PLAY = 2
# Most work in a block, in pairs of records of a union: some 100 ms.
BLOCK_WORK = 6_000_000
# Blocks of an epoch, which are what several threads work on.
EPOCH_BLOCKS = 2
# Up to this k an order is cut where it loses least, above it after every k records: the best cut takes time O(k·n).
MOST_CUT_K = 50
# Unions of groups of more records are too large to be worked on.
MOST_UNION_K = 500
# Passes after which a single block is not searched any longer each time: beyond this only the most work would count.
MOST_GROWTHS = 40
# Temperature at the start of even and of odd passes, times the method's.
START_HEATS = (2.0, 1.0)


@dataclass(frozen=True)
class Pass:
    """How a pass goes: groups in a block as a share of the method's, steps per group, heat as a share of its."""

    share: float
    steps: float
    heat: float
    sweep: bool  # whether to descend from each group once


# The first passes and all others: a quick descent everywhere comes before anything is perturbed.
PASSES = (Pass(0.25, 0.0, 0.0, True), Pass(1.0, 1.5, 0.0, True), Pass(1.0, 3.5, 1.0, False))


class MixedSearch(Search[Labels]):
    """The search under way: equal records together, then orders that are cut, then blocks, pass after pass.

    Parameters
    ----------
    mixed : Mixed
        The records.
    k : int
        Least size of a group.
    run : Run
        Seed, threads, and a partition to start from.
    heat : float
        The temperature at the start of a block; see `Memetic`.
    groups : int
        Groups in a block.
    growth : float
        How much longer each pass is than the one before, where all groups are in one block.
    patience : int
        Passes without a better partition that end the search.
    """

    def __init__(
        self, mixed: Mixed, k: int, run: Run, *, heat: float, groups: int, growth: float, patience: int
    ) -> None:
        self._mixed, self._k, self._run = mixed, k, run
        self._heat, self._groups, self._growth, self._patience = heat, groups, growth, patience
        # The records in an order in which those of a group stand together, and a mark at the first of each group; from
        # `in_play` on stand groups of equal records, which lose nothing.
        self._order, self._heads, self._in_play = np.empty(0, np.int64), np.empty(0, np.int64), 0
        self._starts = np.zeros(1, np.int64)  # of the blocks of this pass
        self._costs = np.zeros(0)  # of these blocks
        self._tried, self._passes, self._next, self._idle_passes = 0, 0, 0, 0
        self._cost = self._pass_cost = np.inf

    @property
    def cost(self) -> float:
        """What the partition loses when means and modes are written."""
        return float(self._cost)

    @property
    def finished(self) -> bool:
        """Whether nothing is lost, or several passes have found nothing better."""
        return self._cost == 0.0 or self._idle_passes >= self._patience

    def _epochs(self) -> Iterator[None]:
        if not len(self._order):
            self._make_first_partition()
            yield
        orders = self._column_orders()
        while self._tried < len(orders):
            self._try_order(orders[self._tried])
            self._tried += 1
            yield
        if self._k > MOST_UNION_K:
            self._idle_passes = self._patience
            return
        while True:
            if self._next == len(self._starts) - 1:
                self._draw_borders()
            while self._next < len(self._starts) - 1:
                first, end = self._next, min(len(self._starts) - 1, self._next + EPOCH_BLOCKS)
                self._costs[first:end] = self._improve(range(first, end))
                self._next = end
                self._cost = min(self._cost, math.fsum(self._costs))
                if end == len(self._starts) - 1:
                    self._idle_passes = 0 if self._cost < self._pass_cost else self._idle_passes + 1
                yield

    def answer(self) -> Labels:
        """The groups as they are."""
        labels = np.empty(len(self._order), np.int64)
        labels[self._order] = np.cumsum(self._heads) - 1
        return labels

    def _state(self) -> State:
        return {
            "order": self._order,
            "heads": self._heads,
            "in_play": self._in_play,
            "starts": self._starts,
            "costs": self._costs,
            "tried": self._tried,
            "passes": self._passes,
            "next": self._next,
            "idle_passes": self._idle_passes,
            "cost": self.cost,
            "pass_cost": float(self._pass_cost),
        }

    def _restore(self, state: State) -> None:
        kept: dict[str, Any] = dict(state)
        self._order, self._heads = kept_order(kept, len(self._mixed.codes), self._k)
        n = len(self._order)
        for name in ("in_play", "tried", "passes", "idle_passes"):
            setattr(self, f"_{name}", int(integers(name, kept[name], (), 0, max(n, MOST_PASSES))))
        if self._in_play > n or (0 < self._in_play < n and not self._heads[self._in_play]):
            raise ValueError("in_play is not where a group begins")
        self._starts, self._costs, self._next = kept_blocks(kept, self._heads, self._in_play)
        self._cost = finite("cost", kept["cost"], least=0.0) if n else math.inf
        self._pass_cost = float(kept["pass_cost"])

    def _make_first_partition(self) -> None:
        """Put equal records together, and the others as they come; or take the groups that were given."""
        _, entry, counts = find_equal(self._mixed.numbers, self._mixed.codes)
        if self._run.start is not None:
            labels = self._run.start
        else:
            alone = counts[entry] < self._k
            loose = int(alone.sum())
            # Fewer than k join the last of the others.
            home = len(counts) if loose >= self._k else int(np.flatnonzero(counts >= self._k)[-1])
            labels = renumber(np.where(alone, home, entry)) if loose else renumber(entry)
        labels = split_large(labels, self._k)
        order = np.argsort(labels, kind="stable")
        starts = np.r_[np.flatnonzero(np.diff(labels[order], prepend=-1)), len(order)]
        losses = group_losses(self._mixed, order, starts)
        settled = _beyond(np.where(losses == 0.0, entry[order[starts[:-1]]], -1), EQUAL_GROUPS_IN_PLAY)
        self._order, self._heads, ends = regroup(order, np.diff(labels[order], prepend=-1), settled.astype(np.int64), 2)
        self._in_play = int(ends[1])
        self._cost = math.fsum(losses)

    def _column_orders(self) -> list[list[int]]:
        """Orders of the columns by which records are sorted: few categories first, as they come, many first."""
        width, levels = self._mixed.codes.shape[1], self._mixed.codes.max(axis=0)
        rising = np.argsort(levels, kind="stable").tolist()
        orders = [rising, list(range(width)), rising[::-1]]
        return [order for at, order in enumerate(orders) if order not in orders[:at]]

    def _try_order(self, columns: Sequence[int]) -> None:
        """Sort the records in play by some columns after the other, cut, and take that if it is better."""
        rows = np.sort(self._order[: self._in_play])
        codes = self._mixed.codes[rows]
        keys = [*self._mixed.numbers[rows].T, *_pack([codes[:, column] for column in columns])[::-1]]
        order = rows[np.lexsort(keys)]
        heads = self._cut(order)
        starts = np.r_[np.flatnonzero(heads), len(order)]
        cost = math.fsum(group_losses(self._mixed, order, starts))
        if cost < self._cost:
            self._order[: self._in_play], self._heads[: self._in_play], self._cost = order, heads, cost

    def _cut(self, order: Labels) -> NDArray[np.int64]:
        if self._k > MOST_CUT_K:
            return np.diff(split_large(np.zeros(len(order), np.int64), self._k), prepend=-1)
        cost, start = np.full(len(order) + 1, np.inf), np.full(len(order) + 1, -1)
        cost[0] = 0.0
        cut_path(self._mixed, order, self._k, 0, len(order), cost, start)
        return mark_heads(start)

    def _draw_borders(self) -> None:
        """Begin the next pass: sort the groups by their modes in a random order of columns, and put blocks together."""
        self._passes += 1
        order, heads = self._order[: self._in_play], self._heads[: self._in_play]
        means, modes = centres(self._mixed, order, np.r_[np.flatnonzero(heads), len(order)])
        rng = np.random.default_rng((self._run.seed, self._passes))
        keys = [rng.permutation(int(column.max()) + 1)[column] for column in modes.T]
        keys += [_bins(column, int(2 ** rng.integers(1, 6))) for column in means.T]
        ranks = np.empty(len(means), np.int64)
        ranks[np.lexsort(_pack([keys[at] for at in rng.permutation(len(keys))])[::-1])] = np.arange(len(means))
        blocks = max(1, round(len(means) / (self._pass.share * self._groups)))
        homes = (ranks + rng.integers(0, len(means))) % len(means) * blocks // len(means)
        order, heads, self._starts = regroup(order, heads, homes, blocks)
        self._order[: self._in_play], self._heads[: self._in_play] = order, heads
        losses = group_losses(self._mixed, order, np.r_[np.flatnonzero(heads), len(order)])
        self._costs = np.add.reduceat(losses, np.r_[0, np.cumsum(heads)][self._starts[:-1]])
        self._next, self._pass_cost = 0, self._cost

    @property
    def _pass(self) -> Pass:
        return PASSES[min(self._passes, len(PASSES)) - 1]

    def _improve(self, blocks: range) -> list[float]:
        """Improve some blocks, in place; their costs."""
        now, most = self._pass, BLOCK_WORK // room_for(self._k, ROOM) ** 2
        # What other borders are to many blocks, more time at each temperature is to a single one.
        longer = self._growth ** min(self._passes, MOST_GROWTHS) if len(self._starts) == 2 else 1.0

        def improve_one(block: int) -> float:
            start, end = int(self._starts[block]), int(self._starts[block + 1])
            # A stream of its own for each block and pass, so that neither the order nor the threads matter.
            rng = seeded(self._run.seed, (self._passes << 40) + block)
            steps = min(int(now.steps * longer * self._heads[start:end].sum()), max(1, most))
            heat = now.heat * self._heat * START_HEATS[self._passes % len(START_HEATS)]
            return float(
                improve(self._mixed, self._order, self._heads, start, end, self._k, now.sweep, steps, heat, rng)
            )

        return mapped(improve_one, blocks, self._run.threads)


def _pack(columns: Sequence[NDArray[np.signedinteger[Any]]]) -> list[NDArray[np.int64]]:
    """Columns to sort by, the first before the others, as few: as many in one number as it has room for."""
    packed: list[NDArray[np.int64]] = []
    room = 0
    for column in columns:
        levels = int(column.max(initial=0)) + 1
        if levels > room:
            packed.append(np.zeros(len(column), np.int64))
            room = 2**62
        packed[-1] = packed[-1] * levels + column
        room //= levels
    return packed


def _bins(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Numbers as so many bins of about equal size; equal numbers are in the same."""
    borders = np.quantile(values, np.arange(1, count) / count)
    return np.searchsorted(borders, values, side="right")


def _beyond(classes: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Whether so many others of the same class come before; those of class -1 never."""
    order = np.argsort(classes, kind="stable")
    listed = classes[order]
    firsts = np.r_[True, listed[1:] != listed[:-1]]
    place = np.arange(len(order)) - np.flatnonzero(firsts)[np.cumsum(firsts) - 1]
    beyond = np.empty(len(order), np.bool_)
    beyond[order] = (place >= count) & (listed >= 0)
    return beyond
