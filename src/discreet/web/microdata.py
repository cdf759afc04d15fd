"""The way of microdata from a file to its release, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.web import look, theme, write
from discreet.web.columns import show_columns
from discreet.web.desk import Desk
from discreet.web.folder import Folder
from discreet.web.protect import show_promise, show_protect

STEPS = {"columns": "Columns", "promise": "Promise", "protect": "Protect", "look": "Look", "write": "Write"}


def add_pages(folder: Folder) -> None:
    """Add the pages to the app."""
    shows: dict[str, Callable[[Desk], Any]] = {
        "columns": show_columns,
        "promise": show_promise,
        "protect": show_protect,
        "look": look.show,
        "write": write.show,
    }

    @ui.page("/data/{number}/{step}")
    async def steps(number: str, step: str) -> None:
        try:
            desk = Desk(folder, number if number.isdigit() else "0")
        except InputError as error:
            with theme.page(folder, "Not found"):
                theme.note(str(error), "bad")
            return
        step = step if step in STEPS else "columns"
        with theme.page(folder, desk.file.name):
            with ui.element("div").classes("row-of").style("width:100%"):
                theme.heading(desk.file.name)
                ui.element("div").style("flex:1")
                undo = ui.button("Undo", icon="undo", on_click=lambda: _undo(desk, step))
                undo.props("flat dense color=primary").mark("undo")
            _show_steps(desk, step)
            # The page is there at once; what must be counted first follows.
            with ui.element("div").classes("row-of soft") as waiting:
                ui.spinner(size="sm")
                ui.label("Looking at the file …")
            content = ui.element("div").classes("content")
            await ui.context.client.connected()
            with content:
                try:
                    await shows[step](desk)
                except InputError as error:
                    theme.note(str(error), "bad")
            waiting.delete()


def _undo(desk: Desk, step: str) -> None:
    if not desk.history.can_undo:
        ui.notify("There is nothing to undo")
        return
    desk.history.undo()
    desk.go(step)


def _show_steps(desk: Desk, here: str) -> None:
    decided = bool(desk.now["columns"]) and not desk.undecided
    tried = decided and bool(desk.now.get("candidates"))
    open_steps = {"columns": True, "promise": decided, "protect": decided, "look": tried, "write": tried}
    with ui.element("nav").classes("steps").props('aria-label="Steps"'):
        for number, (step, word) in enumerate(STEPS.items(), 1):
            target = f"/data/{desk.history.id}/{step}"
            mark = ui.link(target=target) if open_steps[step] else ui.element("span")
            with mark.classes(("here" if step == here else "") if open_steps[step] else "off"):
                ui.label(str(number)).classes("dot")
                ui.label(word).classes("word")
