"""The attacker's linear programs: one cell as far as it goes, or many at once, and how proofs are made of them.

One for a single cell is solved by the dual simplex method from the slack basis, which takes a fraction of the time that
it takes from the basis of the one before: that is optimal for another cell, and far from this one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from discreet.attack.proofs import Proofs
from discreet.attack.system import Floats, Ints, System
from discreet.solvers.highs import PRESOLVED_INTERIOR, PRESOLVED_SIMPLEX, LinearProgram, Matrix, Status, Way
from discreet.solvers.tolerances import LEVEL, LP, LP_COARSE, REACH, SMALL

Tell = Callable[[float], None]

# Linear programs that move many columns at once, at most: fewer where the exact extremes are wanted, which they miss.
BATCHES, EXACT_BATCHES = 30, 4
# They end when this many in a row have proven nothing, or when so few sides are open.
PATIENCE, FEW_OPEN = 2, 8
# From this many columns on interior points are faster than the simplex method.
LARGE = 2_000
# What comes so near, in parts of what is wanted, may well reach it.
NEAR = 1 - 1e-5
# Where bounds are too large for a solver's absolute tolerances, all is measured in a unit in which they are no larger
# than this; what is found so is made precise by so many programs of what is still missing.
MODERATE, REFINEMENTS = 1e5, 5
# Bounds beyond this are too large from the beginning.
HUGE = 1e10
# Parts of one that prices are meant in, mostly; a fine grid is as valid where they are not, and proves a little less.
PRICED_IN, GRID = (*range(1, 13), 15, 16, 20, 24, 30, 60, 2520), 2**30
# Prices up to here are added up in whole numbers of 64 bits; more than the rounding of a bound in units.
LARGEST_PRICE, LAST_PLACES = 2.0**45, 2.0**-50


class Program:
    """The deviations of a system as a linear program.

    Parameters
    ----------
    system : System
        The system; one component of it is solved fastest.
    vertices : bool
        Whether interior points are to end at a vertex, whose coordinates have small denominators.
    """

    def __init__(self, system: System, *, vertices: bool) -> None:
        self.system = system
        self._vertices = vertices
        self._widest = system.widest
        self._prices = np.zeros(len(system.relations))
        self._is_undecided = False
        self._linear = LinearProgram(
            cost=np.zeros(len(system)),
            lower=system.lo,
            upper=system.hi,
            row_lower=np.zeros(len(system.relations)),
            row_upper=np.zeros(len(system.relations)),
            matrix=Matrix(system.starts, system.columns, system.coefficients, by_rows=True),
            maximise=True,
            run_crossover="on" if vertices else "off",
        )

    @cached_property
    def _matrix(self) -> csr_array:

        shape = len(self.system.relations), len(self.system)
        return csr_array((self.system.coefficients, self.system.columns, self.system.starts), shape=shape)

    def missed(self, deviations: Floats) -> float:
        """By how much deviations miss a relation at most: interior points obey them but for a tolerance."""
        return float(np.abs(self._matrix @ deviations).max(initial=0.0))

    def furthest(
        self, column: int, side: int, limit: float | None, *, interior: bool, sharp: bool = False
    ) -> Floats | None:
        """Deviations that bring a column as far to one side as it can go, or a limit; None if it goes on for ever.

        What the usual ways do not decide is tried without the limit, and in a larger unit and then refined.
        Interior points stop a little short of it, unless they are to be sharp, which takes longer.
        """
        if limit is not None and 0 < limit < SMALL * self._widest:
            found = self._near(column, side, limit, interior=interior)
            if found is not None and side * found[column] >= limit * (1 - LEVEL):
                return found
            # Prices have no measure: those found in another one may show that there is no more to be had.
            if found is not None and self.most(column, side, limit, self.system.lo, self.system.hi) < limit * (
                1 - LEVEL
            ):
                return found
        large = max(1.0, self._widest / MODERATE)
        rungs: list[tuple[float | None, float]] = [(limit, 1.0), (None, 1.0), (limit, large), (None, large)]
        if self._widest > HUGE:
            rungs = [*rungs[2:], rungs[0]]
        self._linear.set(run_crossover="on" if sharp or self._vertices else "off")
        found = None
        for number, (end, unit) in enumerate(dict.fromkeys(rungs)):
            found = self._press(column, side, end, unit, interior=interior and not number)
            # That there is no end would have to be shown within the limit, too.
            if not self._is_undecided and (found is not None or limit is None):
                if found is not None and unit > 1.0:
                    found = self._refine(column, side, limit, found)
                break
        else:
            # What no way has decided proves nothing: no deviations, and no prices.
            found, self._prices = np.zeros(len(self.system)), np.zeros(len(self.system.relations))
        self._linear.set(run_crossover="on" if self._vertices else "off")
        return found

    def _press(self, column: int, side: int, limit: float | None, unit: float, *, interior: bool) -> Floats | None:
        """Deviations that bring a column far to one side, solved in a unit."""
        lo, hi = limited(self.system.lo, self.system.hi, column, side, limit)
        lo, hi = lo / unit, hi / unit
        if unit == 1.0:
            self._linear.change_bound(column, float(lo[column]), float(hi[column]))
        else:
            self._linear.change_bounds(lo, hi)
        self._linear.change_cost(column, float(side))
        found = self._solve(interior=interior)
        self._linear.change_cost(column, 0.0)
        if unit == 1.0:
            self._linear.change_bound(column, float(self.system.lo[column]), float(self.system.hi[column]))
        else:
            self._linear.change_bounds(self.system.lo, self.system.hi)
        return found if found is None else found * unit

    def _refine(self, column: int, side: int, limit: float | None, found: Floats) -> Floats:
        """Deviations made precise: what still misses the relations is a linear program of its own, of small numbers.

        Iterative refinement, after Gleixner, Steffy and Wolter (2016): the program from where the last one has ended,
        whose solution is the correction. Whole numbers up to 2⁵³ are added up exactly.
        """
        system, rows = self.system, np.arange(len(self.system.relations))
        base, prices = np.zeros(len(system)), self._prices
        lo, hi = limited(system.lo, system.hi, column, side, limit)
        for _ in range(REFINEMENTS):
            base = np.clip(np.rint(base + found), lo, hi)
            missed = -(self._matrix @ base)
            # What is missing is little, whatever there is room for.
            self._linear.change_bounds(np.maximum(lo - base, -REACH), np.minimum(hi - base, REACH))
            self._linear.change_row_bounds(missed, missed, rows)
            self._linear.change_cost(column, float(side))
            correction = self._solve(interior=False)
            if self._is_undecided or correction is None:
                break
            found, prices = correction, self._prices
            if np.abs(found).max(initial=0.0) <= 1.0:
                break
        self._linear.change_cost(column, 0.0)
        self._linear.change_row_bounds(np.zeros(len(rows)), np.zeros(len(rows)), rows)
        self._linear.change_bounds(system.lo, system.hi)
        self._prices = prices
        return base + found

    def most(self, column: int, side: int, limit: float, lo: Floats, hi: Floats) -> float:
        """How far the column that was moved last can go at most within other bounds, as the prices of relations show.

        Any prices show something, by weak duality: Σ max (c − p M)ⱼ dⱼ. Those of a solved program show most. They are
        taken as simple fractions, and all is added up in exact arithmetic.
        """
        return add_up(self.system, column, side, self._prices, *limited(lo, hi, column, side, limit))

    def _near(self, column: int, side: int, limit: float, *, interior: bool) -> Floats | None:
        """Deviations that bring a column to a small limit, in its measure, with others that are not far larger."""
        lo, hi = np.maximum(self.system.lo / limit, -REACH), np.minimum(self.system.hi / limit, REACH)
        lo[column], hi[column] = max(lo[column], -1.0), min(hi[column], 1.0)
        weights = np.zeros(len(self.system))
        weights[column] = side
        found = self.together(weights, lo, hi, interior=interior)
        return None if found is None else found * limit

    def together(self, weights: Floats, lo: Floats, hi: Floats, *, interior: bool) -> Floats | None:
        """Deviations within bounds of their own that bring many columns far at once: the largest weighted sum."""
        self._linear.change_bounds(lo, hi)
        self._linear.change_costs(weights)
        found = self._solve(interior=interior)
        self._linear.change_costs(np.zeros(len(self.system)))
        self._linear.change_bounds(self.system.lo, self.system.hi)
        return found

    def _solve(self, *, interior: bool) -> Floats | None:
        usual = "ipm" if interior else "simplex"
        ways = Way(usual, "off", LP), Way(usual, "off", LP_COARSE), PRESOLVED_SIMPLEX, PRESOLVED_INTERIOR
        # What is found is checked by whoever uses it.
        status = self._linear.solve(ways, {Status.OPTIMAL, Status.UNBOUNDED})
        if status is Status.UNBOUNDED:
            self._is_undecided = False
            return None
        self._is_undecided = status is not Status.OPTIMAL
        # What no method has solved proves nothing.
        if self._is_undecided:
            self._prices = np.zeros(len(self.system.relations))
            return np.zeros(len(self.system))
        self._prices = self._linear.duals
        return self._linear.values


def limited(lo: Floats, hi: Floats, column: int, side: int, limit: float | None) -> tuple[Floats, Floats]:
    """Bounds of which those of one column end at a limit on one side."""
    lo, hi = lo.copy(), hi.copy()
    if limit is not None:
        if side > 0:
            hi[column] = min(hi[column], limit)
        else:
            lo[column] = max(lo[column], -limit)
    return lo, hi


def add_up(system: System, column: int, side: int, prices: Floats, lo: Floats, hi: Floats) -> float:
    """How far a column can go to one side at most, as prices of the relations prove, added up in exact arithmetic.

    Parameters
    ----------
    system : System
        The system.
    column, side : int
        The column, and 1 for up or −1 for down.
    prices : array of float
        A price for each relation; whatever it is, it proves something.
    lo, hi : arrays of float
        The bounds of the columns; those that are not whole are taken to be a little wider.
    """
    parts = next((parts for parts in PRICED_IN if _are_whole(prices * parts, LP_COARSE * parts)), GRID)
    whole = np.rint(prices * parts)
    gains = _gains(system, column, side * parts, whole)
    counting = np.array([at for at, _ in gains], dtype=np.int64)
    is_up = np.array([gain > 0 for _, gain in gains], dtype=np.bool_)
    ends = np.where(is_up, hi[counting], lo[counting])
    if not np.isfinite(ends).all():
        return np.inf
    wider = ends + np.where(is_up, LAST_PLACES, -LAST_PLACES) * np.maximum(1.0, np.abs(ends))
    ends = np.where(np.rint(ends) == ends, ends, wider)
    total = sum((gain * Fraction(end) for (_, gain), end in zip(gains, ends.tolist(), strict=True)), Fraction(0))
    return math.nextafter(float(total / parts), math.inf)


def _are_whole(numbers: Floats, within: float) -> bool:
    return bool(np.abs(numbers - np.rint(numbers)).max(initial=0.0) <= within)


def _gains(system: System, column: int, own: int, prices: Floats) -> list[tuple[int, Fraction]]:
    """What a move of each column gains at whole prices of the relations, exactly: the columns that gain, and what."""
    coefficients, rows = system.coefficients, np.repeat(np.arange(len(prices)), np.diff(system.starts))
    if _are_whole(coefficients, 0.0) and np.abs(prices).max(initial=0.0) < LARGEST_PRICE:
        gain = np.zeros(len(system), dtype=np.int64)
        np.subtract.at(gain, system.columns, (prices[rows] * coefficients).astype(np.int64))
        gain[column] += own
        counting = np.flatnonzero(gain)
        return [(int(at), Fraction(int(gain[at]))) for at in counting]
    exact = {column: Fraction(own)}
    for at, price, part in zip(system.columns.tolist(), prices[rows].tolist(), coefficients.tolist(), strict=True):
        exact[at] = exact.get(at, Fraction(0)) - Fraction(price) * Fraction(part)
    return [(at, gain) for at, gain in exact.items() if gain]


class LeastMoves:
    """The least moves of all that bring a column somewhere: few cells move, by simple fractions.

    Parameters
    ----------
    system : System
        The system.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        n, m = len(system), len(system.relations)
        starts = np.concatenate([system.by_starts[:-1], system.by_starts[-1] + system.by_starts])
        entries = np.concatenate([system.by_coefficients, -system.by_coefficients])
        self._linear = LinearProgram(
            cost=np.ones(2 * n),
            lower=np.zeros(2 * n),
            upper=np.concatenate([system.hi, -system.lo]),
            row_lower=np.zeros(m),
            row_upper=np.zeros(m),
            matrix=Matrix(starts, np.concatenate([system.by_rows, system.by_rows]), entries),
        )

    def find(self, column: int, amount: float) -> Floats | None:
        """Deviations in which a column moves by an amount, negative for down; None if there are none."""
        n = len(self.system)
        places = (column, n + column)
        for place, far in zip(places, (max(amount, 0.0), max(-amount, 0.0)), strict=True):
            self._linear.change_bound(place, far, far)
        status = self._linear.solve((Way("simplex", "off", LP), PRESOLVED_SIMPLEX), {Status.OPTIMAL, Status.INFEASIBLE})
        found = self._linear.values
        for place, far in zip(places, (self.system.hi[column], -self.system.lo[column]), strict=True):
            self._linear.change_bound(place, 0.0, float(far))
        return found[:n] - found[n:] if status is Status.OPTIMAL else None


