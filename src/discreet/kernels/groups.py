"""What the constructive methods share: forming a group round a record, and joining left-over records to groups."""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel
from discreet.kernels.kdtree import Tree, remove
from discreet.kernels.neighbours import nearest_k


@kernel
def gather(points: Floats, tree: Tree, centre: int, group: int, labels: Ints, found: Ints, distances: Floats) -> int:
    """Label the nearest remaining records of a centre, as many as `found` holds, and take them out of the tree."""
    count = nearest_k(tree, points[centre], found, distances)
    for i in range(count):
        labels[found[i]] = group
        remove(tree, found[i])
    return count


@kernel
def join_nearest_centroid(points: Floats, labels: Ints, groups: int) -> None:
    """Give each record without a group (label -1) the group with the nearest centroid, ties by lowest group.

    The centroids are those of the groups as they were formed: a record that joins does not pull them, so the order
    in which the records join does not matter.
    """
    n, d = points.shape
    centroids = np.zeros((groups, d))
    sizes = np.zeros(groups, np.int64)
    for i in range(n):
        if labels[i] >= 0:
            sizes[labels[i]] += 1
            for j in range(d):
                centroids[labels[i], j] += points[i, j]
    for group in range(groups):
        for j in range(d):
            centroids[group, j] /= sizes[group]
    free = np.flatnonzero(labels < 0)
    for record in free:
        labels[record] = _closest(centroids, points[record])


@kernel
def join_nearest_member(points: Floats, labels: Ints) -> None:
    """Give each record without a group (label -1) that of the nearest record that has one, ties by lowest record."""
    free = np.flatnonzero(labels < 0)
    placed = np.flatnonzero(labels >= 0)
    members = points[placed]
    for record in free:
        labels[record] = labels[placed[_closest(members, points[record])]]


@kernel
def _closest(points: Floats, query: Floats) -> int:
    """Find the nearest point by looking at all, ties by lowest index."""
    found, least = 0, np.inf
    for i in range(points.shape[0]):
        distance = 0.0
        for j in range(query.size):
            difference = points[i, j] - query[j]
            distance += difference * difference
        if distance < least:
            found, least = i, distance
    return found
