"""Linkage of a release made group of attributes by group of attributes, from the distances within each group.

A squared distance is the sum of its parts in the groups, and within a group the release has no more places than
clusters. So the part of each group is a small table, searching records × clusters, that can be kept, and a release of
several groups is linked by adding up: no coordinate is looked at again.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import helper, kernel
from discreet.kernels.space.kdtree import Tree, grow, nearest_k

Rows = NDArray[np.int32]

# As in the linkage of points: squared distances tie when they differ by no more than this.
RELATIVE = 1e-9
ABSOLUTE = 1e-18


def nearest_records(points: Floats, queries: Ints, width: int) -> Ints:
    """The records nearest to some of them, each of which is among its own; a row for each query.

    Parameters
    ----------
    points : array of shape (n, D)
        The records; D at least 1.
    queries : array of int
        Whose neighbours are looked for.
    width : int
        How many, at most n.
    """
    found = np.empty((queries.size, width), np.int64)
    tree = grow(points)
    sweep(lambda first, end: _nearest(points, tree, queries[first:end], found[first:end]), queries.size, _silent)
    return found


@kernel
def _nearest(points: Floats, tree: Tree, queries: Ints, found: Ints) -> None:
    distances = np.empty(found.shape[1])
    for at in range(queries.size):
        nearest_k(tree, points[queries[at]], found[at], distances)


def _silent(_fraction: float) -> None:
    """Tell nobody."""


@kernel
def fill_distances(points: Floats, columns: Ints, places: Floats, table: Floats) -> None:
    """Squared distances of records to the places of all clusters, in the columns of a group.

    Parameters
    ----------
    points : array of shape (m, D)
        The original records that search.
    columns : array of int
        The columns of the group.
    places : array of shape (columns, clusters)
        Where the clusters are released; one row per column of the group.
    table : array of shape (m, at least clusters)
        Filled with the distances.
    """
    clusters = places.shape[1]
    for i in range(points.shape[0]):
        row = table[i]
        for c in range(clusters):
            row[c] = 0.0
        for a in range(columns.size):
            x, place = points[i, columns[a]], places[a]
            # One column after the other, all clusters at once: compiled to wide instructions.
            for c in range(clusters):
                difference = x - place[c]
                row[c] += difference * difference


@kernel
def chances(
    tables: Floats, slots: Ints, rows: Rows, members: Ints, starts: Ints, near: Ints, queries: Ints, nearest: int
) -> Floats:
    """The chance of each query that a random order of ties puts its own released record among the nearest.

    Parameters
    ----------
    tables : array of shape (slots, m, clusters)
        Tables of the distances of the queries.
    slots : array of int
        The table of each group of attributes; the first should be the one that tells records apart best.
    rows : array of shape (groups, n)
        The cluster of each record in each group.
    members, starts : arrays of int
        The records of each cluster of the first group, one cluster after the other, and where each begins.
    near : array of shape (m, any)
        For each query different records that may well be released nearer to it than its own.
    queries : array of m int
        The records that search.
    nearest : int
        How many of the nearest count.
    """
    found = np.zeros(queries.size)
    for at in range(queries.size):
        own = _own(tables, slots, rows, at, queries[at])
        slack = RELATIVE * own + ABSOLUTE
        if _spoilt(tables, slots, rows, near[at], at, own - slack, nearest):
            continue
        nearer, tied = _counted(tables, slots, rows, members, starts, at, own - slack, own + slack, nearest)
        if nearer < nearest:
            found[at] = min((nearest - nearer) / tied, 1.0)
    return found


@helper
def _own(tables: Floats, slots: Ints, rows: Rows, at: int, record: int) -> float:
    """The distance of a query to its own released record."""
    own = 0.0
    for g in range(slots.size):
        own += tables[slots[g], at, rows[g, record]]
    return own


@helper
def _spoilt(tables: Floats, slots: Ints, rows: Rows, near: Ints, at: int, low: float, nearest: int) -> bool:
    """Whether so many of the records near a query are released nearer to it than its own that it cannot be found.

    Its own is never among these: it is as near as itself.
    """
    nearer = 0
    for t in range(near.size):
        j = near[t]
        total = 0.0
        for g in range(slots.size):
            total += tables[slots[g], at, rows[g, j]]
            if total >= low:
                break
        else:
            nearer += 1
            if nearer >= nearest:
                return True
    return False


@helper
def _counted(
    tables: Floats,
    slots: Ints,
    rows: Rows,
    members: Ints,
    starts: Ints,
    at: int,
    low: float,
    high: float,
    nearest: int,
) -> tuple[int, int]:
    """Count the records released nearer than low and those from low to high, until `nearest` are nearer.

    A cluster of the first group that is beyond reach is passed over with all its records.
    """
    nearer, tied = 0, 0
    first = tables[slots[0], at]
    for c in range(starts.size - 1):
        base = first[c]
        if base > high:
            continue
        for place in range(starts[c], starts[c + 1]):
            j = members[place]
            total = base
            for g in range(1, slots.size):
                total += tables[slots[g], at, rows[g, j]]
                if total > high:
                    break
            else:
                if total < low:
                    nearer += 1
                    if nearer >= nearest:
                        return nearer, max(tied, 1)
                else:
                    tied += 1
    return nearer, max(tied, 1)
