"""Loss against risk: a line for each method, a point for each k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.experiments.charts import HUES
from discreet.grouping.chart_style import INK

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def tradeoff(frame: pl.DataFrame, loss: str, risk: str, *, title: str) -> alt.LayerChart:
    """Draw risk over loss; nearer to the lower left corner is better in both.

    Parameters
    ----------
    frame : polars.DataFrame
        `method`, `k`, and the columns of loss and risk.
    loss, risk : str
        The columns, in percent.
    title : str
        Title of the chart.
    """
    import altair as alt

    names = frame["method"].unique(maintain_order=True).to_list()
    rows: Any = alt.InlineData(values=frame.select("method", "k", loss, risk).to_dicts())
    base = alt.Chart(rows).encode(
        x=alt.X(f"{loss}:Q", title=f"{loss.upper()} %", scale=alt.Scale(zero=False, padding=18)),
        y=alt.Y(f"{risk}:Q", title=f"{risk.upper()} %", scale=alt.Scale(zero=False, padding=18)),
        color=alt.Color("method:N", title=None, scale=alt.Scale(domain=names, range=HUES[: len(names)])),
        order="k:O",
    )
    layers = [
        base.mark_line(strokeWidth=1.5),
        base.mark_point(size=70, filled=True, opacity=1),
        base.mark_text(dx=11, dy=-7, fontSize=10).encode(text="k:O", color=alt.value(INK)),
    ]
    return alt.LayerChart(layer=layers).properties(width=330, height=280, title=alt.Title(title, fontSize=13))
