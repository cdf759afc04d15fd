"""The charts of reports, each from figures that were computed before: no record ever reaches the library that draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.extras import alt
from discreet.release.charts import BLUE, GREY, INK, VERMILION, Drawing, label_places, svg
from discreet.release.reports.distributions import Distribution, shorten

# Pixels: width of a small and of a wide chart with its labels, height of a bar with its gap, and squares of a matrix.
SMALL, WIDE, BAR = 425, 890, 22
LARGEST_SQUARE, LEAST_SQUARE, MATRIX = 48, 14, 300
# Letters of a name beside a chart, and columns that are named one by one where they are not drawn.
LONGEST_NAME, MOST_NAMED = 18, 40
# The width of a chart is that of its plot and its labels together, so that charts below each other are equally wide.
FIT: Any = {"type": "fit-x", "contains": "padding"}


def bars(name: str, labels: Sequence[str], shares: Sequence[float], *, title: str, width: int = SMALL) -> Drawing:
    """One bar for each label, in percent."""
    rows = [{"label": label, "share": share} for label, share in zip(labels, shares, strict=True)]
    chart = {
        "data": {"values": rows},
        "mark": {"type": "bar", "color": BLUE, "height": BAR * 0.62},
        "encoding": _describe_axes(labels, title),
    }
    return svg(chart | _describe_size(width, len(labels)), name)


def overlay(name: str, found: Distribution) -> Drawing:
    """The original as a wide pale bar, and the release as a narrow one on it."""
    before, after = found.shares()
    rows = [
        {"label": label, "share": share, "file": file}
        for file, shares in (("original", before), ("released", after))
        for label, share in zip(found.labels, shares, strict=True)
    ]
    scale = {"domain": ["original", "released"], "range": [GREY, BLUE]}
    axes = _describe_axes(found.labels, "share of records, %")
    axes["color"] = {"field": "file", "type": "nominal", "scale": scale, "legend": LEGEND}
    layers = [
        {
            "transform": [{"filter": f"datum.file == '{file}'"}],
            "mark": {"type": "bar", "height": BAR * height, "opacity": opacity},
            "encoding": axes,
        }
        for file, height, opacity in (("original", 0.74, 0.5), ("released", 0.34, 1.0))
    ]
    chart = {"data": {"values": rows}, "layer": layers}
    return svg(chart | _describe_size(SMALL, len(found.labels)), name)


# Charts of which a report has dozens are described here: altair takes as long to describe one as it takes to draw it.
LEGEND: dict[str, Any] = {
    "title": None, "symbolType": "square", "symbolOpacity": 1, "orient": "top", "direction": "horizontal", "offset": 4,
}  # fmt: skip


def _describe_axes(labels: Sequence[str], title: str) -> dict[str, Any]:
    """A label for each bar, and shares from 0 on."""
    beside = {"title": None, "ticks": False, "domain": False, "labelLimit": 180, "labelPadding": 6}
    below = {"tickCount": 4, "domain": False, "ticks": False}
    return {
        "y": {"field": "label", "type": "nominal", "sort": list(labels), "axis": beside,
              "scale": {"paddingInner": 0.2, "paddingOuter": 0.1}},
        "x": {"field": "share", "type": "quantitative", "title": title, "scale": {"domainMin": 0}, "axis": below,
              "stack": None},
    }  # fmt: skip


def _describe_size(width: int, rows: float) -> dict[str, Any]:
    return {"width": width, "height": max(int(rows * BAR), BAR), "autosize": FIT}


def pairs(name: str, rows: Sequence[tuple[str, float, float]], kinds: tuple[str, str], title: str) -> Drawing:
    """Two bars for each label, side by side."""
    labels = [label for label, _, _ in rows]
    values = [
        {"label": label, "kind": kind, "share": share}
        for label, *both in rows
        for kind, share in zip(kinds, both, strict=True)
    ]
    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar(height=BAR * 0.42)
        .encode(
            y=_labels(labels),
            yOffset=alt.YOffset("kind:N", sort=list(kinds)),
            x=_shares(title, most=100),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=list(kinds), range=[VERMILION, BLUE]),
                legend=_legend(),
            ),
        )
    )
    return _draw(chart, name, WIDE, len(labels) * 1.35)


def matrix(name: str, names: Sequence[str], correlations: Sequence[Sequence[float | None]]) -> Drawing:
    """Correlations as squares: the stronger the fuller, those below 0 in another colour."""
    short = shorten(names, LONGEST_NAME)
    rows = [
        {"row": short[i], "column": short[j], "strength": abs(value), "sign": "above 0" if value >= 0 else "below 0",
         "text": f"{value:.2f}".replace("-", "−")}
        for i, line in enumerate(correlations)
        for j, value in enumerate(line)
        if value is not None and j < i
    ]  # fmt: skip
    side = max(LEAST_SQUARE, min(LARGEST_SQUARE, MATRIX // len(names)))
    axis: dict[str, Any] = {"title": None, "grid": False, "ticks": False, "domain": False, "labelLimit": 150}
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("column:N", sort=short[:-1], scale=alt.Scale(domain=short[:-1]), axis=alt.Axis(labelAngle=-45, **axis)),
        y=alt.Y("row:N", sort=short[1:], scale=alt.Scale(domain=short[1:]), axis=alt.Axis(**axis)),
    )
    squares = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color(
            "sign:N",
            scale=alt.Scale(domain=["above 0", "below 0"], range=[BLUE, VERMILION]),
            legend=_legend(),
        ),
        opacity=alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.85]), legend=None),
    )
    layers: list[Any] = [squares]
    if side >= 32:
        layers.append(base.mark_text(fontSize=10, color=INK).encode(text="text:N"))
    chart: Any = alt.layer(*layers).properties(width=side * (len(names) - 1), height=side * (len(names) - 1))
    return svg(chart, name)


def course(name: str, points: Sequence[tuple[float, float]], *, x: str, y: str) -> Drawing:
    """A cost that falls in steps."""
    rows = [{"x": at, "y": cost} for at, cost in points]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", color=BLUE, strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=x, axis=alt.Axis(tickCount=6, grid=False)),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=5)),
        )
        .properties(width=WIDE, height=200, autosize=alt.AutoSizeParams(**FIT))
    )
    return svg(chart, name)


def points(name: str, rows: Sequence[Mapping[str, Any]], own: Mapping[str, Any]) -> Drawing:
    """Loss against risk of what was tried; the release stands out."""
    every = [*rows, own]
    width, height = WIDE - 80, 280
    (left, right), (low, high) = (_pad([float(row[axis]) for row in every]) for axis in ("il", "dld"))
    at = [(width * (row["il"] - left) / (right - left), height * (high - row["dld"]) / (high - low)) for row in every]
    # The release is named first, where there is room for few.
    order = [len(every) - 1, *range(len(every) - 1)]
    labels = [(str(every[i]["name"])[:24], *at[i]) for i in order]
    texts = [
        {"name": name, "il": left + one.x / width * (right - left), "dld": high - one.y / height * (high - low)}
        for (name, *_), one in zip(labels, label_places(labels, at, (width, height)), strict=True)
        if one is not None
    ]
    x = alt.X("il:Q", title="information loss, %", scale=alt.Scale(domain=[left, right], nice=False))
    y = alt.Y("dld:Q", title="records found by linkage, %", scale=alt.Scale(domain=[low, high], nice=False))
    chart: Any = alt.layer(
        alt.Chart(alt.InlineData(values=[_point(row) for row in rows])).mark_circle(size=60, color=GREY, opacity=1),
        alt.Chart(alt.InlineData(values=[_point(own)])).mark_circle(size=110, color=VERMILION, opacity=1),
        alt.Chart(alt.InlineData(values=texts)).mark_text(fontSize=11, color=INK).encode(text="name:N"),
    )
    return svg(chart.encode(x=x, y=y).properties(width=width, height=height), name)


def _point(row: Mapping[str, Any]) -> dict[str, float]:
    return {"il": row["il"], "dld": row["dld"]}


def _labels(labels: Sequence[str]) -> alt.Y:
    axis = alt.Axis(title=None, ticks=False, domain=False, labelLimit=180, labelPadding=6)
    return alt.Y("label:N", sort=list(labels), axis=axis, scale=alt.Scale(paddingInner=0.2, paddingOuter=0.1))


def _shares(title: str, most: float | None = None) -> alt.X:
    scale = alt.Scale(domainMin=0) if most is None else alt.Scale(domain=[0, most])
    return alt.X("share:Q", title=title, scale=scale, axis=alt.Axis(tickCount=4, domain=False, ticks=False), stack=None)


def _legend() -> alt.Legend:
    return alt.Legend(**LEGEND)


def _draw(chart: alt.Chart | alt.LayerChart | alt.FacetChart, name: str, width: int, rows: float) -> Drawing:
    sized: Any = chart.properties(width=width, height=max(int(rows * BAR), BAR), autosize=alt.AutoSizeParams(**FIT))
    return svg(sized, name)


def _pad(values: Sequence[float]) -> list[float]:
    """A domain that leaves room for labels."""
    low, high = min(values), max(values)
    gap = (high - low) * 0.12 or max(abs(high) * 0.1, 1.0)
    return [max(0.0, low - gap), high + gap]
