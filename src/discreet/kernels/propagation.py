"""What follows from single relations, one after the other: bounds of deviations, and cells that are given away.

In a relation Σ c_j d_j = 0 each term is bounded by what all others can make up for. A bound that moves may move others,
through the other relations of its cell. The result holds for certain but need not be the tightest possible: what
follows from several relations only together is not seen.

By subtraction alone: a relation in which a single cell is hidden gives that cell away; the cell, once known, may leave
a single hidden cell in another of its relations, and so on. Each relation is searched for its last hidden cell once at
most, so the work is linear in the number of entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel

# A bound that would move by no more than this, relative to the bound or to 1, stays.
LEAST = 1e-9


@kernel
def propagate(
    starts: NDArray[np.integer],
    cells: NDArray[np.integer],
    coefficients: Floats,
    by_starts: NDArray[np.integer],
    by_relations: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    rounds: int,
) -> tuple[Floats, Floats]:
    """Tighten the bounds of all deviations.

    Parameters
    ----------
    starts, cells, coefficients : arrays
        Relation r is the sum over e from starts[r] to starts[r + 1] − 1 of coefficients[e] · d[cells[e]] = 0.
    by_starts, by_relations : arrays of ints
        The transpose: cell i is named by the relations by_relations[by_starts[i] : by_starts[i + 1]].
    lo, hi : arrays of floats
        Bounds of each deviation, lo ≤ 0 ≤ hi; may be infinite. Left as they are.
    rounds : int
        How many rounds at most; the first looks at all relations, each later one at those with a bound that has moved.

    Returns
    -------
    lo, hi : arrays of floats
        Bounds that every solution obeys, lo ≤ 0 ≤ hi.
    """
    lo, hi = lo.copy(), hi.copy()
    relations = starts.size - 1
    longest = 0
    for relation in range(relations):
        longest = max(longest, starts[relation + 1] - starts[relation])
    below, above = np.zeros(longest + 1), np.zeros(longest + 1)
    queue, later = np.arange(relations), np.zeros(relations, np.int64)
    # Those still to come in this round need no second place in the next.
    waiting = np.ones(relations, np.bool_)
    count = relations
    for _ in range(rounds):
        size = 0
        for i in range(count):
            relation = queue[i]
            waiting[relation] = False
            size = _tighten(
                starts,
                cells,
                coefficients,
                by_starts,
                by_relations,
                lo,
                hi,
                relation,
                below,
                above,
                waiting,
                later,
                size,
            )
        queue, later, count = later, queue, size
        if count == 0:
            break
    return lo, hi


@helper
def _tighten(
    starts: NDArray[np.integer],
    cells: NDArray[np.integer],
    coefficients: Floats,
    by_starts: NDArray[np.integer],
    by_relations: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    relation: int,
    below: Floats,
    above: Floats,
    waiting: NDArray[np.bool_],
    later: Ints,
    size: int,
) -> int:
    """Tighten the bounds within one relation; tell how many relations now wait for the next round.

    What the others can make up for is added up from both ends instead of subtracted from the total: all terms have the
    same sign, so nothing cancels, infinite terms need no care and the error is that of a few roundings.
    """
    first, end = starts[relation], starts[relation + 1]
    length = end - first
    below[length] = above[length] = 0.0
    for i in range(length - 1, -1, -1):
        least, most = _term(coefficients[first + i], lo[cells[first + i]], hi[cells[first + i]])
        below[i], above[i] = below[i + 1] + least, above[i + 1] + most
    below_before, above_before = 0.0, 0.0
    for i in range(length):
        cell, coefficient = cells[first + i], coefficients[first + i]
        if coefficient == 0.0:
            continue
        least, most = _term(coefficient, lo[cell], hi[cell])
        low = -(above_before + above[i + 1]) / coefficient
        high = -(below_before + below[i + 1]) / coefficient
        below_before += least
        above_before += most
        if coefficient < 0.0:
            low, high = high, low
        moved = False
        if lo[cell] < low and (lo[cell] == -np.inf or low - lo[cell] > LEAST * max(1.0, -lo[cell])):
            lo[cell] = low
            moved = True
        if hi[cell] > high and (hi[cell] == np.inf or hi[cell] - high > LEAST * max(1.0, hi[cell])):
            hi[cell] = high
            moved = True
        if moved:
            for entry in range(by_starts[cell], by_starts[cell + 1]):
                other = by_relations[entry]
                # A second look at this relation alone would find nothing new.
                if other != relation and not waiting[other]:
                    waiting[other] = True
                    later[size] = other
                    size += 1
    return size


@helper
def _term(coefficient: float, lo: float, hi: float) -> tuple[float, float]:
    """The least and the most that a term can be."""
    if coefficient == 0.0:
        return 0.0, 0.0
    if coefficient > 0.0:
        return coefficient * lo, coefficient * hi
    return coefficient * hi, coefficient * lo


@kernel
def unpick(
    starts: NDArray[np.integer],
    cells: NDArray[np.integer],
    by_starts: NDArray[np.integer],
    by_relations: NDArray[np.integer],
    hidden: NDArray[np.bool_],
) -> Ints:
    """Find the cells that are given away, one after the other, by relations with a single hidden cell.

    Parameters
    ----------
    starts, cells : arrays of ints
        Relation r names the cells cells[starts[r] : starts[r + 1]], each once.
    by_starts, by_relations : arrays of ints
        The transpose: cell i is named by the relations by_relations[by_starts[i] : by_starts[i + 1]].
    hidden : array of bools
        Whether each cell is hidden; left as it is.

    Returns
    -------
    array of ints
        The cells given away, in the order in which they follow.
    """
    counts, number = np.zeros(starts.size - 1, np.int32), 0
    for cell in range(hidden.size):
        if hidden[cell]:
            number += 1
            for entry in range(by_starts[cell], by_starts[cell + 1]):
                counts[by_relations[entry]] += 1
    unknown = hidden.copy()
    found = np.empty(number, np.int64)
    known = 0
    for relation in range(counts.size):
        if counts[relation] == 1:
            known = _note_last(starts, cells, relation, unknown, found, known)
    done = 0
    while done < known:
        cell = found[done]
        done += 1
        for entry in range(by_starts[cell], by_starts[cell + 1]):
            relation = by_relations[entry]
            counts[relation] -= 1
            if counts[relation] == 1:
                known = _note_last(starts, cells, relation, unknown, found, known)
    return found[:known].copy()


@helper
def _note_last(
    starts: NDArray[np.integer],
    cells: NDArray[np.integer],
    relation: int,
    unknown: NDArray[np.bool_],
    found: Ints,
    known: int,
) -> int:
    """Add the last unknown cell of a relation to those found, unless it is there already; tell how many there are."""
    for entry in range(starts[relation], starts[relation + 1]):
        cell = cells[entry]
        if unknown[cell]:
            unknown[cell] = False
            found[known] = cell
            return known + 1
    return known
