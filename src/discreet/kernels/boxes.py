"""Boxes of cells that can exchange value without a trace: those that move a cell furthest, and those that cost least.

Take a cell of a table of D dimensions and, on every axis, a partner of its code. The 2^D cells at the corners, moved by
one and the same amount, obey every relation: along each axis a corner and its neighbour cancel within the one equation
that holds both codes. Two parts of a total move against each other, a part and the total move alike.

Along a hierarchy a side of a box may be a branch: a leaf moves with every code it is part of, and another leaf with its
own codes the other way; where the two branches meet they cancel. Or a leaf moves with all its codes up to the total.

So a box of suppressed cells proves that each of them can move as far as the narrowest of them. Every search here adds
axis after axis, each multiplying the corners, and goes back where nothing better can follow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints, stable_order
from discreet.kernels.jit import helper, kernel

# Where sides are branches: how many leaves of a code, leaves beside it and pairs of them are looked at on an axis.
MOST_LEAVES_INSIDE, MOST_LEAVES_BESIDE, MOST_BRANCHES = 24, 96, 64


class Grid(NamedTuple):
    """Where the cells of a table stand, and which codes of an axis may exchange value.

    The cell at codes is `lookup[codes @ strides]`, −1 where there is none. Codes may exchange value if they stand in
    one and the same equation and in no other; equation e holds the codes `members[starts[e] : starts[e + 1]]`.
    """

    codes: NDArray[np.integer]  # cell, axis: its code
    strides: Ints
    lookup: NDArray[np.integer]
    line: NDArray[np.integer]  # axis, code: its equation, numbered through all axes; −1 if it stands in several
    sign: NDArray[np.integer]  # axis, code: 1 for a part, −1 for a total
    starts: NDArray[np.integer]
    members: NDArray[np.integer]


class Trees(NamedTuple):
    """Where the cells of a table stand, as in a `Grid`, and the hierarchy of each axis."""

    codes: NDArray[np.integer]
    strides: Ints
    lookup: NDArray[np.integer]
    parents: Ints  # axis, code: the code that it is part of, −1 for the total
    depths: Ints  # axis, code: how many codes are above it
    leaves: Ints  # axis, place: the codes that nothing is part of, filled up with −1


class Cells(NamedTuple):
    """How far each cell may move, lo ≤ 0 ≤ hi, both 0 if it must stay; and whether it is suppressed."""

    lo: Floats
    hi: Floats
    hidden: NDArray[np.bool_]


class Requirements(NamedTuple):
    """What must be protected: each a cell, 1 for up or −1 for down, and how far; and the box that proves it."""

    cells: Ints
    sides: Ints
    levels: Floats
    up: Ints  # cell: its requirement upwards, −1 if none
    down: Ints
    order: Ints  # those to protect, one after the other
    by: Ints  # requirement: the box that proves it, −1 if it is open


class Moves(NamedTuple):
    """What may be chosen on each axis: codes that move with a cell's own, to which the first place is left."""

    codes: Ints  # axis, move, place
    turns: Ints  # axis, move, place: 1 if the code moves along, −1 if against
    lengths: Ints  # axis, move: how many codes
    costs: Floats  # axis, move: what the cells on the line of the cell cost
    sizes: Ints  # axis: how many moves


class Box(NamedTuple):
    """The corners that are looked at, by key and by how they move with the first; and those of the best box so far."""

    keys: Ints
    factors: Ints
    cells: Ints
    signs: Ints


@kernel
def furthest_boxes(
    grid: Grid, cells: Cells, targets: Ints, levels_up: Floats, levels_down: Floats, budget: int
) -> tuple[Floats, Floats, Ints]:
    """Find for each target the boxes of suppressed cells that let it move up and down, if possible by its levels.

    Parameters
    ----------
    grid, cells : Grid, Cells
        The table. A target that is not suppressed cannot move.
    targets : array of ints
        The cells asked for.
    levels_up, levels_down : arrays of floats
        What is enough for each target; the search for a side ends there. Infinite: the best box within the budget.
    budget : int
        How many partners to try for each target at most, over all axes.

    Returns
    -------
    up, down : arrays of floats
        How far each target can move by one box, at most its level.
    partners : array of shape (targets, 2, D)
        The partner codes of that box, upwards and downwards; −1 where there is none.
    """
    count, axes = targets.size, grid.codes.shape[1]
    up, down = np.zeros(count), np.zeros(count)
    partners = np.full((count, 2, axes), -1)
    moves, box = _moves(axes, _longest(grid), 2), _box(1 << axes)
    reach = np.zeros((axes + 1, 2))
    levels, best = np.zeros(2), np.zeros(2)
    for i in range(count):
        cell = targets[i]
        if not cells.hidden[cell]:
            continue
        reach[0, 0], reach[0, 1] = cells.hi[cell], -cells.lo[cell]
        levels[0], levels[1] = levels_up[i], levels_down[i]
        best[:] = 0.0
        codes = grid.codes[cell]
        box.keys[0], box.factors[0] = _key(codes, grid.strides), 1
        if _beats(reach[0], best, levels) and _collect_suppressed(grid, cells, codes, box.keys[0], moves):
            _search_furthest(grid, codes, cells, levels, budget, moves, box, reach, best, partners[i])
            up[i], down[i] = best[0], best[1]
    return up, down, partners


