"""Tables 1, 2, 5 and 6 and Figures 5 to 8 of the 2013 paper, which introduced GOMM and D-GOMM."""

from __future__ import annotations

import json
from itertools import pairwise

import polars as pl

from discreet.experiments.charts import lines
from discreet.experiments.page import Picture, Section, Table, Text
from discreet.experiments.papers.p2013.operators import figure_5, figure_6, figure_7
from discreet.experiments.papers.p2013.runs import DATA, FIGURE_DATA, FIGURE_K, KS, RUNS, ks, own_runs, runs_of_paper
from discreet.experiments.papers.p2013.scores import ATTRIBUTES, EQUAL, mean, table_1, table_2, table_5, table_6
from discreet.experiments.papers.paper import Budget, Paper, compared

TWO = ("gomm", "d-gomm")


def figure_8(budget: Budget) -> Section:
    """Seconds of GOMM and D-GOMM."""

    runs = runs_of_paper(budget).filter(pl.col("data") == FIGURE_DATA)
    wide = runs.group_by("k", "method", maintain_order=True).agg(
        pl.col("spent").mean(), pl.col("evaluations").mean(), pl.col("score").mean()
    )
    rows: list[tuple[object, ...]] = []
    for k in ks(budget):
        full, quick = (wide.filter((pl.col("k") == k) & (pl.col("method") == m)).row(0, named=True) for m in TWO)
        rows.append(
            (
                k,
                full["spent"],
                quick["spent"],
                full["spent"] / quick["spent"],
                f"{full['evaluations']:,.0f}",
                f"{quick['evaluations']:,.0f}",
                abs(full["score"] - quick["score"]) <= EQUAL,
            )
        )
    gains = [float(str(row[3])) for row in rows]
    falls = all(one >= other for one, other in pairwise(gains))
    faster, same = sum(gain > 1 for gain in gains), sum(bool(row[-1]) for row in rows)
    return Section(
        "Figure 8: GOMM and D-GOMM, seconds",
        [
            Picture(
                "2013-figure-8",
                lines(
                    runs,
                    "k",
                    "spent",
                    "method",
                    title="Seconds of GOMM and D-GOMM",
                    subtitle=f"{FIGURE_DATA}, 38 attributes",
                    unit="seconds of the processor",
                ),
                "Seconds of the processor of GOMM and D-GOMM over k",
            ),
            Table(("k", "gomm, s", "d-gomm, s", "speed-up", "groupings judged", "by d-gomm", "the same score"), rows),
            compared(
                [
                    (
                        "D-GOMM faster than GOMM",
                        "always",
                        f"at {faster} of {len(gains)} k",
                        "none" if faster == len(gains) else "few runs; what was judged before is remembered in both",
                    ),
                    (
                        "speed-up with k",
                        "falls",
                        ", ".join(f"{gain:.2f}" for gain in gains),
                        "none"
                        if falls
                        else "one run of each; the patience of D-GOMM, 20 generations here, is not published",
                    ),
                    (
                        "D-GOMM reaches the score of GOMM",
                        "always",
                        f"at {same} of {len(rows)} k",
                        "none" if same == len(rows) else "an operator that rests might have found something later",
                    ),
                ]
            ),
        ],
    )


def own_methods(budget: Budget) -> Section:
    """What our own searches reach on the same data."""

    paper, own = runs_of_paper(budget), own_runs(budget)
    rows = []
    for data in DATA:
        for k in ks(budget):
            here = (pl.col("data") == data) & (pl.col("k") == k)
            ours = own.filter(here & (pl.col("method") == "gomm")).row(0, named=True)
            theirs = mean(paper.filter(here & (pl.col("method") == "gomm")), "score")
            rival = min(score for score, _ in json.loads(ours["rivals"]).values())
            rows.append((data, k, rival, theirs, ours["score"], ours["groups"], ours["score"] <= rival + EQUAL))
    fronts = []
    for data in DATA:
        here = (pl.col("data") == data) & (pl.col("k") == FIGURE_K)
        for title, runs, method in (
            ("GOMM as in the paper", paper, "gomm"),
            ("our gomm", own, "gomm"),
            ("pareto", own, "pareto"),
        ):
            run = runs.filter(here & (pl.col("method") == method)).row(0, named=True)
            fronts.append((data, title, run["hypervolume"], run["score"], run["evaluations"], run["spent"]))
    return Section(
        "What our own methods reach",
        [
            Text(
                "[`gomm`](../grouping.md) as `discreet group` runs it begins with the ad-hoc groupings, so that it is "
                "never worse than the best of them, and lets at most 20 clones of a grouping live:"
            ),
            Table(
                (
                    "data",
                    "k",
                    "best ad-hoc score",
                    "GOMM as in the paper",
                    "our gomm",
                    "its groups",
                    "no worse than ad hoc",
                ),
                rows,
            ),
            Text(
                f"Beyond the paper, `pareto` looks for the whole front of loss and risk, at *k* = {FIGURE_K}; the "
                "hypervolume is the share of all pairs of loss and risk that what was found dominates, in percent:"
            ),
            Table(("data", "method", "hypervolume", "best score", "groupings judged", "s"), fronts),
        ],
    )


PAPER = Paper(
    year="2013",
    citation=(
        "The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation (Barcelona Supercomputing "
        "Center, Technical University of Catalonia, CA Labs)."
    ),
    about=(
        "The paper introduces the methods `gomm` and `d-gomm` of [grouping attributes](../grouping.md): a genetic "
        "algorithm looks for the groups of attributes that are to be microaggregated by MDAV together, so that the "
        "mean of information loss and disclosure risk is least. A population of 200, 100 generations with 25 "
        "crossovers and 10 of each of five mutations, random groupings to begin with, any number of clones. The "
        "paper's tables are lost from the copy that we have; what stands in its text is compared. Its scores cannot be "
        f"reached: {ATTRIBUTES}."
    ),
    parts={
        "table 1": table_1,
        "table 2": table_2,
        "figure 5": figure_5,
        "figure 6": figure_6,
        "figure 7": figure_7,
        "table 5": table_5,
        "table 6": table_6,
        "figure 8": figure_8,
        "own methods": own_methods,
    },
    cut=(
        f"Cut: *k* is {', '.join(map(str, KS))}, and there {'is one run' if RUNS == 1 else f'are {RUNS} runs'} of each "
        "search; how many the paper has averaged is not said. Tables 3 and 4, which list the paper's ad-hoc groupings, "
        "are not available."
    ),
)
