"""Whether each record finds its own among many candidates: counts of nearer and tied candidates, without a matrix.

Candidates that are equal are searched once and counted as often as they occur. A record's distance to its own is a
radius known beforehand, so a kd-tree is asked nearest-first and left as soon as enough candidates are nearer. Where
boxes prune little (many attributes), a record soon has visited too many leaves; such records are scanned in blocks
instead: products in single precision, whose error is bounded, exclude almost all candidates, and only the others are
measured. Both ways measure alike, so which of them was taken never changes a result.
"""

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints, Progress, Words
from discreet.kernels.chunks import part, sweep
from discreet.kernels.jit import helper, kernel
from discreet.kernels.space.kdtree import Tree, at_least, grow, measure

Singles = NDArray[np.float32]

# Squared distances tie when they differ by no more than this: a mean computed in another order differs in the last bit.
RELATIVE = 1e-9
ABSOLUTE = 1e-18
# A search gives up after one in so many leaves. Measured on normal data: per candidate, a scan in blocks takes half the
# time of a leaf at 13 attributes and a fifth of it at 100; and from about 20 attributes on a search that does not end
# at once visits nearly all leaves.
FEW_ATTRIBUTES = 20
SHARE_OF_FEW = 2
SHARE_OF_MANY = 16
GAVE_UP = -1.0  # in place of the count of ties
# One tile of products stays in the second-level cache.
ROWS = 128
TILE = 2048


def distinct(words: Words) -> tuple[Ints, Ints, Floats]:
    """Find equal rows by hashing.

    Rows of equal hash that are not equal may leave a row in two entries; their multiplicities still add up, which is
    all that counting needs.

    Returns
    -------
    tuple
        A row of each entry, the entry of each row, and how many rows each entry has.
    """
    order = np.argsort(_hashes(words), kind="stable")
    entry = np.zeros(words.shape[0], np.int64)
    first = np.zeros(words.shape[0], np.int64)
    count = _number(words, order, entry, first)
    return first[:count].copy(), entry, np.bincount(entry, minlength=count).astype(np.float64)


