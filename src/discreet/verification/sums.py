"""Sums of suppressed cells that a line gives away.

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
        if _unsafe(table, cells, said):
            found.append((row, cells))
    return found


def _unsafe(table: Table, cells: Ints, said: Mapping[str, Any]) -> bool:
    assert table.tops is not None
    total = float(table.value[cells].sum())
    tops = np.sort(table.tops[cells].ravel())[::-1]
    slack = 1e-12 * abs(total)
    if "p" in said:
        share = said["p"] / said.get("q", 100.0)
        company = said.get("coalition", 1)
        if total - tops[: company + 1].sum() < share * tops[0] - slack:
            return True
    if "dominance" in said:
        n, k = said["dominance"]
        return bool(tops[:n].sum() > k / 100.0 * total + slack)
    return False
