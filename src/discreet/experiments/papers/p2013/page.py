"""Tables 1, 2, 5 and 6 and Figures 5 to 8 of the 2013 paper, which introduced GOMM and D-GOMM.

The paper's Tables 1 to 6 and its figures are lost from the copy that we have; what it says in its text is compared:
the scores of GOMM over k and those of ad-hoc groupings, and what each operator of GOMM did, generation by generation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import polars as pl

from discreet.experiments.charts import lines
from discreet.experiments.page import Picture, Section, Table, Text
from discreet.experiments.papers.p2013.runs import (
    CENSUS,
    DATA,
    FIGURE_DATA,
    FIGURE_K,
    KS,
    RUNS,
    WATER,
    ks,
    own_runs,
    runs_of_paper,
)
from discreet.experiments.papers.paper import Budget, Paper, compare_figures, spread
from discreet.grouping.charts import operators_chart

# Section 5, by data set and k: score of GOMM and its number of groups; of the best ad-hoc grouping and its number.
SCORES = {("Water treatment", 50): (34.3, 3, 40.9, 4), ("Census", 25): (13.0, 2, 14.3, 1)}
# Section 5: where the best scores on Census lie, as k.
BEST_K = (10, 50)
# Section 4.2, k = 25, Water treatment: from this generation on operators on groups do useless work.
USELESS_FROM = 25
# Percent of the children of crossover that are discarded unused; generations they survive; percent that are better.
CROSSOVER_UNUSED, CROSSOVER_LIFE, CROSSOVER_BETTER = "around 75 %", (2, 3), "5 %"
# Average of the best efficiency in percent, of creating and eliminating groups in the first generations.
GROUP_EFFICIENCY = "around 10 %"
# Efficiency in percent of swaps and moves in their best phase.
ELEMENT_EFFICIENCY = "around 2 %"


# Scores that differ by less are equal but for rounding.
EQUAL = 1e-9
SCALE = "the paper does not tell how the data were normalised, nor how ties count in linkage"
ATTRIBUTES = f"{SCALE}, nor which 12 of the 13 attributes it has"


def table_1(budget: Budget) -> Section:
    """Scores of GOMM on the data of 38 attributes, over k."""
    return _scores(1, WATER, budget)


def table_2(budget: Budget) -> Section:
    """Scores of GOMM on Census, over k."""
    return _scores(2, CENSUS, budget)


def table_5(budget: Budget) -> Section:
    """GOMM against the ad-hoc groupings on the data of 38 attributes."""
    return _against(5, WATER, budget)


def table_6(budget: Budget) -> Section:
    """GOMM against the ad-hoc groupings on Census."""
    return _against(6, CENSUS, budget)


def _scores(number: int, data: str, budget: Budget) -> Section:
    """The average solution of GOMM for each k."""
    runs = runs_of_paper(budget).filter((pl.col("data") == data) & (pl.col("method") == "gomm"))
    rows: list[tuple[object, ...]] = []
    for k in ks(budget):
        own = runs.filter(pl.col("k") == k)
        score, groups = SCORES.get((data, k), (None, None, None, None))[:2]
        figures = [mean(own, name) for name in ("il", "dr", "dld", "id")]
        text = None if score is None else f"{score:.1f}"
        scores, counts_of = own["score"].to_list(), own["groups"].to_list()
        rows.append((k, text, groups, spread(scores), *figures, spread(counts_of, ".1f")))
    counts = [mean(runs.filter(pl.col("k") == k), "groups") for k in ks(budget)]
    claims: list[tuple[str, object, object, str]] = [
        (
            "number of groups with k",
            "grows",
            ", ".join(f"{count:.1f}" for count in counts),
            "none" if counts == sorted(counts) and counts[-1] > counts[0] else _why(data),
        )
    ]
    if data == CENSUS:
        best = min(ks(budget), key=lambda k: mean(runs.filter(pl.col("k") == k), "score"))
        inside = BEST_K[0] <= best <= BEST_K[1]
        claims.append(("k of the best score", "10 to 50", str(best), "none" if inside else _why(data)))
    return Section(
        f"Table {number}: GOMM on {data}, over k",
        [
            Text(
                f"Means over {runs['seed'].n_unique()} seeds, of score and groups the least to the largest, too. What "
                f"explains the difference in scores: {_why(data)}."
            ),
            Table(
                ("k", "score, published", "groups, published", "score, ours", "IL", "DR", "DLD", "ID", "groups"), rows
            ),
            compare_figures(claims),
        ],
    )


def _against(number: int, data: str, budget: Budget) -> Section:
    """Scores of all ad-hoc groupings and of GOMM, for each k."""
    runs = runs_of_paper(budget).filter((pl.col("data") == data) & (pl.col("method") == "gomm"))
    by_k = {k: runs.filter(pl.col("k") == k) for k in ks(budget)}
    rivals = {k: json.loads(own["rivals"][0]) for k, own in by_k.items()}
    names = list(dict.fromkeys(name for found in rivals.values() for name in found))
    rows: list[tuple[object, ...]] = [
        (name, *(f"{rivals[k][name][0]:.2f}" if name in rivals[k] else "–" for k in by_k)) for name in names
    ]
    found = {k: mean(own, "score") for k, own in by_k.items()}
    least = {k: min(score for score, _ in rivals[k].values()) for k in by_k}
    rows.append(("**GOMM, as in the paper, mean**", *(f"**{found[k]:.2f}**" for k in by_k)))
    rows.append(("GOMM, least to largest", *(_range(own["score"]) for own in by_k.values())))
    claims: list[tuple[str, object, object, str]] = []
    for k in by_k:
        published = SCORES.get((data, k))
        text = None if published is None else f"{published[0]:g} / {published[2]:g} = {published[0] / published[2]:.2f}"
        ours = f"{found[k]:.2f} / {least[k]:.2f} = {found[k] / least[k]:.2f}"
        claims.append((f"k = {k}: GOMM / best ad-hoc grouping", text, ours, _why(data)))
    reached = sum(int((own["score"] <= least[k] + EQUAL).sum()) for k, own in by_k.items())
    claims.append(
        (
            "GOMM the best, or equal to one group",
            "always",
            f"in {reached} of {runs.height} runs",
            "none" if reached == runs.height else "from a random start a search can end beside the best grouping",
        )
    )
    return Section(
        f"Table {number}: GOMM and ad-hoc groupings on {data}",
        [
            Text(
                f"Scores for each *k*; less is better. The paper's own ad-hoc groupings (Table {number - 2}) are not "
                "available; ours follow its description: correlated attributes together or apart, in several numbers "
                "of groups, all together, each alone."
            ),
            Table(("grouping", *(f"k = {k}" for k in by_k)), rows),
            compare_figures(claims),
        ],
    )


def _range(scores: pl.Series) -> str:
    return f"{min(scores.to_list()):.2f} to {max(scores.to_list()):.2f}"


def _why(data: str) -> str:
    return ATTRIBUTES if data == CENSUS else SCALE


def mean(runs: pl.DataFrame, name: str) -> float:
    """The mean of a result over runs."""
    return float(runs[name].mean())  # type: ignore[arg-type]


Record = Mapping[str, Any]

ON_GROUPS = ("group create", "group eliminate", "group split")
ON_ELEMENTS = ("element swap", "element move")
# Generations that are "the first ones".
FIRST_GENERATIONS = 10
FIGURE_CASE = f"{FIGURE_DATA}, *k* = {FIGURE_K}"
# From this generation on the paper tells how many children of the crossover are better.
LATE_FROM = 20


def figure_5(budget: Budget) -> Section:
    """Utilisation of the crossover."""
    runs = _operator_runs(budget)
    own = _of(chain(*runs), ("crossover",))
    return Section(
        "Figure 5: utilisation of the crossover",
        [
            Text(f"Children that were discarded without having been a parent; {FIGURE_CASE}. Drawn with Figure 6."),
            compare_figures(
                [
                    (
                        "unused, mean of all generations",
                        CROSSOVER_UNUSED,
                        f"{_mean_of(own, 'unused'):.0f} %",
                        _why_early(runs),
                    )
                ]
            ),
        ],
    )


def figure_6(budget: Budget) -> Section:
    """The mutations."""
    runs = _operator_runs(budget)
    records, why = list(chain(*runs)), _why_early(runs)
    rows: list[tuple[str, object, object, str]] = []
    for name in (*ON_GROUPS, *ON_ELEMENTS):
        published = "100 % (useless work)" if name in ON_GROUPS else "less; they lose potential gradually"
        late = [record for record in _of(records, (name,)) if record["generation"] > USELESS_FROM]
        ours = f"{_mean_of(late, 'unused'):.0f} %" if late else "no such generation"
        same = "none" if name in ON_GROUPS and ours == "100 %" else why
        rows.append((f"{name}: unused after generation {USELESS_FROM}", published, ours, same))
    rows += [
        (
            f"{name}: last generation with a better child",
            f"about {USELESS_FROM}" if name in ON_GROUPS else None,
            _last([_of(run, (name,)) for run in runs]),
            why,
        )
        for name in (*ON_GROUPS, *ON_ELEMENTS)
    ]
    early = [record for record in records if record["generation"] <= FIRST_GENERATIONS]
    rows += [
        (
            f"{name}: best efficiency, mean of generations 1 to {FIRST_GENERATIONS}",
            GROUP_EFFICIENCY if name in ON_GROUPS else ELEMENT_EFFICIENCY,
            f"{_mean_of(_of(early, (name,)), 'best'):.1f} %",
            why,
        )
        for name in (*ON_GROUPS[:2], *ON_ELEMENTS)
    ]
    return Section(
        "Figure 6: the mutations",
        [
            Text(
                f"What the operators of GOMM did; {FIGURE_CASE}. The crossover of Figures 5 and 7 is drawn beside. The "
                f"figure is of one run; the numbers of Figures 5 to 7 are means over {len(runs)} seeds."
            ),
            Picture(
                "2013-figure-6",
                operators_chart(runs[0]),
                "Unused children, life time, efficacy and efficiency of all operators over the generations",
            ),
            compare_figures(rows),
        ],
    )


def figure_7(budget: Budget) -> Section:
    """The crossover."""
    runs = _operator_runs(budget)
    own, why = _of(chain(*runs), ("crossover",)), _why_early(runs)
    life = _mean_of(own, "lifetime")
    after = [record for record in own if record["generation"] > LATE_FROM] or own
    better = 100 * sum(record["improved"] for record in after) / sum(record["born"] for record in after)
    peaks = [max(_of(run, ("crossover",)), key=lambda record: record["best"] or 0.0)["generation"] for run in runs]
    return Section(
        "Figure 7: the crossover",
        [
            Text(f"What the crossover of GOMM did; {FIGURE_CASE}. Drawn with Figure 6."),
            compare_figures(
                [
                    (
                        "life time, mean of all generations",
                        f"{CROSSOVER_LIFE[0]} to {CROSSOVER_LIFE[1]}",
                        f"{life:.1f}",
                        "none" if CROSSOVER_LIFE[0] <= life <= CROSSOVER_LIFE[1] else why,
                    ),
                    (
                        f"children better than their parents after generation {LATE_FROM}",
                        CROSSOVER_BETTER,
                        f"{better:.1f} %",
                        why,
                    ),
                    (
                        "generation of the best efficiency",
                        "the first ones",
                        spread(peaks, ".0f"),
                        "none" if max(peaks) <= FIRST_GENERATIONS else why,
                    ),
                ]
            ),
        ],
    )


def _why_early(runs: Sequence[Sequence[Record]]) -> str:
    """What is behind most differences: these runs come to their end sooner than the paper's."""
    return (
        f"no better child of any operator after generation {_last(runs)}: clones, which nothing in the paper limits, "
        "fill the population; data normalised otherwise"
    )


