"""A published table as it was written, codes and values with a mark in place of every suppressed value.

And what an earlier release of a table tells of this one. A table that is published again with another pattern gives
away what either of the two publishes. Of a later period an attacker knows less: that a value has grown or fallen by no
more than so many percent. Either way the earlier release is knowledge of single cells, and narrows the bounds within
which the attacker looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.checks import check_readable, itemize
from discreet.data.files import excel
from discreet.errors import InputError, at_least
from discreet.tabular.table import Table
from discreet.text import count

# A table without named dimensions is published with the numbers of its cells, and a Parquet file says what it lacks.
CELL, SUPPRESSED = "cell", "suppressed"


@dataclass(frozen=True, eq=False)
class Publication:
    """What is public of a table.

    Attributes
    ----------
    names
        The dimensions; "cell" alone where there are none.
    codes
        The codes of each cell, a tuple in the order of the names.
    values
        The published values; nan where a cell is suppressed.
    hidden
        Which cells are suppressed.
    """

    names: tuple[str, ...]
    codes: list[tuple[Any, ...]]
    values: NDArray[np.float64]
    hidden: NDArray[np.bool_]

    def find(self, table: Table, path: Path) -> NDArray[np.int64]:
        """Where each cell of a table stands here, by its codes; −1 where it does not."""
        place = {codes: at for at, codes in enumerate(self.codes)}
        if len(place) < len(self.codes):
            raise InputError(f"{path.name}: some cells occur more than once; leave each of them once")
        if not table.dimensions:
            return np.array([place.get((str(cell),), -1) for cell in range(len(table))], dtype=np.int64)
        axes = [[one.name for one in table.dimensions].index(name) for name in self.names]
        texts = [table.codes_of(axis) for axis in axes]
        return np.array([place.get(codes, -1) for codes in zip(*texts, strict=True)], dtype=np.int64)


def read_public_frame(path: Path) -> tuple[pl.DataFrame, bool] | None:
    """The columns of a published table, and whether marks stand in place of values; None if it cannot be read.

    Parameters
    ----------
    path : Path
        A .csv, .xlsx, .parquet or .arrow file.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".xlsx":
            return excel.read(path, header=True).frame.select(pl.all().cast(pl.String)), True
        if suffix == ".csv":
            return pl.read_csv(path, infer_schema=False), True
        if suffix == ".arrow":
            return pl.read_ipc(path), False
        return (pl.read_parquet(path), False) if suffix == ".parquet" else None
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError, InputError):
        return None


def read_publication(path: Path, table: Table) -> Publication | None:
    """Read a file that `suppress` has written of a table with these dimensions; None if it is none.

    Parameters
    ----------
    path : Path
        A .csv, .xlsx, .parquet or .arrow file.
    table : Table
        The table with the dimensions that the file must have: they and one column of values are all of it.
    """
    read = read_public_frame(path) if path.is_file() else None
    if read is None:
        return None
    frame = read[0]
    names = [one.name for one in table.dimensions] or [CELL]
    rest = [name for name in frame.columns if name not in names and name != SUPPRESSED]
    if len(rest) != 1 or any(name not in frame.columns for name in names):
        return None
    told = tuple(name for name in frame.columns if name in names)
    values = frame[rest[0]].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    codes = list(frame.select(pl.col(name).cast(pl.String).fill_null("") for name in told).iter_rows())
    return Publication(told, codes, values, np.isnan(values))


def check_values(publication: Publication, table: Table, found: NDArray[np.int64], path: Path) -> None:
    """Refuse a publication that has another value than the table has in a cell that it publishes."""
    differ = np.flatnonzero(find_changed(publication.values[found], table))
    if len(differ):
        names = itemize([table.name(int(cell)) for cell in differ])
        raise InputError(
            f"{path.name}: {count(len(differ), 'cell')} published with another value than in {table.source}: {names}; "
            "is it the same table, with the same response?"
        )


def find_changed(shown: NDArray[np.float64], table: Table) -> NDArray[np.bool_]:
    """Which cells of a table have another value than is shown, where both are known; rounding is no other."""
    unit = 0.5 * 10.0 ** -(table.decimals if table.decimals is not None else 9)
    value = np.nan_to_num(table.value)
    known = ~np.isnan(shown) & ~np.isnan(table.value)
    differ: NDArray[np.bool_] = np.abs(np.nan_to_num(shown) - value) > unit * (1 + 1e-9) + 1e-12 * np.abs(value)
    return known & differ


def narrow_bounds(table: Table, releases: Any, growth: Any) -> tuple[Table, list[str]]:
    """The table with the bounds of an attacker who has seen earlier releases of it, and what was found there.

    Parameters
    ----------
    table : Table
        The table of today.
    releases : path or list of path, optional
        The earlier releases, as suppress has published them. Cells are matched by their codes.
    growth : float
        By how many percent everybody knows values to have changed at most; 0 where they are the same unless revised.
    """
    at_least("growth", growth, 0.0)
    if releases is None and growth:
        raise InputError("growth is that since an earlier release: name it by --previous-release (previous_release)")
    growth = growth / 100.0
    lower, upper, notes = table.lower.copy(), table.upper.copy(), []
    every: Sequence[Any] = [releases] if isinstance(releases, str | Path) else releases or ()
    for path in map(Path, every):
        check_readable(path)
        public = read_publication(path, table)
        if public is None:
            raise InputError(
                f"{path.name} is no earlier release of {table.source}: it must have its dimensions and one column of "
                "values, as suppress publishes them (.csv, .xlsx, .parquet or .arrow)"
            )
        found = public.find(table, path)
        there = (found >= 0) & ~public.hidden[found]
        then = np.where(there, public.values[found], np.nan)
        room = growth * np.abs(then)
        if growth:
            kept = there & ~(np.abs(then - table.value) > room)
        else:
            changed = find_changed(then, table)
            # Where the value of today is not known, nobody can tell it from one that was revised if others were.
            kept = there & ~changed & ~(np.isnan(table.value) & bool(changed.any()))
        if not kept.any():
            raise InputError(
                f"{path.name}: no cell of {table.source} was published then with the value of now; name a release of "
                "the same response and, if it is of another period, by how many percent values change (growth)"
            )
        fixed = kept & ~np.isnan(table.value) & (growth == 0)
        low, high = (np.where(fixed, table.value, then + side * room) for side in (-1, 1))
        lower[kept], upper[kept] = np.maximum(lower, low)[kept], np.minimum(upper, high)[kept]
        notes.append(_tell(path, table, there, kept, len(public.codes) - len(np.unique(found[found >= 0])), growth))
    return table.but(lower=lower, upper=np.maximum(lower, upper)), notes


def _tell(path: Path, table: Table, there: Any, kept: Any, gone: int, growth: float) -> str:
    gives = int((kept & table.suppressed).sum())
    same = f"within {100 * growth:g} % of" if growth else "with"
    said = f"{path.name}: {count(int(kept.sum()), 'cell')} published then {same} the value of now"
    said += f", {count(gives, 'suppressed cell')} of today among them" if gives else ""
    other = int((there & ~kept).sum())
    said += f"; {count(other, 'cell')} with another, taken to tell nothing" if other else ""
    return said + (f"; {count(gone, 'cell')} of it not in this table, and not used" if gone else "")
