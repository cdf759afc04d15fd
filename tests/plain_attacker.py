"""Plain attackers of suppressed tables, which the tests compare the project's own with.

Nothing here uses more of the project than the data of a table: relations are listed from the hierarchies one by one,
and every interval is two dense linear programs of scipy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from random_tables import random_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FAR = 1e12
"""What a cell without bounds is said to reach at least."""


def lines(table: Table) -> Floats:
    """The relations of a table as a dense matrix: of its dimensions one by one, or as they are where it has none."""
    if not table.dimensions:
        rows = np.zeros((len(table.relations), len(table)))
        for at_row in range(len(rows)):
            start, end = table.relations.starts[at_row : at_row + 2]
            rows[at_row, table.relations.cells[start:end]] = table.relations.coefficients[start:end]
        return rows
    at = {tuple(codes): cell for cell, codes in enumerate(table.codes.tolist())}
    found = {}
    for part in table.parts:
        spanned = dict(part)
        held: list[list[int]] = []
        for axis, dimension in enumerate(table.dimensions):
            if axis in spanned:
                ways = [dimension.hierarchies[way] for way in spanned[axis]]
                held.append(sorted({dimension.position[code] for way in ways for code in way.codes}))
            else:
                held.append([0])
        for axis, ways_of in part:
            dimension = table.dimensions[axis]
            for way in ways_of:
                below: dict[int, list[int]] = {}
                for code, parent in dimension.hierarchies[way].pairs():
                    below.setdefault(dimension.position[parent], []).append(dimension.position[code])
                others = [codes if other != axis else [0] for other, codes in enumerate(held)]
                for total, children in below.items():
                    for place in product(*others):
                        spot = list(place)
                        spot[axis] = total
                        head = at.get(tuple(spot))
                        row = np.zeros(len(table))
                        for child in children:
                            spot[axis] = child
                            cell = at.get(tuple(spot))
                            if cell is not None:
                                row[cell] = 1.0
                        # Nothing below a total, nothing said of it: a table has its sub-totals or none of the line.
                        if head is not None and row.any():
                            row[head] = -1.0
                            found[row.tobytes()] = row
    return np.array(list(found.values())).reshape(-1, len(table))


def extremes(table: Table, hidden: NDArray[np.bool_], cells: Any = None) -> tuple[Floats, Floats]:
    """How far each hidden cell can go down and up: two linear programs each."""
    columns = np.flatnonzero(hidden)
    matrix = lines(table)[:, columns]
    matrix = matrix[np.abs(matrix).sum(axis=1) > 0]
    lo = np.minimum(table.lower[columns] - table.value[columns], 0.0)
    hi = np.maximum(table.upper[columns] - table.value[columns], 0.0)
    asked = np.arange(len(columns)) if cells is None else np.searchsorted(columns, cells)
    down, up = np.zeros(len(asked)), np.zeros(len(asked))
    for at, column in enumerate(asked.tolist()):
        for side, found in ((1.0, down), (-1.0, up)):
            cost = np.zeros(len(columns))
            cost[column] = side
            for options in ({"presolve": False, "primal_feasibility_tolerance": 1e-10}, {}):
                solved = linprog(
                    cost,
                    A_eq=matrix if len(matrix) else None,
                    b_eq=np.zeros(len(matrix)) if len(matrix) else None,
                    bounds=np.column_stack([lo, hi]),
                    method="highs-ds",
                    options=options,
                )
                if solved.status in (0, 3):
                    break
            assert solved.status in (0, 3), solved.message
            found[at] = np.inf if solved.status == 3 else -solved.fun
    return down, up


def small_dimension(rng: np.random.Generator, name: str, size: int, kind: str) -> Dimension:
    """A dimension of some leaves: "flat", "tree" (of unequal depth) or "cross" (two hierarchies, not nested)."""
    leaves = [f"{name}{at}" for at in range(size)]
    if kind == "flat" or size < 3:
        return Dimension(name, Hierarchy.flat(leaves))
    cut = int(rng.integers(2, size)) if kind == "tree" else max(2, size // 2)
    pairs: list[tuple[str, str | None]] = [(f"{name}x", "Total"), *((leaf, f"{name}x") for leaf in leaves[:cut])]
    rest = leaves[cut:]
    if len(rest) > 1 and rng.random() < 0.5:
        pairs += [(f"{name}y", "Total"), *((leaf, f"{name}y") for leaf in rest)]
    else:
        pairs += [(leaf, "Total") for leaf in rest]
    first = Hierarchy.from_pairs(pairs, total="Total")
    if kind == "tree":
        return Dimension(name, first)
    odd, even = leaves[0::2], leaves[1::2]
    second = [(f"{name}o", "Total"), *((leaf, f"{name}o") for leaf in odd)]
    second += [(leaf, "Total") for leaf in even]
    return Dimension(name, [first, Hierarchy.from_pairs(second, total="Total")])


def filled(dimensions: list[Dimension], leaf_values: Any) -> tuple[Ints, Ints]:
    """The codes of every cell and its value in whole units, added up over the leaves."""
    codes = np.array(list(product(*(range(len(one.codes)) for one in dimensions))), dtype=np.int64)
    leaves = [np.flatnonzero(one.base) for one in dimensions]
    block = leaf_values(tuple(len(axis) for axis in leaves))
    for axis, one in enumerate(dimensions):
        made = np.zeros((len(one.codes), len(leaves[axis])), dtype=np.int64)
        for at, leaf in enumerate(leaves[axis].tolist()):
            made[one.ancestors[leaf], at] = 1
        block = np.moveaxis(np.tensordot(made, block, axes=(1, axis)), 0, axis)
    return codes, block.reshape(-1)


@dataclass(frozen=True, eq=False)
class Case:
    """A suppressed table with its levels, and how far each suppressed cell can go."""

    table: Table
    cells: Ints
    down: Floats
    up: Floats


SHAPES = ((3, 4), (4, 3), (2, 5), (2, 2, 3), (3, 3, 2), (2, 2, 2), (2, 2, 2, 2), (2, 2, 2, 2, 2))


@cache
def case(seed: int) -> Case:
    """A random small table, suppressed at random, with levels at, below and above what can be reached."""
    rng = np.random.default_rng(seed)
    table = made(rng, seed) if seed % 2 else drawn(rng, seed)
    hidden = hidden_at_random(rng, table)
    table = table.but(**bounded(rng, table), status=np.where(hidden, SECONDARY, 0).astype(np.uint8))
    down, up = extremes(table, hidden)
    cells = np.flatnonzero(hidden)
    return Case(levelled(rng, table, cells, down, up), cells, down, up)


def drawn(rng: np.random.Generator, seed: int) -> Table:
    """A table of contributions: sparse, linked, with second hierarchies."""
    return random_table(
        rng,
        2 + seed // 2 % 3,
        hierarchical=seed // 6 % 2 > 0,
        second=seed // 12 % 2 > 0,
        linked=rng.random() < 0.3,
        zeros=float(rng.choice([0.0, 0.3])),
        decimals=int(rng.choice([0, 0, 2])),
        complete=bool(rng.random() < 0.5),
    )


def made(rng: np.random.Generator, seed: int) -> Table:
    """A table of any whole numbers, small with ties, large, negative, or with decimals."""
    shape = SHAPES[seed // 2 % len(SHAPES)]
    kind = ("flat", "tree", "cross")[int(rng.integers(3 if len(shape) < 4 else 2))]
    more = kind != "flat" and len(shape) < 4
    kinds = [kind if at < 2 else "flat" for at in range(len(shape))]
    dimensions = [small_dimension(rng, "ABCDE"[at], size + more, kinds[at]) for at, size in enumerate(shape)]
    least = -1 if rng.random() < 0.2 else 0
    top = int(rng.choice([3, 20, 1000, 10**7]))

    def leaf_values(of: tuple[int, ...]) -> Ints:
        block = rng.integers(least * top, top, of)
        return np.where(rng.random(of) < rng.choice([0.0, 0.3]), 0, block)

    codes, units = filled(dimensions, leaf_values)
    return Table.of(units / 10.0 ** int(rng.choice([0, 0, 1, 2])), dimensions=dimensions, codes=codes)


def hidden_at_random(rng: np.random.Generator, table: Table, most: int = 22) -> NDArray[np.bool_]:
    """Some boxes of cells, which may exchange value, and others at random."""
    hidden = np.zeros(len(table), dtype=np.bool_)
    for _ in range(int(rng.integers(1, 4))):
        pairs = [rng.choice(len(one.codes), 2, replace=False) for one in table.dimensions]
        hidden |= np.all([np.isin(table.codes[:, at], pair) for at, pair in enumerate(pairs)], axis=0)
    hidden |= rng.random(len(table)) < rng.choice([0.05, 0.1, 0.3])
    over = np.flatnonzero(hidden)
    hidden[rng.choice(over, max(0, len(over) - most), replace=False)] = False
    return hidden


def bounded(rng: np.random.Generator, table: Table) -> dict[str, Floats]:
    """Bounds of one of several kinds: usual, close, with ends at the value, half units, open."""
    kind = rng.choice(["usual", "usual", "share", "close", "half", "open"])
    value = table.value
    step = 10.0 ** -(table.decimals or 0)
    if kind == "usual":
        return {"lower": table.lower, "upper": table.upper}
    if kind == "share":
        ends = 0.5 * value, 1.5 * value
        return {"lower": np.minimum(*ends), "upper": np.maximum(*ends)}
    if kind == "open":
        lower = table.lower if rng.random() < 0.5 else np.full(len(value), -np.inf)
        return {"lower": lower, "upper": np.where(rng.random(len(value)) < 0.5, np.inf, table.upper)}
    below, above = (rng.integers(0, 6, len(value)) * step * (0.5 if kind == "half" else 1.0) for _ in range(2))
    return {"lower": value - below, "upper": value + above}


def levelled(rng: np.random.Generator, table: Table, cells: Ints, down: Floats, up: Floats) -> Table:
    """The table with some of its suppressed cells primary, at levels near what they can reach."""
    n, step = len(table), 10.0 ** -(table.decimals or 0)
    status = table.status.copy()
    chosen = cells[rng.random(len(cells)) < 0.6]
    status[chosen] = PRIMARY
    levels = {name: np.zeros(n) for name in ("lpl", "upl", "spl")}
    reached = {"lpl": np.zeros(n), "upl": np.zeros(n)}
    reached["lpl"][cells], reached["upl"][cells] = np.minimum(down, FAR), np.minimum(up, FAR)
    room = {"lpl": table.value - table.lower, "upl": table.upper - table.value}
    for name in ("lpl", "upl"):
        factor = rng.choice([0.0, 0.5, 0.5, 1.0, 1.0, 1.5], n)
        more = rng.choice([0.0, 0.0, step], n)
        wished = np.where(np.isfinite(reached[name]), factor * np.minimum(reached[name], 1e6) + more, step)
        levels[name] = np.maximum(np.minimum(np.round(wished, 6), room[name]), 0.0)
    both = np.minimum(reached["lpl"] + reached["upl"], 1e6)
    wide = rng.random(n) < 0.25
    levels["spl"] = np.where(wide, np.round(both * rng.choice([0.5, 1.0, 1.3], n), 6), 0.0)
    fixed = table.lower == table.upper
    for level in levels.values():
        level[fixed] = 0.0
    return table.but(status=status, rule=np.zeros(n, np.int32), **levels)


def protected(table: Table, cells: Ints, down: Floats, up: Floats, *, strict: bool = False) -> NDArray[np.bool_]:
    """Whether each cell reaches its levels, straight from what the levels mean; without one, that it is not known."""
    slack = 1e-9 * np.maximum(1.0, np.abs(table.value[cells]))
    lpl, upl, spl = table.lpl[cells], table.upl[cells], table.spl[cells]
    bare = lpl + upl == 0
    low = (down > lpl + slack) | bare if strict else down >= lpl - slack
    high = (up > upl + slack) | bare if strict else up >= upl - slack
    unit = 10.0 ** -(6 if table.decimals is None else table.decimals)
    width = np.where(bare & (spl == 0), unit, spl)
    return low & high & (down + up >= width - slack)


def close(table: Table, cells: Ints, down: Floats, up: Floats) -> NDArray[np.bool_]:
    """Where a level is so near to what is reached that rounding decides: there nothing is compared."""
    scale = 1e-7 * np.maximum(1.0, np.abs(table.value[cells]))
    found = np.zeros(len(cells), dtype=np.bool_)
    for reached, level in ((down, table.lpl), (up, table.upl), (down + up, table.spl)):
        off = np.abs(reached - level[cells])
        found |= (off > 0) & (off <= scale)
    return found


def fraction(number: float) -> Fraction:
    """The decimal that a number is written as."""
    return Fraction(repr(float(number)))
