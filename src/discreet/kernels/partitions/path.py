"""The best way to cut a sequence of records into groups of k to 2k−1 neighbours: a shortest path.

Hansen and Mukherjee's graph has a node between any two neighbours in the sequence and an arc over each admissible
group, as long as the group's SSE. For one attribute in ascending order the path is the optimal partition; along any
order of multivariate records it is the best one that the order allows.

The SSE of a group grows record by record from the group's own first record (Welford's update): O(k·n·d) in all, and
nothing large is ever subtracted, as it would be with sums over the whole sequence.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import kernel


def cut_order(points: Floats, order: Ints, k: int, progress: Progress) -> Ints:
    """Cut an order of the records into groups of k to 2k−1 with the least SSE; give each record its group."""
    n = points.shape[0]
    cost = np.full(n + 1, np.inf)
    cost[0] = 0.0
    start = np.full(n + 1, -1)
    sweep(lambda first, end: _relax(points, order, k, first, end, cost, start), n, progress)
    return _label(order, start)


@kernel
def _relax(points: Floats, order: Ints, k: int, first: int, end: int, cost: Floats, start: Ints) -> None:
    """Follow the arcs that leave nodes first to end−1: the costs of these nodes are final when their turn comes."""
    n, d = points.shape
    mean = np.zeros(d)
    for node in range(first, end):
        if cost[node] == np.inf:
            continue
        sse = 0.0
        mean[:] = 0.0
        for size in range(1, min(2 * k - 1, n - node) + 1):
            record = order[node + size - 1]
            square = 0.0
            for j in range(d):
                difference = points[record, j] - mean[j]
                square += difference * difference
                mean[j] += difference / size
            sse += square * (size - 1) / size
            if size >= k and cost[node] + sse < cost[node + size]:
                cost[node + size] = cost[node] + sse
                start[node + size] = node


@kernel
def _label(order: Ints, start: Ints) -> Ints:
    """Number the groups of the shortest path along the order; the path is known from its end."""
    first = np.zeros(order.size, np.bool_)
    node = order.size
    while node > 0:
        node = start[node]
        first[node] = True
    labels = np.zeros(order.size, np.int64)
    group = -1
    for i in range(order.size):
        group += first[i]
        labels[order[i]] = group
    return labels
