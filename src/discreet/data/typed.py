"""Text of a delimited file as typed columns, for formats that have types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.dates import find_form
from discreet.data.numbers import read_numbers

if TYPE_CHECKING:
    import polars as pl


def typed(frame: pl.DataFrame, decimal: str) -> pl.DataFrame:
    """Columns of text that are plainly numbers or ISO dates get that type; nothing is lost.

    A number with more than 15 significant digits might not be the same as a double, so its column stays text.
    A column with leading zeros is one of codes and stays text, as does one with words for missing values.
    """
    import polars as pl

    return frame.with_columns(
        _typed(frame[name], decimal) for name, dtype in frame.schema.items() if dtype == pl.String
    )


def _typed(column: pl.Series, decimal: str) -> pl.Series:
    import polars as pl

    present = column.drop_nulls()
    if not len(present):
        return column
    if present.str.contains(r"^-?(0|[1-9]\d{0,17})$").all():
        return column.cast(pl.Int64)
    mark = r"\." if decimal == "." else ","
    if present.str.contains(rf"^-?(0|[1-9]\d*)?({mark}\d+)?([eE][+-]?\d+)?$").all():
        numbers, wrong = read_numbers(column, decimal)
        if not len(wrong) and numbers.is_finite().all() and _fit_into_doubles(present):
            return numbers
    if present.str.contains(r"^\d{4}-\d\d-\d\d$").all():
        form = find_form(column)
        if form is not None and form.sure:
            return column.str.to_date(form.pattern)
    return column


def _fit_into_doubles(present: pl.Series) -> bool:
    digits = present.str.replace_all(r"[eE].*$", "").str.replace_all(r"[^0-9]", "").str.strip_chars_start("0")
    return bool((digits.str.len_chars() <= 15).all())
