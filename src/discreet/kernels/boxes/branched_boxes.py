"""The cheapest branched boxes: a first safe pattern of a hierarchical table, sub-totals and all.

On an axis a leaf moves with every code it is part of, and another leaf with its own codes the other way; where the two
branches meet they cancel. Or a leaf moves with all its codes up to the total. Either way the axis adds up, and the
product of such moves over all axes is a table that fits: a box whose sides are branches. It moves every cell in it by
one and the same amount.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.boxes.cheap_boxes import fits, harvest
from discreet.kernels.jit import helper, kernel

# How many leaves of a code, how many leaves beside it, and how many moves of two of them are looked at on an axis.
INNER, BESIDE, MOVES = 24, 96, 64


@kernel
def branched_boxes(
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    parents: Ints,
    depths: Ints,
    leaves: Ints,
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
) -> tuple[Ints, Ints]:
    """Find a branched box for each task that has none, and hide its cells.

    Parameters
    ----------
    codes, strides, lookup : arrays
        The code of each cell on each axis; the cell at codes is `lookup[codes @ strides]`, −1 where there is none.
    parents, depths : arrays of shape (axes, codes)
        The code that each is part of, −1 for the total, and how many codes are above it.
    leaves : array of shape (axes, leaves)
        The codes that nothing is part of, filled up with −1.
    lo, hi, weight, hidden, cells, sides, levels, up, down, order, by : arrays
        As in `cheap_boxes`.
    budget : int
        How many moves to try for each task at most, over all axes.

    Returns
    -------
    starts, found : arrays of ints
        Where the cells of each box begin, and the cells.
    """
    axes = codes.shape[1]
    longest = 2 * int(depths.max()) + 2
    size = 1
    for j in range(axes):
        size *= 2 * int(depths[j].max()) + 1
    starts = np.zeros(order.size + 1, np.int64)
    found = np.empty(max(64, 8 * order.size), np.int64)
    count = 0
    moves, turns = np.zeros((axes, MOVES, longest), np.int64), np.zeros((axes, MOVES, longest), np.int64)
    lengths, costs = np.zeros((axes, MOVES), np.int64), np.zeros((axes, MOVES))
    sizes = np.zeros(axes, np.int64)
    keys, factors = np.zeros(size, np.int64), np.zeros(size, np.int64)
    best, best_factors = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for task in order:
        if by[task] >= 0:
            continue
        cell, side, level = cells[task], sides[task], levels[task]
        if not fits(lo, hi, cell, side, level):
            continue
        is_able = True
        for j in range(axes):
            sizes[j] = _collect(
                j, codes[cell, j], codes, strides, lookup, parents[j], depths[j], leaves[j], lo, hi, weight, hidden,
                cell, side, level, moves[j], turns[j], lengths[j], costs[j],
            )  # fmt: skip
            if sizes[j] == 0:
                is_able = False
                break
        if not is_able:
            continue
        corners = _search(
            codes[cell], cell, strides, lookup, lo, hi, weight, hidden, side, level, budget,
            moves, turns, lengths, costs, sizes, keys, factors, best, best_factors,
        )  # fmt: skip
        if corners == 0:
            continue
        start = starts[count]
        if start + corners > found.size:
            wider = np.empty(2 * found.size + corners, np.int64)
            wider[:start] = found[:start]
            found = wider
        for corner in range(corners):
            hidden[best[corner]] = True
            found[start + corner] = best[corner]
        harvest(lo, hi, levels, up, down, best[:corners], best_factors[:corners], by, count)
        count += 1
        starts[count] = start + corners
    return starts[: count + 1], found[: starts[count]]


@helper
def _collect(
    axis: int,
    code: int,
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    parents: Ints,
    depths: Ints,
    leaves: Ints,
    lo: Floats,
    hi: Floats,
    weight: Floats,
    hidden: NDArray[np.bool_],
    cell: int,
    side: int,
    level: float,
    moves: Ints,
    turns: Ints,
    lengths: Ints,
    costs: Floats,
) -> int:
    """List the moves of an axis that move a code along, the cheapest on the line of the cell first; tell how many."""
    key = 0
    for j in range(strides.size):
        key += codes[cell, j] * strides[j]
    # What it costs to move each code of the line along with the cell, and against it.
    along, against = np.full(parents.size, np.inf), np.full(parents.size, np.inf)
    for other in range(parents.size):
        if other > 0 and parents[other] < 0:
            break
        place = lookup[key + (other - code) * strides[axis]]
        if place < 0:
            continue
        cost = 0.0 if hidden[place] else weight[place]
        if fits(lo, hi, place, side, level):
            along[other] = cost
        if fits(lo, hi, place, -side, level):
            against[other] = cost
    inner, inner_costs = np.empty(leaves.size, np.int64), np.empty(leaves.size)
    beside, beside_costs = np.empty(leaves.size, np.int64), np.empty(leaves.size)
    many_inner = many_beside = 0
    for leaf in leaves:
        if leaf < 0:
            break
        above, cost = leaf, 0.0
        while depths[above] > depths[code]:
            cost += along[above]
            above = parents[above]
        if above == code:
            if cost < np.inf:
                inner[many_inner], inner_costs[many_inner] = leaf, cost
                many_inner += 1
        elif against[leaf] < np.inf:
            beside[many_beside], beside_costs[many_beside] = leaf, against[leaf]
            many_beside += 1
    first = inner[:many_inner][np.argsort(inner_costs[:many_inner], kind="mergesort")[:INNER]]
    second = beside[:many_beside][np.argsort(beside_costs[:many_beside], kind="mergesort")[:BESIDE]]
    total = first.size * (second.size + 1)
    one, two, price = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
    many = 0
    for mine in first:
        for at in range(-1, second.size):
            theirs = second[at] if at >= 0 else -1
            cost = _priced(mine, theirs, parents, depths, along, against)
            if cost < np.inf:
                one[many], two[many], price[many] = mine, theirs, cost
                many += 1
    lightest = np.argsort(price[:many], kind="mergesort")[:MOVES]
    for at in range(lightest.size):
        pair = lightest[at]
        costs[at] = price[pair]
        # The code itself comes first: what is there already stays in place.
        moves[at, 0], turns[at, 0] = code, 1
        length = 1
        mine, theirs = one[pair], two[pair]
        while mine != theirs:
            if theirs < 0 or depths[mine] >= depths[theirs]:
                if mine != code:
                    moves[at, length], turns[at, length] = mine, 1
                    length += 1
                mine = parents[mine]
            else:
                moves[at, length], turns[at, length] = theirs, -1
                length += 1
                theirs = parents[theirs]
        lengths[at] = length
    return int(lightest.size)


@helper
def _priced(mine: int, theirs: int, parents: Ints, depths: Ints, along: Floats, against: Floats) -> float:
    """What it costs to move a leaf with its codes, and another against it with its own until they meet."""
    cost = 0.0
    while mine != theirs:
        if theirs < 0 or depths[mine] >= depths[theirs]:
            cost += along[mine]
            mine = parents[mine]
        else:
            cost += against[theirs]
            theirs = parents[theirs]
    return cost


@helper
def _search(
    codes: NDArray[np.integer],
    cell: int,
    strides: Ints,
    lookup: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    weight: Floats,
    hidden: NDArray[np.bool_],
    side: int,
    level: float,
    budget: int,
    moves: Ints,
    turns: Ints,
    lengths: Ints,
    costs: Floats,
    sizes: Ints,
    keys: Ints,
    factors: Ints,
    best: Ints,
    best_factors: Ints,
) -> int:
    """Add axis after axis; go back where the cost so far is that of the best. Tell how many cells the best box has."""
    axes = codes.size
    chosen = np.full(axes, -1)
    spent, counts = np.zeros(axes + 1), np.ones(axes + 1, np.int64)
    least, corners = np.inf, 0
    # What the moves that are still to come cost at least.
    ahead = np.zeros(axes + 1)
    for j in range(axes - 1, -1, -1):
        ahead[j] = ahead[j + 1] + costs[j, 0]
    keys[0], factors[0] = 0, 1
    for j in range(axes):
        keys[0] += codes[j] * strides[j]
    depth = 0
    while depth >= 0 and budget > 0:
        chosen[depth] += 1
        at = chosen[depth]
        if at == sizes[depth] or spent[depth] + costs[depth, at] + ahead[depth + 1] >= least:
            depth -= 1
            continue
        budget -= 1
        before, place = counts[depth], counts[depth]
        cost = spent[depth]
        for step in range(1, lengths[depth, at]):
            shift = (moves[depth, at, step] - codes[depth]) * strides[depth]
            turn = turns[depth, at, step]
            for corner in range(before):
                key, factor = keys[corner] + shift, factors[corner] * turn
                other = lookup[key]
                if other < 0 or not fits(lo, hi, other, side * factor, level):
                    cost = np.inf
                    break
                if not hidden[other]:
                    cost += weight[other]
                keys[place], factors[place] = key, factor
                place += 1
            if cost + ahead[depth + 1] >= least:
                cost = np.inf
                break
        if cost == np.inf:
            continue
        depth += 1
        spent[depth], counts[depth] = cost, place
        if depth < axes:
            chosen[depth] = -1
            continue
        least, corners = cost, place
        for corner in range(place):
            best[corner], best_factors[corner] = lookup[keys[corner]], factors[corner]
        depth -= 1
    return int(corners)
