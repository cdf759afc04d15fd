"""A microdata file as it was read, with all that is needed to report on it and to write it back in its own shape.

That is the dialect of a delimited text, and of a statistical package's file the labels, display formats, measurement
levels and missing codes that it keeps beside the values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError

Code = str | int | float
# How a person finds a record again in each format; a database-like file has no lines, only records.
_PLACES = {"csv": "line", "excel": "row"}
_SPELLINGS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


# eq=False because frames do not compare to one truth value; repr leaves out the frame, whose values are confidential.
@dataclass(frozen=True, eq=False)
class Source:
    """What was read from one file.

    Attributes
    ----------
    frame
        The records, columns in file order. From a delimited file every column is text as written, blank is null.
    path
        Where the file is; of a database, where files about it lie, without what is added to their names.
    format
        One of csv, parquet, arrow, excel, stata, spss, sas, postgresql, sqlite.
    dialect
        How a delimited file is written; None for the other formats.
    labels
        Labels, display formats and missing codes of an SPSS, Stata or SAS file; None for the other formats.
    notes
        Every assumption made in reading, in words.
    lines
        The physical line or sheet row of each record, where it is not simply ``first + row``.
    first
        The physical line, sheet row or record number of the first record.
    coded
        Columns of an SPSS file with the codes that it declares to be missing, which are null in the frame.
    categories
        Columns of a Parquet or Arrow file that are categories: name, whether they are ordered, and the categories.
    called
        What to call it in messages, if not by the name of the file.
    database
        Host, database, table and server version, if it is one.
    digest
        SHA-256 of the rows of a database.
    """

    frame: pl.DataFrame = field(repr=False)
    path: Path
    format: str
    dialect: Dialect | None = None
    labels: Labels | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    lines: NDArray[np.int64] | None = field(default=None, repr=False)
    first: int = 1
    coded: Mapping[str, pl.Series] = field(default_factory=dict, repr=False)
    categories: tuple[tuple[str, bool, list[Any]], ...] = field(default=(), repr=False)
    called: str = ""
    database: Mapping[str, Any] | None = None
    digest: str = ""

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return self.called or self.path.name

    def sha256(self) -> str:
        """SHA-256 of the file, or of the rows of a database as canonical CSV."""
        return self.digest or sha256(self.path)

    def line(self, row: int) -> int:
        """Return the 1-based line, sheet row or record number of the 0-based `row`."""
        return self.first + row if self.lines is None else int(self.lines[row])

    def place(self, row: int) -> str:
        """Return where the 0-based `row` stands in the file, such as "line 17"."""
        return f"{_PLACES.get(self.format, 'record')} {self.line(row)}"


@dataclass(frozen=True)
class Dialect:
    r"""How a delimited text file is written.

    Fields are quoted with ``"``, doubled inside a quoted field, in every dialect.

    Attributes
    ----------
    delimiter
        The character between fields.
    encoding
        A Python codec name, without a byte order (it is in the name) or mark (it is in `bom`).
    decimal
        The decimal sign, ``.`` or ``,``.
    header
        Whether the first line holds the column names.
    bom
        Whether the file begins with a byte order mark.
    newline
        What ends a line: ``\n``, ``\r\n`` or ``\r``.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    header: bool = True
    bom: bool = False
    newline: str = "\n"


def sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_delimiter(delimiter: str) -> str:
    """Return the delimiter a user meant, such as a tab for "tab", or say what is wrong with it."""
    delimiter = _SPELLINGS.get(delimiter.lower(), delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0' or delimiter.isalnum():
        raise InputError("the delimiter must be one sign, such as ',' ';' '|' or 'tab' (not a letter, digit or quote)")
    return delimiter


def check_decimal(decimal: str) -> str:
    """Return `decimal` if it is a decimal sign, or say what is allowed."""
    if decimal not in (".", ","):
        raise InputError("the decimal sign must be '.' or ','")
    return decimal


@dataclass(frozen=True)
class Labels:
    """Descriptions of a file and its columns; each mapping is by column name and leaves out what is not set.

    Attributes
    ----------
    file
        The label of the whole file.
    variables
        A label for each column.
    values
        For each column, a label for each code.
    formats
        Display formats, in the notation of the package the file came from.
    measures
        Measurement levels: nominal, ordinal or scale.
    widths
        Display widths.
    missing
        For each column, the ranges (lowest, highest) of codes that the file declares to be missing.
    """

    file: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Code, str]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, tuple[tuple[Code, Code], ...]] = field(default_factory=dict)

    def keep_valid(
        self, frame: pl.DataFrame, origin: Mapping[str, pl.DataType], coded: Mapping[str, pl.Series] | None = None
    ) -> Labels:
        """Return what still holds for the columns of `frame`, of which `origin` gives the types when they were read.

        Labels of columns that are not in the frame go. If a column became another kind of value (numbers made
        intervals, say), only its own label stays. Of the value labels only those stay whose code occurs, or is a
        declared missing code: a package that turns names into codes leaves all the names in the labels, and those of
        protected persons must not be published. A declaration of missing codes goes if a written value falls into
        it, because that value would vanish; but not in a column that has its declared codes as it had them, `coded`.
        """
        coded = coded or {}
        same = {name for name in frame.columns if name in origin and kind(frame.schema[name]) == kind(origin[name])}
        present = {
            name: set(frame[name].drop_nulls().unique().to_list()) for name in same & {*self.values, *self.missing}
        }
        missing = {
            name: ranges
            for name, ranges in self.missing.items()
            if name in same
            and (_is_unchanged(frame, coded, name) or not any(_is_within(v, ranges) for v in present[name]))
        }
        values = {
            name: {c: text for c, text in labels.items() if c in present[name] or _is_within(c, missing.get(name, ()))}
            for name, labels in self.values.items()
            if name in same
        }
        return Labels(
            self.file,
            {name: text for name, text in self.variables.items() if name in frame.columns},
            {name: labels for name, labels in values.items() if labels},
            {name: text for name, text in self.formats.items() if name in same},
            {name: level for name, level in self.measures.items() if name in same},
            {name: width for name, width in self.widths.items() if name in same},
            missing,
        )

    def forget(self, name: str) -> Labels:
        """The labels without what they say of the values of a column, which has others now."""
        kept: dict[str, Any] = {
            each: {column: said for column, said in getattr(self, each).items() if column != name}
            for each in ("values", "formats", "measures", "widths", "missing")
        }
        return replace(self, **kept)


def _is_unchanged(frame: pl.DataFrame, coded: Mapping[str, pl.Series], name: str) -> bool:
    return name in coded and frame[name].sort().equals(coded[name].sort())


def kind(dtype: pl.DataType) -> str:
    """Return the kind of value a type holds, as far as a statistical package tells them apart."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return str(dtype.base_type())


def _is_within(value: Any, ranges: tuple[tuple[Code, Code], ...]) -> bool:
    for lowest, highest in ranges:
        if isinstance(value, str) != isinstance(lowest, str):
            continue
        if lowest <= value <= highest:  # both text or both numbers
            return True
    return False
