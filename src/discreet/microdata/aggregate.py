"""What a group of records is replaced by: the mean, the median or the mode of each attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.attributes import Attribute, Values


def aggregate(attribute: Attribute, labels: NDArray[np.int64]) -> Values:
    """The released value of each record: its group's aggregate over those of the group that have a value.

    A group in which nobody has a value gets the aggregate of the whole column if missing values are imputed, and
    stays missing otherwise.
    """
    import numpy as np

    groups = int(labels.max()) + 1
    have = ~np.isnan(attribute.values)
    by_group = _by_group(attribute, attribute.values[have], labels[have], groups)
    if attribute.missing == "impute" and np.isnan(by_group).any():
        seen = attribute.values[have]
        overall = _by_group(attribute, seen, np.zeros(len(seen), np.int64), 1)[0]
        by_group = np.where(np.isnan(by_group), overall, by_group)
    released: Values = by_group[labels]
    return released


def _by_group(attribute: Attribute, values: Values, labels: NDArray[np.int64], groups: int) -> Values:
    """One value per group; NaN for a group without values."""
    import numpy as np

    order = np.lexsort((values, labels))
    values, labels = values[order], labels[order]
    starts = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]]) if len(labels) else np.zeros(0, np.int64)
    result = np.full(groups, np.nan)
    if len(starts):
        sizes = np.diff(np.r_[starts, len(labels)])
        operator = {"mean": _mean, "median": _median, "mode": _mode}[attribute.aggregate]
        result[labels[starts]] = operator(values, starts, sizes, attribute.categories is not None)
    return result


def _mean(values: Values, starts: NDArray[np.int64], sizes: NDArray[np.int64], _coded: bool) -> Values:
    import numpy as np

    lowest, highest = values[starts], values[starts + sizes - 1]
    # From the group's own lowest value, so that equal values stay exactly what they were and digits are not lost.
    means = lowest + np.add.reduceat(values - np.repeat(lowest, sizes), starts) / sizes
    bounded: Values = np.minimum(means, highest)
    return bounded


def _median(values: Values, starts: NDArray[np.int64], sizes: NDArray[np.int64], coded: bool) -> Values:
    lower: Values = values[starts + (sizes - 1) // 2]
    if coded:
        return lower  # a category: there is nothing between two of them
    upper = values[starts + sizes // 2]
    median: Values = lower + (upper - lower) / 2
    return median


def _mode(values: Values, starts: NDArray[np.int64], sizes: NDArray[np.int64], _coded: bool) -> Values:
    """The most frequent value; of equally frequent ones the one more frequent in the whole column, then the lowest."""
    import numpy as np

    group = np.repeat(np.arange(len(starts)), sizes)
    first = np.flatnonzero(np.r_[True, (values[1:] != values[:-1]) | (group[1:] != group[:-1])])
    runs = np.diff(np.r_[first, len(values)])
    distinct, inverse = np.unique(values[first], return_inverse=True)
    overall = np.bincount(inverse, weights=runs, minlength=len(distinct))[inverse]
    best = np.lexsort((values[first], -overall, -runs, group[first]))
    winners = best[np.r_[True, group[first][best][1:] != group[first][best][:-1]]]
    return values[first][winners]
