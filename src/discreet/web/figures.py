"""Charts of a candidate beside the original: distributions laid over each other, correlations and class sizes.

A command counts all of it, in a process of its own; here it is only drawn.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.job import Job, read_json
from discreet.jobs.requests import RELEASE, SETTINGS
from discreet.web import theme
from discreet.web.desk import Desk

FIGURES = "figures.json"


async def find(desk: Desk, job: Job) -> dict[str, Any]:
    """The figures of a candidate; they are counted once."""
    if not (job.path / FIGURES).is_file():
        here = str(job.path.relative_to(desk.folder.path))
        words = ["report", f"{here}/{RELEASE}", "--original", desk.source.name, "--row-map", f"{here}/map.csv"]
        await desk.folder.do([*words, "--config", f"{here}/{SETTINGS}", "--figures", f"{here}/{FIGURES}", "--force"])
    found = read_json(job.path / FIGURES)
    if not found:
        raise InputError("the figures of this candidate cannot be read; remove its job and try it again")
    return found


def show(found: dict[str, Any], confidential: list[str]) -> None:
    """Draw them; of confidential columns those that are named."""
    held = {name: one for name, one in found["confidential"].items() if name in confidential}
    with ui.element("div").classes("grid-of"):
        with theme.panel("Class sizes"):
            theme.dim("Share of the records that share their combination with so many, themselves included:")
            before, after = found["classes"].get("before", {}), found["classes"]["after"]
            labels = sorted({*before, *after}, key=lambda label: int(label.split()[0]))
            _lay_over(labels, [before.get(one, 0.0) for one in labels], [after.get(one, 0.0) for one in labels])
        if held:
            with theme.panel("Confidential columns"):
                theme.dim(
                    "In the poorest class: different values, and by entropy. In the farthest: how far its distribution "
                    "is from that of all records (t)."
                )
                rows = [
                    [name, f"{one['distinct']:,.0f}", f"{one['entropy']:.2f}", f"{one['t'] / 100:.2f}"]
                    for name, one in held.items()
                ]
                theme.grid(("column", "values", "by entropy", "t"), rows, right=(1, 2, 3))
    if found["distributions"]:
        with theme.panel("Distributions, laid over each other"):
            _show_key()
            with ui.element("div").classes("charts"):
                for name, one in found["distributions"].items():
                    with ui.element("div"):
                        theme.heading(name, 3)
                        _lay_over(one["labels"], one["before"], one["after"])
            if found["undrawn"]:
                theme.dim(f"{found['undrawn']} more columns are not drawn.")
    if found["correlations"]:
        with theme.panel("Correlations"):
            theme.dim("Left as in the original, right as in this candidate: the closer the two, the better for models.")
            with ui.element("div").classes("grid-of"):
                for side, word in (("before", "original"), ("after", "released")):
                    chart = ui.echart(_matrix(found["correlations"], side, word)).style("height:340px;width:100%")
                    chart.props["aria-label"] = f"Correlations of {', '.join(found['correlations']['columns'])}, {word}"


def _show_key() -> None:
    with ui.element("div").classes("row-of soft"):
        for kind, word in (("before", "original"), ("after", "released")):
            ui.element("span").classes(f"swatch {kind}")
            ui.label(word)


def _lay_over(labels: list[str], before: list[float], after: list[float]) -> None:
    """Two bars on each other for each label, in percent of the largest."""
    most = max([*before, *after, 1e-9])
    with ui.element("div").classes("bars"):
        for label, old, new in zip(labels, before, after, strict=True):
            ui.label(label).classes("label")
            with ui.element("div").classes("track over").props(f'title="original {old:.1f} %, released {new:.1f} %"'):
                ui.element("div").classes("before").style(f"width:{100 * old / most:.1f}%")
                ui.element("div").classes("after").style(f"width:{100 * new / most:.1f}%")
            ui.label(f"{new:.1f} %").classes("soft num")


def _matrix(found: dict[str, Any], side: str, word: str) -> dict[str, Any]:
    names = found["columns"]
    cells = [[x, y, found[side][y][x]] for y in range(len(names)) for x in range(len(names))]
    small = {"color": "#808890", "fontSize": 11, "width": 90, "overflow": "truncate"}
    axis = {**theme.AXIS, "type": "category", "data": names, "splitLine": {"show": False}}
    return {
        "animation": False,
        "title": {"text": word, "left": "center", "textStyle": {"fontSize": 13, "fontWeight": 550, "color": "#808890"}},
        "grid": {"left": 100, "right": 12, "top": 28, "bottom": 96},
        "xAxis": {**axis, "axisLabel": {**small, "rotate": 60}},
        "yAxis": {**axis, "inverse": True, "axisLabel": small},
        "visualMap": {
            "min": -1,
            "max": 1,
            "orient": "horizontal",
            "left": "center",
            "bottom": 0,
            "itemHeight": 90,
            "precision": 1,
            "textStyle": {"color": "#808890"},
            "inRange": {"color": [theme.AMBER, "#d9dee2", theme.TEAL]},
        },
        "series": [
            {"type": "heatmap", "data": [cell for cell in cells if cell[2] is not None], "label": {"show": False}}
        ],
    }
