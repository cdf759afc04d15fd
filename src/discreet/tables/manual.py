"""Cells that are named by hand: unsafe, safe or not to be suppressed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import read_attribute
from discreet.data.checks import itemize
from discreet.data.dataset import accept
from discreet.data.roles import Declaration
from discreet.errors import InputError
from discreet.tabular.files import hst
from discreet.tabular.table import FIXED, PRIMARY, SAFE, Table

# The status of a cell of which a list says something else only.
KEPT = 255
WORDS = {"u": PRIMARY, "unsafe": PRIMARY, "primary": PRIMARY, "s": SAFE, "safe": SAFE, "z": FIXED, "fixed": FIXED}


class UnknownCellError(InputError):
    """A cell that is not there: told as the caller named it, and by its fault alone where a file did."""

    def __init__(self, fault: str, told: str) -> None:
        super().__init__(told)
        self.fault = fault


@dataclass(frozen=True, eq=False)
class NamedCells:
    """Cells with the status that somebody gave them (KEPT where none), and levels and costs (nan where none)."""

    cells: NDArray[np.int64]
    status: NDArray[np.uint8]
    lpl: NDArray[np.float64]
    upl: NDArray[np.float64]
    cost: NDArray[np.float64]


def read_cells(table: Table, manual: Any) -> NamedCells:
    """Take in a list of cells: a file, a frame, or the cells themselves.

    A file or frame has a column for each dimension (or `cell`, the number of the cell), and may have `status` (u, s or
    z; unsafe where there is none), `lpl` and `upl`. A file .hst is τ-ARGUS's a-priori file.
    """
    if isinstance(manual, str | Path) and Path(manual).suffix.lower() == ".hst":
        return _from_hst(table, Path(manual))
    if isinstance(manual, str | Path) or hasattr(manual, "columns"):
        return _from_frame(table, manual)
    if not isinstance(manual, Iterable):
        raise InputError("manual must be a file, a frame, or a list of cells")
    rows = [find_cell(table, item) for item in manual]
    empty = np.full(len(rows), np.nan)
    return NamedCells(
        np.array(rows, np.int64), np.full(len(rows), PRIMARY, np.uint8), empty, empty.copy(), empty.copy()
    )


def find_cell(table: Table, item: Any) -> int:
    """A cell by its number, or by its codes in the order of the dimensions, or by a mapping of dimensions to codes."""
    if isinstance(item, int | np.integer):
        if not 0 <= item < len(table):
            fault = f"the cells of {table.source} are 0 to {len(table) - 1}"
            raise UnknownCellError(f"there is no such cell; {fault}", f"there is no cell {item}; {fault}")
        return int(item)
    names = [one.name for one in table.dimensions]
    if not names:
        raise InputError(f"{table.source} has no named dimensions; name its cells by their numbers")
    if isinstance(item, Mapping):
        lost = [str(name) for name in item if name not in names]
        if lost:
            raise InputError(f"{table.source} has no dimension {itemize(lost)}; it has {', '.join(names)}")
        codes = [item.get(name) for name in names]
    else:
        codes = list(item) if isinstance(item, Iterable) and not isinstance(item, str) else [item]
    if len(codes) != len(names):
        raise InputError(f"a cell must be named by a code for each of {', '.join(names)}")
    key = 0
    for one, code, stride in zip(table.dimensions, codes, table.places.strides.tolist(), strict=True):
        code = one.total if code is None else str(code)
        if code not in one.position:
            fault = f"no code of '{one.name}' in {table.source}"
            raise UnknownCellError(f"what names the cell is {fault}", f"'{code}' is {fault}")
        key += one.position[code] * stride
    found = int(table.places.find(np.array([key]))[0])
    if found < 0:
        raise UnknownCellError(
            f"{table.source} has no such cell; nobody contributes to it",
            f"{table.source} has no cell {' × '.join(map(str, codes))}; nobody contributes to it",
        )
    return found


def _whole(number: Any) -> int:
    if float(number) != int(number):
        raise ValueError
    return int(number)


def _from_frame(table: Table, manual: Any) -> NamedCells:
    dataset = accept(manual, "the list of cells", titled=True)
    frame, n = dataset.frame, dataset.frame.height
    names = [one.name for one in table.dimensions]
    needed = ["cell"] if "cell" in frame.columns or not names else names
    lost = [name for name in needed if name not in frame.columns]
    if lost:
        raise InputError(
            f"{dataset.name} has no column {itemize(lost)}; a list of cells names them by {', '.join(needed)}"
        )
    cells = []
    for row, item in enumerate(frame.select(needed).iter_rows()):
        try:
            cells.append(find_cell(table, _whole(item[0]) if needed == ["cell"] else item))
        except UnknownCellError as error:
            raise InputError(f"{dataset.name}, {dataset.place(row)}: {error.fault}") from None
        except (ValueError, TypeError, OverflowError):
            raise InputError(f"{dataset.name}, {dataset.place(row)}: the number of a cell is no whole number") from None
    status = np.full(n, PRIMARY, np.uint8)
    if "status" in frame.columns:
        for row, word in enumerate(frame["status"].to_list()):
            if str(word).strip().lower() not in WORDS:
                raise InputError(f"{dataset.name}, {dataset.place(row)}: the status must be u, s or z")
            status[row] = WORDS[str(word).strip().lower()]
    levels = {}
    for level in ("lpl", "upl"):
        levels[level] = np.full(n, np.nan)
        if level in frame.columns and frame[level].null_count() < n:
            levels[level] = read_attribute(dataset, Declaration(level, kind="numeric"))[0].values
            wrong = np.flatnonzero(levels[level] < 0)
            if len(wrong):
                raise InputError(f"{dataset.name}, {dataset.place(int(wrong[0]))}: {level} is a distance, 0 or more")
    if len(set(cells)) < n:
        raise InputError(f"{dataset.name} names a cell more than once; name each once")
    return NamedCells(np.array(cells, np.int64), status, levels["lpl"], levels["upl"], np.full(n, np.nan))


def _from_hst(table: Table, path: Path) -> NamedCells:
    """The cells of an a-priori file, each with all that its lines say."""
    if not table.dimensions:
        raise InputError(f"{table.source} has no named dimensions, so {path.name} cannot be matched with it by codes")
    said: dict[int, dict[str, float]] = {}
    for prior in hst.read(path, table.dimensions):
        where = f"{path.name}, line {prior.line}"
        try:
            held = said.setdefault(find_cell(table, prior.codes), {})
        except UnknownCellError as error:
            raise InputError(f"{where}: {error.fault}") from None
        news: dict[str, float] = {}
        if prior.status is not None:
            news["status"] = prior.status
        if prior.cost is not None:
            news["cost"] = prior.cost
        if prior.levels is not None:
            news |= {"lpl": prior.levels[0], "upl": prior.levels[1]}
        if any(held.get(name, number) != number for name, number in news.items()):
            raise InputError(f"{where}: an earlier line says something else of this cell; leave one of them")
        held |= news
    cells = sorted(said)

    def column(name: str, rest: float) -> NDArray[np.float64]:
        return np.array([said[cell].get(name, rest) for cell in cells], dtype=np.float64)

    status = column("status", KEPT).astype(np.uint8)
    return NamedCells(
        np.array(cells, np.int64), status, column("lpl", np.nan), column("upl", np.nan), column("cost", np.nan)
    )
