"""Regions of a partition, recombined from all groups that a search has formed, by set partitioning.

The linear relaxation, tightened by odd set inequalities, comes first; its duals tell for each group how much a
partition that contains it costs at least. Where few groups may be in a better partition than the best known, branch and
bound over them follows. Otherwise a dive does: group by group is taken, largest share in the relaxation first, and
records may stay alone at a price, so that there always is a solution; in the end these join groups near them. Nothing
here looks at a clock: the limits count steps of the relaxation and nodes of the tree, so a run can be repeated exactly.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from discreet.kernels.memetic.pool import Pool, inside, region
from discreet.kernels.partitions.groups import group_costs
from discreet.microdata.method import Labels, Points, renumber
from discreet.microdata.set_partitioning.branching import INTEGRALITY, NEARLY_WHOLE_SHARE, TOLERANCE, Cover, DualBound
from discreet.microdata.set_partitioning.columns import Columns, Floats, Ints, OddSets, columns_of, labels_of
from discreet.microdata.set_partitioning.relaxation import PricingResult, Relaxation, RestrictedMaster

# Most records of a region, these times k, and its fewest groups (see `region_records`): its relaxation and dive take 1
# to 5 s, in pieces of 0.1 s.
REGION_RECORDS, REGION_WORK, FEWEST_GROUPS = 600, 3_000, 10
# Known groups that take part: those of lowest reduced cost of each record, by duals known before; and those of a dive.
KNOWN_GROUPS_PER_RECORD = 300
DIVE_GROUPS_PER_RECORD = 40
# Pieces of work on the relaxation; and if no more than so many groups may be in a better partition, so many nodes of
# branch and bound.
RELAXATION_PIECES = 100
FEW_GROUPS, NODES = 500, 10
# What a record alone costs in a dive: so many times its dual, which counts as this part of the mean dual at least.
ALONE, LEAST_DUAL = 2.0, 0.2
# A region that costs less has nothing left to gain, and its costs hardly have digits.
NEGLIGIBLE_COST = 1e-290
# The relaxation starts with so many groups of each record; in each round a record adds so many at most.
START_GROUPS_PER_RECORD = 10
PRICED_GROUPS_PER_RECORD = 3


class Recombined(NamedTuple):
    """A partition, in a region of which the groups are put together anew, and the duals of the region's records."""

    labels: Labels
    records: Labels
    duals: Floats


