"""The cell suppression problem: the cells that may be suppressed, what each costs, and what must be protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.attack.attacker import Attacker
from discreet.attack.levels import levels_of, slack_of
from discreet.attack.system import Bools, Floats, Ints, System, networks, system_of, to_units
from discreet.tabular.table import FIXED, PRIMARY, Table

BEYOND = 1e-7
NOTHING = np.empty(0, dtype=np.int64)
# How many independent components of a problem are searched one by one at most, the largest; what is left goes together.
ALONE = 8


class SizeClasses(NamedTuple):
    """Which regime a problem that is no network falls into, by the number of columns; a network has none of these."""

    tiny: int = 1_000  # below, a linear program is quick: repairs may solve many, and take costlier patterns first
    small: int = 5_000  # up to here both orders of a rebuild are tried, and a lattice's first solution goes to a vertex
    lattice: int = 2_000  # from here on a full table of three dimensions has an interior-point method of its own
    large: int = 3_000  # from here on sub-totals are made safe along branches before linear programs are solved
    vast: int = 20_000  # from here on linear programs are of parts of the table
    sliced: int = 100_000  # from here on full tables of three dimensions, too, are built by pairs of slices at first


SIZE_CLASSES = SizeClasses()


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the cheapest set of further cells to suppress.

    A pattern protects a requirement if its cell can move to its side by its level, in a table that fits everything
    published: with deviations M d = 0, lo ≤ d ≤ hi, of suppressed cells only. Amounts are in units of the last decimal.

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
        The requirements: a column, 1 for up or −1 for down, and how far.
    scale
        Units of the last decimal in one unit of the table.
    needed
        What of each level every pattern must reach; less where the level has a share of a range that the other side
        might have had.
    ranged, width
        Columns with such a range, and how far each must be able to move up and down together.
    view
        In whose eyes each requirement stands: −1 for everybody, else an insider, by the place in `known`.
    known
        For each insider with requirements the columns that he knows: in his eyes they do not move.
    """

    table: Table
    system: System
    primary: Bools
    weight: Floats
    cell: Ints
    side: Ints
    level: Floats
    scale: float
    needed: Floats
    ranged: Ints
    width: Floats
    view: Ints
    known: tuple[Ints, ...] = ()

    def __len__(self) -> int:
        return len(self.system)

    @property
    def requirements(self) -> int:
        """How many requirements there are."""
        return len(self.cell)

    @cached_property
    def _networks(self) -> tuple[Bools, Ints]:
        return networks(self.system)

    @property
    def is_network(self) -> bool:
        """Whether every column is an arc between two relations, so that flows protect it."""
        return bool(self._networks[0].all())

    @property
    def signs(self) -> Ints:
        """1 or −1 for each relation, which make every column of a network an arc."""
        return self._networks[1]

    def components(self) -> list[Problem]:
        """The problem of each independent component: no relation links its columns with others.

        The largest are problems of their own. What is left is one problem, or two: all that are networks, and all that
        are not; many tiny ones are searched soonest all at once. Columns without any requirement in their component are
        in none, unless there is no requirement at all.
        """
        _, component = self.system.components
        asked, sizes = np.unique(component[self.cell]), np.bincount(component)
        largest = asked[np.argsort(-sizes[asked], kind="stable")][:ALONE]
        is_arc, rest = self._networks[0], np.isin(component, np.setdiff1d(asked, largest))
        parts = [component == one for one in largest.tolist()] + [is_arc & rest, ~is_arc & rest]
        parts = [part for part in parts if part[self.cell].any()]
        if not parts or parts[0].all():
            return [self]
        # Networks first, then the larger ones.
        parts.sort(key=lambda part: (not bool(is_arc[part].all()), -int(part.sum())))
        return [self.part(columns) for columns in parts]

    def cost(self, suppressed: Bools) -> float:
        """What the secondary cells of a pattern over the columns cost together."""
        return float(self.weight[suppressed & ~self.primary].sum())

    def by_level(self) -> Ints:
        """The requirements by falling level: those that need most first."""
        return np.argsort(-self.level, kind="stable").astype(np.int64)

    def without(self, cells: Ints) -> Problem:
        """The problem without the requirements of some cells of the table."""
        gone = np.isin(self.system.cells, cells)
        return self.only(~gone[self.cell], ~gone[self.ranged])

    def only(self, requirements: Bools, ranges: Bools) -> Problem:
        """The problem with some of the requirements and some of the ranges."""
        return replace(
            self,
            cell=self.cell[requirements],
            side=self.side[requirements],
            level=self.level[requirements],
            needed=self.needed[requirements],
            ranged=self.ranged[ranges],
            width=self.width[ranges],
            view=self.view[requirements],
        )

    @property
    def outside(self) -> Bools:
        """Which requirements are those of everybody, and not of an insider."""
        return self.view < 0

    def fixed(self, requirement: int) -> Ints:
        """The columns that do not move in the eyes in which a requirement stands."""
        view = int(self.view[requirement])
        return NOTHING if view < 0 else self.known[view]

    def any_split(self) -> Problem:
        """What every pattern must do however ranges are split: requirements of what is needed, and the ranges."""
        kept = self.needed > 0
        return replace(self, level=self.needed).only(kept, np.ones(len(self.ranged), dtype=np.bool_))

    def split(self, ranges: Bools, down: Floats, up: Floats) -> Problem:
        """The problem with some of its ranges split anew.

        Parameters
        ----------
        ranges : array of bool
            Which ones.
        down, up : arrays of float
            How far the column of each of these can go at most.
        """
        level_down, level_up = self.by_side()
        need_down, need_up = replace(self, level=self.needed).by_side()
        at, columns = self.ranged[ranges], np.flatnonzero(self.primary)
        slack = _slack(self.table, self.system.cells[at], self.width[ranges], self.scale)
        level_down[at], level_up[at] = divide(need_down[at], need_up[at], self.width[ranges], down, up, slack)
        every = (level_down, level_up, need_down, need_up)
        cell, side, level, needed = _list_requirements(columns, *(amounts[columns] for amounts in every))
        view = np.full(len(cell), -1, dtype=np.int64)
        return replace(self, cell=cell, side=side, level=level, needed=needed, view=view, known=())

    @property
    def least_width(self) -> Floats:
        """The width of each range, less by some of what the audit takes for rounding: that is no reason for a cut."""
        return np.asarray(self.width - _slack(self.table, self.system.cells[self.ranged], self.width, self.scale) / 2)

    def requirements_by_column(self) -> tuple[Ints, Ints]:
        """The requirement of each column up and down, but for those in the eyes of insiders; −1 where there is none."""
        up, down = np.full(len(self), -1, dtype=np.int64), np.full(len(self), -1, dtype=np.int64)
        for side, index in ((1, up), (-1, down)):
            mine = np.flatnonzero((self.side == side) & self.outside)
            index[self.cell[mine]] = mine
        return up, down

    def by_side(self) -> tuple[Floats, Floats]:
        """The levels down and up of each column, not in the eyes of insiders; 0 where there is no requirement."""
        down, up = np.zeros(len(self)), np.zeros(len(self))
        for side, levels in ((-1, down), (1, up)):
            mine = (self.side == side) & self.outside
            levels[self.cell[mine]] = self.level[mine]
        return down, up

    def part(self, columns: Bools) -> Problem:
        """The problem of some of the columns: a component, or several."""
        number = np.cumsum(columns) - 1
        kept, wide = columns[self.cell], columns[self.ranged]
        return Problem(
            self.table,
            self.system.part(columns),
            self.primary[columns],
            self.weight[columns],
            number[self.cell[kept]].astype(np.int64),
            self.side[kept],
            self.level[kept],
            self.scale,
            self.needed[kept],
            number[self.ranged[wide]].astype(np.int64),
            self.width[wide],
            self.view[kept],
            tuple(number[known[columns[known]]].astype(np.int64) for known in self.known),
        )


