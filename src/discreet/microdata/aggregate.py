"""What a group of records is replaced by: the mean, the median or the mode of each attribute.

With sampling weights each is weighted, so that where means are released a group's weighted total stays what it was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.data.ancestry import Ancestry
from discreet.data.attributes import Attribute, Values
from discreet.kernels.arrays import order_within

# The values of groups up to this size are sorted one by one into place.
SMALL_GROUP = 100


def aggregate(attribute: Attribute, labels: NDArray[np.int64]) -> Values:
    """The released value of each record: the aggregate of its group; missing where the group has no value."""
    have = ~np.isnan(attribute.values)
    by_group = _by_group(attribute, have, labels, int(labels.max()) + 1)
    released: Values = by_group[labels]
    return released


def fill(attribute: Attribute) -> Values:
    """Values with each missing one replaced by the aggregate of the column.

    Filling from the column and not from the group keeps every group's aggregate one over at least k records: with the
    values of the group alone, that of the only one who has a value would be released as it is.
    """
    missing = np.isnan(attribute.values)
    if not missing.any():
        return attribute.values
    whole = _by_group(attribute, ~missing, np.zeros(len(missing), np.int64), 1)[0]
    filled: Values = np.where(missing, whole, attribute.values)
    return filled


def _by_group(attribute: Attribute, have: NDArray[np.bool_], labels: NDArray[np.int64], groups: int) -> Values:
    """One value per group, of the records that have one; NaN for a group without values."""
    values, labels = attribute.values[have], labels[have]
    plain = attribute.sampling is None and not attribute.ancestry
    if attribute.aggregate == "mode" and attribute.categories is not None and plain and len(values):
        return _mode_of_codes(values.astype(np.int64), labels, groups)
    small = len(labels) > 0 and np.bincount(labels).max() <= SMALL_GROUP
    order = order_within(labels, values, groups) if small else np.lexsort((values, labels))
    values, labels = values[order], labels[order]
    weights = None if attribute.sampling is None else attribute.sampling[have][order]
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]]) if len(labels) else np.zeros(0, np.int64)
    result = np.full(groups, np.nan)
    if len(starts):
        sizes = np.diff(np.r_[starts, len(labels)])
        if attribute.aggregate == "mode":
            result[labels[starts]] = _mode(values, starts, sizes, attribute.ancestry, weights)
        else:
            operator = {"mean": _mean, "median": _median}[attribute.aggregate]
            coded = attribute.categories is not None or attribute.integral
            result[labels[starts]] = operator(values, starts, sizes, coded, weights)
    return result


def _mean(
    values: Values, starts: NDArray[np.int64], sizes: NDArray[np.int64], _coded: bool, weights: Values | None
) -> Values:
    lowest, highest = values[starts], values[starts + sizes - 1]
    # From the group's own lowest value, so that equal values stay exactly what they were and digits are not lost.
    above = values - np.repeat(lowest, sizes)
    if weights is None:
        means = lowest + np.add.reduceat(above, starts) / sizes
    else:
        means = lowest + np.add.reduceat(weights * above, starts) / np.add.reduceat(weights, starts)
    bounded: Values = np.minimum(means, highest)
    return bounded


def _median(
    values: Values, starts: NDArray[np.int64], sizes: NDArray[np.int64], coded: bool, weights: Values | None
) -> Values:
    if weights is None:
        low, high = starts + (sizes - 1) // 2, starts + sizes // 2
    else:
        low, high = _halve(starts, sizes, weights)
    lower: Values = values[low]
    if coded:
        return lower  # a category or a whole number: there is nothing between two of them
    upper = values[high]
    median: Values = lower + (upper - lower) / 2
    return median


def _halve(
    starts: NDArray[np.int64], sizes: NDArray[np.int64], weights: Values
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In each group the first places up to which at least half, and more than half, of the weight is."""
    low, high = np.empty_like(starts), np.empty_like(starts)
    for size in np.unique(sizes):
        # Each group's own running sum, so that the weights of others add no rounding.
        same = np.flatnonzero(sizes == size)
        running = np.cumsum(weights[starts[same][:, None] + np.arange(size)], axis=1)
        half = running[:, -1:] / 2
        low[same] = starts[same] + (running < half).sum(axis=1)
        high[same] = starts[same] + (running <= half).sum(axis=1)
    return low, high


def _mode(
    values: Values,
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ancestry: Ancestry,
    weights: Values | None,
) -> Values:
    """The most frequent value; of equally frequent ones the one more frequent in the whole column, then the lowest.

    Of codes of a hierarchy the one nearest to the others of its group comes first among equally frequent ones.
    """
    group = np.repeat(np.arange(len(starts)), sizes)
    first = np.flatnonzero(np.r_[True, (values[1:] != values[:-1]) | (group[1:] != group[:-1])])
    runs = np.diff(np.r_[first, len(values)]) if weights is None else np.add.reduceat(weights, first)
    distinct, inverse = np.unique(values[first], return_inverse=True)
    overall = np.bincount(inverse, weights=runs, minlength=len(distinct))[inverse]
    near = np.zeros(len(first))
    for level in ancestry:
        kin = group * (int(level.above.max()) + 1) + level.above[values.astype(np.int64)]
        _, family, members = np.unique(kin, return_inverse=True, return_counts=True)
        near += level.share * members[family.ravel()][first]
    best = np.lexsort((values[first], -overall, -near, -runs, group[first]))
    winners = best[np.r_[True, group[first][best][1:] != group[first][best][:-1]]]
    return values[first][winners]


def _mode_of_codes(codes: NDArray[np.int64], labels: NDArray[np.int64], groups: int) -> Values:
    """The same of codes: group, frequency and code are one number each, which are sorted many times quicker."""
    levels = int(codes.max()) + 1
    pairs, runs = np.unique(labels * levels + codes, return_counts=True)
    # The codes by their rank among equally frequent ones.
    ranked = np.lexsort((np.arange(levels), -np.bincount(codes, minlength=levels)))
    rank = np.empty(levels, np.int64)
    rank[ranked] = np.arange(levels)
    most = int(runs.max()) + 1
    best = np.sort((pairs // levels * most + most - runs) * levels + rank[pairs % levels])
    home = best // (levels * most)
    leads = np.flatnonzero(np.r_[True, home[1:] != home[:-1]])
    result = np.full(groups, np.nan)
    result[home[leads]] = ranked[best[leads] % levels]
    return result
