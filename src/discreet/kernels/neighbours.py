"""Exact questions to a kd-tree: the nearest and the farthest of the points that remain, ties by lowest record.

The bound of a box sums its terms in the order in which a distance sums its own. Each floating-point operation rounds
monotonically, so the computed bound never exceeds (or never falls below) any computed distance within the box, and
pruning on strict inequality gives exactly what a scan of all points would, ties included. All distances are squared.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel
from discreet.kernels.kdtree import Tree


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
def at_least(tree: Tree, node: int, query: Floats) -> float:
    """Bound the squared distance to any point of a node from below; infinite where none remains."""
    if tree.alive[node] == 0:
        return np.inf
    total = 0.0
    for j in range(query.size):
        gap = max(tree.low[node, j] - query[j], query[j] - tree.high[node, j], 0.0)
        total += gap * gap
    return total


@kernel
def _at_most(tree: Tree, node: int, query: Floats) -> float:
    """Bound the squared distance to any point of a node from above; minus infinity where none remains."""
    if tree.alive[node] == 0:
        return -np.inf
    total = 0.0
    for j in range(query.size):
        gap = max(query[j] - tree.low[node, j], tree.high[node, j] - query[j])
        total += gap * gap
    return total
