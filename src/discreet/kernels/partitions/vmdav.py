"""V-MDAV: groups round the records farthest from the centroid, each extended while that gains."""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress, stable_order
from discreet.kernels.chunks import drive
from discreet.kernels.jit import helper, kernel
from discreet.kernels.partitions.groups import gather, join_nearest_member
from discreet.kernels.space.kdtree import Tree, grow, nearest, nearest_k, remove


class State(NamedTuple):
    """What a run keeps between chunks."""

    tree: Tree
    order: Ints  # all records, farthest from the centroid first
    counts: Ints  # groups formed; records at the head of the order known to be assigned
    labels: Ints
    members: Ints  # scratch: the records of the group being formed,
    closest: Ints  # for each the nearest record that remains,
    gaps: Floats  # and its squared distance
    found: Ints
    distances: Floats
    pair: Ints
    pair_distances: Floats


def vmdav(points: Floats, k: int, gamma: float, progress: Progress) -> Ints:
    """Partition by V-MDAV.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered, n at least k.
    k : int
        Least size of the groups.
    gamma : float
        Gain factor: a record joins a group if its squared distance to it is below gamma times the least squared
        distance to any other free record.
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
        order=_outside_in(points),
        counts=np.zeros(2, np.int64),
        labels=np.full(n, -1),
        members=np.zeros(2 * k, np.int64),
        closest=np.zeros(2 * k, np.int64),
        gaps=np.zeros(2 * k),
        found=np.zeros(k - 1, np.int64),
        distances=np.zeros(k - 1),
        pair=np.zeros(2, np.int64),
        pair_distances=np.zeros(2),
    )

    def advance(groups: int) -> float:
        left = _form(points, k, gamma, groups, state)
        return (n - left) / n if left >= k else 1.0

    drive(advance, progress)
    join_nearest_member(points, state.labels)
    return state.labels


@kernel
def _outside_in(points: Floats) -> Ints:
    """Order the records by descending distance from the centroid, ties by lowest record."""
    n, d = points.shape
    centroid = np.zeros(d)
    for i in range(n):
        for j in range(d):
            centroid[j] += points[i, j]
    keys = np.zeros(n)
    for i in range(n):
        for j in range(d):
            difference = points[i, j] - centroid[j] / n
            keys[i] -= difference * difference
    return stable_order(keys)


@kernel
def _form(points: Floats, k: int, gamma: float, groups: int, state: State) -> int:
    """Form so many groups while at least k records remain; tell how many remain."""
    tree, labels, counts = state.tree, state.labels, state.counts
    for _ in range(groups):
        if tree.alive[0] < k:
            break
        while labels[state.order[counts[1]]] >= 0:
            counts[1] += 1
        centre = state.order[counts[1]]
        group = counts[0]
        counts[0] += 1
        labels[centre] = group
        remove(tree, centre)
        gather(points, tree, centre, group, labels, state.found, state.distances)
        if gamma > 0.0:
            _extend(points, centre, k, gamma, state)
    return int(tree.alive[0])


@helper
def _extend(points: Floats, centre: int, k: int, gamma: float, state: State) -> None:
    """Add up to k−1 records, each while it is nearer to the group than gamma times to any other free record."""
    tree, labels = state.tree, state.labels
    members, closest, gaps = state.members, state.closest, state.gaps
    members[0] = centre
    for i in range(k - 1):
        members[i + 1] = state.found[i]
    for i in range(k):
        closest[i], gaps[i] = nearest(tree, points[members[i]])
    for size in range(k, 2 * k - 1):
        if tree.alive[0] == 0:
            return
        into = 0
        for i in range(1, size):
            if gaps[i] < gaps[into] or (gaps[i] == gaps[into] and closest[i] < closest[into]):
                into = i
        joining = closest[into]
        rival, gap = _other(points, joining, state)
        if not gaps[into] < gamma * gap:
            return
        members[size], closest[size], gaps[size] = joining, rival, gap
        labels[joining] = labels[centre]
        remove(tree, joining)
        for i in range(size):
            if closest[i] == joining:
                closest[i], gaps[i] = nearest(tree, points[members[i]])


@helper
def _other(points: Floats, record: int, state: State) -> tuple[int, float]:
    """Find the free record nearest to a free record, itself left out; (-1, inf) if there is no other."""
    pair, distances = state.pair, state.pair_distances
    if nearest_k(state.tree, points[record], pair, distances) < 2:
        return -1, np.inf
    other = 1 if pair[0] == record else 0
    return pair[other], distances[other]
