"""What an earlier release of a table tells of this one: cells that were published then and have not changed since.

A table that is published again with another pattern gives away what either of the two publishes. Of a later period an
attacker knows less: that a value has grown or fallen by no more than so many percent. Either way the earlier release
is knowledge of single cells, and narrows the bounds within which the attacker looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.checks import check_readable
from discreet.errors import InputError, at_least
from discreet.tabular.table import Table
from discreet.text import count
from discreet.verification.publication import find_changed, read_publication


def narrow_bounds(table: Table, releases: Any, growth: Any) -> tuple[Table, list[str]]:
    """The table with the bounds of an attacker who has seen earlier releases of it, and what was found there.

    Parameters
    ----------
    table : Table
        The table of today.
    releases : path or list of path, optional
        The earlier releases, as suppress has published them. Cells are matched by their codes.
    growth : float
        By how many percent everybody knows values to have changed at most; 0 where they are the same unless revised.
    """
    at_least("growth", growth, 0.0)
    if releases is None and growth:
        raise InputError("growth is that since an earlier release: name it by --previous-release (previous_release)")
    growth = growth / 100.0
    lower, upper, notes = table.lower.copy(), table.upper.copy(), []
    every: Sequence[Any] = [releases] if isinstance(releases, str | Path) else releases or ()
    for path in map(Path, every):
        check_readable(path)
        public = read_publication(path, table)
        if public is None:
            raise InputError(
                f"{path.name} is no earlier release of {table.source}: it must have its dimensions and one column of "
                "values, as suppress publishes them (.csv, .xlsx or .parquet)"
            )
        found = public.find(table, path)
        there = (found >= 0) & ~public.hidden[found]
        then = np.where(there, public.values[found], np.nan)
        room = growth * np.abs(then)
        if growth:
            kept = there & ~(np.abs(then - table.value) > room)
        else:
            changed = find_changed(then, table)
            # Where the value of today is not known, nobody can tell it from one that was revised if others were.
            kept = there & ~changed & ~(np.isnan(table.value) & bool(changed.any()))
        if not kept.any():
            raise InputError(
                f"{path.name}: no cell of {table.source} was published then with the value of now; name a release of "
                "the same response and, if it is of another period, by how many percent values change (growth)"
            )
        fixed = kept & ~np.isnan(table.value) & (growth == 0)
        low, high = (np.where(fixed, table.value, then + side * room) for side in (-1, 1))
        lower[kept], upper[kept] = np.maximum(lower, low)[kept], np.minimum(upper, high)[kept]
        notes.append(_tell(path, table, there, kept, len(public.codes) - len(np.unique(found[found >= 0])), growth))
    return table.but(lower=lower, upper=np.maximum(lower, upper)), notes


def _tell(path: Path, table: Table, there: Any, kept: Any, gone: int, growth: float) -> str:
    gives = int((kept & table.suppressed).sum())
    same = f"within {100 * growth:g} % of" if growth else "with"
    said = f"{path.name}: {count(int(kept.sum()), 'cell')} published then {same} the value of now"
    said += f", {count(gives, 'suppressed cell')} of today among them" if gives else ""
    other = int((there & ~kept).sum())
    said += f"; {count(other, 'cell')} with another, taken to tell nothing" if other else ""
    return said + (f"; {count(gone, 'cell')} of it not in this table, and not used" if gone else "")
