"""A published table to report on, and what the public report says of it: no more than the table itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.release.reports.pages import Grid, Section
from discreet.tabular.table import FIXED, PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.outside import TablePromise, published_table
from discreet.verification.publication import read_public_frame
from discreet.verification.verdict import Audit

# The largest table that is shown as a grid.
ROWS, COLUMNS = 80, 16
# So many suppressed cells at most are attacked again for their exact intervals.
EXACT = 300


@dataclass(frozen=True, eq=False)
class TableSubject:
    """A published table to report on.

    Parameters
    ----------
    name : str
        The file.
    account : mapping
        The evidence, or what the record says where there is none.
    public : Table
        The table as the public sees it: of its statuses only whether a cell is suppressed is used.
    mark : str
        What stands for a suppressed value.
    audit : Audit, optional
        The attacker's verdict, with a certificate; None where the internal table is not at hand.
    absent : mapping of str to str
        What is not at hand → why, and what to do.
    """

    name: str
    account: Mapping[str, Any]
    public: Table
    mark: str
    audit: Audit | None = None
    absent: Mapping[str, str] = field(default_factory=dict)


class Slice(NamedTuple):
    """A table as people see it: codes of one dimension down, of another across, and the totals of all others."""

    down: int
    across: int | None
    rows: list[tuple[int, str]]
    columns: list[str]
    cells: NDArray[np.int64]


def public_sections(subject: TableSubject) -> list[Section]:
    """The report that goes out with a table."""
    return [
        Section("table-promise", "What the marks mean, and how to check it", promise_facts(subject)),
        Section("table-published", "What is published", published_facts(subject)),
        Section("table-uses", "What the table is good for"),
        Section("table-limits", "What this protection does not give"),
        Section("table-glossary", "Words", {"internal": False}),
    ]


def promise_facts(subject: TableSubject) -> dict[str, Any]:
    """The promise and what it takes to check it; not the rules, method or version, by which values can be ruled out."""
    account = subject.account
    return {
        "mark": subject.mark,
        "words": TablePromise(account["promise"]).words() if account.get("promise") else None,
        "partial": not (account.get("verification") or {"passed": True})["passed"],
        "file": subject.name,
        "sha256": (account.get("output") or {}).get("sha256"),
    }


def published_facts(subject: TableSubject) -> dict[str, Any]:
    """How much is published, in all and by code, and the table itself where it is small."""
    table = subject.public
    shown = slice_of(table)
    return {
        "cells": len(table),
        "marked": int(table.suppressed.sum()),
        "share": 100.0 * float((~table.suppressed).mean()),
        "shares": [_shares(table, axis) for axis in range(len(table.dimensions))],
        "others": name_others(table, shown),
        "grid": None if shown is None else cell_grid(table, shown, subject.mark, internal=False),
    }


def _shares(table: Table, axis: int) -> Grid:
    """For each code of a dimension how many of its cells are published."""
    one = table.dimensions[axis]
    cells = np.bincount(table.codes[:, axis], minlength=len(one.codes))
    marked = np.bincount(table.codes[:, axis], weights=table.suppressed, minlength=len(one.codes))
    order = [int(code) for code in np.argsort(one.ranks) if cells[code]]
    rows = [
        (one.codes[code], f"{cells[code]:,}", f"{100.0 * (1.0 - marked[code] / cells[code]):.0f} %")
        for code in order[:COLUMNS]
    ]
    rest = f"; the first {COLUMNS} of {len(order):,} codes" if len(order) > COLUMNS else ""
    return Grid((one.name, "Cells", "Published"), rows, right=2, caption=f"Share published by {one.name}{rest}")


def slice_of(table: Table) -> Slice | None:
    """The largest two dimensions at the totals of all others; None where that is too large, or there are no codes."""
    used = [np.unique(table.codes[:, axis]) for axis in range(len(table.dimensions))]
    axes = sorted(range(len(used)), key=lambda axis: -len(used[axis]))[:2]
    if not axes or len(used[axes[0]]) > ROWS or (len(axes) > 1 and len(used[axes[1]]) > COLUMNS):
        return None
    inside = np.ones(len(table), np.bool_)
    for axis, one in enumerate(table.dimensions):
        if axis not in axes:
            inside &= table.codes[:, axis] == int(np.argmin(one.ranks))
    down, across = axes[0], axes[1] if len(axes) > 1 else None
    rows = _in_order(table, down, used[down])
    columns = [] if across is None else _in_order(table, across, used[across])
    cells = np.full((len(rows), max(1, len(columns))), -1, np.int64)
    place = {code: at for at, code in enumerate(rows)}
    beside = {code: at for at, code in enumerate(columns)}
    for cell in np.flatnonzero(inside):
        row = place[int(table.codes[cell, down])]
        cells[row, 0 if across is None else beside[int(table.codes[cell, across])]] = cell
    depths = _depths(table, down)
    names = table.dimensions[down].codes
    heads = [] if across is None else [str(table.dimensions[across].codes[code]) for code in columns]
    return Slice(down, across, [(depths[code], str(names[code])) for code in rows], heads, cells)


def _in_order(table: Table, axis: int, codes: NDArray[Any]) -> list[int]:
    ranks = table.dimensions[axis].ranks
    return [int(code) for code in codes[np.argsort(ranks[codes])]]


def _depths(table: Table, axis: int) -> list[int]:
    """How far below the total each code is, in the first hierarchy that has it."""
    one = table.dimensions[axis]
    found: dict[str, int] = {}
    for tree in one.hierarchies:
        for code, depth in zip(tree.codes, tree.depths.tolist(), strict=True):
            found.setdefault(code, depth)
    return [found[code] for code in one.codes]


def name_others(table: Table, shown: Slice | None) -> str:
    """The dimensions that a grid shows the totals of only."""
    if shown is None:
        return ""
    return itemize([one.name for axis, one in enumerate(table.dimensions) if axis not in (shown.down, shown.across)])


def cell_grid(table: Table, shown: Slice, mark: str, *, internal: bool) -> dict[str, Any]:
    """The rows of a grid: each with its depth, its code and its cells as text and kind."""
    digits = table.decimals

    def show(cell: int) -> tuple[str, str]:
        if cell < 0:
            return "", "none"
        status = int(table.status[cell])
        if status in (PRIMARY, SECONDARY):
            return mark, ("unsafe" if status == PRIMARY else "secondary") if internal else "marked"
        value = float(table.value[cell])
        kind = "fixed" if internal and status == FIXED else ""
        return (f"{value:,.{digits}f}" if digits is not None else f"{value:,.6g}"), kind

    names = [table.dimensions[axis].name for axis in (shown.down, shown.across) if axis is not None]
    return {
        "caption": " by ".join(names) + (f": {table.response}" if table.response else ""),
        "corner": names[0],
        "head": shown.columns or [table.response or "value"],
        "rows": [(depth, name, [show(cell) for cell in line.tolist()]) for (depth, name), line in
                 zip(shown.rows, shown.cells, strict=True)],
    }  # fmt: skip


def read_table_subject(
    path: Path, internal: Any, account: Mapping[str, Any], absent: Mapping[str, str]
) -> TableSubject:
    """A published table with its record, and the internal table where it is at hand, to report on."""
    public = published_table(path)
    if public is None:
        raise InputError(f"{path}: not a table that discreet suppress has published beside its record")
    if internal is None:
        why = "the internal table was not given (--original), so neither pattern nor intervals can be told"
        return TableSubject(path.name, account, public, _mark_of(path), None, {**absent, "internal": why})
    few = int(public.suppressed.sum()) <= EXACT
    insiders = account["promise"].get("sole_contributors") == "judged"
    found = audit(internal, pattern=path, certificate=True, intervals=few, singletons=insiders)
    return TableSubject(path.name, account, public, _mark_of(path), found, absent)


def _mark_of(path: Path) -> str:
    """What stands for suppressed values in a published file; nothing does in a Parquet file."""
    read = read_public_frame(path)
    if read is None or not read[1]:
        return "x"
    values = read[0].to_series(-1)
    marked = values.filter(values.cast(pl.Float64, strict=False).is_null()).drop_nulls()
    return str(marked[0]) if len(marked) else "x"
