"""Tables 1, 2, 5 and 6 of the 2013 paper: the scores of GOMM over k, and those of ad-hoc groupings.

What the 2013 paper tells in its text. Its Tables 1 to 6 and the figures are lost from the copy that we have.
"""

from __future__ import annotations

import json

import polars as pl

from discreet.experiments.page import Section, Table, Text
from discreet.experiments.papers.p2013.runs import CENSUS, WATER, ks, runs_of_paper
from discreet.experiments.papers.paper import Budget, compared

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
        figures = [mean(own, name) for name in ("score", "il", "dr", "dld", "id", "groups")]
        told = None if score is None else f"{score:.1f}"
        rows.append((k, told, groups, *figures[:-1], f"{figures[-1]:.1f}"))
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
            Text(f"What explains the difference in scores: {_why(data)}."),
            Table(
                ("k", "score, published", "groups, published", "score, ours", "IL", "DR", "DLD", "ID", "groups"), rows
            ),
            compared(claims),
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
    rows.append(("**GOMM, as in the paper**", *(f"**{found[k]:.2f}**" for k in by_k)))
    claims: list[tuple[str, object, object, str]] = []
    for k in by_k:
        published = SCORES.get((data, k))
        told = None if published is None else f"{published[0]:g} / {published[2]:g} = {published[0] / published[2]:.2f}"
        ours = f"{found[k]:.2f} / {least[k]:.2f} = {found[k] / least[k]:.2f}"
        claims.append((f"k = {k}: GOMM / best ad-hoc grouping", told, ours, _why(data)))
    reached = sum(found[k] <= least[k] + EQUAL for k in by_k)
    claims.append(
        (
            "GOMM the best, or equal to one group",
            "always",
            f"at {reached} of {len(by_k)} k",
            "none" if reached == len(by_k) else "from a random start a search can end beside the best grouping",
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
            compared(claims),
        ],
    )


def _why(data: str) -> str:
    return ATTRIBUTES if data == CENSUS else SCALE


def mean(runs: pl.DataFrame, name: str) -> float:
    """The mean of a result over runs."""
    return float(runs[name].mean())  # type: ignore[arg-type]
