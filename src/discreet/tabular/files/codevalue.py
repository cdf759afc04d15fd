"""τ-ARGUS's code-value output: the codes, value and status of each cell on a line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.text import content, records, word
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table
from discreet.text import count

_STATUSES = {
    **dict.fromkeys((1, 2), SAFE),
    **dict.fromkeys(range(3, 10), PRIMARY),
    **dict.fromkeys((11, 12), SECONDARY),
    **dict.fromkeys((10, 13, 14), FIXED),
}
_EMPTY = (13, 14)
_PUBLISHED = (1, 2, 10)
_NUMBER = re.compile(r"[-+]?\d*(?:\.(\d*))?(?:[eE]([-+]?\d+))?")


def read(path: str | Path, table: Table) -> NDArray[np.uint8]:
    """Read the status of every cell of a table.

    Codes are matched as they are, or without the blanks around them where that leaves no doubt. A published value that
    is not the table's, to the digits that are printed, is an error: the file is of another table.

    Parameters
    ----------
    path : str or Path
        The file: for each cell a code of each dimension in the order of the table's, its value and its status.
    table : Table
        The table.
    """
    path = Path(path)
    if not table.dimensions:
        raise InputError(f"{table.source} has no named dimensions, so {path.name} cannot be matched with it by codes")
    finders = [finder_of(dimension) for dimension in table.dimensions]
    lines = np.zeros(len(table), dtype=np.int64)
    status = np.full(len(table), FIXED, dtype=np.uint8)
    width = len(finders) + 2
    differ: list[int] = []
    for number, fields in records(path, content(path), ","):
        where = f"{path.name}, line {number}"
        if len(fields) != width:
            raise InputError(
                f"{where}: {len(fields)} fields, but a code of each dimension, a value and a status are {width}"
            )
        code = _status(where, fields[-1])
        cell = _cell(table, [find(text) for find, text in zip(finders, fields, strict=False)])
        if cell < 0:
            if code not in _EMPTY:
                raise InputError(f"{where}: {table.source} has no such cell, which is not empty")
            continue
        if lines[cell]:
            raise InputError(f"{where}: {table.name(cell)} is in line {lines[cell]} already; leave it once")
        lines[cell] = number
        status[cell] = _STATUSES[code]
        if code in _PUBLISHED and not _same(where, fields[-2].strip(), float(table.value[cell])):
            differ.append(cell)
    if differ:
        raise InputError(
            f"{path.name}: {count(len(differ), 'cell')} published with another value than in {table.source}, first "
            f"{table.name(differ[0])} (line {lines[differ[0]]}); is it the same table, with the same response?"
        )
    _check_all(path, table, lines)
    return status


def text(table: Table) -> str:
    """The content of the file for a table, with every value: internal as τ-ARGUS's is."""
    if not table.dimensions:
        raise InputError(f"{table.source} has no named dimensions, and a code-value file has nothing but codes")
    numbers = {SAFE: 1, PRIMARY: 3, SECONDARY: 11, FIXED: 10}
    codes = zip(*(map(_quote, table.codes_of(axis)) for axis in range(len(table.dimensions))), strict=True)
    empty = _empty(table)
    lines = []
    for cell, names in enumerate(codes):
        status, value = int(table.status[cell]), float(table.value[cell])
        if status == FIXED and empty[cell]:
            end = "-,14"
        elif math.isnan(value):
            end = f"-,{numbers[status]}"
        else:
            shown = word(value) if table.decimals is None else f"{value:.{table.decimals}f}"
            end = f"{shown},{numbers[status]}"
        lines.append(",".join([*names, end]))
    return "".join(f"{line}\n" for line in lines)


def finder_of(dimension: Dimension) -> Callable[[str], int]:
    """What finds the position of a code, −1 if there is none."""
    bare: dict[str, int] = {}
    for code, at in dimension.position.items():
        bare[code.strip()] = -1 if code.strip() in bare else at

    def find(code: str) -> int:
        at = dimension.position.get(code)
        return bare.get(code.strip(), -1) if at is None else at

    return find


def _cell(table: Table, position: list[int]) -> int:
    if min(position) < 0:
        return -1
    key = sum(at * int(stride) for at, stride in zip(position, table.places.strides, strict=True))
    lookup = table.places.lookup
    return int(table.places.find(np.array([key]))[0] if lookup is None else lookup[key])


def _status(where: str, field: str) -> int:
    try:
        code = int(field)
    except ValueError:
        code = 0
    if code not in _STATUSES:
        raise InputError(f"{where}: the status must be a number from 1 to 14, as τ-ARGUS writes them")
    return code


def _same(where: str, field: str, value: float) -> bool:
    """Whether a printed value is the table's to the digits that are printed."""
    if field in ("", "-"):
        return value == 0
    parts = _NUMBER.fullmatch(field)
    try:
        printed = float(field) if parts else math.nan
    except ValueError:
        printed = math.nan
    if not parts or math.isnan(printed):
        raise InputError(f"{where}: the value of a published cell is not a number with a decimal point")
    # Beyond these exponents every number is 0 or infinite, however many digits they have.
    exponent = max(-400.0, min(400.0, float(parts[2] or 0)))
    unit = 10.0 ** min(300.0, exponent - len(parts[1] or ""))
    # A value that is not known cannot differ.
    return math.isnan(value) or abs(printed - value) <= 0.5 * unit * (1 + 1e-9) + 1e-12 * abs(value)


def _empty(table: Table) -> NDArray[np.bool_]:
    empty: NDArray[np.bool_] = table.value == 0
    return empty if table.count is None else empty & (table.count == 0)


def _check_all(path: Path, table: Table, lines: NDArray[np.int64]) -> None:
    lost = np.flatnonzero((lines == 0) & ~_empty(table))
    if len(lost):
        names = itemize([table.name(int(cell)) for cell in lost])
        raise InputError(
            f"{path.name} lacks cells of {table.source} that are not empty: {names}; is it the same table?"
        )


def _quote(code: str) -> str:
    return '"' + code.replace('"', '""') + '"'
