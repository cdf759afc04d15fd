"""A kd-tree from which points can be removed, for exact questions about the points that remain.

The tree is a complete binary tree in heap order: node i has the children 2i+1 and 2i+2, and the last level are the
leaves. A node knows how many of its points remain and the box round them; a removal shrinks both at once, so that
nothing removed is ever visited again. Each leaf keeps its points together, attribute by attribute, in one block, which
lets the compiler take several points per instruction: where the tree prunes nothing it is still a fast plain scan.

Selection: part a list at a rank without sorting it.

Exact questions to a kd-tree: the nearest and the farthest of the points that remain, ties by lowest record.

The bound of a box sums its terms in the order in which a distance sums its own. Each floating-point operation rounds
monotonically, so the computed bound never exceeds (or never falls below) any computed distance within the box, and
pruning on strict inequality gives exactly what a scan of all points would, ties included. All distances are squared.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.compiling import uninterrupted
from discreet.kernels.jit import helper, kernel


@helper
def part_at(keys: Floats, order: Ints, start: int, middle: int, end: int) -> None:
    """Rearrange order[start:end] so that no key before the middle exceeds any from it on (Hoare's FIND).

    The pivot is the median of three, and equal keys are exchanged rather than passed over: sorted lists and lists of
    many equal keys are parted in linear time as well.
    """
    low, high = start, end - 1
    while low < high:
        a, b, c = keys[order[low]], keys[order[(low + high) // 2]], keys[order[high]]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[order[i]] < pivot:
                i += 1
            while keys[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


# Small leaves prune better, large ones scan faster. Measured on reference data and on normal data of 2 to 38
# attributes: with these sizes mdav is faster than a plain scan from 10,000 records on in all of them (at 1,000 it is
# slower, by a millisecond or two). Strongly clustered data of many attributes would prefer leaves of 64.
SMALL_LEAF = 128
LARGE_LEAF = 256
MANY_ATTRIBUTES = 9


class Tree(NamedTuple):
    """The tree as arrays; `work`, `stack` and `bounds` are scratch space of the questions."""

    blocks: Floats  # leaf × attribute × slot: coordinates
    records: Ints  # leaf × slot: which record
    place: Ints  # record: leaf · capacity + slot, or -1 once removed
    alive: Ints  # node: points that remain
    low: Floats  # node × attribute: the box of the points that remain
    high: Floats
    work: Floats  # slot: distances within a leaf
    stack: Ints
    bounds: Floats


def grow(points: Floats) -> Tree:
    """Build a balanced tree over all points, splitting each node at the median of its widest attribute.

    The compiled function calls Python to make the tuple it returns; an interrupt there would bring the process down.
    """
    with uninterrupted():
        return _grow(points)


@kernel
def _grow(points: Floats) -> Tree:
    """Build the tree."""
    n, d = points.shape
    leaf_size = SMALL_LEAF if d < MANY_ATTRIBUTES else LARGE_LEAF
    leaves = 1
    while leaves * leaf_size < n:
        leaves *= 2
    capacity = (n + leaves - 1) // leaves
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    starts = np.zeros(2 * leaves, np.int64)
    ends = np.zeros(2 * leaves, np.int64)
    ends[0] = n
    for node in range(leaves - 1):
        start, end = starts[node], ends[node]
        middle = (start + end) // 2
        part_at(points[:, widest(points, order, start, end)], order, start, middle, end)
        starts[2 * node + 1], ends[2 * node + 1] = start, middle
        starts[2 * node + 2], ends[2 * node + 2] = middle, end
    tree = Tree(
        np.zeros((leaves, d, capacity)),
        np.zeros((leaves, capacity), np.int64),
        np.zeros(n, np.int64),
        np.zeros(2 * leaves - 1, np.int64),
        np.zeros((2 * leaves - 1, d)),
        np.zeros((2 * leaves - 1, d)),
        np.zeros(capacity),
        np.zeros(128, np.int64),
        np.zeros(128),
    )
    for leaf in range(leaves):
        node = leaves - 1 + leaf
        for position in range(starts[node], ends[node]):
            slot = position - starts[node]
            record = order[position]
            tree.records[leaf, slot] = record
            tree.place[record] = leaf * capacity + slot
            for j in range(d):
                tree.blocks[leaf, j, slot] = points[record, j]
        tree.alive[node] = ends[node] - starts[node]
        _fit_leaf(tree, leaf)
    for node in range(leaves - 2, -1, -1):
        tree.alive[node] = tree.alive[2 * node + 1] + tree.alive[2 * node + 2]
        _fit(tree, node)
    return tree


@helper
def remove(tree: Tree, record: int) -> None:
    """Take a point out; every count and box above it is exact again afterwards."""
    leaves, d, capacity = tree.blocks.shape
    leaf, slot = tree.place[record] // capacity, tree.place[record] % capacity
    node = leaves - 1 + leaf
    last = tree.alive[node] - 1
    at_border = last == 0
    for j in range(d):
        x = tree.blocks[leaf, j, slot]
        at_border |= x == tree.low[node, j] or x == tree.high[node, j]
        tree.blocks[leaf, j, slot] = tree.blocks[leaf, j, last]
    moved = tree.records[leaf, last]
    tree.records[leaf, slot] = moved
    tree.place[moved] = leaf * capacity + slot
    tree.place[record] = -1
    tree.alive[node] = last
    # A leaf that is the whole tree is never pruned and needs no box.
    shrunk = at_border and node > 0 and (last == 0 or _fit_leaf(tree, leaf))
    while node > 0:
        node = (node - 1) // 2
        tree.alive[node] -= 1
        # A box that stays as it was leaves all boxes above it as they were.
        shrunk = shrunk and _fit(tree, node)


@helper
def _fit_leaf(tree: Tree, leaf: int) -> bool:
    """Shrink a leaf's box to its points; tell whether it changed."""
    leaves, d, _ = tree.blocks.shape
    node = leaves - 1 + leaf
    changed = False
    for j in range(d):
        low = high = tree.blocks[leaf, j, 0]
        for slot in range(1, tree.alive[node]):
            low = min(low, tree.blocks[leaf, j, slot])
            high = max(high, tree.blocks[leaf, j, slot])
        changed |= low != tree.low[node, j] or high != tree.high[node, j]
        tree.low[node, j], tree.high[node, j] = low, high
    return changed


@helper
def _fit(tree: Tree, node: int) -> bool:
    """Shrink an inner node's box to those of its children that still have points; tell whether it changed."""
    left, right = 2 * node + 1, 2 * node + 2
    if tree.alive[left] == 0:
        left = right
    elif tree.alive[right] == 0:
        right = left
    changed = False
    for j in range(tree.low.shape[1]):
        low = min(tree.low[left, j], tree.low[right, j])
        high = max(tree.high[left, j], tree.high[right, j])
        changed |= low != tree.low[node, j] or high != tree.high[node, j]
        tree.low[node, j], tree.high[node, j] = low, high
    return changed


@helper
def widest(points: Floats, order: Ints, start: int, end: int) -> int:
    """Find the attribute with the largest range among order[start:end]."""
    widest, width = 0, -1.0
    for j in range(points.shape[1]):
        low = high = points[order[start], j]
        for position in range(start + 1, end):
            x = points[order[position], j]
            low = min(low, x)
            high = max(high, x)
        if high - low > width:
            widest, width = j, high - low
    return widest


@helper
def nearest_k(tree: Tree, query: Floats, records: Ints, distances: Floats) -> int:
    """Find as many nearest points as the outputs have room for, nearest first; give their number."""
    room = min(records.size, tree.alive[0])
    if room == 0:
        return 0
    leaves = tree.blocks.shape[0]
    distances[:room] = np.inf
    records[:room] = tree.place.size
    tree.stack[0], tree.bounds[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node = tree.stack[top]
        if tree.bounds[top] > distances[room - 1]:
            continue
        while node < leaves - 1:
            near, far = 2 * node + 1, 2 * node + 2
            near_bound, far_bound = at_least(tree, near, query), at_least(tree, far, query)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            if far_bound <= distances[room - 1] and tree.alive[far] > 0:
                tree.stack[top], tree.bounds[top] = far, far_bound
                top += 1
            node = near
            if near_bound > distances[room - 1]:
                break
        else:
            _offer(tree, node, query, records[:room], distances[:room])
    return int(room)


@helper
def nearest(tree: Tree, query: Floats) -> tuple[int, float]:
    """Find the nearest point and its squared distance; (-1, inf) if none remains."""
    leaves = tree.blocks.shape[0]
    found, least = -1, np.inf
    tree.stack[0], tree.bounds[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node = tree.stack[top]
        if tree.bounds[top] > least:
            continue
        while node < leaves - 1:
            near, far = 2 * node + 1, 2 * node + 2
            near_bound, far_bound = at_least(tree, near, query), at_least(tree, far, query)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            if far_bound <= least and tree.alive[far] > 0:
                tree.stack[top], tree.bounds[top] = far, far_bound
                top += 1
            node = near
            if near_bound > least:
                break
        else:
            measure(tree, node, query)
            leaf = node - leaves + 1
            for slot in range(tree.alive[node]):
                distance, record = tree.work[slot], tree.records[leaf, slot]
                if distance < least or (distance == least and (record < found or found < 0)):
                    found, least = record, distance
    return found, least


@kernel
def farthest(tree: Tree, query: Floats) -> tuple[int, float]:
    """Find the farthest point and its squared distance; (-1, -inf) if none remains."""
    leaves = tree.blocks.shape[0]
    found, most = -1, -np.inf
    tree.stack[0], tree.bounds[0] = 0, np.inf
    top = 1
    while top > 0:
        top -= 1
        node = tree.stack[top]
        if tree.bounds[top] < most:
            continue
        while node < leaves - 1:
            far, near = 2 * node + 1, 2 * node + 2
            far_bound, near_bound = _at_most(tree, far, query), _at_most(tree, near, query)
            if near_bound > far_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            if near_bound >= most and tree.alive[near] > 0:
                tree.stack[top], tree.bounds[top] = near, near_bound
                top += 1
            node = far
            if far_bound < most:
                break
        else:
            measure(tree, node, query)
            leaf = node - leaves + 1
            for slot in range(tree.alive[node]):
                distance, record = tree.work[slot], tree.records[leaf, slot]
                if distance > most or (distance == most and record < found):
                    found, most = record, distance
    return found, most


@helper
def measure(tree: Tree, node: int, query: Floats) -> None:
    """Put the squared distances of a leaf's points into the work space."""
    leaf = node - tree.blocks.shape[0] + 1
    count = tree.alive[node]
    work = tree.work[:count]
    block = tree.blocks[leaf]
    work[:] = 0.0
    for j in range(query.size):
        x = query[j]
        column = block[j]
        for slot in range(count):
            difference = column[slot] - x
            work[slot] += difference * difference


@helper
def _offer(tree: Tree, node: int, query: Floats, records: Ints, distances: Floats) -> None:
    """Insert a leaf's points into the sorted list of the nearest so far."""
    measure(tree, node, query)
    leaf = node - tree.blocks.shape[0] + 1
    last = records.size - 1
    for slot in range(tree.alive[node]):
        distance, record = tree.work[slot], tree.records[leaf, slot]
        if distance > distances[last] or (distance == distances[last] and record > records[last]):
            continue
        place = last
        while place > 0 and (
            distance < distances[place - 1] or (distance == distances[place - 1] and record < records[place - 1])
        ):
            distances[place], records[place] = distances[place - 1], records[place - 1]
            place -= 1
        distances[place], records[place] = distance, record


@helper
def at_least(tree: Tree, node: int, query: Floats) -> float:
    """Bound the squared distance to any point of a node from below; infinite where none remains."""
    if tree.alive[node] == 0:
        return np.inf
    total = 0.0
    for j in range(query.size):
        gap = max(tree.low[node, j] - query[j], query[j] - tree.high[node, j], 0.0)
        total += gap * gap
    return total


@helper
def _at_most(tree: Tree, node: int, query: Floats) -> float:
    """Bound the squared distance to any point of a node from above; minus infinity where none remains."""
    if tree.alive[node] == 0:
        return -np.inf
    total = 0.0
    for j in range(query.size):
        gap = max(query[j] - tree.low[node, j], tree.high[node, j] - query[j])
        total += gap * gap
    return total
