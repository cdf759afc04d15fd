"""`discreet.link`: tables that share cells become one system, to be protected together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.tabular.table import Table


def link(tables: Sequence[Any], *, meta: str | Path | None = None) -> Table:
    """Link tables of the same response that share cells, so that they are protected together.

    A cell is the same where its codes are, the total standing for every dimension that a table does not have. The
    values of shared cells must agree; of two opinions on whether such a cell is unsafe, the stricter holds.

    Parameters
    ----------
    tables : list of Table or path
        Two at least: of discreet.tabulate or discreet.primary, or files (.parquet, .csv, .tab). A dimension of the same
        name is the same variable.
    meta : path, optional
        The .rda file of .tab files, if it is not the one of the same name.

    Returns
    -------
    Table
        All cells with their relations, each once; internal.
    """
    from discreet.tabular.files.formats import table_from
    from discreet.tabular.linking import link as merge

    if isinstance(tables, str | Path) or not isinstance(tables, Sequence):
        raise InputError("tables must be a list of tables, two at least")
    held = [table_from(table, meta) for table in tables]
    made = merge(held)
    made.check_sums()
    if len({str(table.rules.get("parameters")) for table in held}) > 1:
        note = "the linked tables were judged by different rules; a cell is unsafe if it is in any of them"
        made = made.but(notes=(*made.notes, note))
    return made
