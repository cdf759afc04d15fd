"""Boxes: the smallest solutions of a table of several dimensions.

Take a cell and, in every dimension, a partner of its code. The 2^D cells at the corners, moved by ±delta, obey every
relation: along each dimension a corner and its neighbour cancel within the one equation that holds both codes. Two
parts of a total move against each other, a part and the total move alike. So a box of hidden cells proves that the cell
can move by the least that its corners can.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel


@kernel
def boxes(
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    line: NDArray[np.integer],
    sign: NDArray[np.integer],
    members_starts: NDArray[np.integer],
    members: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    hidden: NDArray[np.bool_],
    targets: Ints,
    levels_up: Floats,
    levels_down: Floats,
    budget: int,
) -> tuple[Floats, Floats, Ints]:
    """Find for each target the boxes of hidden cells that let it move up and down, if possible by its levels.

    Parameters
    ----------
    codes : array of shape (n, D)
        The code of each cell in each dimension.
    strides : array of D ints
        A cell's key is the sum of its codes times the strides.
    lookup : array of ints
        The cell with each key, or −1.
    line : array of shape (D, codes)
        For each dimension and code the group of codes that may exchange value with it: those that take part in the same
        equation and in no other. Groups are numbered through all dimensions; −1 for a code without group.
    sign : array of shape (D, codes)
        +1 for a part, −1 for a total.
    members_starts, members : arrays of ints
        Group g holds the codes members[members_starts[g] : members_starts[g + 1]].
    lo, hi : arrays of n floats
        Bounds of the deviations, lo ≤ 0 ≤ hi.
    hidden : array of n bools
        Whether each cell is hidden. A target that is not cannot move.
    targets : array of ints
        The cells asked for.
    levels_up, levels_down : arrays of floats
        What is enough for each target; the search for a side ends there. Infinite: the best box within the budget.
    budget : int
        How many partners to try for each target at most, over all dimensions.

    Returns
    -------
    up, down : arrays of floats
        How far each target can move by one box, at most its level.
    partners : array of shape (targets, 2, D)
        The partner codes of that box, upwards and downwards; −1 where there is none.
    """
    count, dimensions = targets.size, codes.shape[1]
    up, down = np.zeros(count), np.zeros(count)
    partners = np.full((count, 2, dimensions), -1)
    longest = 1
    for group in range(members_starts.size - 1):
        longest = max(longest, members_starts[group + 1] - members_starts[group])
    candidates = np.zeros((dimensions, longest), np.int64)
    sizes, order = np.zeros(dimensions, np.int64), np.zeros(dimensions, np.int64)
    chosen = np.zeros(dimensions, np.int64)
    keys, factors = np.zeros(1 << dimensions, np.int64), np.zeros(1 << dimensions, np.int64)
    reach = np.zeros((dimensions + 1, 2))
    levels, best = np.zeros(2), np.zeros(2)
    for i in range(count):
        cell = targets[i]
        if not hidden[cell]:
            continue
        reach[0, 0], reach[0, 1] = hi[cell], -lo[cell]
        levels[0], levels[1] = levels_up[i], levels_down[i]
        best[:] = 0.0
        keys[0], factors[0] = 0, 1
        for j in range(dimensions):
            keys[0] += codes[cell, j] * strides[j]
        if not _beats(reach[0], best, levels) or not _collect(
            codes[cell],
            keys[0],
            strides,
            lookup,
            line,
            sign,
            members_starts,
            members,
            lo,
            hi,
            hidden,
            candidates,
            sizes,
        ):
            continue
        # Few candidates first: the more corners have to be looked up, the fewer partners are left to try.
        order[:] = np.argsort(sizes, kind="mergesort")
        _search(
            codes[cell], strides, lookup, sign, lo, hi, hidden, levels, budget,
            candidates, sizes, order, chosen, keys, factors, reach, best, partners[i],
        )  # fmt: skip
        up[i], down[i] = best[0], best[1]
    return up, down, partners


@kernel
def corners(
    codes_of_cell: NDArray[np.integer],
    partners: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    sign: NDArray[np.integer],
) -> tuple[Ints, Ints]:
    """List the corners of a box, the cell itself first.

    Parameters
    ----------
    codes_of_cell, partners : arrays of D ints
        The codes of the cell and those of its partners.
    strides, lookup, sign : arrays
        See `boxes`.

    Returns
    -------
    cells, signs : arrays of 2^D ints
        The cells at the corners and how each moves when the first moves by +1. Empty where there is no partner.
    """
    dimensions = codes_of_cell.size
    size = 1 << dimensions
    for j in range(dimensions):
        if partners[j] < 0:
            size = 0
    cells, signs = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for corner in range(size):
        key, factor = 0, 1
        for j in range(dimensions):
            code = codes_of_cell[j]
            if corner >> j & 1:
                factor *= _turn(sign, j, code, partners[j])
                code = partners[j]
            key += code * strides[j]
        cells[corner], signs[corner] = lookup[key], factor
    return cells, signs


@helper
def _turn(sign: NDArray[np.integer], dimension: int, code: int, partner: int) -> int:
    """How the partner moves when the code moves by +1: against it if both are parts, alike if one is the total."""
    return -1 if sign[dimension, code] == sign[dimension, partner] else 1


@helper
def _beats(reach: Floats, best: Floats, levels: Floats) -> bool:
    """Whether a box that reaches so far would be better on a side that is not yet done."""
    if best[0] < levels[0] and reach[0] > best[0]:
        return True
    return bool(best[1] < levels[1] and reach[1] > best[1])


@helper
def _collect(
    codes: NDArray[np.integer],
    key: int,
    strides: Ints,
    lookup: NDArray[np.integer],
    line: NDArray[np.integer],
    sign: NDArray[np.integer],
    members_starts: NDArray[np.integer],
    members: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    hidden: NDArray[np.bool_],
    candidates: Ints,
    sizes: Ints,
) -> bool:
    """List in each dimension the partners whose cell is hidden and can move; tell whether each dimension has some."""
    for j in range(codes.size):
        code = codes[j]
        group = line[j, code]
        if group < 0:
            return False
        sizes[j] = 0
        for place in range(members_starts[group], members_starts[group + 1]):
            partner = members[place]
            if partner == code:
                continue
            cell = lookup[key + (partner - code) * strides[j]]
            if cell >= 0 and hidden[cell] and (lo[cell] < 0.0 or hi[cell] > 0.0):
                candidates[j, sizes[j]] = partner
                sizes[j] += 1
        if sizes[j] == 0:
            return False
    return True


@helper
def _search(
    codes: NDArray[np.integer],
    strides: Ints,
    lookup: NDArray[np.integer],
    sign: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    hidden: NDArray[np.bool_],
    levels: Floats,
    budget: int,
    candidates: Ints,
    sizes: Ints,
    order: Ints,
    chosen: Ints,
    keys: Ints,
    factors: Ints,
    reach: Floats,
    best: Floats,
    partners: Ints,
) -> None:
    """Add dimension after dimension, each doubling the corners, and go back where no better box can follow."""
    depth = 0
    chosen[0] = -1
    while depth >= 0 and budget > 0:
        dimension = order[depth]
        chosen[depth] += 1
        if chosen[depth] == sizes[dimension]:
            depth -= 1
            continue
        budget -= 1
        partner = candidates[dimension, chosen[depth]]
        shift = (partner - codes[dimension]) * strides[dimension]
        turn = _turn(sign, dimension, codes[dimension], partner)
        half = 1 << depth
        reach[depth + 1] = reach[depth]
        if not _double(half, shift, turn, lookup, lo, hi, hidden, levels, keys, factors, reach[depth + 1], best):
            continue
        if depth + 1 < codes.size:
            depth += 1
            chosen[depth] = -1
            continue
        for side in range(2):
            if best[side] < levels[side] and reach[depth + 1, side] > best[side]:
                best[side] = min(reach[depth + 1, side], levels[side])
                for k in range(codes.size):
                    partners[side, order[k]] = candidates[order[k], chosen[k]]
        # What made the shallower corners worth while may now be surpassed.
        while depth >= 0 and not _beats(reach[depth], best, levels):
            depth -= 1


@helper
def _double(
    half: int,
    shift: int,
    turn: int,
    lookup: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    hidden: NDArray[np.bool_],
    levels: Floats,
    keys: Ints,
    factors: Ints,
    reach: Floats,
    best: Floats,
) -> bool:
    """Add the shifted copies of the corners so far; tell whether all are hidden and a better box is still possible."""
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
