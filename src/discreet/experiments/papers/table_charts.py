"""The charts of the 2012 paper: points over sizes, and costs that fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.experiments.charts import HUES
from discreet.grouping.chart_style import styled

if TYPE_CHECKING:
    import polars as pl

    from discreet.release.pictures import Chart


def points(frame: pl.DataFrame, x: str, y: str, kind: str, *, title: str, names: tuple[str, str]) -> Chart:
    """A point per run, both scales by logarithm; `names` are those of the axes."""
    import altair as alt

    chart: alt.Chart = (
        _base(frame.select(x, y, kind), kind)
        .mark_point(filled=True, size=70, opacity=0.75)
        .encode(
            x=alt.X(f"{x}:Q", title=names[0], scale=alt.Scale(type="log", nice=False, padding=20)),
            y=alt.Y(f"{y}:Q", title=names[1], scale=alt.Scale(type="log")),
        )
    )
    return styled(chart.properties(width=480, height=300, title=title))


def falls(frame: pl.DataFrame, x: str, y: str, kind: str, *, title: str, names: tuple[str, str]) -> Chart:
    """The cost of the best so far, as steps."""
    import altair as alt

    chart: alt.Chart = (
        _base(frame.select(x, y, kind), kind)
        .mark_line(interpolate="step-after", point=alt.OverlayMarkDef(size=25))
        .encode(
            x=alt.X(f"{x}:Q", title=names[0], scale=alt.Scale(nice=False)),
            y=alt.Y(f"{y}:Q", title=names[1], scale=alt.Scale(zero=False)),
        )
    )
    return styled(chart.properties(width=480, height=300, title=title))


def _base(frame: pl.DataFrame, kind: str) -> Any:
    import altair as alt

    kinds = frame[kind].unique(maintain_order=True).to_list()
    scale = alt.Scale(domain=kinds, range=[HUES[i % len(HUES)] for i in range(len(kinds))])
    return alt.Chart(alt.InlineData(values=frame.to_dicts())).encode(
        color=alt.Color(f"{kind}:N", title=None, scale=scale)
    )
