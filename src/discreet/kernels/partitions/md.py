"""MD: groups of k round the two most distant records, again and again.

Looking at all pairs in each round would take O(n³). Removals only lower a record's distance to its farthest partner, so
what was once found stays an upper bound: a heap holds the records by their bounds, and only the one on top is looked
at. If its partner is still there, the two are the most distant pair; if not, it is given its present partner and sinks.

A heap of records with the largest key on top, ties by lowest record.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import drive
from discreet.kernels.jit import helper, kernel
from discreet.kernels.partitions.groups import gather, join_nearest_member
from discreet.kernels.space.kdtree import Tree, farthest, grow, nearest, remove


@kernel
def heapify(heap: Ints, keys: Floats) -> None:
    """Order a list of records as a heap by their keys."""
    for at in range(heap.size // 2 - 1, -1, -1):
        sink(heap, heap.size, keys, at)


@helper
def sink(heap: Ints, size: int, keys: Floats, at: int) -> None:
    """Restore the order below a place whose key has become smaller."""
    record = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _above(heap[child + 1], heap[child], keys):
            child += 1
        if not _above(heap[child], record, keys):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = record


@helper
def _above(first: int, second: int, keys: Floats) -> bool:
    return keys[first] > keys[second] or (keys[first] == keys[second] and first < second)


class State(NamedTuple):
    """What a run keeps between chunks."""

    tree: Tree
    heap: Ints
    bounds: Floats  # record: no remaining record is farther from it (squared)
    partner: Ints  # record: the one that is so far, or -1 if none was sought yet
    counts: Ints  # groups formed; size of the heap
    labels: Ints
    found: Ints  # scratch: a group's other records, and how near they are
    distances: Floats


def md(points: Floats, k: int, progress: Progress) -> Ints:
    """Partition by the maximum distance method.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered, n at least k.
    k : int
        Size of the groups.
    progress : callable
        Told the fraction done.

    Returns
    -------
    array of n ints
        The group of each record, in the order in which the groups were formed.
    """
    n = points.shape[0]
    state = State(
        tree=grow(points),
        heap=np.arange(n),
        bounds=_reach(points),
        partner=np.full(n, -1),
        counts=np.array([0, n]),
        labels=np.full(n, -1),
        found=np.zeros(k - 1, np.int64),
        distances=np.zeros(k - 1),
    )
    heapify(state.heap, state.bounds)

    def advance(looks: int) -> float:
        left = _pair_off(points, k, looks, state)
        return (n - left) / n if left >= 2 * k else 1.0

    drive(advance, progress)
    labels = state.labels
    if np.count_nonzero(labels < 0) >= k:
        labels[labels < 0] = state.counts[0]
    else:
        join_nearest_member(points, labels)
    return labels


@kernel
def _reach(points: Floats) -> Floats:
    """Bound each record's squared distance to any other by way of the centroid: partners need not be sought at once."""
    n, d = points.shape
    centroid = np.zeros(d)
    for i in range(n):
        for j in range(d):
            centroid[j] += points[i, j]
    radius = np.zeros(n)
    for i in range(n):
        for j in range(d):
            radius[i] += (points[i, j] - centroid[j] / n) ** 2
        radius[i] = np.sqrt(radius[i])
    # The slack covers the rounding of the distances in the triangle inequality several times over.
    slack = 1.0 + 4.0 * (d + 8) * np.finfo(np.float64).eps
    bounds: Floats = ((radius + radius.max()) * slack) ** 2
    return bounds


@kernel
def _pair_off(points: Floats, k: int, looks: int, state: State) -> int:
    """Look at the top of the heap so many times while at least 2k records remain; tell how many remain."""
    tree, heap, partner, counts = state.tree, state.heap, state.partner, state.counts
    for _ in range(looks):
        if tree.alive[0] < 2 * k:
            break
        r = heap[0]
        s = partner[r]
        if tree.place[r] < 0:
            counts[1] -= 1
            heap[0] = heap[counts[1]]
        elif s >= 0 and tree.place[s] >= 0:
            # Both leave the tree before a group is formed: with ties s may be among the nearest of r as well.
            remove(tree, r)
            if s == r:  # all remaining records coincide
                s = nearest(tree, points[r])[0]
            remove(tree, s)
            _form(points, r, state)
            _form(points, s, state)
            continue
        else:
            partner[r], state.bounds[r] = farthest(tree, points[r])
        sink(heap, counts[1], state.bounds, 0)
    return int(tree.alive[0])


@helper
def _form(points: Floats, centre: int, state: State) -> None:
    """Make a group of a record, already out of the tree, and the k−1 nearest to it."""
    group = state.counts[0]
    state.counts[0] += 1
    state.labels[centre] = group
    gather(points, state.tree, centre, group, state.labels, state.found, state.distances)
