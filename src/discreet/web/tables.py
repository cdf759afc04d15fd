"""The way of a table, from microdata or a file to what is published: built, judged, suppressed, written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import run, ui

from discreet.errors import DiscreetError, InputError
from discreet.jobs.history import PLACE, History
from discreet.jobs.job import CHECKPOINT, Job, put
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import MARKS, as_typed, judge, suppress, tabulate, write_marks
from discreet.release.atomic import write_contents
from discreet.tabular.files.formats import read_table
from discreet.tabular.table import Table
from discreet.web import theme
from discreet.web.cells import Grid, show_cell, show_key
from discreet.web.curve import Curve
from discreet.web.folder import Folder

STEPS = {"table": "Table", "cells": "Rules and cells", "suppress": "Suppress", "write": "Write"}
OUTPUTS = (".csv", ".parquet", ".xlsx")
MOST_DIMENSIONS = 4


class TableDesk:
    """One table on the way to its release: the choices so far, and the files of its making."""

    def __init__(self, folder: Folder, number: str) -> None:
        self.folder = folder
        self.history = History(folder.path / PLACE / f"{int(number):04d}.json")
        if self.now.get("kind") != "table":
            raise InputError("there are no such choices")
        self.file = folder.file(self.now["file"])
        self.work = folder.path / PLACE / f"{self.history.id}.work"
        self.work.mkdir(mode=0o700, exist_ok=True)

    @property
    def now(self) -> dict[str, Any]:
        """The choices as they stand."""
        return self.history.now

    @property
    def is_built(self) -> bool:
        """Whether the table is made of microdata here, rather than read from a file."""
        return bool(self.now.get("built"))

    def within(self, path: Path) -> str:
        """A path as commands name it."""
        return str(path.relative_to(self.folder.path))

    @property
    def source(self) -> Path:
        """The file of the table."""
        return self.work / "table.parquet" if self.is_built else self.file

    @property
    def flagged(self) -> Path:
        """The file of the table with its unsafe cells."""
        return self.work / "flagged.parquet"

    def files_of_marks(self, name: Callable[[str], Path]) -> dict[str, Path]:
        """Where the files of marked cells are, by the option that names each."""
        said = set(self.now.get("marks", {}).values())
        return {option: name(option) for mark, option in MARKS.items() if mark in said}

    def put_marks(self, files: dict[str, Path]) -> None:
        """Write the files of marked cells."""
        for mark, option in MARKS.items():
            if option in files:
                put(files[option], write_marks(self.now["marks"], mark))

    async def build(self) -> None:
        """Make the table of the microdata."""
        await self.folder.do([*tabulate(self.now, self.within(self.work / "table.parquet")), "--force"])

    async def judge(self) -> Table:
        """Find the unsafe cells, and give the table with them."""
        files = self.files_of_marks(lambda option: self.work / f"{option}.csv")
        self.put_marks(files)
        named = {option: self.within(path) for option, path in files.items()}
        await self.folder.do([*judge(self.now, self.within(self.source), self.within(self.flagged), named), "--force"])
        return await self.read(self.flagged)

    async def read(self, path: Path) -> Table:
        """Read a table beside the server's other work."""
        table = await run.io_bound(read_table, path)
        if table is None:
            raise InputError("the app is about to end")
        return table

    def go(self, step: str) -> None:
        """Go to a step."""
        ui.navigate.to(f"/table/{self.history.id}/{step}")

    def job(self, key: str) -> Job | None:
        """A job of the choices, if it is there still."""
        try:
            return Jobs(self.folder.path).get(self.now[key]) if self.now.get(key) else None
        except InputError:
            return None


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
        ready = desk.source.is_file() and (not desk.is_built or bool(desk.now.get("by")))
        done = desk.job("job")
        released = done is not None and bool(done.result())
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
    if not desk.is_built:
        table = await desk.read(desk.file)
        theme.lead(
            f"{len(table):,} cells by {' × '.join(one.name for one in table.dimensions) or 'no named dimensions'}."
        )
        if not table.dimensions:
            theme.note("A table without dimensions has no grid; use the commands for it.", "warn")
            return
        Grid(table)
        with ui.element("div").classes("row-of end"):
            theme.primary("Next: rules and cells", lambda: desk.go("cells"), "next")
        return
    found = await desk.folder.ask(["inspect", desk.file.name], about=desk.file)
    names = [column["name"] for column in found["columns"]]
    numbers = [column["name"] for column in found["columns"] if column["kind"] == "numeric"]
    hierarchies = sorted(path.name for path in desk.folder.path.glob("*.hrc"))
    theme.lead("Choose what to break down by, and what to sum up. All margins and sub-totals are made.")
    by = [str(one).partition("@") for one in desk.now.get("by", [])]
    with theme.panel("Broken down by"):
        choosers = []
        for at in range(MOST_DIMENSIONS):
            column, _, files = by[at] if at < len(by) else ("", "", "")
            with ui.element("div").classes("row-of"):
                one = ui.select(
                    {"": "none", **{name: name for name in names}}, value=column, label=f"Dimension {at + 1}"
                )
                two = ui.select(
                    {"": "no hierarchy", **{name: name for name in hierarchies}}, value=files, label="Hierarchy"
                )
                for each in (one, two):
                    each.props("outlined dense options-dense").style("min-width:220px")
                choosers.append((one, two))
    with theme.panel("Summed up"), ui.element("div").classes("row-of"):
        value = ui.select({"": "count records", **{name: name for name in numbers}}, value=desk.now.get("value") or "")
        holding = ui.select(
            {"": "each record its own", **{name: name for name in names}}, value=desk.now.get("holding") or ""
        )
        for each, label in ((value, "Value"), (holding, "Contributor")):
            each.props(f'outlined dense options-dense label="{label}"').style("min-width:220px")

    async def build() -> None:
        chosen = [f"{one.value}@{two.value}" if two.value else str(one.value) for one, two in choosers if one.value]
        if not chosen:
            ui.notify("Choose at least one dimension", type="warning")
            return
        desk.history.choose(by=chosen, value=value.value or None, holding=holding.value or None, marks={})
        try:
            await desk.build()
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        desk.go("cells")

    with ui.element("div").classes("row-of end"):
        theme.primary("Build the table", build, "build")


