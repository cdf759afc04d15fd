"""The cell suppression problem: the cells that may be suppressed, what each costs, and what must be protected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.tabular.table import FIXED, PRIMARY
from discreet.verification.attack.system import Bools, Floats, Ints, System, system_of
from discreet.verification.levels import levels_of

if TYPE_CHECKING:
    from discreet.data.tabular.table import Table

BEYOND = 1e-7


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the cheapest set of further cells to suppress.

    A pattern protects a task if its cell can move to its side by its level, in a table that fits everything published:
    with deviations M d = 0, lo ≤ d ≤ hi, of suppressed cells only. Amounts are in units of the last decimal.

    Attributes
    ----------
    table
        The table.
    system
        M, lo and hi over the cells that may be suppressed: its columns.
    primary
        Which columns are primary cells.
    weight
        What the suppression of each column costs; 0 for primary ones.
    cell, side, level
        The tasks: a column, 1 for up or −1 for down, and how far.
    scale
        Units of the last decimal in one unit of the table.
    """

    table: Table
    system: System
    primary: Bools
    weight: Floats
    cell: Ints
    side: Ints
    level: Floats
    scale: float

    def __len__(self) -> int:
        return len(self.system)

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.cell)

    def cost(self, suppressed: Bools) -> float:
        """What the secondary cells of a pattern over the columns cost together."""
        return float(self.weight[suppressed & ~self.primary].sum())

    def by_level(self) -> Ints:
        """The tasks by falling level: those that need most first."""
        return np.argsort(-self.level, kind="stable").astype(np.int64)

    def without(self, cells: Ints) -> Problem:
        """The problem without the tasks of some cells of the table."""
        kept = ~np.isin(self.system.cells[self.cell], cells)
        return replace(self, cell=self.cell[kept], side=self.side[kept], level=self.level[kept])

    def part(self, columns: Bools) -> Problem:
        """The problem of some of the columns: a component, or several."""
        number = np.cumsum(columns) - 1
        kept = columns[self.cell]
        return Problem(
            self.table,
            self.system.part(columns),
            self.primary[columns],
            self.weight[columns],
            number[self.cell[kept]].astype(np.int64),
            self.side[kept],
            self.level[kept],
            self.scale,
        )


def problem_of(
    table: Table, *, strict: bool = False, frozen: Ints | None = None, blocked: Ints | None = None
) -> Problem:
    """The problem of a table with its primary cells.

    Parameters
    ----------
    table : Table
        The table, checked; secondary cells it has already are free again.
    strict : bool
        Whether levels must be exceeded.
    frozen : array of int, optional
        Further cells that must be published.
    blocked : array of int, optional
        Cells that cannot move, unsafe or not: somebody knows them. Nothing is asked of them.
    """
    primary = table.status == PRIMARY
    able = primary | (table.status != FIXED)
    if frozen is not None:
        able[frozen] = primary[frozen]
    if blocked is not None:
        able[blocked] = False
    # What cannot move protects nothing.
    able &= primary | (table.upper > table.lower)
    scale = 1.0 if table.decimals is None else 10.0**table.decimals
    system = system_of(table, able)
    lo, hi = _units(system.lo, scale), _units(system.hi, scale)
    system = system.within(lo, hi)
    levels = levels_of(table, secondaries=False, strict=strict)
    # What must be exceeded is aimed at beyond what the audit takes for rounding.
    asked_of = levels.judged & strict & (levels.down + levels.up > 0)
    beyond = np.where(asked_of, BEYOND * np.maximum(1.0, np.abs(table.value)), 0.0)
    down, up = levels.down + beyond, levels.up + beyond
    # A range in all that the two levels do not make up is asked for on the side that has more room.
    rest = np.maximum(levels.width - down - up, 0.0)
    upwards = table.upper - table.value - up >= table.value - table.lower - down
    up, down = up + np.where(upwards, rest, 0.0), down + np.where(upwards, 0.0, rest)
    columns = np.flatnonzero(primary[system.cells])
    cells = system.cells[columns]
    cell = np.concatenate([columns, columns])
    side = np.repeat(np.array([1, -1], dtype=np.int64), len(columns))
    level = np.concatenate([_units(up[cells], scale), _units(down[cells], scale)])
    asked = level > 0
    weight = np.where(primary[system.cells], 0.0, table.cost[system.cells])
    return Problem(
        table, system, primary[system.cells], weight, cell[asked].astype(np.int64), side[asked], level[asked], scale
    )


def _units(amounts: Floats, scale: float) -> Floats:
    """Amounts in units of the last decimal; those that are whole numbers of them but for rounding, exactly."""
    scaled = amounts * scale
    finite = np.isfinite(scaled)
    near = np.where(finite, np.rint(scaled), 0.0)
    return np.where(finite & (np.abs(scaled - near) <= 1e-9 * np.maximum(1.0, np.abs(scaled))), near, scaled)
