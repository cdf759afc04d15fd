"""MDAV: groups of k round the record farthest from the centroid and round the record farthest from that one.

The remaining record farthest from a centre that moves a little each time, as MDAV's centroid does.

Seen from the centre of the data all boxes of a tree at the rim are about equally far, so a tree prunes badly there. But
if the centre has moved by δ since distances to it were last taken, no distance has changed by more than δ. So keep the
outer records sorted by their distance from where the centre was (the anchor), look at them from the outside in, and
stop where distance + δ falls below the best found; when that has become long-winded, take the distances anew.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress, stable_order
from discreet.kernels.chunks import drive
from discreet.kernels.jit import helper, kernel
from discreet.kernels.partitions.groups import gather, join_nearest_centroid
from discreet.kernels.space.kdtree import Tree, farthest, grow, measure, part_at, remove

# Share of the remaining records kept sorted; more makes a new anchor dearer, fewer makes it needed sooner.
SHARE = 16


class Rim(NamedTuple):
    """The outer records, as arrays."""

    records: Ints  # farthest from the anchor first
    distances: Floats  # their distances from the anchor
    anchor: Floats
    edge: Floats  # no record outside the list is farther from the anchor than this
    counts: Ints  # records in the list; how many at its head are gone; looked at since the anchor was set


def blank(n: int, d: int) -> Rim:
    """Make a rim that sets its anchor when first asked."""
    room = n // SHARE + 1
    return Rim(np.zeros(room, np.int64), np.zeros(room), np.full(d, np.nan), np.zeros(1), np.zeros(3, np.int64))


@helper
def outermost(points: Floats, tree: Tree, rim: Rim, centre: Floats) -> int:
    """Find the remaining record farthest from the centre, ties by lowest record."""
    if rim.counts[2] * 2 <= tree.alive[0]:
        found = _search(points, tree, rim, centre)
        if found >= 0:
            return found
    _set_anchor(tree, rim, centre)
    found = _search(points, tree, rim, centre)
    # Where more records tie than the list holds, even a new anchor does not decide.
    return found if found >= 0 else farthest(tree, centre)[0]


@helper
def _search(points: Floats, tree: Tree, rim: Rim, centre: Floats) -> int:
    """Look from the outside in until no other record can be as far; -1 if the list ends before that is certain."""
    d = centre.size
    moved = 0.0
    for j in range(d):
        moved += (centre[j] - rim.anchor[j]) ** 2
    moved = np.sqrt(moved)
    # Covers the rounding of the distances in the triangle inequality, about d/2 units each, several times over.
    slack = 1.0 + 4.0 * (d + 8) * np.finfo(np.float64).eps
    found, most = -1, -np.inf
    size = rim.counts[0]
    while rim.counts[1] < size and tree.place[rim.records[rim.counts[1]]] < 0:
        rim.counts[1] += 1
    for i in range(rim.counts[1], size):
        if ((rim.distances[i] + moved) * slack) ** 2 < most:
            return found
        rim.counts[2] += 1
        record = rim.records[i]
        if tree.place[record] < 0:
            continue
        distance = 0.0
        for j in range(d):
            difference = points[record, j] - centre[j]
            distance += difference * difference
        if distance > most or (distance == most and record < found):
            found, most = record, distance
    return found if ((rim.edge[0] + moved) * slack) ** 2 < most else -1


@helper
def _set_anchor(tree: Tree, rim: Rim, centre: Floats) -> None:
    """Take all distances anew and sort the outer records."""
    leaves = tree.blocks.shape[0]
    left = tree.alive[0]
    distances, keys = np.empty(left), np.empty(left)
    records, order = np.empty(left, np.int64), np.empty(left, np.int64)
    count = 0
    for leaf in range(leaves):
        node = leaves - 1 + leaf
        measure(tree, node, centre)
        for slot in range(tree.alive[node]):
            distances[count], records[count] = np.sqrt(tree.work[slot]), tree.records[leaf, slot]
            # By descending distance, so that the outer records come first and the next one is the edge.
            keys[count], order[count] = -distances[count], count
            count += 1
    size = left // SHARE
    part_at(keys, order, 0, size, left)
    edge = distances[order[size]]
    outer = np.empty(size)
    for i in range(size):
        outer[i] = keys[order[i]]
    sorted_outer = stable_order(outer)
    for i in range(size):
        place = order[sorted_outer[i]]
        rim.records[i], rim.distances[i] = records[place], distances[place]
    for j in range(centre.size):
        rim.anchor[j] = centre[j]
    rim.edge[0] = edge
    rim.counts[0], rim.counts[1], rim.counts[2] = size, 0, 0


class State(NamedTuple):
    """What a run keeps between chunks."""

    tree: Tree
    rim: Rim
    total: Floats  # attribute: sum over the remaining records
    counts: Ints  # groups formed; records that remained when the total was last computed anew
    labels: Ints
    found: Ints  # scratch: a group's other records, and how near they are
    distances: Floats


def mdav(points: Floats, k: int, chapter: bool, progress: Progress) -> Ints:
    """Partition by MDAV-generic, or with the ending of the 2008 chapter.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered, n at least k.
    k : int
        Size of the groups.
    chapter : bool
        Form pairs of groups down to 2k records (not 3k); fewer than k left over join their nearest groups.
    progress : callable
        Told the fraction done.

    Returns
    -------
    array of n ints
        The group of each record, in the order in which the groups were formed.
    """
    n, d = points.shape
    state = State(
        tree=grow(points),
        rim=blank(n, d),
        total=np.zeros(d),
        counts=np.array([0, 2 * n]),  # more than can remain, so that the first round computes the total
        labels=np.full(n, -1),
        found=np.zeros(k - 1, np.int64),
        distances=np.zeros(k - 1),
    )
    least = 2 * k if chapter else 3 * k

    def advance(rounds: int) -> float:
        left = _advance(points, k, least, rounds, state)
        return (n - left) / n if left >= least else 1.0

    drive(advance, progress)
    return state.labels


@kernel
def _advance(points: Floats, k: int, least: int, rounds: int, state: State) -> int:
    """Form two groups a round while at least so many records remain, then end; tell how many remained."""
    tree = state.tree
    for _ in range(rounds):
        if tree.alive[0] < least:
            break
        r = outermost(points, tree, state.rim, _centroid(state))
        remove(tree, r)
        # s leaves the tree before r's group is formed: with ties it may be among the nearest of r as well.
        s = farthest(tree, points[r])[0]
        remove(tree, s)
        _form(points, r, state)
        _form(points, s, state)
    left = int(tree.alive[0])
    if left < least:
        _end(points, k, state)
    return left


@helper
def _end(points: Floats, k: int, state: State) -> None:
    """Group what remains: two groups from 2k records on, one from k on, below that no group of their own."""
    tree, labels, counts = state.tree, state.labels, state.counts
    if tree.alive[0] >= 2 * k:
        r = outermost(points, tree, state.rim, _centroid(state))
        remove(tree, r)
        _form(points, r, state)
    if tree.alive[0] >= k:
        for i in range(labels.size):
            if labels[i] < 0:
                labels[i] = counts[0]
        counts[0] += 1
    elif tree.alive[0] > 0:
        join_nearest_centroid(points, labels, counts[0])


@helper
def _form(points: Floats, centre: int, state: State) -> None:
    """Make a group of a record, already out of the tree, and the k−1 nearest to it."""
    group = state.counts[0]
    state.counts[0] += 1
    state.labels[centre] = group
    count = gather(points, state.tree, centre, group, state.labels, state.found, state.distances)
    for j in range(state.total.size):
        state.total[j] -= points[centre, j]
        for i in range(count):
            state.total[j] -= points[state.found[i], j]


@helper
def _centroid(state: State) -> Floats:
    """Mean of the remaining records.

    The running total loses a little accuracy with each subtraction, so it is computed anew whenever half of the
    records have gone: n + n/2 + n/4 + … additions in all.
    """
    tree, total = state.tree, state.total
    left = tree.alive[0]
    if 2 * left <= state.counts[1]:
        state.counts[1] = left
        total[:] = 0.0
        leaves, d, _ = tree.blocks.shape
        for leaf in range(leaves):
            for j in range(d):
                for slot in range(tree.alive[leaves - 1 + leaf]):
                    total[j] += tree.blocks[leaf, j, slot]
    centroid: Floats = total / left
    return centroid