async def _cells(desk: TableDesk) -> None:
    table = await desk.judge() if desk.now.get("rules") or desk.now.get("marks") else await desk.read(desk.source)
    theme.lead("Rules find the cells that tell too much of somebody. Mark single cells where you know better.")
    with theme.panel("Rules"):
        with ui.element("div").classes("row-of"):
            rules = desk.now.get("rules", {})
            p = ui.number("p %", value=rules.get("p"), min=0, max=100)
            least = ui.number("Least contributors", value=rules.get("threshold"), min=1, precision=0)
            dominance = ui.input("Dominance n,k", value=rules.get("dominance") or "", placeholder="1,75")
            for each in (p, least, dominance):
                each.props("outlined dense debounce=500").style("width:170px")
        told = theme.dim("")
    place = ui.element("div").classes("content")

    def show() -> None:
        unsafe = len(table.primary)
        words = "; ".join(f"{name}: {text}" for name, text in table.rules.get("words", {}).items())
        told.set_text(f"{unsafe:,} of {len(table):,} cells are unsafe. {words}" if words else "No rule is chosen yet.")
        place.clear()
        with place:
            with theme.panel():
                show_key()
                Grid(table, marks=desk.now.get("marks", {}), chosen=choose)
            with ui.element("div").classes("row-of end"):
                theme.primary("Next: suppress", lambda: desk.go("suppress"), "next").set_enabled(unsafe > 0)

    def choose(cell: int) -> None:
        _ask_of_cell(desk, table, cell, again)

    async def again() -> None:
        nonlocal table
        try:
            table = await desk.judge()
        except InputError as error:
            ui.notify(str(error), type="warning")
            return
        show()

    async def change() -> None:
        said = {"p": p.value, "threshold": least.value, "dominance": (dominance.value or "").strip()}
        desk.history.choose(rules={key: value for key, value in said.items() if value})
        await again()

    for each in (p, least, dominance):
        each.on_value_change(change)
    show()


def _ask_of_cell(desk: TableDesk, table: Table, cell: int, again: Callable[[], Any]) -> None:
    """Show a cell, and let it be marked."""
    with ui.dialog() as dialog, ui.card().style("min-width:min(420px,92vw)"):
        show_cell(table, cell)
        names = {"": "no mark", "unsafe": "unsafe", "frozen": "frozen: must be published"}
        names |= {"preferred": "preferred: suppress it rather than others", "to avoid": "to avoid: spare it"}
        mark = ui.select(names, value=desk.now.get("marks", {}).get(str(cell), ""), label="Mark")
        mark.props("outlined dense options-dense").style("width:100%")

        async def keep() -> None:
            marks = {one: said for one, said in desk.now.get("marks", {}).items() if one != str(cell)}
            desk.history.choose(marks=marks | ({str(cell): mark.value} if mark.value else {}))
            dialog.close()
            await again()

        with ui.element("div").classes("row-of end"):
            theme.secondary("Close", dialog.close, "close-cell")
            theme.primary("Mark it", keep, "mark-cell")
    dialog.open()


