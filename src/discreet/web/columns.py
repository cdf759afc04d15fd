"""The step at which the steward says what each column is to the release."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import run, ui

from discreet.configuration import DETAILS, load
from discreet.data.roles import REST
from discreet.errors import InputError
from discreet.jobs.requests import FURTHER, find_problems
from discreet.web import theme
from discreet.web.desk import Desk
from discreet.web.details import MORE, check_files, read_source, show_details, show_preview
from discreet.web.reading import READING, show_reading, take_beside

SAYS = {
    "quasi": "a quasi-identifier: others may know it, so it is protected",
    "confidential": "nobody else knows it: it is released as it is",
    "identifier": "it names somebody: it is not released",
    "by": "a stratum: it is released, and each stratum is protected on its own",
    "ignore": "it is not released",
    "household": "says which records are one household: whole households look alike; they get new numbers",
    "person": "says whose a record is, where persons have several: k persons look alike; it is not released",
    "sampling weight": "how many of the population a record stands for: means are weighted by it; it is not released",
    "sampling weight, released": "the same, and released as it is: it may tell region or size",
    "sampling weight, averaged": "the same, and protected as a quasi-identifier",
}
KINDS = ("numeric", "nominal", "ordinal", "date")
HOWS = {"usual": "the usual", "mean": "the mean", "median": "the median", "mode": "the mode"}
# The most categories that are put into an order by hand.
MOST_LEVELS = 60
# What a browser moves within a page loses the focus, and with it the next key: it gets it back before any key is heard.
STAY = """({currentTarget: chip}) => {
    const line = chip.parentNode;
    line.focused = chip;
    line.watch ??= new MutationObserver(() => document.activeElement === document.body && line.focused.focus());
    line.watch.observe(line, {childList: true});
}"""


async def show_columns(desk: Desk) -> None:
    """The page."""
    beside = desk.folder.path / f"{desk.source.stem}.toml"
    if desk.source.suffix:
        await take_beside(desk.folder, desk.history, beside)
    try:
        found = await desk.inspect(decided=False)
    except InputError as error:
        theme.note(str(error), "bad")
        with theme.panel("How the file is read"):
            _ask_reading(desk)
        return
    if not desk.now["columns"]:
        columns = {column["name"]: {"type": _type(column)} for column in found["columns"]}
        desk.history.choose(columns=columns)
    theme.lead(
        f"{found['records']:,} records, {len(found['columns'])} columns. Say for each column what it is to the release."
    )

    @ui.refreshable
    async def table() -> None:
        with theme.panel():
            with ui.element("div").classes("row-of"):
                theme.secondary("Take the hints", take_hints, "hints")
                if beside.is_file():
                    theme.secondary(f"Take the roles of {beside.name}", take_file, "from-file")
                ui.element("div").style("flex:1")
                theme.secondary("Show some records", lambda: show_preview(desk), "preview")
            if desk.source.suffix:
                with ui.expansion("How the file is read").style("width:100%"):
                    _ask_reading(desk)
            with ui.expansion("What the roles mean").style("width:100%"), ui.element("div").classes("legend"):
                for role, words in SAYS.items():
                    with ui.element("b"):
                        ui.label(role)
                    ui.label(words)
            with ui.element("div").classes("columns"):
                with ui.element("div").classes("column-row column-head soft"):
                    for word in ("Column", "Role", "Type", "Weight", "Replaced by", ""):
                        ui.label(word)
                for column in found["columns"]:
                    _row(desk, column, told.refresh)
                    await asyncio.sleep(0)  # other pages need not wait for all rows of this one

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
            desk.history.choose(**_from_configuration(desk, beside))
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        table.refresh()
        told.refresh()

    @ui.refreshable
    def told() -> None:
        problems = find_problems(desk.now["columns"])
        for words in problems:
            theme.note(words, "warn")
        with ui.element("div").classes("row-of end"):
            button = theme.primary("Next: the promise", lambda: desk.go("promise"), "next")
            button.set_enabled(not problems)
        desk.refresh_steps()

    await table()
    told()


def _ask_reading(desk: Desk) -> None:
    def choose(reading: dict[str, Any]) -> None:
        desk.history.choose(reading=reading, columns={})  # under other names, or of other kinds
        desk.go("columns")

    show_reading(desk.source.suffix, desk.now.get("reading") or {}, choose)


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
            theme.dim(f"{column['levels']:,} level{'' if column['levels'] == 1 else 's'}{missing}")
        role = ui.select(list(SAYS), value=said.get("role")).mark(f"role-{name}")
        kind = ui.select(list(KINDS), value=said.get("type")).mark(f"type-{name}")
        weight = ui.number(value=said.get("weight") or 1, min=0.01, step=0.5, prefix="×").mark(f"weight-{name}")
        how = ui.select(HOWS, value=said.get("aggregate") or "usual").mark(f"aggregate-{name}")
        for each, words in ((role, "Role of"), (kind, "Type of"), (weight, "Weight of"), (how, "What replaces")):
            each.props("outlined dense options-dense")
            each.props["aria-label"] = f"{words} {name}"
        more = ui.button(icon="tune", on_click=lambda: show_details(desk, name, show_more)).props("flat round dense")
        more.classes("more").props["aria-label"] = f"More of {name}"
        with more:
            ui.tooltip("More: coarsen, round, code extremes, missing values")
        hints = ui.element("div").classes("open")
        order = ui.element("div").classes("open")

        def show_more() -> None:
            now = desk.now["columns"].get(name, {})
            chosen = now.get("role")
            row.classes(remove="undecided") if chosen else row.classes(add="undecided")
            for each in (weight, how):
                each.set_enabled(chosen in ("quasi", "sampling weight, averaged"))
            hints.clear()
            with hints:
                for words in _hints(column, now):
                    theme.dim(words)
            more.props(f"color={'primary' if any(now.get(key) for key in MORE) else 'grey'}")

        def choose_role(event: Any) -> None:
            desk.choose_for(name, role=event.value)
            show_more()
            decided()

        async def choose_kind(event: Any) -> None:
            desk.choose_for(name, type=event.value, order=None)
            show_more()
            await show_order()

        async def show_order() -> None:
            order.clear()
            now = desk.now["columns"].get(name, {})
            if now.get("type") == "ordinal":
                with order:
                    await _order(desk, name, now.get("order"))

        role.on_value_change(choose_role)
        kind.on_value_change(choose_kind)
        weight.on_value_change(
            lambda event: desk.choose_for(name, weight=event.value if event.value and event.value != 1 else None)
        )
        how.on_value_change(
            lambda event: desk.choose_for(name, aggregate=None if event.value == "usual" else event.value)
        )
        if said.get("type") == "ordinal" and said.get("order"):
            with order:
                _drag(desk, name, said["order"])
        show_more()


def _hints(column: dict[str, Any], said: dict[str, Any]) -> list[str]:
    """What the steward should know of a column: what it looks like, and what was said of it beside the row."""
    found = []
    if not said.get("role"):
        found.append(f"Hint: {column['proposed']['role']}, {column['proposed']['reason']}")
    looks_odd = "codes" in column["assumed"] or column["kind"] == "unclear"
    if looks_odd and said.get("type") == _type(column) and said.get("role") in (None, "quasi"):
        found.append(f"Hint: {column['assumed']}")
    own = [f"{words.lower()} {said[key]}" for key, (words, _) in MORE.items() if said.get(key)]
    return [*found, *(["; ".join(own)] if own else [])]


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
    values = read_source(desk).frame[name].drop_nulls().unique()
    return None if len(values) > MOST_LEVELS else sorted(str(value) for value in values)


def _drag(desk: Desk, name: str, order: list[str]) -> None:
    theme.dim("From lowest to highest; drag, or move with the arrow keys:")
    line = ui.element("div").classes("chipline")
    line.props["aria-label"] = f"Order of {name}"
    chips: dict[str, ui.label] = {}
    held: list[str] = []

    def move(level: str, place: int) -> None:
        place = min(max(0, place), len(order) - 1)
        order.remove(level)
        order.insert(place, level)
        desk.choose_for(name, order=order)
        chips[level].move(line, place)

    def drop(level: str) -> None:
        if held:
            move(held.pop(), order.index(level))

    with line:
        for level in order:
            chip = chips[level] = ui.label(level).classes("drag").props("tabindex=0 draggable=true")
            # Firefox drags nothing that carries no data.
            take = "(event) => { event.dataTransfer.setData('text/plain', ''); emit(); }"
            chip.on("focus", js_handler=STAY)
            chip.on("dragstart", lambda level=level: held.append(level), js_handler=take)
            chip.on("dragover", js_handler="(event) => event.preventDefault()")
            chip.on("drop.prevent", lambda level=level: drop(level), [])
            chip.on("keydown.left.prevent", lambda level=level: move(level, order.index(level) - 1), [])
            chip.on("keydown.right.prevent", lambda level=level: move(level, order.index(level) + 1), [])


def _from_configuration(desk: Desk, path: Path) -> dict[str, Any]:
    """The choices as a configuration in the folder says them: the columns, and how the file is read."""
    said = load(path)
    columns: dict[str, Any] = desk.now["columns"]
    for role, names in said.roles.items():
        for name in columns if set(names) & set(REST) else []:
            columns[name]["role"] = columns[name].get("role") or role
        for name in names:
            if name in columns:
                columns[name]["role"] = role
    inside = {inner: key for key, inner in DETAILS.items()}
    for name, detail in said.details.items():
        if name in columns:
            plain = {key: list(value) if isinstance(value, tuple) else value for key, value in detail.items()}
            columns[name] |= {inside[key]: value for key, value in plain.items() if value is not None}
            check_files(desk, columns[name])
    for role, (option, beside) in FURTHER.items():
        own = said.options.get(option)
        if own in columns and columns[own].get("role", beside) in (beside, None):
            columns[own]["role"] = role
    common = {key: said.options[key] for key in ("missing",) if key in said.options}
    common |= {key: list(value) if isinstance(value, tuple) else value for key, value in said.values.items()}
    return {"columns": columns, "reading": common | {key: said.reading[key] for key in READING if key in said.reading}}
