"""Exchanges of records between neighbouring groups, each known from their centroids: a quick descent.

Two groups move or swap records. With c and s the centroids and sizes of the groups, and e = y − x, a swap of x (in a)
and y (in b) changes the SSE by −2·e·(c_a − c_b) − |e|²·(1/s_a + 1/s_b); a move of x to b by |x − c_b|²·s_b/(s_b+1) −
|x − c_a|²·s_a/(s_a−1). Three groups rotate records: x takes the place of y, y that of z and z that of x. To let x take
the place of y in b changes the SSE of b by |x − c_b|² − |y − c_b|² − |x − y|²/s_b. Cyclic exchanges are those of R. K.
Ahuja, J. B. Orlin, D. Sharma, Operations Research Letters 31 (2003) 185-194: one that gains has a record to begin with
so that all its partial sums gain, so others need not be followed.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import borrower, helper
from discreet.kernels.memetic.unions import Groups

# How often two groups exchange records in a row, and what gain counts as none, in parts of the distance: rounding must
# not keep them exchanging for ever.
EXCHANGES = 12
NO_GAIN = 1e-11


@helper
def polish(points: Floats, k: int, around: Ints, centres: Floats, groups: Groups) -> int:
    """Go through all groups once, each with each of its neighbours; tell how many records were exchanged.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group; the largest is 2k−1.
    around : array of shape (g, m)
        The neighbours of each group, nearest first.
    centres : array of shape (g, d)
        The centroids; changed with the groups.
    groups : Groups
        The partition; changed in place, with the same slots in use.
    """
    exchanged = 0
    for a in range(around.shape[0]):
        for t in range(around.shape[1]):
            b = around[a, t]
            for _ in range(EXCHANGES):
                if not (_swap(points, a, b, centres, groups) or _move(points, a, b, k, centres, groups)):
                    break
                exchanged += 1
    return exchanged


@borrower
def _swap(points: Floats, a: int, b: int, centres: Floats, groups: Groups) -> bool:
    """Do the best swap between two groups if it gains."""
    d = points.shape[1]
    shares = 1.0 / groups.sizes[a] + 1.0 / groups.sizes[b]
    best, mine, yours, scale = 0.0, -1, -1, 0.0
    for place in range(groups.sizes[a]):
        x = points[groups.members[a, place]]
        for other in range(groups.sizes[b]):
            y = points[groups.members[b, other]]
            across, square = 0.0, 0.0
            for j in range(d):
                e = y[j] - x[j]
                across += e * (centres[a, j] - centres[b, j])
                square += e * e
            change = -2.0 * across - square * shares
            if change < best:
                best, mine, yours, scale = change, place, other, square
    if mine < 0 or -best <= NO_GAIN * scale:
        return False
    i, m = groups.members[a, mine], groups.members[b, yours]
    for j in range(d):
        e = points[m, j] - points[i, j]
        centres[a, j] += e / groups.sizes[a]
        centres[b, j] -= e / groups.sizes[b]
    groups.members[a, mine], groups.members[b, yours] = m, i
    groups.labels[m], groups.labels[i] = a, b
    return True


@borrower
def _move(points: Floats, a: int, b: int, k: int, centres: Floats, groups: Groups) -> bool:
    """Move the record that gains most by it from the larger of two groups to the other, if sizes allow."""
    if groups.sizes[a] < groups.sizes[b]:
        a, b = b, a
    d = points.shape[1]
    here, there = groups.sizes[a], groups.sizes[b]
    if here <= k or there >= 2 * k - 1:
        return False
    best, found, scale = 0.0, -1, 0.0
    for place in range(here):
        x = points[groups.members[a, place]]
        leaving, joining = 0.0, 0.0
        for j in range(d):
            leaving += (x[j] - centres[a, j]) ** 2
            joining += (x[j] - centres[b, j]) ** 2
        change = joining * there / (there + 1) - leaving * here / (here - 1)
        if change < best:
            best, found, scale = change, place, leaving
    if found < 0 or -best <= NO_GAIN * scale:
        return False
    i = groups.members[a, found]
    for j in range(d):
        centres[a, j] -= (points[i, j] - centres[a, j]) / (here - 1)
        centres[b, j] += (points[i, j] - centres[b, j]) / (there + 1)
    groups.members[a, found] = groups.members[a, here - 1]
    groups.members[b, there] = i
    groups.labels[i] = b
    groups.sizes[a] -= 1
    groups.sizes[b] += 1
    return True


@helper
def rotate(points: Floats, around: Ints, centres: Floats, groups: Groups) -> int:
    """Go through all records once and rotate each with one of each of two neighbouring groups where that gains.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    around : array of shape (g, m)
        The neighbours of each group, nearest first.
    centres : array of shape (g, d)
        The centroids; changed with the groups.
    groups : Groups
        The partition; changed in place, with the same sizes.

    Returns
    -------
    int
        How many rotations there were.
    """
    own = np.empty(points.shape[0])  # squared distance of each record to the centroid of its group
    for group in range(around.shape[0]):
        _measure(points, group, centres, groups, own)
    rotated = 0
    for a in range(around.shape[0]):
        for place in range(groups.sizes[a]):
            rotated += _rotate_one(points, a, place, around, centres, groups, own)
    return rotated


@borrower
def _measure(points: Floats, group: int, centres: Floats, groups: Groups, own: Floats) -> None:
    for place in range(groups.sizes[group]):
        record = groups.members[group, place]
        own[record] = _square(points[record], centres[group])


@borrower
def _rotate_one(points: Floats, a: int, place: int, around: Ints, centres: Floats, groups: Groups, own: Floats) -> bool:
    """Do the first rotation found that begins with a record and gains."""
    x = groups.members[a, place]
    for t in range(around.shape[1]):
        b = around[a, t]
        joining = _square(points[x], centres[b])
        for second in range(groups.sizes[b]):
            y = groups.members[b, second]
            change = joining - own[y] - _square(points[x], points[y]) / groups.sizes[b]
            if change < 0.0 and _go_on(points, a, place, b, second, change, around, centres, groups, own):
                return True
    return False


@borrower
def _go_on(
    points: Floats,
    a: int,
    place: int,
    b: int,
    second: int,
    so_far: float,
    around: Ints,
    centres: Floats,
    groups: Groups,
    own: Floats,
) -> bool:
    """Find a third group that makes a rotation gain, and do it."""
    x, y = groups.members[a, place], groups.members[b, second]
    for t in range(around.shape[1]):
        c = around[b, t]
        if c == a:
            continue
        joining = so_far + _square(points[y], centres[c])
        for third in range(groups.sizes[c]):
            z = groups.members[c, third]
            change = joining - own[z] - _square(points[y], points[z]) / groups.sizes[c]
            if change >= 0.0:
                continue
            back = _square(points[z], centres[a])
            change += back - own[x] - _square(points[x], points[z]) / groups.sizes[a]
            if change < -NO_GAIN * (back + own[x]):
                _put(points, a, place, z, centres, groups, own)
                _put(points, b, second, x, centres, groups, own)
                _put(points, c, third, y, centres, groups, own)
                return True
    return False


@borrower
def _put(points: Floats, group: int, place: int, record: int, centres: Floats, groups: Groups, own: Floats) -> None:
    """Put a record into a place of a group instead of another one."""
    for j in range(points.shape[1]):
        centres[group, j] += (points[record, j] - points[groups.members[group, place], j]) / groups.sizes[group]
    groups.members[group, place] = record
    groups.labels[record] = group
    _measure(points, group, centres, groups, own)


@borrower
def _square(one: Floats, other: Floats) -> float:
    """The squared distance of two points."""
    total = 0.0
    for j in range(one.size):
        total += (one[j] - other[j]) * (one[j] - other[j])
    return total
