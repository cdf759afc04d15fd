"""Cuts for ranges that both sides of a cell may share: what it can move up and down together is too little."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.attack.network import networks
from discreet.attack.system import Bools, Floats, Ints
from discreet.tables.suppression.exact.cuts import VIOLATION, Cut, capacity_cut, rounded
from discreet.tables.suppression.exact.separation import TRACE, DualCuts, FlowCuts, Separator, separator_of
from discreet.tables.suppression.problem import Problem

# What falls short of a width by less, in parts of it, is rounding.
DUST = 1e-9
# Cuts of one round at most where ranges take linear programs.
MOST = 100


class RangeCuts:
    """Cuts of a problem with ranges.

    From one table that fits to another no column moves by more than the distance of its bounds, and the cell must move
    by its width: that is a task like others, with strong cuts, but it does not suffice. How far a cell can go up is
    limited by a sum of capacities of suppressed columns, and so is how far it can go down; where both limits together
    fall short of the width, their sum is a capacity cut too.

    Parameters
    ----------
    problem : Problem
        The problem; its tasks are what any split needs.
    programs : bool
        Whether to solve linear programs to find cuts where the problem is no network.
    """

    def __init__(self, problem: Problem, *, programs: bool = True) -> None:
        self._tasks = separator_of(problem, programs=programs)
        flat, signs = networks(problem.system)
        self._spans = separator_of(_spanned(problem), programs=programs)
        sides = _both_sides(problem)
        self._ranges = FlowRanges(sides, signs) if flat.all() else DualRanges(sides, programs=programs)

    def lacking(self, share: Floats) -> Floats:
        """What each task lacks; 0 where it is protected."""
        return self._tasks.lacking(share)

    def narrow(self, share: Floats) -> Bools:
        """Which ranges are not as wide as they must be."""
        return self._ranges.narrow(share)

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts that the shares violate; for whole shares none only if they protect every task and every range."""
        spans = self._spans.cuts(share)
        return self._tasks.cuts(share) + (spans or self._ranges.cuts(share))


class FlowRanges(FlowCuts):
    """Cuts for the ranges of a network: a least cut of the flow up and one of the flow down.

    Parameters
    ----------
    problem : Problem
        The problem, with two tasks for each range: how far up, then how far down, is of use.
    signs : array of int
        1 or −1 for each relation, which make every cell an arc.
    """

    def narrow(self, share: Floats) -> Bools:
        """Which ranges are not as wide as they must be."""
        return _narrow(self.problem, self.lacking(share))

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts of ranges that the shares violate."""
        problem = self.problem
        lacking, near, far = self._shortfalls(
            share, problem.cell, problem.side, problem.level, problem.level, bounded=True
        )
        found = []
        for at in np.flatnonzero(_narrow(problem, lacking)).tolist():
            for inside in (near, far):
                limits = [self._limit(task, float(lacking[task]), inside[task]) for task in (2 * at, 2 * at + 1)]
                found += _violated(_sum(problem, at, limits), share)
        return found

    def _limit(self, task: int, lacking: float, inside: Bools) -> Limit:
        problem, system = self.problem, self.problem.system
        level = float(problem.level[task])
        if not lacking:
            return Limit(most=level)
        begins, ends = inside[self._tail], inside[self._head]
        leaving, entering = begins & ~ends, ends & ~begins
        leaving[problem.cell[task]] = entering[problem.cell[task]] = False
        columns = np.flatnonzero(leaving | entering)
        capacities = np.minimum(np.where(leaving[columns], system.hi[columns], -system.lo[columns]), level)
        return Limit(columns, capacities)


class DualRanges(DualCuts):
    """Cuts for the ranges of a problem that is no network, from the duals of two linear programs each.

    Parameters
    ----------
    problem : Problem
        The problem, with two tasks for each range: how far up, then how far down, is of use.
    programs : bool
        Whether to solve programs; nothing is found otherwise.
    """

    def narrow(self, share: Floats) -> Bools:
        """Which ranges are not as wide as they must be."""
        return _narrow(self.problem, self.lacking(share))

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts of ranges that the shares violate."""
        found: list[Cut] = []
        for at in np.argsort(-self.problem.width, kind="stable").tolist():
            if len(found) >= MOST or not self._programs:
                break
            # As for tasks: any weights give a cut, and those of a little of every column have few columns in them.
            found += self._both(at, np.maximum(share, TRACE), share, capped=True) or self._both(at, share, share)
        return found

    def _both(self, at: int, used: Floats, share: Floats, *, capped: bool = False) -> list[Cut]:
        """The cut of a range from programs within some shares of the bounds, if it has not the width and violates."""
        problem, system = self.problem, self.problem.system
        limits, reach = [], 0.0
        for task in (2 * at, 2 * at + 1):
            level = float(problem.level[task])
            cap = level if capped else np.inf
            lo, hi = (_part(bound, used) for bound in (np.maximum(system.lo, -cap), np.minimum(system.hi, cap)))
            reached, weights, _ = self._solve(task, lo, hi)
            reach += reached
            limit = Limit(most=level)
            if reached < level * (1 - DUST):
                turned = self._matrix @ weights
                columns = np.flatnonzero(turned)
                limit = self._limit(task, columns, turned[columns])
            limits.append(limit)
        if reach >= problem.least_width[at] * (1 - DUST):
            return []
        return _violated(_sum(problem, at, limits), share)

    def _around(self, task: int) -> list[Cut]:
        """No cut of a single relation: those of spans are better."""
        return []

    def _limit(self, task: int, columns: Ints, turned: Floats) -> Limit:
        """What the sum of relations in which these columns have these coefficients lets through."""
        problem, system = self.problem, self.problem.system
        cell, level = problem.cell[task], float(problem.level[task])
        own = -float(turned[columns == cell].sum()) * problem.side[task]
        if abs(own) < 1e-9:
            return Limit(most=level)
        turned = turned / own
        kept = (np.abs(turned) >= 1e-12) & (columns != cell)
        columns, turned = columns[kept], turned[kept]
        bound = np.where(turned > 0, system.hi[columns], system.lo[columns])
        return Limit(columns, np.minimum(turned * bound, level))


