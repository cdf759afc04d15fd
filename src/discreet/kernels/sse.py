"""Sums of squares: within groups (SSE) and in all (SST).

Two passes, first the means and then the squares about them; the means are taken relative to each group's first record
and the squares are added with Kahan's compensation, so neither a large offset nor many records cost accuracy.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def within_sse(points: Floats, labels: Ints) -> float:
    """Sum the squared distances of the points to the centroids of their groups (SSE); labels are 0 to g−1."""
    n, d = points.shape
    groups = labels.max() + 1
    first = np.full(groups, -1)
    sizes = np.zeros(groups, np.int64)
    shift = np.zeros((groups, d))
    for i in range(n):
        group = labels[i]
        if first[group] < 0:
            first[group] = i
        sizes[group] += 1
        for j in range(d):
            shift[group, j] += points[i, j] - points[first[group], j]
    for group in range(groups):
        for j in range(d):
            shift[group, j] /= max(sizes[group], 1)
    total, lost = 0.0, 0.0
    for i in range(n):
        group = labels[i]
        square = 0.0
        for j in range(d):
            difference = points[i, j] - points[first[group], j] - shift[group, j]
            square += difference * difference
        term = square - lost
        added = total + term
        lost = (added - total) - term
        total = added
    return total


def total_sse(points: Floats) -> float:
    """Sum the squared distances of the points to their mean (SST)."""
    return within_sse(points, np.zeros(points.shape[0], np.int64))
