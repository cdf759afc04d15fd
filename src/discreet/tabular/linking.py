"""Linked tables: several tables that share cells become one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.others import Others, join
from discreet.tabular.relations import Part, Places, name_cell, relations_of
from discreet.tabular.table import FIXED, PRIMARY, SECONDARY, TOLERANCE, Table

# Of two opinions on a shared cell the stricter holds.
_STRICTNESS = np.array([0, 3, 2, 1], dtype=np.uint8)


def link(tables: Sequence[Table]) -> Table:
    """Merge tables of the same response into one system, in which a cell that several of them have is one cell.

    A cell is the same where its codes are, the total standing for every dimension that a table does not have.

    Parameters
    ----------
    tables : sequence of Table
        Two at least, with dimensions; a dimension of the same name is the same variable.
    """
    if len(tables) < 2:
        raise InputError("linking needs two tables at least")
    for table in tables:
        if not table.dimensions:
            raise InputError(
                f"{table.source} has no dimensions, so nothing tells which cells it shares; it cannot be linked"
            )
    if len({table.response for table in tables}) > 1:
        raise InputError("linked tables must sum up the same response; tables of different responses share no cells")
    dimensions = _merge_dimensions(tables)
    codes = np.concatenate([_translate_codes(table, dimensions) for table in tables])
    keys = Places([len(one.codes) for one in dimensions], codes).keys
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    _check_values(tables, first[which])
    parts = tuple(dict.fromkeys(part for table in tables for part in _parts(table, dimensions)))
    shared = codes[first]
    columns = {name: _stack(tables, name) for name in ("value", "cost", "lower", "upper", "lpl", "upl", "spl")}
    status = np.concatenate([table.status for table in tables])
    _check_statuses(tables, dimensions, shared, status, which)
    rule = np.zeros(len(first), np.int32)
    np.bitwise_or.at(rule, which, np.concatenate([table.rule for table in tables]))
    places = Places([len(one.codes) for one in dimensions], shared)
    sole = _sole(tables, first, which)
    return Table(
        columns["value"][first],
        relations_of(dimensions, parts, shared, places),
        status=_strictest(status, which, len(first)),
        cost=columns["cost"][first],
        lower=_extreme(np.maximum, columns["lower"], which, len(first), -np.inf),
        upper=_extreme(np.minimum, columns["upper"], which, len(first), np.inf),
        lpl=_extreme(np.maximum, columns["lpl"], which, len(first), 0.0),
        upl=_extreme(np.maximum, columns["upl"], which, len(first), 0.0),
        spl=_extreme(np.maximum, columns["spl"], which, len(first), 0.0),
        rule=rule,
        dimensions=dimensions,
        codes=shared,
        parts=parts,
        count=_optional(tables, "count", first),
        tops=_optional(tables, "tops", first),
        asked=_optional(tables, "asked", first),
        sole=sole,
        others=None if sole is None else _others(tables, which),
        decimals=None if any(table.decimals is None for table in tables) else max(t.decimals or 0 for t in tables),
        response=tables[0].response,
        rules=tables[0].rules,
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        source="the linked tables",
        frames=tables[0].frames,
        counts=tables[0].counts if len({table.counts for table in tables}) == 1 else None,
    )


def _sole(tables: Sequence[Table], first: NDArray[np.int64], which: NDArray[Any]) -> NDArray[np.int64] | None:
    """Who is alone in each cell; None where the tables do not number their contributors alike, as shared cells show."""
    held = [table.sole for table in tables if table.sole is not None]
    if len(held) < len(tables):
        return None
    every = np.concatenate(held)
    return every[first] if np.array_equal(every, every[first][which]) else None


def _others(tables: Sequence[Table], which: NDArray[np.int64]) -> Others | None:
    """What is left of the cells of all tables without sole contributors; a pair that several have once."""
    starts = np.cumsum([0, *(len(table) for table in tables)])
    held = [table.others for table in tables]
    pairs = zip(held, starts, strict=False)
    known = [replace(one, cell=which[one.cell + at]) for one, at in pairs if one is not None]
    if len(known) < len(tables):
        return None
    joined = join(known)
    kept = np.zeros(len(joined.who), dtype=np.bool_)
    kept[np.unique(np.stack([joined.who, joined.cell]), axis=1, return_index=True)[1]] = True
    return joined.only(kept)


def _merge_dimensions(tables: Sequence[Table]) -> tuple[Dimension, ...]:
    ways: dict[str, list[Any]] = {}
    missing: dict[str, set[str]] = {}
    for table in tables:
        for one in table.dimensions:
            known = ways.setdefault(one.name, [])
            known.extend(way for way in one.hierarchies if way not in known)
            missing.setdefault(one.name, set()).update(one.missing)
    return tuple(Dimension(name, held, missing[name]) for name, held in ways.items())


def _translate_codes(table: Table, dimensions: Sequence[Dimension]) -> NDArray[np.int32]:
    codes = np.zeros((len(table), len(dimensions)), dtype=np.int32)
    names = [one.name for one in dimensions]
    for axis, one in enumerate(table.dimensions):
        at = names.index(one.name)
        places = np.array([dimensions[at].position[code] for code in one.codes], dtype=np.int32)
        codes[:, at] = places[table.codes[:, axis]]
    return codes


def _parts(table: Table, dimensions: Sequence[Dimension]) -> list[Part]:
    names = [one.name for one in dimensions]
    moved = []
    for part in table.parts:
        spans = []
        for axis, ways in part:
            one = table.dimensions[axis]
            at = names.index(one.name)
            spans.append((at, tuple(dimensions[at].hierarchies.index(one.hierarchies[way]) for way in ways)))
        moved.append(tuple(spans))
    return moved


def _check_values(tables: Sequence[Table], first: NDArray[np.int64]) -> None:
    value = np.concatenate([table.value for table in tables])
    gap = np.abs(value - value[first])
    wrong = np.flatnonzero(gap > TOLERANCE * np.maximum(1.0, np.abs(value)))
    if len(wrong):
        owners = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
        names = [tables[owners[at]].name(int(at - starts[owners[at]])) for at in wrong.tolist()]
        raise InputError(f"linked tables disagree on the value of {len(wrong)} cells they share: {itemize(names)}")


def _check_statuses(
    tables: Sequence[Table],
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    status: NDArray[np.uint8],
    which: NDArray[Any],
) -> None:
    """Refuse a cell that is unsafe in one table and may not be suppressed in another."""
    unsafe, fixed = np.zeros(len(codes), dtype=np.bool_), np.zeros(len(codes), dtype=np.bool_)
    unsafe[which[status == PRIMARY]] = True
    fixed[which[status == FIXED]] = True
    both = np.flatnonzero(unsafe & fixed)
    if len(both):
        names = [name_cell(dimensions, codes[cell]) for cell in both.tolist()]
        raise InputError(
            f"linked tables disagree on {itemize(names)}: unsafe in one, not to be suppressed in another; take one back"
        )


def _stack(tables: Sequence[Table], name: str) -> NDArray[np.float64]:
    return np.concatenate([getattr(table, name) for table in tables])


def _extreme(pick: Any, column: NDArray[np.float64], which: NDArray[Any], n: int, start: float) -> NDArray[np.float64]:
    found = np.full(n, start)
    pick.at(found, which, column)
    return found


def _strictest(status: NDArray[np.uint8], which: NDArray[Any], n: int) -> NDArray[np.uint8]:
    rank = np.zeros(n, dtype=np.uint8)
    np.maximum.at(rank, which, _STRICTNESS[status])
    return np.array([0, FIXED, SECONDARY, PRIMARY], dtype=np.uint8)[rank]


def _optional(tables: Sequence[Table], name: str, first: NDArray[np.int64]) -> Any:
    held = [getattr(table, name) for table in tables]
    if any(column is None for column in held):
        return None
    if name == "tops":
        places = max(column.shape[1] for column in held)
        held = [np.pad(column, ((0, 0), (0, places - column.shape[1]))) for column in held]
    return np.concatenate(held)[first]
