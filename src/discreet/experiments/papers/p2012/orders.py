"""Tables III and IV and Figures 1 to 3 of the 2012 paper: searches over orders of primary cells.

Local search against genetic algorithms, and orders of all cells, of the exposed ones, or of groups of these.
"""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

import polars as pl
from scipy import stats

from discreet.experiments.charts import critical_difference
from discreet.experiments.page import Picture, Section, Table, Text
from discreet.experiments.papers.p2012.published import BEST_5, CONFIDENCE_4, CONFIDENCE_5, RANKS_5, TABLE_3, TABLE_4
from discreet.experiments.papers.p2012.runs import (
    GENETIC,
    LIMIT,
    LOCAL,
    SETS,
    improvement_runs,
    tests,
    timed_runs,
    weight_runs,
)
from discreet.experiments.papers.paper import Budget, compare_figures
from discreet.experiments.statistics import ALPHA, Comparison, compare
from discreet.extras import alt
from discreet.release.charts import hues, inline, styled

if TYPE_CHECKING:
    from discreet.release.charts import Chart


def points(frame: pl.DataFrame, x: str, y: str, kind: str, *, title: str, names: tuple[str, str]) -> Chart:
    """A point per run, both scales by logarithm; `names` are those of the axes."""
    chart: alt.Chart = (
        _base(frame.select(x, y, kind), kind)
        .mark_point(filled=True, size=70, opacity=0.75)
        .encode(
            x=alt.X(f"{x}:Q", title=names[0], scale=alt.Scale(type="log", nice=False, padding=20)),
            y=alt.Y(f"{y}:Q", title=names[1], scale=alt.Scale(type="log")),
        )
    )
    return styled(chart.properties(width=480, height=300, title=title))


def falls(frame: pl.DataFrame, x: str, y: str, kind: str, *, title: str, names: tuple[str, str]) -> Chart:
    """The cost of the best so far, as steps."""
    chart: alt.Chart = (
        _base(frame.select(x, y, kind), kind)
        .mark_line(interpolate="step-after", point=alt.OverlayMarkDef(size=25))
        .encode(
            x=alt.X(f"{x}:Q", title=names[0], scale=alt.Scale(nice=False)),
            y=alt.Y(f"{y}:Q", title=names[1], scale=alt.Scale(zero=False)),
        )
    )
    return styled(chart.properties(width=480, height=300, title=title))


def _base(frame: pl.DataFrame, kind: str) -> Any:
    scale = hues(frame[kind].unique(maintain_order=True).to_list())
    return alt.Chart(inline(frame)).encode(color=alt.Color(f"{kind}:N", title=None, scale=scale))


SIX = (*LOCAL, *GENETIC)
OTHER = "other tables, drawn as the paper describes; fewer calls"


def table_3(budget: Budget) -> Section:
    """Improvements over the order by weight."""
    runs = improvement_runs(budget)
    rows: list[tuple[object, ...]] = []
    means: list[tuple[object, ...]] = []
    for test in tests(budget):
        kind = test.kind
        own = runs.filter((pl.col("kind") == kind.sizes) & (pl.col("sensitive") == kind.sensitive))
        published = TABLE_3.get((kind.sizes, kind.sensitive))
        if published:
            averages = [sum(column) / len(column) for column in zip(*published, strict=True)]
            means.append((kind.name, f"published, {len(published)} tables", *(f"{mean:.2f}" for mean in averages)))
        if own.height:
            found = [float(own.filter(pl.col("method") == name)["gain"].mean()) for name in SIX]  # type: ignore[arg-type]
            what = f"ours, {own['draw'].n_unique()} tables, {test.calls} calls or {LIMIT:g} s"
            means.append((kind.name, what, *(f"{gain:.2f}" for gain in found)))
        for (table,), drawn in own.group_by("table", maintain_order=True):
            gains = [float(drawn.filter(pl.col("method") == name)["gain"].item()) for name in SIX]
            rows.append((f"{kind.name}, draw {str(table).split()[-1]}", *_best_bold(gains)))
    return Section(
        "Table III: improvement over the order by weight",
        [
            Text(
                "Percent of the cost of one pass by falling weight. First the means of each class, published and ours; "
                f"what explains the difference: {OTHER}. The paper's other eight tables are real ones of the "
                "statistical office and examples of τ-ARGUS, which are not available."
            ),
            Table(("class", "", *SIX), means),
            Text(
                "Then, in the form of the paper, each of our tables; the largest improvement in bold. "
                f"{describe_audit(runs)} A 0 says that no order tried was cheaper than the one by weight."
            ),
            Table(("table", *SIX), rows),
            Text(
                "How much there is to gain at most: no pattern, by whatever order, costs less than the bound that "
                "`exact` proves in the seconds of Table V. Median over the tables that it was run on, in percent of "
                "the cost of the order by weight:"
            ),
            Table(("class", "tables", "the most that can be gained"), _most(budget)),
        ],
    )


