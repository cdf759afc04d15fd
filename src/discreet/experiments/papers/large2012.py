"""Section VII of the 2012 paper: large tables of three dimensions, Tables VII and VIII."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.experiments.page import Section, Table, Text
from discreet.experiments.papers.orders2012 import audited
from discreet.experiments.papers.paper import Budget
from discreet.experiments.papers.published2012 import TABLES_7_8
from discreet.experiments.papers.table_tests import GROUPS, LARGE, LARGE_SECONDS, QUICK_LARGE, smaller

if TYPE_CHECKING:
    import polars as pl

    from discreet.experiments.papers.table_runs import Kind


def table_7(budget: Budget) -> Section:
    """Fourteen large tables and how many of their primary cells elimination exposes."""
    rows: list[tuple[object, ...]] = []
    spent = 0.0
    kinds = QUICK_LARGE if budget.quick else LARGE
    # The quick run has a few small tables of other sizes; nothing published answers to them.
    for kind, published in zip(kinds, [None] * len(kinds) if budget.quick else TABLES_7_8, strict=True):
        cells, unsafe, exposed, seconds = _unpicked(kind, budget.seed)
        spent += seconds
        size, *numbers = published[:4] if published else (kind.sizes, None, None, None)
        rows.append((size, f"{kind.sensitive:g}, {kind.zeros:g}", *_pairs(numbers, (cells, unsafe, exposed))))
    return Section(
        "Table VII: fourteen large tables",
        [
            Text(
                "Published / ours, generated at the same sizes: cells, primary cells, and the set K_u of those that "
                "elimination exposes while only primary cells are suppressed. What explains the differences: other "
                "draws; a hierarchical dimension (H) that is divided otherwise; in our generator the shares of "
                "sensitive and of empty cells are those of inner cells, and primary totals come on top of them. Of "
                "100×112(H)×4 the paper tells 56,000 cells, though its sizes make 44,800. Elimination took "
                f"{1000 * spent:.0f} ms of the processor on all of our tables together; the paper tells 42 s for one "
                "of a million cells."
            ),
            Table(("size with totals", "sensitive, zeros", "cells", "primary cells", "K_u"), rows),
        ],
    )


def table_8(budget: Budget) -> Section:
    """Improvements by the surrogate."""
    published = [(size, f"{calls:,}", f"{gain:g} %") for size, _, _, _, calls, gain in TABLES_7_8]
    runs = smaller(budget)
    rows = []
    for (table,), own in runs.group_by("table", maintain_order=True):
        surrogate, search = (_run(own, method) for method in ("ga-group-k", "search"))
        first, last = (json.loads(surrogate["trace"])[place][2] for place in (0, -1))
        rows.append(
            (
                str(table).split()[0].replace("x", "×"),
                surrogate["cells"],
                surrogate["unsafe"],
                surrogate["calls"],
                f"{100 * (1 - last / first) if first else 0:.2f} %",
                f"{surrogate['cost']:,.0f}",
                f"{search['cost']:,.0f}",
                f"{100 * (1 - search['cost'] / surrogate['cost']):.1f} %" if surrogate["cost"] else "–",
            )
        )
    return Section(
        "Table VIII: the surrogate on large tables",
        [
            Text("Published, in up to 24 hours a table:"),
            Table(("size with totals", "calls of the fitness function", "improvement of the surrogate"), published),
            Text(
                f"Ours, on smaller tables with such shares, {LARGE_SECONDS:g} s of the processor each: {GROUPS} groups "
                "of K_u over orders, and all other primary cells as a last group; improvement over the groups by "
                "falling weight. What explains the difference: linear programs of tables this small take milliseconds, "
                "so that there are more calls; those of the paper's sizes are beyond what was spent on this page. The "
                "last columns are what [`search`](../suppression.md) reaches in the same time. "
                f"{audited(runs)}"
            ),
            Table(
                (
                    "size without totals",
                    "cells",
                    "primary cells",
                    "calls",
                    "improvement of the surrogate",
                    "cost of its pattern",
                    "cost by search",
                    "search is cheaper by",
                ),
                rows,
            ),
        ],
    )


@lru_cache(maxsize=32)
def _unpicked(kind: Kind, draw: int) -> tuple[int, int, int, float]:
    """Cells, primary cells, those that elimination exposes, and the seconds that it took."""
    import time

    from discreet.experiments.papers.table_runs import generated
    from discreet.verification.unpicking import exposed_primaries

    table = generated(kind, draw)
    start = time.process_time()
    exposed = exposed_primaries(table)
    return len(table), len(table.primary), len(exposed), time.process_time() - start


def _pairs(published: list[Any], ours: tuple[int, ...]) -> list[str]:
    return [
        f"{'–' if theirs is None else f'{theirs:,}'} / {own:,}" for theirs, own in zip(published, ours, strict=True)
    ]


def _run(own: pl.DataFrame, method: str) -> dict[str, Any]:
    return own.filter(own["method"] == method).row(0, named=True)
