"""How near others are: all records within a distance, and sums of the least squared distances of each record."""

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import kernel
from discreet.kernels.kdtree import Tree, grow
from discreet.kernels.neighbours import at_least, measure, nearest_k


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


@kernel
def within(tree: Tree, query: Floats, radius: float, records: Ints, distances: Floats) -> int:
    """List the points at a squared distance below the radius, in no particular order; give their number."""
    leaves = tree.blocks.shape[0]
    tree.stack[0] = 0
    top, count = 1, 0
    while top > 0:
        top -= 1
        node = tree.stack[top]
        if not at_least(tree, node, query) < radius:
            continue
        if node < leaves - 1:
            tree.stack[top], tree.stack[top + 1] = 2 * node + 1, 2 * node + 2
            top += 2
            continue
        measure(tree, node, query)
        for slot in range(tree.alive[node]):
            if tree.work[slot] < radius:
                records[count] = tree.records[node - leaves + 1, slot]
                distances[count] = tree.work[slot]
                count += 1
    return count
