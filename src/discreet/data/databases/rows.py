"""The rows of a table: in an order that tells nothing, as both databases keep them, and their digest."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray

from discreet.data.checks import find_outside_calendar
from discreet.data.files.arrow import to_frame
from discreet.errors import InputError
from discreet.text import count

_ROWS_PER_PIECE = 1 << 16


def sort_order(frame: pl.DataFrame) -> NDArray[np.int64]:
    """Rows in the order of all released columns; equal rows cannot be told apart, so their order tells nothing."""
    # Categories sort by their text: their internal number is the order of first appearance in the input.
    keys = [
        pl.col(name).cast(pl.String) if isinstance(dtype, pl.Categorical) else pl.col(name)
        for name, dtype in frame.schema.items()
    ]
    order: NDArray[np.int64] = (
        frame.select(pl.arg_sort_by(keys, nulls_last=True)).to_series().to_numpy().astype(np.int64)
    )
    return order


def to_rows(table: Any, name: str) -> pl.DataFrame:
    """An Arrow table as a frame in which equal numbers are equal bits: no NaN, which is missing, and no minus zero."""
    frame = to_frame(table, name)
    for column in frame.select(cs.date() | cs.datetime()):
        wrong = len(find_outside_calendar(column))
        if wrong:
            raise InputError(
                f"{name}: column '{column.name}' has {count(wrong, 'date')} outside the years 1 to 9999, infinity "
                "among them perhaps; correct them, or make them NULL in a query"
            )
    return _settle_floats(frame)


def _settle_floats(frame: pl.DataFrame) -> pl.DataFrame:
    numbers = cs.float().fill_nan(None)
    # Not by adding zero, which is optimised away.
    return frame.with_columns(pl.when(numbers == 0).then(0.0).otherwise(numbers).name.keep())


def digest(frame: pl.DataFrame) -> str:
    """SHA-256 of rows as canonical CSV, in their order.

    UTF-8, commas, line feeds, a line of names; texts, dates and truth values in double quotes, which are doubled
    inside; numbers in their shortest form; nothing at all where a value is missing.
    """
    found = hashlib.sha256(frame.head(0).write_csv(quote_style="always").encode())
    for piece in frame.iter_slices(_ROWS_PER_PIECE):
        found.update(piece.write_csv(include_header=False, quote_style="non_numeric").encode())
    return found.hexdigest()


# What a column of a release is in PostgreSQL and in SQLite.
_TYPES: dict[Any, tuple[str, str]] = {
    pl.Boolean: ("boolean", "INTEGER"),
    pl.Int8: ("smallint", "INTEGER"),
    pl.Int16: ("smallint", "INTEGER"),
    pl.Int32: ("integer", "INTEGER"),
    pl.Int64: ("bigint", "INTEGER"),
    pl.UInt8: ("smallint", "INTEGER"),
    pl.UInt16: ("integer", "INTEGER"),
    pl.UInt32: ("bigint", "INTEGER"),
    pl.UInt64: ("bigint", "INTEGER"),
    pl.Float32: ("double precision", "REAL"),
    pl.Float64: ("double precision", "REAL"),
    pl.Decimal: ("double precision", "REAL"),
    pl.String: ("text", "TEXT"),
    pl.Categorical: ("text", "TEXT"),
    pl.Enum: ("text", "TEXT"),
    pl.Date: ("date", "TEXT"),
    pl.Datetime: ("timestamp", "TEXT"),
    pl.Time: ("text", "TEXT"),
}
_FRAMES: dict[str, Any] = {
    "smallint": pl.Int16, "integer": pl.Int32, "bigint": pl.Int64, "INTEGER": pl.Int64,
    "double precision": pl.Float64, "REAL": pl.Float64, "text": pl.String, "TEXT": pl.String,
    "boolean": pl.Boolean, "date": pl.Date, "timestamp": pl.Datetime("us"),
}  # fmt: skip


def types_of(frame: pl.DataFrame, system: str) -> dict[str, str]:
    """The type that each column of a release gets in a database."""
    strange = [name for name, dtype in frame.schema.items() if dtype.base_type() not in _TYPES]
    if strange:
        raise InputError(f"column '{strange[0]}' has the type {frame.schema[strange[0]]}, which no database takes")
    place = 0 if system == "postgresql" else 1
    return {name: _TYPES[dtype.base_type()][place] for name, dtype in frame.schema.items()}


def to_storable(frame: pl.DataFrame, system: str) -> pl.DataFrame:
    """A release as a database gives it back: what its types cannot hold is refused before anything is written."""
    types = types_of(frame, system)
    for column in frame.select(cs.string() | cs.categorical() | cs.enum()):
        if column.cast(pl.String).str.contains("\0", literal=True).any():
            raise InputError(f"column '{column.name}' has a text with a zero byte, which no database takes")
    try:
        plain = frame.with_columns(pl.col(name).cast(_FRAMES[kind]) for name, kind in types.items())
    except pl.exceptions.PolarsError:
        raise InputError("the release has a whole number that is too large for a database") from None
    return _settle_floats(plain)
