"""What fixed columns leave of a problem often falls apart: parts that no cut joins are solved each for itself.

A tree over all columns would have as many nodes as the trees of its parts multiplied; the sum of them is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from discreet.attack.system import Floats, Ints
from discreet.solvers.highs import LinearProgram, Matrix, Status
from discreet.solvers.tolerances import LP_COARSE
from discreet.tables.suppression.exact.master import Relaxation

# Nodes of the tree of a part at most; a part of more columns counts as what its linear relaxation costs.
MOST_NODES, MOST_COLUMNS = 1_000, 200


class Solved(NamedTuple):
    """A lower bound from all parts, the shares of all columns, and whether every part is solved in whole columns."""

    bound: float
    share: Floats
    is_whole: bool


def solve_parts(relaxation: Relaxation, lower: Floats, upper: Floats, step: float) -> Solved:
    """Solve all cuts known in whole columns, part by part.

    Parameters
    ----------
    relaxation : Relaxation
        The cuts and the weights.
    lower, upper : arrays of float
        The bounds of the shares of columns; those with equal ones are fixed.
    step : float
        What costs are whole multiples of; 0 if they are of nothing.
    """
    free = np.flatnonzero(lower < upper)
    # The solver cuts off far more if it sees that costs are whole.
    unit = step or 1.0 / relaxation.scale
    weight = relaxation.problem.weight / unit
    weight = np.rint(weight) if step else weight
    share = np.where(lower < upper, 0.0, lower)
    total, is_whole = float(weight @ share), True
    matrix, least = _rows(relaxation, free, share)
    for columns, rows in _parts(matrix):
        is_small = len(columns) <= MOST_COLUMNS
        own = matrix[rows][:, columns]
        program = LinearProgram(
            cost=weight[free[columns]],
            lower=np.zeros(len(columns)),
            upper=np.ones(len(columns)),
            row_lower=least[rows],
            row_upper=np.full(len(rows), np.inf),
            matrix=Matrix(own.indptr[:-1], own.indices, own.data, by_rows=True),
            are_whole=is_small,
            mip_max_nodes=MOST_NODES,
            mip_rel_gap=0.0,
            mip_abs_gap=0.0,
        )
        program.set_tolerance(LP_COARSE)
        status = program.run()
        if status in (Status.INFEASIBLE, Status.UNBOUNDED):  # shares have bounds: it is the former
            return Solved(np.inf, share, is_whole=False)
        is_whole &= is_small and status is Status.OPTIMAL
        if is_small or status is Status.OPTIMAL:
            total += max(0.0, program.proven)
        if is_whole:
            share[free[columns]] = np.round(program.values)
    # What is not rounded up to a whole cost is what the solver takes it for within its tolerance.
    return Solved(total * unit * (1.0 if step else 1.0 - LP_COARSE), share, is_whole)


def _rows(relaxation: Relaxation, free: Ints, fixed: Floats) -> tuple[csr_array, Floats]:
    """What the cuts ask of the columns that are free; those that hold whatever these are, are left out."""
    cuts = relaxation.pool.cuts
    starts = np.cumsum([0, *(len(cut.columns) for cut in cuts)])
    columns = np.concatenate([np.zeros(0, np.int64), *(cut.columns for cut in cuts)])
    coefficients = np.concatenate([np.zeros(0), *(cut.coefficients for cut in cuts)])
    matrix = csr_array((coefficients, columns, starts), shape=(len(cuts), len(fixed)))
    least = np.array([cut.least for cut in cuts]) - matrix @ fixed
    matrix = matrix[:, free]
    asks = (matrix.minimum(0.0).sum(axis=1) < least) & (np.diff(matrix.indptr) > 0)
    return matrix[asks], least[asks]


def _parts(matrix: csr_array) -> list[tuple[Ints, Ints]]:
    """The columns and the rows of each part: no row has columns of two."""
    rows, columns = matrix.shape
    places = matrix.indices + rows
    ends = np.concatenate([matrix.indptr, np.full(columns, matrix.indptr[-1])])
    count, labels = connected_components(csr_array((matrix.data, places, ends), shape=(rows + columns,) * 2), False)
    found = ((np.flatnonzero(labels[rows:] == one), np.flatnonzero(labels[:rows] == one)) for one in range(count))
    return [(own, asked) for own, asked in found if len(asked)]
