"""What the constructive methods share: forming a group round a record, and joining left-over records to groups.

Sums of squares: within groups (SSE) and in all (SST).

Two passes, first the means and then the squares about them; the means are taken relative to each group's first record
and the squares are added with Kahan's compensation, so neither a large offset nor many records cost accuracy.

The SSE of groups given as lists of records.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel
from discreet.kernels.space.kdtree import Tree, nearest_k, remove


@helper
def gather(points: Floats, tree: Tree, centre: int, group: int, labels: Ints, found: Ints, distances: Floats) -> int:
    """Label the nearest remaining records of a centre, as many as `found` holds, and take them out of the tree."""
    count = nearest_k(tree, points[centre], found, distances)
    for i in range(count):
        labels[found[i]] = group
        remove(tree, found[i])
    return count


@helper
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
    for record in range(n):
        if labels[record] < 0:
            labels[record] = _closest(centroids, points[record])


@kernel
def join_nearest_member(points: Floats, labels: Ints) -> None:
    """Give each record without a group (label -1) that of the nearest record that has one, ties by lowest record."""
    n, d = points.shape
    placed, members, count = np.empty(n, np.int64), np.empty((n, d)), 0
    for record in range(n):
        if labels[record] >= 0:
            placed[count] = record
            for j in range(d):
                members[count, j] = points[record, j]
            count += 1
    for record in range(n):
        if labels[record] < 0:
            labels[record] = labels[placed[_closest(members[:count], points[record])]]


@helper
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


@kernel
def within_sse(points: Floats, labels: Ints) -> float:
    """Sum the squared distances of the points to the centroids of their groups (SSE); labels are 0 to g−1."""
    n, d = points.shape
    groups = 0
    for i in range(n):
        groups = max(groups, labels[i] + 1)
    first = np.full(groups, -1)
    sizes = np.zeros(groups, np.int64)
    shift = np.zeros((groups, d))
    for i in range(n):
        group = labels[i]
        if first[group] < 0:
            first[group] = i
        sizes[group] += 1
        for j in range(d):
            shift[group, j] += points[i, j] - points[first[group], j]
    for group in range(groups):
        for j in range(d):
            shift[group, j] /= max(sizes[group], 1)
    total, lost = 0.0, 0.0
    for i in range(n):
        group = labels[i]
        square = 0.0
        for j in range(d):
            difference = points[i, j] - points[first[group], j] - shift[group, j]
            square += difference * difference
        term = square - lost
        added = total + term
        lost = (added - total) - term
        total = added
    return total


def total_sse(points: Floats) -> float:
    """Sum the squared distances of the points to their mean (SST)."""
    return within_sse(points, np.zeros(points.shape[0], np.int64))


@kernel
def group_costs(points: Floats, members: Ints, starts: Ints) -> Floats:
    """Sum the squared distances of the records of each group to its centroid, in two passes from its first record."""
    d = points.shape[1]
    costs = np.zeros(len(starts) - 1)
    mean = np.zeros(d)
    for group in range(len(costs)):
        first, start, end = members[starts[group]], starts[group], starts[group + 1]
        mean[:] = 0.0
        for at in range(start, end):
            for j in range(d):
                mean[j] += points[members[at], j] - points[first, j]
        for j in range(d):
            mean[j] /= end - start
        for at in range(start, end):
            for j in range(d):
                difference = points[members[at], j] - points[first, j] - mean[j]
                costs[group] += difference * difference
    return costs
