"""Quick descent between neighbouring groups: the best move or swap of records between two groups at a time.

With c and s the centroids and sizes of the groups, and e = y − x, a swap of x (in a) and y (in b) changes the SSE by
−2·e·(c_a − c_b) − |e|²·(1/s_a + 1/s_b); a move of x to b by |x − c_b|²·s_b/(s_b+1) − |x − c_a|²·s_a/(s_a−1).
"""

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper
from discreet.kernels.memetic.unions import Groups

# Rounding must not keep two groups exchanging for ever.
ROUNDS = 12
NOTHING = 1e-11


@helper
def polish(points: Floats, k: int, around: Ints, centres: Floats, groups: Groups) -> None:
    """Go through all groups once, each with each of its neighbours.

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
    for a in range(around.shape[0]):
        for t in range(around.shape[1]):
            b = around[a, t]
            for _ in range(ROUNDS):
                if not (_swap(points, a, b, centres, groups) or _move(points, a, b, k, centres, groups)):
                    break


@helper
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
    if mine < 0 or -best <= NOTHING * scale:
        return False
    i, m = groups.members[a, mine], groups.members[b, yours]
    for j in range(d):
        e = points[m, j] - points[i, j]
        centres[a, j] += e / groups.sizes[a]
        centres[b, j] -= e / groups.sizes[b]
    groups.members[a, mine], groups.members[b, yours] = m, i
    groups.labels[m], groups.labels[i] = a, b
    return True


@helper
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
    if found < 0 or -best <= NOTHING * scale:
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
