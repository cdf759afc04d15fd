"""What a pattern gives away besides the cells' own intervals: to contributors who know their values, and as sums.

Who is the only contributor to a suppressed cell knows its value. To that contributor the cell is as good as published,
and so are all other cells that are its own alone; the primary cells of others must still be protected.

Where the total and the other parts of a line are published, the sum of the suppressed parts is published too, in
effect. It must stand the rules like a cell of its own: two suppressed cells whose sum is dominated by one contributor
tell what that one contributed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from discreet.attack.attacker import Attacker, Reach
from discreet.attack.levels import PROTECTED, Levels, verdicts
from discreet.attack.system import Bools, Ints
from discreet.errors import InputError
from discreet.tabular.rules import is_dominated, is_estimated
from discreet.tabular.table import Table


def contributors(table: Table, hidden: Bools) -> Iterator[Ints]:
    """For each contributor who is alone in suppressed cells, those cells."""
    if table.count is None:
        raise InputError(
            f"{table.source} does not say how many contribute to each cell, so nobody knows who is alone in one; make "
            "it with tabulate, or leave singletons out"
        )
    alone = np.flatnonzero(hidden & (table.count == 1))
    if table.sole is not None:
        # With weights a count of 1 need not be one contributor, and one contributor need not count 1.
        alone = np.flatnonzero(hidden & (table.sole >= 0))
        order = alone[np.argsort(table.sole[alone], kind="stable")]
        if len(order):
            yield from np.split(order, np.flatnonzero(np.diff(table.sole[order])) + 1)
        return
    for cell in alone.tolist():
        yield np.array([cell], dtype=np.int64)


def exposed_to(table: Table, hidden: Bools, reach: Reach, levels: Levels) -> list[tuple[Ints, Ints]]:
    """Find the cells that a contributor could know too well, by contributor.

    Parameters
    ----------
    table : Table
        The table.
    hidden : array of bool
        Which cells are not published.
    reach : Reach
        What was proven against an outsider, with its solutions kept.
    levels : Levels
        What is asked of each cell.

    Returns
    -------
    list of (array of int, array of int)
        The cells that a contributor knows, and the cells that it can then work out too closely.
    """
    users = _users(reach)
    found = []
    for known in contributors(table, hidden):
        places = np.searchsorted(reach.cells, known)
        # Only what was proven by moving a cell that this contributor knows has to be proven anew.
        shaken = np.unique(np.concatenate([users.get(int(place), np.empty(0, np.int64)) for place in places]))
        shaken = np.setdiff1d(shaken, places)
        shaken = shaken[levels.judged[reach.cells[shaken]]]
        if not len(shaken):
            continue
        rest = hidden.copy()
        rest[known] = False
        attacker = Attacker(table, rest)
        at = np.searchsorted(attacker.cells, reach.cells[shaken])
        wanted_down, wanted_up = np.zeros(len(attacker.cells)), np.zeros(len(attacker.cells))
        cells = reach.cells[shaken]
        wanted_down[at], wanted_up[at] = levels.seek_down[cells], levels.seek_up[cells]
        again = attacker.reach(wanted_down, wanted_up)
        short = verdicts(table, levels, cells, again.down[at], again.up[at]) != PROTECTED
        if short.any():
            found.append((known, cells[short]))
    return found


def _users(reach: Reach) -> dict[int, Ints]:
    """For each column the columns that were proven by a solution in which it moves."""
    proofs = reach.proofs
    assert proofs.solutions is not None
    proven: dict[int, list[int]] = {}
    for column in range(len(reach.cells)):
        for solution in {int(proofs.down_by[column]), int(proofs.up_by[column])} - {-1}:
            proven.setdefault(solution, []).append(column)
    users: dict[int, list[int]] = {}
    for solution, columns in proven.items():
        for column in proofs.solutions[solution].columns.tolist():
            users.setdefault(column, []).extend(columns)
    return {column: np.array(sorted(set(columns)), dtype=np.int64) for column, columns in users.items()}


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
