"""Where a fractional partition violates odd set inequalities: triples of records, and odd cycles of groups.

Groups a and b that share a record exclude each other. A cycle of m groups, m odd, in which neighbours exclude each
other holds at most (m−1)/2 groups of a partition; values x(a) with Σ(1 − x(a) − x(b)) < 1 over the m edges violate
this. The shortest odd cycle through a group is a shortest path in the graph that has each group twice, once for each
parity (Gerards and Schrijver 1986).
"""

from heapq import heappop, heappush

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel

LONGEST = 25


@kernel
def odd_cycles(starts: Ints, targets: Ints, lengths: Floats, limit: float) -> tuple[Ints, Ints]:
    """Find for each node the shortest odd cycle of which it is the lowest node, if it is shorter than the limit.

    Parameters
    ----------
    starts, targets, lengths : arrays
        The edges of each node in both directions; the targets of node i from `starts[i]` to `starts[i+1]`−1.
    limit : float
        Only cycles shorter than this.

    Returns
    -------
    array, array
        The nodes of all cycles, and where each cycle starts.
    """
    n = len(starts) - 1
    distance = np.full(2 * n, np.inf)
    before = np.full(2 * n, -1)
    cycle = np.zeros(LONGEST, np.int64)
    members = [0][:0]
    ends = [0]
    touched = [0][:0]
    for source in range(n):
        for state in touched:
            distance[state] = np.inf
            before[state] = -1
        touched.clear()
        heap = [(0.0, 2 * source)]
        distance[2 * source] = 0.0
        touched.append(2 * source)
        goal = 2 * source + 1
        while len(heap) > 0:
            length, state = heappop(heap)
            if state == goal:
                break
            if length > distance[state]:
                continue
            node, parity = state // 2, state % 2
            for edge in range(starts[node], starts[node + 1]):
                target = targets[edge]
                if target < source:
                    continue
                reached = 2 * target + 1 - parity
                total = length + lengths[edge]
                if total < limit and total < distance[reached]:
                    if distance[reached] == np.inf:
                        touched.append(reached)
                    distance[reached] = total
                    before[reached] = state
                    heappush(heap, (total, reached))
        if distance[goal] == np.inf:
            continue
        size, state = 0, goal
        simple = True
        while state != 2 * source and simple:
            if size == LONGEST:
                simple = False
                break
            for t in range(size):
                simple &= cycle[t] != state // 2
            cycle[size] = state // 2
            size += 1
            state = before[state]
        if simple:
            for t in range(size):
                members.append(cycle[t])
            ends.append(len(members))
    return np.array(members), np.array(ends)


@kernel
def triangles(starts: Ints, targets: Ints, shares: Floats, limit: float) -> Ints:
    """Find the triples of nodes whose three edges sum to more than the limit.

    Parameters
    ----------
    starts, targets, shares : arrays
        The edges of each node in both directions, targets ascending.
    limit : float
        What the sum of the shares must exceed.
    """
    found = [0][:0]
    for i in range(len(starts) - 1):
        for first in range(starts[i], starts[i + 1]):
            j = targets[first]
            if j < i:
                continue
            other = starts[j]
            for second in range(first + 1, starts[i + 1]):
                last = targets[second]
                while other < starts[j + 1] and targets[other] < last:
                    other += 1
                if other == starts[j + 1]:
                    break
                if targets[other] == last and shares[first] + shares[second] + shares[other] > limit:
                    found.append(i)
                    found.append(j)
                    found.append(last)
    return np.array(found).reshape((-1, 3))


def rehearse() -> None:
    """Compile the search for odd sets, on a triangle."""
    starts, targets = np.arange(0, 7, 2), np.array([1, 2, 0, 2, 0, 1])
    odd_cycles(starts, targets, np.full(6, 0.1), 1.0)
    triangles(starts, targets, np.full(6, 0.5), 1.0)
