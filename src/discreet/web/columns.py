"""The step at which the steward says what each column is to the release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from nicegui import run, ui

from discreet.configuration import load
from discreet.data.files import read
from discreet.data.roles import ROLES
from discreet.errors import InputError
from discreet.web import theme
from discreet.web.desk import Desk

SAYS = {
    "quasi": "a quasi-identifier: others may know it, so it is protected",
    "confidential": "nobody else knows it: it is released as it is",
    "identifier": "it names somebody: it is not released",
    "by": "a stratum: it is released, and each stratum is protected on its own",
    "ignore": "it is not released",
}
KINDS = ("numeric", "nominal", "ordinal", "date")
HOWS = {"usual": "the usual", "mean": "the mean", "median": "the median", "mode": "the mode"}
# The most categories that are put into an order by hand.
MOST_LEVELS = 60


async def show_columns(desk: Desk) -> None:
    found = await desk.inspect()
    if not desk.now["columns"]:
        columns = {column["name"]: {"type": _type(column)} for column in found["columns"]}
        desk.history.choose(columns=columns)
    theme.lead(
        f"{found['records']:,} records, {len(found['columns'])} columns. Say for each column what it is to the release."
    )
    beside = desk.file.with_suffix(".toml")

    @ui.refreshable
    def table() -> None:
        with theme.panel():
            with ui.element("div").classes("row-of"):
                theme.secondary("Take the hints", take_hints, "hints")
                if beside.is_file():
                    theme.secondary(f"Take the roles of {beside.name}", take_file, "from-file")
                ui.element("div").style("flex:1")
                theme.secondary("Show some records", preview, "preview")
            with ui.expansion("What the roles mean").style("width:100%"), ui.element("div").classes("legend"):
                for role, words in SAYS.items():
                    with ui.element("b"):
                        ui.label(role)
                    ui.label(words)
            with ui.element("div").classes("columns"):
                with ui.element("div").classes("column-row column-head soft"):
                    for word in ("Column", "Role", "Type", "Weight", "Replaced by"):
                        ui.label(word)
                for column in found["columns"]:
                    _row(desk, column, told.refresh)

    def take_hints() -> None:
        columns = desk.now["columns"]
        for column in found["columns"]:
            said = columns[column["name"]]
            said["role"] = said.get("role") or column["proposed"]["role"]
        desk.history.choose(columns=columns)
        table.refresh()
        told.refresh()

    def take_file() -> None:
        try:
            columns = _from_configuration(desk, beside)
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        desk.history.choose(columns=columns)
        table.refresh()
        told.refresh()

    async def preview() -> None:
        await _preview(desk)

    @ui.refreshable
    def told() -> None:
        todo = desk.undecided
        roles = [said.get("role") for said in desk.now["columns"].values()]
        if todo:
            names = ", ".join(todo[:6]) + (" …" if len(todo) > 6 else "")
            theme.note(f"{len(todo)} of {len(roles)} columns are undecided: {names}", "warn").mark("todo")
        elif "quasi" not in roles:
            theme.note("No column is a quasi-identifier: there is nothing to protect.", "warn").mark("todo")
        with ui.element("div").classes("row-of end"):
            button = theme.primary("Next: the promise", lambda: desk.go("promise"), "next")
            button.set_enabled(not todo and "quasi" in roles)

    table()
    told()


def _type(column: dict[str, Any]) -> str:
    kind: str = column["kind"]
    return kind if kind in KINDS else "nominal"


def _row(desk: Desk, column: dict[str, Any], decided: Callable[[], object]) -> None:
    name = column["name"]
    said = desk.now["columns"].get(name, {})
    with ui.element("div").classes("column-row") as row:
        with ui.element("div").classes("wide"):
            ui.label(name).classes("name")
            missing = f", {column['missing']:,} missing" if column["missing"] else ""
            theme.dim(f"{column['levels']:,} levels{missing}")
        role = ui.select(list(ROLES), value=said.get("role")).mark(f"role-{name}")
        hint = ui.label().classes("soft open wide")

        def show_hint() -> None:
            chosen = desk.now["columns"].get(name, {}).get("role")
            row.classes(remove="todo") if chosen else row.classes(add="todo")
            proposed = column["proposed"]
            hint.set_text(f"Hint: {proposed['role']}, {proposed['reason']}")
            hint.set_visibility(not chosen)
            for each in (weight, how):
                each.set_enabled(chosen == "quasi")

        def choose_role(event: Any) -> None:
            desk.choose_for(name, role=event.value)
            show_hint()
            decided()

        role.on_value_change(choose_role)
        kind = ui.select(list(KINDS), value=said.get("type")).mark(f"type-{name}")
        weight = ui.number(value=said.get("weight", 1), min=0.01, step=0.5, prefix="×")
        weight.on_value_change(lambda event: desk.choose_for(name, weight=event.value if event.value != 1 else None))
        how = ui.select(HOWS, value=said.get("aggregate") or "usual")
        how.on_value_change(
            lambda event: desk.choose_for(name, aggregate=None if event.value == "usual" else event.value)
        )
        for each, words in ((role, "Role"), (kind, "Type"), (weight, "Weight"), (how, "Replaced by")):
            each.props(f'outlined dense options-dense aria-label="{words}"')
        hint.move(row)
        order = ui.element("div").classes("open")

        async def choose_kind(event: Any) -> None:
            desk.choose_for(name, type=event.value, order=None)
            await show_order()

        async def show_order() -> None:
            order.clear()
            now = desk.now["columns"].get(name, {})
            if now.get("type") == "ordinal":
                with order:
                    await _order(desk, name, now.get("order"))

        kind.on_value_change(choose_kind)
        if said.get("type") == "ordinal" and said.get("order"):
            with order:
                _drag(desk, name, said["order"])
        show_hint()


async def _order(desk: Desk, name: str, order: list[str] | None) -> None:
    """The categories of an ordinal column, to be put into their order by drag and drop."""
    if order is None:
        levels = await run.io_bound(_levels, desk, name)
        if levels is None:
            theme.dim(f"More than {MOST_LEVELS} categories: codes that are ordered as numbers need no order.")
            return
        order = levels
        desk.choose_for(name, order=order)
    _drag(desk, name, order)


def _levels(desk: Desk, name: str) -> list[str] | None:
    values = read(desk.file).frame[name].drop_nulls().unique()
    return None if len(values) > MOST_LEVELS else sorted(str(value) for value in values)


def _drag(desk: Desk, name: str, order: list[str]) -> None:
    theme.dim("From lowest to highest; drag, or move with the arrow keys:")
    line = ui.element("div").classes("chipline")

    def draw() -> None:
        line.clear()
        with line:
            for level in order:
                chip = ui.label(level).classes("drag").props("tabindex=0 draggable=true")
                chip.on("dragstart", lambda level=level: held.append(level))
                chip.on("dragover.prevent", lambda: None, throttle=1.0)
                chip.on("drop", lambda level=level: move(held.pop(), order.index(level)))
                chip.on("keydown.left", lambda level=level: move(level, order.index(level) - 1))
                chip.on("keydown.right", lambda level=level: move(level, order.index(level) + 1))

    held: list[str] = []

    def move(level: str, place: int) -> None:
        order.remove(level)
        order.insert(max(0, place), level)
        desk.choose_for(name, order=order)
        draw()

    draw()


def _from_configuration(desk: Desk, path: Path) -> dict[str, Any]:
    """The columns as a configuration in the folder says them."""
    said = load(path)
    columns: dict[str, Any] = desk.now["columns"]
    for role, names in said.roles.items():
        for name in names:
            if name in columns:
                columns[name]["role"] = role
    for name, detail in said.details.items():
        if name in columns:
            kind, order = detail.get("kind"), detail.get("order")
            columns[name] |= {"type": kind} if kind else {}
            columns[name] |= {"order": list(order)} if order else {}
            columns[name] |= {key: detail[key] for key in ("weight", "aggregate") if key in detail}
    return columns


def _head(path: Path, count: int) -> pl.DataFrame:
    return read(path).frame.head(min(count, 100))


async def _preview(desk: Desk) -> None:
    with ui.dialog() as dialog, ui.card().style("max-width:95vw"):
        theme.heading("Some records", 2)
        theme.note("These are values of respondents. They are shown here only, and kept nowhere.", "warn")
        count = ui.number("How many records", value=5, min=1, max=100, precision=0).props("outlined dense")
        place = ui.element("div").style("width:100%")

        async def show() -> None:
            frame = await run.io_bound(_head, desk.file, int(count.value or 1))
            if frame is None:
                return
            rows = [["" if value is None else str(value) for value in row] for row in frame.rows()]
            place.clear()
            with place:
                theme.grid(frame.columns, rows)

        with ui.element("div").classes("row-of"):
            theme.primary("Show them", show, "show-records")
            theme.secondary("Close", dialog.close, "close-preview")
    dialog.open()
