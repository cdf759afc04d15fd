"""Time to quality: how far above the best of all runs a method is after so many seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.experiments.charts import HUES
from discreet.grouping.chart_style import styled

if TYPE_CHECKING:
    import polars as pl

    from discreet.release.pictures import Chart

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
    import numpy as np
    import polars as pl

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
    import numpy as np

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
