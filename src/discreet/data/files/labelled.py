"""SPSS, Stata and SAS files in.

SPSS, Stata and SAS files out.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from discreet.data.checks import check_names, check_readable, check_room, check_rows, extra, itemize, writing
from discreet.data.files.source import Labels, Source
from discreet.data.memory import check_size, largest_size
from discreet.errors import InputError

WORDS = {"stata": "Stata", "spss": "SPSS", "sas": "SAS"}
_READERS = {
    ".dta": ("read_dta", "stata"),
    ".sav": ("read_sav", "spss"),
    ".zsav": ("read_sav", "spss"),
    ".por": ("read_por", "spss"),
    ".sas7bdat": ("read_sas7bdat", "sas"),
    ".xpt": ("read_xport", "sas"),
}


def read(
    path: Path, encoding: str | None = None, *, suffix: str | None = None, max_size: int | str | None = None
) -> Source:
    """Read an SPSS, Stata or SAS file; system-missing, user-missing and blank text all become null.

    Parameters
    ----------
    path
        The file.
    encoding
        The text encoding, for old files that do not state it or state it wrongly.
    suffix
        What kind of file it is, if its own suffix does not say so.
    max_size
        How much it may hold once it is unpacked: .zsav and .sas7bdat files are packed.
    """
    reader, format_name = _READERS[suffix or path.suffix.lower()]
    pyreadstat = extra("pyreadstat", f"reading {WORDS[format_name]} files")
    check_readable(path)
    options: dict[str, Any] = {"output_format": "polars"} | ({} if encoding is None else {"encoding": encoding})
    call = getattr(pyreadstat, reader)
    # pyreadstat fails with errors of its own, of Python and of polars, and some repeat what stands in the file.
    try:
        declared = {"user_missing": True} if reader == "read_sav" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they may repeat what stands in the file, too
            _, about = call(path, metadataonly=True, **options, **declared)
            widths = about.variable_storage_width or {}
            check_size(path, (about.number_rows or 0) * sum(widths.values()), largest_size(path, max_size))
            frame, _ = call(path, **options, **_calendar(about.original_variable_types))
            coded: dict[str, pl.Series] = {}
            if declared and about.missing_ranges:
                raw, _ = call(path, usecols=list(about.missing_ranges), **options, **declared)
                coded = {name: raw[name] for name in raw.columns if raw[name].dtype == frame[name].dtype}
    except (InputError, MemoryError):
        raise
    except Exception:
        raise InputError(
            f"{path.name} cannot be read as {'an' if format_name != 'stata' else 'a'} {WORDS[format_name]} file; it is "
            "damaged, cut off, of another kind, has dates beyond the year 9999, or states a wrong encoding (pass "
            "--encoding)"
        ) from None
    check_names(path, frame.columns)
    check_rows(path, frame.height)
    frame = frame.with_columns(
        cs.float().fill_nan(None), cs.string().replace("", None), cs.by_dtype(pl.Null).cast(pl.Float64)
    )
    return Source(frame, path, format_name, labels=_labels(about), coded=coded)


def _calendar(formats: dict[str, str | None]) -> dict[str, list[str]]:
    """Name the Stata formats of dates that carry a layout (%tdDD/NN/CCYY), which the library does not know as dates."""
    used = {text for text in formats.values() if text}
    days = [text for text in used if text.startswith(("%td", "%-td", "%d", "%-d"))]
    instants = [text for text in used if text.startswith(("%tc", "%-tc")) and text != "%tcHH:MM:SS"]
    return {"extra_date_formats": days, "extra_datetime_formats": instants}


def _labels(about: Any) -> Labels:
    # Notes (SPSS "documents") stay behind: they are written for the owner of the file and may speak of persons.
    return Labels(
        file=about.file_label or "",
        variables={name: text for name, text in about.column_names_to_labels.items() if text},
        values={name: dict(labels) for name, labels in about.variable_value_labels.items() if labels},
        formats={name: text for name, text in about.original_variable_types.items() if text and text != "NULL"},
        measures={name: level for name, level in about.variable_measure.items() if level != "unknown"},
        widths={name: width for name, width in about.variable_display_width.items() if width and width > 0},
        missing={
            name: tuple((one["lo"], one["hi"]) for one in ranges)
            for name, ranges in about.missing_ranges.items()
            if ranges
        },
    )


# What a column may be called.
_NAMES = {
    "stata": (re.compile(r"[^\W\d]\w{0,31}"), "at most 32 letters, digits and _"),
    "spss": (
        re.compile(r"[^\W\d_][\w.$#@]{0,63}|@[\w.$#@]{0,63}"),
        "a letter, then at most 63 letters, digits and . _ $ # @",
    ),
    "sas": (re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}"), "at most 32 letters A-Z, digits and _"),
}
_RESERVED = {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"}
# How many bytes a label of the file, of a variable and of a value may have; longer ones are cut.
_LABEL_BYTES = {"stata": (80, 80, 32_000), "spss": (64, 256, 120), "sas": (40, 40, 0)}
# The largest numbers: a Stata double ends below its codes for missing, SAS transport files have IBM floats.
_LARGEST = {"stata": 8.9e307, "spss": 1.7e308, "sas": 7.2e75}


def write(frame: pl.DataFrame, path: Path, format_name: str, like: Source | None = None) -> None:
    """Write an SPSS ("spss", "zsav"), Stata ("stata") or SAS transport ("sas") file with the labels of its source.

    Parameters
    ----------
    frame
        What to write.
    path
        Exactly where; the suffix does not matter.
    format_name
        The format, "zsav" for a compressed SPSS file.
    like
        The source whose labels are kept, as far as they still hold; display formats only within one package.
    """
    package = "spss" if format_name == "zsav" else format_name
    pyreadstat = extra("pyreadstat", f"writing {WORDS[package]} files")
    _check_names(path, frame.columns, package)
    frame = _storable(path, frame, package)
    labels = (
        like.labels.keep_valid(frame, like.frame.schema, like.coded)
        if like is not None and like.labels is not None
        else Labels()
    )
    if like is None or like.format != package:
        labels = Labels(labels.file, labels.variables, labels.values, measures=labels.measures, missing=labels.missing)
    file_bytes, variable_bytes, value_bytes = _LABEL_BYTES[package]
    options: dict[str, Any] = {
        "file_label": _cut(labels.file, file_bytes),
        "column_labels": {name: _cut(text, variable_bytes) for name, text in labels.variables.items()},
        "variable_format": {name: text for name, text in labels.formats.items() if _fits(text, frame[name], package)},
    }
    if package != "sas":
        options["variable_value_labels"] = _value_labels(labels, frame, package, value_bytes)
    if package == "spss":
        options["compress"] = format_name == "zsav"
        options["missing_ranges"] = {
            n: [{"lo": lo, "hi": hi} for lo, hi in ranges] for n, ranges in labels.missing.items()
        }
        options["variable_measure"] = dict(labels.measures)
        options["variable_display_width"] = dict(labels.widths)
    with writing(path), path.open("wb"):
        pass  # pyreadstat tells a refusal of the file system from no other failure, so that is tried first
    call = {"stata": "write_dta", "spss": "write_sav", "sas": "write_xport"}[package]
    try:
        getattr(pyreadstat, call)(frame, str(path), **{key: value for key, value in options.items() if value})
    except Exception:
        check_room(path)
        raise InputError(
            f"{path.name} could not be written as {WORDS[package]}, whose limits on names, labels or texts the data "
            "exceed; write .csv or .parquet"
        ) from None


def _check_names(path: Path, names: list[str], package: str) -> None:
    pattern, rule = _NAMES[package]
    wrong = [f"'{n}'" for n in names if not pattern.fullmatch(n) or (package == "spss" and n.lower() in _RESERVED)]
    if wrong:
        raise InputError(
            f"{path.name}: {WORDS[package]} does not allow the column name {itemize(wrong)}; it takes {rule}"
        )
    folded = [name.lower() for name in names]
    if package != "stata" and len(set(folded)) < len(folded):
        twice = [f"'{name}'" for name in names if folded.count(name.lower()) > 1]
        raise InputError(f"{path.name}: {WORDS[package]} does not tell upper from lower case; rename {itemize(twice)}")


def _storable(path: Path, frame: pl.DataFrame, package: str) -> pl.DataFrame:
    """Bring columns to types the package has; what it cannot hold exactly is an error and not a changed value."""

    def refuse(wrong: list[str], what: str) -> None:
        if wrong:
            raise InputError(
                f"{path.name}: {WORDS[package]} cannot hold {what} (column {itemize(wrong)}); write .csv or .parquet"
            )

    refuse(
        frame.select(cs.nested() | cs.binary() | cs.object() | cs.duration()).columns,
        "nested, binary or duration values",
    )
    refuse(frame.select(cs.datetime(time_zone="*")).columns, "time zones")
    frame = frame.with_columns(
        (cs.categorical() | cs.enum()).cast(pl.String),
        cs.boolean().cast(pl.Int8),
        (cs.decimal() | cs.by_dtype(pl.Null)).cast(pl.Float64),
        cs.datetime().cast(pl.Datetime("us")),
        cs.float().cast(pl.Float64).fill_nan(None),  # a NaN would come out as infinity in SAS
    )
    whole = frame.select(cs.integer())
    refuse([s.name for s in whole.iter_columns() if (_span(s) or 0) > 2**53], "whole numbers beyond 2^53 exactly")
    large = [s.name for s in frame.select(cs.float()).iter_columns() if (_span(s) or 0.0) > _LARGEST[package]]
    refuse(large, "infinite or such large numbers")
    # 32-bit integers stay integers in every package; Stata keeps the 27 largest for its missing codes.
    return frame.with_columns(
        s.cast(pl.Int32 if (_span(s) or 0) <= 2_147_483_620 else pl.Float64) for s in whole.iter_columns()
    )


def _span(series: pl.Series) -> Any:
    """Return the largest absolute value; by way of the extremes, as the smallest integer has no absolute value."""
    ends = [series.min(), series.max()]
    return max((abs(end) for end in ends if isinstance(end, int | float)), default=None)


def _value_labels(labels: Labels, frame: pl.DataFrame, package: str, most: int) -> dict[str, dict[Any, str]]:
    """Key the labels as the library wants them: by the column's own type, in Stata by whole numbers only."""
    result: dict[str, dict[Any, str]] = {}
    for name, texts in labels.values.items():
        integer = frame.schema[name].is_integer()
        keyed: dict[Any, str] = {}
        for code, text in texts.items():
            if isinstance(code, str):
                if package == "spss" and frame.schema[name] == _text_type():
                    keyed[code] = _cut(text, most)
            elif float(code).is_integer():
                keyed[int(code) if integer or package == "stata" else float(code)] = _cut(text, most)
            elif not integer and package == "spss":
                keyed[float(code)] = _cut(text, most)
        if keyed:
            result[name] = keyed
    return result


def _fits(text: str, series: pl.Series, package: str) -> bool:
    """Whether a display format still shows the values: texts bring their own width, means may need decimals."""
    if series.dtype == _text_type():
        return False
    if package == "spss" and re.fullmatch(r"F\d+(\.0)?", text) and series.dtype.is_float():
        return bool((series.drop_nulls() % 1 == 0).all())
    return True


def _text_type() -> pl.DataType:
    return pl.String()


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore")
