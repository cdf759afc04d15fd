"""The step of the protection: searches for candidates, one after the other."""

from __future__ import annotations

from typing import Any

from nicegui import run, ui

from discreet.data.groupings import groups_text
from discreet.errors import InputError
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import GROUPING, SETTINGS, try_out, write_settings
from discreet.methods import list_methods
from discreet.release.summary import tell_release
from discreet.web import look, theme
from discreet.web.curve import Curve
from discreet.web.desk import Desk
from discreet.web.promise import groups_of


async def show_protect(desk: Desk) -> None:
    """The page."""
    theme.lead("A search in the background finds groups that lose as little as possible. Try several and compare them.")
    jobs = Jobs(desk.folder.path)
    names = {"": "the best there is (memetic)"}
    # The first time this loads all methods; other pages need not wait for it.
    methods = await run.io_bound(list_methods, "partition")
    names |= {method.name: method.name for method in methods or () if method.name != "memetic"}
    groups = groups_of(desk)
    with theme.panel("A candidate"):
        with ui.element("div").classes("row-of"):
            k = ui.number("k", value=desk.now["k"], min=2, precision=0, step=1).mark("try-k").style("width:110px")
            method = ui.select(names, value="", label="Method").style("min-width:240px")
            seconds = ui.number("Seconds of search", value=desk.now.get("time", 10), min=1, step=5).mark("seconds")
            seed = ui.number("Seed", value=0, min=0, precision=0, step=1).style("width:110px")
            seconds.style("width:150px")
            for each in (k, method, seconds, seed):
                each.props("outlined dense options-dense")
            together = ui.select(
                {True: "in groups, as chosen", False: "all together"}, value=len(groups) > 1, label="Columns"
            ).props("outlined dense options-dense")
            together.style("min-width:190px").set_visibility(len(groups) > 1)
        bound = ui.checkbox("Prove how far from the least loss it can be at most; this may take minutes")

        def begin() -> None:
            grouped = len(groups) > 1 and bool(together.value)
            chosen: dict[str, Any] = {"k": int(k.value or 0), "method": method.value or None, "bound": bound.value}
            about = {**chosen, "time": float(seconds.value or 10), "seed": int(seed.value or 0), "grouped": grouped}
            job = jobs.add(
                try_out(desk.source.name, time=about["time"], seed=about["seed"], grouping=grouped),
                title=f"{desk.source.title}, k = {chosen['k']}",
                about={key: value for key, value in about.items() if value},
                files={SETTINGS: write_settings({**desk.now, **chosen})}
                | ({GROUPING: groups_text(groups, {})} if grouped else {}),
            )
            desk.history.choose(candidates=[*desk.now.get("candidates", []), job.id], time=about["time"])
            shown.refresh()

        with ui.element("div").classes("row-of end"):
            theme.primary("Protect", begin, "protect")

    @ui.refreshable
    def shown() -> None:
        for number in reversed(desk.now.get("candidates", [])[-4:]):
            try:
                job = jobs.get(number)
                Curve(desk.folder, job, shown.refresh, measure="il")
            except InputError:
                continue  # removed meanwhile
            account = job.result().get("printed")
            if account:
                with theme.panel(f"What to know of candidate {int(number)}"):
                    theme.entries(tell_release(account))
        with ui.element("div").classes("row-of end"):
            ready = any(look.is_ready(jobs, number) for number in desk.now.get("candidates", []))
            theme.primary("Next: look", lambda: desk.go("look"), "next").set_enabled(ready)
        desk.refresh_steps()

    shown()
