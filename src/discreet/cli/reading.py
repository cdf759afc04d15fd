"""Options that say how a file is to be read; the same for every command that reads microdata."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from discreet.data.source import Source


@Parameter(name="*", group="Reading")
@dataclass(frozen=True)
class Reading:
    """How a file is read, where that is not found out rightly.

    Parameters
    ----------
    delimiter
        Of a CSV file.
    encoding
        Of a CSV, Stata, SPSS or SAS file, such as utf-8 or cp1252.
    decimal
        Decimal mark of a CSV file.
    header
        Whether the first line of a CSV file, or the first row of a sheet, names the columns.
    sheet
        Sheet of an Excel file; the first by default.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    header: Literal["yes", "no"] | None = None
    sheet: str | None = None

    def read(self, path: Path) -> Source:
        """Read a file in the way these options say."""
        from discreet.data.files import read

        return read(
            path,
            delimiter=self.delimiter,
            encoding=self.encoding,
            decimal=self.decimal,
            header=None if self.header is None else self.header == "yes",
            sheet=self.sheet,
        )


DETECT = Reading()