def problem_of(
    table: Table,
    *,
    strict: bool = False,
    frozen: Ints | None = None,
    settle: bool = True,
) -> Problem:
    """The problem of a table with its primary cells.

    A range may lie on either side of the value, or on both. It is asked for downwards, or on the side with more room to
    its bound if there is too little; where the cell cannot move so far whatever is suppressed, it is split by how far
    the cell can.

    Parameters
    ----------
    table : Table
        The table, checked; secondary cells it has already are free again.
    strict : bool
        Whether levels must be exceeded.
    frozen : array of int, optional
        Further cells that must be published.
    settle : bool
        Whether to see that ranges are split in a way that can be had, which attacks the table; if not, `settle_ranges`
        does.
    """
    primary = table.status == PRIMARY
    able = primary | (table.status != FIXED)
    if frozen is not None:
        able[frozen] = primary[frozen]
    # What cannot move protects nothing.
    able &= primary | (table.upper > table.lower)
    scale = 1.0 if table.decimals is None else 10.0**table.decimals
    system = system_of(table, able)
    lo, hi = to_units(system.lo, scale), to_units(system.hi, scale)
    system = system.within(lo, hi)
    levels = levels_of(table, secondaries=False, strict=strict)
    # What must be exceeded is aimed at beyond what the audit takes for rounding.
    asked_of = levels.judged & strict & (levels.down + levels.up > 0)
    beyond = np.where(asked_of, BEYOND * np.maximum(1.0, np.abs(table.value)), 0.0)
    columns = np.flatnonzero(primary[system.cells])
    cells = system.cells[columns]
    down, up, width = (
        to_units(amounts[cells], scale) for amounts in (levels.down + beyond, levels.up + beyond, levels.width)
    )
    below, above = -lo[columns], hi[columns]
    slack = _slack(table, cells, width, scale)
    # What one side cannot have of a range, the other must.
    wide = width > down + up
    need_down = np.where(wide, np.maximum(down, _had(width, below, above, slack) - above), down)
    need_up = np.where(wide, np.maximum(up, _had(width, below, above, slack) - below), up)
    down, up = divide(need_down, need_up, width, below, above, slack)
    cell, side, level, needed = _list_requirements(columns, down, up, need_down, need_up)
    weight = np.where(primary[system.cells], 0.0, table.cost[system.cells])
    wide &= width > need_down + need_up
    problem = Problem(
        table,
        system,
        primary[system.cells],
        weight,
        cell,
        side,
        level,
        scale,
        needed,
        columns[wide].astype(np.int64),
        width[wide],
        np.full(len(cell), -1, dtype=np.int64),
    )
    if settle and len(problem.ranged):
        problem, _ = settle_ranges(problem, problem.system.cells[problem.ranged])
    return problem


