"""SPSS, Stata and SAS files in."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from discreet.data.checks import check_names, check_readable, check_rows, extra
from discreet.data.labels import Labels
from discreet.data.source import Source
from discreet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

WORDS = {"stata": "Stata", "spss": "SPSS", "sas": "SAS"}
_READERS = {
    ".dta": ("read_dta", "stata"),
    ".sav": ("read_sav", "spss"),
    ".zsav": ("read_sav", "spss"),
    ".por": ("read_por", "spss"),
    ".sas7bdat": ("read_sas7bdat", "sas"),
    ".xpt": ("read_xport", "sas"),
}


def read(path: Path, encoding: str | None = None, *, suffix: str | None = None) -> Source:
    """Read an SPSS, Stata or SAS file; system-missing, user-missing and blank text all become null.

    Parameters
    ----------
    path
        The file.
    encoding
        The text encoding, for old files that do not state it or state it wrongly.
    suffix
        What kind of file it is, if its own suffix does not say so.
    """
    import polars as pl
    import polars.selectors as cs

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
            frame, _ = call(path, **options, **_calendar(about.original_variable_types))
            coded: dict[str, pl.Series] = {}
            if declared and about.missing_ranges:
                raw, _ = call(path, usecols=list(about.missing_ranges), **options, **declared)
                coded = {name: raw[name] for name in raw.columns if raw[name].dtype == frame[name].dtype}
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
