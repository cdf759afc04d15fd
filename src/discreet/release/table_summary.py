"""The summary of a suppressed table: what was unsafe, what protects it, what that cost, and where it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.tabular.table import Table
from discreet.text import entry
from discreet.verification.verdict import Audit

_WHAT = {
    "release": "publishable",
    "record": "publishable: promise, method",
    "evidence": "internal: keep it, do not publish",
    "internal": "internal: holds every value",
    "certificate": "internal: the proof of protection",
}


def summary(table: Table, account: Mapping[str, Any], audit: Audit, files: Mapping[str, Path] | None = None) -> str:
    """The release in words; internal, since costs tell of suppressed cells."""
    measures, search = account["measures"], account["search"]
    lines = [f"{table.source}: {len(table):,} cells, {measures['primary_count']:,} unsafe", ""]
    cost = _figure(measures["cost"])
    lines += entry(
        "Suppressed",
        f"{measures['secondary_count']:,} further cells of value {_figure(measures['secondary_value'])}, at a cost of "
        f"{cost} ({measures['published_share']:.2f} % of all cells stay published)",
    )
    steps = f"{search['steps']:,} {'step' if search['steps'] == 1 else 'steps'} in {search['seconds']:.1f} s"
    lines += entry("Method", f"{search['method']}, {steps}, ended by {search['stopped']}")
    if account["bound"]:
        bound = account["bound"]
        words = "this is the optimum" if bound["gap"] == 0 else f"at most {bound['gap']:.2f} % of the cost can be saved"
        lines += entry("Bound", f"no pattern costs less than {_figure(bound['value'])}: {words}")
    if measures.get("changes") is not None:
        lines += entry("Previous", f"{measures['changes']:,} secondary cells differ from the previous pattern")
    if measures.get("unprotected_count"):
        lines += entry("NOT protected", f"{measures['unprotected_count']:,} unsafe cells that nothing can protect")
    verdict = audit.summary().splitlines()
    lines += verdict[2:]
    if files:
        lines.append("")
        width = max(len(str(path)) for path in files.values())
        for at, (kind, path) in enumerate(files.items()):
            lines.append(f"{'Files' if at == 0 else '':<12}{path!s:<{width}}  {_WHAT[kind]}")
    return "\n".join(lines)


def _figure(number: float) -> str:
    return f"{number:,.0f}" if number == round(number) else f"{number:,.2f}"
