"""Secondary cells that nobody may know either: looked for in a pattern that protects, and mended by further cells."""

from __future__ import annotations

import numpy as np

from discreet.attack.system import Bools, Ints
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import problem_of
from discreet.tabular.table import FIXED, PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit

ROUNDS = 50


def with_status(table: Table, hidden: Bools) -> Table:
    """The table with a pattern over its cells."""
    status = np.where(table.status == PRIMARY, PRIMARY, np.where(hidden, SECONDARY, table.status))
    return table.but(status=status.astype(np.uint8))


def guard_secondaries(table: Table, hidden: Bools, *, strict: bool, frozen: Ints | None) -> Bools:
    """Suppress more, until nobody knows a secondary cell exactly.

    Parameters
    ----------
    table : Table
        The table with its unsafe cells.
    hidden : array of bool
        A pattern that protects these, over the cells.
    strict : bool
        Whether levels must be exceeded.
    frozen : array of int, optional
        Cells that must be published.
    """
    pattern = hidden.copy()
    for _ in range(ROUNDS):
        found = audit(with_status(table, pattern), strict=strict, singletons=False, secondaries=True).failed
        before = int(pattern.sum())
        if len(found):
            problem = problem_of(_demanding(table, found), strict=strict, frozen=frozen)
            for part in problem.components():
                wider = pattern_of(part)
                wider.start(pattern[part.system.cells])
                wider.protect(np.flatnonzero(np.isin(part.system.cells[part.cell], found)))
                pattern[part.system.cells] |= wider.suppressed
        if int(pattern.sum()) == before:
            break
    return pattern


def _demanding(table: Table, cells: Ints) -> Table:
    """The table with some cells unsafe that were not: they must not be known to a unit of the last decimal."""
    unit = 10.0 ** -(table.decimals if table.decimals is not None else 6)
    more = cells[table.status[cells] != PRIMARY]
    status, spl = table.status.copy(), table.spl.copy()
    status[more] = PRIMARY
    spl[more] = unit
    return table.but(status=status, spl=spl)


def find_given_away(table: Table, frozen: Ints | None, *, strict: bool) -> Ints:
    """Cells that must be published where secondary ones are protected too: frozen ones, and those that cannot be.

    What anybody can work out even where all are suppressed that may be can be worked out from any pattern; with it
    published, more may be given away.
    """
    primary = table.status == PRIMARY
    hidden = table.status != FIXED
    if frozen is not None:
        hidden[frozen] = False
    hidden |= primary
    while True:
        failed = audit(with_status(table, hidden), secondaries=True, singletons=False, strict=strict).failed
        failed = failed[~primary[failed]]
        if not len(failed):
            return np.flatnonzero(~hidden).astype(np.int64)
        hidden[failed] = False
