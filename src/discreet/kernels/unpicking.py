"""Unpicking: what a reader finds by subtraction alone.

A relation in which a single cell is hidden gives that cell away; the cell, once known, may leave a single hidden cell
in another of its relations, and so on. Each relation is searched for its last hidden cell once at most, so the work is
linear in the number of entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Ints
from discreet.kernels.jit import helper, kernel


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
