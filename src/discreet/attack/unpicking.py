"""What follows from the published cells by elimination alone: a sum with one unknown gives it away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.propagation import unpick as eliminate
from discreet.tabular.relations import build_relations
from discreet.tabular.table import PRIMARY, Table


def unpick(table: Table, hidden: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Find the suppressed cells that anybody can work out by subtraction, without a solver.

    Parameters
    ----------
    table : Table
        The table.
    hidden : array of bool, optional
        Which cells are not published; the suppressed ones of the table by default.

    Returns
    -------
    array of int
        The cells, in the order in which they follow from each other.
    """
    suppressed = table.suppressed if hidden is None else np.ascontiguousarray(hidden, dtype=np.bool_)
    held = table.relations
    if not held.coefficients.all():
        # A cell that counts for nothing in a relation is not part of it.
        counting = held.coefficients != 0
        held = build_relations(held.rows[counting], held.cells[counting], held.coefficients[counting], held.rhs, held.n)
    starts, relations, _ = held.by_cell
    return eliminate(held.starts, held.cells, starts, relations, suppressed)


def exposed_primaries(table: Table) -> NDArray[np.int64]:
    """The primary cells that follow by elimination where nothing but primary cells is suppressed.

    This is K_u of Smith and others (2012, section VII): a stand-in, found without a solver, for the primary cells that
    need secondary ones.
    """

    return np.sort(unpick(table, table.status == PRIMARY))
