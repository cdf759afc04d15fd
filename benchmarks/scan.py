"""MDAV by plain scanning, compiled: what the trees are measured against.

It is the best plain form we know: attribute by attribute, so that the compiler takes several records per instruction,
with the remaining records kept together at the front.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def mdav(points: Floats, k: int) -> Ints:
    """Partition by MDAV-generic in O(n²·d/k)."""
    n, d = points.shape
    columns = points.T.copy()
    records = np.arange(n)
    labels = np.full(n, -1)
    work = np.zeros(n)
    total = np.zeros(d)
    for i in range(n):
        for j in range(d):
            total[j] += points[i, j]
    left, group = n, 0
    while left >= 2 * k:
        r = _farthest(columns, records, left, total / left, work)
        left = _take(columns, records, left, r, total)
        if left + 1 < 3 * k:
            left = _form(points, columns, records, left, r, k, group, labels, work, total)
            group += 1
            break
        s = _farthest(columns, records, left, points[r], work)
        left = _take(columns, records, left, s, total)
        left = _form(points, columns, records, left, r, k, group, labels, work, total)
        left = _form(points, columns, records, left, s, k, group + 1, labels, work, total)
        group += 2
    for i in range(left):
        labels[records[i]] = group
    return labels


@kernel
def _measure(columns: Floats, left: int, query: Floats, work: Floats) -> None:
    work[:left] = 0.0
    for j in range(query.size):
        x = query[j]
        column = columns[j]
        for i in range(left):
            difference = column[i] - x
            work[i] += difference * difference


@kernel
def _farthest(columns: Floats, records: Ints, left: int, query: Floats, work: Floats) -> int:
    _measure(columns, left, query, work)
    found, most = -1, -np.inf
    for i in range(left):
        if work[i] > most or (work[i] == most and records[i] < found):
            found, most = records[i], work[i]
    return found


@kernel
def _take(columns: Floats, records: Ints, left: int, record: int, total: Floats) -> int:
    """Move the last remaining record to the place of one that leaves."""
    at = 0
    while records[at] != record:
        at += 1
    for j in range(total.size):
        total[j] -= columns[j, at]
        columns[j, at] = columns[j, left - 1]
    records[at] = records[left - 1]
    return left - 1


@kernel
def _form(
    points: Floats,
    columns: Floats,
    records: Ints,
    left: int,
    centre: int,
    k: int,
    group: int,
    labels: Ints,
    work: Floats,
    total: Floats,
) -> int:
    """Make a group of a centre, which has left already, and the k−1 nearest to it."""
    _measure(columns, left, points[centre], work)
    nearest = np.full(k - 1, points.shape[0])
    distances = np.full(k - 1, np.inf)
    for i in range(left):
        if work[i] > distances[-1] or (work[i] == distances[-1] and records[i] > nearest[-1]):
            continue
        place = k - 2
        while place > 0 and (
            work[i] < distances[place - 1] or (work[i] == distances[place - 1] and records[i] < nearest[place - 1])
        ):
            distances[place], nearest[place] = distances[place - 1], nearest[place - 1]
            place -= 1
        distances[place], nearest[place] = work[i], records[i]
    labels[centre] = group
    for record in nearest:
        labels[record] = group
        left = _take(columns, records, left, record, total)
    return left