def move_together(program: Program, mine: Ints, bounds: tuple[Floats, Floats], proofs: Proofs, *, exact: bool) -> None:
    """Move all columns that are still open at once, each as far as wanted, to alternating sides.

    Bounds as narrow upwards as downwards at first: a table and its mirror image then prove both sides.

    Parameters
    ----------
    program : Program
        The linear program of a component.
    mine : array of int
        Its columns, as the proofs number them.
    bounds : two arrays of float
        How far each of them can go down and up at most, as single relations tell.
    proofs : Proofs
        What is proven so far.
    exact : bool
        Whether the true extremes are wanted, which this can only come near to.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    least, most = bounds
    narrow = np.minimum(-least, most)
    side = generator.choice([-1.0, 1.0], len(mine))
    idle, mirrored = 0, not exact
    before = _count_open(proofs, mine)
    for _ in range(EXACT_BATCHES if exact else BATCHES):
        up, down = proofs.open_up[mine], proofs.open_down[mine]
        if int(up.sum() + down.sum()) <= FEW_OPEN:
            return
        if mirrored:
            lo, hi = -narrow, narrow
            # What cannot be had on both sides is looked for later.
            both = (up | down) & (narrow > 0)
            wanted = np.minimum(np.maximum(proofs.wanted_up[mine], proofs.wanted_down[mine]), narrow)
        else:
            lo, hi = least, most
            side = np.where(up & ~down, 1.0, np.where(down & ~up, -1.0, side))
            both = up | down
            wanted = np.where(side > 0, proofs.wanted_up[mine], proofs.wanted_down[mine])
        weights = np.where(both & (wanted > 0), side / np.maximum(wanted, 1e-12), 0.0)
        lo = np.where(both & (side < 0), np.maximum(lo, -wanted), lo)
        hi = np.where(both & (side > 0), np.minimum(hi, wanted), hi)
        found = program.together(weights, lo, hi, interior=len(mine) >= LARGE)
        if found is None:
            return
        proofs.learn(mine, found, program.missed(found))
        after = _count_open(proofs, mine)
        still = proofs.open_up[mine] | proofs.open_down[mine]
        turned = np.where(np.abs(found) > LEVEL, -np.sign(found), generator.choice([-1.0, 1.0], len(mine)))
        side = np.where(still, turned, side)
        gained = before - after
        if mirrored and gained < 0.6 * before:
            mirrored = False
        elif gained <= 0:
            idle += 1
            if idle >= PATIENCE:
                return
        else:
            idle = 0
        before = after


def _count_open(proofs: Proofs, mine: Ints) -> int:
    return int(proofs.open_up[mine].sum() + proofs.open_down[mine].sum())


def move_singly(
    program: Program,
    mine: Ints,
    proofs: Proofs,
    levels: tuple[Floats, Floats],
    bounds: tuple[Floats, Floats],
    *,
    exact: bool,
    tell: Tell,
) -> None:
    """Move each column to each side that is still open by a linear program of its own.

    Parameters
    ----------
    program : Program
        The linear program of a component.
    mine : array of int
        Its columns, as the proofs number them.
    proofs : Proofs
        What is proven so far.
    levels : two arrays of float
        What of each column is wanted down and up, if not all that can be had.
    bounds : two arrays of float
        The bounds of its columns as they are before they are rounded.
    exact : bool
        Whether the true extremes are wanted.
    tell : callable
        Listens to how much of the work is done.
    """
    large = len(mine) >= LARGE
    ways = (
        (1, proofs.up, proofs.wanted_up, proofs.enough_up, levels[1], proofs.most_up),
        (-1, proofs.down, proofs.wanted_down, proofs.enough_down, levels[0], proofs.most_down),
    )
    for at, column in enumerate(mine.tolist()):
        if exact and at % 64 == 0:
            tell(at / len(mine))
        for side, reached, wanted, enough, level, most in ways:
            if reached[column] >= enough[column]:
                continue
            limit = None if exact else float(wanted[column])
            found = program.furthest(at, side, limit, interior=large)
            if found is not None:
                proofs.learn(mine, found, program.missed(found))
                lost = reached[column] < side * found[at] * NEAR
                aim = level[column] if exact else wanted[column]
                near = abs(reached[column] - aim) <= (1 - NEAR) * aim
                if large and reached[column] < enough[column] and (lost or near):
                    # Interior points lose what they do not hit: ends at a bound, and levels that are just reached.
                    found = program.furthest(at, side, limit, interior=True, sharp=True)
                    if found is not None:
                        proofs.learn(mine, found, program.missed(found))
            if found is None:
                reached[column] = np.inf
            elif exact and proofs.integral:
                # What is looked for beyond by whole numbers ends here.
                most[column] = side * found[at]
            elif limit is not None and reached[column] < enough[column]:
                most[column] = program.most(at, side, limit, *bounds)
