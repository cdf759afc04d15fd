"""Pricing over all groups of k to 2k−1 records, and what it takes to trust its bound."""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from discreet.kernels.partitions.groups import group_costs
from discreet.kernels.pricing.pricing import Prices, all_below, lower, price
from discreet.kernels.space.lists import near_sums
from discreet.microdata.set_partitioning.columns import Columns, Floats, Ints, OddSets
from discreet.microdata.set_partitioning.relaxation import PricingResult

# A group lacks something if it is more than this part of the mean dual; so little, and rounding, come off the bound.
NEGLIGIBLE_LACK = 1e-11
LOWERING_TRIES = 30
# Candidates that the search of one first record and size looks at; more if that finds nothing and proves nothing.
FIRST_CANDIDATES = 100_000
CANDIDATES_GROWTH = 8
MOST_CANDIDATES = 800_000
# Candidates between two interruptions, about 0.1 s; the distances from a first record to all others count as this part
# of a candidate each.
UNINTERRUPTED_CANDIDATES = 1_200_000
DISTANCE_WORK = 0.1
# First records that are looked at together, at first.
FIRST_PIECE = 16
# First records whose groups are listed between two interruptions.
LISTED_PIECE = 200


class GroupPricer:
    """Prices all groups of k to 2k−1 of n points exactly.

    Parameters
    ----------
    points : array of float, n × d
        The points.
    k : int
        Least size of a group; n is at least 2k.
    """

    def __init__(self, points: Floats, k: int) -> None:
        self.points, self.k = points, k
        self.near = near_sums(points, 2 * k - 2, lambda _: None)
        self.work = 0  # candidates looked at so far

    def __call__(self, duals: Floats, sets: OddSets, weights: Floats) -> Generator[None, None, PricingResult]:
        """Find for each record and size the group that lacks most, and take from the duals what groups lack."""
        n, k = len(duals), self.k
        order, prices = self._prices(duals, sets, weights)
        threshold = -NEGLIGIBLE_LACK * float(np.abs(duals).mean())
        groups = np.zeros((n * k, 2 * k - 1), np.int64)
        values, bounds = np.zeros(n * k), np.zeros(n * k)
        budget = FIRST_CANDIDATES
        while True:
            yield from self._pieces(
                n,
                lambda first, end: price(
                    prices,
                    k,
                    first,
                    end,
                    threshold,
                    budget,  # noqa: B023 - called before the next round
                    groups[first * k :],
                    values[first * k :],
                    bounds[first * k :],
                ),
            )
            found = np.flatnonzero(values < threshold)
            open_ = np.unique(np.flatnonzero(bounds < threshold) // k)
            if len(found) or not len(open_) or budget >= MOST_CANDIDATES:
                break
            budget *= CANDIDATES_GROWTH
        columns = self._columns(order[groups[found]], k + found % k)
        yield from self._pieces(
            len(open_), lambda first, end: lower(prices, k, open_[first:end], threshold, budget, LOWERING_TRIES)
        )
        lowered = np.empty(n)
        lowered[order] = prices.duals
        # What each of at most n/k groups may still lack, and the rounding of costs and duals (see kernels/pricing.py).
        units = 8 * (self.points.shape[1] + 4 * k) * np.finfo(float).eps
        lack = -threshold / k + units * float(np.abs(duals).mean() + np.abs(weights).sum() / n)
        return PricingResult(columns, lowered - lack)

    def _pieces(self, count: int, work: Callable[[int, int], int]) -> Generator[None, None, None]:
        """Do work on first records, from one to before another, piece by piece, with interruptions."""
        start, width, since = 0, FIRST_PIECE, 0.0
        while start < count:
            end = min(count, start + width)
            looked = work(start, end)
            self.work += looked
            spent = looked + DISTANCE_WORK * (end - start) * self.points.size
            # As many records next as, by these, half of what may be done takes; at most twice as many.
            width = max(1, min(2 * width, int(0.5 * UNINTERRUPTED_CANDIDATES * (end - start) / max(spent, 1.0))))
            start, since = end, since + spent
            if since >= 0.5 * UNINTERRUPTED_CANDIDATES:
                since = 0.0
                yield

    def below(
        self, duals: Floats, sets: OddSets, weights: Floats, threshold: float, most: int
    ) -> Generator[None, None, Columns | None]:
        """All groups with a reduced cost below the threshold, or nothing if there are more than `most`."""
        order, prices = self._prices(duals, sets, weights)
        k = self.k
        room = np.zeros((min(most, 10_000) + 1, 2 * k - 1), np.int64)
        sizes = np.zeros(len(room), np.int64)
        parts, total = [], 0
        for first in range(len(duals) - k + 1):
            if first % LISTED_PIECE == 0:
                yield
            count = all_below(prices, k, first, threshold, room, sizes)
            total += count
            if total > most:
                return None
            if count > len(room):
                room, sizes = np.zeros((count, 2 * k - 1), np.int64), np.zeros(count, np.int64)
                all_below(prices, k, first, threshold, room, sizes)
            parts.append(self._columns(order[room[:count]], sizes[:count]))
        columns = parts[0]
        return columns.join(*parts[1:])

    def _prices(self, duals: Floats, sets: OddSets, weights: Floats) -> tuple[Ints, Prices]:
        """The problem in the order of the search: those that gain most by being in a group first.

        An outlying record has a large dual and would weaken the bounds of every search in which it is a candidate; as
        the first it is a candidate of none.
        """
        n, k = len(duals), self.k
        order = np.argsort(self.near[:, k - 1] / (2 * k) - duals, kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        used = sets.take(np.flatnonzero(weights > 0))
        ranked = OddSets(rank[used.members], used.starts)
        starts, by_record = ranked.by_record(n)
        points = np.ascontiguousarray(self.points[order].T)
        return order, Prices(
            points,
            self.near[order],
            duals[order],
            weights[weights > 0],
            starts,
            by_record,
            ranked.members,
            ranked.starts,
        )

    def _columns(self, groups: Ints, sizes: Ints) -> Columns:
        """The groups in the first places of each row, their records ascending, with their costs."""
        inside = np.arange(groups.shape[1]) < sizes[:, None]
        members = np.sort(np.where(inside, groups, len(self.points)), axis=1)[inside]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Columns(members, starts, group_costs(self.points, members, starts))


def nearest_bound(near: Floats, k: int) -> float:
    """The lower bound by nearest neighbours: a record's share of its group's SSE is at least 1/(2k) of near[k−1].

    In a group S of s records, SSE(S) is the sum over its records of 1/(2s) times their distances to the other s−1.
    Those are at least the s−1 least ones of the record, and (the sum of the s−1 least)/s does not fall when s grows:
    with x the s-th least and m the mean of those before it, x ≥ m, so ((s−1)m + x)/(s+1) ≥ sm/(s+1) ≥ (s−1)m/s. So the
    share is least at s = k. Rounding comes off: terms are positive, each errs by a few units in the last place.
    """
    # 1e-12 of the sum is more than the errors of the additions can come to.
    return float(near[:, k - 1].sum() / (2 * k)) * (1.0 - 1e-12)
