"""The optimal partition of a few records, by dynamic programming over all their subsets."""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel
from discreet.kernels.mixed.groups import Mixed, loss_of
from discreet.kernels.promised.constraints import Promised, keeps, room_for


@kernel
def best_partition(points: Floats, k: int) -> Ints:
    """Partition so few records that all subsets can be looked at into groups of k to 2k−1, at the least SSE."""
    costs = _costs(points)
    for subset in range(costs.size):
        if not k <= _bits(subset) < 2 * k:
            costs[subset] = np.inf
    return _put_together(costs, points.shape[0])


@kernel
def best_promised(mixed: Mixed, promised: Promised) -> Ints:
    """Partition so few records that all subsets can be looked at into groups that keep what is promised."""
    n = mixed.numbers.shape[0]
    room, tally = room_for(promised), np.zeros(mixed.levels, np.int64)
    members = np.empty(n, np.int64)
    costs = np.full(1 << n, np.inf)
    for subset in range(1, 1 << n):
        size = 0
        for i in range(n):
            if subset >> i & 1:
                members[size] = i
                size += 1
        if keeps(promised, members[:size], room):
            costs[subset] = loss_of(mixed, members[:size], tally)
    return _put_together(costs, n)


@helper
def _put_together(costs: Floats, n: int) -> Ints:
    """The groups that cover all records at the least cost; a subset that is no group costs infinitely much.

    A subset is a number whose bits are its records. The least cost of each union of groups follows from smaller unions:
    the lowest record that is not yet covered must be in the next group.
    """
    whole = (1 << n) - 1
    least = np.full(whole + 1, np.inf)
    last = np.zeros(whole + 1, np.int64)  # the group that completed the union
    least[0] = 0.0
    for covered in range(whole):
        if least[covered] == np.inf:
            continue
        free = whole & ~covered
        lowest = free & -free
        others = free ^ lowest
        rest = others
        while True:
            group = rest | lowest
            if least[covered] + costs[group] < least[covered | group]:
                least[covered | group] = least[covered] + costs[group]
                last[covered | group] = group
            if rest == 0:
                break
            rest = (rest - 1) & others
    labels = np.zeros(n, np.int64)
    covered, number = whole, 0
    while covered and least[whole] < np.inf:
        for i in range(n):
            if last[covered] >> i & 1:
                labels[i] = number
        covered ^= last[covered]
        number += 1
    return labels


@helper
def _costs(points: Floats) -> Floats:
    """The SSE of every subset: its squared distances over its size."""
    n = points.shape[0]
    near = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for t in range(points.shape[1]):
                near[i, j] += (points[i, t] - points[j, t]) ** 2
    pairs = np.zeros(1 << n)
    for subset in range(1, 1 << n):
        top = n - 1
        while not subset >> top & 1:
            top -= 1
        rest = subset ^ (1 << top)
        pairs[subset] = pairs[rest]
        for i in range(top):
            if rest >> i & 1:
                pairs[subset] += near[top, i]
    for subset in range(1, 1 << n):
        pairs[subset] /= _bits(subset)
    return pairs


@helper
def _bits(subset: int) -> int:
    count = 0
    while subset:
        subset &= subset - 1
        count += 1
    return count
