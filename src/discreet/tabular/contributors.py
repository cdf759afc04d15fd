"""Who is alone in a cell of a table, and what others bring to the cells above it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from discreet.tabular.others import Others, leave_out
from discreet.tabular.table import Table

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def sole_contributors(table: Table) -> Ints | None:
    """Who is alone in each cell, −1 where nobody is; None if it is not known.

    Where only numbers of contributors are known, one who is alone in a total and in a part of it is the same. Nothing
    else tells who contributes: those who are alone in cells that are no part of each other are taken to be different.
    With weights a count of 1 need not be one contributor, and nothing is known.
    """
    if table.sole is not None:
        return table.sole
    if table.count is None or (table.count % 1).any():
        return None
    relations, is_alone = table.relations, table.count == 1
    total = np.full(len(relations), -1)
    heads = relations.coefficients < 0
    total[relations.rows[heads]] = relations.cells[heads]
    part, above = relations.cells[~heads], total[relations.rows[~heads]]
    same = (above >= 0) & is_alone[part] & is_alone[above]
    links = csr_array((np.ones(int(same.sum())), (part[same], above[same])), shape=(len(table),) * 2)
    _, who = connected_components(links, directed=False)
    return np.where(is_alone, who, -1).astype(np.int64)


def others_of(table: Table, cells: Bools) -> Others:
    """What is left of some cells without each sole contributor who takes part in them.

    Where the table does not hold it, it follows from the cells: one record is alone in some of them and part of every
    total above. Of the contributions that are not kept no one is above the least that is.

    Parameters
    ----------
    table : Table
        The table, which says who is alone in a cell.
    cells : array of bool
        Which cells are looked at.
    """
    if table.others is not None:
        return table.others.only(cells[table.others.cell])
    sole = sole_contributors(table)
    assert sole is not None
    own, above = _above(table, np.flatnonzero(sole >= 0))
    kept = cells[above] & (sole[above] != sole[own])
    own, above = own[kept], above[kept]
    # A contributor who is alone in several cells below brings what the largest of them holds, at least.
    order = np.lexsort([-np.abs(table.value[own]), above, sole[own]])
    own, above = own[order], above[order]
    first = np.ones(len(own), dtype=np.bool_)
    first[1:] = (np.diff(sole[own]) != 0) | (np.diff(above) != 0)
    own, above = own[first], above[first]
    count = np.full(len(own), np.inf)
    if table.count is not None:
        count = table.count[above] - table.count[own]
    value = table.value[above] - table.value[own]
    tops = None
    if table.tops is not None:
        tops = table.tops[above]
        full = np.ones(len(own), dtype=np.bool_) if table.count is None else table.count[above] > tops.shape[1]
        next_one = np.clip(np.minimum(tops[:, -1], table.value[above] - tops.sum(axis=1)), 0.0, None)
        tops = leave_out(np.column_stack([tops, np.where(full, next_one, 0.0)]), table.tops[own, 0])
    asked = None if table.asked is None else np.minimum(table.asked[above], value)
    return Others(sole[own], above, value, count, tops, asked)


def _above(table: Table, cells: Ints) -> tuple[Ints, Ints]:
    """Pairs of one of some cells and another to which all its contributors contribute, however far above."""
    n, relations = len(table), table.relations
    is_total = relations.coefficients < 0
    totals = np.bincount(relations.rows[is_total], minlength=len(relations))
    total_of = np.full(len(relations), -1, dtype=np.int64)
    total_of[relations.rows[is_total]] = relations.cells[is_total]
    part = ~is_total & (relations.coefficients > 0) & (totals[relations.rows] == 1)
    ones = np.ones(int(part.sum()), dtype=np.int8)
    below, above = relations.cells[part], total_of[relations.rows[part]]
    step = csr_array((ones, (below, above)), shape=(n, n))
    if table.count is not None:
        # Who contributes to a total contributes to a part that as many contribute to.
        whole = table.count[below] == table.count[above]
        step = (step + csr_array((ones[whole], (above[whole], below[whole])), shape=(n, n))).tocsr()
    reached = csr_array((np.ones(len(cells), dtype=np.int8), (np.arange(len(cells)), cells)), shape=(len(cells), n))
    fresh, found = reached, []
    while fresh.nnz:
        fresh = (fresh @ step).tocsr()
        fresh.data[:] = 1
        fresh = (fresh - fresh.multiply(reached)).tocsr()
        fresh.eliminate_zeros()
        reached = (reached + fresh).tocsr()
        rows, columns = fresh.nonzero()
        found.append((cells[rows], columns.astype(np.int64)))
    nothing = np.empty(0, dtype=np.int64)
    return (
        np.concatenate([nothing, *(pair[0] for pair in found)]).astype(np.int64),
        np.concatenate([nothing, *(pair[1] for pair in found)]).astype(np.int64),
    )
