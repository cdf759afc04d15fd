"""Charts of a grouping: the front of trade-offs it was chosen from, and what each operator did to find it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.grouping.chart_style import BLUE, GREY, INK, VERMILION, styled
from discreet.grouping.label_places import label_places
from discreet.grouping.operator_plots import operators_chart

if TYPE_CHECKING:
    import altair as alt

    Record = Mapping[str, Any]

__all__ = ["front_chart", "operators_chart"]

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
    import altair as alt

    front = [_told(point) for point in sorted(points, key=lambda point: (point["il"], -point["dr"]))]
    others = _named(rivals or {})
    ring = [] if chosen is None else [_told(chosen) | {"name": "chosen", "chosen": True}]
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

    labels = _texts([*ring, *others], every, across, down)
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


def _told(point: Record) -> dict[str, Any]:
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


def _named(rivals: Mapping[str, Record]) -> list[dict[str, Any]]:
    """The rivals, those with the same loss and risk as one point under all their names."""
    by_place: dict[tuple[float, float], dict[str, Any]] = {}
    for name, rival in rivals.items():
        told = _told(rival)
        known = by_place.setdefault((round(told["il"], 9), round(told["dr"], 9)), told | {"name": name})
        if known["name"] != name:
            known["name"] += f" = {name}"
    return list(by_place.values())


def _texts(
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
