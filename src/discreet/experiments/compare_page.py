"""What a comparison of methods found, as a page to read."""

from __future__ import annotations

from discreet.experiments.charts import critical_difference
from discreet.experiments.compare import Compared
from discreet.experiments.compare_curves import curve_chart, curves
from discreet.experiments.page import Block, Made, Page, Picture, Section, Table, Text
from discreet.experiments.statistics import ALPHA

# With fewer cases not even a method that always wins has a p-value of Wilcoxon's test below 0.05.
FEW = 6


def page(found: Compared, title: str, made: Made) -> Page:
    """The page: ranks and tests first, then medians and spreads, then time to quality."""
    curve = curves(found.traces)
    seen = set(curve["method"])
    late = [method for method in found.methods if method not in seen]
    told = "How far a method is above the best of all runs on a case after so many seconds."
    if late:
        told += f" Not drawn, for some run of theirs has no value: {', '.join(late)}."
    return Page(
        title,
        "",
        made,
        [
            Section("Which method is better", _tests(found)),
            Section("Medians and spreads", _medians(found)),
            Section(
                "Time to quality", [Text(told), Picture("time-to-quality", curve_chart(curve), "Gap over seconds")]
            ),
        ],
    )


def _tests(found: Compared) -> list[Block]:
    cases, tests = len(found.cases), found.tests
    words = f"{len(found.methods)} methods, {cases} case{'s' * (cases > 1)}, {found.runs['seed'].n_unique()} seeds"
    runs = f"{words}: {found.runs.height:,} runs. The value is {found.unit}; less is better."
    few = (
        [Text(f"With fewer than {FEW} cases Wilcoxon's test cannot tell two methods apart, however they differ.")]
        if cases < FEW
        else []
    )
    if found.pair is not None:
        row = found.pair
        sign = "differ" if row["p"] < ALPHA else "are not told apart"
        told = (
            f"`{row['one']}` is better on {row['wins']} cases, equal on {row['ties']}, worse on {row['losses']}; by "
            f"Wilcoxon's signed-rank test p = {row['p']:.3g}: they {sign}."
        )
        return [Text(runs), Text(told), *few]
    if tests is None:
        return [Text(runs), Text("One case only: tests over cases need at least two; add data sets, tables or k.")]
    verdict = "the methods differ" if tests.p < ALPHA else "no method is told from the others"
    pairs = tests.pairs.select("one", "other", "wins", "ties", "losses", "p", "holm", "nemenyi")
    return [
        Text(runs),
        Text(f"Friedman's test: χ² = {tests.statistic:.2f}, p = {tests.p:.3g}: {verdict}."),
        Table(("method", "mean rank", f"median {found.unit}"), tests.ranks.rows()),
        Picture(
            "critical-difference",
            critical_difference(tests.ranks, tests.critical_difference, title="Mean ranks"),
            "Mean ranks with the critical difference",
        ),
        Text(
            "Pairs: on how many cases the one is better, equal, worse; p of Wilcoxon's signed-rank test, corrected for "
            "all pairs by Holm's procedure; p of Nemenyi's test on the ranks."
        ),
        Table.of(pairs),
        *few,
    ]


def _medians(found: Compared) -> list[Block]:
    table = found.summary()
    rows = [
        (row["case"], row["method"], row["median"], row["low"], row["high"], f"{row['above']:.2f}", row["seconds"])
        for row in table.to_dicts()
    ]
    header = ("case", "method", f"median {found.unit}", "lower quartile", "upper quartile", "above the best, %", "s")
    return [Table(header, rows)]
