"""The cheapest way to protect a requirement in a whole table, however large: relations and prices are split.

A table whose codes add up in one way on each axis is a product of trees, so that the deviations nearest to given ones
that keep every sum are a matter of two passes an axis (`discreet.kernels.splitting`). That is done some hundred times
in the time that a method takes that factors a matrix to do one step.

A linear program pays for every unit of a move, a pattern once for a cell, however little it moves. So moves are
rerouted as they come by slope scaling (D. Kim, P. M. Pardalos, A solution approach to the fixed charge network flow
problem using a dynamic slope scaling procedure, Operations Research Letters 24, 1999, 195-203): a cell is priced by
what it would cost in the pattern if it moved as far as it does by now, and what moves little is dear, ever more so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.attack.grid import grid_of
from discreet.attack.system import Bools, Floats, Ints
from discreet.kernels.splitting import Terms, balance, step, trees
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.provers import LinearProver, moving
from discreet.tabular.table import Table

# A table may have so many times as few cells as its axes allow for.
MOST_EMPTY = 4
# Capacities are cut at so many times the largest move that is wanted: what is wider than that might as well be open.
WIDEST = 4.0
# Prices are in parts of the median weight, moves in parts of the one that is asked for. Steps by the unit at first, how
# firmly they hold to the relations, and what they may miss to be enough.
UNIT_STEPS, UNITS_AT_ONCE, UNIT_FIRMNESS, UNIT_MISSED = 300, 50, 1e3, 1e-4
# Rounds of slope scaling, steps in each, and what they begin and end with: how far a cell that does not move is taken
# to go, and how firmly relations are held to; at first in parts of that share.
ROUNDS, STEPS_OF_A_ROUND = 20, 25
FIRST_SHARE, LAST_SHARE = 5e-3, 3e-4
FIRMNESS_TIMES_SHARE, SCALED_FIRMNESS = 2e3, 1e7
# The same where a route is there already: it pays to look at the prices every few steps. Between which shares that
# begins again, and how far prices then differ from what they are.
AGAIN_ROUNDS, AGAIN_STEPS = 60, 3
AGAIN_SHARES, PERTURBATION = (3e-3, 0.03), 0.1
# How often a route is brought to a vertex, each time at the prices that it comes to; and what the last must have gained
# for another.
VERTICES, LEAST_GAIN = 2, 3e-3
# That takes seconds for so many cells in three dimensions, minutes for more, or in four; it is given up after so many
# vertices on the way.
MOST_CELLS, MOST_DIMENSIONS, MOST_VERTICES = 20_000, 3, 30_000
# What moves less than this is left out in the end if it can be: steps for that, how firmly, and what may be missed.
KEPT, LAST_STEPS, LAST_AT_ONCE, LAST_FIRMNESS, LAST_MISSED = 1e-4, 1_000, 100, 1e8, (1e-6, 1e-7, 1e-8)
# What still misses more than this by then will not be had.
HOPELESS = 1e-3
# How often cells are held at their bounds at the end, and steps to make up for each time.
HOLDINGS, STEPS_OF_A_HOLDING = 20, 2_000


class _Scaling(NamedTuple):
    """Where slope scaling stands; arrays are over the cells of the full table."""

    terms: Terms
    level: float  # what moves are in parts of
    cells: Floats
    prices: Floats
    firmness: float


class Route(NamedTuple):
    """Moves that protect a requirement."""

    moves: Floats
    taken: float  # what the columns cost that they take
    charge: float  # the same in parts of the median weight, less what moves for other requirements are worth
    scaling: _Scaling


class SplittingProver:
    """The program of a whole table; it pays for cells rather than for units.

    Parameters
    ----------
    problem : Problem
        The problem.

    Attributes
    ----------
    usable
        Whether codes add up in one way on each axis, in one table that is not far from full.
    """

    dual_ray: Floats | None = None

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        axes = _axes(problem.table)
        size = float(np.prod([float(len(parents)) for parents, _ in axes])) if axes else np.inf
        self.usable = size <= MOST_EMPTY * len(problem.table)
        if not self.usable:
            return
        self._parents, self._codes = (
            [parents for parents, _ in axes],
            [codes[problem.system.cells] for _, codes in axes],
        )
        self._places = np.zeros(len(problem), dtype=np.int64)
        for parents, codes in zip(self._parents, self._codes, strict=True):
            self._places = self._places * len(parents) + codes
        self._trees = trees(self._parents)
        self._size = int(size)
        weights = problem.weight[problem.weight > 0]
        self._unit = float(np.median(weights)) if len(weights) else 1.0

    def cheapest(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float | Floats) -> Floats | None:
        """See `Prover`; the price is of taking a column, however far it moves."""
        found = self.route(price, cell, amount, target, bonus)
        return None if found is None else found.moves

    def route(self, price: Floats, cell: int, amount: float, target: Floats, bonus: float | Floats) -> Route | None:
        """As `cheapest`, to be rerouted."""
        level, able = abs(amount), np.isfinite(price)
        widest = WIDEST * max(1.0, float(np.abs(target).max(initial=0.0)) / level)
        low, high = (
            np.where(able, np.clip(one / level, -widest, widest), 0.0)
            for one in (self.problem.system.lo, self.problem.system.hi)
        )
        price = np.where(able, price / self._unit, 0.0)
        worth = np.where(target == 0.0, 0.0, bonus) / self._unit
        low[cell] = high[cell] = np.sign(amount)
        price[cell] = worth[cell] = 0.0
        terms = Terms(*(self._spread(one) for one in (low, high, price, target / level, worth)))
        cells, prices = np.where(terms.low == terms.high, terms.low, 0.0), np.zeros(self._size)
        for _ in range(UNIT_STEPS // UNITS_AT_ONCE):
            missed, moved = step(self._trees, terms, UNIT_FIRMNESS, cells, prices, UNITS_AT_ONCE)
            if max(missed, moved) < UNIT_MISSED:
                break
        scaling = _Scaling(terms, level, cells, prices, UNIT_FIRMNESS)
        return self._scaled(scaling, np.geomspace(FIRST_SHARE, LAST_SHARE, ROUNDS), STEPS_OF_A_ROUND)

    def reroute(self, route: Route, seed: list[int]) -> Route | None:
        """A cheaper route for the same, if one is found: what moves little gets cheaper again, at other prices.

        Parameters
        ----------
        route : Route
            The route.
        seed : list of int
            Prices differ a little from what they are, in another way for each seed.
        """
        random, scaling = np.random.default_rng(seed), route.scaling
        first = float(np.exp(random.uniform(*np.log(AGAIN_SHARES))))
        price = scaling.terms.price * np.exp(random.normal(0.0, PERTURBATION, self._size))
        again = scaling._replace(cells=scaling.cells.copy(), prices=scaling.prices.copy())
        shares = np.geomspace(first, LAST_SHARE, AGAIN_ROUNDS)
        return self._scaled(again, shares, AGAIN_STEPS, price, route.charge)

    def at_vertex(self, route: Route) -> Route:
        """The route confined to what it moves, at a vertex of that, where nothing moves in circles; or as it is.

        Prices are what slope scaling comes to in the end.
        """
        if len(moving(route.moves)) > MOST_CELLS or len(self._parents) > MOST_DIMENSIONS:
            return route
        for _ in range(VERTICES):
            found = self._vertex_of(route)
            if found is None or found.charge >= route.charge:
                break
            has_gained = found.charge < route.charge - LEAST_GAIN * abs(route.charge)
            route = found
            if not has_gained:
                break
        return route

    def _vertex_of(self, route: Route) -> Route | None:
        """The cheapest vertex by the prices of a unit that a route comes to; None if the program is not solved."""
        terms, level = route.scaling.terms, route.scaling.level
        columns = moving(route.moves)
        moves, (low, high, price, target, worth) = route.moves[columns], (one[self._places[columns]] for one in terms)
        is_able = np.zeros(len(self.problem), dtype=np.bool_)
        is_able[columns] = True
        part = self.problem.system.part(is_able)
        # Everything keeps its direction.
        part = part.within(np.where(moves < 0, part.lo, 0.0), np.where(moves > 0, part.hi, 0.0))
        fixed = np.flatnonzero(low == high)
        target[fixed] = 0.0
        prover = LinearProver(part, np.flatnonzero(target).astype(np.int64), most_vertices=MOST_VERTICES)
        prices = price / np.abs(moves / level)
        found = prover.cheapest(prices, int(fixed[0]), float(moves[fixed[0]]), target * level, worth)
        if found is None:
            return None
        cells, kept = np.zeros(self._size), moving(found)
        cells[self._places[columns[kept]]] = found[kept] / level
        return self._route(cells, route.scaling._replace(cells=cells))

    def _scaled(
        self, scaling: _Scaling, shares: Floats, steps: int, price: Floats | None = None, most: float = np.inf
    ) -> Route | None:
        """A route by slope scaling from where it stands, at some prices; None without one that is charged less."""
        terms, cells, prices, firmness = scaling.terms, scaling.cells, scaling.prices, scaling.firmness
        price = terms.price if price is None else price
        holds = np.geomspace(FIRMNESS_TIMES_SHARE / shares[0], SCALED_FIRMNESS, len(shares))
        for share, hold in zip(shares, holds, strict=True):
            prices *= firmness / hold
            firmness = float(hold)
            scaled = terms._replace(price=price / np.maximum(np.abs(cells), share))
            step(self._trees, scaled, firmness, cells, prices, steps)
        if terms.charge(cells, KEPT) >= most:
            return None
        found = self._settled(terms, cells.copy())
        if found is None:
            return None
        route = self._route(found, scaling._replace(cells=cells, prices=prices, firmness=firmness))
        return route if route.charge < most else None

    def _route(self, cells: Floats, scaling: _Scaling) -> Route:
        """A route of deviations that keep every sum, with what it costs; what moves by rounding alone costs nothing."""
        moves = cells[self._places] * scaling.level
        moved, kept = np.zeros(self._size), self._places[moving(moves)]
        moved[kept] = cells[kept]
        taken = float(scaling.terms.price[kept].sum()) * self._unit
        return Route(moves, taken, scaling.terms.charge(moved), scaling)

    def related(self, cell: int) -> Bools:
        """Which columns have a code of the cell, a part of it or what it is part of on every axis."""
        found = np.ones(len(self.problem), dtype=np.bool_)
        for parents, codes in zip(self._parents, self._codes, strict=True):
            own = int(codes[cell])
            lines = [_sums_of(code, parents) for code in range(len(parents))]
            found &= np.array([own in line or code in lines[own] for code, line in enumerate(lines)])[codes]
        return found

    def _spread(self, values: Floats) -> Floats:
        """Values of the columns at their places in the full table."""
        found = np.zeros(self._size)
        found[self._places] = values
        return found

    def _settled(self, terms: Terms, cells: Floats) -> Floats | None:
        """Deviations near to some that really keep every sum, few besides those that move by now; None without any."""
        is_kept = (terms.price == 0.0) | (np.abs(cells) > KEPT)
        nothing, prices = np.zeros(self._size), np.zeros(self._size)
        rest = terms._replace(price=np.where(is_kept, 0.0, terms.price / LAST_SHARE), target=nothing, worth=nothing)
        # The nearer the deviations are, the less there is to make up for.
        for enough in LAST_MISSED:
            for _ in range(LAST_STEPS // LAST_AT_ONCE):
                missed, _ = step(self._trees, rest, LAST_FIRMNESS, cells, prices, LAST_AT_ONCE)
                if missed < enough:
                    break
            if missed > HOPELESS:
                return None
            found = cells.copy()
            free: Bools = (found != 0.0) & (terms.low < terms.high)
            if balance(self._trees, terms.low, terms.high, free, found, HOLDINGS, STEPS_OF_A_HOLDING):
                return found
        return None


def _axes(table: Table) -> list[tuple[Ints, Ints]]:
    """The axes of a table in which codes add up in one way on each, none for other tables.

    For each axis the place of the sum of each code, 0 for the total, which comes first, and parts after their sum; and
    the place of the code of each cell.
    """
    if not table.dimensions:
        return _axes_of_grid(table)
    if len(table.parts) != 1 or any(len(one.hierarchies) != 1 for one in table.dimensions):
        return []
    found = []
    for axis, one in enumerate(table.dimensions):
        order = np.argsort([len(line) for line in one.ancestors], kind="stable")
        rank = np.argsort(order)
        found.append((rank[np.maximum(one.parents[0][order], order[0])].astype(np.int64), rank[table.codes[:, axis]]))
    return found


def _axes_of_grid(table: Table) -> list[tuple[Ints, Ints]]:
    """The axes of a table without names whose relations are the lines of a grid, each a total and its parts."""
    grid = grid_of(table)
    if grid is None:
        return []
    found: list[tuple[Ints, Ints]] = []
    for axis in range(grid.codes.shape[1]):
        codes = grid.codes[:, axis]
        size = int(codes.max()) + 1
        totals = np.flatnonzero(grid.sign[axis, :size] < 0)
        if len(totals) != 1:
            return []
        rank = np.argsort(np.concatenate([totals, np.setdiff1d(np.arange(size), totals)]))
        found.append((np.zeros(size, dtype=np.int64), rank[codes]))
    return found


def _sums_of(code: int, parents: Ints) -> list[int]:
    """A code and all sums that it is part of."""
    line = [code]
    while line[-1]:
        line.append(int(parents[line[-1]]))
    return line