@kernel
def cheapest_boxes(
    grid: Grid, cells: Cells, weight: Floats, requirements: Requirements, budget: int
) -> tuple[Ints, Ints]:
    """Find a box for each requirement that has none, the one that costs least to suppress, and suppress its cells.

    Parameters
    ----------
    grid, cells : Grid, Cells
        The table; `cells.hidden` is changed.
    weight : array of floats
        What it costs to suppress each cell.
    requirements : Requirements
        What must be protected; `requirements.by` is changed.
    budget : int
        How many partners to try for each requirement at most, over all axes.

    Returns
    -------
    starts, found : arrays of ints
        Where the cells of each box begin, and the cells.
    """
    axes, order = grid.codes.shape[1], requirements.order
    moves, box = _moves(axes, _longest(grid), 2), _box(1 << axes)
    starts, found, count = np.zeros(order.size + 1, np.int64), np.empty(max(64, 8 * order.size), np.int64), 0
    for one in order:
        if not _is_open(cells, requirements, one):
            continue
        codes, side, level = grid.codes[requirements.cells[one]], requirements.sides[one], requirements.levels[one]
        key, axis = _key(codes, grid.strides), 0
        box.keys[0], box.factors[0] = key, 1
        while axis < axes and _collect_partners(
            grid, axis, codes[axis], cells, weight, side, level, moves, box.keys[0]
        ):
            axis += 1
        if axis < axes:
            continue
        corners = _search_cheapest(codes, grid.strides, grid.lookup, cells, weight, side, level, budget, moves, box)
        if corners > 0:
            found = _suppress(cells, requirements, box, corners, count, starts, found)
            count += 1
    return starts[: count + 1], found[: starts[count]]


@kernel
def branched_boxes(
    trees: Trees, cells: Cells, weight: Floats, requirements: Requirements, budget: int
) -> tuple[Ints, Ints]:
    """Find a box whose sides are branches for each requirement that has none, and suppress its cells.

    Parameters and results are those of `cheapest_boxes`; a try is a move of an axis.
    """
    axes, order = trees.codes.shape[1], requirements.order
    size = 1
    for axis in range(axes):
        size *= 2 * int(trees.depths[axis].max()) + 1
    moves, box = _moves(axes, MOST_BRANCHES, 2 * int(trees.depths.max()) + 2), _box(size)
    starts, found, count = np.zeros(order.size + 1, np.int64), np.empty(max(64, 8 * order.size), np.int64), 0
    for one in order:
        if not _is_open(cells, requirements, one):
            continue
        codes, side, level = trees.codes[requirements.cells[one]], requirements.sides[one], requirements.levels[one]
        key, axis = _key(codes, trees.strides), 0
        box.keys[0], box.factors[0] = key, 1
        while axis < axes and _collect_branches(
            trees, axis, codes[axis], cells, weight, side, level, moves, box.keys[0]
        ):
            axis += 1
        if axis < axes:
            continue
        corners = _search_cheapest(codes, trees.strides, trees.lookup, cells, weight, side, level, budget, moves, box)
        if corners > 0:
            found = _suppress(cells, requirements, box, corners, count, starts, found)
            count += 1
    return starts[: count + 1], found[: starts[count]]


@helper
def _is_open(cells: Cells, requirements: Requirements, one: int) -> bool:
    """Whether a requirement is not proven yet, and its cell can move so far."""
    if requirements.by[one] >= 0:
        return False
    return _fits(cells.lo, cells.hi, requirements.cells[one], requirements.sides[one], requirements.levels[one])


