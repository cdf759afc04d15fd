"""Microdata in and out, whatever the format: the suffix of a file's name says which; tables of databases too.

A release of ours is read as the record beside it says it was written, if it is still the file that the record names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from discreet.data import databases
from discreet.data.checks import extra
from discreet.data.databases.address import is_address, names_table
from discreet.data.files import arrow as columnar
from discreet.data.files import csv as delimited
from discreet.data.files import excel, labelled
from discreet.data.files.source import Dialect, Source, sha256
from discreet.data.memory import allocating
from discreet.errors import InputError

_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".dta": "stata",
    ".sav": "spss",
    ".zsav": "spss",
    ".por": "spss",
    ".sas7bdat": "sas",
    ".xpt": "sas",
}
_WORDS = {
    "csv": "delimited text",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "excel": "Excel",
    "stata": "Stata",
    "spss": "SPSS",
    "sas": "SAS",
    "postgresql": "PostgreSQL",
    "sqlite": "SQLite",
}
_APPLIES = {
    "delimiter": {"csv"},
    "encoding": {"csv", "stata", "spss", "sas"},
    "decimal": {"csv"},
    "header": {"csv", "excel"},
    "sheet": {"excel"},
    "max_size": {"excel", "parquet", "arrow", "stata", "spss", "sas"},
    "connection": {"postgresql", "sqlite"},
}
# Suffixes that we read but do not write, and those that we know but do not read, with what to do instead.
_READ_ONLY = {".sas7bdat": ".xpt", ".por": ".sav", ".xlsm": ".xlsx"}
_ADVICE = {
    ".xls": "save it as .xlsx",
    ".ods": "save it as .xlsx",
    ".gz": "unpack it first (delimited text alone is read as it is, such as .csv.gz)",
    ".zip": "unpack it first",
    ".rds": "save it from R as .parquet or .csv",
    ".rdata": "save it from R as .parquet or .csv",
}
_NEEDS = {"excel": "openpyxl", "stata": "pyreadstat", "spss": "pyreadstat", "sas": "pyreadstat"}
# Names that `write` takes beyond those of _WORDS, where one format has two shapes.
_FINER = {".tsv": "tsv", ".zsav": "zsav"}
_SUFFIXES = {"stata": ".dta", "spss": ".sav", "zsav": ".zsav", "sas": ".xpt"}


def format_of(path: Path | str) -> str:
    """Return the format of a file by its suffix: csv, parquet, arrow, excel, stata, spss or sas; or a database."""
    if is_address(path):
        return str(path).partition(":")[0]
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in _FORMATS:
        return _FORMATS[suffix]
    if suffix == ".gz" and _FORMATS.get(path.with_suffix("").suffix.lower()) == "csv":
        return "csv"
    what = f"the suffix '{path.suffix}' of {path.name} is not known" if suffix else f"{path.name} has no suffix"
    advice = f"{_ADVICE[suffix]}; " if suffix in _ADVICE else ""
    raise InputError(f"{what}; {advice}known are {', '.join(_FORMATS)}")


def check_writable_format(path: Path | str) -> str:
    """Return the format name under which `write` writes a file of this name, or refuse a name we cannot write.

    Call it before the work starts, so that hours of search do not end at a file name.
    """
    if is_address(path):
        raise InputError("this is written to a file, not to a database; name a file")
    path = Path(path)
    name = format_of(path)
    suffix = path.suffix.lower()
    if suffix == ".gz":
        raise InputError(f"packed files can be read but not written; name the output {path.with_suffix('').name}")
    if suffix in _READ_ONLY:
        better = path.with_suffix(_READ_ONLY[suffix]).name
        raise InputError(f"{suffix} files can be read but not written; name the output {better}")
    if name in _NEEDS:
        extra(_NEEDS[name], f"writing {_WORDS[name]} files")
    return _FINER.get(suffix, name)


def applies(option: str, path: Path | str) -> bool:
    """Whether an option of reading applies to the format of a file."""
    packed = option == "max_size" and Path(path).suffix.lower() == ".gz" and not is_address(path)
    if option == "query":
        return is_address(path) and not names_table(path)
    if option == "query_time":
        return is_address(path)
    return packed or format_of(path) in _APPLIES[option]


def read(
    path: Path | str,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    max_size: int | str | None = None,
    query: Path | str | None = None,
    query_time: float | None = None,
    connection: Any = None,
) -> Source:
    """Read a microdata file, or a table of a database.

    Parameters
    ----------
    path
        The file; its suffix says the format. Or postgresql:SCHEMA.TABLE, postgresql:SERVICE/SCHEMA.TABLE or
        sqlite:FILE#TABLE.
    delimiter
        Delimited text: the character between fields; found out if not given.
    encoding
        Delimited text, Stata, SPSS and SAS: the text encoding; found out if not given.
    decimal
        Delimited text: the decimal sign, '.' or ','; found out if not given.
    header
        Delimited text and Excel: whether the first line holds the column names; found out if not given.
    sheet
        Excel: the sheet; the first if not given.
    max_size
        All but plain delimited text: how much the file may hold once it is unpacked, in bytes or as 8GB; by default
        the larger of 4 GB and 100 times the file.
    query
        Databases: a file with one SELECT, instead of a table; the path is postgresql:, postgresql:SERVICE or
        sqlite:FILE then.
    query_time
        Databases: how many seconds a view or the query may take, which may have no end; 300 by default. A table is
        read to its end.
    connection
        Databases: an ADBC connection to go by; what is read has a transaction of its own.
    """
    name = format_of(path)
    given = {
        "delimiter": delimiter, "encoding": encoding, "decimal": decimal, "header": header, "sheet": sheet,
        "max_size": max_size, "query": query, "query_time": query_time,
        "connection": connection,
    }  # fmt: skip
    what = f"a table of {_WORDS[name]}" if is_address(path) else f"{Path(path).name}, which is a file of {_WORDS[name]}"
    for option, value in given.items():
        if value is not None and not applies(option, path):
            raise InputError(f"{option} does not apply to {what}; leave it out")
    if is_address(path):
        with allocating(_WORDS[name]):
            return databases.read(path, query=query, query_time=query_time, connection=connection)
    path = Path(path)
    with allocating(path.name):
        source = _read(path, name, given)
    # What is left of the reading: of a million records hundreds of megabytes that Arrow would keep for later.
    pa.default_memory_pool().release_unused()
    return source


def _read(path: Path, name: str, given: Mapping[str, Any]) -> Source:
    if name == "csv":
        how = {option: given[option] for option in ("delimiter", "encoding", "decimal", "header", "max_size")}
        return delimited.read(path, **how)
    if name in ("parquet", "arrow"):
        return columnar.read(path, name, max_size=given["max_size"])
    if name == "excel":
        return excel.read(path, given["sheet"], header=given["header"], max_size=given["max_size"])
    return labelled.read(path, given["encoding"], max_size=given["max_size"])


def write(frame: pl.DataFrame, path: Path, *, format_name: str, like: Source | None = None) -> None:
    """Write a frame to exactly `path`, in the shape of the source it came from.

    An existing file keeps its permissions, so the caller can make one for the owner only and have it filled.

    Parameters
    ----------
    frame
        What to write.
    path
        Where; any suffix, such as that of a temporary name.
    format_name
        What `check_writable_format` returned for the final name.
    like
        The source: its dialect is kept in delimited text, its labels in SPSS, Stata and SAS files.
    """
    if format_name in ("csv", "tsv"):
        delimited.write(frame, path, dialect_of(format_name, like))
    elif format_name in ("parquet", "arrow"):
        columnar.write(frame, path, format_name)
    elif format_name == "excel":
        excel.write(frame, path)
    elif format_name in ("stata", "spss", "zsav", "sas"):
        labelled.write(frame, path, format_name, like)
    else:
        raise InputError(f"unknown format '{format_name}'; known are {', '.join([*_WORDS, *_FINER.values()])}")


def read_back(
    path: Path, format_name: str, like: Source | None = None, *, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Read what `write` has just written, by what is known of it and not by what would be found out.

    Parameters
    ----------
    path, format_name, like
        As they were given to `write`.
    columns
        The names of the columns; they are needed where text is written without a header.
    """
    if format_name in ("csv", "tsv"):
        how = dialect_of(format_name, like)
        options = {"delimiter": how.delimiter, "encoding": how.encoding, "decimal": how.decimal}
        frame = delimited.read(path, header=how.header, **options).frame
        return frame if how.header or columns is None else frame.rename(dict(zip(frame.columns, columns, strict=True)))
    if format_name in ("parquet", "arrow"):
        return columnar.read(path, format_name).frame
    if format_name == "excel":
        return excel.read(path, header=True).frame

    return labelled.read(path, suffix=_SUFFIXES[format_name]).frame


