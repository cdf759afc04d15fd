"""Tables III and IV and Figures 1 to 3 of the 2012 paper: searches over orders of primary cells.

Local search against genetic algorithms, and orders of all cells, of the exposed ones, or of groups of these.
"""

from __future__ import annotations

import json
import statistics

import numpy as np
import polars as pl
from scipy import stats

from discreet.experiments.charts import critical_difference
from discreet.experiments.page import Block, Picture, Section, Table, Text
from discreet.experiments.papers.p2012.charts import falls, points
from discreet.experiments.papers.p2012.duels import duel
from discreet.experiments.papers.p2012.published import (
    ALL_5,
    CONFIDENCE_4,
    LARGEST_5,
    TABLE_3,
    TABLE_4,
    Published,
)
from discreet.experiments.papers.p2012.runs import (
    GENETIC,
    LOCAL,
    SETS,
    improvement_runs,
    of_kind,
    tests,
    timed_runs,
    weight_runs,
)
from discreet.experiments.papers.paper import Budget, compare_figures, spread
from discreet.experiments.statistics import ALPHA, Comparison, compare
from discreet.tables.suppression.orders.orders import OPERATORS, cross

SIX = (*LOCAL, *GENETIC)
OTHER = "other tables, drawn as the paper describes; one run of fewer calls in place of five"


