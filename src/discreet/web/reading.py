"""How a file is read where that is not found out rightly: said on the page, or by a configuration beside the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nicegui import run, ui

from discreet.configuration import Config, load
from discreet.errors import InputError
from discreet.jobs.history import History
from discreet.web import theme
from discreet.web.folder import Folder

# What a configuration may say of how a file is read.
READING = ("delimiter", "encoding", "decimal", "header", "sheet", "max_size")
# What is asked on the page, by the suffixes of files that it concerns.
TEXT, EXCEL, CODED = (".csv", ".tsv"), (".xlsx",), (".dta", ".sav", ".sas7bdat")
CONCERNS = {
    "header": (*TEXT, *EXCEL),
    "delimiter": TEXT,
    "decimal": TEXT,
    "encoding": (*TEXT, *CODED),
    "sheet": EXCEL,
}
HEADERS = {"": "as found out", "yes": "names the columns", "no": "is a record"}
MARKS = {"": "as found out", ".": "point", ",": "comma"}
TAB = "\\t"


async def take_beside(folder: Folder, history: History, beside: Path) -> None:
    """Read a file as a configuration beside it says, unless something else was said on the page."""
    if "reading" in history.now or not beside.is_file():
        return
    try:
        said = (await run.io_bound(load, folder.file(beside.name)) or Config()).reading
    except InputError as error:
        theme.dim(f"{beside.name} lies beside the file and is not taken: {error}")
        return
    reading = {key: said[key] for key in READING if key in said}
    if reading:
        history.choose(reading=reading)
        theme.dim(f"Read as {beside.name} says: {describe(reading)}.")


def describe(reading: Mapping[str, Any]) -> str:
    """How a file is read, in words."""
    told = [f"{key} {_show(key, reading[key])}" for key in READING if key in reading]
    return ", ".join(told)


def show_reading(suffix: str, reading: Mapping[str, Any], choose: Callable[[dict[str, Any]], object]) -> None:
    """Ask how a file is read; nothing where its format says that itself.

    Parameters
    ----------
    suffix : str
        The suffix of the file.
    reading : mapping
        What was said before.
    choose : callable
        Told what is said now.
    """
    asked = [key for key, suffixes in CONCERNS.items() if suffix.lower() in suffixes]
    if not asked:
        return
    fields: dict[str, Any] = {}
    with ui.element("div").classes("row-of"):
        for key in asked:
            now = _show(key, reading[key]) if key in reading else ""
            if key == "header":
                fields[key] = ui.select(HEADERS, value=now, label="The first line")
            elif key == "decimal":
                fields[key] = ui.select(MARKS, value=now, label="Decimal mark")
            else:
                fields[key] = ui.input(key.capitalize(), value=now, placeholder="as found out")
            fields[key].props("outlined dense options-dense stack-label").style("width:190px").mark(f"reading-{key}")

        def keep() -> None:
            said = {key: str(field.value or "") for key, field in fields.items()}
            new = {key: _take(key, text) for key, text in said.items() if text}
            choose({key: value for key, value in reading.items() if key not in asked} | new)

        theme.secondary("Read it so", keep, "read-so")
    theme.dim(
        f"Leave empty what is found out rightly. A tab is written {TAB}."
        if "delimiter" in asked
        else "Leave empty what is found out rightly."
    )


def _show(key: str, value: Any) -> str:
    if key == "header":
        return "yes" if value else "no"
    return TAB if value == "\t" else str(value)


def _take(key: str, text: str) -> Any:
    if key == "header":
        return text == "yes"
    return "\t" if text == TAB else text
