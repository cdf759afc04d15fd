"""Section V of the 2012 paper with Figures 2 and 3: orders of all cells, of the exposed ones, of groups of these."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from discreet.experiments.page import Picture, Section, Text
from discreet.experiments.papers.orders2012 import audited, confident, ranked
from discreet.experiments.papers.paper import Budget, compared
from discreet.experiments.papers.published2012 import BEST_5, CONFIDENCE_5, RANKS_5
from discreet.experiments.papers.table_charts import falls
from discreet.experiments.papers.table_tests import SETS, tests, timed

if TYPE_CHECKING:
    import polars as pl

OTHER = "other tables of the same class; seconds in place of hours"
FLOWS = (
    "in a table of two dimensions each step is a flow in a compiled kernel, which is quick for one cell at a time; the "
    "paper groups cells because each of its steps is a linear program"
)


def section_5(budget: Budget) -> Section:
    """All primary cells, the exposed ones, and these in groups."""
    import polars as pl

    runs = timed(budget).filter(pl.col("method").is_in(SETS))
    found = ranked(runs)
    least = runs.with_columns(least=pl.col("cost").min().over("table"))
    best = dict(least.filter(pl.col("cost") == pl.col("least")).group_by("method").len().rows())
    ours = dict(found.ranks.select("method", "rank").rows())
    rows: list[tuple[str, object, object, str]] = [
        (
            f"{name}: tables on which it is best or equally best",
            f"{number} of 38",
            f"{best.get(name, 0)} of {found.cases}",
            OTHER,
        )
        for name, number in BEST_5.items()
    ]
    rows += [
        (
            f"{name}: mean rank, 1 is best",
            f"{rank:.2f} (10 tables of 40,000 cells)",
            f"{ours[name]:.2f} ({found.cases} tables of all sizes)",
            FLOWS,
        )
        for name, rank in RANKS_5.items()
    ]
    rows += [
        (f"{one} better than {other}, confidence (Wilcoxon)", confidence, confident(found, one, other), OTHER)
        for (one, other), confidence in CONFIDENCE_5.items()
    ]
    return Section(
        "Section V: GA-one-P, GA-one-K and GA-group-K",
        [
            Text(
                "The genetic algorithm over orders of all primary cells, of those that primary cells alone do not "
                "protect, and of 40 groups of these, with equal seconds of the processor: "
                f"{seconds(budget)}. {audited(runs)}"
            ),
            compared(rows),
        ],
    )


def figure_2(budget: Budget) -> Section:
    """Cost by seconds."""
    return _figure(2, "seconds", "seconds of the processor", budget)


def figure_3(budget: Budget) -> Section:
    """Cost by calls of the fitness function."""
    return _figure(3, "calls", "calls of the fitness function", budget)


def _figure(number: int, along: str, name: str, budget: Budget) -> Section:
    runs, cells = _largest(budget)
    steps = _traces(runs)
    calls = dict(runs.select("method", "calls").rows())
    made = ", ".join(f"{method} {calls[method]}" for method in SETS)
    claims: dict[int, tuple[str, object, object, str]] = {
        2: (
            "costs found that are better than the first",
            "one by each of GA-one-P and GA-one-K, many by GA-group-K",
            ", ".join(f"{method} {_improvements(runs, method)}" for method in SETS),
            "seconds in place of 12 hours",
        ),
        3: (
            "calls made",
            "below 150 one at a time, about 2,000 in groups, in 12 hours",
            made,
            f"seconds in place of hours; {FLOWS}",
        ),
    }
    return Section(
        f"Figure {number}: cost by {name}",
        [
            Picture(
                f"2012-figure-{number}",
                falls(steps, along, "cost", "method", title=f"Cost by {name}, {cells:,} cells", names=(name, "cost")),
                f"Cost of the best pattern so far by {name}, for the three genetic algorithms",
            ),
            compared([claims[number]]),
        ],
    )


def seconds(budget: Budget) -> str:
    """How long the searches that are compared had, in words."""
    return "; ".join(f"{test.seconds:g} s on {test.kind.name}" for test in tests(budget))


def _largest(budget: Budget) -> tuple[pl.DataFrame, int]:
    """The runs of the three genetic algorithms on the largest table, and its cells."""
    import polars as pl

    runs = timed(budget).filter(pl.col("method").is_in(SETS))
    runs = runs.filter(pl.col("cells") == pl.col("cells").max())
    return runs.filter(pl.col("table") == pl.col("table").first()), int(runs["cells"][0])


def _traces(runs: pl.DataFrame) -> pl.DataFrame:
    """The costs of runs as they fell, each up to the end of its run."""
    import polars as pl

    rows = []
    for run in runs.iter_rows(named=True):
        fallen = json.loads(run["trace"])
        rows += [{"method": run["method"], "seconds": s, "calls": c, "cost": cost} for s, c, cost in fallen]
        rows.append({**rows[-1], "seconds": run["spent"], "calls": run["calls"]})
    return pl.DataFrame(rows)


def _improvements(runs: pl.DataFrame, method: str) -> int:
    import polars as pl

    return len(json.loads(runs.filter(pl.col("method") == method)["trace"].item())) - 1
