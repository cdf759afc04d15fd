"""Tables 1 and 2 and Figure 1 of the 2021 paper, which introduced `recursive`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.experiments.charts import side_by_side
from discreet.experiments.page import Block, Picture, Section, Table, Text
from discreet.experiments.papers import claims2021 as claims
from discreet.experiments.papers.claims2021 import CASES, OF_PAPER, TITLES, medians
from discreet.experiments.papers.judged import DATA, KS, MEASURES, PRINTED, SEEDS, STEPS, by_subset, judged_runs
from discreet.experiments.papers.paper import Budget, Paper, compared
from discreet.experiments.papers.tradeoff import tradeoff

if TYPE_CHECKING:
    import polars as pl

    from discreet.release.pictures import Chart


def table_1(budget: Budget) -> Section:
    """Information loss and time."""
    found = medians(judged_runs(budget))
    rows = [
        (TITLES[data], k, method, None, found[data, k, method]["il"], None, f"{found[data, k, method]['seconds']:.4f}")
        for data, k in CASES
        for method in (*OF_PAPER, PRINTED)
    ]
    return Section(
        "Table 1: information loss and time",
        [
            Text(
                f"Medians of {_seeds(budget)} for `domes` and `recursive`; seconds of processor. The figures of the "
                "paper's tables are lost from the text that we have; what it says about them in words is below. The "
                f"lines `{PRINTED}` end a dome at the first epoch without a change, as Algorithm 2 is printed."
            ),
            Table(("data set", "k", "method", "IL % published", "IL % ours", "s published", "s ours"), rows),
            compared(claims.claims_1(found)),
        ],
    )


def table_2(budget: Budget) -> Section:
    """General information loss, disclosure risk and scoring index."""
    found = medians(judged_runs(budget))
    shown = [name for name in MEASURES if name != "il"]
    rows: list[tuple[object, ...]] = [
        (TITLES[data], k, method, *(found[data, k, method][name] for name in shown))
        for data, k in CASES
        for method in (*OF_PAPER, PRINTED)
    ]
    rows.append(("all, published", "", "", *(None for _ in shown)))
    subsets: list[tuple[object, ...]] = [(TITLES[data], *by_subset(data, 3).values()) for data in DATA]
    return Section(
        "Table 2: loss, risk and scoring index",
        [
            Text(
                "Medians as above. [How they are taken](../measures.md): DLD from released to original records, first "
                "or second nearest, the intruder knowing all seven key variables (1, 2, 3, 5, 10, 11, 12; in Tarragona "
                "those at the same places); ID by ranks within 1 to 10 %, whole records; GDR is the mean of DLD and "
                "ID, SI that of GIL and GDR."
            ),
            Table(("data set", "k", "method", *(f"{name.upper()} %" for name in shown)), rows),
            compared(claims.claims_2(found)),
            Text(
                "How many of the seven variables the intruder knows at a time is lost from the text, and DLD depends "
                "much on it. For MDAV at *k* = 3, the mean over all choices of C of them:"
            ),
            Table(("DLD %, C =", *map(str, range(1, 8))), subsets),
        ],
    )


def figure_1(budget: Budget) -> Section:
    """Loss against risk on Census; and on Tarragona, which the paper does not show."""
    runs = judged_runs(budget)
    chart = _chart(runs, OF_PAPER, "Loss and risk at k = 3, 4, 5")
    alt = "GDR over GIL for mdav, domes and recursive on Census and Tarragona"
    told = "The paper shows Census; its points are not available."
    blocks: list[Block] = [Text(told), Picture("2021-figure-1", chart, alt), compared([claims.balance(medians(runs))])]
    return Section("Figure 1: GIL and GDR", blocks)


def own_methods(budget: Budget) -> Section:
    """What our method reaches on the same data."""
    runs = judged_runs(budget)
    found = medians(runs)
    rows = []
    for data, k in CASES:
        ours = found[data, k, "memetic"]
        least = min(found[data, k, method]["il"] for method in OF_PAPER)
        rows.append(
            (TITLES[data], k, *(ours[name] for name in MEASURES), least, f"{100 * (1 - ours['il'] / least):.1f} %")
        )
    pairs = [(data, k, method) for data in DATA for k in KS[:-1] for method in OF_PAPER]
    both = sum(
        all(found[data, k + 1, "memetic"][name] < found[data, k, method][name] for name in ("gil", "gdr"))
        for data, k, method in pairs
    )
    chart = _chart(runs, (*OF_PAPER, "memetic"), "Loss and risk at k = 3, 4, 5, with memetic")
    header = ("data set", "k", *(f"{name.upper()} %" for name in MEASURES), "least IL % of the paper's", "below it")
    return Section(
        "What our own methods reach",
        [
            Text(
                f"[`memetic`](../methods.md), {max(runs['steps'])} steps. What loses less at the same *k* is also "
                "nearer to the original, so linkage finds more. The scoring index adds loss and risk up, and risk is "
                "the larger number: the partition that loses most of all on this page has the best index in "
                f"{claims.misled(found)} of {len(CASES)} cases. Loss and risk are better looked at side by side: "
                f"`memetic` at *k* + 1 has both less GIL and less GDR than a method of the paper at *k* in {both} of "
                f"{len(pairs)} cases."
            ),
            Table(header, rows),
            Picture("2021-own", chart, "GDR over GIL with memetic, on Census and Tarragona"),
        ],
    )


def _chart(runs: pl.DataFrame, methods: tuple[str, ...], title: str) -> Chart:
    import polars as pl

    means = (
        runs.filter(pl.col("method").is_in(methods))
        .group_by("data", "method", "k", maintain_order=True)
        .agg(pl.col("gil", "gdr").median())
    )
    parts = [tradeoff(means.filter(pl.col("data") == data), "gil", "gdr", title=TITLES[data]) for data in DATA]
    return side_by_side(parts, title=title)


def _seeds(budget: Budget) -> str:
    """How many runs a method that depends on chance has."""
    return "1 run" if budget.quick else f"{SEEDS} runs"


PAPER = Paper(
    year="2021",
    citation="Recursive genetic micro-aggregation technique, Data 6 (2021) 53.",
    about=(
        "The paper introduces [`recursive`](../methods.md) (RGMAT) and compares it with MDAV and "
        "[`domes`](../methods.md) (EGMAT) on Census and Tarragona, *k* = 3 to 5. Its figures, crossover and mutation "
        "ratios and numbers of epochs are lost from the text that we have: published figures are not available, and "
        "our parameters are those of a small study on generated data. `domes` is our reading of a sketch."
    ),
    parts={"table 1": table_1, "table 2": table_2, "figure 1": figure_1, "own methods": own_methods},
    cut=(
        f"`domes` and `recursive` have {SEEDS} seeds each, `memetic` {STEPS} steps and one seed. Nothing else was cut; "
        "how many runs the paper has it does not say. Judging the releases is not in the seconds."
    ),
)