def table_3(budget: Budget) -> Section:
    """Improvements over the order by weight."""
    runs = improvement_runs(budget)
    rows: list[tuple[object, ...]] = []
    means: list[tuple[object, ...]] = []
    for test in tests(budget):
        kind, own = test.kind, of_kind(runs, test.kind)
        published = TABLE_3.get((kind.sizes, kind.sensitive))
        if published:
            columns = [spread(column) for column in zip(*published, strict=True)]
            means.append((kind.name, f"published, {len(published)} tables", *columns))
        gains = {name: own.filter(pl.col("method") == name)["gain"].to_list() for name in SIX}
        what = f"ours, {own['draw'].n_unique()} tables, {_range(own['calls'])} calls"
        means.append((kind.name, what, *(spread(each, "z.2f") if each else "–" for each in gains.values())))
        for (table,), drawn in own.group_by("table", maintain_order=True):
            found = dict(drawn.select("method", "gain").rows())
            rows.append((f"{kind.name}, draw {str(table).split()[-1]}", *_best_bold([found.get(name) for name in SIX])))
    return Section(
        "Table III: improvement over the order by weight",
        [
            Text(
                "Percent of the cost of one pass by falling weight. First each class, published and ours: the mean "
                "over its tables (the least to the largest); what explains the difference: "
                f"{OTHER}. The paper's other eight tables are real ones of the statistical office and examples of "
                "τ-ARGUS, which are not available."
            ),
            Table(("class", "", *SIX), means),
            Text(
                "Then, in the form of the paper, each of our tables; the largest improvement in bold. "
                f"{describe_audit(runs)} A 0 says that no order tried was cheaper than the one by weight, – that the "
                "search was not run."
            ),
            Table(("table", *SIX), rows),
            Text("What a search took, in seconds of the processor, and in milliseconds a call; medians of the class:"),
            Table(
                ("class", "calls", *(f"{name}, s" for name in SIX), "ls, ms a call", "ga, ms a call"), _paces(budget)
            ),
            Text(
                "An order that begins like an earlier one is followed from a pattern that was kept where they part. On "
                "orders of 200 cells a child begins like a parent for "
                + ", ".join(f"{share:.1f} % ({name})" for name, share in shared(200).items())
                + " of its length on average. So local searches gain: a call of ls-invert on 200×50 with 10 % unsafe "
                "cells is 3.3 times as fast. Genetic algorithms, 70 % of whose children are of the crossover, do not."
            ),
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
    all_six = runs.filter(pl.col("method").n_unique().over("table") == len(SIX))
    found = rank_methods(all_six)
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
                duel(runs, f"ga-{name}", f"ls-{name}").confidence,
                OTHER,
            )
        )
    text = "differ" if found.p < ALPHA else "cannot be told apart"
    return Section(
        "Table IV: ranks of the six searches",
        [
            compare_figures(rows),
            Text(
                f"Ranks by improvement, 6 is best. On the {found.cases} tables that all six were run on they {text} "
                f"(Friedman, level {ALPHA:g}); on {_alike(all_six)} of them all six end at the same cost."
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


def describe_audit(runs: pl.DataFrame) -> str:
    """What the audits say of all patterns of some runs."""
    failed, hopeless = int((runs["failed"] > 0).sum()), max(runs["hopeless"].to_list())
    verdict = f"All {runs.height} patterns stood the audit" if not failed else f"{failed} patterns FAILED the audit"
    return f"{verdict}{f' (but for at most {hopeless} cells that nothing protects)' if hopeless else ''}."


def rooms(budget: Budget) -> pl.DataFrame:
    """The `room` of tables: how much of the cost of the order by weight lies above the best bound, in percent.

    Tables that `exact` was not run on have none.
    """
    weights = weight_runs(budget).select("kind", "sensitive", "draw", weight="cost")
    timed = timed_runs(budget).filter((pl.col("method") == "exact").any().over("table"))
    runs = timed.join(weights, on=["kind", "sensitive", "draw"])
    bounds = runs.group_by("kind", "sensitive", "draw").agg(pl.col("bound").max(), pl.col("weight").first())
    return bounds.with_columns(room=100 * (1 - pl.col("bound").fill_null(0) / pl.col("weight")))


def _most(budget: Budget) -> list[tuple[object, ...]]:
    """How much there is to gain, by class."""
    rows: list[tuple[object, ...]] = []
    for test in tests(budget):
        own = of_kind(rooms(budget), test.kind)
        rows.append((test.kind.name, own.height, f"{statistics.median(own['room'].to_list()):.1f} %"))
    return rows


def _alike(runs: pl.DataFrame) -> int:
    """On how many tables all methods cost the same."""
    return int((runs.group_by("table").agg(pl.col("cost").n_unique())["cost"] == 1).sum())


def _paces(budget: Budget) -> list[tuple[object, ...]]:
    """Seconds of each search of Table III, and milliseconds of a call of either kind."""
    runs = improvement_runs(budget).with_columns(pace=1000 * pl.col("spent") / pl.col("calls"))
    rows: list[tuple[object, ...]] = []
    for test in tests(budget):
        own = of_kind(runs, test.kind)
        spent = [own.filter(pl.col("method") == name)["spent"].median() for name in SIX]
        paces = [own.filter(pl.col("method").is_in(names))["pace"].median() for names in (LOCAL, GENETIC)]
        cells = ["–" if figure is None else f"{float(figure):.3g}" for figure in (*spent, *paces)]  # type: ignore[arg-type]
        rows.append((test.kind.name, _range(own["calls"]), *cells))
    return rows


def shared(size: int, children: int = 1_000) -> dict[str, float]:
    """How much of its beginning a child has in common with a parent, in percent of the order, by operator."""
    rng = np.random.default_rng(1)
    found: dict[str, list[int]] = {name: [] for name in ("order-based crossover", *OPERATORS)}
    for _ in range(children):
        parents = [rng.permutation(size) for _ in range(2)]
        for name in found:
            child = OPERATORS[name](parents[0], rng) if name in OPERATORS else cross(parents[0], parents[1], rng)
            found[name].append(max(int(np.argmax([*(child != parent), True])) for parent in parents))
    return {name: 100 * statistics.fmean(each) / size for name, each in found.items()}


def _range(calls: pl.Series) -> str:
    least, most = min(calls.to_list()), max(calls.to_list())
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _best_bold(gains: list[float | None]) -> list[str]:
    most = max((gain for gain in gains if gain is not None), default=0.0)
    return [_bold(gain, most) for gain in gains]


def _bold(gain: float | None, most: float) -> str:
    if gain is None:
        return "–"
    return f"**{gain:.2f}**" if most > 0 and gain >= most - 1e-9 else f"{gain:z.2f}"


OTHER_SET = "other tables of the same class; seconds in place of hours"
FLOWS = (
    "in a table of two dimensions each step is a flow in a compiled kernel, which is quick for one cell at a time; the "
    "paper groups cells because each of its steps is a linear program"
)


def section_5(budget: Budget) -> Section:
    """All primary cells, the exposed ones, and these in groups."""
    runs = timed_runs(budget).filter(pl.col("method").is_in(SETS))
    blocks: list[Block] = [
        Text(
            "The genetic algorithm over orders of all primary cells, of those that primary cells alone do not "
            "protect, and of 40 groups of these, with equal seconds of the processor: "
            f"{seconds(budget)}. {describe_audit(runs)}"
        )
    ]
    largest = runs.filter(pl.col("kind") == tests(budget)[-1].kind.sizes)
    for own, published in ((runs, ALL_5), (largest, LARGEST_5)):
        name = "All sizes" if own is runs else f"The largest tables alone, {_sizes(largest)}"
        blocks += [Text(f"{name}, {own['table'].n_unique()} tables:"), compare_figures(_sets(own, published))]
    return Section("Section V: GA-one-P, GA-one-K and GA-group-K", blocks)


def _sets(runs: pl.DataFrame, published: Published) -> list[tuple[str, object, object, str]]:
    """How often each set is best, its mean rank, and who is better than whom."""
    found = rank_methods(runs)
    least = runs.with_columns(least=pl.col("cost").min().over("table"))
    best = dict(least.filter(pl.col("cost") == pl.col("least")).group_by("method").len().rows())
    ours = dict(found.ranks.select("method", "rank").rows())
    rows: list[tuple[str, object, object, str]] = [
        (
            f"{name}: tables on which it is best or equally best",
            f"{number} of {published.tables}",
            f"{best.get(name, 0)} of {found.cases}",
            OTHER_SET,
        )
        for name, number in published.best.items()
    ]
    rows += [
        (
            f"{name}: mean rank, 1 is best",
            f"{published.ranks[name]:.2f}" if name in published.ranks else None,
            f"{ours[name]:.2f}",
            FLOWS,
        )
        for name in published.best
    ]
    return rows + [
        (f"{one} better than {other}, confidence (Wilcoxon)", confidence, duel(runs, one, other).confidence, OTHER_SET)
        for (one, other), confidence in published.confidence.items()
    ]


def _sizes(runs: pl.DataFrame) -> str:
    return f"{min(runs['cells'].to_list()):,} cells with totals"


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
