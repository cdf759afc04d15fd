"""Records with numbers and categories, and what groups of them lose.

A category is compared as a code. A group releases the mean of its numbers and the mode of its categories: it loses the
squared deviations from the mean, and for each value that is not the mode the price of its attribute, which is the
squared distance between two categories in the embedding. No matrix of indicators is ever made.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel
from discreet.kernels.space.linkage import distinct

Codes = NDArray[np.int32]


class Mixed(NamedTuple):
    """Records as arrays."""

    numbers: Floats  # record, attribute
    codes: Codes  # record, attribute: 0, 1, …
    prices: Floats  # attribute of codes: what a changed value costs
    levels: int  # no code is as large


@kernel
def group_losses(mixed: Mixed, order: Ints, starts: Ints) -> Floats:
    """What each group loses; group g has the records order[starts[g] : starts[g + 1]]."""
    losses = np.zeros(starts.size - 1)
    tally = np.zeros(mixed.levels, np.int64)
    for group in range(losses.size):
        losses[group] = loss_of(mixed, order[starts[group] : starts[group + 1]], tally)
    return losses


@helper
def loss_of(mixed: Mixed, members: Ints, tally: Ints) -> float:
    """What a group loses; `tally` is room for counts, all 0 before and after."""
    size = members.size
    total = 0.0
    if size == 0:
        return total
    for j in range(mixed.numbers.shape[1]):
        first, mean = mixed.numbers[members[0], j], 0.0
        for place in range(size):
            mean += (mixed.numbers[members[place], j] - first) / size
        for place in range(size):
            total += (mixed.numbers[members[place], j] - first - mean) ** 2
    for j in range(mixed.codes.shape[1]):
        top = 0
        for place in range(size):
            code = mixed.codes[members[place], j]
            tally[code] += 1
            top = max(top, tally[code])
        for place in range(size):
            tally[mixed.codes[members[place], j]] = 0
        total += mixed.prices[j] * (size - top)
    return total


@kernel
def squares_within(codes: Codes, weights: Floats, order: Ints, starts: Ints, levels: int) -> float:
    """Sum of squared distances of indicators to the centroids of groups: s² · (size − Σ count²/size) per attribute."""
    tally = np.zeros(levels, np.int64)
    total = 0.0
    for group in range(starts.size - 1):
        first, end = starts[group], starts[group + 1]
        for j in range(codes.shape[1]):
            squares = 0
            for i in range(first, end):
                code = codes[order[i], j]
                squares += 2 * tally[code] + 1
                tally[code] += 1
            for i in range(first, end):
                tally[codes[order[i], j]] = 0
            total += weights[j] * (end - first - squares / (end - first))
    return total


def find_equal(numbers: Floats, codes: Codes) -> tuple[Ints, Ints, Floats]:
    """Find equal records: a record of each class, the class of each record, and how many each class has."""
    width = codes.shape[1]
    words = np.zeros((len(codes), -(-width // 2) + numbers.shape[1]), np.uint64)
    # Two codes to a word.
    for j in range(width):
        words[:, j // 2] |= codes[:, j].astype(np.uint64) << np.uint64(32 * (j % 2))
    # Adding zero makes negative zero positive, so that equal numbers have equal bits.
    words[:, -(-width // 2) :] = (numbers + 0.0).view(np.uint64)
    return distinct(words)


@kernel
def cut_path(mixed: Mixed, order: Ints, k: int, first: int, end: int, cost: Floats, start: Ints) -> None:
    """Follow the arcs that leave the nodes first to end−1 of the graph of Hansen and Mukherjee; see `cut_order`."""
    n, p, q = order.size, mixed.numbers.shape[1], mixed.codes.shape[1]
    mean = np.zeros(p)
    tally = np.zeros((q, mixed.levels), np.int32)
    top = np.zeros(q, np.int64)
    for node in range(first, end):
        if cost[node] == np.inf:
            continue
        squares = 0.0
        mean[:] = 0.0
        top[:] = 0
        last = min(2 * k - 1, n - node)
        for size in range(1, last + 1):
            record = order[node + size - 1]
            square = 0.0
            for j in range(p):
                difference = mixed.numbers[record, j] - mean[j]
                square += difference * difference
                mean[j] += difference / size
            squares += square * (size - 1) / size
            changed = 0.0
            for j in range(q):
                code = mixed.codes[record, j]
                tally[j, code] += 1
                top[j] = max(top[j], tally[j, code])
                changed += mixed.prices[j] * (size - top[j])
            if size >= k and cost[node] + squares + changed < cost[node + size]:
                cost[node + size] = cost[node] + squares + changed
                start[node + size] = node
        for size in range(1, last + 1):
            for j in range(q):
                tally[j, mixed.codes[order[node + size - 1], j]] = 0


@kernel
def mark_heads(start: Ints) -> Ints:
    """A mark at the first record of each group of the shortest path, which is known from its end."""
    heads = np.zeros(start.size - 1, np.int64)
    node = heads.size
    while node > 0:
        node = start[node]
        heads[node] = 1
    return heads


@kernel
def centres(mixed: Mixed, order: Ints, starts: Ints) -> tuple[Floats, Codes]:
    """The mean and the modes of each group; of equally frequent codes the one that reaches its count first."""
    p, q = mixed.numbers.shape[1], mixed.codes.shape[1]
    means, modes = np.zeros((starts.size - 1, p)), np.zeros((starts.size - 1, q), np.int32)
    tally = np.zeros(mixed.levels, np.int64)
    for group in range(starts.size - 1):
        first, end = starts[group], starts[group + 1]
        for j in range(p):
            for i in range(first, end):
                means[group, j] += mixed.numbers[order[i], j] / (end - first)
        for j in range(q):
            top = 0
            for i in range(first, end):
                code = mixed.codes[order[i], j]
                tally[code] += 1
                if tally[code] > top:
                    top, modes[group, j] = tally[code], code
            for i in range(first, end):
                tally[mixed.codes[order[i], j]] = 0
    return means, modes