@helper
def _suppress(
    cells: Cells, requirements: Requirements, box: Box, corners: int, count: int, starts: Ints, found: Ints
) -> Ints:
    """Suppress the cells of the best box and note what it proves; the list of cells, which has grown if it had to.

    Changes `cells.hidden`, `requirements.by`, `starts` and `found`.
    """
    start = starts[count]
    if start + corners > found.size:
        wider = np.empty(2 * found.size + corners, np.int64)
        for place in range(start):  # to assign them at once takes a second to compile
            wider[place] = found[place]
        found = wider
    for corner in range(corners):
        cells.hidden[box.cells[corner]] = True
        found[start + corner] = box.cells[corner]
    _prove(cells, requirements, box, corners, count)
    starts[count + 1] = start + corners
    return found


@helper
def _prove(cells: Cells, requirements: Requirements, box: Box, corners: int, number: int) -> None:
    """Note all that a box proves: it may be moved along and against itself. Changes `requirements.by`."""
    lo, hi, by, levels = cells.lo, cells.hi, requirements.by, requirements.levels
    along, against = np.inf, np.inf
    for corner in range(corners):
        cell = box.cells[corner]
        if box.signs[corner] > 0:
            along, against = min(along, hi[cell]), min(against, -lo[cell])
        else:
            along, against = min(along, -lo[cell]), min(against, hi[cell])
    for corner in range(corners):
        cell = box.cells[corner]
        reach_up, reach_down = (along, against) if box.signs[corner] > 0 else (against, along)
        requirement = requirements.up[cell]
        if requirement >= 0 and by[requirement] < 0 and reach_up >= levels[requirement]:
            by[requirement] = number
        requirement = requirements.down[cell]
        if requirement >= 0 and by[requirement] < 0 and reach_down >= levels[requirement]:
            by[requirement] = number


@helper
def _moves(axes: int, most: int, longest: int) -> Moves:
    """Room for so many moves on each axis, each of so many codes."""
    return Moves(
        np.zeros((axes, most, longest), np.int64),
        np.zeros((axes, most, longest), np.int64),
        np.zeros((axes, most), np.int64),
        np.zeros((axes, most)),
        np.zeros(axes, np.int64),
    )


@helper
def _box(size: int) -> Box:
    """Room for so many corners."""
    return Box(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64))


@helper
def _longest(grid: Grid) -> int:
    """How many codes the longest equation has."""
    longest = 1
    for line in range(grid.starts.size - 1):
        longest = max(longest, grid.starts[line + 1] - grid.starts[line])
    return longest


@helper
def _key(codes: NDArray[np.integer], strides: Ints) -> int:
    """Where the cell at some codes is looked up."""
    key = 0
    for axis in range(codes.size):
        key += codes[axis] * strides[axis]
    return key


@helper
def _fits(lo: Floats, hi: Floats, cell: int, way: int, level: float) -> bool:
    """Whether a cell can move by a level to one side."""
    return bool(hi[cell] >= level if way > 0 else -lo[cell] >= level)


@helper
def _turn(sign: NDArray[np.integer], axis: int, code: int, partner: int) -> int:
    """How the partner moves when the code moves by +1: against it if both are parts, alike if one is the total."""
    return -1 if sign[axis, code] == sign[axis, partner] else 1


@helper
def _list_partners(grid: Grid, axis: int, code: int, key: int) -> tuple[Ints, Ints]:
    """The codes that may exchange value with a cell's on an axis, and their cells on the line of the cell."""
    line = grid.line[axis, code]
    first, last = (grid.starts[line], grid.starts[line + 1]) if line >= 0 else (0, 0)
    partners, others = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
    members, lookup, stride = grid.members, grid.lookup, grid.strides[axis]
    size = 0
    for place in range(first, last):
        partner = members[place]
        if partner != code:
            other = lookup[key + (partner - code) * stride]
            if other >= 0:
                partners[size], others[size] = partner, other
                size += 1
    return partners[:size], others[:size]


@helper
def _put(grid: Grid, axis: int, code: int, partner: int, moves: Moves, at: int) -> None:
    """Put down the move of a code and its partner."""
    moves.codes[axis, at, 1], moves.turns[axis, at, 1] = partner, _turn(grid.sign, axis, code, partner)
    moves.lengths[axis, at] = 2


