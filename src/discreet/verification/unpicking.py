"""What follows from the published cells by elimination alone: a sum with one unknown gives it away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.unpicking import unpick as eliminate

if TYPE_CHECKING:
    from discreet.data.tabular.table import Table


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
    starts, relations, _ = table.relations.by_cell
    suppressed = table.suppressed if hidden is None else np.ascontiguousarray(hidden, dtype=np.bool_)
    return eliminate(table.relations.starts, table.relations.cells, starts, relations, suppressed)


def exposed_primaries(table: Table) -> NDArray[np.int64]:
    """The primary cells that follow by elimination where nothing but primary cells is suppressed.

    This is K_u of Smith and others (2012, section VII): a stand-in, found without a solver, for the primary cells that
    need secondary ones.
    """
    from discreet.data.tabular.table import PRIMARY

    return np.sort(unpick(table, table.status == PRIMARY))
