"""Figures 5 to 7 of the 2013 paper: what each operator of GOMM did, generation by generation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from discreet.experiments.page import Picture, Section, Text
from discreet.experiments.papers.p2013.runs import FIGURE_DATA, FIGURE_K, runs_of_paper
from discreet.experiments.papers.p2013.scores import (
    CROSSOVER_BETTER,
    CROSSOVER_LIFE,
    CROSSOVER_UNUSED,
    ELEMENT_EFFICIENCY,
    GROUP_EFFICIENCY,
    USELESS_FROM,
)
from discreet.experiments.papers.paper import Budget, compared
from discreet.grouping.charts import operators_chart

Record = Mapping[str, Any]

ON_GROUPS = ("group create", "group eliminate", "group split")
ON_ELEMENTS = ("element swap", "element move")
# Generations that are "the first ones".
FIRST = 10
DATA = f"{FIGURE_DATA}, *k* = {FIGURE_K}"
# From this generation on the paper tells how many children of the crossover are better.
SETTLED = 20


def figure_5(budget: Budget) -> Section:
    """Utilisation of the crossover."""
    records = _told(budget)
    own = _of(records, ("crossover",))
    return Section(
        "Figure 5: utilisation of the crossover",
        [
            Text(f"Children that were discarded without having been a parent; {DATA}. Drawn with Figure 6."),
            compared(
                [("unused, mean of all generations", CROSSOVER_UNUSED, f"{_mean(own, 'unused'):.0f} %", _why(records))]
            ),
        ],
    )


def figure_6(budget: Budget) -> Section:
    """The mutations."""
    records = _told(budget)
    why = _why(records)
    rows: list[tuple[str, object, object, str]] = []
    for name in (*ON_GROUPS, *ON_ELEMENTS):
        published = "100 % (useless work)" if name in ON_GROUPS else "less; they lose potential gradually"
        late = [record for record in _of(records, (name,)) if record["generation"] > USELESS_FROM]
        ours = f"{_mean(late, 'unused'):.0f} %" if late else "no such generation"
        same = "none" if name in ON_GROUPS and ours == "100 %" else why
        rows.append((f"{name}: unused after generation {USELESS_FROM}", published, ours, same))
    rows += [
        (
            f"{name}: last generation with a better child",
            f"about {USELESS_FROM}" if name in ON_GROUPS else None,
            str(_last_better(_of(records, (name,)))),
            why,
        )
        for name in (*ON_GROUPS, *ON_ELEMENTS)
    ]
    early = [record for record in records if record["generation"] <= FIRST]
    rows += [
        (
            f"{name}: best efficiency, mean of generations 1 to {FIRST}",
            GROUP_EFFICIENCY if name in ON_GROUPS else ELEMENT_EFFICIENCY,
            f"{_mean(_of(early, (name,)), 'best'):.1f} %",
            why,
        )
        for name in (*ON_GROUPS[:2], *ON_ELEMENTS)
    ]
    return Section(
        "Figure 6: the mutations",
        [
            Text(f"What the operators of GOMM did; {DATA}. The crossover of Figures 5 and 7 is drawn beside."),
            Picture(
                "2013-figure-6",
                operators_chart(records),
                "Unused children, life time, efficacy and efficiency of all operators over the generations",
            ),
            compared(rows),
        ],
    )


def figure_7(budget: Budget) -> Section:
    """The crossover."""
    records = _told(budget)
    own, why = _of(records, ("crossover",)), _why(records)
    life = _mean(own, "lifetime")
    after = [record for record in own if record["generation"] > SETTLED] or own
    better = 100 * sum(record["improved"] for record in after) / sum(record["born"] for record in after)
    peak = max(own, key=lambda record: record["best"] or 0.0)["generation"]
    return Section(
        "Figure 7: the crossover",
        [
            Text(f"What the crossover of GOMM did; {DATA}. Drawn with Figure 6."),
            compared(
                [
                    (
                        "life time, mean of all generations",
                        f"{CROSSOVER_LIFE[0]} to {CROSSOVER_LIFE[1]}",
                        f"{life:.1f}",
                        "none" if CROSSOVER_LIFE[0] <= life <= CROSSOVER_LIFE[1] else why,
                    ),
                    (
                        f"children better than their parents after generation {SETTLED}",
                        CROSSOVER_BETTER,
                        f"{better:.1f} %",
                        why,
                    ),
                    (
                        "generation of the best efficiency",
                        "the first ones",
                        str(peak),
                        "none" if peak <= FIRST else why,
                    ),
                ]
            ),
        ],
    )


def _why(records: list[Record]) -> str:
    """What is behind most differences: this run comes to its end sooner than the paper's."""
    return (
        f"no better child of any operator after generation {_last_better(records)}: clones, which nothing in the paper "
        "limits, fill the population; data normalised otherwise"
    )


def _told(budget: Budget) -> list[Record]:
    """What the operators did in the first run that tells of it."""
    runs = runs_of_paper(budget)
    found: list[Record] = json.loads(runs.filter(runs["told"])["operators"][0])
    return found


def _of(records: Iterable[Record], operators: tuple[str, ...]) -> list[Record]:
    return [record for record in records if record["operator"] in operators]


def _mean(records: Iterable[Record], name: str) -> float:
    values = [record[name] for record in records if record[name] is not None]
    return sum(values) / len(values) if values else float("nan")


def _last_better(records: Iterable[Record]) -> int:
    """The last generation with a child that is better than its parents; 0 for none."""
    return max((record["generation"] for record in records if record["improved"]), default=0)
