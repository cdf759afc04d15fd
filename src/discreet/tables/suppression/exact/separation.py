"""Separation: cuts that shares of suppression violate, from flows or from the duals of linear programs."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from discreet.attack.system import Bools, Floats, Ints, ends_of, networks
from discreet.kernels.flows.circulation import adjacency, shortfalls
from discreet.solvers.highs import LinearProgram, Matrix
from discreet.solvers.tolerances import COEFFICIENT, LEVEL, LP, VIOLATION
from discreet.tables.suppression.exact.cuts import Cut, capacity_cut, rounded
from discreet.tables.suppression.problem import Problem


class CutFinder(Protocol):
    """Finds cuts that shares of suppression violate."""

    def cuts(self, share: Floats) -> list[Cut]:
        """Cuts that the shares violate; those of a separator are none for whole shares only if these protect all."""
        ...


class Separator(CutFinder, Protocol):
    """Finds cuts that shares violate, and what requirements lack."""

    def lacking(self, share: Floats) -> Floats:
        """What each requirement lacks; 0 where it is protected."""
        ...


class FlowCuts:
    """Cuts of problems that are networks.

    A requirement is a flow from one end of its cell to the other; nothing needs to carry more than its level. Where it
    does not fit, a least cut of nodes is crossed by too little capacity. A further column that is suppressed must
    itself be of use to a flow: every cut of nodes that it crosses is crossed by another suppressed one (a bridge
    inequality).

    Parameters
    ----------
    problem : Problem
        The problem.
    signs : array of int
        1 or −1 for each relation, which make every cell an arc.
    """

    def __init__(self, problem: Problem, signs: Ints) -> None:
        self.problem = problem
        self._tail, self._head = ends_of(problem.system, signs)
        self._nodes = len(problem.system.relations) + 1

    def lacking(self, share: Floats) -> Floats:
        """What each requirement lacks; 0 where it is protected."""
        return self._requirements(share)[0]

    def cuts(self, share: Floats) -> list[Cut]:
        """Capacity cuts, their roundings and bridge inequalities that the shares violate."""
        found = []
        for cut in self.capacities(share):
            if cut.lacks(share) > VIOLATION:
                found.append(cut)
            better = rounded(cut, share)
            if better is not None:
                found.append(better)
        return found + self._bridges(share)

    def capacities(self, share: Floats) -> list[Cut]:
        """The capacity cuts of requirements whose flows do not fit into the shares."""
        lacking, near, far = self._requirements(share)
        found = (
            self._capacity(requirement, inside[requirement])
            for requirement in np.flatnonzero(lacking > 0).tolist()
            for inside in (near, far)
        )
        return [cut for cut in found if cut is not None]

    def _requirements(self, share: Floats) -> tuple[Floats, Bools, Bools]:
        """What requirements lack, with the least cuts nearest to either end; in the eyes of insiders one by one."""
        problem = self.problem
        outside = problem.outside
        found = self._shortfalls(
            share, problem.cell[outside], problem.side[outside], *(problem.level[outside],) * 2, bounded=True
        )
        if outside.all():
            return found
        lacking = np.zeros(problem.requirements)
        near, far = (np.zeros((problem.requirements, self._nodes), dtype=np.bool_) for _ in range(2))
        lacking[outside], near[outside], far[outside] = found
        for view, known in enumerate(problem.known):
            mine = problem.view == view
            if mine.any():
                rest = share.copy()
                rest[known] = 0.0
                lacking[mine], near[mine], far[mine] = self._shortfalls(
                    rest, problem.cell[mine], problem.side[mine], *(problem.level[mine],) * 2, bounded=True
                )
        return lacking, near, far

    def _bridges(self, share: Floats) -> list[Cut]:
        columns = np.flatnonzero((share > 1e-4) & ~self.problem.primary)
        ones = np.ones(len(columns))
        lacking, near, _ = self._shortfalls(
            share, columns, np.ones(len(columns), np.int64), share[columns], ones, bounded=False
        )
        found = []
        for at in np.flatnonzero(lacking > VIOLATION):
            inside, column = near[at], columns[at]
            crossing = inside[self._tail] != inside[self._head]
            crossing[column] = False
            if (crossing & self.problem.primary).any():
                continue
            others = np.flatnonzero(crossing)
            order = np.argsort(np.append(others, column))
            found.append(Cut(np.append(others, column)[order], np.append(np.ones(len(others)), -1.0)[order], 0.0))
        return found

    def _capacity(self, requirement: int, inside: Bools) -> Cut | None:
        """The capacity cut of a cut of nodes."""
        columns, capacities = self._crossing(requirement, inside)
        return capacity_cut(columns, capacities, float(self.problem.level[requirement]), self.problem.primary)

    def _crossing(self, requirement: int, inside: Bools) -> tuple[Ints, Floats]:
        """The columns that cross a cut of nodes, and what each lets through of a requirement's flow at most."""
        problem, system = self.problem, self.problem.system
        begins, ends = inside[self._tail], inside[self._head]
        leaving, entering = begins & ~ends, ends & ~begins
        leaving[problem.cell[requirement]] = entering[problem.cell[requirement]] = False
        leaving[problem.fixed(requirement)] = entering[problem.fixed(requirement)] = False
        columns = np.flatnonzero(leaving | entering)
        capacities = np.where(leaving[columns], system.hi[columns], -system.lo[columns])
        return columns, np.minimum(capacities, float(problem.level[requirement]))

    def _shortfalls(
        self, share: Floats, cells: Ints, sides: Ints, wanted: Floats, caps: Floats, *, bounded: bool
    ) -> tuple[Floats, Bools, Bools]:
        """What moves lack when only the columns with a share are there."""
        system = self.problem.system
        used = share > 0
        used[cells] = True
        number = np.cumsum(used) - 1
        tail, head = self._tail[used], self._head[used]
        size = int(used.sum())
        lo, hi = (system.lo[used], system.hi[used]) if bounded else (-np.ones(size), np.ones(size))
        return shortfalls(
            tail,
            head,
            lo,
            hi,
            share[used],
            *adjacency(tail, head, self._nodes),
            number[cells],
            sides,
            wanted,
            caps,
            LEVEL,
        )


