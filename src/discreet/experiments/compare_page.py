"""What a comparison of methods found, as a page to read.

Time to quality: how far above the best of all runs a method is after so many seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.experiments.charts import HUES, critical_difference
from discreet.experiments.compare import Compared
from discreet.experiments.page import Block, Made, Page, Picture, Section, Table, Text
from discreet.experiments.statistics import ALPHA
from discreet.release.charts import styled

if TYPE_CHECKING:
    from discreet.release.charts import Chart


MOMENTS = 60
SHORTEST = 1e-4
# Below this gap, in percent, the scale of the chart is linear.
SMALL = 0.1
TICKS = [0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000]


def curves(traces: pl.DataFrame) -> pl.DataFrame:
    """The median over all runs of a method of the gap to the best value of any run on the case.

    Parameters
    ----------
    traces : polars.DataFrame
        `case`, `method`, `seed`, `seconds`, `value`: each time a run got better.

    Returns
    -------
    polars.DataFrame
        `method`, `seconds` (evenly spaced on a logarithmic scale), `gap` in percent, with its quartiles `low` and
        `high`. A method has no point before all of its runs have a value.
    """

    best = dict(traces.group_by("case").agg(pl.col("value").min()).rows())
    first, last = (float(getattr(traces["seconds"], end)() or SHORTEST) for end in ("min", "max"))
    moments = np.geomspace(max(first, SHORTEST), max(last, first, SHORTEST) * 1.02, MOMENTS)
    rows: list[dict[str, Any]] = []
    for (method,), own in traces.group_by("method", maintain_order=True):
        gaps = [
            _gaps(run.sort("seconds"), best[run["case"][0]], moments)
            for _, run in own.group_by("case", "seed", maintain_order=True)
        ]
        for moment, column in zip(moments, np.array(gaps).T, strict=True):
            if not np.isnan(column).any():
                low, gap, high = np.percentile(column, (25, 50, 75))
                rows.append({"method": method, "seconds": moment, "gap": gap, "low": low, "high": high})
    return pl.DataFrame(
        rows, schema={"method": pl.String, **dict.fromkeys(("seconds", "gap", "low", "high"), pl.Float64)}
    )


def _gaps(run: pl.DataFrame, best: float, moments: Any) -> Any:
    """The gap of one run at each moment; NaN before its first value."""

    values = np.minimum.accumulate(run["value"].to_numpy())
    gap = np.where(values <= best, 0.0, 100.0 * (values / best - 1) if best > 0 else 100.0)
    place = np.searchsorted(run["seconds"].to_numpy(), moments, side="right") - 1
    return np.where(place >= 0, gap[np.maximum(place, 0)], np.nan)


def curve_chart(table: pl.DataFrame) -> Chart:
    """A line per method, with the middle half of its runs round it."""
    import altair as alt

    names = table["method"].unique(maintain_order=True).to_list()
    hues = alt.Scale(domain=names, range=[HUES[i % len(HUES)] for i in range(len(names))])
    colour = alt.Color("method:N", title=None, scale=hues, legend=alt.Legend(symbolOpacity=1))
    rows: Any = alt.InlineData(values=table.to_dicts())
    x = alt.X(
        "seconds:Q", title="seconds", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~g", tickCount=5)
    )
    scale = alt.Scale(type="symlog", constant=SMALL, domainMin=0)
    title, ticks = "above the best of all runs, %", alt.Axis(values=TICKS, format="~g")
    base = alt.Chart(rows).encode(x=x, color=colour)
    band = base.mark_area(opacity=0.15, interpolate="step-after").encode(
        y=alt.Y("low:Q", title=title, scale=scale, axis=ticks), y2="high:Q"
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        y=alt.Y("gap:Q", title=title, scale=scale, axis=ticks)
    )
    heading = alt.Title("Time to quality", subtitle="Median over cases and seeds, and the middle half of the runs")
    return styled(alt.layer(band, line).properties(width=520, height=320, title=heading))


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
