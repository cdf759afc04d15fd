"""What everybody knows of a table of counts before any of it is suppressed.

Persons are whole and not negative. Where only combinations that occur have a row, each of them is not empty; where a
code is listed because it occurs, somebody has it; and where zeros are always published, what is suppressed is none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.tabular.table import WEIGHTED, WHOLE, Table

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def is_count(table: Table) -> bool:
    """Whether the values of a table count its contributors (weighted perhaps), and do not sum up what they bring."""
    return table.count is not None and bool(np.array_equal(table.value, table.count))


def know_completed(table: Table, is_listed: Sequence[bool], kind: str, least: float) -> Table:
    """A table of counts with its zeros, of which nobody knows beforehand where they stand.

    Parameters
    ----------
    table : Table
        The table.
    is_listed : sequence of bool
        For each dimension whether its codes come from a list, and not from those who have them.
    kind : str
        WHOLE, or WEIGHTED with sampling weights.
    least : float
        The least that one respondent counts: 1, or the least sampling weight.
    """
    beyond = table.codes > 0  # the total of a dimension is its first code
    lower = np.zeros(len(table))
    for axis, listed in enumerate(is_listed):
        if not listed:
            lower[beyond[:, axis] & (beyond.sum(axis=1) == 1)] = least
    return _know(table, kind, lower)


def know_existing(table: Table, kind: str, least: float) -> Table:
    """A table of counts whose zeros, if it has any, are known: every other cell has somebody in it."""
    return _know(table, kind, np.where(table.value > 0, least, 0.0))


def know_cells(table: Table, fixed: Bools) -> Table:
    """A table of counts that somebody else has made: it is as it is, and its zeros are known if they are published.

    Parameters
    ----------
    table : Table
        The table.
    fixed : array of bool
        The cells that are always published.
    """
    kind = table.counts or (WHOLE if table.decimals == 0 else WEIGHTED)
    zero = table.value == 0
    # Of a table that was completed nobody knows where its zeros are, even if it has none; what weights say of the
    # least count, whoever has but the cells does not know.
    is_told = bool(fixed[zero].all()) and (zero.any() or table.counts is None)
    return know_existing(table, kind, 1.0 if is_told and kind == WHOLE else 0.0)


def _know(table: Table, kind: str, lower: Floats) -> Table:
    """The table with what is known of it; a value is never below."""
    return table.but(lower=np.maximum(table.lower, np.minimum(lower, table.value)), counts=kind)
