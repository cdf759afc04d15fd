"""Tables V and VI of the 2012 paper: costs by method, and which methods protect which tables."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from discreet.experiments.page import Section, Table, Text
from discreet.experiments.papers.orders2012 import audited
from discreet.experiments.papers.paper import Budget, compared
from discreet.experiments.papers.published2012 import TABLE_5, TABLE_6
from discreet.experiments.papers.sets2012 import OTHER, seconds
from discreet.experiments.papers.table_tests import tests, timed

if TYPE_CHECKING:
    import polars as pl

    from discreet.experiments.papers.table_runs import Kind

# A column of Table V, and the method of ours that answers to it.
COLUMNS = {"GA-group-K": "ga-group-k", "Hypercube": "hypercube", "Optimal": "exact", "Marginal": "marginal"}
PLACES = {"GA-group-K": 0, "Hypercube": 1, "Modular": 2, "Optimal": 3, "Marginal": 4}


def table_5(budget: Budget) -> Section:
    """Costs of the secondary cells by method."""
    runs = timed(budget)
    rows = []
    ratios: list[tuple[str, object, object, str]] = []
    for test in tests(budget):
        kind, own = test.kind, _of(runs, test.kind)
        for (table,), drawn in own.group_by("table", maintain_order=True):
            costs = dict(drawn.select("method", "cost").rows())
            proven = _proven(drawn)
            rows.append(
                (
                    f"{kind.name}, draw {str(table).split()[-1]}",
                    *(f"{costs[name]:,.0f}" for name in ("ga-group-k", "hypercube", "exact", "marginal", "search")),
                    proven,
                )
            )
        ratios += [
            (f"{kind.name}: {name} / GA-group-K", _published_ratio(kind, name), _ratio(own, method), _why(name, own))
            for name, method in COLUMNS.items()
            if method != "ga-group-k"
        ]
    return Section(
        "Table V: cost of the secondary cells by method",
        [
            Text(
                f"Costs on our tables. Each search had {seconds(budget)}. {audited(runs)} Modular and Network are "
                "methods of τ-ARGUS and not part of this package."
            ),
            Table(("table", "ga-group-k", "hypercube", "exact", "marginal", "search", "exact is proven"), rows),
            Text("Our tables are not the paper's, so costs are compared by their ratios (medians of a class)."),
            compared(ratios),
        ],
    )


def table_6(budget: Budget) -> Section:
    """Tables protected, by size."""
    import polars as pl

    runs = timed(budget)
    sizes = ("200x5", "200x50", "4000x10")
    rows: list[tuple[object, ...]] = []
    for name, published in TABLE_6.items():
        method = COLUMNS.get(name)
        cells: list[object] = []
        for size, number in zip(sizes, published, strict=True):
            own = runs.filter((pl.col("kind") == size) & (pl.col("method") == method)) if method else runs.clear()
            kept = int((own["failed"] == 0).sum())
            cells.append(f"{number} of 10 / {f'{kept} of {own.height}' if own.height else 'not available'}")
        rows.append((name, *cells))
    proven = runs.filter(pl.col("method") == "exact")
    optimal = sum(_is_optimal(row) for row in proven.iter_rows(named=True))
    return Section(
        "Table VI: tables protected",
        [
            Text(
                "Published / ours: tables whose pattern stood the audit. What explains the difference: our hypercube "
                "has no limit of size; `exact` begins with a safe pattern, so that it always ends with one, and "
                f"proves it optimal on {optimal} of {proven.height} tables."
            ),
            Table(("algorithm", *(size.replace("x", "×") for size in sizes)), rows),
        ],
    )


def _of(runs: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    import polars as pl

    return runs.filter((pl.col("kind") == kind.sizes) & (pl.col("sensitive") == kind.sensitive))


def _published_ratio(kind: Kind, name: str) -> str | None:
    rows = TABLE_5.get((kind.sizes, kind.sensitive), ())
    pairs = [(row[PLACES[name]], row[0]) for row in rows]
    ratios = [cost / base for cost, base in pairs if cost is not None and base]
    return _told(ratios) if ratios else None


def _ratio(own: pl.DataFrame, method: str) -> str:
    costs = {name: dict(own.filter(own["method"] == name).select("table", "cost").rows()) for name in own["method"]}
    base = costs["ga-group-k"]
    ratios = [cost / base[table] for table, cost in costs[method].items() if base[table]]
    return _told(ratios) if ratios else "no cost to compare with"


def _told(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({len(ratios)} table{'s' if len(ratios) > 1 else ''})"


def _why(name: str, own: pl.DataFrame) -> str:
    if name == "Optimal":
        exact = own.filter(own["method"] == "exact")
        proven = sum(_is_optimal(row) for row in exact.iter_rows(named=True))
        return f"{OTHER}; ours is proven on {proven} of {exact.height}"
    if name == "Marginal":
        return "other tables; what a total weighs in the paper is not said"
    return "other tables; ours is not τ-ARGUS's hypercube"


def _is_optimal(run: dict[str, Any]) -> bool:
    return run["bound"] is not None and run["cost"] <= run["bound"] * (1 + 1e-6) + 1e-6


def _proven(drawn: pl.DataFrame) -> str:
    run = drawn.filter(drawn["method"] == "exact").row(0, named=True)
    if _is_optimal(run):
        return "yes"
    return "no" if run["bound"] is None else f"no, {100 * (1 - run['bound'] / run['cost']):.1f} % left"
