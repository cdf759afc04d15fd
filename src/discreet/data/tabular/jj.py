""".jj files: the cells of a table by number, what must be protected, and the relations between them."""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import check_readable
from discreet.data.tabular.files_text import word
from discreet.data.tabular.relations import Relations, built
from discreet.data.tabular.table import PRIMARY, RULES, STATUSES, Table
from discreet.errors import InputError

FIELDS = 9
_GIVEN = 1 << RULES.index("given")
_BLANK = np.zeros(256, dtype=np.bool_)
_BLANK[[*b" \t\r\n\v\f:()"]] = True


def read(path: str | Path) -> Table:
    """Read a table of numbered cells; compressed with gzip too.

    Parameters
    ----------
    path : str or Path
        The file. Whatever is wrong in it is told with its line.
    """
    path = Path(path)
    data = _content(path)
    table = _parsed(path, data)
    if table is None:
        from discreet.data.tabular.jj_errors import blame

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
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise InputError(
                f"{path.name}: the compressed file is damaged or cut off; copy it again from where it came"
            ) from None
    return data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\x1a\0")


def _parsed(path: Path, data: bytes) -> Table | None:
    """The table, by whole arrays; None if anything at all is wrong, which is looked for elsewhere."""
    head = re.match(rb"\s*(\S+)\s+(\d+)\s", data)
    if not head or not int(head[2]):
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


def _numbers(raw: NDArray[np.uint8], count: int) -> NDArray[np.float64] | None:
    with warnings.catch_warnings():
        # Older versions of numpy warn of what is not a number, newer ones raise.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            numbers = np.fromstring(raw.tobytes(), dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return numbers if len(numbers) == count else None


def _relations(numbers: NDArray[np.float64], first: int, at: dict[str, NDArray[np.int64]], n: int) -> Relations | None:
    """The relations in `numbers` from `first` on, each `rhs k : j (c) …`, if every sign is where it should be."""
    after = at[":"]
    count, rest = numbers[first], numbers[first + 1 :]
    ends = np.concatenate([after[1:] - 2, [len(numbers)]])[: len(after)]
    if count != len(after) or (len(after) and after[0] != first + 3) or (not len(after) and len(rest)):
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
    return built(rows, cells, coefficients, rhs, n)
