"""What the release of a group of attributes says of its records: means of clusters, loss, values pinned down."""

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel

Rows = NDArray[np.int32]
Flags = NDArray[np.bool_]


@kernel
def cluster_means(values: Floats, columns: Ints, rows: Rows, clusters: int) -> Floats:
    """The mean of each cluster in some columns that have no gaps.

    It is computed from the cluster's lowest value and never above its highest, so that equal values stay exactly what
    they were.

    Parameters
    ----------
    values : array of shape (n, D)
        Values of the records.
    columns : array of int
        The columns to look at.
    rows : array of n int32
        The cluster of each record.
    clusters : int
        How many there are; none is empty.
    """
    n, m = rows.size, columns.size
    lowest, highest = np.full((clusters, m), np.inf), np.full((clusters, m), -np.inf)
    for i in range(n):
        for a in range(m):
            value = values[i, columns[a]]
            lowest[rows[i], a] = min(lowest[rows[i], a], value)
            highest[rows[i], a] = max(highest[rows[i], a], value)
    sums, sizes = np.zeros((clusters, m)), np.zeros(clusters)
    for i in range(n):
        sizes[rows[i]] += 1.0
        for a in range(m):
            sums[rows[i], a] += values[i, columns[a]] - lowest[rows[i], a]
    for c in range(clusters):
        for a in range(m):
            sums[c, a] = min(lowest[c, a] + sums[c, a] / sizes[c], highest[c, a])
    return sums


@kernel
def lost(points: Floats, columns: Ints, weights: Floats, gaps: Flags, places: Floats, rows: Rows) -> float:
    """Weighted sum of squared distances between records and the places of their clusters.

    Parameters
    ----------
    points : array of shape (n, D)
        The records.
    columns, weights : arrays
        The columns of the group, and how much each counts.
    gaps : array of shape (n, D), or of no rows where there are none
        Where the original has no value, which takes no part.
    places : array of shape (clusters, columns)
        Where the clusters are.
    rows : array of n int32
        The cluster of each record.
    """
    total = 0.0
    for i in range(rows.size):
        for a in range(columns.size):
            if gaps.shape[0] and gaps[i, columns[a]]:
                continue
            difference = points[i, columns[a]] - places[rows[i], a]
            total += weights[a] * difference * difference
    return total


@kernel
def pinned(values: Floats, columns: Ints, written: Floats, rows: Rows, share: float, slack: float) -> int:
    """How many original values lie within a share of themselves from the released ones; a gap does not.

    Parameters
    ----------
    values : array of shape (n, D)
        Original values.
    columns : array of int
        The columns of the group.
    written : array of shape (clusters, columns)
        The values that are released for each cluster.
    rows : array of n int32
        The cluster of each record.
    share : float
        Half-width of the interval, as a share of the original value.
    slack : float
        What rounding may take from a value at the end of its interval, as a share of the larger of both.
    """
    count = 0
    for i in range(rows.size):
        for a in range(columns.size):
            x, y = values[i, columns[a]], written[rows[i], a]
            # False where one of them is missing.
            count += abs(y - x) <= share * abs(x) + slack * max(abs(x), abs(y))
    return count