async def _suppress(desk: TableDesk) -> None:
    theme.lead("Further cells are left out, at the least cost, until no unsafe one can be worked out.")
    job = desk.job("job")
    with theme.panel("The search"), ui.element("div").classes("row-of"):
        seconds = ui.number("Seconds of search", value=desk.now.get("time", 10), min=1, step=5).props("outlined dense")

        def begin() -> None:
            named = {key: desk.within(path) for key, path in _kept_marks(desk).items()}
            search = {"time": float(seconds.value or 10), "seed": 0}
            words = suppress(desk.within(desk.flagged), "{job}/public.csv", named, search)
            new = Jobs(desk.folder.path).add(
                [*words, "--internal", "{job}/internal.parquet"], title=f"Suppress {desk.file.name}", about=search
            )
            desk.history.choose(job=new.id, time=search["time"])
            desk.go("suppress")

        theme.primary("Suppress", begin, "suppress")
    if job is None:
        return
    Curve(desk.folder, job, lambda: desk.go("suppress"), unit="")
    if not job.result():
        return
    account = job.result()["printed"]
    checked, measures, bound = account["verification"], account["measures"], account.get("bound") or {}
    with theme.panel("The audit"):
        good = checked["passed"]
        theme.note(
            f"Who knows all that is published cannot work out any of the {checked['judged']:,} unsafe cells."
            if good
            else "Some unsafe cells are not protected.",
            "good" if good else "bad",
        )
        proven = f" No pattern costs less than {bound['value']:,.0f}." if bound.get("value") else ""
        theme.dim(
            f"{measures['secondary_count']:,} further cells are suppressed, at a cost of {measures['cost']:,.0f}."
            f"{proven} {measures['published_share']:.1f} % of the cells stay published."
        )
    table = await desk.read(job.path / "internal.parquet")
    with ui.element("div").classes("grid-of"):
        with theme.panel("The table"):
            Grid(table)
        with theme.panel("What the public will see"):
            Grid(table, public=True)
    show_key()
    with ui.element("div").classes("row-of end"):
        theme.primary("Next: write", lambda: desk.go("write"), "next")


def _kept_marks(desk: TableDesk) -> dict[str, Path]:
    return desk.files_of_marks(lambda option: desk.work / f"{option}.csv")


async def _write(desk: TableDesk) -> None:
    job, written = desk.job("job"), desk.job("written")
    if job is None or not job.result():
        theme.note("There is no pattern yet; go back one step.", "warn")
        return
    if written is None:
        with theme.panel("Files"):
            name = ui.input("Name of the public table", value=f"{desk.file.stem}-public.csv").props("outlined dense")
            name.style("width:min(420px,100%)").mark("output")
            theme.dim(
                "Beside it: its record, which may be published, and the evidence and the tables, which are internal."
            )

            async def begin() -> None:
                try:
                    number = await _begin(desk, job, str(name.value or ""))
                except DiscreetError as error:
                    ui.notify(str(error), type="warning")
                    return
                desk.history.choose(written=number)
                desk.go("write")

            with ui.element("div").classes("row-of end"):
                theme.primary("Write the table", begin, "write")
        return

    def again() -> None:
        desk.history.choose(written=None)
        desk.go("write")

    if written.state().state not in ("done", "stopped") or not written.result():
        Curve(desk.folder, written, lambda: desk.go("write"), unit="")
    else:
        about = written.request()["about"]
        with theme.panel("Written"):
            theme.note(f"{about['output']} is released.", "good")
            theme.grid(("file",), [[name] for name in sorted(written.result()["files"])])
            theme.link("Have it reviewed", "/review")
        with theme.panel("The commands that repeat it"):
            theme.code("\n".join(about["commands"]))
    with ui.element("div").classes("row-of end"):
        theme.secondary("Write another", again, "again")


async def _begin(desk: TableDesk, job: Job, output: str) -> str:
    """Write the table and its marks into the folder, and let a job suppress it as before; give its number."""
    path = desk.folder.new(output, OUTPUTS)
    files = desk.files_of_marks(lambda option: path.with_name(f"{output}.{option}.csv"))
    named = {option: file.name for option, file in files.items()}
    table, flagged = f"{output}.table.parquet", f"{output}.flagged.parquet"
    commands = [tabulate(desk.now, table)] if desk.is_built else []
    commands.append(judge(desk.now, table if desk.is_built else desk.file.name, flagged, named))
    write_contents({file: (_kept_marks(desk)[option]).read_bytes() for option, file in files.items()})
    for words in commands:
        await desk.folder.do(words)
    search = {key: job.result()["printed"]["search"][key] for key in ("steps", "seed")}
    last = suppress(flagged, output, named, search | {"steps": search["steps"] or None})
    checkpoint = job.path / CHECKPOINT
    kept = ["--checkpoint", desk.within(checkpoint)] if checkpoint.exists() else []
    about = {"output": output, "commands": [as_typed(words) for words in (*commands, last)]}
    return Jobs(desk.folder.path).add([*last, *kept], title=f"Write {output}", about=about).id
