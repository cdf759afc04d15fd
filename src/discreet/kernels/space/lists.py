"""Neighbour lists: for each record the nearest others.

Where many records coincide, the nearest of a record are all like itself and lead nowhere. So a list goes from place to
place: at most one record of each place, and of the record's own place one that comes after it, round the place's
records; all of them are reached that way, step by step.

How near the nearest are: sums of the least squared distances of each record.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import kernel
from discreet.kernels.space.kdtree import Tree, grow, nearest_k


def neighbour_lists(points: Floats, width: int) -> Ints:
    """The nearest records of each record, nearest first; shorter lists repeat their last entry.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered, n at least 2.
    width : int
        Length of the lists, from 1 to n−1.

    Returns
    -------
    array of shape (n, width)
        Records; a record is in its own list only where there is no other.
    """
    places, home = np.unique(points, axis=0, return_inverse=True)
    home = home.reshape(-1)
    members = np.argsort(home, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(home))])
    lists = np.empty((points.shape[0], width), np.int64)
    tree = grow(np.ascontiguousarray(places))
    sweep(
        lambda first, end: _list(places, home, members, starts, tree, first, end, lists),
        points.shape[0],
        lambda _fraction: None,
    )
    return lists


@kernel
def _list(
    places: Floats, home: Ints, members: Ints, starts: Ints, tree: Tree, first: int, end: int, lists: Ints
) -> None:
    width = lists.shape[1]
    found, distances = np.empty(width + 1, np.int64), np.empty(width + 1)
    for at in range(first, end):
        record = members[at]  # records of one place follow each other, so its neighbours are found once
        own = home[record]
        start, size = starts[own], starts[own + 1] - starts[own]
        if at == first or home[members[at - 1]] != own:
            count = nearest_k(tree, places[own], found, distances)
        filled = 0
        if size > 1:
            lists[record, 0] = members[start + (at - start + 1) % size]
            filled = 1
        for t in range(count):
            if filled < width and found[t] != own:
                other, crowd = starts[found[t]], starts[found[t] + 1] - starts[found[t]]
                lists[record, filled] = members[other + (at - start) % crowd]
                filled += 1
        for t in range(filled, width):
            lists[record, t] = lists[record, filled - 1] if filled else record


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