def add_views(problem: Problem, views: Sequence[View], *, strict: bool) -> Problem:
    """The problem with further requirements, each in the eyes of somebody who knows some cells.

    Parameters
    ----------
    problem : Problem
        The problem, its ranges settled.
    views : sequence of View
        What each of them knows, and what is asked in his eyes.
    strict : bool
        Whether levels must be exceeded.
    """
    table, system, scale = problem.table, problem.system, problem.scale
    every: list[tuple[NDArray[Any], ...]] = [(problem.cell, problem.side, problem.level, problem.needed, problem.view)]
    known = list(problem.known)
    for one in views:
        columns = np.searchsorted(system.cells, one.cells)
        down, up, width = one.down, one.up, one.width
        bare = down + up == 0
        beyond = np.where(strict & ~bare, BEYOND * np.maximum(1.0, np.abs(table.value[one.cells])), 0.0)
        down, up, width = (to_units(amounts, scale) for amounts in (down + beyond, up + beyond, width))
        below, above = to_units(one.below, scale), to_units(one.above, scale)
        slack = _slack(table, one.cells, width, scale)
        # How a range is divided is the best guess; what is proven of all patterns must not rest on it.
        most_down, most_up = divide(down, up, width, below, above, slack)
        cell, side, level, needed = _list_requirements(columns, most_down, most_up, down, up)
        every.append((cell, side, level, needed, np.full(len(cell), len(known))))
        inside = np.searchsorted(system.cells, one.known)
        there = inside < len(system)
        there[there] = system.cells[inside[there]] == one.known[there]
        known.append(inside[there].astype(np.int64))
    cell, side, level, needed, view = (np.concatenate(column) for column in zip(*every, strict=True))
    return replace(
        problem, cell=cell, side=side, level=level, needed=needed, view=view.astype(np.int64), known=tuple(known)
    )


class View(NamedTuple):
    """What somebody knows, and what is asked of cells in his eyes; amounts in the units of the table."""

    known: Ints  # cells of the table
    cells: Ints
    down: Floats
    up: Floats
    width: Floats
    below: Floats  # how far down and up each can go, if all is suppressed that may be
    above: Floats


