"""Cuts for ranges that both sides of a cell may share: what it can move up and down together is too little."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.attack.system import Bools, Floats, Ints, networks
from discreet.solvers.tolerances import LEVEL, VIOLATION
from discreet.tables.suppression.exact.cuts import Cut, capacity_cut, rounded
from discreet.tables.suppression.exact.separation import (
    CUTS_PER_ROUND,
    TRACE,
    DualCuts,
    FlowCuts,
    Separator,
    separator_of,
    share_of,
)
from discreet.tables.suppression.problem import Problem


class RangeCuts:
    """Cuts of a problem with ranges.

    From one table that fits to another no column moves by more than the distance of its bounds, and the cell must move
    by its width: that is a requirement like others, with strong cuts, but it does not suffice. How far a cell can go up
    is limited by a sum of capacities of suppressed columns, and so is how far it can go down; where both limits
    together fall short of the width, their sum is a capacity cut too.

    Parameters
    ----------
    problem : Problem
        The problem; its requirements are what any split needs.
    """

    def __init__(self, problem: Problem) -> None:
        self._requirements = separator_of(problem)
        flat, signs = networks(problem.system)
        self._spans = separator_of(state_differences(problem))
        sides = _both_sides(problem)
        self._ranges = FlowRanges(sides, signs) if flat.all() else DualRanges(sides)

    def lacking(self, share: Floats) -> Floats:
        """What each requirement lacks; 0 where it is protected."""
        return self._requirements.lacking(share)

    def narrow(self, share: Floats) -> Bools:
        """Which ranges are not as wide as they must be."""
        return self._ranges.narrow(share)

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts that the shares violate; for whole shares none only if they protect all requirements and ranges."""
        spans = self._spans.cuts(share)
        return self._requirements.cuts(share) + (spans or self._ranges.cuts(share))


class FlowRanges(FlowCuts):
    """Cuts for the ranges of a network: a least cut of the flow up and one of the flow down.

    Parameters
    ----------
    problem : Problem
        The problem, with two requirements for each range: how far up, then how far down, is of use.
    signs : array of int
        1 or −1 for each relation, which make every cell an arc.
    """

    def narrow(self, share: Floats) -> Bools:
        """Which ranges are not as wide as they must be."""
        return _narrow(self.problem, self.lacking(share))

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts of ranges that the shares violate."""
        problem = self.problem
        lacking, near, far = self._requirements(share)
        found = []
        for at in np.flatnonzero(_narrow(problem, lacking)).tolist():
            for inside in (near, far):
                limits = [
                    Limit(*self._crossing(side, inside[side]))
                    if lacking[side]
                    else Limit(most=float(problem.level[side]))
                    for side in (2 * at, 2 * at + 1)
                ]
                found += _find_violated(_sum(problem, at, limits), share)
        return found


class DualRanges(DualCuts):
    """Cuts for the ranges of a problem that is no network, from the duals of two linear programs each.

    Parameters
    ----------
    problem : Problem
        The problem, with two requirements for each range: how far up, then how far down, is of use.
    """

    def narrow(self, share: Floats) -> Bools:
        """Which ranges are not as wide as they must be."""
        return _narrow(self.problem, self.lacking(share))

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts of ranges that the shares violate."""
        found: list[Cut] = []
        for at in np.argsort(-self.problem.width, kind="stable").tolist():
            if len(found) >= CUTS_PER_ROUND:
                break
            # As for requirements: any weights give a cut; those of a little of every column have few columns in them.
            found += self._both(at, np.maximum(share, TRACE), share, capped=True) or self._both(at, share, share)
        return found

    def _both(self, at: int, used: Floats, share: Floats, *, capped: bool = False) -> list[Cut]:
        """The cut of a range from programs within some shares of the bounds, if it has not the width and violates."""
        problem, system = self.problem, self.problem.system
        limits, reach = [], 0.0
        for requirement in (2 * at, 2 * at + 1):
            level = float(problem.level[requirement])
            cap = level if capped else np.inf
            lo, hi = (share_of(bound, used) for bound in (np.maximum(system.lo, -cap), np.minimum(system.hi, cap)))
            reached, weights, _ = self._solve(requirement, lo, hi)
            reach += reached
            limit = Limit(most=level)
            if reached < level * (1 - LEVEL):
                turned = self._matrix @ weights
                columns = np.flatnonzero(turned)
                crossing = self._crossing(requirement, columns, turned[columns])
                if crossing is not None:
                    limit = Limit(crossing[0], np.minimum(crossing[1], level))
            limits.append(limit)
        if reach >= problem.least_width[at] * (1 - LEVEL):
            return []
        return _find_violated(_sum(problem, at, limits), share)

    def _around(self, requirement: int) -> list[Cut]:
        """No cut of a single relation: those of spans are better."""
        return []


