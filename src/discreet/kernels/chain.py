"""Nearest point next: a tour that goes from each record to the nearest one not yet visited.

Records may be bound together in groups; a group that is entered is visited to its end before the tour goes on.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import drive
from discreet.kernels.jit import kernel
from discreet.kernels.kdtree import Tree, grow, remove
from discreet.kernels.neighbours import farthest, nearest


class Groups(NamedTuple):
    """Records by group: group g has members[starts[g] : starts[g + 1]]."""

    labels: Ints
    members: Ints
    starts: Ints


def chain(points: Floats, labels: Ints, progress: Progress) -> Ints:
    """Order the records nearest next from the record farthest from the centroid, the records of a group together.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered.
    labels : array of n ints
        The group of each record; all different where none are bound together.
    progress : callable
        Told the fraction done.

    Returns
    -------
    array of n ints
        The records in the order of the tour.
    """
    n = points.shape[0]
    starts = np.zeros(labels.max() + 2, np.int64)
    np.cumsum(np.bincount(labels), out=starts[1:])
    groups = Groups(labels, np.argsort(labels, kind="stable"), starts)
    tree = grow(points)
    order = np.full(n, -1)
    entry, _ = farthest(tree, points.mean(axis=0))
    visited = 0

    def advance(visits: int) -> float:
        nonlocal visited, entry
        visited, entry = _visit(points, groups, visits, tree, order, visited, entry)
        return float(visited / n)

    drive(advance, progress)
    return order


@kernel
def _visit(
    points: Floats, groups: Groups, visits: int, tree: Tree, order: Ints, visited: int, entry: int
) -> tuple[int, int]:
    """Visit so many groups, the first by its given record; tell how many records are visited and where to go on."""
    for _ in range(visits):
        if entry < 0:
            break
        group = groups.labels[entry]
        first, end = groups.starts[group], groups.starts[group + 1]
        for i in range(first, end):
            remove(tree, groups.members[i])
        # The members not yet visited stand at the end of the group's stretch.
        here = entry
        for position in range(first, end):
            at = _nearest_of(points, groups.members, position, end, here)
            here = groups.members[at]
            groups.members[at] = groups.members[position]
            groups.members[position] = here
            order[visited] = here
            visited += 1
        entry = nearest(tree, points[here])[0]
    return visited, entry


@kernel
def _nearest_of(points: Floats, members: Ints, first: int, end: int, record: int) -> int:
    """Find the place of the member nearest to a record, itself before any that coincides with it, then the lowest."""
    found, least = first, np.inf
    for i in range(first, end):
        if members[i] == record:
            return i
        distance = 0.0
        for j in range(points.shape[1]):
            difference = points[members[i], j] - points[record, j]
            distance += difference * difference
        if distance < least or (distance == least and members[i] < members[found]):
            found, least = i, distance
    return found
