"""What is asked beyond the levels of unsafe cells: sole contributors kept at bay, secondary cells not given away.

Both are looked for in a pattern that protects, and mended by further cells until nothing is found.
"""

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


def guard(
    table: Table, hidden: Bools, *, strict: bool, frozen: Ints | None, singletons: bool, secondaries: bool
) -> Bools:
    """Suppress more, until no sole contributor and nobody else knows a cell too closely.

    To who knows a cell it is as good as published: what that contributor could then work out is protected by moves of
    other cells.

    Parameters
    ----------
    table : Table
        The table with its unsafe cells.
    hidden : array of bool
        A pattern that protects these against outsiders, over the cells.
    strict : bool
        Whether levels must be exceeded.
    frozen : array of int, optional
        Cells that must be published.
    singletons : bool
        Whether sole contributors are looked at.
    secondaries : bool
        Whether secondary cells must not be known exactly either.
    """
    pattern = hidden.copy()
    for _ in range(ROUNDS):
        found = audit(with_status(table, pattern), strict=strict, singletons=singletons, secondaries=secondaries)
        before = int(pattern.sum())
        wanted: list[tuple[Ints | None, Ints]] = [(None, found.failed)] if len(found.failed) else []
        wanted += found.insiders or []
        for known, cells in wanted:
            problem = problem_of(_demanding(table, cells), strict=strict, frozen=frozen, blocked=known)
            for part in problem.components():
                wider = pattern_of(part)
                wider.start(pattern[part.system.cells])
                wider.protect(np.flatnonzero(np.isin(part.system.cells[part.cell], cells)))
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
        failed = audit(with_status(table, hidden), secondaries=True, strict=strict).failed
        failed = failed[~primary[failed]]
        if not len(failed):
            return np.flatnonzero(~hidden).astype(np.int64)
        hidden[failed] = False