class Limit(NamedTuple):
    """A side moves no further than what the suppressed of some columns let through together, or than a number."""

    columns: Ints = np.empty(0, dtype=np.int64)
    capacities: Floats = np.empty(0)
    most: float = 0.0


def ranged_separator_of(problem: Problem) -> Separator:
    """The separator of a problem, with its ranges if it has any."""
    return RangeCuts(problem) if len(problem.ranged) else separator_of(problem)


def narrow(problem: Problem, share: Floats) -> Bools:
    """Which ranges of a problem are not as wide as they must be."""
    return RangeCuts(problem).narrow(share) if len(problem.ranged) else np.zeros(0, dtype=np.bool_)


def state_differences(problem: Problem) -> Problem:
    """The problem of differences between two tables that fit: a requirement for each range, to one side."""
    span = problem.system.hi - problem.system.lo
    return replace(
        problem,
        system=problem.system.within(-span, span),
        cell=problem.ranged,
        side=np.ones(len(problem.ranged), dtype=np.int64),
        level=problem.least_width,
        needed=problem.least_width,
        view=np.full(len(problem.ranged), -1, dtype=np.int64),
    )


def _both_sides(problem: Problem) -> Problem:
    """The problem with two requirements for each range, up and down: all that is of use beside the other."""
    down, up = problem.by_side()
    cell = np.repeat(problem.ranged, 2)
    of_use = problem.width - down[problem.ranged], problem.width - up[problem.ranged]
    rooms = problem.system.hi[problem.ranged], -problem.system.lo[problem.ranged]
    level = np.minimum(np.stack(of_use, axis=1), np.stack(rooms, axis=1)).ravel()
    side = np.tile(np.array([1, -1], dtype=np.int64), len(problem.ranged))
    view = np.full(len(cell), -1, dtype=np.int64)
    return replace(problem, cell=cell, side=side, level=level, needed=level, view=view)


def _narrow(problem: Problem, lacking: Floats) -> Bools:
    """Which ranges are not as wide as they must be, given what each of their sides lacks."""
    reached = (problem.level - lacking).reshape(-1, 2).sum(axis=1)
    found: Bools = reached < problem.least_width * (1 - LEVEL)
    return found


def _sum(problem: Problem, at: int, limits: list[Limit]) -> Cut | None:
    """The capacity cut of a limit up and one down for a range; None if the primary columns suffice."""
    columns, place = np.unique(np.concatenate([one.columns for one in limits]), return_inverse=True)
    capacities = np.zeros(len(columns))
    np.add.at(capacities, place, np.concatenate([one.capacities for one in limits]))
    width = float(problem.least_width[at]) - sum(one.most for one in limits)
    return capacity_cut(columns, capacities, width, problem.primary)


def _find_violated(cut: Cut | None, share: Floats) -> list[Cut]:
    """A cut and its rounding, as far as the shares violate them."""
    if cut is None:
        return []
    better = rounded(cut, share)
    return ([cut] if cut.lacks(share) > VIOLATION else []) + ([better] if better is not None else [])
