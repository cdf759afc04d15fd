"""A chart of what each operator did to find a grouping, as in Figures 5 to 7 of the 2013 paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.grouping.chart_style import BLUE, GREEN, INK, ORANGE, styled

if TYPE_CHECKING:
    import altair as alt

    Record = Mapping[str, Any]

PANEL = (118, 84)
# Generations on either side that a smooth line is the mean of.
NEAR = 3
BENT_TICKS = [-1000, -100, -10, 0, 10, 100]


def operators_chart(records: Sequence[Record]) -> alt.VConcatChart:
    """What each operator did in each generation: utilisation, life time, efficacy and efficiency.

    Parameters
    ----------
    records : sequence of dicts
        One for each operator and generation: `generation`, `operator`, `born`, `unused` in percent, `lifetime`,
        `improved`, `worsened`, and `efficiency`, `best` and `worst` in percent. What is not known is None.
    """
    import altair as alt

    rows = [{name: _finite(value) for name, value in record.items()} for record in records if record["born"]]
    operators = list(dict.fromkeys(row["operator"] for row in rows))
    shares = [row | {name: 100.0 * row[name] / row["born"] for name in ("improved", "worsened")} for row in rows]
    measures = [
        _panel(_lines(rows, {"unused": ("unused", BLUE)}), "Unused, %"),
        _panel(_lines(rows, {"lifetime": ("life time", BLUE)}), "Life time"),
        _panel(_lines(shares, {"improved": ("better", GREEN), "worsened": ("worse", ORANGE)}), "Efficacy, %"),
        _panel(
            _lines(rows, {"best": ("best", GREEN), "efficiency": ("mean", BLUE), "worst": ("worst", ORANGE)}),
            "Efficiency, %",
            bent=True,
        ),
    ]
    panels = []
    for place, panel in enumerate(measures):
        first, last = place == 0, place == len(measures) - 1
        header = alt.Header(title=None, labels=first, labelFontSize=12, labelFontWeight="bold", labelColor=INK)
        axis = alt.Axis(title="Generation" if last else None, labels=last, ticks=last, domain=last, tickCount=3)
        timed = alt.LayerChart(layer=[layer.encode(x=alt.X("generation:Q", axis=axis)) for layer in panel])
        panels.append(
            timed.properties(width=PANEL[0], height=PANEL[1]).facet(
                column=alt.Column("operator:N", sort=operators, header=header), spacing=12
            )
        )
    subtitle = [
        "Unused: children discarded without having been a parent. Life time: generations a child survives. Efficacy: "
        "children better or worse",
        "than their parents. Efficiency: by how much the best, the mean and the worst child improves on its parents. "
        f"Thick lines: means over {2 * NEAR + 1} generations.",
    ]
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=10).resolve_scale(color="independent", x="shared")
    return styled(chart.properties(title=alt.Title("What the operators did", subtitle=subtitle)))


def _panel(lines: Sequence[Record], title: str, *, bent: bool = False) -> list[alt.Chart]:
    """The lines of one measure, thin by generation and thick smoothed."""
    import altair as alt

    kinds = {line["kind"]: line["colour"] for line in lines}
    legend = alt.Legend(title=None, symbolOpacity=1, symbolStrokeWidth=2) if len(kinds) > 1 else None
    hues = alt.Scale(domain=list(kinds), range=list(kinds.values()))
    # Most children are much worse and a good one is little better: efficiency needs a scale that shows both.
    scale = alt.Scale(type="symlog", constant=1.0) if bent else alt.Scale()
    axis = alt.Axis(title=title, values=BENT_TICKS) if bent else alt.Axis(title=title, tickCount=4)
    base = (
        alt.Chart(alt.InlineData(values=list(lines)))
        .transform_window(
            smooth="mean(value)", frame=[-NEAR, NEAR], groupby=["operator", "kind"], sort=[alt.SortField("generation")]
        )
        .encode(color=alt.Color("kind:N", scale=hues, legend=legend))
    )
    return [
        base.mark_line(strokeWidth=width, opacity=opacity).encode(y=alt.Y(f"{value}:Q", axis=axis, scale=scale))
        for value, width, opacity in (("value", 0.7, 0.4), ("smooth", 1.8, 1.0))
    ]


def _lines(rows: Iterable[Record], kinds: Mapping[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """Some columns of the records as one line each, with its name and its colour."""
    return [
        {"operator": row["operator"], "generation": row["generation"], "kind": name, "colour": hue, "value": row[key]}
        for row in rows
        for key, (name, hue) in kinds.items()
        if row.get(key) is not None
    ]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
