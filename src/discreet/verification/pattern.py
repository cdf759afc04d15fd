"""The pattern of another tool: which cells it suppresses, laid over a table whose unsafe cells are known.

A table that fits what is published, where the suppressed values are not known; or why there is none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, eye_array, hstack

from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.solvers.highs import LinearProgram, Matrix
from discreet.solvers.tolerances import PRINTED
from discreet.tabular.files import codevalue
from discreet.tabular.files.formats import read_table
from discreet.tabular.files.own import beside
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table
from discreet.text import count
from discreet.verification.publication import check_values, read_publication

CODE_VALUE = (".txt", ".csv")


def apply_pattern(table: Table, pattern: Path | None) -> tuple[Table, NDArray[np.bool_], list[str]]:
    """Give the table with a pattern in place of its own, the unsafe cells that it publishes, and what was assumed.

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


def previous_pattern(table: Table, path: Path) -> tuple[NDArray[np.bool_], list[str]]:
    """Which cells of a table an earlier pattern suppresses, by their codes, and which cells came or went since.

    Parameters
    ----------
    table : Table
        The table of today.
    path : Path
        The earlier table, as it was published or with its statuses; or τ-ARGUS's code-value output of the same cells.
    """
    status, found, size = _status_of(table, path)
    came, went = int((found < 0).sum()), size - len(np.unique(found[found >= 0]))
    if came == len(table):
        raise InputError(f"{path.name} has no cell of {table.source}; a pattern must be of the same dimensions")
    notes = []
    if came or went:
        notes.append(f"since {path.name} {count(came, 'cell')} came and {count(went, 'cell')} went; matched by codes")
    return np.isin(status, (PRIMARY, SECONDARY)), notes


def _status(table: Table, pattern: Path) -> NDArray[np.uint8]:
    """The status of every cell in a pattern of the same table."""
    status, found, size = _status_of(table, pattern, is_same=True)
    if (found < 0).any():
        raise InputError(
            f"{pattern.name} lacks {table.name(int(np.argmin(found)))}; a pattern must be of the same table"
        )
    if size != len(table):
        raise InputError(
            f"{pattern.name} has {count(size, 'cell')}, the table {len(table):,}; a pattern must be of the same table"
        )
    return status


def _status_of(
    table: Table, pattern: Path, *, is_same: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
    """The status of each cell of a table in a file, where it stands there (−1 where it does not), and how many do."""
    public = read_publication(pattern, table)
    if public is not None and not _is_ours(pattern):
        found = public.find(table, pattern)
        if is_same and (found >= 0).all():
            check_values(public, table, found, pattern)
        hidden = np.where(found >= 0, public.hidden[found], False)
        return np.where(hidden, SECONDARY, SAFE).astype(np.uint8), found, len(public.codes)
    if pattern.suffix.lower() in CODE_VALUE and table.dimensions and not _is_ours(pattern):
        return codevalue.read(pattern, table), np.arange(len(table)), len(table)
    other = read_table(pattern)
    if not table.dimensions or not other.dimensions:
        if len(other) != len(table) or len(other.dimensions) != len(table.dimensions):
            raise InputError(
                f"{pattern.name} has {len(other):,} cells in {len(other.dimensions)} dimensions, the table "
                f"{len(table):,} in {len(table.dimensions)}; a pattern must be of the same table"
            )
        return other.status, np.arange(len(table)), len(table)
    found = _match(table, other, pattern)
    return np.where(found >= 0, other.status[found], SAFE).astype(np.uint8), found, len(other)


def _is_ours(pattern: Path) -> bool:
    return pattern.suffix.lower() == ".csv" and beside(pattern).exists()


def _match(table: Table, other: Table, pattern: Path) -> NDArray[np.int64]:
    """Where each cell of the table stands in the other, by its codes; −1 where it does not."""
    if len(other.dimensions) != len(table.dimensions):
        raise InputError(
            f"{pattern.name} has {len(other):,} cells in {len(other.dimensions)} dimensions, the table {len(table):,} "
            f"in {len(table.dimensions)}; a pattern must be of the same table"
        )
    keys = np.zeros(len(table), dtype=np.int64)
    there = np.ones(len(table), dtype=np.bool_)
    for axis, one in enumerate(table.dimensions):
        names = [theirs.name for theirs in other.dimensions]
        if one.name not in names:
            raise InputError(f"{pattern.name} has no dimension '{one.name}'; a pattern must be of the same table")
        at = names.index(one.name)
        place = np.array([other.dimensions[at].position.get(code, -1) for code in one.codes])[table.codes[:, axis]]
        there &= place >= 0
        keys += np.maximum(place, 0) * other.places.strides[at]
    return np.where(there, other.places.find(keys), -1).astype(np.int64)


Floats = NDArray[np.float64]


def centre_of(table: Table) -> Floats:
    """Values for all cells that fit the published ones, the relations and the bounds.

    Parameters
    ----------
    table : Table
        The table; the value of a suppressed cell may be nan. A cell that is published must have one.

    Raises
    ------
    InputError
        If no values fit: with the relations that contradict each other.
    """
    unknown = np.isnan(table.value)
    if not unknown.any():
        return table.value
    bare = np.flatnonzero(unknown & ~table.suppressed)
    if len(bare):
        names = itemize([table.name(int(cell)) for cell in bare])
        raise InputError(f"{table.source}: {names} is published, but has no value; give it one or mark it suppressed")
    relations = table.relations
    cells = np.flatnonzero(unknown)
    number = np.full(len(table), -1)
    number[cells] = np.arange(len(cells))
    inside = unknown[relations.cells]
    rows, which = np.unique(relations.rows[inside], return_inverse=True)
    rest = -relations.residuals(np.nan_to_num(table.value))[rows]
    found, missed = _fit(
        which,
        number[relations.cells[inside]],
        relations.coefficients[inside],
        rest,
        table.lower[cells],
        table.upper[cells],
    )
    scale = max(1.0, float(np.abs(np.nan_to_num(table.value)).max(initial=1.0)))
    wrong = rows[missed > PRINTED * scale]
    if len(wrong):
        names = itemize([table.relation_name(int(row)) for row in wrong])
        raise InputError(
            f"{table.source}: no values of the suppressed cells fit the published ones and the bounds; the conflict is "
            f"in {names}. Correct a published value, or widen the bounds"
        )
    centre = table.value.copy()
    centre[cells] = found
    return centre


def _fit(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    coefficients: Floats,
    rest: Floats,
    lower: Floats,
    upper: Floats,
) -> tuple[Floats, Floats]:
    """Values within bounds that miss the relations by as little as possible in all, and by how much each is missed."""

    n, m = len(lower), len(rest)
    matrix = csc_array((coefficients, (rows, columns)), shape=(m, n))
    elastic = csc_array(hstack([matrix, eye_array(m), -eye_array(m)]))
    linear = LinearProgram(
        cost=np.concatenate([np.zeros(n), np.ones(2 * m)]),
        lower=np.concatenate([lower, np.zeros(2 * m)]),
        upper=np.concatenate([upper, np.full(2 * m, np.inf)]),
        row_lower=rest,
        row_upper=rest,
        matrix=Matrix(elastic.indptr, elastic.indices, elastic.data),
        # HiGHS knows best how to solve one of which nothing is known.
        parallel="choose",
        solver="choose",
    )
    linear.run()
    found = linear.values
    return found[:n], found[n : n + m] + found[n + m :]
