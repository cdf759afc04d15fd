"""Cells that no pattern protects: found before a search, left out of it, and told of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.attack.levels import UNJUDGED
from discreet.attack.system import Ints
from discreet.data.checks import itemize
from discreet.tables.suppression.guards import with_status
from discreet.tabular.table import FIXED, PRIMARY, Table
from discreet.verification.audit import audit
from discreet.verification.verdict import Audit


def given_away(table: Table, frozen: Ints | None, *, strict: bool) -> Ints:
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


def spared(table: Table, lost: Ints) -> Table:
    """The table without the unsafe cells that nothing can protect; they stay suppressed all the same."""
    status, levels = table.status.copy(), {name: getattr(table, name).copy() for name in ("lpl", "upl", "spl")}
    status[lost] = 0
    levels["lpl"][lost] = levels["upl"][lost] = 0.0
    # As secondary cells they would be asked for a unit if they had nothing at all.
    levels["spl"][lost] = np.finfo(np.float64).tiny
    return table.but(status=status, **levels)


def unjudged(verdict: Audit, lost: Ints) -> Audit:
    """The verdict without the cells that nothing can protect."""
    out = np.isin(verdict.cells, lost)
    return replace(
        verdict,
        verdict=np.where(out, UNJUDGED, verdict.verdict),
        required_lower=np.where(out, np.nan, verdict.required_lower),
        required_upper=np.where(out, np.nan, verdict.required_upper),
        required_width=np.where(out, np.nan, verdict.required_width),
    )


def why(table: Table, lost: Ints) -> str:
    """What to tell of cells that cannot be protected."""
    names = itemize([table.name(int(cell)) for cell in lost])
    return (
        f"{table.source}: {len(lost)} unsafe cells cannot be protected, whatever else is suppressed: {names}. They "
        "stand alone in a relation, or all cells beside them are frozen, empty or too small. Let more cells be "
        "suppressed, lower the level, or go on without them by --partial (partial=True)"
    )
