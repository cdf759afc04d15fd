"""The SSE of groups given as lists of records."""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


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
