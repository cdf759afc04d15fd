"""The first page, the files of the folder, and the page of its jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from nicegui import run, ui

from discreet.data.databases import Address
from discreet.errors import InputError
from discreet.jobs.history import begin_history
from discreet.jobs.job import Job
from discreet.web import theme
from discreet.web.folder import MICRODATA, OURS, Folder
from discreet.web.sources import find, list_databases

Act = Callable[[], object]


def add_pages(folder: Folder) -> None:
    """Add the pages to the app."""

    @ui.page("/")
    async def files() -> None:
        with theme.page(folder, "Files", "/"):
            theme.heading("Files")
            theme.lead("Choose the microdata to protect. Files stay in this folder: nothing is uploaded anywhere.")
            found = [path for path in folder.files() if not path.name.endswith(OURS)]
            released = [path for path in found if (path.parent / f"{path.name}.release.json").exists()]
            tables = [path for path in found if path not in released and folder.is_table(path)]
            data = [path for path in found if path.suffix.lower() in MICRODATA and path not in (*released, *tables)]
            with theme.panel("Microdata"):
                if not data:
                    theme.dim("There are none here yet. Put a CSV, Parquet, Excel, Stata or SPSS file into the folder.")
                for path in data:
                    _show_file(path)
            if tables:
                with theme.panel("Tables"):
                    theme.dim("Files of cells, their own or another tool's; or build a table from microdata above.")
                    for path in tables:
                        theme.link(path.name, f"/open-table/{quote(path.name)}")
            place = ui.element("div").classes("content")
            await ui.context.client.connected()
            databases = await run.io_bound(list_databases, folder)
            if databases:
                with place, theme.panel("Tables of databases"):
                    for name, held in databases.items():
                        _show_database(name, held)
            if released:
                with theme.panel("Releases"):
                    for path in released:
                        _show_release(path)

    @ui.page("/open/{name:path}")
    async def open_source(name: str) -> None:
        try:
            source = find(folder, name)
            await ui.context.client.connected()  # whoever only fetches the page begins nothing
            history = begin_history(folder.path, {"kind": "microdata", "file": source.name, "columns": {}, "k": 5})
        except InputError as error:
            _refuse(folder, str(error))
            return
        folder.forget(source.name)
        ui.navigate.to(f"/data/{history.id}/columns")

    @ui.page("/open-table/{name}")
    async def open_table(name: str) -> None:
        await _begin_table(folder, name, built=False)

    @ui.page("/build-table/{name}")
    async def build_table(name: str) -> None:
        await _begin_table(folder, name, built=True)

    @ui.page("/jobs")
    def jobs() -> None:
        with theme.page(folder, "Jobs", "/jobs"):
            theme.heading("Jobs")
            theme.lead("One runs at a time, in a process of its own. Closing this page, or the app, ends none of them.")

            @ui.refreshable
            def listing() -> None:
                found = folder.jobs.list()
                with theme.panel():
                    if not found:
                        theme.dim("There are no jobs yet.")
                    for job in reversed(found):
                        _show_job(folder, job, listing.refresh)

            listing()
            seen = _states(folder)

            def look() -> None:
                nonlocal seen
                now = _states(folder)
                if now != seen:
                    seen = now
                    listing.refresh()

            ui.timer(0.7, look)


async def _begin_table(folder: Folder, name: str, *, built: bool) -> None:
    try:
        path = folder.file(name)
        await ui.context.client.connected()
        history = begin_history(folder.path, {"kind": "table", "file": path.name, "built": built})
    except InputError as error:
        _refuse(folder, str(error))
        return
    ui.navigate.to(f"/table/{history.id}/table")


def _states(folder: Folder) -> list[tuple[str, str, float]]:
    return [(job.id, job.state().state, round(job.progress().get("fraction", 0.0), 2)) for job in folder.jobs.list()]


def _show_file(path: Path) -> None:
    with ui.element("div").classes("row-of"):
        theme.link(path.name, f"/open/{quote(path.name)}")
        theme.dim(_size(path.stat().st_size))
        theme.link("build a table", f"/build-table/{quote(path.name)}", "soft")


def _show_release(path: Path) -> None:
    with ui.element("div").classes("row-of"):
        ui.label(path.name).style("font-weight:600;overflow-wrap:anywhere")
        theme.dim(_size(path.stat().st_size))
        for ending, word in ((".report.html", "report"), (".internal.html", "internal report")):
            if (path.parent / f"{path.name}{ending}").exists():
                theme.link(word, f"/report/{quote(f'{path.name}{ending}')}", "soft", new_tab=True)
        theme.link("review", "/review", "soft")


def _show_database(name: str, held: list[Address] | str) -> None:
    theme.dim(name.removeprefix("sqlite:"))
    if isinstance(held, str):
        theme.note(held, "warn")
    elif not held:
        theme.dim("There are no tables in it.")
    for address in held if isinstance(held, list) else []:
        theme.link(address.name, f"/open/{quote(address.typed, safe='')}")


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _show_job(folder: Folder, job: Job, refresh: Act) -> None:
    state, progress, request = job.state(), job.progress(), job.request()
    with ui.element("div").classes("row-of").mark(f"job-{int(job.id)}"):
        theme.pill(state.state, theme.STATES[state.state])
        ui.label(request.get("title") or " ".join(job.command[:2])).style("font-weight:600")
        theme.dim(f"{int(job.id)} · {request.get('asked', '')[:16].replace('T', ' ')}")
        if state.state == "running":
            theme.dim(f"{progress.get('stage', '')} {100 * progress.get('fraction', 0.0):.0f} %")
        ui.element("div").style("flex:1")
        if state.state in ("queued", "running"):
            _button("Stop", lambda: folder.jobs.stop(job.id), refresh)
        if state.state in ("stopped", "failed"):
            _button("Resume", lambda: folder.jobs.resume(job.id), refresh)
        if state.state != "running":
            _button("Remove", lambda: folder.jobs.remove(job.id), refresh)
    if state.message:
        theme.dim(state.message)


def _button(words: str, act: Act, refresh: Act) -> None:
    def run() -> None:
        try:
            act()
        except InputError as error:
            ui.notify(str(error), type="warning")
        refresh()

    ui.button(words, on_click=run).props("flat dense color=primary")


def _refuse(folder: Folder, words: str) -> None:
    with theme.page(folder, "Not found"):
        theme.heading("Not found")
        theme.note(words, "bad")
        theme.link("Back to the files", "/")