@helper
def _collect_suppressed(grid: Grid, cells: Cells, codes: NDArray[np.integer], key: int, moves: Moves) -> bool:
    """List on each axis the partners whose cell is suppressed and can move; tell whether each axis has some."""
    lo, hi, hidden = cells.lo, cells.hi, cells.hidden
    for axis in range(codes.size):
        partners, others = _list_partners(grid, axis, codes[axis], key)
        size = 0
        for k in range(partners.size):
            other = others[k]
            if hidden[other] and (lo[other] < 0.0 or hi[other] > 0.0):
                _put(grid, axis, codes[axis], partners[k], moves, size)
                size += 1
        if size == 0:
            return False
        moves.sizes[axis] = size
    return True


@helper
def _collect_partners(
    grid: Grid,
    axis: int,
    code: int,
    cells: Cells,
    weight: Floats,
    side: int,
    level: float,
    moves: Moves,
    key: int,
) -> bool:
    """List the partners on an axis that can move along, the cheapest first; tell whether there are some."""
    lo, hi, hidden, sign = cells.lo, cells.hi, cells.hidden, grid.sign
    partners, others = _list_partners(grid, axis, code, key)
    costs = np.empty(partners.size)
    size = 0
    for k in range(partners.size):
        other = others[k]
        if _fits(lo, hi, other, side * _turn(sign, axis, code, partners[k]), level):
            partners[size], costs[size] = partners[k], 0.0 if hidden[other] else weight[other]
            size += 1
    order = stable_order(costs[:size])
    for at in range(size):
        _put(grid, axis, code, partners[order[at]], moves, at)
        moves.costs[axis, at] = costs[order[at]]
    moves.sizes[axis] = size
    return size > 0


@helper
def _collect_branches(
    trees: Trees,
    axis: int,
    code: int,
    cells: Cells,
    weight: Floats,
    side: int,
    level: float,
    moves: Moves,
    key: int,
) -> bool:
    """List the branches of an axis that move a code, the cheapest on the line first; tell whether there are some."""
    parents, depths, lookup, stride = trees.parents[axis], trees.depths[axis], trees.lookup, trees.strides[axis]
    lo, hi, hidden = cells.lo, cells.hi, cells.hidden
    # What it costs to move each code of the line along with the cell, and against it.
    along, against = np.full(parents.size, np.inf), np.full(parents.size, np.inf)
    for other in range(parents.size):
        if other > 0 and parents[other] < 0:
            break
        place = lookup[key + (other - code) * stride]
        if place < 0:
            continue
        cost = 0.0 if hidden[place] else weight[place]
        if _fits(lo, hi, place, side, level):
            along[other] = cost
        if _fits(lo, hi, place, -side, level):
            against[other] = cost
    first, second = _list_leaves(trees.leaves[axis], code, parents, depths, along, against)
    total = first.size * (second.size + 1)
    one, two, price = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
    many = 0
    for mine in first:
        for at in range(-1, second.size):
            theirs = second[at] if at >= 0 else -1
            cost = _price(mine, theirs, parents, depths, along, against)
            if cost < np.inf:
                one[many], two[many], price[many] = mine, theirs, cost
                many += 1
    lightest = stable_order(price[:many])[:MOST_BRANCHES]
    for at in range(lightest.size):
        pair = lightest[at]
        moves.costs[axis, at] = price[pair]
        # The first place is the code's own: what is there already stays.
        length = 1
        mine, theirs = one[pair], two[pair]
        while mine != theirs:
            if theirs < 0 or depths[mine] >= depths[theirs]:
                if mine != code:
                    moves.codes[axis, at, length], moves.turns[axis, at, length] = mine, 1
                    length += 1
                mine = parents[mine]
            else:
                moves.codes[axis, at, length], moves.turns[axis, at, length] = theirs, -1
                length += 1
                theirs = parents[theirs]
        moves.lengths[axis, at] = length
    moves.sizes[axis] = lightest.size
    return lightest.size > 0


@helper
def _list_leaves(
    leaves: Ints, code: int, parents: Ints, depths: Ints, along: Floats, against: Floats
) -> tuple[Ints, Ints]:
    """The leaves of a code that can move along, and those beside it that can move against it, the cheapest first."""
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
    first = inner[stable_order(inner_costs[:many_inner])[:MOST_LEAVES_INSIDE]]
    second = beside[stable_order(beside_costs[:many_beside])[:MOST_LEAVES_BESIDE]]
    return first, second


