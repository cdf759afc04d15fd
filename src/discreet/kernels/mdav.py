"""MDAV: groups of k round the record farthest from the centroid and round the record farthest from that one."""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import drive
from discreet.kernels.groups import gather, join_nearest_centroid
from discreet.kernels.jit import kernel
from discreet.kernels.kdtree import Tree, grow, remove
from discreet.kernels.neighbours import farthest
from discreet.kernels.rim import Rim, blank, outermost


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
        left = _pair_off(points, least, rounds, state)
        return (n - left) / n if left >= least else 1.0

    drive(advance, progress)
    _end(points, k, state)
    return state.labels


@kernel
def _pair_off(points: Floats, least: int, rounds: int, state: State) -> int:
    """Form two groups a round while at least so many records remain; tell how many remain."""
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
    return int(tree.alive[0])


@kernel
def _end(points: Floats, k: int, state: State) -> None:
    """Settle what remains: two groups from 2k records on, one from k on, below that no group of their own."""
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


@kernel
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


@kernel
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
