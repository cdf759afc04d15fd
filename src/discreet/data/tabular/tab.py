"""τ-ARGUS's tables (.tab): a cell on a line, its codes, value and what is known of it, described by a .rda file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import listed
from discreet.data.tabular.asc import dimension_of
from discreet.data.tabular.files_text import BLANKS, naming
from discreet.data.tabular.rda import Metadata, Variable
from discreet.data.tabular.tab_columns import Cells, cells_of
from discreet.data.tabular.tab_out import files
from discreet.data.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table
from discreet.errors import InputError

__all__ = ["files", "read"]

_STATUSES = {"S": SAFE, "U": PRIMARY, "M": SECONDARY, "P": FIXED, "E": FIXED, "": FIXED}
_GIVEN = 1 << RULES.index("given")


def read(path: str | Path, meta: Metadata) -> Table:
    """Read a table; the decimal sign is found out for the file as a whole.

    Parameters
    ----------
    path : str or Path
        The file.
    meta : Metadata
        What its columns are.
    """
    path = Path(path)
    with naming(path):
        return _table(path, meta)


def _table(path: Path, meta: Metadata) -> Table:
    cells = cells_of(path, meta)
    dimensions, codes = [], []
    for variable in meta.variables:
        if not (variable.is_number or variable.status):
            found = [code.rstrip(BLANKS) for code in cells.words(variable)]
            _check_total(path, variable, found)
            dimension = dimension_of(variable, found, sums=True)
            dimensions.append(dimension)
            codes.append([dimension.position[code] for code in found])
    if not dimensions:
        raise InputError(f"{meta.path.name}: no variable is a dimension of the table; all of them are numbers")
    response, notes = _response(meta)
    count = _numbers(cells, meta, "frequency")
    if response is None and count is None:
        raise InputError(f"{meta.path.name}: no variable is <NUMERIC> or <FREQUENCY>, so the table has no values")
    value = count if response is None else cells.numbers(response)
    status = _status(cells, meta)
    return Table.of(
        value,
        dimensions=dimensions,
        codes=np.array(codes, dtype=np.int32).T,
        source=path.name,
        count=count,
        tops=_tops(cells, meta),
        status=status,
        rule=None if status is None else np.where(status == PRIMARY, _GIVEN, 0).astype(np.int32),
        response=None if response is None else response.name,
        notes=(*meta.notes, *cells.notes, *notes),
        cost=_numbers(cells, meta, "cost"),
        lpl=_numbers(cells, meta, "lowerpl"),
        upl=_numbers(cells, meta, "upperpl"),
    )


def _first(meta: Metadata, role: str) -> Variable | None:
    return next((variable for variable in meta.variables if getattr(variable, role)), None)


def _numbers(cells: Cells, meta: Metadata, role: str) -> NDArray[np.float64] | None:
    variable = _first(meta, role)
    return None if variable is None else cells.numbers(variable)


def _response(meta: Metadata) -> tuple[Variable | None, list[str]]:
    """What is summed in the table, and what is passed over."""
    roles = ("frequency", "maxscore", "shadow", "cost", "lowerpl", "upperpl", "weight")
    plain = [one for one in meta.variables if one.numeric and not any(getattr(one, role) for role in roles)]
    shadows = [one.name for one in meta.variables if one.shadow]
    notes = [f"{meta.path.name}: the shadow variable {name} is passed over" for name in shadows]
    if len(plain) > 1:
        rest = listed([one.name for one in plain[1:]])
        notes.append(f"{meta.path.name}: the response is {plain[0].name}; {rest} passed over")
    return (plain[0] if plain else None), notes


def _check_total(path: Path, variable: Variable, codes: list[str]) -> None:
    total = "Total" if variable.total is None else variable.total
    if total not in codes:
        raise InputError(
            f"{path.name}: variable '{variable.name}' never has the code '{total}' of the total; say what it is by "
            "<TOTCODE>, and give the table all its totals"
        )


def _status(cells: Cells, meta: Metadata) -> NDArray[np.uint8] | None:
    variable = _first(meta, "status")
    if variable is None:
        return None
    letters = [word.strip().upper() for word in cells.words(variable)]
    for number, letter in zip(cells.lines, letters, strict=True):
        if letter not in _STATUSES:
            raise InputError(
                f"{cells.path.name}, line {number}: the status must be S (safe), U (unsafe), P (protected), "
                "M (secondary) or E (empty)"
            )
    return np.array([_STATUSES[letter] for letter in letters], dtype=np.uint8)


def _tops(cells: Cells, meta: Metadata) -> NDArray[np.float64] | None:
    columns = [cells.numbers(variable) for variable in meta.variables if variable.maxscore]
    return np.stack(columns, axis=1) if columns else None
