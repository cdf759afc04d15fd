"""The arrays that kernels exchange, and their stable order: numba's own sorts take as long to compile as a kernel."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.jit import helper, kernel

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

Progress = Callable[[float], None]


@helper
def stable_order(keys: Floats) -> Ints:
    """The places of the keys from the least to the largest, of equal ones the first first: a merge sort."""
    n = keys.size
    order, merged = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for at in range(start, end):
                if left < middle and (right >= end or keys[order[left]] <= keys[order[right]]):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


@kernel
def order_within(labels: Ints, values: Floats, groups: int) -> Ints:
    """Order records by group and, within it, by value, equal ones as they came; quick where groups are small."""
    free = np.zeros(groups + 1, np.int64)
    for i in range(labels.size):
        free[labels[i] + 1] += 1
    for group in range(groups):
        free[group + 1] += free[group]
    starts = free.copy()
    order = np.empty(labels.size, np.int64)
    for i in range(labels.size):
        group = labels[i]
        place = free[group]
        free[group] += 1
        while place > starts[group] and values[order[place - 1]] > values[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    return order
