"""What a pattern gives away besides the cells' own intervals: sums of suppressed cells.

Where the total and the other parts of a line are published, the sum of the suppressed parts is published too, in
effect. It must stand the rules like a cell of its own: two suppressed cells whose sum is dominated by one contributor
tell what that one contributed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.attack.system import Bools, Ints
from discreet.errors import InputError
from discreet.tabular.rules import is_dominated, is_estimated
from discreet.tabular.table import Table


def unsafe_sums(table: Table, hidden: Bools) -> list[tuple[int, Ints]]:
    """Find the lines in which the suppressed parts together are unsafe by the rules that were applied to the cells.

    Parameters
    ----------
    table : Table
        The table, with its largest contributions and the rules it was judged by.
    hidden : array of bool
        Which cells are not published.

    Returns
    -------
    list of (int, array of int)
        The relation and its suppressed parts.
    """
    said = table.rules.get("parameters", {})
    if table.tops is None or not ({"p", "dominance"} & set(said)):
        raise InputError(
            f"{table.source} does not hold the largest contributions and a rule on them (p or dominance), so sums of "
            "suppressed cells cannot be judged; make it with tabulate and primary"
        )
    relations = table.relations
    inside = hidden[relations.cells]
    found = []
    parts = np.bincount(relations.rows[inside], minlength=len(relations))
    totals = np.bincount(relations.rows[inside & (relations.coefficients < 0)], minlength=len(relations))
    # A single suppressed cell is found by elimination; a suppressed total leaves the sum open.
    for row in np.flatnonzero((parts >= 2) & (totals == 0)).tolist():
        line = relations.of(row)
        cells = line[hidden[line]].astype(np.int64)
        if _is_unsafe(table, cells, said):
            found.append((row, cells))
    return found


def _is_unsafe(table: Table, cells: Ints, said: Mapping[str, Any]) -> bool:
    """Whether a sum of cells would be unsafe by the rules that the cells were judged by."""
    assert table.tops is not None
    value = np.array([table.value[cells].sum()])
    tops = np.sort(table.tops[cells].ravel())[None, ::-1]
    if "p" in said and is_estimated(value, tops, said["p"] / said.get("q", 100.0), said.get("coalition", 1))[0]:
        return True
    return "dominance" in said and bool(is_dominated(value, tops, *said["dominance"])[0])