@helper
def _price(mine: int, theirs: int, parents: Ints, depths: Ints, along: Floats, against: Floats) -> float:
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
def _search_cheapest(
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    cells: Cells,
    weight: Floats,
    side: int,
    level: float,
    budget: int,
    moves: Moves,
    box: Box,
) -> int:
    """Put the cheapest box into `box`, going back where the cost so far is that of the best; tell how many cells."""
    lo, hi, hidden, keys, factors = cells.lo, cells.hi, cells.hidden, box.keys, box.factors
    costs, sizes, lengths, steps, turns = moves.costs, moves.sizes, moves.lengths, moves.codes, moves.turns
    axes = codes.size
    chosen = np.full(axes, -1)
    spent, counts = np.zeros(axes + 1), np.ones(axes + 1, np.int64)
    least, corners = np.inf, 0
    # What the moves that are still to come cost at least.
    ahead = np.zeros(axes + 1)
    for axis in range(axes - 1, -1, -1):
        ahead[axis] = ahead[axis + 1] + costs[axis, 0]
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
            shift = (steps[depth, at, step] - codes[depth]) * strides[depth]
            turn = turns[depth, at, step]
            for corner in range(before):
                key, factor = keys[corner] + shift, factors[corner] * turn
                other = lookup[key]
                if other < 0 or not _fits(lo, hi, other, side * factor, level):
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
            box.cells[corner], box.signs[corner] = lookup[keys[corner]], factors[corner]
        depth -= 1
    return int(corners)


@helper
def _search_furthest(
    grid: Grid,
    codes: NDArray[np.integer],
    cells: Cells,
    levels: Floats,
    budget: int,
    moves: Moves,
    box: Box,
    reach: Floats,
    best: Floats,
    partners: Ints,
) -> None:
    """Find the boxes that reach furthest up and down; `best` and `partners` are changed, `reach` is room to work in."""
    strides, lookup, sizes, candidates, turns = grid.strides, grid.lookup, moves.sizes, moves.codes, moves.turns
    # Few partners first: the more corners have to be looked up, the fewer partners are left to try.
    order, chosen = np.empty(codes.size, np.int64), np.full(codes.size, -1)
    for axis in range(codes.size):
        place = axis
        while place > 0 and sizes[order[place - 1]] > sizes[axis]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = axis
    depth = 0
    while depth >= 0 and budget > 0:
        axis = order[depth]
        chosen[depth] += 1
        if chosen[depth] == sizes[axis]:
            depth -= 1
            continue
        budget -= 1
        shift = (candidates[axis, chosen[depth], 1] - codes[axis]) * strides[axis]
        turn = turns[axis, chosen[depth], 1]
        reach[depth + 1] = reach[depth]
        if not _double(1 << depth, shift, turn, lookup, cells, levels, box, reach[depth + 1], best):
            continue
        if depth + 1 < codes.size:
            depth += 1
            chosen[depth] = -1
            continue
        for side in range(2):
            if best[side] < levels[side] and reach[depth + 1, side] > best[side]:
                best[side] = min(reach[depth + 1, side], levels[side])
                for k in range(codes.size):
                    partners[side, order[k]] = candidates[order[k], chosen[k], 1]
        # What made the shallower corners worth while may now be surpassed.
        while depth >= 0 and not _beats(reach[depth], best, levels):
            depth -= 1


@helper
def _double(
    half: int,
    shift: int,
    turn: int,
    lookup: NDArray[np.integer],
    cells: Cells,
    levels: Floats,
    box: Box,
    reach: Floats,
    best: Floats,
) -> bool:
    """Add the shifted copies of the corners; tell whether all are suppressed and a better box is still possible."""
    lo, hi, hidden, keys, factors = cells.lo, cells.hi, cells.hidden, box.keys, box.factors
    for corner in range(half):
        key, factor = keys[corner] + shift, factors[corner] * turn
        cell = lookup[key]
        if cell < 0 or not hidden[cell]:
            return False
        if factor > 0:
            reach[0], reach[1] = min(reach[0], hi[cell]), min(reach[1], -lo[cell])
        else:
            reach[0], reach[1] = min(reach[0], -lo[cell]), min(reach[1], hi[cell])
        if not _beats(reach, best, levels):
            return False
        keys[half + corner], factors[half + corner] = key, factor
    return True


@helper
def _beats(reach: Floats, best: Floats, levels: Floats) -> bool:
    """Whether a box that reaches so far would be better on a side that is not yet done."""
    if best[0] < levels[0] and reach[0] > best[0]:
        return True
    return bool(best[1] < levels[1] and reach[1] > best[1])