def link(points: Floats, candidates: Floats, own: Ints, rows: Ints, nearest: int, progress: Progress) -> Floats:
    """Compute the chance of each of the given rows that a random order of ties puts its own among the nearest.

    Parameters
    ----------
    points, candidates : arrays, n × D and m × D, of at least one attribute, all finite
        Those who search, and those who are found.
    own : array of int
        Which candidate belongs to each point.
    rows : array of int
        The points that search.
    nearest : int
        How many of the nearest count.
    progress : callable
        Told the fraction done.
    """
    # Adding zero makes negative zero positive, so that equal numbers have equal bits.
    first, entry, weights = distinct((candidates + 0.0).view(np.uint64))
    places = np.ascontiguousarray(candidates[first])
    owns = entry[own[rows]]
    tree = grow(places)
    # Neighbouring records visit the same leaves: in the order of the tree these stay in the cache.
    order = np.argsort(tree.place[owns], kind="stable")
    queries, owns = np.ascontiguousarray(points[rows[order]]), owns[order]
    share = SHARE_OF_FEW if points.shape[1] < FEW_ATTRIBUTES else SHARE_OF_MANY
    budget = max(1, tree.blocks.shape[0] // share)
    low, high = _band(queries, places, owns)
    counts = np.zeros((rows.size, 2))

    def search(start: int, end: int) -> None:
        to = slice(start, end)
        _search(tree, weights, queries[to], low[to], high[to], nearest, budget, counts[to])

    sweep(search, rows.size, part(progress, 0.0, 0.5))
    left = np.flatnonzero(counts[:, 1] == GAVE_UP)
    if left.size:
        layout = np.argsort(tree.place)
        counts[left] = _scan(
            queries[left], low[left], high[left], places[layout], weights[layout], nearest, part(progress, 0.5, 1.0)
        )
    progress(1.0)
    chances = np.zeros(rows.size)
    # A search that was left early may have met no tie; it has no chance anyway.
    chances[order] = np.clip((nearest - counts[:, 0]) / np.maximum(counts[:, 1], 1.0), 0.0, 1.0)
    return chances


def _scan(
    queries: Floats, low: Floats, high: Floats, places: Floats, weights: Floats, nearest: int, progress: Progress
) -> Floats:
    """Count what a search counts, for records whose search would visit most of the tree.

    With x and y about a common centre, ‖x−y‖² ≤ h exactly if x·y − ‖y‖²/2 ≥ (‖x‖²−h)/2. The left side is one product
    in single precision of (x, 1) and (y, −‖y‖²/2); the right side is lowered by a bound of all rounding.
    """
    n, d = queries.shape
    centre = places.mean(axis=0)
    counts = np.zeros((n, 2))
    error = 2.0 * (d + 6) * 2.0**-24
    # Overflow makes a product infinite or undefined; such candidates are measured.
    with np.errstate(all="ignore"):
        moved = places - centre
        squares = np.einsum("ij,ij->i", moved, moved)
        singles = np.column_stack([moved, -0.5 * squares]).astype(np.float32)
        tiles = [slice(start, start + TILE) for start in range(0, len(places), TILE)]
        widths = [float(np.sqrt(squares[tile].max())) for tile in tiles]

    def block(at: Ints) -> None:
        x = queries[at] - centre
        lengths = np.einsum("ij,ij->i", x, x)
        single = np.column_stack([x, np.ones(at.size)]).astype(np.float32)
        for tile, width in zip(tiles, widths, strict=True):
            seek = np.flatnonzero(counts[at, 0] < nearest)
            if not seek.size:
                return
            rows = at[seek]
            slack = error * (np.sqrt(lengths[seek]) + width) ** 2 + 1e-35
            least = (0.5 * (lengths[seek] - high[rows]) - slack).astype(np.float32)
            least = np.nextafter(least, np.float32(-np.inf))
            products = single[seek] @ singles[tile].T
            counts[rows] += _screen(products, least, queries[rows], low[rows], high[rows], places[tile], weights[tile])

    def step(start: int, end: int) -> None:
        with np.errstate(all="ignore"):
            for first in range(start * ROWS, end * ROWS, ROWS):
                block(np.arange(first, min(first + ROWS, n)))

    sweep(step, -(-n // ROWS), progress)
    return counts


@kernel
def _hashes(words: Words) -> Words:
    """Mix the words of each row into one (the finaliser of splitmix64 after each word)."""
    n, d = words.shape
    hashes = np.zeros(n, np.uint64)
    for i in range(n):
        x = np.uint64(0)
        for j in range(d):
            x = (x ^ words[i, j]) + np.uint64(0x9E3779B97F4A7C15)
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x ^= x >> np.uint64(31)
        hashes[i] = x
    return hashes


@kernel
def _number(words: Words, order: Ints, entry: Ints, first: Ints) -> int:
    """Number the runs of equal rows in an order; give how many there are."""
    count = 0
    for at in range(order.size):
        i = order[at]
        same = at > 0
        if same:
            before = order[at - 1]
            for j in range(words.shape[1]):
                if words[i, j] != words[before, j]:
                    same = False
                    break
        if not same:
            first[count] = i
            count += 1
        entry[i] = count - 1
    return count


@helper
def _distance(x: Floats, y: Floats) -> float:
    """Sum as a leaf does, so that the same pair has the same distance to the last bit."""
    total = 0.0
    for j in range(x.size):
        difference = y[j] - x[j]
        total += difference * difference
    return total


@kernel
def _band(queries: Floats, places: Floats, owns: Ints) -> tuple[Floats, Floats]:
    """Find the squared distances that tie with that of the own, from low to high."""
    low, high = np.zeros(owns.size), np.zeros(owns.size)
    for i in range(owns.size):
        radius = _distance(queries[i], places[owns[i]])
        slack = RELATIVE * radius + ABSOLUTE
        low[i], high[i] = radius - slack, radius + slack
    return low, high


@kernel
def _search(
    tree: Tree, weights: Floats, queries: Floats, low: Floats, high: Floats, nearest: int, budget: int, counts: Floats
) -> None:
    """Count the nearer and the tied of each query, until `nearest` are nearer."""
    for i in range(low.size):
        counts[i, 0], counts[i, 1] = _count(tree, weights, queries[i], low[i], high[i], nearest, budget)


@helper
def _count(
    tree: Tree, weights: Floats, query: Floats, low: float, high: float, nearest: int, budget: int
) -> tuple[float, float]:
    """Count the candidates nearer than low and those from low to high, or give up after a budget of leaves."""
    leaves = tree.blocks.shape[0]
    nearer, tied = 0.0, 0.0
    tree.stack[0] = 0
    top, visited = 1, 0
    while top > 0:
        top -= 1
        node = tree.stack[top]
        while node < leaves - 1:
            near, far = 2 * node + 1, 2 * node + 2
            near_bound, far_bound = at_least(tree, near, query), at_least(tree, far, query)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            if far_bound <= high:
                tree.stack[top] = far
                top += 1
            node = near
            if near_bound > high:
                break
        else:
            if visited == budget:
                return 0.0, GAVE_UP
            visited += 1
            measure(tree, node, query)
            leaf = node - leaves + 1
            for slot in range(tree.alive[node]):
                distance = tree.work[slot]
                if distance <= high:
                    if distance < low:
                        nearer += weights[tree.records[leaf, slot]]
                    else:
                        tied += weights[tree.records[leaf, slot]]
            if nearer >= nearest:
                break
    return nearer, tied


@kernel
def _screen(
    products: Singles, least: Singles, queries: Floats, low: Floats, high: Floats, places: Floats, weights: Floats
) -> Floats:
    """Measure the candidates whose product is not below the least, and count them."""
    n, width = products.shape
    counts = np.zeros((n, 2))
    for i in range(n):
        row, bar = products[i], least[i]
        for start in range(0, width, 64):
            end = min(start + 64, width)
            # The first loop only asks whether there is any: it is compiled to a few wide instructions.
            some = 0
            for c in range(start, end):
                some += not (row[c] < bar)
            if some == 0:
                continue
            for c in range(start, end):
                if not (row[c] < bar):
                    distance = _distance(queries[i], places[c])
                    if distance < low[i]:
                        counts[i, 0] += weights[c]
                    elif distance <= high[i]:
                        counts[i, 1] += weights[c]
    return counts
