"""Numbers and dates that a column of text holds, and dates as numbers and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

ISO = ("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M")
# Day first and month first cannot be told apart where no day is above 12.
OTHERS = ("%d.%m.%Y", "%Y/%m/%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
# Words for a missing number, in any case; in a text column they are words like any other ("NA" is Namibia).
MISSING_WORDS = ("na", "nan", "n/a", "null", "none", "nil", ".")


@dataclass(frozen=True)
class DateForm:
    """How a date is written: a pattern for text, or empty for a typed column; whole days or with a time."""

    pattern: str = ""
    days: bool = True

    @property
    def sure(self) -> bool:
        """Whether the pattern is so plainly a date that nobody needs to declare it."""
        return self.pattern in ISO


def find_form(column: pl.Series) -> DateForm | None:
    """The one form in which all values are written, or None."""
    if column.dtype == pl.Date:
        return DateForm()
    if column.dtype == pl.Datetime:
        return DateForm(days=False)
    if column.dtype != pl.String:
        return None
    present = column.drop_nulls().unique().str.strip_chars()
    present = present.filter(present != "")
    if not len(present):
        return None
    for pattern in ISO:
        if _fits(present, pattern):
            return DateForm(pattern, days="%H" not in pattern)
    fitting = [pattern for pattern in OTHERS if _fits(present, pattern)]
    return DateForm(fitting[0]) if len(fitting) == 1 else None


def _fits(present: pl.Series, pattern: str) -> bool:
    first = present.head(100).str.strptime(pl.Datetime, pattern, strict=False)
    if first.null_count():
        return False
    parsed = present.str.strptime(pl.Datetime, pattern, strict=False)
    return not parsed.null_count()


def read_dates(column: pl.Series, form: DateForm) -> NDArray[np.float64]:
    """Days since 1970 for whole days, microseconds since then otherwise; NaN where missing."""
    if form.pattern:
        text = column.str.strip_chars()
        moments = text.set((text == "").fill_null(False), None).str.strptime(pl.Datetime("us"), form.pattern)
    elif form.days:
        moments = column.cast(pl.Datetime("us"))
    else:
        moments = column.dt.cast_time_unit("us")
    numbers = moments.to_physical().cast(pl.Float64)
    if form.days:
        numbers = numbers / 86_400_000_000
    return numbers.to_numpy().astype(np.float64)


def write_dates(values: NDArray[np.float64], form: DateForm, dtype: pl.DataType) -> pl.Series:
    """Numbers as dates again, rounded to the day or to the unit of the column."""
    whole = np.round(values)
    numbers = pl.Series(whole, nan_to_null=True).cast(pl.Int64)
    if form.days:
        dates = numbers.cast(pl.Int32).cast(pl.Date)
        return dates.dt.strftime(form.pattern) if form.pattern else dates
    if form.pattern:
        # To the minute or second, as it was written.
        return (
            numbers.cast(pl.Datetime("us")).dt.round("1s" if "%S" in form.pattern else "1m").dt.strftime(form.pattern)
        )
    moments = numbers.cast(pl.Datetime("us"))
    zone = getattr(dtype, "time_zone", None)
    if zone:
        moments = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return moments.cast(dtype)


def read_numbers(column: pl.Series, decimal: str) -> tuple[pl.Series, NDArray[np.int64]]:
    """Numbers of a text column (null where missing or wrong) and the rows whose text is no number."""
    text = column.str.strip_chars()
    said = text.is_not_null() & (text != "") & ~text.str.to_lowercase().is_in(list(MISSING_WORDS))
    plain = text
    if decimal == ",":
        # A point in a decimal-comma file would be a thousands mark: refuse it rather than misread it.
        plain = plain.set(plain.str.contains(".", literal=True).fill_null(False), "?").str.replace(
            ",", ".", literal=True
        )
    numbers = plain.set(~said.fill_null(False), None).cast(pl.Float64, strict=False)
    # "nan" in other spellings would slip through the words above as a number.
    numbers = numbers.fill_nan(None)
    wrong = np.flatnonzero((said.fill_null(False) & numbers.is_null()).to_numpy())
    return numbers.alias(column.name), wrong


def leading_zeros(column: pl.Series) -> bool:
    """Whether some whole numbers are written with a leading zero, as codes are."""
    return bool(column.str.contains(r"^\s*0\d+\s*$").any())