def _operator_runs(budget: Budget) -> list[list[Record]]:
    """What the operators did in each run that tells of it."""
    runs = runs_of_paper(budget)
    return [json.loads(told) for told in runs.filter(runs["told"])["operators"]]


def _of(records: Iterable[Record], operators: tuple[str, ...]) -> list[Record]:
    return [record for record in records if record["operator"] in operators]


def _mean_of(records: Iterable[Record], name: str) -> float:
    values = [record[name] for record in records if record[name] is not None]
    return sum(values) / len(values) if values else float("nan")


def _last(runs: Iterable[Iterable[Record]]) -> str:
    """The last generation with a child that is better than its parents, over runs; 0 for none."""
    last = [max((one["generation"] for one in run if one["improved"]), default=0) for run in runs]
    return spread(last, ".0f")


TWO = ("gomm", "d-gomm")


def figure_8(budget: Budget) -> Section:
    """Seconds of GOMM and D-GOMM."""
    runs = runs_of_paper(budget).filter(pl.col("data") == FIGURE_DATA)
    both = (runs.filter(pl.col("method") == method).sort("k", "seed") for method in TWO)
    pairs = pl.concat([next(both), next(both).select(pl.all().name.prefix("d_"))], how="horizontal")
    pairs = pairs.with_columns(
        speed_up=pl.col("spent") / pl.col("d_spent"), reached=pl.col("d_score") <= pl.col("score") + EQUAL
    )
    rows: list[tuple[object, ...]] = []
    for k in ks(budget):
        own = pairs.filter(pl.col("k") == k)
        rows.append(
            (
                k,
                mean(own, "spent"),
                mean(own, "d_spent"),
                spread(own["speed_up"].to_list()),
                f"{mean(own, 'evaluations'):,.0f}",
                f"{mean(own, 'd_evaluations'):,.0f}",
                f"{own['reached'].sum()} of {own.height}",
            )
        )
    gains = [mean(pairs.filter(pl.col("k") == k), "speed_up") for k in ks(budget)]
    falls = all(one >= other for one, other in pairwise(gains))
    faster, same = int((pairs["speed_up"] > 1).sum()), int(pairs["reached"].sum())
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
            Table(("k", "gomm, s", "d-gomm, s", "speed-up", "groupings judged", "by d-gomm", "no worse score"), rows),
            compare_figures(
                [
                    (
                        "D-GOMM faster than GOMM",
                        "always",
                        f"in {faster} of {pairs.height} pairs of runs",
                        "none" if faster == pairs.height else "few runs; what was judged before is remembered in both",
                    ),
                    (
                        "speed-up with k",
                        "falls",
                        ", ".join(f"{gain:.2f}" for gain in gains),
                        "none" if falls else "the patience of D-GOMM, 20 generations here, is not published",
                    ),
                    (
                        "D-GOMM reaches the score of GOMM",
                        "always",
                        f"in {same} of {pairs.height} pairs of runs",
                        "none" if same == pairs.height else "an operator that rests might have found something later",
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
        f"Cut: *k* is {', '.join(map(str, KS))}; there are {RUNS} runs of each search of the paper, with {RUNS} seeds, "
        "and one of each of ours; how many the paper has averaged is not said. Tables 3 and 4, which list the paper's "
        "ad-hoc groupings, are not available."
    ),
)
