"""Dates in columns: the forms in which they are written, read as numbers, and numbers written back in the same form."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

# Of years of two digits, the last that is one of this century; as POSIX has it.
PIVOT = 68

_TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
_ISO_TIMES = tuple(f"{sign}{time}{zone}" for sign in "T " for time in _TIMES for zone in ("", "%z", " %z"))
# So plainly dates that nobody needs to declare them.
ISO = ("%Y-%m-%d", *(f"%Y-%m-%d{time}" for time in _ISO_TIMES))
# Day first and month first cannot be told apart where no day is above 12.
_NUMBERS = (
    "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d",
)  # fmt: skip
_WORDS = ("%d-%b-%Y", "%d%b%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%d-%b-%y", "%d%b%y", "%d. %b %Y")
_NAMED = (*_WORDS, *(pattern.replace("%b", "%B") for pattern in _WORDS))
_MONTHS = ("%Y-%m", "%m/%Y", "%m.%Y", "%b %Y", "%B %Y", "%b-%Y")
OTHERS = (
    *_NUMBERS,
    "%Y%m%d",
    *_NAMED,
    *_MONTHS,
    *(f"{day} {time}" for day in (*_NUMBERS, "%d-%b-%Y") for time in _TIMES),
    "%d%b%Y:%H:%M:%S",
)
_FULL = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip
_LETTERS = {"b": [name[:3] for name in _FULL], "B": _FULL}
_PARTS = {
    "Y": r"\d{4}", "y": r"\d{2}", "m": r"0?[1-9]|1[0-2]", "d": r"0?[1-9]|[12]\d|3[01]", "b": r"[A-Za-z]{3}",
    "B": r"[A-Za-z]{3,9}", "H": r"[01]?\d|2[0-3]", "I": r"0?[1-9]|1[0-2]", "p": r"[AaPp][Mm]", "M": r"[0-5]\d",
    "S": r"[0-5]\d", "f": r"\d{1,6}", "z": r"[Zz]|[+-]\d\d:?\d\d",
}  # fmt: skip
_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class DateForm:
    """How the dates of a column are written.

    Parameters
    ----------
    pattern : str
        For text, in the notation of strptime; empty for a column of the type date.
    unit : {"day", "month", "microsecond"}
        What dates are counted in.
    pivot : int
        Of years of two digits, the last that is one of this century.
    padded : bool
        Whether days, months and hours below ten are written with a zero before them.
    case : str
        `upper` or `lower` where the names of months are written so.
    offset : str
        The offset from UTC in which times with one are written.
    step : int
        To how many of its unit a date can be written.
    """

    pattern: str = ""
    unit: str = "day"
    pivot: int = PIVOT
    padded: bool = True
    case: str = ""
    offset: str = ""
    step: int = 1

    @property
    def sure(self) -> bool:
        """Whether the pattern is so plainly a date that nobody needs to declare it."""
        return self.pattern in ISO

    def words(self) -> str:
        """The form in words, with what two-digit years are taken as; nothing of a column of the type date."""
        if not self.pattern:
            return ""
        if "%y" not in self.pattern:
            return f"written {self.pattern}"
        old = f", {self.pivot + 1:02}–99 as {1901 + self.pivot}–1999" if self.pivot < 99 else ""
        return f"written {self.pattern}, years 00–{self.pivot:02} taken as 2000–{2000 + self.pivot}{old} (see --pivot)"

    def round(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Dates as they can be written."""
        return np.round(values / self.step) * self.step


def find_form(column: pl.Series, pattern: str | None = None, pivot: int = PIVOT) -> DateForm | None:
    """The one form in which all values are written, or None.

    Parameters
    ----------
    column : polars.Series
        The column.
    pattern : str, optional
        The form, if it is declared.
    pivot : int
        Of years of two digits, the last that is one of this century.
    """
    if column.dtype == pl.Date:
        return DateForm()
    if isinstance(column.dtype, pl.Datetime):
        return DateForm(unit="microsecond", step=1000 if column.dtype.time_unit == "ms" else 1)
    fitting = fitting_patterns(column) if pattern is None else [pattern]
    if len(fitting) != 1:
        return None
    return _settle(_present(column), DateForm(fitting[0], pivot=pivot))


