"""What candidates give away and what they are still good for, side by side; one of them is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.job import Job
from discreet.jobs.queue import Jobs
from discreet.release.summary import tell_release
from discreet.web import figures, theme
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
                _list(desk, found, choose)
                _compare(found)
            with theme.panel("Loss and risk"):
                ui.echart(_scatter(found, chosen(desk))).style("height:300px;width:100%")
        job = chosen(desk)
        if job is not None:
            _cards(job)

    async def choose(event: Any) -> None:
        desk.history.choose(chosen=event.value)
        shown.refresh()
        await draw()

    async def draw() -> None:
        job = chosen(desk)
        assert job is not None
        place.clear()
        with place, theme.follows("Comparing the candidate with the original …") as content:
            try:
                counted = await figures.find(desk, job)
            except InputError as error:
                with content:
                    theme.note(str(error), "warn")
            else:
                now = chosen(desk)
                if now is not None and now.id == job.id:
                    with content:
                        figures.show(counted, desk.columns_with("confidential", "sampling weight, released"))

    shown()
    place = ui.element("div").classes("content")
    with ui.element("div").classes("row-of end"):
        theme.secondary("Try another", lambda: desk.go("protect"), "another")
        theme.primary("Next: write", lambda: desk.go("write"), "next")
    ui.timer(0.01, draw, once=True)


def _list(desk: Desk, found: list[Job], choose: Callable[[Any], object]) -> None:
    now = chosen(desk)
    names = {job.id: name_of(job) for job in found}
    radio = ui.radio(names, value=None if now is None else now.id, on_change=choose)
    radio.props("color=primary").mark("candidates")


def _compare(found: list[Job]) -> None:
    """The candidates side by side."""
    accounts = [job.result()["printed"] for job in found]
    rows = {
        "information lost": [f"{one['measures']['il']:.2f} %" for one in accounts],
        "found by linkage": [
            f"{one['measures']['dld']:.2f} %" if one["measures"].get("dld") is not None else "" for one in accounts
        ],
        "smallest class": [
            f"{min(check['smallest'] for check in one['verification']['checks']):,}" for one in accounts
        ],
        "no release loses less than": [
            f"{one['bound']['value']:.2f} %" if (one.get("bound") or {}).get("value") else "" for one in accounts
        ],
        "seconds of search": [f"{one['search'].get('seconds') or 0:.0f}" for one in accounts],
    }
    lines = [[name, *cells] for name, cells in rows.items() if any(cells)]
    theme.grid(("", *(str(int(job.id)) for job in found)), lines, right=range(1, len(found) + 1))


def name_of(job: Job) -> str:
    """A candidate in a few words."""
    about = job.request().get("about", {})
    method = about.get("method") or "memetic"
    return f"{int(job.id)} · k = {about.get('k')}, {method}{', in groups' if about.get('grouped') else ''}"


def _scatter(found: list[Job], now: Job | None) -> dict[str, Any]:
    series = []
    for job, colour in zip(found, COLOURS, strict=False):
        measures = job.result()["printed"]["measures"]
        series.append(
            {
                "type": "scatter",
                "symbolSize": 22 if job == now else 14,
                "data": [[measures["il"], measures.get("dld")]],
                "itemStyle": {"color": colour, "borderColor": "#808890", "borderWidth": 3 if job == now else 0},
                "label": {
                    "show": True,
                    "position": "top",
                    "color": "#808890",
                    "formatter": f"{int(job.id)}{' · chosen' if job == now else ''}",
                },
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
            if measures.get("dld") is not None:
                _figure(f"{measures['dld']:.2f} %", "of the records would be found by whoever links the nearest ones")
            least = min(check["smallest"] for check in checked["checks"])
            unit = next((one for one in ("household", "person") if account["promise"].get(one)), "record")
            classes = measures.get("classes")
            _figure(f"{least:,}", f"{unit}s at least look alike{f', in {classes:,} classes' if classes else ''}")
        with theme.panel("The analyst"):
            _figure(f"{measures['il']:.2f} %", "of the information in the quasi-identifiers is lost")
            rows = [
                [one["name"], f"{one['mean']['change']:+.1f} %", f"{one['variance']['change']:+.1f} %"]
                for one in (measures.get("change") or {}).get("attributes", [])
                if one["mean"]["change"] is not None and one["variance"]["change"] is not None
            ]
            if rows:
                theme.dim("By how much means and variances move:")
                theme.grid(("column", "mean", "variance"), rows, right=(1, 2))
    with theme.panel("What to know of it"):
        theme.entries(tell_release(account))
    with theme.panel("Loss per column"):
        losses = measures.get("il_per_attribute", {})
        theme.bars(dict(sorted(losses.items(), key=lambda pair: -pair[1])))


def _figure(number: str, words: str) -> None:
    with ui.element("div"):
        ui.label(number).classes("big")
        theme.dim(words)
