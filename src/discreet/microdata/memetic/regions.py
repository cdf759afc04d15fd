"""Regions of a partition, recombined from all groups that a search has formed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.kernels.memetic.pool import Pool, inside, region
from discreet.kernels.partitions.groups import group_costs
from discreet.microdata.method import Labels, Points, renumber
from discreet.microdata.set_partitioning.cover import best_cover

# Most records and known groups of a region: their set partitioning takes some 10 to 100 ms.
REGION_RECORDS = 200
MOST_KNOWN_GROUPS = 1_000
# A region that has more of them is drawn so much smaller, until it has not.
SHRINKING = 0.7
# Work of the solver on one region (see set_partitioning).
SOLVER_WORK = 10
# A region that costs less has nothing left to gain, and its costs hardly have digits.
NEGLIGIBLE_COST = 1e-290


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