def fitting_patterns(column: pl.Series) -> list[str]:
    """The forms that all values of a column of text, or of whole numbers, can be read in; a plain one alone."""
    present = _present(column)
    if not len(present):
        return []
    for pattern in ISO:
        if _fits(present, pattern):
            return [pattern]
    fitting = [pattern for pattern in OTHERS if _fits(present, pattern)]
    # May is short and long.
    return [pattern for pattern in fitting if pattern.replace("%B", "%b") == pattern or "%b" not in "".join(fitting)]


def _present(column: pl.Series) -> pl.Series:
    """The distinct values as texts; none if the column is of a type in which no date is written."""
    if column.dtype.is_float() or column.dtype.is_decimal():
        whole = column.drop_nulls().unique().cast(pl.Int64, strict=False)
        return pl.Series([], dtype=pl.String) if whole.null_count() else whole.cast(pl.String)
    if column.dtype != pl.String and not column.dtype.is_integer():
        return pl.Series([], dtype=pl.String)
    present = column.drop_nulls().unique().cast(pl.String).str.strip_chars()
    return present.filter(present != "")


def _fits(present: pl.Series, pattern: str) -> bool:
    # One value rules out nearly all patterns, before all values are looked at.
    if not re.match(_regex(pattern), present[0]):
        return False
    form = DateForm(pattern)
    return bool(not np.isnan(_parse(present.head(100), form)).any() and not np.isnan(_parse(present, form)).any())


def _settle(present: pl.Series, form: DateForm) -> DateForm:
    """The form with what else the values show of it: their unit, zeros, capital letters and offsets."""
    parts = present.str.extract_groups(_regex(form.pattern)).struct.unnest()
    names = set(parts.columns)
    numbers = [parts[name] for name in ("d", "m", "H", "I") if name in names]
    padded = not any((number.str.len_bytes() == 1).any() for number in numbers)
    letters = [parts[name].drop_nulls() for name in ("b", "B", "p") if name in names]
    case = ""
    for one in ("upper", "lower"):
        if letters and all((text == getattr(text.str, f"to_{one}case")()).all() for text in letters):
            case = one
    offset = ""
    if "z" in names:
        offsets = parts["z"].drop_nulls().unique().to_list()
        offset = offsets[0] if len(offsets) == 1 else "+00:00"
    if not {"H", "I"} & names:
        return replace(form, unit="day" if "d" in names else "month", padded=padded, case=case)
    fine = 1 if "f" in names and (parts["f"].str.len_bytes() > 3).any() else 1000
    step = fine if "f" in names else 1_000_000 if "S" in names else 60_000_000
    return replace(form, unit="microsecond", padded=padded, case=case, offset=offset, step=step)


@cache
def _regex(pattern: str) -> str:
    """The pattern as a regular expression with a group for each part; parts without a sign between them are full."""
    found = re.split(r"(%.)", pattern)
    text = ""
    for place, piece in enumerate(found):
        if place % 2 == 0:
            text += re.escape(piece)
            continue
        beside = (place > 1 and not found[place - 1]) or (place < len(found) - 2 and not found[place + 1])
        part = _PARTS[piece[1]]
        text += f"(?P<{piece[1]}>{part.replace('0?', '0').replace('[01]?', '[01]') if beside else part})"
    return f"^{text}$"