class Limit(NamedTuple):
    """A side moves no further than what the suppressed of some columns let through together, or than a number."""

    columns: Ints = np.empty(0, dtype=np.int64)
    capacities: Floats = np.empty(0)
    most: float = 0.0


def ranged_separator_of(problem: Problem, *, programs: bool = True) -> Separator:
    """The separator of a problem, with its ranges if it has any."""
    return RangeCuts(problem, programs=programs) if len(problem.ranged) else separator_of(problem, programs=programs)


def narrow(problem: Problem, share: Floats) -> Bools:
    """Which ranges of a problem are not as wide as they must be."""
    return RangeCuts(problem).narrow(share) if len(problem.ranged) else np.zeros(0, dtype=np.bool_)


def _spanned(problem: Problem) -> Problem:
    """The problem of differences between two tables that fit: a task for each range, to one side as to the other."""
    span = problem.system.hi - problem.system.lo
    return replace(
        problem,
        system=problem.system.within(-span, span),
        cell=problem.ranged,
        side=np.ones(len(problem.ranged), dtype=np.int64),
        level=problem.least_width,
        needed=problem.least_width,
    )


def _both_sides(problem: Problem) -> Problem:
    """The problem with two tasks for each range, up and down: all that is of use if the other side does its own."""
    down, up = problem.by_side()
    cell = np.repeat(problem.ranged, 2)
    of_use = problem.width - down[problem.ranged], problem.width - up[problem.ranged]
    rooms = problem.system.hi[problem.ranged], -problem.system.lo[problem.ranged]
    level = np.minimum(np.stack(of_use, axis=1), np.stack(rooms, axis=1)).ravel()
    side = np.tile(np.array([1, -1], dtype=np.int64), len(problem.ranged))
    return replace(problem, cell=cell, side=side, level=level, needed=level)


def _narrow(problem: Problem, lacking: Floats) -> Bools:
    """Which ranges are not as wide as they must be, given what each of their sides lacks."""
    reached = (problem.level - lacking).reshape(-1, 2).sum(axis=1)
    found: Bools = reached < problem.least_width * (1 - DUST)
    return found


def _sum(problem: Problem, at: int, limits: list[Limit]) -> Cut | None:
    """The capacity cut of a limit up and one down for a range; None if the primary columns suffice."""
    columns, place = np.unique(np.concatenate([one.columns for one in limits]), return_inverse=True)
    capacities = np.zeros(len(columns))
    np.add.at(capacities, place, np.concatenate([one.capacities for one in limits]))
    width = float(problem.least_width[at]) - sum(one.most for one in limits)
    return capacity_cut(columns, capacities, width, problem.primary)


def _violated(cut: Cut | None, share: Floats) -> list[Cut]:
    """A cut and its rounding, as far as the shares violate them."""
    if cut is None:
        return []
    better = rounded(cut, share)
    return ([cut] if cut.lacks(share) > VIOLATION else []) + ([better] if better is not None else [])


def _part(bounds: Floats, share: Floats) -> Floats:
    """The shares of bounds, which may be infinite."""
    part = np.zeros(len(bounds))
    np.multiply(bounds, share, out=part, where=share > 0)
    return part