def region_records(k: int) -> int:
    """Records of a region: fewer for larger groups, of which there are more to choose from."""
    return min(REGION_RECORDS, max(REGION_WORK // k, FEWEST_GROUPS * k))


def recombine(
    points: Points, k: int, labels: Labels, pools: Sequence[Pool], duals: Floats, centre: int
) -> Iterator[Recombined | None]:
    """Put the groups round a record together anew, from groups in the pools; the outcome may be worse here and there.

    The outcome comes last; before it, None wherever the work can be interrupted.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group; the largest is 2k−1.
    labels : array of n ints
        The partition, labels 0 to g−1.
    pools : sequence of Pool
        Groups to choose from. They are read before the first interruption only.
    duals : array of n floats
        What each record may bear of the cost, as far as it is known.
    centre : int
        The record in the middle of the region.
    """
    records = np.flatnonzero(np.isin(labels, region(points, labels, points[centre], region_records(k))))
    own = columns_of(points[records], renumber(labels[records]))
    total = float(own.costs.sum())
    if total < NEGLIGIBLE_COST:
        yield Recombined(labels, records, duals[records])
        return
    columns = own.join(_known(points, pools, records, duals))
    # A power of two scales without rounding; the tolerances of the linear program want costs of about 1 per record.
    scale = 2.0 ** round(np.log2(len(records) / total))
    columns = Columns(columns.members, columns.starts, columns.costs * scale)
    yield None
    incumbent = np.arange(len(own))
    relaxation = _relaxation(columns, duals[records] * scale, incumbent)
    for _ in islice(relaxation.steps(total * scale), RELAXATION_PIECES):
        yield None
    dual_bound = _dual_bound(relaxation, columns)
    chosen = labels.copy()
    if (dual_bound.reduced <= total * scale - dual_bound.bound).sum() <= FEW_GROUPS:
        cover = Cover(columns, len(records), dual_bound, incumbent)
        for _ in range(NODES):
            if cover.finished:
                break
            yield None
            yield from cover.advancing()
        chosen[records] = len(labels) + labels_of(columns, cover.best, len(records))
    else:
        found = yield from _dive(columns, dual_bound, relaxation.inner_duals)
        if _join(points[records], k, found):
            chosen[records] = len(labels) + found
    yield Recombined(renumber(chosen), records, relaxation.inner_duals / scale)


def _known(points: Points, pools: Sequence[Pool], records: Labels, duals: Floats) -> Columns:
    """The groups in the pools that lie within a region, each once: the best of each record by its reduced cost."""
    position = np.full(len(points), -1)
    position[records] = np.arange(len(records))
    members, sizes = [], []
    for pool in pools:
        filled = int(pool.filled[0])
        chosen = inside(pool.members[:filled], pool.sizes[:filled], position)
        within = pool.members[chosen]
        members.append(within[np.arange(within.shape[1]) < pool.sizes[chosen][:, None]])
        sizes.append(pool.sizes[chosen])
    flat, lengths = np.concatenate(members), np.concatenate(sizes)
    if not len(lengths):
        return Columns(flat, np.zeros(1, np.int64), np.zeros(0))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    # All pools know a record by the same random word.
    keys = np.bitwise_xor.reduceat(pools[0].words[flat], starts[:-1])
    every = Columns(flat, starts, np.zeros(len(lengths))).take(np.sort(np.unique(keys, return_index=True)[1]))
    columns = Columns(position[every.members], every.starts, group_costs(points, every.members, every.starts))
    return columns.take(
        columns.best_per_record(columns.reduced_costs(duals[records]), len(records), KNOWN_GROUPS_PER_RECORD)
    )


def _dive(columns: Columns, dual_bound: DualBound, duals: Floats) -> Generator[None, None, Labels]:
    """Take groups, largest share first, until all records are in one or alone: the group of each, -1 where alone."""
    n = len(duals)
    groups = columns.take(columns.best_per_record(dual_bound.reduced, n, DIVE_GROUPS_PER_RECORD))
    alone = Columns(np.arange(n), np.arange(n + 1), ALONE * np.maximum(duals, LEAST_DUAL * duals.mean()))
    every = groups.join(alone)
    by_record = np.split(
        every.owners[np.argsort(every.members, kind="stable")],
        np.cumsum(np.bincount(every.members, minlength=n))[:-1],
    )
    master = RestrictedMaster(every, dual_bound.sets, n)
    taken, barred = np.zeros(len(groups), bool), np.zeros(len(every), bool)
    while True:
        value = yield from master.solving()
        shares = np.where(taken, 0.0, master.values[: len(groups)])
        if not np.isfinite(value) or shares.max(initial=0.0) <= INTEGRALITY:
            break
        chosen = np.flatnonzero(shares >= min(NEARLY_WHOLE_SHARE, shares.max()))
        chosen = chosen if shares[chosen[0]] >= NEARLY_WHOLE_SHARE else chosen[:1]
        taken[chosen] = True
        rivals = np.unique(np.concatenate([by_record[record] for record in groups.take(chosen).members]))
        rivals = np.setdiff1d(rivals[~barred[rivals]], chosen)
        master.bar(rivals)
        barred[rivals] = True
        yield
    return labels_of(groups, np.flatnonzero(taken), n)


def _join(points: Points, k: int, labels: Labels) -> bool:
    """Let records without a group join the one where they cost least, in place; tell whether all could."""
    for record in np.flatnonzero(labels < 0):
        sizes = np.bincount(labels[labels >= 0])
        open_ = np.flatnonzero(sizes < 2 * k - 1)
        if not len(open_):
            return False
        sums = np.zeros((len(sizes), points.shape[1]))
        np.add.at(sums, labels[labels >= 0], points[labels >= 0])
        apart = ((points[record] - sums[open_] / sizes[open_, None]) ** 2).sum(axis=1)
        labels[record] = open_[np.argmin(apart * sizes[open_] / (sizes[open_] + 1))]
    return True


def _relaxation(columns: Columns, duals: Floats, incumbent: Ints) -> Relaxation:
    """The relaxation at its start: the incumbent, and what is cheap by the duals."""
    first = columns.best_per_record(columns.reduced_costs(duals), len(duals), START_GROUPS_PER_RECORD)
    return Relaxation(columns.take(np.union1d(first, incumbent)), duals, ListPricer(columns))


def _dual_bound(relaxation: Relaxation, columns: Columns) -> DualBound:
    """What a relaxation tells of each group."""
    weights, n = relaxation.inner_weights, len(relaxation.duals)
    reduced = columns.reduced_costs(relaxation.inner_duals) + relaxation.sets.weigh(columns, weights, n)
    return DualBound(relaxation.bound, reduced, relaxation.sets.take(np.flatnonzero(weights > 0)))


@dataclass(frozen=True, eq=False)
class ListPricer:
    """Prices groups that are given in a list."""

    columns: Columns

    def __call__(self, duals: Floats, sets: OddSets, weights: Floats) -> Generator[None, None, PricingResult]:
        """Find for each record the groups that lack most, and take from the duals what groups lack."""
        lack = -(self.columns.reduced_costs(duals) + sets.weigh(self.columns, weights, len(duals)))
        cut = np.zeros_like(duals)
        share = np.maximum(lack, 0.0) / self.columns.sizes
        np.maximum.at(cut, self.columns.members, np.repeat(share, self.columns.sizes))
        lacking = np.flatnonzero(lack > TOLERANCE * float(np.abs(duals).mean()))
        groups = self.columns.take(lacking)
        best = groups.best_per_record(-lack[lacking], len(duals), PRICED_GROUPS_PER_RECORD)
        yield from ()  # a list is short
        return PricingResult(groups.take(best), duals - cut)
