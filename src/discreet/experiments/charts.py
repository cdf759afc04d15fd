"""The charts of studies: heat maps over two factors, lines, spreads, gaps over time, and critical differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.extras import alt
from discreet.release.charts import BLUE, GREY, INK, hues, inline, styled

if TYPE_CHECKING:
    from discreet.release.charts import Chart

CELL = 24
# Means that differ by less than this, relative to them, differ by rounding alone.
EQUAL = 1e-9
# Of the gap to the best, in percent: where the scale turns from linear to logarithmic, and the ticks.
LINEAR_BELOW = 0.1
GAP_TICKS = [0, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000]


def heat_map(
    frame: pl.DataFrame, x: str, y: str, value: str, *, title: str, unit: str | None = None, bent: bool = False
) -> alt.LayerChart:
    """The mean of a value over all runs with each pair of values of two factors; a ring marks the least, if it is one.

    Parameters
    ----------
    frame : polars.DataFrame
        A row per run.
    x, y, value : str
        The columns: the two factors and what is averaged.
    title : str
        Title of the chart.
    unit : str, optional
        What the colours mean; the name of the value without.
    bent : bool
        Whether the colours follow the logarithm, where a few means are far above the others.
    """
    cells = frame.group_by(x, y).agg(pl.col(value).mean().alias("mean"), pl.len().alias("runs")).sort(y, x)
    across, down = (cells[name].unique().sort().to_list() for name in (x, y))
    least = cells.filter(pl.col("mean") <= pl.col("mean").min() + EQUAL * pl.col("mean").min().abs())
    if least.height > 1:
        least = least.clear()
    base = alt.Chart(inline(cells)).encode(
        x=alt.X(f"{x}:O", title=x, sort=across, axis=alt.Axis(labelAngle=0)),
        y=alt.Y(f"{y}:O", title=y, sort=down[::-1]),
        tooltip=[f"{x}:O", f"{y}:O", alt.Tooltip("mean:Q", format=".5g"), "runs:Q"],
    )
    scale = alt.Scale(scheme="viridis", type="log" if bent and cells["mean"].min() > 0 else "linear")  # type: ignore[operator]
    legend = alt.Legend(title=unit or value, tickCount=4, gradientLength=min(150, CELL * len(down)), format=",.3~r")
    filled = base.mark_rect().encode(color=alt.Color("mean:Q", scale=scale, legend=legend))
    ring = base.properties(data=inline(least)).mark_point(shape="circle", size=90, color="white", strokeWidth=2)
    heading = alt.Title(title, fontSize=13)
    return alt.LayerChart(layer=[filled, ring]).properties(
        width=CELL * len(across), height=CELL * len(down), title=heading
    )


def side_by_side(charts: Sequence[Any], *, title: str, subtitle: str = "") -> Chart:
    """Several charts as one, each with its own scales."""
    together: Any = alt.concat(*charts, columns=2, spacing=28).resolve_scale(color="independent")
    dressed: Chart = styled(together.properties(title=_title(title, subtitle)))
    return dressed


def lines(
    frame: pl.DataFrame, x: str, y: str, kind: str, *, title: str, subtitle: str = "", unit: str | None = None
) -> Chart:
    """The median of a value along another, a line per kind, with the middle half of the runs round it."""
    base = alt.Chart(inline(frame.select(x, y, kind))).encode(x=alt.X(f"{x}:Q", title=x), color=_hue(frame, kind))
    band = base.mark_errorband(extent="iqr", opacity=0.18).encode(y=alt.Y(f"{y}:Q", title=unit or y))
    line = base.mark_line(point=True).encode(y=alt.Y(f"median({y}):Q", title=unit or y, scale=alt.Scale(zero=False)))
    return styled(alt.layer(band, line).properties(width=520, height=320, title=_title(title, subtitle)))


def bars(
    frame: pl.DataFrame, category: str, value: str, *, title: str, subtitle: str = "", unit: str | None = None
) -> Chart:
    """The median of a value in each category as a bar, and the middle half of the runs as a line on it."""
    order = frame.select(pl.col(category).unique(maintain_order=True))[category].to_list()
    base = alt.Chart(inline(frame.select(category, value))).encode(y=alt.Y(f"{category}:O", title=category, sort=order))
    bar = base.mark_bar(color=BLUE, height={"band": 0.65}).encode(x=alt.X(f"median({value}):Q", title=unit or value))
    spread = base.mark_errorbar(extent="iqr", color=INK, thickness=1.5).encode(
        x=alt.X(f"{value}:Q", title=unit or value)
    )
    return styled(
        alt.layer(bar, spread).properties(width=480, height=26 * len(order) + 10, title=_title(title, subtitle))
    )


def gap_curves(table: pl.DataFrame) -> Chart:
    """How far methods are above the best over time: a line per method, with the middle half of its runs round it."""
    names = table["method"].unique(maintain_order=True).to_list()
    colour = alt.Color("method:N", title=None, scale=hues(names), legend=alt.Legend(symbolOpacity=1))
    x = alt.X(
        "seconds:Q", title="seconds", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~g", tickCount=5)
    )
    scale = alt.Scale(type="symlog", constant=LINEAR_BELOW, domainMin=0)
    title, ticks = "above the best of all runs, %", alt.Axis(values=GAP_TICKS, format="~g")
    base = alt.Chart(inline(table)).encode(x=x, color=colour)
    band = base.mark_area(opacity=0.15, interpolate="step-after").encode(
        y=alt.Y("low:Q", title=title, scale=scale, axis=ticks), y2="high:Q"
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        y=alt.Y("gap:Q", title=title, scale=scale, axis=ticks)
    )
    heading = alt.Title("Time to quality", subtitle="Median over cases and seeds, and the middle half of the runs")
    return styled(alt.layer(band, line).properties(width=520, height=320, title=heading))


def critical_difference(ranks: pl.DataFrame, difference: float, *, title: str, subtitle: str = "") -> Chart:
    """Mean ranks of methods on a line; those joined by a bar are not told apart (Demšar 2006, Figure 1).

    Parameters
    ----------
    ranks : polars.DataFrame
        `method` and `rank`, from the best to the worst.
    difference : float
        The critical difference.
    title, subtitle : str
        Title of the chart.
    """
    rows = ranks.select("method", "rank").to_dicts()
    names = [row["method"] for row in rows]
    low, high = math.floor(rows[0]["rank"]), math.ceil(rows[-1]["rank"])
    x = alt.X("rank:Q", title="mean rank (left is better)", scale=alt.Scale(domain=[low, max(high, low + 1)]))
    y = alt.Y("method:N", sort=names, title=None, axis=alt.Axis(domain=False, ticks=False, labelFontSize=12))
    alike = [{"method": name, "rank": start, "end": end} for start, end, name in _alike(rows, difference)]
    layers = [
        alt.Chart(alt.InlineData(values=alike))
        .mark_bar(height=7, color=GREY, opacity=0.45, cornerRadius=3)
        .encode(x=x, x2="end:Q", y=y),
        alt.Chart(alt.InlineData(values=rows)).mark_point(size=90, filled=True, color=BLUE, opacity=1).encode(x=x, y=y),
        alt.Chart(alt.InlineData(values=rows))
        .mark_text(dy=-12, color=INK, fontSize=11)
        .encode(x=x, y=y, text=alt.Text("rank:Q", format=".2f")),
    ]
    text = subtitle or f"A grey bar reaches from a method over all that it is not told apart from (CD {difference:.2f})"
    chart = alt.layer(*layers).properties(width=480, height=38 * len(rows), title=_title(title, text))
    return styled(chart)


def loss_and_risk(frame: pl.DataFrame, risk: str) -> Chart:
    """Releases by their loss and their risk: a line per method, a point per k.

    Parameters
    ----------
    frame : polars.DataFrame
        `k`, `method`, `il` and the risk of each release.
    risk : str
        The column of the risk.
    """
    base = alt.Chart(inline(frame.select("k", "method", "il", risk))).encode(
        x=alt.X("il:Q", title="loss: IL, %"),
        y=alt.Y(f"{risk}:Q", title=f"risk: {risk.upper()}, %", scale=alt.Scale(zero=False)),
        color=_hue(frame, "method"),
    )
    line = base.mark_line(strokeWidth=1.5, opacity=0.6).encode(order="k:Q")
    point = base.mark_point(filled=True, size=70, opacity=1).encode(
        tooltip=["method:N", "k:Q", alt.Tooltip("il:Q", format=".2f"), alt.Tooltip(f"{risk}:Q", format=".2f")]
    )
    label = base.mark_text(dx=9, dy=-7, align="left", fontSize=11).encode(text="k:Q")
    heading = _title("Loss and risk", "A point per release, with its k; the lower left is better")
    return styled(alt.layer(line, point, label).properties(width=520, height=360, title=heading))


def _alike(rows: Sequence[dict[str, Any]], difference: float) -> list[tuple[float, float, str]]:
    """From each method to the last one that is not significantly worse."""
    bars = []
    for row in rows:
        end = max(other["rank"] for other in rows if other["rank"] <= row["rank"] + difference)
        if end > row["rank"]:
            bars.append((row["rank"], end, row["method"]))
    return bars


def _hue(frame: pl.DataFrame, kind: str) -> alt.Color:
    return alt.Color(f"{kind}:N", title=None, scale=hues(frame[kind].unique(maintain_order=True).to_list()))


def _title(title: str, subtitle: str) -> alt.Title:
    return alt.Title(title, subtitle=subtitle) if subtitle else alt.Title(title)