def table_4(budget: Budget) -> Section:
    """Friedman's ranks of the six searches, and Wilcoxon's tests."""
    runs = improvement_runs(budget)
    found = rank_methods(runs)
    ours = dict(found.ranks.select("method", "rank").rows())
    last = len(SIX) + 1  # the paper ranks the largest improvement highest
    rows: list[tuple[str, object, object, str]] = [
        (f"mean rank of {name}", f"{rank:.2f}", f"{last - ours[name]:.2f}", OTHER) for name, rank in TABLE_4.items()
    ]
    rows.append(("Friedman's test, *p*", None, f"{found.p:.3g}", f"{found.cases} tables in place of 38"))
    for name, confidence in CONFIDENCE_4.items():
        rows.append(
            (
                f"ga-{name} better than ls-{name}, confidence (Wilcoxon)",
                confidence,
                confident(found, f"ga-{name}", f"ls-{name}"),
                f"{found.cases} tables, {OTHER}",
            )
        )
    text = "differ" if found.p < ALPHA else "cannot be told apart"
    return Section(
        "Table IV: ranks of the six searches",
        [
            compare_figures(rows),
            Text(
                f"Ranks by improvement, 6 is best. On our {found.cases} tables the six {text} (Friedman, level "
                f"{ALPHA:g}); on {_alike(runs)} of them all six end at the same cost."
            ),
            Picture(
                "2012-table-4",
                critical_difference(found.ranks, found.critical_difference, title="Six searches over orders"),
                "Mean ranks of the six searches over orders, with the critical difference",
            ),
        ],
    )


def figure_1(budget: Budget) -> Section:
    """Calls of the fitness function by the size of the table."""
    columns = ("method", "cells", "calls", "spent")
    runs = pl.concat([improvement_runs(budget).select(columns), timed_runs(budget).select(columns)])
    runs = runs.filter(pl.col("method").is_in((*GENETIC, *SETS)) & (pl.col("spent") > 0))
    runs = runs.with_columns(pace=pl.col("calls") / pl.col("spent"))
    found = stats.spearmanr(runs["cells"].to_numpy(), runs["pace"].to_numpy())
    pace = runs.group_by("cells").agg(pl.col("pace").median()).sort("cells").rows()
    rows: list[tuple[str, object, object, str]] = [
        (
            "calls against cells",
            "fall, with over 99.9 % confidence",
            f"Spearman's ρ = {found.statistic:.2f}, *p* = {found.pvalue:.2g}",
            "none" if found.statistic < 0 and found.pvalue < 0.001 else "few tables",
        ),
        (
            f"at {pace[-1][0]:,} cells",
            "little more than 10 calls in 3 hours (40,000 cells)",
            f"{pace[-1][1]:.3g} calls a second",
            "each step is a minimum-cost flow in a compiled kernel in place of a linear program, what a solution "
            "before it proves is passed over, and machines have become faster",
        ),
    ]
    return Section(
        "Figure 1: calls of the fitness function by size",
        [
            Text("Calls in a second of the processor, of all runs of genetic algorithms on tables of two dimensions."),
            Picture(
                "2012-figure-1",
                points(
                    runs,
                    "cells",
                    "pace",
                    "method",
                    title="Calls of the fitness function by the size of the table",
                    names=("cells", "calls in a second"),
                ),
                "Calls of the fitness function in a second against the number of cells, which fall",
            ),
            compare_figures(rows),
        ],
    )


def rank_methods(runs: pl.DataFrame) -> Comparison:
    """Methods compared by the cost on each table."""
    return compare(runs, method="method", case="table", value="cost")


def confident(found: Comparison, one: str, other: str) -> str:
    """How sure Wilcoxon's test is that two methods differ, and which way."""
    pair = found.pairs.filter(pl.col("one").is_in((one, other)) & pl.col("other").is_in((one, other))).row(
        0, named=True
    )
    wins, losses = (pair["wins"], pair["losses"]) if pair["one"] == one else (pair["losses"], pair["wins"])
    return f"{100 * (1 - pair['p']):.1f} % (better on {wins}, worse on {losses}, equal on {pair['ties']})"


