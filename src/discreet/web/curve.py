"""A job on a page: its state, the curve of its loss, the time that is left, and a button to stop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.job import Job
from discreet.web import theme
from discreet.web.folder import Folder

# Seconds between two looks at a job that runs.
PAUSE = 0.5
# Costs above so many times the last are not drawn.
FAR = 1.25


class Curve:
    """Shows a job, and follows it while it runs.

    Parameters
    ----------
    folder : Folder
        The folder.
    job : Job
        The job.
    ended : callable
        Called once when the job has ended.
    unit : str
        What the cost is counted in.
    measure : str
        The measure of what was written that is told in the end, in place of the cost by which the search went.
    """

    def __init__(
        self, folder: Folder, job: Job, ended: Callable[[], Any], *, unit: str = "%", measure: str = ""
    ) -> None:
        self.folder, self.job, self.ended, self.unit, self.measure = folder, job, ended, unit, measure
        about = job.request()
        with ui.element("section").classes("panel").mark(f"job-{int(job.id)}"):
            with ui.element("div").classes("row-of"):
                self.state = ui.label().classes("pill").mark("state")
                ui.label(f"{int(job.id)} · {about.get('title', '')}").style("font-weight:600")
                said = about.get("about", {})
                theme.dim(", ".join(str(said[key]) for key in ("method",) if said.get(key)))
                ui.element("div").style("flex:1")
                self.stop = ui.button("Stop and keep the best", icon="stop", on_click=self._stop)
                self.stop.props("flat dense color=primary").mark("stop")
            self.words = theme.dim("")
            self.bar = ui.linear_progress(0.0, show_value=False, size="6px").props("rounded")
            self.chart = ui.echart(_options(unit)).style("height:200px;width:100%")
        self._drawn: Any = None
        self.timer = ui.timer(PAUSE, self._look)
        self._look(first=True)

    def _stop(self) -> None:
        try:
            self.folder.jobs.stop(self.job.id)
        except InputError as error:
            ui.notify(str(error), type="warning")

    def _look(self, *, first: bool = False) -> None:
        state, progress = self.job.state(), self.job.progress()
        live = state.state in ("queued", "running")
        account = {} if live else self.job.result().get("printed", {})
        progress["bound"] = (account.get("bound") or {}).get("value", progress.get("bound"))
        progress["measured"] = account.get("measures", {}).get(self.measure)
        self.state.set_text(state.state)
        self.state.classes(replace=f"pill {theme.STATES[state.state]}")
        self.stop.set_visibility(live)
        # A job that writes what was looked at has nothing better to keep.
        words = "Stop" if self.job.request().get("about", {}).get("output") else "Stop and keep the best"
        self.stop.set_text(words if state.state == "running" else "Leave it out")
        self.bar.set_visibility(state.state == "running")
        self.bar.set_value(progress.get("fraction", 0.0))
        self.words.set_text(self._tell(state.state, state.message, progress))
        trace = progress.get("trace", [])
        self.chart.set_visibility(len(trace) > 1)
        if trace and trace != self._drawn:
            self._drawn = trace
            # The first answers are so far off that the rest of the curve would be flat.
            near = [[seconds, cost] for _, seconds, cost in trace if cost <= FAR * trace[-1][2]]
            points = near if len(near) > 1 else [[seconds, cost] for _, seconds, cost in trace]
            # What a table costs in the end may be less than when the search ended; a loss is another measure.
            last = points[-1][1] if self.unit or progress["measured"] is None else progress["measured"]
            if progress.get("seconds", 0) > points[-1][0] or last != points[-1][1]:
                points.append([progress.get("seconds", points[-1][0]), last])
            self.chart.options["series"][0]["data"] = points
            bound = progress.get("bound")
            self.chart.options["series"][1]["data"] = (
                [] if bound is None else [[points[0][0], bound], [points[-1][0], bound]]
            )
            self.chart.update()
        if not live:
            self.timer.deactivate()
            if not first:
                self.ended()

    def _say(self, cost: float) -> str:
        return f"{cost:.2f} {self.unit}" if self.unit else f"{cost:,.0f}"

    def _tell(self, state: str, message: str, progress: dict[str, Any]) -> str:
        if state == "queued":
            return "Waits for the job before it."
        # A message that begins with the name of a file is left as it is.
        named = message.partition(" ")[0].endswith(":")
        words = [message if named else message[:1].upper() + message[1:]] if message else []
        if progress.get("steps"):
            what, by_search = "loss" if self.unit else "cost", self._say(progress["cost"])
            found = by_search if progress["measured"] is None else self._say(progress["measured"])
            words.append(f"{what} {found} after {progress['steps']:,} steps")
            if found != by_search and self.unit and len(progress.get("trace", [])) > 1:
                words.append(f"the curve shows the measure of the search itself, {by_search} in the end")
            if progress.get("bound") is not None:
                words.append(f"none is below {self._say(progress['bound'])}")
        if state == "running":
            words.insert(0, progress.get("stage", "starting"))
            time = self.job.request().get("about", {}).get("time")
            if time and progress.get("seconds") is not None and progress.get("fraction", 0) < 1:
                words.append(f"{max(0.0, time - progress['seconds']):.0f} s left")
        return "; ".join(words)


def _options(unit: str) -> dict[str, Any]:
    line = {"type": "line", "showSymbol": False, "data": []}
    return {
        "animation": False,
        "grid": {"left": 60, "right": 16, "top": 14, "bottom": 34},
        "xAxis": {
            **theme.AXIS,
            "type": "value",
            "name": "seconds",
            "nameLocation": "middle",
            "nameGap": 22,
            "scale": True,
        },
        "yAxis": {
            **theme.AXIS,
            "type": "value",
            "scale": True,
            "axisLabel": {"color": "#808890", "formatter": "{value} " + unit},
        },
        "series": [
            {**line, "step": "end", "lineStyle": {"color": theme.TEAL, "width": 2}},
            {**line, "lineStyle": {"color": theme.AMBER, "type": "dashed", "width": 1}},
        ],
    }
