"""The pattern of another tool: which cells it suppresses, laid over a table whose unsafe cells are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.data.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.data.tabular.table import Table

CODE_VALUE = (".txt", ".csv")


def patterned(table: Table, pattern: Path | None) -> tuple[Table, NDArray[np.bool_], list[str]]:
    """The table with a pattern in place of its own, the unsafe cells that it publishes, and what was assumed.

    What is unsafe is what the table says. Only where it says nothing is it what the pattern says.
    """
    unsafe = table.status == PRIMARY
    nothing = np.zeros(len(table), dtype=np.bool_)
    if pattern is None:
        return table, nothing, []
    status = _status(table, pattern)
    notes = []
    hidden = (status == PRIMARY) | (status == SECONDARY)
    if not unsafe.any():
        unsafe = status == PRIMARY
        notes.append(f"the table names no unsafe cell; those of {pattern.name} are taken, which say no level")
    more = int(((status == PRIMARY) & ~unsafe).sum())
    if more:
        notes.append(f"{more} cells that {pattern.name} calls unsafe are not unsafe by the table; taken as secondary")
    laid = np.where(hidden, np.where(unsafe, PRIMARY, SECONDARY), np.where(status == FIXED, FIXED, SAFE))
    return table.but(status=laid.astype(np.uint8)), unsafe & ~hidden, notes


def _status(table: Table, pattern: Path) -> NDArray[np.uint8]:
    if pattern.suffix.lower() in CODE_VALUE and table.dimensions and not _is_ours(pattern):
        from discreet.data.tabular import codevalue

        return codevalue.read(pattern, table)
    from discreet.data.tabular.files import read_table

    other = read_table(pattern)
    if len(other) != len(table) or len(other.dimensions) != len(table.dimensions):
        raise InputError(
            f"{pattern.name} has {len(other):,} cells in {len(other.dimensions)} dimensions, the table {len(table):,} "
            f"in {len(table.dimensions)}; a pattern must be of the same table"
        )
    if not table.dimensions:
        return other.status
    order = _matched(table, other, pattern)
    return other.status[order]


def _is_ours(pattern: Path) -> bool:
    return pattern.with_suffix(".table.json").exists()


def _matched(table: Table, other: Table, pattern: Path) -> NDArray[np.int32]:
    """Where each cell of the table stands in the other, by its codes."""
    keys = np.zeros(len(table), dtype=np.int64)
    for axis, one in enumerate(table.dimensions):
        names = [theirs.name for theirs in other.dimensions]
        if one.name not in names:
            raise InputError(f"{pattern.name} has no dimension '{one.name}'; a pattern must be of the same table")
        at = names.index(one.name)
        place = np.array([other.dimensions[at].position.get(code, -1) for code in one.codes])[table.codes[:, axis]]
        if (place < 0).any():
            raise InputError(
                f"{pattern.name} lacks {table.name(int(np.argmin(place)))}; a pattern must be of the same table"
            )
        keys += place * other.places.strides[at]
    found = other.places.find(keys)
    if (found < 0).any():
        raise InputError(
            f"{pattern.name} lacks {table.name(int(np.argmin(found)))}; a pattern must be of the same table"
        )
    return found
