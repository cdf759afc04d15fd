"""The minimum spanning tree of records, and its cutting into trees of at least k.

Prim's method with distances computed when needed: time O(n²·d), memory linear in n.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import drive, part, sweep
from discreet.kernels.jit import helper, kernel


class Front(NamedTuple):
    """Prim's state: the records outside the tree come first in every array, those inside leave from the end."""

    columns: Floats  # attribute × place: coordinates, one attribute together so that a pass takes several at once
    records: Ints  # place: which record
    lengths: Floats  # place: squared length of the shortest edge into the tree
    ends: Ints  # place: the record in the tree at its other end
    next: Ints  # the place of the shortest edge: who joins next
    work: Floats  # squared distances to the record that joined last, of a block that stays in the fastest cache


class Span(NamedTuple):
    """A spanning tree, rooted at the record that came first."""

    order: Ints  # records as they joined: a parent precedes its children
    parent: Ints  # record: its parent, -1 for the root
    length: Floats  # record: squared length of the edge to its parent


def span(points: Floats, progress: Progress) -> Span:
    """Build the minimum spanning tree; among edges of equal length the one to the lowest record joins first."""
    n = points.shape[0]
    front = Front(
        columns=points.T.copy(order="C"),
        records=np.arange(n),
        lengths=np.full(n, np.inf),
        ends=np.full(n, -1),
        next=np.zeros(1, np.int64),
        work=np.zeros(1024),
    )
    tree = Span(order=np.full(n, -1), parent=np.full(n, -1), length=np.zeros(n))
    joined = 0

    def advance(steps: int) -> float:
        nonlocal joined
        joined = _join(points, joined, steps, front, tree)
        # Each step looks at the records outside, so the work done is quadratic in those joined.
        return float(1.0 - ((n - joined) / n) ** 2)

    drive(advance, progress)
    return tree


def cut(tree: Span, k: int, progress: Progress) -> Ints:
    """Delete the removable edges, longest first, and number the trees that are left.

    An edge is removable if both trees it parts have at least k records.
    """
    longest_first = np.argsort(-tree.length, kind="stable")
    counts = _descendants(tree)
    sweep(lambda first, end: _delete(tree, k, longest_first[first:end], counts), counts.size, progress)
    return _number(tree)


def forest(points: Floats, k: int, progress: Progress) -> Ints:
    """Partition into the trees of the cut minimum spanning tree: at least k records each, some of them large."""
    tree = span(points, part(progress, 0.0, 0.9))
    return cut(tree, k, part(progress, 0.9, 1.0))


@kernel
def _join(points: Floats, joined: int, steps: int, front: Front, tree: Span) -> int:
    """Let the nearest record outside join the tree, so many times; tell how many are in."""
    d, n = front.columns.shape
    for _ in range(min(steps, n - joined)):
        last = n - joined - 1
        at = front.next[0]
        record = front.records[at]
        tree.order[joined] = record
        tree.parent[record] = front.ends[at]
        tree.length[record] = front.lengths[at] if joined > 0 else 0.0
        joined += 1
        for j in range(d):
            front.columns[j, at] = front.columns[j, last]
        front.records[at] = front.records[last]
        front.lengths[at] = front.lengths[last]
        front.ends[at] = front.ends[last]
        front.next[0] = _relax(points[record], record, front, last)
    return joined


@helper
def _relax(point: Floats, record: int, front: Front, size: int) -> int:
    """Shorten the edges of the records nearer to the one that just joined; find the place of the shortest edge."""
    block = front.work.size
    lengths, records, work = front.lengths, front.records, front.work
    at, least = 0, np.inf
    for start in range(0, size, block):
        count = min(block, size - start)
        work[:count] = 0.0
        for j in range(point.size):
            x = point[j]
            column = front.columns[j, start : start + count]
            for i in range(count):
                difference = column[i] - x
                work[i] += difference * difference
        for i in range(count):
            length = lengths[start + i]
            if work[i] < length:
                length = work[i]
                lengths[start + i] = length
                front.ends[start + i] = record
            if length <= least and (length < least or records[start + i] < records[at]):
                at, least = start + i, length
    return at


@kernel
def _descendants(tree: Span) -> Ints:
    """Count the records below each record, itself included."""
    counts = np.ones(tree.order.size, np.int64)
    for i in range(tree.order.size - 1, 0, -1):
        record = tree.order[i]
        counts[tree.parent[record]] += counts[record]
    return counts


@kernel
def _delete(tree: Span, k: int, edges: Ints, counts: Ints) -> None:
    """Delete those of the edges (named by their lower record) that are removable when their turn comes."""
    parent = tree.parent
    for record in edges:
        if parent[record] < 0 or counts[record] < k:
            continue
        root = parent[record]
        while parent[root] >= 0:
            root = parent[root]
        if counts[root] - counts[record] < k:
            continue
        above = parent[record]
        while above >= 0:
            counts[above] -= counts[record]
            above = parent[above]
        parent[record] = -1


@kernel
def _number(tree: Span) -> Ints:
    """Number the trees in the order in which their roots joined."""
    labels = np.zeros(tree.order.size, np.int64)
    trees = 0
    for record in tree.order:
        if tree.parent[record] < 0:
            labels[record] = trees
            trees += 1
        else:
            labels[record] = labels[tree.parent[record]]
    return labels
