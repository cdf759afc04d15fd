"""What is wrong in a .jj file, and in which line: gone over line by line, once it is known that something is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from discreet.data.tabular.table import STATUSES
from discreet.errors import InputError

_NAMES = ("number", "value", "cost", "status", "lower bound", "upper bound", "LPL", "UPL", "SPL")
_TERM = re.compile(r"([^\s():]+)\s*\(\s*([^\s():]+)\s*\)\s*")

Lines = Iterator[tuple[int, str]]


def blame(path: Path, data: bytes) -> InputError:
    """The error to raise for a file that cannot be read; it quotes no value."""
    lines = ((number, line) for number, line in enumerate(data.decode("latin-1").split("\n"), 1) if line.strip())
    try:
        _check(path.name, lines)
    except InputError as error:
        return error
    return InputError(
        f"{path.name}: this is not a .jj file as it should be; write each cell and each relation on a line"
    )


def _check(name: str, lines: Lines) -> None:
    where, line = _next(name, lines, "the constant")
    if _number(where, "the constant", _alone(where, line, "the constant")) != 0:
        raise InputError(f"{where}: the constant in the first line must be 0; others are not supported")
    n = _size(*_next(name, lines, "the number of cells"), "the number of cells")
    if n < 1:
        raise InputError(f"{name}: the number of cells in the second line must be 1 or more")
    for cell in range(n):
        _check_cell(*_next(name, lines, f"cell {cell} of {n}"), cell, n)
    count = _size(*_next(name, lines, "the number of relations"), "the number of relations")
    for relation in range(count):
        _check_relation(*_next(name, lines, f"relation {relation + 1} of {count}"), n)
    for number, line in lines:
        twice = "; the file seems to have been written twice" if len(line.split()) == 1 else ""
        raise InputError(
            f"{name}, line {number}: data after the last of {count} relations{twice}; delete it, or correct the number "
            "of relations"
        )


def _next(name: str, lines: Lines, what: str) -> tuple[str, str]:
    for number, line in lines:
        return f"{name}, line {number}", line
    raise InputError(f"{name}: the file ends before {what}; it was cut off, or a number of cells or relations is wrong")


def _alone(where: str, line: str, what: str) -> str:
    words = line.split()
    if len(words) != 1:
        raise InputError(
            f"{where}: {what} should stand here alone, but there are {len(words)} fields; is the number of cells right?"
        )
    return words[0]


def _size(where: str, line: str, what: str) -> int:
    size = _number(where, what, _alone(where, line, what))
    if not size.is_integer() or size < 0:
        raise InputError(f"{where}: {what} must be a whole number")
    return int(size)


def _number(where: str, what: str, word: str) -> float:
    try:
        if "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        if re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", word):
            raise InputError(f"{where}: {what} has a decimal comma; write a decimal point") from None
        raise InputError(f"{where}: {what} is not a number") from None


def _check_cell(where: str, line: str, cell: int, n: int) -> None:
    words = line.split()
    if len(words) == 1 or ":" in line:
        raise InputError(f"{where}: cell {cell} should be here: there are fewer cells than the {n} announced")
    if len(words) != len(_NAMES):
        raise InputError(f"{where}: a cell has {len(_NAMES)} fields ({', '.join(_NAMES)}), not {len(words)}")
    for what, word in zip(_NAMES, words, strict=True):
        if what == "status":
            if word not in tuple(STATUSES):
                raise InputError(f"{where}: the status of cell {cell} must be one of {', '.join(STATUSES)}")
            continue
        number = _number(where, f"the {what} of cell {cell}", word)
        if what == "number" and number != cell:
            raise InputError(f"{where}: cell {cell} should be here; the cells must be numbered from 0 in order")
        if math.isnan(number) or (math.isinf(number) and "bound" not in what):
            raise InputError(f"{where}: the {what} of cell {cell} is not a finite number")


def _check_relation(where: str, line: str, n: int) -> None:
    head, colon, tail = line.partition(":")
    words = head.split()
    if not colon or len(words) != 2:
        raise InputError(f"{where}: a relation is written 'rhs k : j (c) j (c) …'; is the number of relations right?")
    if not math.isfinite(_number(where, "the right-hand side of the relation", words[0])):
        raise InputError(f"{where}: the right-hand side of the relation is not a finite number")
    size = _size(where, words[1], "the number of terms k")
    terms = _TERM.findall(tail)
    if _TERM.sub("", tail).strip():
        raise InputError(
            f"{where}: the terms of a relation are written 'j (c)', a cell and its coefficient in brackets"
        )
    if len(terms) != size or not size:
        raise InputError(f"{where}: the relation announces {size} terms but has {len(terms)}; there must be 1 at least")
    seen = set()
    for cell_word, coefficient in terms:
        cell = _number(where, "a cell of the relation", cell_word)
        if not cell.is_integer() or not 0 <= cell < n:
            raise InputError(f"{where}: the relation names a cell that is not there; cells are numbered 0 to {n - 1}")
        if cell in seen:
            raise InputError(f"{where}: the relation names cell {int(cell)} twice; add up its coefficients")
        seen.add(cell)
        if not math.isfinite(_number(where, "a coefficient of the relation", coefficient)):
            raise InputError(f"{where}: a coefficient of the relation is not a finite number")
