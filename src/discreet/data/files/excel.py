"""Excel workbooks (.xlsx) in and out."""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from discreet.data.checks import (
    check_names,
    check_readable,
    check_rows,
    extra,
    itemize,
    name_index,
    settle_header,
    writing,
)
from discreet.data.files import sniff
from discreet.data.files.source import Source
from discreet.data.memory import check_size, largest_size
from discreet.errors import InputError

_MOST_ROWS, _MOST_COLUMNS, _MOST_CHARACTERS = 1_048_575, 16_384, 32_767
_SAMPLE = 1000
# XML has none of these, and reads a carriage return as a line feed.
_CONTROL = "[\x00-\x08\x0b-\x1f\ufffe\uffff]"
_MOST_DIGITS = 10**15  # Excel keeps 15 digits of a number


def read(
    path: Path, sheet: str | None = None, *, header: bool | None = None, max_size: int | str | None = None
) -> Source:
    """Read a sheet of a workbook.

    A column of numbers, dates or truth values comes typed. A column that mixes kinds comes as text, so that the
    caller can say in which rows the odd ones are.

    Parameters
    ----------
    path
        The workbook.
    sheet
        The sheet, the first one if not given.
    header
        Whether the first row holds the column names. If not given, it does where that is plain (see
        `sniff.doubt_header`), and elsewhere it is an error, for a record must not become column names.
    max_size
        How much it may hold once it is unpacked.
    """
    openpyxl = extra("openpyxl", "reading Excel files")
    check_readable(path)
    check_size(path, _count_unpacked(path), largest_size(path, max_size))
    rows, title, titles = _rows(path, openpyxl, sheet, values=True)
    if not rows:
        raise InputError(f"{path.name}: the sheet '{title}' is empty; name another with --sheet")
    width = max(len(cells) for _, cells in rows)
    padded = [(number, [*cells, *[None] * (width - len(cells))]) for number, cells in rows]
    texts = [["" if cell is None else _text(cell) for cell in cells] for _, cells in padded[:_SAMPLE]]
    if header is None:
        settle_header(path, sniff.doubt_header(texts), "row")
    titled = header is not False
    names = name_index(texts[0]) if titled else [f"column_{i}" for i in range(1, width + 1)]
    check_names(path, names)
    body = padded[1:] if titled else padded
    check_rows(path, len(body))
    columns = [[cells[i] for _, cells in body] for i in range(width)]
    if any(None in column for column in columns):
        _refuse_uncalculated(path, openpyxl, title, names, dict(padded))

    notes = (
        [f"{path.name}: read the sheet '{title}', the first of {len(titles)}"]
        if sheet is None and len(titles) > 1
        else []
    )
    notes += [f"{path.name}: the first row is taken as the column names"] if header is None else []
    if titled and names[0] != texts[0][0]:
        notes.append(f"{path.name}: the first column has no name and is called '{names[0]}'")
    series = []
    for name, cells in zip(names, columns, strict=True):
        dtype = _dtype(cells)
        if dtype is None:
            notes.append(f"{path.name}: column '{name}' mixes kinds of values and is read as text")
            cells, dtype = [None if cell is None else _text(cell) for cell in cells], pl.String()
        elif dtype == pl.Date:
            cells = [cell.date() if isinstance(cell, datetime.datetime) else cell for cell in cells]
        elif dtype == pl.Float64:
            cells = [None if cell is None else float(cell) for cell in cells]
        series.append(pl.Series(name, cells, dtype=dtype))
    lines = np.array([row for row, _ in body], dtype=np.int64)
    return Source(pl.DataFrame(series), path, "excel", notes=tuple(notes), lines=lines, first=int(lines[0]))


