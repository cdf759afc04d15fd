"""What the report to those who decide says of a table: all but values that are hidden.

Of a suppressed cell it says how wide its interval is against what is required, and never where it lies.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.attack.levels import PROTECTED, UNJUDGED
from discreet.data.checks import itemize
from discreet.data.toml import write_value
from discreet.extras import alt
from discreet.release.charts import BLUE, GREY, VERMILION, svg
from discreet.release.reports.internal import sign_off_facts, trace_figure
from discreet.release.reports.pages import Figure, Grid, Page, Section
from discreet.release.reports.tables import TableSubject, cell_grid, name_others, public_sections, slice_of
from discreet.tabular.table import SECONDARY, Table
from discreet.text import entries_of
from discreet.verification.verdict import Audit

# The most lines of a list of cells, and the most bars: what people read, and small files.
LINES, BARS = 500, 40
# A reach of so many times what is required is drawn as far as this: how much farther does not matter.
FAR = 3.0


def render_table_reports(subject: TableSubject) -> dict[str, str]:
    """The text of both reports of a table."""
    cells, decide = f"{len(subject.public):,} cells", f"Report to those who decide. {len(subject.public):,} cells"
    return {
        "report": Page(
            f"About the table in {subject.name}", cells, False, public_sections(subject), tells_version=False
        ).render(),
        "internal report": Page(f"Release {subject.name}", decide, True, internal_sections(subject)).render(),
    }


def internal_sections(subject: TableSubject) -> list[Section]:
    """Verdict, pattern, and what each cell is there for; sections whose facts are not at hand are left out."""
    found, account = subject.audit, subject.account
    sections = [
        Section("table-verdict", "What an attacker can work out", verdict_facts(subject)),
        Section("sign-off", "Sign-off", sign_off_facts(account)),
    ]
    if found is not None:
        sections.append(Section("table-pattern", "The pattern", pattern_facts(subject, found)))
        sections.append(Section("table-intervals", "How far the unsafe cells are kept apart", reach_facts(found)))
    if found is not None and found.certificate is not None:
        sections.append(Section("table-secondary", "What the secondary cells are there for", secondary_facts(found)))
    if account.get("search"):
        sections.append(Section("table-search", "The search", search_facts(account)))
    sections.append(Section("table-wp216", "The three questions of the GDPR opinion WP216", wp216_facts(subject)))
    if account.get("search"):
        sections.append(Section("table-repeat", "How to repeat it", repeat_facts(account)))
    if account.get("notes"):
        sections.append(Section("notes", "What was assumed", {"notes": account["notes"]}))
    sections.append(Section("table-glossary", "Words", {"internal": True}))
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
        "grid": None if shown is None else cell_grid(table, shown, subject.mark, internal=True),
        "others": name_others(table, shown),
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
    drawn = alt.layer(bars, line).properties(width=420, height={"step": 18})
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


def search_facts(account: Mapping[str, Any]) -> dict[str, Any]:
    """How the pattern was found, how its cost fell, and what is proven."""
    return {"search": account["search"], "bound": account["bound"], "figure": trace_figure(account["search"])}


def wp216_facts(subject: TableSubject) -> dict[str, Any]:
    """What is known of singling out, linkability and inference."""
    promise = subject.account.get("promise") or {}
    asked = (subject.account.get("parameters") or {}).get("asked", {})
    return {"sole": promise.get("sole_contributors"), "previous": "previous_release" in asked}


def repeat_facts(account: Mapping[str, Any]) -> dict[str, Any]:
    """The command and the configuration that give the same pattern again, and the digests."""
    given, output = account["input"], account.get("output") or {}
    return {
        "command": write_command(account),
        "toml": write_configuration(account),
        "version": account["version"],
        "files": [(one.get("file"), one["sha256"]) for one in (given, output) if one.get("sha256")],
    }


# What is said on the command line, since it names files.
LISTS = ("previous", "frozen", "prefer", "avoid", "previous_release", "meta")


def write_command(account: Mapping[str, Any]) -> str:
    """The command; steps take the place of the time, so that it ends where the run ended."""
    asked = account["parameters"].get("asked", {})
    words = ["discreet", "suppress", account["input"]["file"] or "TABLE", "--config", "repeat.toml"]
    for name in LISTS:
        said = asked.get(name, ())
        for file in [said] if isinstance(said, str) else said:
            words += [f"--{name.replace('_', '-')}", file]
    words += ["--secret", "SECRET"] if "secret" in account["parameters"] else []
    words += ["-o", (account.get("output") or {}).get("file") or "OUTPUT.csv"]
    return " ".join(shlex.quote(word) for word in words)


def write_configuration(account: Mapping[str, Any]) -> str:
    """The TOML file of the command."""
    search, said = account["search"], account["parameters"]
    chosen = {"method": search["method"], "params": said.get("params") or None, "seed": search["seed"]}
    chosen |= {"steps": search["steps"] or None}
    chosen |= {name: value for name, value in said.get("asked", {}).items() if name not in LISTS}
    return "".join(f"{name} = {write_value(value)}\n" for name, value in chosen.items() if value is not None)
