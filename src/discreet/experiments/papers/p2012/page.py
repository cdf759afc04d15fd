"""Tables III to VIII and Figures 1 to 3 of the 2012 paper, which introduced the searches over orders of cells."""

from __future__ import annotations

import statistics

import polars as pl

from discreet.experiments.charts import critical_difference
from discreet.experiments.page import Picture, Section, Table, Text
from discreet.experiments.papers.p2012.costs import table_5, table_6, table_7, table_8
from discreet.experiments.papers.p2012.orders import (
    describe_audit,
    figure_1,
    figure_2,
    figure_3,
    rank_methods,
    section_5,
    table_3,
    table_4,
)
from discreet.experiments.papers.p2012.runs import LIMIT, ONCE, OWN, SETS, TESTS, tests, timed_runs, weight_runs
from discreet.experiments.papers.paper import Budget, Paper
from discreet.experiments.statistics import ALPHA

METHODS = (*SETS, *ONCE, *OWN)


def own_methods(budget: Budget) -> Section:
    """What our methods reach on the same tables."""
    weights = weight_runs(budget).select("kind", "sensitive", "draw", weight="cost")
    runs = timed_runs(budget).join(weights, on=["kind", "sensitive", "draw"], maintain_order="left")
    runs = runs.with_columns(gain=100 * (1 - pl.col("cost") / pl.col("weight")))
    rows = []
    for test in tests(budget):
        kind = test.kind
        own = runs.filter((pl.col("kind") == kind.sizes) & (pl.col("sensitive") == kind.sensitive))
        if own.height:
            gains = [_median(own, method) for method in METHODS]
            rows.append((kind.name, own["draw"].n_unique(), f"{test.seconds:g}", *(f"{gain:.1f}" for gain in gains)))
    found = rank_methods(runs)
    best = found.ranks["method"][0]
    worse = [_beaten(found.pairs, best, method) for method in METHODS if method != best]
    sure = ", ".join(name for name, holm in worse if holm < ALPHA) or "none of the others"
    return Section(
        "What our own methods reach",
        [
            Text(
                "Improvement over the order by weight in percent, median of each class, all methods with the same "
                f"seconds of the processor on the same tables. {describe_audit(runs)}"
            ),
            Table(("class", "tables", "s", *METHODS), rows),
            Text(
                f"Friedman's test over all methods: *p* = {found.p:.2g} on {found.cases} tables. `{best}` has the best "
                f"mean rank; by Wilcoxon's test with Holm's correction (level {ALPHA:g}) it is told apart from: {sure}."
            ),
            Picture(
                "2012-own-methods",
                critical_difference(found.ranks, found.critical_difference, title="Methods of secondary suppression"),
                "Mean ranks of all methods of suppression by cost, with the critical difference",
            ),
        ],
    )


def _median(own: pl.DataFrame, method: str) -> float:
    return float(statistics.median(own.filter(own["method"] == method)["gain"].to_list()))


def _beaten(pairs: pl.DataFrame, best: str, other: str) -> tuple[str, float]:
    both = (best, other)
    pair = pairs.filter(pl.col("one").is_in(both) & pl.col("other").is_in(both))
    return other, float(pair["holm"].item())


def _cut() -> str:
    drawn = "; ".join(
        f"{test.kind.name}: {f'{test.draws} and {test.calls}' if test.draws else 'none'}, "
        f"{test.timed} and {test.seconds:g}"
        for test in TESTS
    )
    return (
        "Cut, against the paper's 5 tables of each class, 5 runs of up to 10,000 calls of the fitness function (3 "
        "hours) in Table III, and 12 hours a run in Table V. Here, one run of each; tables and calls in Table III (at "
        f"most {LIMIT:g} s of the processor), tables and seconds of the processor in the comparisons at equal time: "
        f"{drawn}. The class of 4000×10 with 10 % unsafe cells is left out. Table VIII is of smaller tables. What is "
        "limited by seconds depends on the machine; the rest does not."
    )


PAPER = Paper(
    year="2012",
    citation=(
        "J. E. Smith, A. R. Clark, A. T. Staggemeier, M. C. Serpell, A genetic approach to statistical disclosure "
        "control, IEEE Transactions on Evolutionary Computation (2012), doi 10.1109/TEVC.2011.2159271."
    ),
    about=(
        "The paper introduces the searches over orders of [cell suppression](../suppression.md): unsafe cells are "
        "protected one after the other, each at the least additional cost, and a local search or a genetic algorithm "
        "looks for the order that costs least in the end. Its tables came from a generator of the statistical office "
        "that is not available; ours follow its description: Poisson contributors, contributions of −1/log *r*, the "
        "same sizes and shares of sensitive and empty cells; levels by the p% rule with *p* = 15, the value of a cell "
        "as its cost. So the tables are others, and only what does not depend on the draw can be compared. Every "
        "pattern was attacked afterwards as `discreet audit` does."
    ),
    parts={
        "table 3": table_3,
        "table 4": table_4,
        "figure 1": figure_1,
        "section 5": section_5,
        "figure 2": figure_2,
        "figure 3": figure_3,
        "table 5": table_5,
        "table 6": table_6,
        "table 7": table_7,
        "table 8": table_8,
        "own methods": own_methods,
    },
    cut=_cut(),
)
