"""Which groups lie round a point, and which known groups lie within a region."""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def region(points: Floats, labels: Ints, centre: Floats, reach: int) -> Ints:
    """The groups whose centroids are nearest to a point, until they have so many records."""
    n, d = points.shape
    groups = labels.max() + 1
    centroids, sizes = np.zeros((groups, d)), np.zeros(groups, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
        for j in range(d):
            centroids[labels[i], j] += points[i, j]
    distances = np.zeros(groups)
    for group in range(groups):
        for j in range(d):
            distances[group] += (centroids[group, j] / sizes[group] - centre[j]) ** 2
    order = np.argsort(distances)
    taken, records = 0, 0
    while taken < groups and records < reach:
        records += sizes[order[taken]]
        taken += 1
    return order[:taken]


@kernel
def inside(members: Ints, sizes: Ints, position: Ints) -> Ints:
    """The groups all of whose members have a position (0 or more)."""
    found = np.empty(sizes.size, np.int64)
    count = 0
    for group in range(sizes.size):
        whole = True
        for place in range(sizes[group]):
            if position[members[group, place]] < 0:
                whole = False
                break
        if whole:
            found[count] = group
            count += 1
    return found[:count]