def separator_of(problem: Problem) -> Separator:
    """Flows where the problem is a network, linear programs otherwise."""
    flat, signs = networks(problem.system)
    if flat.all():
        return FlowCuts(problem, signs)

    return DualCuts(problem)


# A little of every column: of the cuts that forbid the shares, a linear program then gives one with few columns in it.
TRACE = 1e-3
# Cuts of one round at most, and so many of single relations that no linear programs are solved for more.
CUTS_PER_ROUND, ENOUGH_SINGLE = 100, 10


class DualCuts:
    """Cuts from linear programs: one cell as far as it goes within the shares of the bounds of the others.

    Weights y of the relations M d = 0 give Σ (yM)ⱼ dⱼ = 0 for all deviations; with the cell at its level on one side,
    the others must make up for it, each by its bound at most: whatever y is, that is a capacity cut. Those of single
    relations need no linear program. A further column that is suppressed must itself move in some solution, and with it
    another column of each of its relations.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        system = problem.system
        n, m = len(system), len(system.relations)
        self._matrix = csr_array((system.coefficients, system.columns, system.starts), shape=(m, n)).T.tocsr()
        self._linear = LinearProgram(
            cost=np.zeros(n),
            lower=system.lo,
            upper=system.hi,
            row_lower=np.zeros(m),
            row_upper=np.zeros(m),
            matrix=Matrix(system.starts, system.columns, system.coefficients, by_rows=True),
            maximise=True,
        )
        self._linear.set_tolerance(LP)
        self._rows = np.repeat(np.arange(m), np.diff(system.starts))
        self._given = np.bincount(self._rows, problem.primary[system.columns], m) > 0
        self._lines = [cut for requirement in range(problem.requirements) for cut in self._around(requirement)]

    def _around(self, requirement: int) -> list[Cut]:
        """The capacity cuts of the relations in which a requirement's cell stands."""
        system, cell = self.problem.system, self.problem.cell[requirement]
        found = []
        for row in system.by_rows[system.by_starts[cell] : system.by_starts[cell + 1]].tolist():
            begin, end = system.starts[row], system.starts[row + 1]
            cut = self._capacity(requirement, system.columns[begin:end], system.coefficients[begin:end])
            if cut is not None:
                found.append(cut)
        return found

    def lacking(self, share: Floats) -> Floats:
        """What each requirement lacks; 0 where it is protected."""
        problem = self.problem
        lacking = np.full(problem.requirements, np.inf)
        lo, hi = share_of(problem.system.lo, share), share_of(problem.system.hi, share)
        for requirement in np.argsort(-problem.level, kind="stable").tolist():
            if lacking[requirement] > 0:
                reached, _, deviations = self._solve(requirement, lo, hi)
                missing = float(problem.level[requirement]) - reached
                lacking[requirement] = missing if missing > LEVEL * problem.level[requirement] else 0.0
                lacking[self._proven(deviations, lo, hi)] = 0.0
        return lacking

    def cuts(self, share: Floats) -> list[Cut]:
        """Capacity cuts and their roundings that the shares violate."""
        problem, system = self.problem, self.problem.system
        lo, hi = share_of(system.lo, share), share_of(system.hi, share)
        more = np.maximum(share, TRACE)
        proven = np.zeros(problem.requirements, dtype=np.bool_)
        found = self._single(share)
        if len(found) >= ENOUGH_SINGLE:
            return found
        for requirement in np.argsort(-problem.level, kind="stable").tolist():
            if proven[requirement] or len(found) >= CUTS_PER_ROUND:
                continue
            level = float(problem.level[requirement])
            # Nothing is lost by a wrong guess at how far the others move: any weights give a cut.
            cut = self._found(
                requirement, np.maximum(system.lo, -level) * more, np.minimum(system.hi, level) * more, share
            )
            if not cut:
                reached, weights, deviations = self._solve(requirement, lo, hi)
                proven[self._proven(deviations, lo, hi)] = True
                if reached < level * (1 - LEVEL):
                    cut = self._find_violated(requirement, weights, share)
            found += cut
        return found

    def _found(self, requirement: int, lo: Floats, hi: Floats, share: Floats) -> list[Cut]:
        reached, weights, _ = self._solve(requirement, lo, hi)
        if reached >= self.problem.level[requirement] * (1 - LEVEL):
            return []
        return self._find_violated(requirement, weights, share)

    def _find_violated(self, requirement: int, weights: Floats, share: Floats) -> list[Cut]:
        turned = self._matrix @ weights
        columns = np.flatnonzero(turned)
        cut = self._capacity(requirement, columns, turned[columns])
        if cut is None:
            return []
        found = [cut] if cut.lacks(share) > VIOLATION else []
        better = rounded(cut, share)
        return found if better is None else [*found, better]

    def _single(self, share: Floats) -> list[Cut]:
        """Cuts of single relations that the shares violate."""
        system = self.problem.system
        found = [cut for cut in self._lines if cut.lacks(share) > VIOLATION]
        x = share[system.columns]
        rest = np.bincount(self._rows, x, len(system.relations))[self._rows] - x
        for at in np.flatnonzero((x > rest + VIOLATION) & ~self._given[self._rows]).tolist():
            begin, end = system.starts[self._rows[at]], system.starts[self._rows[at] + 1]
            columns = system.columns[begin:end]
            order = np.argsort(columns)
            found.append(Cut(columns[order], np.where(columns == system.columns[at], -1.0, 1.0)[order], 0.0))
        return found

    def _capacity(self, requirement: int, columns: Ints, turned: Floats) -> Cut | None:
        """The capacity cut of the sum of relations in which these columns have these coefficients."""
        found = self._crossing(requirement, columns, turned)
        return found and capacity_cut(*found, float(self.problem.level[requirement]), self.problem.primary)

    def _crossing(self, requirement: int, columns: Ints, turned: Floats) -> tuple[Ints, Floats] | None:
        """The other columns of a sum of relations, and what each adds at most to how far a requirement's cell goes."""
        problem, system = self.problem, self.problem.system
        cell = problem.cell[requirement]
        own = -float(turned[columns == cell].sum()) * problem.side[requirement]
        if abs(own) < LP:
            return None
        turned = turned / own
        kept = (np.abs(turned) >= COEFFICIENT) & (columns != cell)
        kept &= ~np.isin(columns, problem.fixed(requirement))
        columns, turned = columns[kept], turned[kept]
        order = np.argsort(columns)
        columns, turned = columns[order], turned[order]
        bound = np.where(turned > 0, system.hi[columns], system.lo[columns])
        return columns, turned * bound

    def _solve(self, requirement: int, lo: Floats, hi: Floats) -> tuple[float, Floats, Floats]:
        """How far a requirement gets, up to its level; the weights of the relations that show it; the deviations."""
        problem = self.problem
        cell, side = int(problem.cell[requirement]), int(problem.side[requirement])
        level = float(problem.level[requirement])
        linear = self._linear
        linear.restart()
        linear.change_bounds(lo, hi)
        for column in problem.fixed(requirement).tolist():
            linear.change_bound(column, 0.0, 0.0)
        linear.change_bound(cell, min(0.0, side * level), max(0.0, side * level))
        linear.change_cost(cell, float(side))
        linear.run()
        deviations, weights = linear.values, linear.duals
        linear.change_cost(cell, 0.0)
        return side * float(deviations[cell]), weights, deviations

    def _proven(self, deviations: Floats, lo: Floats, hi: Floats) -> Ints:
        """The requirements that deviations prove, as they are."""
        problem = self.problem
        if ((deviations < lo - LP) | (deviations > hi + LP)).any():
            return np.zeros(0, np.int64)
        found = np.flatnonzero(problem.side * deviations[problem.cell] >= problem.level * (1 - LEVEL))
        if not problem.known:
            return found
        moved = np.abs(deviations) > LP
        return found[[not moved[problem.fixed(requirement)].any() for requirement in found.tolist()]]


def share_of(bounds: Floats, share: Floats) -> Floats:
    """The shares of bounds, which may be infinite."""
    part = np.zeros(len(bounds))
    np.multiply(bounds, share, out=part, where=share > 0)
    return part
