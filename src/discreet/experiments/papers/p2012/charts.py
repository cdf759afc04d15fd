"""The charts of the 2012 paper's figures: a point per run, and costs as they fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.extras import alt
from discreet.release.charts import hues, inline, styled

if TYPE_CHECKING:
    from discreet.release.charts import Chart


def points(frame: pl.DataFrame, x: str, y: str, kind: str, *, title: str, names: tuple[str, str]) -> Chart:
    """A point per run, both scales by logarithm; `names` are those of the axes."""
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
    scale = hues(frame[kind].unique(maintain_order=True).to_list())
    return alt.Chart(inline(frame)).encode(color=alt.Color(f"{kind}:N", title=None, scale=scale))
