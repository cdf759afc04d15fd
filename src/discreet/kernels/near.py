"""How near the nearest are: sums of the least squared distances of each record."""

import numpy as np

from discreet.kernels.arrays import Floats, Progress
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import kernel
from discreet.kernels.kdtree import Tree, grow
from discreet.kernels.neighbours import nearest_k


def near_sums(points: Floats, most: int, progress: Progress) -> Floats:
    """Sum the t least squared distances of each record to others, for t from 0 to `most` (fewer than n)."""
    tree = grow(points)
    sums = np.zeros((points.shape[0], most + 1))
    sweep(lambda first, end: _sum(points, tree, first, end, sums), points.shape[0], progress)
    return sums


@kernel
def _sum(points: Floats, tree: Tree, first: int, end: int, sums: Floats) -> None:
    most = sums.shape[1] - 1
    found, distances = np.zeros(most + 1, np.int64), np.zeros(most + 1)
    for record in range(first, end):
        nearest_k(tree, points[record], found, distances)
        # The record itself is among the nearest, at distance 0; if others like it took its place, they are at 0 too.
        for t in range(1, most + 1):
            sums[record, t] = sums[record, t - 1] + distances[t]