def divide(
    down: Floats, up: Floats, width: Floats, below: Floats, above: Floats, slack: Floats
) -> tuple[Floats, Floats]:
    """Levels down and up that make up a width: all that is left downwards, or what the side with more room can have.

    Down is mostly cheaper: fewer of the others go down for it, where small ones have no room, and more go up.

    Parameters
    ----------
    down, up : arrays of float
        What each side must have in any case.
    width : array of float
        What both must have together; less than they have asks for nothing more.
    below, above : arrays of float
        How far there is room, down and up.
    slack : array of float
        By how much the width may be missed.
    """
    rest = np.maximum(_had(width, below, above, slack) - down - up, 0.0)
    below, above = _inside(below, slack), _inside(above, slack)
    upwards = (below - down < rest) & (above - up >= below - down)
    most = np.clip(np.where(upwards, above - up, below - down), 0.0, rest)
    other = np.clip(np.where(upwards, below - down, above - up), 0.0, rest)
    # Not to the end of what can be reached, if whole units do: rounding decides on levels that are just reached.
    part = np.where((most < rest) & (rest - np.floor(most) <= other), np.floor(most), most)
    return down + np.where(upwards, rest - part, part), up + np.where(upwards, part, rest - part)


def _had(width: Floats, below: Floats, above: Floats, slack: Floats) -> Floats:
    """A width, or what there is room for if that is less by no more than the slack."""
    room = _inside(below, slack) + _inside(above, slack)
    return np.where((room < width) & (room >= width - slack), room, width)


def _inside(room: Floats, slack: Floats) -> Floats:
    """How far to go where there is room: to a whole number of units, or a little less, which rounding cannot reach."""
    return np.where((np.rint(room) == room) | np.isinf(room), room, np.maximum(room - slack / 4, 0.0))


def _slack(table: Table, cells: Ints, level: Floats, scale: float) -> Floats:
    """What the audit takes for rounding in levels of cells of a table, in units."""
    return slack_of(table.value[cells], level / scale, table.decimals) * scale


def _list_requirements(
    columns: Ints, down: Floats, up: Floats, need_down: Floats, need_up: Floats
) -> tuple[Ints, Ints, Floats, Floats]:
    """Requirements of columns, those up first: column, side, level and what of it is needed; none without a level."""
    cell = np.concatenate([columns, columns]).astype(np.int64)
    side = np.repeat(np.array([1, -1], dtype=np.int64), len(columns))
    level, needed = np.concatenate([up, down]), np.concatenate([need_up, need_down])
    asked = level > 0
    return cell[asked], side[asked], level[asked], needed[asked]


def settle_ranges(problem: Problem, cells: Ints | None = None) -> tuple[Problem, Ints]:
    """The problem with ranges split in a way that can be had, and the unsafe cells that nothing can protect.

    With every cell suppressed that may be, the requirements are asked for as they are. Only where that fails for a cell
    with a range is it found out how far the cell can go to either side.

    Parameters
    ----------
    problem : Problem
        The problem.
    cells : array of int, optional
        The cells of the table to look at; all that have requirements by default.
    """
    looked_at = np.ones(len(problem), dtype=np.bool_) if cells is None else np.isin(problem.system.cells, cells)
    hidden = np.zeros(len(problem.table), dtype=np.bool_)
    hidden[problem.system.cells] = True
    attacker = Attacker(problem.table, hidden)
    short = _short(attacker, problem, looked_at)
    again = short[problem.ranged]
    if again.any():
        problem = problem.split(again, *_rooms(attacker, problem, again))
        split = np.zeros(len(problem), dtype=np.bool_)
        split[problem.ranged[again]] = True
        short = (short & ~split) | _short(attacker, problem, split)
    return problem, problem.system.cells[short]


def _short(attacker: Attacker, problem: Problem, looked_at: Bools) -> Bools:
    """Which columns, of those looked at, do not reach a level of theirs."""
    down, up = np.zeros(len(problem)), np.zeros(len(problem))
    for side, wanted in ((-1, down), (1, up)):
        mine = looked_at[problem.cell] & (problem.side == side)
        wanted[problem.cell[mine]] = problem.level[mine] / problem.scale
    reach = attacker.reach(down, up)
    value, decimals = problem.table.value[problem.system.cells], problem.table.decimals
    slack_down, slack_up = (slack_of(value, wanted, decimals) for wanted in (down, up))
    return (reach.down < down - slack_down) | (reach.up < up - slack_up)


def _rooms(attacker: Attacker, problem: Problem, ranges: Bools) -> tuple[Floats, Floats]:
    """How far down and up the columns of some ranges can go, in units; further than their width does not matter."""
    columns = problem.ranged[ranges]
    wanted = np.zeros(len(problem))
    wanted[columns] = problem.width[ranges] / problem.scale
    reach = attacker.reach(wanted, wanted)
    return to_units(reach.down[columns], problem.scale), to_units(reach.up[columns], problem.scale)
