"""What is behind a click on the page of columns: the details of a column, and some records of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
from nicegui import run, ui

from discreet.data.files import read
from discreet.data.files.source import Source
from discreet.data.roles import MISSING
from discreet.errors import InputError
from discreet.web import theme
from discreet.web.desk import Desk

# What more can be said of a column: its name on the page, and what it is for.
MORE = {
    "coarsen": ("Coarsen", "prefix:2 keeps two characters, width:5 makes bands of 5, codes.hrc:1 takes a level"),
    "hierarchy": ("Compare by", "prefix, or a file of codes: near codes are more alike"),
    "topcode": ("Code the largest", "99% puts those beyond that share at their mean; a number is a bound"),
    "bottomcode": ("Code the smallest", "the same at the other end, as 1%"),
    "round": ("Round to multiples of", "before anything else, as 100"),
    "digits": ("Digits of what replaces values", "0 keeps whole numbers whole"),
    "missing": ("Missing values", "separate: grouped among themselves; impute: filled in; error: refused"),
    "form": ("Form of dates", "as %d.%m.%Y"),
    "na": ("Words for missing", "with commas, as 999, unknown"),
}
NUMBERS = ("round", "digits")
# The most records that are shown at once.
MOST_SHOWN = 100


def show_details(desk: Desk, name: str, changed: Callable[[], object]) -> None:
    """Ask for the details of a column."""
    said = desk.now["columns"].get(name, {})
    fields: dict[str, Any] = {}
    with ui.dialog() as dialog, ui.card().style("width:min(520px,95vw)"):
        theme.heading(name, 2)
        for key, (words, hint) in MORE.items():
            value = said.get(key)
            if key in NUMBERS:
                fields[key] = ui.number(words, value=value, min=0)
            elif key == "missing":
                fields[key] = ui.select({"": "as for all columns"} | {one: one for one in MISSING}, label=words)
                fields[key].set_value(value or "")
            else:
                fields[key] = ui.input(
                    words, value=", ".join(map(str, value)) if key == "na" and value else value or ""
                )
            fields[key].props("outlined dense").style("width:100%")
            fields[key].props["hint"] = hint

        def keep() -> None:
            new = {key: field.value for key, field in fields.items()}
            new = {key: value.strip() if isinstance(value, str) else value for key, value in new.items()}
            new["na"] = [word.strip() for word in str(new["na"] or "").split(",") if word.strip()]
            new |= {key: int(new[key]) for key in NUMBERS if new[key] is not None and new[key] == int(new[key])}
            try:
                check_files(desk, new)
            except InputError as error:
                ui.notify(str(error), type="warning")
                return
            desk.choose_for(name, **{key: value if value not in ("", []) else None for key, value in new.items()})
            dialog.close()
            changed()

        with ui.element("div").classes("row-of end").style("width:100%"):
            theme.secondary("Cancel", dialog.close, "cancel-details")
            theme.primary("Keep", keep, "keep-details")
    dialog.open()


def check_files(desk: Desk, said: dict[str, Any]) -> None:
    """Refuse what names a file that is not in the folder."""
    kind = str(said.get("coarsen") or "auto").rpartition(":")[0] or "auto"
    for name in (kind, str(said.get("hierarchy") or "prefix")):
        if name not in ("auto", "prefix", "width"):
            desk.folder.file(name)


def read_source(desk: Desk) -> Source:
    """Read the file, or the table."""
    reading = {
        key: value for key, value in (desk.now.get("reading") or {}).items() if key not in ("na", "pivot", "missing")
    }
    return read(desk.source.readable, **reading)


def _head(desk: Desk, count: int) -> pl.DataFrame:
    return read_source(desk).frame.head(min(count, MOST_SHOWN))


def show_preview(desk: Desk) -> None:
    """Show as many records as are asked for, once they are asked for."""
    with ui.dialog() as dialog, ui.card().style("max-width:95vw"):
        theme.heading("Some records", 2)
        theme.note("These are values of respondents. They are shown here only, and kept nowhere.", "warn")
        count = ui.number("How many records", value=5, min=1, max=MOST_SHOWN, precision=0).props("outlined dense")
        place = ui.element("div").style("width:100%")

        async def show() -> None:
            try:
                frame = await run.io_bound(_head, desk, int(count.value or 1))
            except InputError as error:
                ui.notify(str(error), type="warning")
                return
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