def describe_audit(runs: pl.DataFrame) -> str:
    """What the audits say of all patterns of some runs."""
    failed, hopeless = int((runs["failed"] > 0).sum()), max(runs["hopeless"].to_list())
    verdict = f"All {runs.height} patterns stood the audit" if not failed else f"{failed} patterns FAILED the audit"
    return f"{verdict}{f' (but for at most {hopeless} cells that nothing protects)' if hopeless else ''}."


def _most(budget: Budget) -> list[tuple[object, ...]]:
    """How much of the cost of the order by weight lies above the best bound known, by class."""
    weights = weight_runs(budget).select("kind", "sensitive", "draw", weight="cost")
    runs = timed_runs(budget).join(weights, on=["kind", "sensitive", "draw"])
    bounds = runs.group_by("kind", "sensitive", "draw").agg(pl.col("bound").max(), pl.col("weight").first())
    room = bounds.with_columns(room=100 * (1 - pl.col("bound").fill_null(0) / pl.col("weight")))
    rows: list[tuple[object, ...]] = []
    for test in tests(budget):
        own = room.filter((pl.col("kind") == test.kind.sizes) & (pl.col("sensitive") == test.kind.sensitive))
        rows.append((test.kind.name, own.height, f"{statistics.median(own['room'].to_list()):.1f} %"))
    return rows


def _alike(runs: pl.DataFrame) -> int:
    """On how many tables all methods cost the same."""
    return int((runs.group_by("table").agg(pl.col("cost").n_unique())["cost"] == 1).sum())


def _best_bold(gains: list[float]) -> list[str]:
    most = max(gains)
    return [f"**{gain:.2f}**" if most > 0 and gain >= most - 1e-9 else f"{gain:.2f}" for gain in gains]


OTHER_SET = "other tables of the same class; seconds in place of hours"
FLOWS = (
    "in a table of two dimensions each step is a flow in a compiled kernel, which is quick for one cell at a time; the "
    "paper groups cells because each of its steps is a linear program"
)


def section_5(budget: Budget) -> Section:
    """All primary cells, the exposed ones, and these in groups."""
    runs = timed_runs(budget).filter(pl.col("method").is_in(SETS))
    found = rank_methods(runs)
    least = runs.with_columns(least=pl.col("cost").min().over("table"))
    best = dict(least.filter(pl.col("cost") == pl.col("least")).group_by("method").len().rows())
    ours = dict(found.ranks.select("method", "rank").rows())
    rows: list[tuple[str, object, object, str]] = [
        (
            f"{name}: tables on which it is best or equally best",
            f"{number} of 38",
            f"{best.get(name, 0)} of {found.cases}",
            OTHER_SET,
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
        (f"{one} better than {other}, confidence (Wilcoxon)", confidence, confident(found, one, other), OTHER_SET)
        for (one, other), confidence in CONFIDENCE_5.items()
    ]
    return Section(
        "Section V: GA-one-P, GA-one-K and GA-group-K",
        [
            Text(
                "The genetic algorithm over orders of all primary cells, of those that primary cells alone do not "
                "protect, and of 40 groups of these, with equal seconds of the processor: "
                f"{seconds(budget)}. {describe_audit(runs)}"
            ),
            compare_figures(rows),
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
            compare_figures([claims[number]]),
        ],
    )


def seconds(budget: Budget) -> str:
    """How long the searches that are compared had, in words."""
    return "; ".join(f"{test.seconds:g} s on {test.kind.name}" for test in tests(budget))


def _largest(budget: Budget) -> tuple[pl.DataFrame, int]:
    """The runs of the three genetic algorithms on the largest table, and its cells."""
    runs = timed_runs(budget).filter(pl.col("method").is_in(SETS))
    runs = runs.filter(pl.col("cells") == pl.col("cells").max())
    return runs.filter(pl.col("table") == pl.col("table").first()), int(runs["cells"][0])


def _traces(runs: pl.DataFrame) -> pl.DataFrame:
    """The costs of runs as they fell, each up to the end of its run."""
    rows = []
    for run in runs.iter_rows(named=True):
        fallen = json.loads(run["trace"])
        rows += [{"method": run["method"], "seconds": s, "calls": c, "cost": cost} for s, c, cost in fallen]
        rows.append({**rows[-1], "seconds": run["spent"], "calls": run["calls"]})
    return pl.DataFrame(rows)


def _improvements(runs: pl.DataFrame, method: str) -> int:
    return len(json.loads(runs.filter(pl.col("method") == method)["trace"].item())) - 1
