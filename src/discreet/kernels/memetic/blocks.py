"""Blocks of neighbouring groups, for data too large to be searched in one piece.

The partition is an order of the records in which those of a group stand together, with a mark at the first of each
group. A pass puts the groups of each block together and then works on block after block: its records, copied side by
side, fit into the processor's cache, and no other block is touched, so blocks can be worked on at the same time. The
next pass draws other borders.

The borders are those of a kd-tree over a sample of the centroids, so that drawing them costs no more than looking up
each group once: O(n) memory and O(n log n) time for any n.

A block begins with a quick descent: moves, swaps and rotations of records between neighbouring groups.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Words
from discreet.kernels.jit import borrower, helper, kernel
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.memetic.exchanges import polish, rotate
from discreet.kernels.memetic.pool import pooled
from discreet.kernels.memetic.unions import Groups, anneal, slot_costs, slotted, write_order
from discreet.kernels.partitions.groups import group_costs
from discreet.kernels.random import below, uniform
from discreet.kernels.space.kdtree import part_at, widest

# Records of the sample per block: the sizes of blocks then differ by some 20 %.
SAMPLE = 24
# Neighbouring groups from which the neighbours of a record are taken.
AROUND = 8
# How often all groups exchange records, unless fewer than so many exchanges per group were found the last time.
ROUNDS, FEW_EXCHANGES = 3, 0.2


class Tree(NamedTuple):
    """A kd-tree of borders: node i has the children 2i+1 and 2i+2."""

    axes: Ints
    borders: Floats


@kernel
def borders(points: Floats, blocks: int, rng: Words) -> Tree:
    """Draw the borders of at least so many blocks (a power of two) through a sample of points, each across its spread.

    Half of the borders cross the widest attribute and half another one, at random, so that no two passes share them.
    """
    leaves = 1
    while leaves < blocks:
        leaves *= 2
    n, d = points.shape
    count = min(n, SAMPLE * leaves)
    place = np.empty(count, np.int64)
    for i in range(count):
        # One from each stretch of the file, which need not be in random order.
        low, high = i * n // count, (i + 1) * n // count
        place[i] = low + below(rng, high - low)
    sample = points[place]
    for i in range(count):
        place[i] = i
    tree = Tree(np.zeros(leaves - 1, np.int64), np.zeros(leaves - 1))
    low, high = np.zeros(2 * leaves - 1, np.int64), np.zeros(2 * leaves - 1, np.int64)
    high[0] = count
    for node in range(leaves - 1):
        axis = widest(sample, place, low[node], high[node])
        if uniform(rng) < 0.5:
            axis = below(rng, d)
        share = 0.4 + 0.2 * uniform(rng)
        middle = low[node] + int((high[node] - low[node]) * share)
        border = -np.inf
        if middle < high[node]:
            part_at(sample[:, axis], place, low[node], middle, high[node])
            border = sample[place[middle], axis]
        tree.axes[node], tree.borders[node] = axis, border
        low[2 * node + 1], high[2 * node + 1] = low[node], middle
        low[2 * node + 2], high[2 * node + 2] = middle, high[node]
    return tree


@kernel
def locate(points: Floats, tree: Tree, first: int, end: int, homes: Ints) -> None:
    """Find the block of each of these points."""
    inner = tree.axes.size
    for i in range(first, end):
        node = 0
        while node < inner:
            node = 2 * node + 1 + (points[i, tree.axes[node]] >= tree.borders[node])
        homes[i] = node - inner


@kernel
def sort_records(homes: Ints, blocks: int) -> tuple[Ints, Ints]:
    """Order points by block (counting sort); tell where each block starts."""
    starts = np.zeros(blocks + 1, np.int64)
    for i in range(homes.size):
        starts[homes[i] + 1] += 1
    for block in range(blocks):
        starts[block + 1] += starts[block]
    order = np.empty(homes.size, np.int64)
    free = starts[:-1].copy()
    for i in range(homes.size):
        order[free[homes[i]]] = i
        free[homes[i]] += 1
    return order, starts


@kernel
def centroids(points: Floats, order: Ints, heads: Ints) -> Floats:
    """The centroid of each group, in the order of the groups."""
    n, d = points.shape
    centres = np.zeros((heads.sum(), d))
    group, first = -1, 0
    for i in range(n):
        if heads[i]:
            group, first = group + 1, i
        centre, point = centres[group], points[order[i]]
        share = 1.0 / (i - first + 1)
        for j in range(d):
            centre[j] += (point[j] - centre[j]) * share
    return centres


@kernel
def regroup(order: Ints, heads: Ints, homes: Ints, blocks: int) -> tuple[Ints, Ints, Ints]:
    """Put the groups of each block together; give the new order, its marks, and where each block starts."""
    n = order.size
    starts = np.zeros(blocks + 1, np.int64)
    group = -1
    for i in range(n):
        group += heads[i]
        starts[homes[group] + 1] += 1
    for block in range(blocks):
        starts[block + 1] += starts[block]
    new_order, new_heads = np.empty(n, np.int64), np.empty(n, np.int64)
    free = starts[:-1].copy()
    group = -1
    for i in range(n):
        group += heads[i]
        place = free[homes[group]]
        free[homes[group]] += 1
        new_order[place], new_heads[place] = order[i], heads[i]
    return new_order, new_heads, starts


@kernel
def block_costs(points: Floats, order: Ints, heads: Ints, starts: Ints) -> Floats:
    """The SSE of each block."""
    firsts = np.append(np.flatnonzero(heads), heads.size)
    each = group_costs(points, order, firsts)
    costs = np.zeros(starts.size - 1)
    group = 0
    for block in range(costs.size):
        while group < each.size and firsts[group] < starts[block + 1]:
            costs[block] += each[group]
            group += 1
    return costs


@kernel
def improve(
    points: Floats, order: Ints, heads: Ints, start: int, end: int, k: int, effort: float, heat: float, rng: Words
) -> float:
    """Search within one block, which stands from `start` to `end` in the order; give its SSE.

    Parameters
    ----------
    points : array of shape (n, d)
        All records.
    order, heads : arrays of n ints
        The partition; changed within the block.
    start, end : int
        The block.
    k : int
        Least size of a group.
    effort : float
        Steps per group.
    heat : float
        The temperature to begin with; it falls to 0.
    rng : array of 4 words
        The random state.
    """
    records = order[start:end].copy()
    local = points[records]
    labels = np.cumsum(heads[start:end]) - 1
    groups = slotted(labels, k)
    before = slot_costs(local, groups)
    if end - start < 2 * k:
        return float(before.sum())
    count = labels[-1] + 1
    if count > 1:
        centres, _ = _centres(local, labels, count)
        around = _nearest_groups(centres, min(AROUND, count - 1))
        for _ in range(ROUNDS):
            if polish(local, k, around, centres, groups) < FEW_EXCHANGES * count:
                break
        if rotate(local, around, centres, groups) > 0:
            polish(local, k, around, centres, groups)
    if count > 1 and effort > 0.0:
        near = _nearest_members(local, groups, around)
        _search(local, k, near, effort * count, heat, groups, rng)
    after = slot_costs(local, groups)
    if heat > 0.0:
        # What annealing has made worse somewhere is not taken.
        labels, _ = cross(labels, before, groups.labels, after)
        groups = slotted(labels, k)
        after = slot_costs(local, groups)
    write_order(groups, records, start, order, heads)
    return float(after.sum())


@helper
def _search(points: Floats, k: int, near: Ints, steps: float, heat: float, groups: Groups, rng: Words) -> None:
    """Anneal in four stages, the last of them at temperature 0; or descend only."""
    nothing = pooled(0, k, 0)
    stages = 1 if heat == 0.0 else 4
    for stage in range(stages):
        cold = 1.0 - stage / max(1, stages - 1)
        anneal(points, k, near, heat * cold * cold, max(1, int(steps / stages)), True, groups, nothing, rng)


@helper
def _centres(points: Floats, labels: Ints, count: int) -> tuple[Floats, Ints]:
    """The centroids of groups whose records come one group after the other, and where each group starts."""
    first = np.zeros(count + 1, np.int64)
    for i in range(points.shape[0]):
        first[labels[i] + 1] = i + 1
    centres = np.zeros((count, points.shape[1]))
    for i in range(points.shape[0]):
        for j in range(points.shape[1]):
            centres[labels[i], j] += points[i, j] / (first[labels[i] + 1] - first[labels[i]])
    return centres, first


@helper
def _nearest_groups(centres: Floats, width: int) -> Ints:
    """The nearest groups of each, nearest first."""
    count, d = centres.shape
    around = np.empty((count, width), np.int64)
    distances, near = np.empty(count), np.empty(width)
    columns = np.empty((d, count))
    for j in range(d):
        columns[j] = centres[:, j]
    for group in range(count):
        # Attribute by attribute: long plain loops are done several numbers at a time.
        distances[:] = 0.0
        for j in range(d):
            own, column = centres[group, j], columns[j]
            for other in range(count):
                distances[other] += (own - column[other]) * (own - column[other])
        _nearest(distances, group, around[group], near)
    return around


@helper
def _nearest_members(points: Floats, groups: Groups, around: Ints) -> Ints:
    """The neighbours of each record: of each group near its own, the nearest member, nearest first."""
    n, d = points.shape
    width = around.shape[1]
    near = np.empty((n, width), np.int64)
    distances = np.empty(width)
    for i in range(n):
        for t in range(width):
            group = around[groups.labels[i], t]
            other, least = -1, np.inf
            for place in range(groups.sizes[group]):
                member = groups.members[group, place]
                distance = 0.0
                for j in range(d):
                    difference = points[i, j] - points[member, j]
                    distance += difference * difference
                if distance < least or other < 0:
                    other, least = member, distance
            place = t
            while place > 0 and distances[place - 1] > least:
                distances[place], near[i, place] = distances[place - 1], near[i, place - 1]
                place -= 1
            distances[place], near[i, place] = least, other
    return near


@borrower
def _nearest(distances: Floats, group: int, found: Ints, near: Floats) -> None:
    """Find the nearest others of a group, by its distances to all."""
    near[:] = np.inf
    found[:] = -1
    last = found.size - 1
    for other in range(distances.size):
        distance = distances[other]
        if (distance < near[last] or found[last] < 0) and other != group:
            place = last
            while place > 0 and (found[place - 1] < 0 or distance < near[place - 1]):
                near[place], found[place] = near[place - 1], found[place - 1]
                place -= 1
            near[place], found[place] = distance, other
