"""The columns of a .tab file as text and as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.data.tabular.asc import fields_of
from discreet.data.tabular.rda import Metadata, Variable
from discreet.errors import InputError


@dataclass(frozen=True)
class Cells:
    """The lines of a .tab file.

    Attributes
    ----------
    path
        The file.
    columns
        The fields of each variable.
    lines
        The number of each cell's line.
    decimal
        The decimal sign.
    notes
        What was assumed.
    """

    path: Path
    columns: dict[str, list[str]]
    lines: list[int]
    decimal: str
    notes: tuple[str, ...]

    def words(self, variable: Variable) -> list[str]:
        """The fields of a variable as text."""
        return self.columns[variable.name]

    def numbers(self, variable: Variable) -> NDArray[np.float64]:
        """The fields of a variable as numbers."""
        words = self.columns[variable.name]
        if self.decimal == ",":
            words = [word.replace(",", ".") for word in words]
        try:
            numbers = np.array(words, dtype=np.float64)
        except ValueError:
            numbers = np.array([_number(word) for word in words])
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise InputError(
                f"{self.path.name}, line {self.lines[wrong[0]]}: '{variable.name}' is not a number with a decimal "
                f"'{self.decimal}'{more}"
            )
        return numbers


def cells_of(path: Path, meta: Metadata) -> Cells:
    """Read the lines of a .tab file and find out its decimal sign."""
    if meta.separator is None:
        raise InputError(f'{meta.path.name}: a table needs a separator; say what it is first: <SEPARATOR> ";"')
    found, lines, notes = fields_of(path, meta)
    columns = {variable.name: column for variable, column in zip(meta.variables, found, strict=True)}
    return Cells(path, columns, lines, _decimal(path, meta, columns, lines), tuple(notes))


def _decimal(path: Path, meta: Metadata, columns: dict[str, list[str]], lines: list[int]) -> str:
    """The decimal sign: the one of comma and point that occurs in numbers."""
    at: dict[str, int] = {}
    for variable in meta.variables:
        if variable.is_number:
            for sign in ",.":
                place = next(
                    (line for line, word in zip(lines, columns[variable.name], strict=True) if sign in word), 0
                )
                if place:
                    at[sign] = min(place, at.get(sign, place))
    if len(at) == 2:
        raise InputError(
            f"{path.name}: numbers have a decimal comma in line {at[',']} and a point in line {at['.']}; write all of "
            "them in one way, without marks for thousands"
        )
    return next(iter(at), ".")


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan
