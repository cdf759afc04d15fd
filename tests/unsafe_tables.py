"""Small random tables with unsafe cells, of every kind that suppression meets, and what a pattern of one must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.release.suppressed import SuppressedTable
from discreet.tables.primary import primary
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from plain_attacker import bounded, extremes, made, protected
from random_tables import random_table

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

# The fewest and the most base codes of each dimension, and what else `random_table` is told.
KINDS: dict[str, tuple[list[tuple[int, int]], dict[str, Any]]] = {
    "plane": ([(2, 6), (2, 6)], {}),
    "tree": ([(3, 6), (2, 4)], {"hierarchical": True}),
    "crossed": ([(4, 5), (2, 3)], {"hierarchical": True, "second": True}),
    "cube": ([(2, 3), (2, 3), (2, 3)], {}),
    "cube of trees": ([(3, 4), (2, 3), (2, 2)], {"hierarchical": True}),
    "linked": ([(3, 4), (2, 3), (2, 3)], {"linked": True}),
    "linked trees": ([(4, 4), (2, 2), (2, 2)], {"linked": True, "hierarchical": True, "second": True}),
    "four": ([(2, 2), (2, 2), (2, 2), (2, 2)], {}),
    "five": ([(2, 2), (2, 2), (2, 2), (2, 2), (2, 2)], {}),
}
SPARSE = 0.6


@dataclass(frozen=True, eq=False)
class Case:
    """A table with unsafe cells, and cells that must be published besides those its statuses say."""

    table: Table
    frozen: Ints

    @property
    def free(self) -> Bools:
        """The cells that may be suppressed."""
        able: Bools = self.table.status != FIXED
        able[self.frozen] = False
        return able


def case(seed: int, kind: str) -> Case:
    """A random table: sparse or full, with ties, negative values, open or close bounds, and frozen cells.

    Parameters
    ----------
    seed : int
        The same seed gives the same table.
    kind : str
        One of `KINDS`, or "any": whole numbers of any sign and size, without contributors.
    """
    rng = np.random.default_rng([seed, 6])
    table = made(rng, seed) if kind == "any" else _contributed(rng, kind)
    if table.count is not None and rng.random() < 0.5:
        table = primary(table, p=int(rng.choice([10, 30])), threshold=int(rng.choice([2, 3])))
    else:
        table = _levelled(rng, table.but(**bounded(rng, table)))
    return Case(*_frozen(rng, _priced(rng, table)))


def _contributed(rng: np.random.Generator, kind: str) -> Table:
    spans, more = KINDS[kind]
    sizes = [int(rng.integers(least, most + 1)) for least, most in spans]
    return random_table(
        rng,
        sizes,
        # Every base cell of five dimensions would be too many.
        zeros=0.9 if len(sizes) > 4 else float(rng.choice([0.0, 0.0, 0.3, SPARSE])),
        decimals=int(rng.choice([0, 0, 2])),
        holdings=bool(rng.random() < 0.3),
        complete=len(sizes) < 5 and bool(rng.random() < 0.5),
        **more,
    )


def _levelled(rng: np.random.Generator, table: Table) -> Table:
    """The table with random unsafe cells: levels of a share of the value, one-sided, a range, or none at all."""
    n, step = len(table), 10.0 ** -(table.decimals or 0)
    below, above = table.value - table.lower, table.upper - table.value
    unsafe = (rng.random(n) < rng.choice([0.05, 0.15, 0.3])) & (table.upper > table.lower)
    level = np.maximum(np.round(rng.choice([0.05, 0.15, 0.3]) * np.abs(table.value) / step), 1.0) * step
    kind = rng.choice(["both", "both", "up", "down", "range", "bare"], n)
    upl = np.where(np.isin(kind, ["both", "up"]), np.minimum(level, above), 0.0)
    lpl = np.where(np.isin(kind, ["both", "down"]), np.minimum(level, below), 0.0)
    spl = np.where(kind == "range", np.minimum(level, above + below), 0.0)
    asked = [np.where(unsafe, amount, 0.0) for amount in (lpl, upl, spl)]
    status = np.where(unsafe, PRIMARY, SAFE).astype(np.uint8)
    return table.but(status=status, lpl=asked[0], upl=asked[1], spl=asked[2])


def _priced(rng: np.random.Generator, table: Table) -> Table:
    """The table with costs: the values, equal ones, logarithms, or odd ones with some that cost nothing."""
    size = np.abs(table.value)
    ways = (size, np.ones(len(table)), np.log1p(size), np.where(rng.random(len(table)) < 0.3, 0.0, rng.random() + size))
    return table.but(cost=ways[int(rng.integers(4))])


def _frozen(rng: np.random.Generator, table: Table) -> tuple[Table, Ints]:
    """The table with cells that may not be suppressed, and some more of them told apart."""
    status = table.status.copy()
    others = status == SAFE
    if rng.random() < 0.5:
        status[others & (table.value == 0)] = FIXED
    status[(status == SAFE) & (rng.random(len(table)) < rng.choice([0.0, 0.0, 0.1, 0.3]))] = FIXED
    told = (status == SAFE) & (rng.random(len(table)) < rng.choice([0.0, 0.0, 0.1]))
    return table.but(status=status), np.flatnonzero(told)


def exposed(table: Table, hidden: Bools, *, strict: bool = False, plain: bool = False) -> set[int]:
    """The unsafe cells that an attacker knows too closely where some cells are not published.

    Parameters
    ----------
    table : Table
        The table with its unsafe cells.
    hidden : array of bool
        Which cells are not published; the unsafe ones are never.
    strict : bool
        Whether levels must be exceeded.
    plain : bool
        Whether two dense linear programs of scipy say so for each cell, instead of the audit.
    """
    status = np.where(table.status == PRIMARY, PRIMARY, np.where(hidden, SECONDARY, SAFE)).astype(np.uint8)
    held = table.but(status=status, rules={"words": {}})
    if not plain:
        return set(audit(held, strict=strict).failed.tolist())
    cells = table.primary
    down, up = extremes(held, held.suppressed, cells)
    # The plain attacker is a little less exact than the audit: what it holds against a cell must be more than rounding.
    slack = 1e-7 * np.maximum(1.0, np.abs(table.value[cells]))
    return set(cells[~protected(held, cells, down + slack, up + slack, strict=strict)].tolist())


def refute(
    case: Case, found: SuppressedTable, *, strict: bool = False, secondaries: bool = False, plain: bool = False
) -> str:
    """Say what is wrong with a release of a table; nothing if all that was promised is kept.

    Cells that no pattern protects are exposed: the release must have counted them, and protects all others.
    """
    table, released = case.table, found.table
    hidden = released.suppressed
    if not np.array_equal(released.primary, table.primary):
        return "other cells are unsafe than before"
    if not (hidden <= case.free)[table.status != PRIMARY].all():
        return "a cell is suppressed that must be published"
    secondary = np.flatnonzero(hidden & (table.status != PRIMARY))
    if not np.array_equal(secondary, found.secondary):
        return "what is told to be secondary is not what is suppressed"
    if not np.array_equal(released.value, table.value) or not np.array_equal(released.codes, table.codes):
        return "the cells are not those of the table"
    if not np.isclose(found.cost, table.cost[secondary].sum(), rtol=1e-9, atol=1e-9):
        return "the cost is not what the secondary cells cost"
    lost = beyond_help(case, strict=strict, secondaries=secondaries)
    failed = exposed(table, hidden, strict=strict, plain=plain and not strict) - lost
    if failed:
        return f"cells {sorted(failed)} are exposed that could be protected"
    if found.evidence["measures"]["unprotected_count"] != len(lost):
        return f"cells {sorted(lost)} cannot be protected, which is not what is said"
    known = known_secondaries(table, hidden, strict=strict) if secondaries else set()
    return f"secondary cells {sorted(known)} are given away" if known else ""


def beyond_help(case: Case, *, strict: bool = False, secondaries: bool = False) -> set[int]:
    """The unsafe cells that no pattern protects: they are exposed where everything is suppressed that may be.

    Where secondary cells are protected too, those that are given away all the same may not be: what is given away by a
    pattern is given away by all that suppress less.
    """
    hidden = case.free.copy()
    while secondaries and (known := known_secondaries(case.table, hidden, strict=strict)):
        hidden[list(known)] = False
    return exposed(case.table, hidden, strict=strict)


def known_secondaries(table: Table, hidden: Bools, *, strict: bool = False) -> set[int]:
    """The suppressed cells, of those that are not unsafe, that an attacker knows too closely."""
    status = np.where(table.status == PRIMARY, PRIMARY, np.where(hidden, SECONDARY, SAFE)).astype(np.uint8)
    failed = audit(table.but(status=status, rules={"words": {}}), strict=strict, secondaries=True).failed
    return set(failed[status[failed] == SECONDARY].tolist())


def tree_table(rng: np.random.Generator, most: int) -> Table:
    """A hierarchical table, of two to so many dimensions, with unsafe cells and room above all cells."""
    table = random_table(rng, int(rng.integers(2, most + 1)), hierarchical=True, second=False, linked=False)
    unsafe = (table.value > 0) & (rng.random(len(table)) < 0.2)
    level = np.where(unsafe, np.maximum(np.round(0.05 * table.value), 1.0), 0.0)
    return table.but(
        status=np.where(unsafe, PRIMARY, np.where(table.value == 0, FIXED, 0)).astype(np.uint8),
        upl=level,
        lpl=np.minimum(level, table.value),
        upper=np.full(len(table), 3.0 * float(table.value.max()) + 1.0),
    )
