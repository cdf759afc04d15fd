"""Lower bounds for tables of any kind: what every relation must pay for the requirements in it.

A requirement's cell moves only if the others of each of its relations make up for it: the suppressed of them must have
the capacity together. And a relation without an unsafe cell has no suppressed one or several. The relations share the
weights of their cells by prices (`discreet.kernels.covering`), and what they pay together is a bound. Two axes of a
table with the others held are a network: where its flows do not fit into the shares that the relations come to, their
least cuts are further sums that must have capacity, and pay with the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.attack.grid import grid_of
from discreet.attack.system import Bools, Floats, Ints, networks, system_of
from discreet.kernels.covering import Rows, pay, raise_prices
from discreet.solvers.tolerances import LEVEL
from discreet.tables.suppression.exact.cuts import Cut
from discreet.tables.suppression.exact.range_cuts import state_differences
from discreet.tables.suppression.exact.separation import FlowCuts
from discreet.tables.suppression.problem import Problem

# Steps of prices for each round; a round more for each doubling of so many steps of a search.
STEPS, FIRST_ROUND = 300, 16
# With more relations than this a round takes so much longer: fewer steps, these at least, and later rounds.
MANY_RELATIONS, LEAST_STEPS = 5_000, 60
# Cuts of a round at most, what they lack at least, and shares that are taken for nothing.
CUTS_OF_A_ROUND, LEAST_LACK, NO_SHARE = 2_000, 0.02, 1e-3
# Requirements of the largest levels whose flows are looked at, for each step of a search and at most; and how many
# times nodes in one go.
SEPARATED_PER_STEP, SEPARATED, MARKS_AT_ONCE = 50, 20_000, 20_000_000


class Bounds:
    """A lower bound of a problem that is valid at any time and rises with each round.

    Parameters
    ----------
    problem : Problem
        The problem; every requirement can be protected.
    separated : int
        Of how many requirements, those of the largest levels, flows are looked at.
    """

    def __init__(self, problem: Problem, separated: int = SEPARATED) -> None:
        self._separated = separated
        every = np.ones(len(problem.ranged), dtype=np.bool_)
        self._views = replace(problem, level=problem.needed).only(~problem.outside & (problem.needed > 0), ~every)
        self._problem = problem.only(problem.outside, every).any_split()
        hidden = np.zeros(len(problem.table), dtype=np.bool_)
        hidden[problem.system.cells] = True
        whole = system_of(problem.table, hidden, implied=True)
        self._stated = [replace(self._problem, system=whole.within(problem.system.lo, problem.system.hi))]
        if len(problem.ranged):
            self._stated.append(state_differences(self._stated[0]))
        views = replace(self._views, system=self._stated[0].system)
        lines = [_lines(one, views if at == 0 else None) for at, one in enumerate(self._stated)]
        self._rows = _join(lines)
        self._prices = _share_alike(self._rows, problem.weight)
        self._share = problem.primary.astype(np.float64)
        self._paid = pay(self._rows, self._prices, np.zeros(len(self._rows.columns), np.int8))
        self._networks: list[_Slices] | None = None
        self._seen: set[bytes] = set()

    @property
    def value(self) -> float:
        """No pattern that protects the problem costs less."""
        weight = self._problem.weight
        # Prices add up to the weights but for rounding.
        rest = weight - np.bincount(self._rows.columns, self._prices, len(weight))
        used = np.bincount(self._rows.columns, minlength=len(weight)) > 0
        return max(0.0, (self._paid + float(np.minimum(rest[used], 0.0).sum())) * (1.0 - LEVEL))

    def raise_prices(self, steps: int = STEPS) -> None:
        """Move the prices for so many steps."""
        if not len(self._rows.columns):
            return
        before, prices, paid = self.value, self._prices.copy(), self._paid
        self._paid = raise_prices(self._rows, self._problem.weight, self._prices, paid, steps, self._share)
        if self.value < before:  # by rounding
            self._prices, self._paid = prices, paid

    @property
    def rows(self) -> Rows:
        """What every pattern must satisfy, as it stands."""
        return self._rows

    @property
    def shares(self) -> Floats:
        """How much of each column the relations take together, lately: all of the primary ones."""
        return np.where(self._problem.primary, 1.0, np.clip(self._share, 0.0, 1.0))

    def add_cuts(self) -> int:
        """Let further sums pay that the shares do not satisfy; tell how many."""
        if self._networks is None:
            self._networks = [slices for one in self._stated for slices in _slices(one, self._separated)]
        share = self.shares
        share[share < NO_SHARE] = 0.0
        found: dict[bytes, tuple[float, Cut]] = {}
        for one in self._networks:
            for cut in one.cuts(share):
                lacks = cut.lacks(share)
                if lacks > LEAST_LACK and cut.key not in self._seen:
                    found[cut.key] = lacks, cut
        chosen = sorted(found, key=lambda key: -found[key][0])[:CUTS_OF_A_ROUND]
        self._seen.update(chosen)
        if chosen:
            self._rows = _join([self._rows, *(_row_of(found[key][1]) for key in chosen)])
            self._prices = np.append(self._prices, np.zeros(len(self._rows.columns) - len(self._prices)))
        return len(chosen)


def lower_bound(problem: Problem, steps: int) -> float:
    """A lower bound of what a pattern of a problem costs, with more effort after more steps of a search."""
    bounds = Bounds(problem, min(SEPARATED, SEPARATED_PER_STEP * steps))
    longer = max(1.0, len(problem.system.relations) / MANY_RELATIONS)
    moves = max(LEAST_STEPS, int(STEPS / longer))
    bounds.raise_prices(moves)
    for _ in range(int(np.log2(1 + steps / (FIRST_ROUND * longer)))):
        if not bounds.add_cuts():
            break
        bounds.raise_prices(moves)
    return bounds.value


def _join(parts: list[Rows]) -> Rows:
    """Rows one after the other."""
    sizes = np.concatenate([np.diff(one.starts) for one in parts])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Rows(starts, *(np.concatenate(column) for column in zip(*(one[1:] for one in parts), strict=True)))


def _row_of(cut: Cut) -> Rows:
    """A capacity cut as a row."""
    size = len(cut.columns)
    starts, nothing = np.array([0, size]), np.zeros(size)
    return Rows(starts, cut.columns, cut.coefficients, nothing, np.array([cut.least]), np.zeros(1))


def _share_alike(rows: Rows, weight: Floats) -> Floats:
    """Prices with which rows that want something share weights alike, or all where none does."""
    wants = ((rows.first_wanted > 0) | (rows.second_wanted > 0)).repeat(np.diff(rows.starts))
    wanting = np.bincount(rows.columns, wants, len(weight))[rows.columns]
    every = np.bincount(rows.columns, minlength=len(weight))[rows.columns]
    return weight[rows.columns] * np.where(wanting > 0, wants / np.maximum(wanting, 1), 1 / every)


def _lines(problem: Problem, views: Problem | None) -> Rows:
    """What the relations of a problem want of the secondary columns in them: capacity upwards and downwards.

    Parameters
    ----------
    problem : Problem
        The requirements in the eyes of everybody.
    views : Problem, optional
        Those in the eyes of insiders, on the same system: what they know gives nothing to them. None where the
        relations are no lines of the table, that want a further secondary cell where there is one.
    """
    system, many = problem.system, len(problem.system.relations)
    rows, columns, factor = np.repeat(np.arange(many), np.diff(system.starts)), system.columns, system.coefficients
    down, up = (np.abs(factor) * level[columns] for level in problem.by_side())
    # In a relation a cell with a negative coefficient goes down when it goes up.
    is_turned = factor < 0
    down, up = np.where(is_turned, up, down), np.where(is_turned, down, up)
    most = np.zeros(many)
    np.maximum.at(most, rows, np.maximum(down, up))
    if views is not None:
        of_view = np.zeros(len(problem))
        np.maximum.at(of_view, views.cell, views.level)
        np.maximum.at(most, rows, np.abs(factor) * of_view[columns])
    # Nothing needs to move further than the largest level.
    low, high = (np.abs(factor) * bound[columns] for bound in (-system.lo, system.hi))
    above, below = np.where(is_turned, low, high), np.where(is_turned, high, low)
    above, below = np.minimum(above, most[rows]), np.minimum(below, most[rows])
    given = problem.primary[columns]
    wanted = []
    for level, gives in ((down, above), (up, below)):
        others = np.bincount(rows, np.where(given, gives, 0.0), many)[rows] - gives
        lacks = np.where(level > 0, level - others, 0.0)
        lacks[lacks <= LEVEL * level] = 0.0
        # What the relation cannot give at all, no pattern protects.
        lacks[lacks > np.bincount(rows, np.where(given, 0.0, gives), many)[rows]] = 0.0
        largest = np.zeros(many)
        np.maximum.at(largest, rows[given], lacks[given])
        wanted.append(largest)
    if views is not None:
        _add_views(views, wanted, (above, below))
    is_wanting = (wanted[0] > 0) | (wanted[1] > 0)
    if views is not None:
        is_wanting |= np.bincount(rows, given, many) == 0
    kept = ~given & is_wanting[rows]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=many)[is_wanting])]).astype(np.int64)
    of_use = (np.minimum(one[kept], wanted[at][rows[kept]]) for at, one in enumerate((above, below)))
    return Rows(starts, columns[kept], *of_use, *(one[is_wanting] for one in wanted))


def _add_views(views: Problem, wanted: list[Floats], gives: tuple[Floats, Floats]) -> None:
    """Raise what relations want, downwards and upwards, to what they want in the eyes of insiders.

    What an insider knows does not move: the others in the relation must make up for it.
    """
    system = views.system
    given = views.primary[system.columns]
    for at in range(views.requirements):
        cell, known = int(views.cell[at]), views.fixed(at)
        for row in system.by_rows[system.by_starts[cell] : system.by_starts[cell + 1]].tolist():
            line = slice(int(system.starts[row]), int(system.starts[row + 1]))
            columns, factors = system.columns[line], system.coefficients[line]
            factor = float(factors[columns == cell][0])
            way = 0 if views.side[at] * factor < 0 else 1
            level, amounts = abs(factor) * float(views.level[at]), gives[way][line]
            others = given[line] & (columns != cell) & ~np.isin(columns, known)
            lacks = level - float(amounts[others].sum())
            # What the relation cannot give at all, no pattern protects.
            if level * LEVEL < lacks <= float(amounts[~given[line]].sum()):
                wanted[way][row] = max(wanted[way][row], lacks)


class _Slices(NamedTuple):
    """The network of two axes of a table, in parts that are looked at one by one, and the places of its columns."""

    parts: list[FlowCuts]
    places: Ints

    def cuts(self, share: Floats) -> list[Cut]:
        """Capacity cuts that the shares violate."""
        inner = share[self.places]
        found = [cut for part in self.parts for cut in part.capacities(inner) if cut.capacity]
        return [cut._replace(columns=self.places[cut.columns]) for cut in found]


def _slices(problem: Problem, separated: int) -> list[_Slices]:
    """The networks of all pairs of axes; none where the table is no grid."""
    table, system = problem.table, problem.system
    grid = None if table.dimensions else grid_of(table)
    if not table.dimensions and grid is None:
        return []
    codes = table.codes if grid is None else grid.codes
    rows = np.repeat(np.arange(len(system.relations)), np.diff(system.starts))
    # A relation runs along the axis on which its cells differ.
    of_cells = codes[system.cells[system.columns]]
    first, last = (one.reduceat(of_cells, system.starts[:-1], axis=0) for one in (np.minimum, np.maximum))
    axis = np.argmax(first != last, axis=1)
    found = []
    for one in range(codes.shape[1]):
        for other in range(one + 1, codes.shape[1]):
            pair = sorted((one, other), key=lambda at: not table.dimensions or table.dimensions[at].is_flat)
            kept = (axis == pair[0]) | (axis == pair[1])
            if table.dimensions and not table.dimensions[pair[0]].is_flat:
                # Where the code on the hierarchical axis is a sum, the relation follows from those below.
                kept &= (axis == pair[0]) | table.dimensions[pair[0]].base[first[:, pair[0]]]
            found += _network(problem, kept[rows], rows, separated)
    return found


def _network(problem: Problem, entries: Bools, rows: Ints, separated: int) -> list[_Slices]:
    """The flows of the columns that are arcs if only some entries of the relations are there; none if no column is."""
    system = problem.system.only(rows, entries)
    columns = networks(system)[0] & (np.diff(system.by_starts) > 0)
    part = replace(problem, system=system).part(columns)
    if not part.requirements:
        return []
    order = part.by_level()[:separated]
    signs, no_ranges = networks(part.system)[1], np.zeros(len(part.ranged), dtype=np.bool_)
    size = max(1, MARKS_AT_ONCE // (len(part.system.relations) + 1))
    parts = []
    for begin in range(0, len(order), size):
        mine = np.zeros(part.requirements, dtype=np.bool_)
        mine[order[begin : begin + size]] = True
        parts.append(FlowCuts(part.only(mine, no_ranges), signs))
    return [_Slices(parts, np.flatnonzero(columns))]
