""".jj files: the cells of a table by number, what must be protected, and the relations between them.

A file is parsed by whole arrays; only if something is wrong is it gone over line by line, to say what and where.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import check_readable
from discreet.data.memory import largest_size, unpack_gzip
from discreet.errors import InputError
from discreet.tabular.files.text import word
from discreet.tabular.relations import Relations, build_relations
from discreet.tabular.table import PRIMARY, RULES, STATUSES, Table
from discreet.text import count

FIELDS = 9
MOST_DIGITS = 12
_NAMES = ("number", "value", "cost", "status", "lower bound", "upper bound", "LPL", "UPL", "SPL")
_GIVEN = 1 << RULES.index("given")
_BLANK = np.zeros(256, dtype=np.bool_)
_BLANK[[*b" \t\r\n\v\f:()"]] = True
_TERM = re.compile(r"([^\s():]+)\s*\(\s*([^\s():]+)\s*\)\s*")
Lines = Iterator[tuple[int, str]]


def read(path: str | Path) -> Table:
    """Read a table of numbered cells; compressed with gzip too.

    Parameters
    ----------
    path : str or Path
        The file. Whatever is wrong in it is told with its line.
    """
    path = Path(path)
    data = _content(path)
    table = _parse(path, data)
    if table is None:
        raise blame(path, data)
    return table


def text(table: Table) -> str:
    """The content of the file for a table: cells and relations, without the names of dimensions and codes."""
    if not np.isfinite(np.stack([table.value, table.cost, table.lpl, table.upl, table.spl])).all():
        raise InputError(
            f"{table.source}: a .jj file has no place for a value that is not known; choose another format"
        )
    columns: list[Any] = [range(len(table)), *map(_words, (table.value, table.cost))]
    columns.append(np.array(list(STATUSES), dtype=object)[table.status])
    columns += map(_words, (table.lower, table.upper, table.lpl, table.upl, table.spl))
    row = " ".join(["{}"] * FIELDS).format
    relations = table.relations
    terms = list(map("{} ({})".format, relations.cells.tolist(), _words(relations.coefficients)))
    starts = relations.starts.tolist()
    sums = [
        f"{rhs} {end - start} : {' '.join(terms[start:end])}"
        for rhs, start, end in zip(_words(relations.rhs), starts, starts[1:], strict=False)
    ]
    return "\n".join(["0", str(len(table)), *map(row, *columns), str(len(relations)), *sums, ""])


def _words(numbers: NDArray[np.float64]) -> NDArray[np.object_]:
    # Bounds and levels repeat: each number is written once.
    kinds, which = np.unique(numbers, return_inverse=True)
    words = np.empty(len(kinds), dtype=object)
    words[:] = [word(number) for number in kinds.tolist()]
    return words[which]


def _content(path: Path) -> bytes:
    check_readable(path)
    data = path.read_bytes()
    if data.startswith(b"\x1f\x8b"):
        data = unpack_gzip(path, largest_size(path, None), "unpack it first")
    return data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\x1a\0")


def _parse(path: Path, data: bytes) -> Table | None:
    """The table, by whole arrays; None if anything at all is wrong, which is looked for elsewhere."""
    head = re.match(rb"\s*(\S+)\s+(\d+)\s", data)
    # No file has so many cells; and Python refuses numbers of thousands of digits with words of its own.
    if not head or len(head[2]) > MOST_DIGITS or not int(head[2]):
        return None
    n = int(head[2])
    raw = np.frombuffer(data, dtype=np.uint8).copy()
    solid = ~_BLANK[raw]
    starts = np.flatnonzero(solid & ~np.concatenate([[False], solid[:-1]]))
    if len(starts) < 3 + FIELDS * n:
        return None
    letters = starts[5 : 2 + FIELDS * n : FIELDS]
    status = np.full(256, len(STATUSES), dtype=np.uint8)
    status[[*STATUSES.encode()]] = range(len(STATUSES))
    statuses = status[raw[letters]]
    signs = {sign: np.flatnonzero(raw == ord(sign)) for sign in ":()"}
    if (statuses >= len(STATUSES)).any() or solid[letters + 1].any():
        return None
    raw[letters] = ord(" ")
    raw[~solid] = ord(" ")
    numbers = _numbers(raw, len(starts) - n)
    if numbers is None or numbers[0] != 0:
        return None
    cells = numbers[2 : 2 + 8 * n].reshape(n, 8)
    firm = np.delete(cells, [3, 4], axis=1)  # only what an attacker knows may be without bound
    if (cells[:, 0] != np.arange(n)).any() or not np.isfinite(firm).all() or np.isnan(cells).any():
        return None
    # From here on, tokens and numbers are the same but for the statuses before.
    at = {sign: np.searchsorted(starts, places) - n for sign, places in signs.items()}
    relations = _relations(numbers, 2 + 8 * n, at, n)
    if relations is None:
        return None
    _, value, cost, lower, upper, lpl, upl, spl = (np.ascontiguousarray(column) for column in cells.T)
    return Table.of(
        value,
        relations=relations,
        status=statuses,
        cost=cost,
        lower=lower,
        upper=upper,
        lpl=lpl,
        upl=upl,
        spl=spl,
        rule=np.where(statuses == PRIMARY, _GIVEN, 0).astype(np.int32),
        source=path.name,
    )


def _numbers(raw: NDArray[np.uint8], expected: int) -> NDArray[np.float64] | None:
    with warnings.catch_warnings():
        # Older versions of numpy warn of what is not a number, newer ones raise.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers = np.fromstring(raw.tobytes(), dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return numbers if len(numbers) == expected else None


def _relations(numbers: NDArray[np.float64], first: int, at: dict[str, NDArray[np.int64]], n: int) -> Relations | None:
    """The relations in `numbers` from `first` on, each `rhs k : j (c) …`, if every sign is where it should be."""
    after = at[":"]
    announced, rest = numbers[first], numbers[first + 1 :]
    ends = np.concatenate([after[1:] - 2, [len(numbers)]])[: len(after)]
    if announced != len(after) or (len(after) and after[0] != first + 3) or (not len(after) and len(rest)):
        return None
    sizes = (ends - after) // 2
    if not (numbers[after - 1] * 2 == ends - after).all() or (sizes < 1).any():
        return None
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    places = after[rows] + 2 * (np.arange(starts[-1]) - starts[rows])
    if not (np.array_equal(at["("], places + 1) and np.array_equal(at[")"], places + 2)):
        return None
    named, rhs, coefficients = numbers[places], numbers[after - 2], numbers[places + 1]
    if not ((named >= 0) & (named < n) & (named == np.floor(named))).all():
        return None
    if not (np.isfinite(rhs).all() and np.isfinite(coefficients).all()):
        return None
    cells = named.astype(np.int64)
    keys = np.sort(rows * n + cells)
    if (keys[1:] == keys[:-1]).any():
        return None
    return build_relations(rows, cells, coefficients, rhs, n)


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
        _check_cell(*_next(name, lines, f"cell {cell}"), cell)
    for relation in range(_size(*_next(name, lines, "the number of relations"), "the number of relations")):
        _check_relation(*_next(name, lines, f"relation {relation + 1}"), n)
    for number, line in lines:
        twice = "; the file seems to have been written twice" if len(line.split()) == 1 else ""
        raise InputError(
            f"{name}, line {number}: data after the last relation{twice}; delete it, or correct the number of relations"
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


def _check_cell(where: str, line: str, cell: int) -> None:
    words = line.split()
    if len(words) == 1 or ":" in line:
        raise InputError(f"{where}: cell {cell} should be here: there are fewer cells than announced")
    if len(words) != len(_NAMES):
        raise InputError(f"{where}: a cell has {len(_NAMES)} fields ({', '.join(_NAMES)}), not {len(words)}")
    for what, entry in zip(_NAMES, words, strict=True):
        if what == "status":
            if entry not in tuple(STATUSES):
                raise InputError(f"{where}: the status of cell {cell} must be one of {', '.join(STATUSES)}")
            continue
        number = _number(where, f"the {what} of cell {cell}", entry)
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
        raise InputError(
            f"{where}: the relation has {count(len(terms), 'term')}, which is not what it announces; there must be 1 "
            "at least"
        )
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
