"""A table that fits what is published, where the suppressed values are not known; or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import listed
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.data.tabular.table import Table

Floats = NDArray[np.float64]

# What a relation may be off by without a contradiction, in parts of the largest value.
TOLERANCE = 1e-7


def centre_of(table: Table) -> Floats:
    """Values for all cells that fit the published ones, the relations and the bounds.

    Parameters
    ----------
    table : Table
        The table; the value of a suppressed cell may be nan. A cell that is published must have one.

    Raises
    ------
    InputError
        If no values fit: with the relations that contradict each other.
    """
    unknown = np.isnan(table.value)
    if not unknown.any():
        return table.value
    bare = np.flatnonzero(unknown & ~table.suppressed)
    if len(bare):
        names = listed([table.name(int(cell)) for cell in bare])
        raise InputError(f"{table.source}: {names} is published, but has no value; give it one or mark it suppressed")
    relations = table.relations
    cells = np.flatnonzero(unknown)
    number = np.full(len(table), -1)
    number[cells] = np.arange(len(cells))
    inside = unknown[relations.cells]
    rows, which = np.unique(relations.rows[inside], return_inverse=True)
    rest = -relations.residuals(np.nan_to_num(table.value))[rows]
    found, missed = _fitted(
        which,
        number[relations.cells[inside]],
        relations.coefficients[inside],
        rest,
        table.lower[cells],
        table.upper[cells],
    )
    scale = max(1.0, float(np.abs(np.nan_to_num(table.value)).max(initial=1.0)))
    wrong = rows[missed > TOLERANCE * scale]
    if len(wrong):
        names = listed([table.relation_name(int(row)) for row in wrong])
        raise InputError(
            f"{table.source}: no values of the suppressed cells fit the published ones and the bounds; the conflict is "
            f"in {names}. Correct a published value, or widen the bounds"
        )
    centre = table.value.copy()
    centre[cells] = found
    return centre


def _fitted(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    coefficients: Floats,
    rest: Floats,
    lower: Floats,
    upper: Floats,
) -> tuple[Floats, Floats]:
    """Values within bounds that miss the relations by as little as possible in all, and by how much each is missed."""
    import highspy
    from scipy.sparse import csc_array, eye_array, hstack

    n, m = len(lower), len(rest)
    matrix = csc_array((coefficients, (rows, columns)), shape=(m, n))
    elastic = csc_array(hstack([matrix, eye_array(m), -eye_array(m)]))
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.passModel(
        n + 2 * m,
        m,
        elastic.nnz,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        np.concatenate([np.zeros(n), np.ones(2 * m)]),
        np.concatenate([lower, np.zeros(2 * m)]),
        np.concatenate([upper, np.full(2 * m, np.inf)]),
        rest,
        rest,
        elastic.indptr.astype(np.int32),
        elastic.indices.astype(np.int32),
        elastic.data,
        np.zeros(n + 2 * m, np.int32),
    )
    highs.run()
    found = np.array(highs.getSolution().col_value)
    return found[:n], found[n : n + m] + found[n + m :]
