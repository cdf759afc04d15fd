"""Charts of a grouping: the front of loss and risk that it was chosen from, and what each operator did to find it.

The latter as in Figures 5 to 7 of the 2013 paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.extras import alt
from discreet.release.charts import BLUE, GREEN, GREY, INK, ORANGE, VERMILION, label_places, styled

if TYPE_CHECKING:
    Record = Mapping[str, Any]

PANEL = (118, 84)
# Generations on either side that a smooth line is the mean of.
SMOOTHED_OVER = 3
BENT_TICKS = [-1000, -100, -10, 0, 10, 100]


def operators_chart(records: Sequence[Record]) -> alt.VConcatChart:
    """What each operator did in each generation: utilisation, life time, efficacy and efficiency.

    Parameters
    ----------
    records : sequence of dicts
        One for each operator and generation: `generation`, `operator`, `born`, `unused` in percent, `lifetime`,
        `improved`, `worsened`, and `efficiency`, `best` and `worst` in percent. What is not known is None.
    """
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
        f"Thick lines: means over {2 * SMOOTHED_OVER + 1} generations.",
    ]
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=10).resolve_scale(color="independent", x="shared")
    return styled(chart.properties(title=alt.Title("What the operators did", subtitle=subtitle)))


def _panel(lines: Sequence[Record], title: str, *, bent: bool = False) -> list[alt.Chart]:
    """The lines of one measure, thin by generation and thick smoothed."""
    kinds = {line["kind"]: line["colour"] for line in lines}
    legend = alt.Legend(title=None, symbolOpacity=1, symbolStrokeWidth=2) if len(kinds) > 1 else None
    hues = alt.Scale(domain=list(kinds), range=list(kinds.values()))
    # Most children are much worse and a good one is little better: efficiency needs a scale that shows both.
    scale = alt.Scale(type="symlog", constant=1.0) if bent else alt.Scale()
    axis = alt.Axis(title=title, values=BENT_TICKS) if bent else alt.Axis(title=title, tickCount=4)
    base = (
        alt.Chart(alt.InlineData(values=list(lines)))
        .transform_window(
            smooth="mean(value)",
            frame=[-SMOOTHED_OVER, SMOOTHED_OVER],
            groupby=["operator", "kind"],
            sort=[alt.SortField("generation")],
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


WIDTH, HEIGHT = 640, 420


def front_chart(
    points: Sequence[Record], rivals: Mapping[str, Record] | None = None, chosen: Record | None = None
) -> alt.LayerChart:
    """Information loss against disclosure risk: the front, the rivals, and the grouping that was chosen.

    Parameters
    ----------
    points : sequence of dicts
        The front: `il` and `dr` in percent, `groups`, and `k`.
    rivals : mapping of str to dict
        Other groupings by name, with `il` and `dr`.
    chosen : dict
        The grouping that was chosen, like a point.
    """
    front = [_row(point) for point in sorted(points, key=lambda point: (point["il"], -point["dr"]))]
    others = _merge_equals(rivals or {})
    ring = [] if chosen is None else [_row(chosen) | {"name": "chosen", "chosen": True}]
    every = [*front, *others, *ring]
    across, down = _domain(row["il"] for row in every), _domain(row["dr"] for row in every)
    x = alt.X("il:Q", title="Information loss (IL), %", scale=alt.Scale(domain=across, nice=False))
    y = alt.Y("dr:Q", title="Disclosure risk (DR), %", scale=alt.Scale(domain=down, nice=False))
    tips = [
        alt.Tooltip("name:N", title="Grouping"),
        alt.Tooltip("k:Q", title="k"),
        alt.Tooltip("il:Q", title="IL, %", format=".2f"),
        alt.Tooltip("dr:Q", title="DR, %", format=".2f"),
        alt.Tooltip("score:Q", title="Score, %", format=".2f"),
        alt.Tooltip("groups:N", title="Groups"),
    ]
    several = len({row["k"] for row in front}) > 1
    hue = (
        alt.Color("k:O", title="k", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(symbolOpacity=1))
        if several
        else alt.value(BLUE)
    )

    def layer(rows: Sequence[Record]) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=list(rows))).encode(x=x, y=y, tooltip=tips)

    labels = _place_labels([*ring, *others], every, across, down)
    layers = [
        layer(front).mark_line(color=GREY, strokeWidth=1.2, interpolate="step-after", opacity=0.7),
        layer(front).mark_circle(size=52, opacity=0.95).encode(color=hue),
        layer(others).mark_point(shape="diamond", size=80, filled=True, color=INK, opacity=0.85),
        layer(ring).mark_point(shape="circle", size=210, color=VERMILION, strokeWidth=2.6, filled=False, opacity=1),
        layer([row for row in labels if "to_il" in row])
        .mark_rule(color=GREY, strokeWidth=0.8)
        .encode(x2="to_il:Q", y2="to_dr:Q"),
        *(
            layer([row for row in labels if row["chosen"] is bold])
            .mark_text(fontSize=11.5, fontWeight="bold" if bold else "normal", color=VERMILION if bold else INK)
            .encode(x="text_il:Q", y="text_dr:Q", text="name:N")
            for bold in (False, True)
        ),
    ]
    subtitle = "Each point is a grouping that no other found beats in both. Down and to the left is better."
    title = alt.Title("Loss and risk of groupings", subtitle=subtitle)
    return styled(alt.LayerChart(layer=layers).properties(width=WIDTH, height=HEIGHT, title=title))


def _row(point: Record) -> dict[str, Any]:
    """A point as a chart takes it."""
    groups = point.get("groups") or []
    il, dr = float(point["il"]), float(point["dr"])
    return {
        "name": "on the front",
        "chosen": False,
        "k": point.get("k"),
        "il": il,
        "dr": dr,
        "score": (il + dr) / 2,
        "groups": " ".join(f"[{', '.join(map(str, group))}]" for group in groups),
    }


def _merge_equals(rivals: Mapping[str, Record]) -> list[dict[str, Any]]:
    """The rivals, those with the same loss and risk as one point under all their names."""
    by_place: dict[tuple[float, float], dict[str, Any]] = {}
    for name, rival in rivals.items():
        row = _row(rival)
        known = by_place.setdefault((round(row["il"], 9), round(row["dr"], 9)), row | {"name": name})
        if known["name"] != name:
            known["name"] += f" = {name}"
    return list(by_place.values())


def _place_labels(
    named: Sequence[Record], every: Sequence[Record], across: tuple[float, float], down: tuple[float, float]
) -> list[dict[str, Any]]:
    """The labels that find a place, where they stand and where a line leads from them to their point."""
    width, height = across[1] - across[0], down[1] - down[0]

    def pixels(row: Record) -> tuple[float, float]:
        return (row["il"] - across[0]) / width * WIDTH, (down[1] - row["dr"]) / height * HEIGHT

    places = label_places(
        [(row["name"], *pixels(row)) for row in named], [pixels(row) for row in every], (WIDTH, HEIGHT)
    )
    return [
        dict(row)
        | {
            "text_il": across[0] + place.x / WIDTH * width,
            "text_dr": down[1] - place.y / HEIGHT * height,
        }
        | (
            {}
            if place.end is None
            else {
                "to_il": across[0] + place.end[0] / WIDTH * width,
                "to_dr": down[1] - place.end[1] / HEIGHT * height,
            }
        )
        for row, place in zip(named, places, strict=True)
        if place is not None
    ]


def _domain(values: Iterable[float]) -> tuple[float, float]:
    """The range of an axis: all values with some air, within what percentages can be."""
    found = list(values) or [0.0, 100.0]
    low, high = min(found), max(found)
    air = max(0.08 * (high - low), 1.0)
    return max(0.0, low - air), high + air
