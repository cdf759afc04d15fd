"""What the reports of a table say: the public one no more than the table itself, the internal one all but values.

An unsafe value is in neither: of a suppressed cell the internal report says how wide its interval is against what is
required, and never where it lies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.attack.levels import PROTECTED, UNJUDGED
from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.release.charts import BLUE, GREY, VERMILION, styled, svg
from discreet.release.reports.pages import Figure, Grid, Page, Section
from discreet.tabular.table import FIXED, PRIMARY, SECONDARY, Table
from discreet.text import entries_of
from discreet.verification.audit import audit
from discreet.verification.outside import TablePromise, published_table
from discreet.verification.publication import read_public_frame
from discreet.verification.verdict import Audit

# The largest table that is shown as a grid, and the most lines of a list of cells: what people read, and small files.
ROWS, COLUMNS, LINES, BARS = 80, 16, 500, 40
# A reach of so many times what is required is drawn as far as this: how much farther does not matter.
FAR = 3.0
# So many suppressed cells at most are attacked again for their exact intervals.
EXACT = 300
RULES = {
    "threshold": "it has too few contributors",
    "dominance": "a few contributors make up most of it",
    "p": "one contributor could estimate another's part too closely",
    "pq": "one contributor could estimate another's part too closely",
    "request": "a contributor has asked for protection",
    "zero": "it is zero, which tells the part of every contributor",
    "manual": "the office has named it",
    "given": "it came marked as confidential",
}
"""What makes a cell unsafe, without the parameters, which would help to undo the protection."""


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


def render_table_reports(subject: TableSubject) -> dict[str, str]:
    """The text of both reports of a table."""
    cells, decide = f"{len(subject.public):,} cells", f"Release {subject.name}: report to those who decide"
    return {
        "report": Page(f"About the table in {subject.name}", cells, False, public_sections(subject)).render(),
        "internal report": Page(decide, cells, True, internal_sections(subject)).render(),
    }


def public_sections(subject: TableSubject) -> list[Section]:
    """The report that goes out with a table."""
    return [
        Section("table-promise", "What the marks mean, and how to check it", promise_facts(subject)),
        Section("table-published", "What is published", published_facts(subject)),
        Section("table-uses", "What the table is good for"),
        Section("table-limits", "What this protection does not give"),
    ]


def promise_facts(subject: TableSubject) -> dict[str, Any]:
    """The promise, the rules in words and what it takes to check it."""
    account = subject.account
    rules = ((account.get("parameters") or {}).get("rules") or {}).get("words", {})
    return {
        "mark": subject.mark,
        "words": TablePromise(account["promise"]).words() if account.get("promise") else None,
        "rules": list(dict.fromkeys(RULES[name] for name in rules if name in RULES)),
        "partial": not (account.get("verification") or {"passed": True})["passed"],
        "file": subject.name,
        "sha256": (account.get("output") or {}).get("sha256"),
        "version": account["version"],
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
        "others": _others(table, shown),
        "grid": None if shown is None else _grid(table, shown, subject.mark, internal=False),
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


def _others(table: Table, shown: Slice | None) -> str:
    """The dimensions that a grid shows the totals of only."""
    if shown is None:
        return ""
    return itemize([one.name for axis, one in enumerate(table.dimensions) if axis not in (shown.down, shown.across)])


def _grid(table: Table, shown: Slice, mark: str, *, internal: bool) -> dict[str, Any]:
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


def internal_sections(subject: TableSubject) -> list[Section]:
    """What the report to those who decide says of a table: verdict, pattern, and what each cell is there for."""
    found = subject.audit
    sections = [Section("table-verdict", "What an attacker can work out", verdict_facts(subject))]
    if found is None:
        return sections
    sections.append(Section("table-pattern", "The pattern", pattern_facts(subject, found)))
    sections.append(
        Section("table-intervals", "How far the unsafe cells are from what is required", reach_facts(found))
    )
    if found.certificate is not None:
        sections.append(Section("table-secondary", "What the secondary cells are there for", secondary_facts(found)))
    return sections


def verdict_facts(subject: TableSubject) -> dict[str, Any]:
    """The counts of the evidence, the verdict in words, and what was found by subtraction alone."""
    account, found = subject.account, subject.audit
    return {
        "measures": account.get("measures") or {},
        "bound": account.get("bound"),
        "verification": account.get("verification") or {},
        "said": [] if found is None else entries_of(found.summary()),
        "absent": dict(subject.absent),
        "eliminated": [] if found is None else [_name(found.table, int(cell)) for cell in found.eliminated[:LINES]],
    }


def pattern_facts(subject: TableSubject, found: Audit) -> dict[str, Any]:
    """The grid coloured by status, and how many cells each rule found."""
    table = found.table
    shown = slice_of(table)
    words = [name for name in table.rule_words().to_list() if name]
    rules = [(name, f"{words.count(name):,}") for name in sorted(set(words), key=lambda name: -words.count(name))]
    return {
        "grid": None if shown is None else _grid(table, shown, subject.mark, internal=True),
        "others": _others(table, shown),
        "rules": Grid(("Found unsafe by", "Cells"), rules, right=1) if rules else None,
    }


def reach(found: Audit) -> list[tuple[int, float | None, float | None, float | None]]:
    """For each judged cell how far it reaches below, above and in all, in parts of what is required; least first."""
    said = []
    for at in np.flatnonzero(found.verdict != UNJUDGED):
        cell = int(found.cells[at])
        value = float(found.table.value[cell])
        below = _ratio(value - found.lower[at], value - found.required_lower[at])
        above = _ratio(found.upper[at] - value, found.required_upper[at] - value)
        said.append((cell, below, above, _ratio(found.upper[at] - found.lower[at], found.required_width[at])))
    return sorted(said, key=lambda one: min((part for part in one[1:] if part is not None), default=np.inf))


def _name(table: Table, cell: int) -> str:
    """A cell by its codes, or its number."""
    if not table.dimensions:
        return table.name(cell)
    return " × ".join(one.codes[code] for one, code in zip(table.dimensions, table.codes[cell].tolist(), strict=True))


def _ratio(reached: float, required: float) -> float | None:
    if not np.isfinite(required) or required <= 0 or np.isnan(reached):
        return None
    return float(reached / required)


def reach_facts(found: Audit) -> dict[str, Any]:
    """Every unsafe cell with its interval against the required one, in parts of the latter; the closest drawn."""
    said = reach(found)
    names = {cell: _name(found.table, cell) for cell, *_ in said[: max(LINES, BARS)]}
    protected = {int(cell): verdict == PROTECTED for cell, verdict in zip(found.cells, found.verdict, strict=True)}
    rows = [
        (names[cell], *(_times(part) for part in parts), "yes" if protected[cell] else "NO")
        for cell, *parts in said[:LINES]
    ]
    exact = (
        "the attacker's interval" if found.exact else "what was proven of the attacker's interval, which may be wider"
    )
    return {
        "figure": _reach_figure(said[:BARS], names) if said else None,
        "exact": exact,
        "grid": Grid(("Unsafe cell", "Below", "Above", "Range", "Protected"), rows, right=4),
        "left": max(0, len(said) - LINES),
    }


def _times(part: float | None) -> str:
    return "–" if part is None else ("over 100 ×" if part > 100 else f"{part:.2f} ×")


def _reach_figure(
    said: Sequence[tuple[int, float | None, float | None, float | None]], names: dict[int, str]
) -> Figure:
    import altair as alt

    rows: list[dict[str, Any]] = []
    for cell, below, above, width in said:
        # Where only the range counts, it is drawn as one bar to the right.
        sides = ((-1.0, below), (1.0, above)) if width is None else ((1.0, width),)
        rows += [
            {"cell": names[cell], "reach": way * min(part, FAR), "enough": "enough" if part >= 1.0 else "too little"}
            for way, part in sides
            if part is not None
        ]
    colours = alt.Scale(domain=["enough", "too little"], range=[BLUE, VERMILION])
    scale = alt.Scale(domain=[-FAR, FAR], nice=False)
    label = "datum.value == 0 ? 'value' : (abs(datum.value) == 3 ? '≥ ' : '') + abs(datum.value) + ' ×'"
    axis = alt.Axis(title="reach, in parts of what is required", values=[-3, -2, -1, 0, 1, 2, 3], labelExpr=label)
    bars = alt.Chart(alt.InlineData(values=rows)).mark_bar(height={"band": 0.6}).encode(
        y=alt.Y("cell:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        x=alt.X("reach:Q", scale=scale, axis=axis),
        color=alt.Color("enough:N", scale=colours, legend=None),
    )  # fmt: skip
    line = (
        alt.Chart(alt.InlineData(values=[{"at": -1}, {"at": 1}]))
        .mark_rule(strokeDash=[4, 3], color=GREY)
        .encode(x="at:Q")
    )
    drawn = styled(alt.layer(bars, line).properties(width=420, height={"step": 18}))
    short = sum(row["enough"] != "enough" for row in rows)
    return Figure(
        svg(drawn, "reach"),
        "Each bar is how far below (left) and above (right) its value an attacker has to reckon with for an unsafe "
        "cell; the dashed lines are what is required. The cells that come closest to them stand first.",
        f"Bars of {len(said):,} unsafe cells; {short or 'none'} end before the required distance.",
    )


def secondary_facts(found: Audit) -> dict[str, Any]:
    """For each secondary cell the unsafe cells in whose certificates it moves: those it is there for."""
    assert found.certificate is not None
    table, proof = found.table, found.certificate
    serves: dict[int, list[int]] = defaultdict(list)
    for cell, down, up in zip(proof.cells.tolist(), proof.down.tolist(), proof.up.tolist(), strict=True):
        moved = np.unique(np.concatenate([proof.moves[way].cells for way in (down, up) if way >= 0] or [[]]))
        for other in moved.astype(np.int64).tolist():
            if other != cell and table.status[other] == SECONDARY:
                serves[other].append(cell)
    secondary = np.flatnonzero(table.status == SECONDARY).tolist()
    order = sorted(secondary, key=lambda cell: -len(serves[cell]))
    rows = [
        (_name(table, cell), f"{len(serves[cell]):,}", itemize([_name(table, one) for one in serves[cell]]) or "–")
        for cell in order[:LINES]
    ]
    return {
        "grid": Grid(("Secondary cell", "Unsafe cells", "Which"), rows),
        "left": max(0, len(order) - LINES),
        "idle": sum(not serves[cell] for cell in secondary),
    }


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
