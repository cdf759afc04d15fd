"""The columns of our table files, turned into arrays; whatever is wrong is told with its place and without a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import listed
from discreet.data.tabular.dimension import Dimension
from discreet.data.tabular.table import RULES
from discreet.errors import InputError

if TYPE_CHECKING:
    import polars as pl

RESERVED = (
    *("cell", "value", "count", "status", "rule", "cost"),
    *("lb", "ub", "lpl", "upl", "spl", "asked", "sole"),
)
_TOP = re.compile(r"top([1-9]\d*)")


def is_reserved(name: str) -> bool:
    """Whether a column of this name is an attribute of the cells, and not a dimension."""
    return name in RESERVED or _TOP.fullmatch(name) is not None


@dataclass(frozen=True)
class Columns:
    """The columns of a table file.

    Attributes
    ----------
    name
        The file, for messages.
    frame
        The columns; from a CSV file all of them are text.
    place
        Where a row stands, such as "line 17".
    decimal
        The decimal sign of numbers in text.
    notes
        What was assumed in reading the file.
    """

    name: str
    frame: pl.DataFrame
    place: Callable[[int], str]
    decimal: str
    notes: tuple[str, ...] = ()

    @property
    def tops(self) -> int:
        """How many columns of largest contributions there are."""
        numbers = sorted(int(match[1]) for name in self.frame.columns if (match := _TOP.fullmatch(name)))
        if numbers != list(range(1, len(numbers) + 1)):
            raise InputError(f"{self.name}: the columns of the largest contributions must be top1, top2 and so on")
        return len(numbers)

    def words(self, column: str) -> list[str | None] | None:
        """A column as text; None if there is none of this name."""
        import polars as pl

        return self.frame[column].cast(pl.String).to_list() if column in self.frame.columns else None

    def numbers(self, column: str, *, unknown: bool = False) -> NDArray[np.float64] | None:
        """A column as numbers, None if there is none of this name; nan where blank, if that is allowed."""
        import polars as pl

        if column not in self.frame.columns:
            return None
        held = self.frame[column]
        blank = held.is_null()
        if held.dtype == pl.String:
            words = held.str.strip_chars()
            if self.decimal == ",":
                # A point would be a thousands mark there: refused rather than misread.
                pointed = words.str.contains(".", literal=True).fill_null(False)
                words = words.set(pointed, "?").str.replace(",", ".", literal=True)
            comma = words.str.contains(",", literal=True).fill_null(False)
            numbers = words.cast(pl.Float64, strict=False)
        elif held.dtype.is_numeric():
            comma = pl.Series([False]).new_from_index(0, len(held))
            numbers = held.cast(pl.Float64)
        else:
            raise InputError(f"{self.name}: column '{column}' does not hold numbers")
        self._refuse(column, ~blank & numbers.is_null() & comma, "has a decimal comma; write a decimal point")
        self._refuse(column, ~blank & numbers.is_null(), "is not a number")
        if column not in ("lb", "ub"):
            self._refuse(column, numbers.is_infinite().fill_null(False), "is not a finite number")
        if not unknown:
            self._refuse(column, blank | numbers.is_nan().fill_null(False), "is blank; write a number")
        return numbers.fill_null(np.nan).to_numpy().astype(np.float64)

    def looked_up(self, column: str, words: list[Any], known: Mapping[str, int]) -> NDArray[np.uint8]:
        """The number of each word of a column."""
        import polars as pl

        found = pl.Series([known.get(word, -1) for word in words], dtype=pl.Int64)
        self._refuse(column, found < 0, f"is none of {', '.join(known)}")
        return found.to_numpy().astype(np.uint8)

    def codes(self, dimension: Dimension) -> NDArray[np.int32]:
        """The position of the code of each cell in a dimension."""
        import polars as pl

        words = self.words(dimension.name) or []
        found = pl.Series([dimension.position.get(word, -1) if word else -1 for word in words], dtype=pl.Int64)
        lost = (found < 0).arg_true()
        if len(lost):
            told = listed([f"'{words[row] or ''}' ({self.place(row)})" for row in lost.to_list()])
            raise InputError(
                f"{self.name}: codes that the hierarchy of '{dimension.name}' does not have: {told}; correct them, "
                "with the blanks they should have"
            )
        return found.to_numpy().astype(np.int32)

    def rules(self) -> NDArray[np.int32] | None:
        """The column of rules as bits; None if there is none."""
        words = self.words("rule")
        if words is None:
            return None
        bits = {name: 1 << at for at, name in enumerate(RULES)}
        kinds = {word: [bits.get(part, 0) for part in word.split("+")] if word else [] for word in set(words)}
        import polars as pl

        wrong = {word for word, parts in kinds.items() if 0 in parts}
        self._refuse("rule", pl.Series([word in wrong for word in words]), f"is none of {', '.join(RULES)}")
        return np.array([sum(kinds[word]) for word in words], dtype=np.int32)

    def _refuse(self, column: str, wrong: pl.Series, what: str) -> None:
        rows = wrong.arg_true()
        if len(rows):
            more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
            raise InputError(f"{self.name}, {self.place(rows[0])}: '{column}' {what}{more}")
