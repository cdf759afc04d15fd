"""Regions of a partition, recombined from all groups that a search has formed, by set partitioning.

The linear relaxation, tightened by odd set inequalities, comes first; its duals tell for each group how much a
partition that contains it costs at least. Then comes branch and bound over the groups that may be in a better one than
the best known. Nothing here looks at a clock: the limit counts steps of the relaxation and nodes of the tree, so a run
can be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.memetic.pool import Pool, inside, region
from discreet.kernels.partitions.groups import group_costs
from discreet.microdata.method import Labels, Points, renumber
from discreet.microdata.set_partitioning.branching import TOLERANCE, Cover, DualBound
from discreet.microdata.set_partitioning.columns import Columns, Floats, Ints, OddSets
from discreet.microdata.set_partitioning.relaxation import PricingResult, Relaxation

# Most records and known groups of a region: their set partitioning takes some 10 to 100 ms.
REGION_RECORDS = 200
MOST_KNOWN_GROUPS = 1_000
# A region that has more of them is drawn so much smaller, until it has not.
SHRINKING = 0.7
# Work of the solver on one region (see `best_cover`).
SOLVER_WORK = 10
# A region that costs less has nothing left to gain, and its costs hardly have digits.
NEGLIGIBLE_COST = 1e-290
# The relaxation starts with so many groups of each record; in each round a record adds so many at most.
START_GROUPS_PER_RECORD = 10
PRICED_GROUPS_PER_RECORD = 3


def recombine(points: Points, labels: Labels, pools: Sequence[Pool], centre: int) -> Labels:
    """Put the groups round a record together anew, as well as the groups in the pools allow; never worse.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    labels : array of n ints
        The partition, labels 0 to g−1.
    pools : sequence of Pool
        Groups to choose from.
    centre : int
        The record in the middle of the region.
    """
    reach = REGION_RECORDS
    while True:
        position = _positions(points, labels, centre, reach)
        known = [inside(pool.members[: pool.filled[0]], pool.sizes[: pool.filled[0]], position) for pool in pools]
        if sum(map(len, known)) <= MOST_KNOWN_GROUPS:
            break
        reach = int(SHRINKING * reach)
    records = np.flatnonzero(position >= 0)
    own = renumber(labels[records])
    members = [np.argsort(own, kind="stable")]
    sizes = [np.bincount(own)]
    for pool, chosen in zip(pools, known, strict=True):
        within = pool.members[chosen]
        members.append(position[within[np.arange(within.shape[1]) < pool.sizes[chosen][:, None]]])
        sizes.append(pool.sizes[chosen])
    flat = np.concatenate(members)
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    costs = group_costs(points[records], flat, starts)
    if costs[: len(sizes[0])].sum() < NEGLIGIBLE_COST:
        return labels
    selection = best_cover(flat, starts, costs, len(records), incumbent=np.arange(len(sizes[0])), work=SOLVER_WORK)
    new = labels.copy()
    for number, group in enumerate(selection.indices):
        new[records[flat[starts[group] : starts[group + 1]]]] = len(labels) + number
    return renumber(new)


def _positions(points: Points, labels: Labels, centre: int, reach: int) -> Labels:
    """The number of each record within the region of so many records round a centre; -1 outside."""
    records = np.flatnonzero(np.isin(labels, region(points, labels, points[centre], reach)))
    position = np.full(len(labels), -1)
    position[records] = np.arange(len(records))
    return position


@dataclass(frozen=True, eq=False)
class Selection:
    """Groups that partition the records.

    Parameters
    ----------
    indices : array of int
        The chosen groups, ascending.
    cost : float
        Their total cost.
    bound : float
        No partition made of the given groups costs less.
    proven : bool
        Whether cost and bound meet (up to one part in 10⁹).
    """

    indices: Ints
    cost: float
    bound: float
    proven: bool


def best_cover(
    members: NDArray[Any],
    starts: NDArray[Any],
    costs: NDArray[Any],
    n: int,
    *,
    incumbent: NDArray[Any],
    work: int = 300,
) -> Selection:
    """Choose groups that partition all records at the least total cost.

    Parameters
    ----------
    members, starts, costs : arrays
        The groups as in `Columns`; costs are not negative, no group has a record twice.
    n : int
        Number of records.
    incumbent : array of int
        Groups that are a partition; the answer is never worse.
    work : int
        Steps at most: with 1,000 records 20 to 300 ms each.

    Returns
    -------
    Selection
        The best found within the work, with a lower bound.
    """
    best = np.sort(np.asarray(incumbent, np.int64))
    total = float(np.asarray(costs, np.float64)[best].sum())
    if total <= 0:
        return Selection(best, total, total, True)
    # A power of two scales without rounding; the tolerances of the linear program want costs of about 1 per record.
    scale = 2.0 ** round(np.log2(n / total))
    columns = Columns(np.asarray(members, np.int64), np.asarray(starts, np.int64), np.asarray(costs) * scale)
    relaxation = _relaxation(columns, n, best)
    steps = 0
    while not relaxation.finished and steps < work:
        relaxation.advance(total * scale)
        steps += 1
    weights = relaxation.inner_weights
    reduced = columns.reduced_costs(relaxation.inner_duals) + relaxation.sets.weigh(columns, weights, n)
    binding = relaxation.sets.take(np.flatnonzero(weights > 0))
    cover = Cover(columns, n, DualBound(relaxation.bound, reduced, binding), best)
    while not cover.finished and steps < work:
        cover.advance()
        steps += 1
    return Selection(cover.best, cover.cost / scale, min(cover.bound, cover.cost) / scale, cover.finished)


def _relaxation(columns: Columns, n: int, incumbent: Ints) -> Relaxation:
    """The relaxation at its start: the incumbent, whose groups share out their costs as duals, and what is cheap."""
    groups = columns.take(incumbent)
    duals = np.zeros(n)
    duals[groups.members] = np.repeat(groups.costs / groups.sizes, groups.sizes)
    first = columns.best_per_record(columns.reduced_costs(duals), n, START_GROUPS_PER_RECORD)
    return Relaxation(columns.take(np.union1d(first, incumbent)), duals, ListPricer(columns))


@dataclass(frozen=True, eq=False)
class ListPricer:
    """Prices groups that are given in a list."""

    columns: Columns

    def __call__(self, duals: Floats, sets: OddSets, weights: Floats) -> PricingResult:
        """Find for each record the groups that lack most, and take from the duals what groups lack."""
        lack = -(self.columns.reduced_costs(duals) + sets.weigh(self.columns, weights, len(duals)))
        cut = np.zeros_like(duals)
        share = np.maximum(lack, 0.0) / self.columns.sizes
        np.maximum.at(cut, self.columns.members, np.repeat(share, self.columns.sizes))
        lacking = np.flatnonzero(lack > TOLERANCE * float(np.abs(duals).mean()))
        groups = self.columns.take(lacking)
        best = groups.best_per_record(-lack[lacking], len(duals), PRICED_GROUPS_PER_RECORD)
        return PricingResult(groups.take(best), duals - cut)
