"""A microdata file as it was read, with what is needed to report on it and to write it back in its own shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from discreet.data.dialect import Dialect
    from discreet.data.labels import Labels

# How a person finds a record again in each format; a database-like file has no lines, only records.
_PLACES = {"csv": "line", "excel": "row"}


# eq=False because frames do not compare to one truth value; repr leaves out the frame, whose values are confidential.
@dataclass(frozen=True, eq=False)
class Source:
    """What was read from one file.

    Attributes
    ----------
    frame
        The records, columns in file order. From a delimited file every column is text as written, blank is null.
    path
        Where the file is.
    format
        One of csv, parquet, arrow, excel, stata, spss, sas.
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
    named
        Whether the column names are surely names, and not the values of a first record.
    coded
        Columns of an SPSS file with the codes that it declares to be missing, which are null in the frame.
    """

    frame: pl.DataFrame = field(repr=False)
    path: Path
    format: str
    dialect: Dialect | None = None
    labels: Labels | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    lines: NDArray[np.int64] | None = field(default=None, repr=False)
    first: int = 1
    named: bool = True
    coded: Mapping[str, pl.Series] = field(default_factory=dict, repr=False)

    def line(self, row: int) -> int:
        """Return the 1-based line, sheet row or record number of the 0-based `row`."""
        return self.first + row if self.lines is None else int(self.lines[row])

    def place(self, row: int) -> str:
        """Return where the 0-based `row` stands in the file, such as "line 17"."""
        return f"{_PLACES.get(self.format, 'record')} {self.line(row)}"
