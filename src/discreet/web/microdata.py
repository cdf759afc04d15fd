"""The way of microdata from a file to its release, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.requests import find_problems
from discreet.web import look, theme, write
from discreet.web.columns import show_columns
from discreet.web.desk import Desk
from discreet.web.folder import Folder
from discreet.web.promise import show_promise
from discreet.web.protect import show_protect

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
        with theme.page(folder, desk.source.title):
            theme.title_bar(desk.source.title, desk.history, lambda: desk.go(step))

            @ui.refreshable
            def above() -> None:
                theme.steps(f"/data/{desk.history.id}", STEPS, _open_steps(desk), step)

            above()
            desk.refresh_steps = above.refresh
            with theme.follows() as content:
                await ui.context.client.connected()
                with content:
                    try:
                        await shows[step](desk)
                    except InputError as error:
                        theme.note(str(error), "bad")


def _open_steps(desk: Desk) -> dict[str, bool]:
    decided = bool(desk.now["columns"]) and not find_problems(desk.now["columns"])
    tried = decided and bool(look.candidates(desk))
    return {"columns": True, "promise": decided, "protect": decided, "look": tried, "write": tried}