def _parse(text: pl.Series, form: DateForm) -> NDArray[np.float64]:
    """Dates in days, months or microseconds since 1970; NaN where a text is no such date."""
    parts = text.str.extract_groups(_regex(form.pattern)).struct.unnest()
    got = {name: _number(parts[name], name) for name in parts.columns}
    year = got["Y"] if "Y" in got else got["y"] + np.where(got["y"] <= form.pivot, 2000, 1900)
    month = got.get("m", got.get("b", got.get("B", np.nan)))
    day = got.get("d", np.ones(len(text)))
    bad = np.isnan(year + month + day) | (year < 1)
    months = np.where(bad, 0, (year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(bad, 0, day - 1).astype(np.int64)
    bad |= days.astype("datetime64[M]") != months  # there is no 31st of June
    if form.unit == "month" or "d" not in got:
        return np.where(bad, np.nan, months.astype(np.int64))
    numbers = days.astype(np.int64).astype(np.float64)
    if not {"H", "I"} & set(got):
        return np.where(bad, np.nan, numbers)
    hour = got["H"] if "H" in got else got["I"] % 12 + 12 * got.get("p", 0.0)
    seconds = (hour * 60 + got.get("M", 0.0)) * 60 + got.get("S", 0.0) - got.get("z", 0.0)
    return np.where(bad, np.nan, numbers * _PER_DAY + seconds * 1_000_000 + got.get("f", 0.0))


def _number(part: pl.Series, name: str) -> NDArray[np.float64]:
    """One part of dates as numbers; NaN where there is none."""
    if name in _LETTERS:
        part = part.str.to_lowercase().replace_strict(
            _LETTERS[name], list(range(1, 13)), default=None, return_dtype=pl.Float64
        )
    elif name == "p":
        part = (part.str.to_lowercase() == "pm").cast(pl.Float64)
    elif name == "f":
        part = part.str.pad_end(6, "0").cast(pl.Float64)
    elif name == "z":
        sign = pl.when(part.str.starts_with("-")).then(-60.0).otherwise(60.0)
        plain = part.str.replace_all(r"[^0-9]", "").replace("", "0000")
        hours, minutes = plain.str.slice(0, 2).cast(pl.Float64), plain.str.slice(2, 2).cast(pl.Float64)
        part = pl.select((hours * 60 + minutes) * sign).to_series()
    else:
        part = part.cast(pl.Float64)
    return part.to_numpy().astype(np.float64)


def read_dates(column: pl.Series, form: DateForm) -> NDArray[np.float64]:
    """Days or months since 1970, or microseconds since then where there are times; NaN where missing or no date."""
    if not form.pattern:
        unit = getattr(column.dtype, "time_unit", "us")
        column = column.dt.cast_time_unit("us") if unit == "ns" else column
        numbers = column.to_physical().cast(pl.Float64).to_numpy().astype(np.float64)
        return numbers * 1000 if unit == "ms" else numbers
    texts = (column if column.dtype == pl.String else column.cast(pl.Int64)).cast(pl.String).str.strip_chars()
    distinct = texts.drop_nulls().unique()
    dates = pl.Series(_parse(distinct, form), dtype=pl.Float64)
    read = texts.replace_strict(distinct, dates, default=None, return_dtype=pl.Float64)
    return read.to_numpy().astype(np.float64)


def write_dates(values: NDArray[np.float64], form: DateForm, dtype: pl.DataType) -> pl.Series:
    """Numbers as dates again, rounded to what can be written."""
    numbers = pl.Series(form.round(values), nan_to_null=True).cast(pl.Int64)
    if not form.pattern:
        return numbers.cast(pl.Int32).cast(pl.Date) if form.unit == "day" else _write_moments(numbers, dtype)
    if form.unit == "month":
        missing = np.isnan(values)
        months = np.where(missing, 0, form.round(values)).astype(np.int64).astype("datetime64[M]")
        days = pl.Series(months.astype("datetime64[D]").astype(np.int64)).set(pl.Series(missing), None)
        moments = days.cast(pl.Int32).cast(pl.Date)
    elif form.unit == "day":
        moments = numbers.cast(pl.Int32).cast(pl.Date)
    else:
        ahead = _number(pl.Series([form.offset]), "z")[0] if form.offset else 0.0
        moments = (numbers + int(ahead * 1_000_000)).cast(pl.Datetime("us"))
    pattern = form.pattern.replace("%z", form.offset).replace(".%f", "%.3f" if form.step > 1 else "%.6f")
    if not form.padded:
        pattern = re.sub("%([dmHI])", r"%-\1", pattern)
    text = moments.dt.strftime(pattern)
    if form.case:
        text = getattr(text.str, f"to_{form.case}case")()
    return text if dtype == pl.String else text.cast(dtype)


def _write_moments(numbers: pl.Series, dtype: pl.DataType) -> pl.Series:
    moments = numbers.cast(pl.Datetime("us"))
    zone = getattr(dtype, "time_zone", None)
    if zone:
        moments = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return moments.cast(dtype)


def convert_unit(values: NDArray[np.float64], form: DateForm, wanted: DateForm) -> NDArray[np.float64]:
    """Dates of one form counted in the unit of another."""
    if form.unit == wanted.unit:
        return values
    missing = np.isnan(values)
    whole = np.where(missing, 0, values)
    days = whole / _PER_DAY if form.unit == "microsecond" else whole
    if form.unit == "month":
        days = whole.astype(np.int64).astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)
    if wanted.unit == "month":
        days = np.floor(days).astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(np.float64)
    return np.where(missing, np.nan, days * _PER_DAY if wanted.unit == "microsecond" else days)
