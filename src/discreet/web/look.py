"""What candidates give away and what they are still good for, side by side; one of them is chosen."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.job import Job
from discreet.jobs.queue import Jobs
from discreet.web import theme
from discreet.web.desk import Desk

# So many candidates stand side by side.
MOST = 4
COLOURS = ("#00796b", "#b45309", "#4f46e5", "#be185d")


def is_ready(jobs: Jobs, number: str) -> bool:
    """Whether a candidate has a release to look at."""
    try:
        return bool(jobs.get(number).result().get("printed"))
    except InputError:
        return False


def candidates(desk: Desk) -> list[Job]:
    """The latest candidates that have a release."""
    jobs = Jobs(desk.folder.path)
    return [jobs.get(number) for number in desk.now.get("candidates", []) if is_ready(jobs, number)][-MOST:]


def chosen(desk: Desk) -> Job | None:
    """The candidate that was chosen, else the last one."""
    found = candidates(desk)
    return next((job for job in found if job.id == desk.now.get("chosen")), found[-1] if found else None)


async def show(desk: Desk) -> None:
    """The page."""
    found = candidates(desk)
    if not found:
        theme.note("There is no candidate yet; go back one step and protect the file.", "warn")
        return
    theme.lead("Less loss and less risk are both better. Choose the candidate that you can stand for.")

    @ui.refreshable
    def shown() -> None:
        with ui.element("div").classes("grid-of"):
            with theme.panel("Candidates"):
                _list(desk, found, shown.refresh)
            with theme.panel("Loss and risk"):
                ui.echart(_scatter(found)).style("height:260px;width:100%")
        job = chosen(desk)
        if job is not None:
            _cards(job)

    shown()
    with ui.element("div").classes("row-of end"):
        theme.secondary("Try another", lambda: desk.go("protect"), "another")
        theme.primary("Next: write", lambda: desk.go("write"), "next")


def _list(desk: Desk, found: list[Job], refresh: Any) -> None:
    now = chosen(desk)

    def choose(event: Any) -> None:
        desk.history.choose(chosen=event.value)
        refresh()

    names = {}
    for job in found:
        measures = job.result()["printed"]["measures"]
        names[job.id] = f"{name_of(job)}: loss {measures['il']:.2f} %, linked {measures['dld']:.2f} %"
    radio = ui.radio(names, value=None if now is None else now.id, on_change=choose)
    radio.props("color=primary").mark("candidates")


def name_of(job: Job) -> str:
    """A candidate in a few words."""
    about = job.request().get("about", {})
    method = about.get("method") or "memetic"
    return f"{int(job.id)} · k = {about.get('k')}, {method}{', grouped' if about.get('grouping') else ''}"


def _scatter(found: list[Job]) -> dict[str, Any]:
    series = []
    for job, colour in zip(found, COLOURS, strict=False):
        measures = job.result()["printed"]["measures"]
        series.append(
            {
                "type": "scatter",
                "symbolSize": 16,
                "data": [[measures["il"], measures["dld"]]],
                "itemStyle": {"color": colour},
                "label": {"show": True, "position": "top", "formatter": str(int(job.id)), "color": "#808890"},
            }
        )
    axis = {
        **theme.AXIS,
        "type": "value",
        "min": 0,
        "nameLocation": "middle",
        "splitNumber": 4,
        "boundaryGap": ["0%", "25%"],
    }
    return {
        "animation": False,
        "grid": {"left": 56, "right": 24, "top": 24, "bottom": 44},
        "xAxis": {**axis, "name": "information loss, %", "nameGap": 28},
        "yAxis": {**axis, "name": "records linked, %", "nameGap": 36},
        "series": series,
    }


def _cards(job: Job) -> None:
    account = job.result()["printed"]
    measures, checked = account["measures"], account["verification"]
    with ui.element("div").classes("grid-of"):
        with theme.panel("The intruder"):
            _figure(f"{measures['dld']:.1f} %", "of the records would be linked rightly by distance")
            if measures.get("id") is not None:
                _figure(f"{measures['id']:.1f} %", "of the values lie in a narrow interval about the released one")
            least = min(check["smallest"] for check in checked["checks"])
            classes = measures.get("classes")
            _figure(f"{least:,}", f"records at least look alike{f', in {classes:,} classes' if classes else ''}")
        with theme.panel("The analyst"):
            _figure(f"{measures['il']:.1f} %", "of the information in the quasi-identifiers is lost")
            rows = [
                [one["name"], f"{one['mean']['change']:+.1f} %", f"{one['variance']['change']:+.1f} %"]
                for one in (measures.get("change") or {}).get("attributes", [])
                if one["mean"]["change"] is not None and one["variance"]["change"] is not None
            ]
            if rows:
                theme.grid(("column", "mean", "variance"), rows, right=(1, 2))
    with ui.element("div").classes("grid-of"):
        with theme.panel("Loss per column"):
            losses = measures.get("il_per_attribute", {})
            theme.bars(dict(sorted(losses.items(), key=lambda pair: -pair[1])))
        with theme.panel("Class sizes"):
            sizes = measures.get("risk", {}).get("sizes", [])
            total = sum(one["records"] for one in sizes) or 1
            theme.dim("Share of the records in classes of so many:")
            theme.bars({f"{one['least']}–{one['most']}": 100 * one["records"] / total for one in sizes})


def _figure(number: str, words: str) -> None:
    with ui.element("div"):
        ui.label(number).classes("big")
        theme.dim(words)
