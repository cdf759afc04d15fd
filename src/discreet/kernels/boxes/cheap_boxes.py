"""The cheapest boxes: a first safe pattern of a table of several dimensions, in no time.

A box (see `cubes`) proves that its cells can move as far as the narrowest of them. Here its corners need not be hidden
yet: of all boxes through a cell that are wide enough, the one is taken whose corners cost least to hide in addition.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel


@kernel
def cheap_boxes(
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    line: NDArray[np.integer],
    sign: NDArray[np.integer],
    members_starts: NDArray[np.integer],
    members: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    weight: Floats,
    hidden: NDArray[np.bool_],
    cells: Ints,
    sides: Ints,
    levels: Floats,
    up: Ints,
    down: Ints,
    order: Ints,
    by: Ints,
    budget: int,
) -> Ints:
    """Find a box for each task that has none, and hide its corners.

    Parameters
    ----------
    codes, strides, lookup, line, sign, members_starts, members : arrays
        The grid; see `cubes.boxes`.
    lo, hi : arrays of floats
        Bounds of the deviations of each cell, lo ≤ 0 ≤ hi; both 0 for a cell that must stay.
    weight : array of floats
        What it costs to hide each cell.
    hidden : array of bools
        Whether each cell is hidden; changed.
    cells, sides, levels : arrays
        The tasks: a cell, 1 for up or −1 for down, and how far.
    up, down : arrays of ints
        For each cell its task upwards and downwards, −1 if none.
    order : array of ints
        The tasks to do.
    by : array of ints
        For each task −1 if it is open, something else if not; changed to the box that proves it.
    budget : int
        How many partners to try for each task at most, over all dimensions.

    Returns
    -------
    array of shape (boxes, 2^D)
        The cells of each box.
    """
    dimensions = codes.shape[1]
    size = 1 << dimensions
    found = np.empty((max(16, order.size), size), np.int64)
    count = 0
    longest = 1
    for group in range(members_starts.size - 1):
        longest = max(longest, members_starts[group + 1] - members_starts[group])
    candidates = np.zeros((dimensions, longest), np.int64)
    costs = np.zeros((dimensions, longest))
    sizes = np.zeros(dimensions, np.int64)
    keys, factors = np.zeros(size, np.int64), np.zeros(size, np.int64)
    best, best_factors = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for task in order:
        if by[task] >= 0:
            continue
        cell, side, level = cells[task], sides[task], levels[task]
        if not fits(lo, hi, cell, side, level):
            continue
        if not _collect(
            codes, strides, lookup, line, sign, members_starts, members, lo, hi, weight, hidden,
            cell, side, level, candidates, costs, sizes,
        ):  # fmt: skip
            continue
        if not _search(
            codes[cell], cell, strides, lookup, sign, lo, hi, weight, hidden, side, level, budget,
            candidates, costs, sizes, keys, factors, best, best_factors,
        ):  # fmt: skip
            continue
        for corner in range(size):
            hidden[best[corner]] = True
            found[count, corner] = best[corner]
        harvest(lo, hi, levels, up, down, best, best_factors, by, count)
        count += 1
    return found[:count]


@helper
def fits(lo: Floats, hi: Floats, cell: int, way: int, level: float) -> bool:
    """Whether a cell can move by a level to one side."""
    return bool(hi[cell] >= level if way > 0 else -lo[cell] >= level)


@helper
def _turn(sign: NDArray[np.integer], dimension: int, code: int, partner: int) -> int:
    """How the partner moves when the code moves by +1: against it if both are parts, alike if one is the total."""
    return -1 if sign[dimension, code] == sign[dimension, partner] else 1


@helper
def _collect(
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    line: NDArray[np.integer],
    sign: NDArray[np.integer],
    members_starts: NDArray[np.integer],
    members: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    weight: Floats,
    hidden: NDArray[np.bool_],
    cell: int,
    side: int,
    level: float,
    candidates: Ints,
    costs: Floats,
    sizes: Ints,
) -> bool:
    """List in each dimension the partners that can move along, the cheapest first; tell whether each has some."""
    dimensions = codes.shape[1]
    key = 0
    for j in range(dimensions):
        key += codes[cell, j] * strides[j]
    for j in range(dimensions):
        code = codes[cell, j]
        group = line[j, code]
        if group < 0:
            return False
        size = 0
        for place in range(members_starts[group], members_starts[group + 1]):
            partner = members[place]
            if partner == code:
                continue
            other = lookup[key + (partner - code) * strides[j]]
            if other >= 0 and fits(lo, hi, other, side * _turn(sign, j, code, partner), level):
                candidates[j, size] = partner
                costs[j, size] = 0.0 if hidden[other] else weight[other]
                size += 1
        if size == 0:
            return False
        sizes[j] = size
        order = np.argsort(costs[j, :size], kind="mergesort")
        candidates[j, :size] = candidates[j, :size][order]
        costs[j, :size] = costs[j, :size][order]
    return True


@helper
def _search(
    codes: NDArray[np.integer],
    cell: int,
    strides: Ints,
    lookup: NDArray[np.integer],
    sign: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    weight: Floats,
    hidden: NDArray[np.bool_],
    side: int,
    level: float,
    budget: int,
    candidates: Ints,
    costs: Floats,
    sizes: Ints,
    keys: Ints,
    factors: Ints,
    best: Ints,
    best_factors: Ints,
) -> bool:
    """Add dimension after dimension, each doubling the corners; go back where the cost so far is that of the best."""
    dimensions = codes.size
    chosen = np.full(dimensions, -1)
    spent = np.zeros(dimensions + 1)
    least, is_found = np.inf, False
    # What the partners that are still to come cost at least.
    ahead = np.zeros(dimensions + 1)
    for j in range(dimensions - 1, -1, -1):
        ahead[j] = ahead[j + 1] + costs[j, 0]
    keys[0], factors[0] = 0, 1
    for j in range(dimensions):
        keys[0] += codes[j] * strides[j]
    best[0], best_factors[0] = cell, 1
    depth = 0
    while depth >= 0 and budget > 0:
        chosen[depth] += 1
        at = chosen[depth]
        if at == sizes[depth] or spent[depth] + costs[depth, at] + ahead[depth + 1] >= least:
            depth -= 1
            continue
        budget -= 1
        partner = candidates[depth, at]
        shift = (partner - codes[depth]) * strides[depth]
        turn = _turn(sign, depth, codes[depth], partner)
        half = 1 << depth
        cost = spent[depth]
        for corner in range(half):
            key, factor = keys[corner] + shift, factors[corner] * turn
            other = lookup[key]
            if other < 0 or not fits(lo, hi, other, side * factor, level):
                cost = np.inf
                break
            if not hidden[other]:
                cost += weight[other]
            keys[half + corner], factors[half + corner] = key, factor
        if cost + ahead[depth + 1] >= least:
            continue
        depth += 1
        spent[depth] = cost
        if depth < dimensions:
            chosen[depth] = -1
            continue
        least, is_found = cost, True
        for corner in range(keys.size):
            best[corner], best_factors[corner] = lookup[keys[corner]], factors[corner]
        depth -= 1
    return is_found


@helper
def harvest(
    lo: Floats,
    hi: Floats,
    levels: Floats,
    up: Ints,
    down: Ints,
    corners: Ints,
    factors: Ints,
    by: Ints,
    number: int,
) -> None:
    """Prove all that a box proves: it may be moved along and against itself."""
    along, against = np.inf, np.inf
    for corner in range(corners.size):
        cell = corners[corner]
        if factors[corner] > 0:
            along, against = min(along, hi[cell]), min(against, -lo[cell])
        else:
            along, against = min(along, -lo[cell]), min(against, hi[cell])
    for corner in range(corners.size):
        cell = corners[corner]
        reach_up, reach_down = (along, against) if factors[corner] > 0 else (against, along)
        task = up[cell]
        if task >= 0 and by[task] < 0 and reach_up >= levels[task]:
            by[task] = number
        task = down[cell]
        if task >= 0 and by[task] < 0 and reach_down >= levels[task]:
            by[task] = number