def dialect_of(format_name: str, like: Source | None) -> Dialect:
    """The dialect in which delimited text is written: that of the source, if it was delimited text."""
    dialect = like.dialect if like is not None and like.dialect is not None else Dialect()
    return replace(dialect, delimiter="\t") if format_name == "tsv" else dialect


def read_table(path: Path | str | Source, folder: Path | str | None = None) -> Source:
    """A table of a database; what was written with it is looked for in a folder, the current one by default."""
    source = path if isinstance(path, Source) else read(path)
    return source if folder is None else replace(source, path=Path(folder) / source.path.name)


def record_of(release: Path | Source) -> Mapping[str, Any] | None:
    """What the record beside a release says of it, if there is one and it speaks of this very file or these rows."""
    path = release.path if isinstance(release, Source) else release
    try:
        output = json.loads(path.with_name(path.name + ".release.json").read_text(encoding="utf-8"))["output"]
        digest = release.sha256() if isinstance(release, Source) else sha256(path)
        return output if isinstance(output, dict) and output["sha256"] == digest else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def read_recorded(path: Path, output: Mapping[str, Any]) -> Source:
    """Read a release: delimited text in the dialect of its record, and not in one that would be found out."""
    how = output.get("dialect")
    if format_of(path) != "csv" or not isinstance(how, Mapping):
        return read(path)
    source = read(path, **{name: how.get(name) for name in ("delimiter", "encoding", "decimal", "header")})
    columns = output.get("columns", [])
    if not how.get("header") and len(columns) == source.frame.width:
        source = replace(source, frame=source.frame.rename(dict(zip(source.frame.columns, columns, strict=True))))
    return source


__all__ = ["applies", "check_writable_format", "dialect_of", "format_of", "read", "read_back", "read_recorded"]
__all__ += ["read_table", "record_of", "sha256", "write"]
