"""The way of a table, from microdata or a file to what is published: built, judged, suppressed, written."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.errors import DiscreetError, InputError
from discreet.jobs.job import Job
from discreet.release.summary import tell_table
from discreet.tabular.table import Table
from discreet.web import theme
from discreet.web.beside import ask_to_replace, find_taken, is_released, put_beside
from discreet.web.cells import Grid, show_cell, show_key
from discreet.web.curve import Curve
from discreet.web.folder import Folder
from discreet.web.reading import describe, show_reading, take_beside
from discreet.web.table_desk import TableDesk

STEPS = {"table": "Table", "cells": "Rules and cells", "suppress": "Suppress", "write": "Write"}
MOST_DIMENSIONS = 4
MARK_NAMES = {
    "": "no mark",
    "unsafe": "unsafe",
    "frozen": "frozen: must be published",
    "preferred": "preferred: suppress it rather than others",
    "to avoid": "to avoid: spare it",
}


def add_pages(folder: Folder) -> None:
    """Add the pages to the app."""
    shows = {"table": _table, "cells": _cells, "suppress": _suppress, "write": _write}

    @ui.page("/table/{number}/{step}")
    async def steps(number: str, step: str) -> None:
        try:
            desk = TableDesk(folder, number if number.isdigit() else "0")
        except InputError as error:
            with theme.page(folder, "Not found"):
                theme.note(str(error), "bad")
            return
        step = step if step in STEPS else "table"
        done = desk.job("job")
        released = done is not None and bool(done.result())
        ready = desk.is_ready
        is_open = {"table": True, "cells": ready, "suppress": ready and desk.flagged.is_file(), "write": released}
        with theme.page(folder, desk.file.name):
            theme.title_bar(desk.file.name, desk.history, lambda: desk.go(step))
            theme.steps(f"/table/{desk.history.id}", STEPS, is_open, step)
            with theme.follows() as content:
                await ui.context.client.connected()
                with content:
                    try:
                        await shows[step](desk)
                    except DiscreetError as error:
                        theme.note(str(error), "bad")


async def _table(desk: TableDesk) -> None:
    if desk.is_built:
        await _build(desk)
        return
    table = await desk.read(desk.file)
    names = " × ".join(one.name for one in table.dimensions) or "no named dimensions"
    theme.lead(f"{len(table):,} cells by {names}, {len(table.primary):,} of them unsafe already.")
    with theme.panel():
        await Grid(table, chosen=lambda cell: _ask_of_cell(table, cell)).draw()
    with ui.element("div").classes("row-of end"):
        theme.primary("Next: rules and cells", lambda: desk.go("cells"), "next")


async def _build(desk: TableDesk) -> None:
    await take_beside(desk.folder, desk.history, desk.file.with_suffix(".toml"))
    try:
        found = await desk.inspect()
    except InputError as error:
        theme.note(str(error), "bad")
        with theme.panel("How the file is read"):
            _ask_reading(desk)
        return
    names = [column["name"] for column in found["columns"]]
    numbers = [column["name"] for column in found["columns"] if column["kind"] == "numeric"]
    hierarchies = sorted(path.name for path in desk.folder.path.glob("*.hrc"))
    theme.lead("Choose what to break down by, and what to sum up. All margins and sub-totals are made.")
    if desk.reading:
        theme.dim(f"The file is read so: {describe(desk.reading)}.")
    by = [str(one).partition("@") for one in desk.now.get("by", [])]
    with theme.panel("Broken down by"):
        choosers = []
        for at in range(MOST_DIMENSIONS):
            column, _, files = by[at] if at < len(by) else ("", "", "")
            with ui.element("div").classes("row-of"):
                one = _select(["", *names], "none", column, f"Dimension {at + 1}")
                choosers.append((one, _select(["", *hierarchies], "no hierarchy", files, "Hierarchy")))
    with theme.panel("Summed up"), ui.element("div").classes("row-of"):
        value = _select(["", *numbers], "count records", desk.now.get("value") or "", "Value")
        holding = _select(["", *names], "each record its own", desk.now.get("holding") or "", "Contributor")

    async def build() -> None:
        chosen = [f"{one.value}@{two.value}" if two.value else str(one.value) for one, two in choosers if one.value]
        if not chosen:
            ui.notify("Choose at least one dimension", type="warning")
            return
        said = {"by": chosen, "value": value.value or None, "holding": holding.value or None}
        if any(desk.now.get(key) != text for key, text in said.items()):
            desk.history.choose(**said, marks={})  # marks are of cells by their numbers
        try:
            await desk.build()
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        desk.go("cells")

    with ui.element("div").classes("row-of end"):
        theme.primary("Build the table", build, "build")


def _ask_reading(desk: TableDesk) -> None:
    def choose(reading: dict[str, Any]) -> None:
        desk.history.choose(reading=reading)
        desk.go("table")

    show_reading(desk.file.suffix, desk.reading, choose)


def _select(values: list[str], nothing: str, value: str, label: str) -> ui.select:
    chooser = ui.select({one: one or nothing for one in values}, value=value if value in values else "", label=label)
    return chooser.props("outlined dense options-dense").style("min-width:220px")


async def _cells(desk: TableDesk) -> None:
    await desk.build() if desk.is_built else None
    table = await desk.judge()
    theme.lead("Rules find the cells that tell too much of somebody. Mark single cells where you know better.")
    with theme.panel("Rules"):
        with ui.element("div").classes("row-of"):
            rules = desk.now.get("rules", {})
            fields: dict[str, Any] = {
                "p": ui.number("p %", value=rules.get("p"), min=0, max=100),
                "threshold": ui.number("Least contributors", value=rules.get("threshold"), min=1, precision=0),
                "range": ui.number("Their range, %", value=rules.get("range"), min=0, placeholder="30"),
                "dominance": ui.input(
                    "Dominance n,k",
                    value=",".join(f"{one:g}" for one in rules.get("dominance", [])),
                    placeholder="1,75",
                ),
                "zeros": ui.number("Zeros, up to", value=rules.get("zeros"), min=0),
            }
            for each in fields.values():
                each.props("outlined dense debounce=500").style("width:160px")
        told = theme.dim("").mark("effect")
    place = ui.element("div").classes("content")

    async def show() -> None:
        told.set_text(_tell_effect(desk, table))
        place.clear()
        with place:
            with theme.panel():
                show_key()
                grid = Grid(table, marks=desk.now.get("marks", {}), chosen=choose)
            with ui.element("div").classes("row-of end"):
                theme.primary("Next: suppress", lambda: desk.go("suppress"), "next").set_enabled(len(table.primary) > 0)
        await grid.draw()

    async def choose(cell: int) -> None:
        await _ask_of_cell(table, cell, desk, again)

    async def again() -> None:
        nonlocal table
        try:
            table = await desk.judge()
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        await show()

    async def change() -> None:
        try:
            pair = [float(one) for one in (fields["dominance"].value or "").split(",") if one.strip()]
        except ValueError:
            pair = [0.0]
        if len(pair) not in (0, 2):
            ui.notify("Dominance is two numbers, as 1,75", type="warning")
            return
        said = {key: field.value for key, field in fields.items() if key != "dominance"}
        said |= {"threshold": int(said["threshold"] or 0), "dominance": pair and [int(pair[0]), pair[1]]}
        alone = {key for key, value in said.items() if value} <= {"range"}
        desk.history.choose(rules={} if alone else {key: value for key, value in said.items() if value})
        await again()

    for each in fields.values():
        each.on_value_change(change)
    await show()


def _tell_effect(desk: TableDesk, table: Table) -> str:
    """How many cells are unsafe, and by which rule."""
    found = Counter(rule for words in table.rule_words().drop_nulls().to_list() for rule in str(words).split("+"))
    told = f"{len(table.primary):,} of {len(table):,} cells are unsafe"
    if found:
        told += f": {', '.join(f'{number:,} by {rule}' for rule, number in found.items())}"
    words = "; ".join(f"{name}: {text}" for name, text in table.rules.get("words", {}).items())
    return f"{told}. {words}" if desk.is_judged else f"No rule is chosen yet; {told}."


async def _ask_of_cell(
    table: Table, cell: int, desk: TableDesk | None = None, again: Callable[[], Any] | None = None
) -> None:
    """Show a cell, and let it be marked."""
    with ui.dialog() as dialog, ui.card().style("min-width:min(460px,92vw)"):
        dialog.on("hide", dialog.delete)
        dialog.open()
        place = ui.element("div").style("width:100%")
        if desk is not None and again is not None:
            _choose_mark(desk, cell, dialog.close, again)
        else:
            with ui.element("div").classes("row-of end"):
                theme.secondary("Close", dialog.close, "close-cell")
    with place:
        await show_cell(table, cell)


def _choose_mark(desk: TableDesk, cell: int, close: Callable[[], object], again: Callable[[], Any]) -> None:
    mark = ui.select(MARK_NAMES, value=desk.now.get("marks", {}).get(str(cell), ""), label="Mark")
    mark.props("outlined dense options-dense").style("width:100%")

    async def keep() -> None:
        marks = {one: said for one, said in desk.now.get("marks", {}).items() if one != str(cell)}
        desk.history.choose(marks=marks | ({str(cell): mark.value} if mark.value else {}))
        close()
        await again()

    with ui.element("div").classes("row-of end"):
        theme.secondary("Close", close, "close-cell")
        theme.primary("Mark it", keep, "mark-cell")


async def _suppress(desk: TableDesk) -> None:
    theme.lead("Further cells are left out, at the least cost, until no unsafe one can be worked out.")
    job = desk.job("job")
    with theme.panel("The search"), ui.element("div").classes("row-of"):
        seconds = ui.number("Seconds of search", value=desk.now.get("time", 10), min=1, step=5).props("outlined dense")
        seed = ui.number("Seed", value=0, min=0, precision=0, step=1).props("outlined dense")

        async def begin() -> None:
            try:
                await desk.search({"time": float(seconds.value or 10), "seed": int(seed.value or 0)})
            except DiscreetError as error:
                ui.notify(str(error), type="warning")
                return
            desk.go("suppress")

        theme.primary("Suppress", begin, "suppress")
    if job is None:
        return
    if not desk.is_current(job):
        theme.note("Rules or marks have changed since this search: suppress again.", "warn")
    Curve(desk.folder, job, lambda: desk.go("suppress"), unit="", measure="cost")
    if job.result():
        await _show_pattern(desk, job)


def _show_audit(job: Job) -> None:
    """What an attacker could still work out, as the command says it."""
    account = job.result()["printed"]
    checked = account["verification"]
    theme.note(
        f"Who knows all that is published cannot work out any of the {checked['judged']:,} unsafe cells."
        if checked["passed"]
        else "Some unsafe cells are not protected.",
        "good" if checked["passed"] else "bad",
    )
    theme.entries(tell_table(account))


async def _show_pattern(desk: TableDesk, job: Job) -> None:
    """What was found: the audit, and the table beside what the public will see."""
    with theme.panel("The audit"):
        _show_audit(job)
    table = await desk.read(job.path / "internal.parquet")
    faces = {"The table": False, "What the public will see": True}
    await Grid(table, faces=faces, chosen=lambda cell: _ask_of_cell(table, cell)).draw()
    show_key()
    with ui.element("div").classes("row-of end"):
        theme.primary("Next: write", lambda: desk.go("write"), "next").set_enabled(desk.is_current(job))


async def _write(desk: TableDesk) -> None:
    job, written = desk.job("job"), desk.job("written")
    if job is None or not job.result():
        theme.note("There is no pattern yet; go back one step.", "warn")
        return
    if written is None:
        _ask_for_name(desk, job)
        return

    def again() -> None:
        desk.history.choose(written=None)
        desk.go("write")

    if not is_released(written):
        Curve(desk.folder, written, lambda: desk.go("write"), unit="", measure="cost")
        if written.state().state not in ("failed", "stopped"):
            return
        theme.dim("No file has taken the name.")
    else:
        put_beside(desk.folder, desk.history, written)
        about = written.request()["about"]
        with theme.panel("Written"):
            theme.note(f"{about['output']} is released.", "good")
            beside = desk.folder.path.glob(f"{glob.escape(about['output'])}.*")
            theme.grid(("file",), [[name] for name in sorted({about["output"], *(path.name for path in beside)})])
            theme.link("Have it reviewed", "/review")
        with theme.panel("Verified"):
            _show_audit(written)
            theme.dim("It is the pattern that was looked at, compared as .csv.")
        with theme.panel("The commands that repeat it"):
            theme.code("\n".join(about["commands"]))
            config = desk.folder.path / f"{about['output']}.toml"
            if config.is_file():
                theme.dim(f"with {config.name}:")
                theme.code(config.read_text(encoding="utf-8"))
    with ui.element("div").classes("row-of end"):
        theme.secondary("Write another", again, "again")


def _ask_for_name(desk: TableDesk, job: Job) -> None:
    with theme.panel("Files"):
        name = ui.input("Name of the public table", value=f"{desk.file.stem}-public.csv").props("outlined dense")
        name.style("width:min(420px,100%)").mark("output")
        theme.dim("Beside it: its record, which may be published, and the evidence and the tables, which are internal.")

        async def begin(*, replace: bool = False) -> None:
            output = str(name.value or "")
            try:
                taken = find_taken(desk.folder, desk.names_of(output))
                if taken and not replace:
                    ask_to_replace(desk.folder, taken, lambda: begin(replace=True))
                    return
                await desk.write(job, output, replace=bool(taken))
            except DiscreetError as error:
                ui.notify(str(error), type="warning")
                return
            desk.go("write")

        with ui.element("div").classes("row-of end"):
            theme.primary("Write the table", begin, "write")
