"""Options that say how a file is to be read; the same for every command that reads microdata."""

from __future__ import annotations

from dataclasses import asdict, dataclass
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

    def read(self, path: Path, *, beside: Path | None = None) -> Source:
        """Read a file in the way these options say; of two files, an option need apply to one only."""
        from discreet.data.files import applies, read

        said = asdict(self) | {"header": None if self.header is None else self.header == "yes"}
        if beside is not None:
            said = {name: v for name, v in said.items() if applies(name, path) or not applies(name, beside)}
        return read(path, **said)


DETECT = Reading()