def _count_unpacked(path: Path) -> int:
    """How many bytes a workbook says to hold once it is unpacked; what is beyond that is not read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(part.file_size for part in archive.infolist())
    except (OSError, NotImplementedError, zipfile.BadZipFile):
        return 0  # what is wrong with it is said when it is read


def write(frame: pl.DataFrame, path: Path, *, blank: str | None = None) -> None:
    """Write a workbook of one sheet. What Excel cannot hold exactly is an error and not a changed value.

    Parameters
    ----------
    frame : polars.DataFrame
        The content.
    path : Path
        The file.
    blank : str, optional
        What stands for a value that is not there, such as the mark of a suppressed cell; nothing by default.
    """
    openpyxl = extra("openpyxl", "writing Excel files")
    frame = frame.with_columns(cs.float().fill_nan(None), (cs.categorical() | cs.enum()).cast(pl.String))
    _check_fits(path, frame)
    if frame.select(pl.all_horizontal(pl.all().is_null()).any()).item():
        raise InputError(
            f"{path.name}: a record of the release is blank in all columns, and readers of Excel files drop such rows; "
            "write .csv or .parquet"
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("data")
    # The rows wait beside the workbook, where there must be room anyway, and not in a folder that others can see.
    rows = path.with_name(f"{path.name}.rows")
    with writing(path), ExitStack() as stack:
        rows.touch(mode=0o600)
        stack.callback(rows.unlink, missing_ok=True)
        writer = openpyxl.worksheet._writer.WorksheetWriter(sheet, str(rows))
        writer.cleanup = lambda: None  # the file is ours
        writer.write_top()
        sheet._writer = writer
        stack.callback(_close, writer.xf)
        stack.callback(lambda: _close(sheet._rows) if sheet._rows is not None else None)
        _fill(sheet, frame, blank, openpyxl.cell.WriteOnlyCell)
        _save(path, book, openpyxl.writer.excel.ExcelWriter)


def _fill(sheet: Any, frame: pl.DataFrame, blank: str | None, make: Any) -> None:
    """Put the names and records of a frame into a sheet."""

    def cell(value: Any) -> Any:
        if isinstance(value, float):
            number = make(sheet, repr(value))  # openpyxl would round to 16 digits, and a double may need 17
            number.data_type = "n"
            return number
        if isinstance(value, str):
            text = make(sheet, value)
            text.data_type = "s"  # else a text such as =A1 or #N/A would become a formula or an error
            return text
        return cell(blank) if value is None and blank is not None else value

    sheet.append([cell(name) for name in frame.columns])
    for row in frame.iter_rows():
        sheet.append([cell(value) for value in row])


def _save(path: Path, book: Any, writer: Any) -> None:
    """Write a workbook; an archive that cannot be ended would say so again when it is forgotten."""
    archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    try:
        writer(book, archive).save()
    except BaseException:
        file, archive.fp = archive.fp, None
        if file is not None:
            _close(file)
        raise


def _close(thing: Any) -> None:
    """Close what may have failed already; it would say so again when it is forgotten."""
    with suppress(OSError, ValueError):
        thing.close()


def _rows(
    path: Path, openpyxl: Any, sheet: str | None, *, values: bool
) -> tuple[list[tuple[int, list[Any]]], str, list[str]]:
    """Return the rows with their numbers, without blank ones, the title of their sheet, and the titles of all."""
    # openpyxl reports damage of a workbook in exceptions of many unrelated kinds.
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and print settings, which do not matter here
            book = openpyxl.load_workbook(file, read_only=True, data_only=values)
            titles = [ws.title for ws in book.worksheets]
            if sheet is not None and sheet not in titles:
                raise InputError(f"{path.name} has no sheet '{sheet}'; it has {itemize([repr(t) for t in titles])}")
            page = book.worksheets[0] if sheet is None else book[sheet]
            page.reset_dimensions()  # some programs write a wrong size
            found = []
            for number, cells in enumerate(page.iter_rows(values_only=True), 1):
                row = [None if cell == "" else cell for cell in cells]
                while row and row[-1] is None:
                    row.pop()
                if row:
                    found.append((number, row))
    except (InputError, MemoryError):
        raise
    except Exception:
        raise InputError(
            f"{path.name} cannot be read as an Excel workbook; it is damaged or locked: save it again as .xlsx"
        ) from None
    return found, page.title, titles


def _refuse_uncalculated(
    path: Path, openpyxl: Any, title: str, names: list[str], results: dict[int, list[Any]]
) -> None:
    """Refuse formulas that were never calculated: their cells look blank, and would be taken for missing values."""
    for number, cells in _rows(path, openpyxl, title, values=False)[0]:
        values = results.get(number, [])
        for i, cell in enumerate(cells):
            if isinstance(cell, str) and cell.startswith("=") and (i >= len(values) or values[i] is None):
                name = f"'{names[i]}'" if i < len(names) else str(i + 1)
                raise InputError(
                    f"{path.name}: column {name}, row {number} holds a formula without a stored result; open the "
                    "workbook in Excel and save it, or replace formulas by values"
                )


def _dtype(cells: list[Any]) -> pl.DataType | None:
    """Return the type that holds all of a column's cells, or None if they are of different kinds."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {str}:
        return pl.String()
    if kinds == {bool}:
        return pl.Boolean()
    if kinds == {int} and all(cell is None or abs(cell) < 2**63 for cell in cells):
        return pl.Int64()
    if kinds <= {int, float}:
        return pl.Float64()
    if kinds <= {datetime.datetime, datetime.date}:
        # Excel has no dates, only instants: a column of midnights is a column of dates.
        clock = any(isinstance(cell, datetime.datetime) and cell.time() != datetime.time() for cell in cells)
        return None if clock and datetime.date in kinds else pl.Datetime("us") if clock else pl.Date()
    if kinds == {datetime.time}:
        return pl.Time()
    if kinds == {datetime.timedelta}:
        return pl.Duration("us")
    return None


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


def _check_fits(path: Path, frame: pl.DataFrame) -> None:

    def refuse(wrong: list[str], what: str) -> None:
        if wrong:
            raise InputError(f"{path.name}: Excel cannot hold {what} (column {itemize(wrong)}); write .csv or .parquet")

    if frame.height > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise InputError(
            f"{path.name}: a sheet holds at most {_MOST_ROWS:,} records and {_MOST_COLUMNS:,} columns; write "
            ".csv or .parquet"
        )

    def where(columns: pl.Expr) -> list[str]:
        found = frame.select(columns.fill_null(False).any())
        return [name for name in found.columns if found.item(0, name)] if found.width else []

    refuse(frame.select(cs.nested() | cs.binary() | cs.object()).columns, "nested or binary values")
    refuse(frame.select(cs.datetime(time_zone="*")).columns, "time zones")
    refuse(
        where(~cs.integer().as_expr().is_between(-_MOST_DIGITS, _MOST_DIGITS, "none")),
        "numbers of more than 15 digits exactly",
    )
    refuse(where(cs.float().as_expr().is_infinite()), "infinite numbers")
    refuse(
        where(cs.string().as_expr().str.len_chars() > _MOST_CHARACTERS),
        f"texts of more than {_MOST_CHARACTERS:,} characters",
    )
    refuse(where(cs.string().as_expr().str.contains(_CONTROL)), "control characters")
    refuse(
        [str(i) for i, name in enumerate(frame.columns, 1) if re.search(_CONTROL, name)], "control characters in names"
    )
    refuse(where((cs.date() | cs.datetime()).as_expr().dt.year() < 1900), "dates before 1900")
