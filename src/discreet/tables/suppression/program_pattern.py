"""Patterns of tables of any kind, built and improved by linear programs: each protects one requirement.

What a pattern takes early is costly in hindsight. So all requirements are protected anew, in sweeps: with the cells of
the pattern alone, or with these at a discount. Cells that no certificate needs are published, others are tried one by
one. Where a requirement cannot do without a cell, a cut tells of many cells that they are needed (`ray_cuts`).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.checks import integers, whole
from discreet.evolution.process import State, inside, part
from discreet.kernels.arrays import Words
from discreet.kernels.random import below, uniform
from discreet.tables.suppression.boxes import Boxes, Branches
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.lattice import LatticeProver, lattice_of
from discreet.tables.suppression.problem import SIZE_CLASSES, Problem, SizeClasses
from discreet.tables.suppression.provers import ConfinedProver, LinearProver, Prover, SubtableProver, moving
from discreet.tables.suppression.ray_cuts import Cuts
from discreet.tables.suppression.splitting import MOST_DIMENSIONS, Route, SplittingProver

# What a move of a suppressed secondary cell costs, in parts of its weight: certificates keep off costly cells, so that
# these may be published again.
CHARGE = 1e-3
# What may be lacking of a level, in parts of it.
LACKING = 1e-10
# What a unit of a move that protects another requirement is worth, in parts of the median weight. Little at first: what
# is cheap goes along. In a lattice it grows with each program after some, in parts of the columns: the last
# requirements cost next to nothing, and one by one they would take most of the time.
BONUS, LARGEST_BONUS = 1e-2, 10.0
BONUS_STEADY, BONUS_GROWTH = 1 / 600, 1.6
# The same where programs are of parts of the table, where only suppressed cells may move, so that a bonus buys nothing,
# and where a costly cell is replaced.
SUBTABLE_BONUS, SWEEP_BONUS, REPLACEMENT_BONUS = 1.0, 2.0, 1.0
# What moves by less than this part of the largest move may be rounding, unless it is so many times what is missed.
DOUBTFUL, CLEAR = 1e-6, 1e3
# What moves of sums and parts of a cell are worth, in times of what others are, from what part of its move on.
ALONG, LARGE_SHARE = 100.0, 0.3
# How many programs a clean-up may solve cell by cell, and how many after each repair.
CLEANING_PROGRAMS, REPAIR_PROGRAMS = 100, 10


class Sweep(NamedTuple):
    """How to protect all requirements anew: cells taken early may have become needless by those taken later."""

    is_rising: bool  # small levels first
    parts: Floats | None = None  # what each cell costs, in parts of its weight; None: no others than the pattern's


class _Swept(NamedTuple):
    """The pattern before the sweep under way."""

    suppressed: Bools
    number: Ints  # requirement: its certificate
    parts: Floats | None


class LinearProgramPattern:
    """A pattern of a problem of any kind, with a certificate for each requirement that is protected.

    Parameters
    ----------
    problem : Problem
        The problem.
    sizes : SizeClasses
        From how many columns on which prover is used.

    Attributes
    ----------
    solved
        How many linear programs were solved.
    """

    is_compiled = False

    def __init__(self, problem: Problem, sizes: SizeClasses = SIZE_CLASSES) -> None:
        self.problem, self.sizes = problem, sizes
        n = len(problem)
        self._up, self._down = problem.requirements_by_column()
        self._inside = np.flatnonzero(~problem.outside)
        self._targeted = np.flatnonzero((self._up >= 0) | (self._down >= 0))
        self._side = np.where(np.arange(n) * 2654435761 % 4294967296 < 2147483648, 1.0, -1.0)
        weights = problem.weight[problem.weight > 0]
        self._typical_weight = float(np.median(weights)) if len(weights) else 0.0
        self._suppressed = problem.primary.copy()
        self._certificates = Certificates(n, problem.requirements)
        # Requirements that no pattern protects.
        self._unprotectable = np.zeros(problem.requirements, dtype=np.bool_)
        self._cuts = Cuts(problem.system)
        # For each cell a requirement that could not do without it when last tried.
        self._witness = np.full(n, -1, dtype=np.int64)
        self._swept: _Swept | None = None
        self._programs_of_sweep = 0
        self.solved = 0

    # What kind of problem it is, and the provers for it.

    @cached_property
    def _lattice(self) -> LatticeProver | None:
        return lattice_of(self.problem) if len(self.problem) >= self.sizes.lattice else None

    @property
    def is_on_lattice(self) -> bool:
        """Whether the table is a full one of three dimensions, whose linear programs have a method of their own."""
        return self._lattice is not None

    @cached_property
    def is_vast(self) -> bool:
        """Whether linear programs are of parts of the table; where there are many dimensions, they take long sooner."""
        dimensions, sizes = len(self.problem.table.dimensions), self.sizes
        least = sizes.vast if dimensions <= MOST_DIMENSIONS else min(sizes.large, sizes.vast)
        return self._lattice is None and dimensions > 0 and len(self.problem) >= least

    @property
    def is_sliced(self) -> bool:
        """Whether flows in pairs of slices come before linear programs."""
        return self.is_vast or (self._lattice is not None and len(self.problem) >= self.sizes.sliced)

    @cached_property
    def is_single_minded(self) -> bool:
        """Whether each linear program minds its own requirement alone.

        A bonus for other requirements takes a tenfold of vertices where tables are large. Without it the programs of
        hierarchies crossed with each other are so quick that many of them pay.
        """
        return len(self.problem) >= self.sizes.large and not self.is_slow

    @property
    def is_slow(self) -> bool:
        """Whether a linear program takes long: where the table is a lattice, or vast."""
        return self._lattice is not None or self.is_vast

    @cached_property
    def _prover(self) -> Prover:
        if self._lattice is not None:
            return self._lattice
        if self.is_vast:
            return SubtableProver(self.problem, self._targeted)
        return LinearProver(self.problem.system, self._targeted[: 0 if self.is_single_minded else None])

    @cached_property
    def _last_prover(self) -> Prover:
        return LinearProver(self.problem.system, self._targeted)

    @cached_property
    def _group_prover(self) -> LinearProver:
        return LinearProver(self.problem.system, np.empty(0, dtype=np.int64))

    @cached_property
    def _splitting_prover(self) -> SplittingProver:
        return SplittingProver(self.problem)

    @cached_property
    def is_split(self) -> bool:
        """Whether patterns are built by programs of the whole table that pay for cells.

        In other tables that are not large linear programs are better: of three dimensions in tiny tables alone.
        """
        is_due = self._lattice is not None and len(self.problem) <= self.sizes.small
        return (self.is_vast or is_due) and self._splitting_prover.usable

    @cached_property
    def _boxes(self) -> Boxes:
        return Boxes(self.problem)

    @cached_property
    def _branches(self) -> Branches:
        return Branches(self.problem)

    # The pattern at hand.

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed, the primary ones among them; a copy."""
        return self._suppressed.copy()

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        return self.problem.cost(self._suppressed)

    @property
    def open(self) -> Ints:
        """Requirements that are not protected, or not known to be."""
        return np.flatnonzero(self._certificates.number < 0)

    def waiting(self, order: Ints) -> Ints:
        """Which requirements are still to be protected, in the order given; not those that no pattern protects."""
        return order[(self._certificates.number[order] < 0) & ~self._unprotectable[order]]

    @property
    def _is_whole(self) -> bool:
        """Whether everything is protected that can be."""
        return bool(((self._certificates.number >= 0) | self._unprotectable).all())

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given; no requirement is known protected."""
        self._suppressed[:] = self.problem.primary
        if suppressed is not None:
            self._suppressed |= suppressed
        self._certificates.clear()
        self._swept, self._programs_of_sweep = None, 0
        self._witness[:] = -1

    @property
    def mark(self) -> tuple[Bools, Ints]:
        """The pattern and its certificates, to come back to with `return_to` until anything is cleaned or improved."""
        return self._suppressed.copy(), self._certificates.number.copy()

    def return_to(self, mark: tuple[Bools, Ints]) -> None:
        """Come back to a pattern."""
        self._suppressed[:] = mark[0]
        self._certificates.restore(mark[1])

    def save(self) -> State:
        """All that later steps depend on; not in the middle of a sweep."""
        state = inside("certificates", self._certificates.save()) | inside("cuts", self._cuts.save())
        return state | {
            "suppressed": self._suppressed.copy(),
            "unprotectable": self._unprotectable.copy(),
            "witness": self._witness.copy(),
            "solved": self.solved,
        }

    def load(self, state: State) -> None:
        """Go on from a saved pattern."""
        self.start(integers("suppressed", state["suppressed"], (len(self.problem),), 0, 1).astype(np.bool_))
        self._certificates.load(part("certificates", state))
        self._cuts.load(part("cuts", state))
        requirements = self.problem.requirements
        self._unprotectable[:] = integers("unprotectable", state["unprotectable"], (requirements,), 0, 1)
        self._witness[:] = integers("witness", state["witness"], self._witness.shape, -1, requirements - 1)
        self.solved = whole("solved", state["solved"], 0)

    # Protecting.

    def protect(self, order: Ints, most: int | None = None) -> int:
        """Protect requirements in an order, each at the least additional cost; count those that could not be.

        Parameters
        ----------
        order : array of int
            The requirements.
        most : int, optional
            Leave after so many for which linear programs had to be solved; the others are not counted.
        """
        banned = np.zeros(len(self.problem), dtype=np.bool_)
        if self._swept is not None and self._swept.parts is None:
            banned = ~self._swept.suppressed
        return self._protect(order, banned, most)

    def certify(self, order: Ints, most: int | None = None) -> int:
        """As `protect`, but by suppressed cells alone: for a pattern that is known to protect them already."""
        self._boxes.protect(self._suppressed, self._certificates, order, self._suppressed)
        return self._protect(order, ~self._suppressed, most)

    def protect_together(self, requirements: Ints) -> bool:
        """Protect requirements of different cells by one solution in which each moves by its level, if there is one.

        Without a solution nothing is changed.
        """
        problem, price = self.problem, self._prices()
        amounts = problem.side[requirements] * problem.level[requirements]
        found = self._group_prover.cheapest_together(price, problem.cell[requirements], amounts)
        if found is None:
            return False
        for requirement in requirements.tolist():
            self._take(found, requirement, price)
        return True

    def route(self, requirement: int, bonus: float, prices: Floats) -> Route | None:
        """Moves anywhere in the table that protect a requirement, and others if that costs little; none are taken.

        Parameters
        ----------
        requirement : int
            The requirement.
        bonus : float
            What a unit of a move that protects another is worth, in parts of the median weight.
        prices : array of float
            What each column costs that is not suppressed yet; infinite where it must not be.
        """
        problem, prover = self.problem, self._splitting_prover
        cell, side = int(problem.cell[requirement]), float(problem.side[requirement])
        amount = side * float(problem.level[requirement])
        # What a cell is part of, and what is part of it, moves along: else a giant would stand against its own sums.
        is_related = prover.related(cell)
        target = self._targets(np.where(is_related, side, side * self._side))
        price = np.where(self._suppressed, self._prices(), prices)
        price[problem.fixed(requirement)] = np.inf
        # Each of these would else need a program of its own, as costly as this one.
        is_along = is_related & (target * side >= LARGE_SHARE * abs(amount))
        worth = np.where(is_along, ALONG * bonus, bonus) * self._typical_weight
        self.solved += 1
        return prover.route(price, cell, amount, target, worth)

    def reroute(self, route: Route, seed: list[int]) -> Route | None:
        """A cheaper route for the same requirement, if one is found at prices that differ a little, by the seed."""
        self.solved += 1
        return self._splitting_prover.reroute(route, seed)

    def at_vertex(self, route: Route) -> Route:
        """The route at a vertex of the program of what it moves, which is no dearer."""
        self.solved += 1
        return self._splitting_prover.at_vertex(route)

    def take_route(self, route: Route, requirement: int, order: Ints) -> None:
        """Suppress what moves on a route of a requirement, and record what of some requirements that protects."""
        self._take(route.moves, requirement, self._prices())
        self._certify_by_boxes(order)

    def protect_by_boxes(self, order: Ints) -> int:
        """Protect requirements fast and at a high cost, by boxes, the rest by linear programs; count failures."""
        self.box(order)
        return self.protect(order)

    def complete_by_boxes(self) -> Bools | None:
        """The pattern at hand with boxes for what is still open: costly, but safe; None where they do not suffice."""
        mark = self.mark
        self.box(self.waiting(self.problem.by_level()))
        found = self._suppressed.copy() if self._is_whole else None
        self.return_to(mark)
        return found

    def box(self, order: Ints) -> None:
        """Protect by boxes what they can protect, along branches where the table is large and no lattice."""
        if len(self.problem) >= self.sizes.large and not self._lattice:
            # Sub-totals have no other box, and what moves them protects much that is under them.
            self._branches.protect(self._suppressed, self._certificates, order)
        self._boxes.protect(self._suppressed, self._certificates, order)

    def _protect(self, order: Ints, banned: Bools, most: int | None = None, bonus: float | None = None) -> int:
        failed = tried = 0
        price = self._prices()
        if self._swept is not None and self._swept.parts is not None:
            price[~self._suppressed] *= self._swept.parts[~self._suppressed]
        price[banned] = np.inf
        for requirement in order.tolist():
            if self._certificates.number[requirement] >= 0:
                continue
            if tried == most:
                break
            tried += 1
            worth = self._present_bonus() if bonus is None else bonus
            is_lost = bool(self._unprotectable[requirement])
            found = None if is_lost else self._solve(self._prover, requirement, price, worth)
            was_protected = self._swept is not None and bool(self._swept.number[requirement] >= 0)
            if found is None and not was_protected and not banned.any() and not is_lost:
                # Before it is given up, another method has its say.
                found = self._solve(self._last_prover, requirement, price, worth) if self.is_slow else None
                self._unprotectable[requirement] = found is None
            if found is None and was_protected:
                self._recall(requirement, price)
            elif found is None:
                failed += 1
                continue
            else:
                self._take(found, requirement, price)
            if self.is_slow:
                self._certify_by_boxes(order)
        return failed

    def _certify_by_boxes(self, order: Ints) -> None:
        """Where a program takes long, what is suppressed by now may protect more at no cost."""
        still = order[self._certificates.number[order] < 0]
        self._boxes.protect(self._suppressed, self._certificates, still, self._suppressed)
        if self.is_vast:
            self._branches.protect(self._suppressed, self._certificates, still, self._suppressed)

    def _recall(self, requirement: int, price: Floats) -> None:
        """In a sweep, let a requirement rest on what it rested on before."""
        assert self._swept is not None
        self._certificates.number[requirement] = self._swept.number[requirement]
        cells = self._certificates.cells(requirement)
        self._suppressed[cells] = True
        price[cells] = CHARGE * self.problem.weight[cells]

    def _solve(
        self,
        prover: Prover,
        requirement: int,
        price: Floats,
        bonus: float = BONUS,
        preferred: Floats | None = None,
    ) -> Floats | None:
        """The cheapest moves that protect a requirement, and others if that costs little."""
        problem = self.problem
        self.solved += 1
        amount = float(problem.side[requirement] * problem.level[requirement])
        fixed = problem.fixed(requirement)
        if len(fixed):
            price = price.copy()
            price[fixed] = np.inf
        what = (price, int(problem.cell[requirement]), amount, self._targets(preferred), bonus * self._typical_weight)
        is_first = bool((self._certificates.number < 0).all())
        found = prover.cheapest(*what)
        if found is None or prover is not self._lattice or not is_first or len(problem) > self.sizes.small:
            return found
        # The interior-point method ends inside the cheapest solutions. The first one fixes most of the cost: it is
        # brought to a vertex, where fewer cells move.
        able = np.zeros(len(problem), dtype=np.bool_)
        able[moving(found)] = True
        vertex = ConfinedProver(problem.system, able, self._targeted[able[self._targeted]]).cheapest(*what)
        return found if vertex is None else vertex

    def _prices(self) -> Floats:
        weight = self.problem.weight
        price: Floats = np.where(self._suppressed, CHARGE * weight, weight)
        price[self.problem.primary] = 0.0
        return price

    def _targets(self, preferred: Floats | None = None) -> Floats:
        """How far each cell with an open requirement is to move: to the side that is open, or to one of the two."""
        if preferred is None and self.is_single_minded:
            return np.zeros(len(self.problem))
        level = self.problem.level
        up, down = self._open_level(self._up, level), self._open_level(self._down, level)
        either = self._side if preferred is None else preferred
        side = np.where((up > 0) & (down > 0), either, np.where(up > 0, 1.0, -1.0))
        return np.where(side > 0, up, -down)

    def _open_level(self, index: Ints, level: Floats) -> Floats:
        still = (index >= 0) & (self._certificates.number[index] < 0)
        return np.where(still, level[index], 0.0)

    def _present_bonus(self) -> float:
        """What protecting another requirement is worth by now, in parts of the median weight."""
        if self._swept is not None and self._swept.parts is None:
            return SWEEP_BONUS
        if not self._lattice:
            return SUBTABLE_BONUS if self.is_vast else BONUS
        self._programs_of_sweep += 1
        late = self._programs_of_sweep - max(8.0, BONUS_STEADY * len(self.problem))
        return float(min(LARGEST_BONUS, BONUS * BONUS_GROWTH ** min(max(0.0, late), 100.0)))

    def _take(self, deviations: Floats, requirement: int, price: Floats) -> None:
        """Suppress what moves, and record what that protects."""
        columns = moving(deviations)
        fresh = columns[~self._suppressed[columns]]
        self._suppressed[fresh] = True
        price[fresh] = CHARGE * self.problem.weight[fresh]
        self._certify(columns, deviations, requirement)

    def _certify(self, columns: Ints, deviations: Floats, requirement: int) -> None:
        """Let a requirement, and others that the same moves protect, rest on what moves."""
        protected = np.union1d(self._protected_by(columns, deviations[columns]), [requirement])
        self._certificates.add(columns[~self.problem.primary[columns]], protected)

    def _protected_by(self, columns: Ints, deviations: Floats) -> Ints:
        """The open requirements that moves protect, stretched along and against themselves as far as bounds allow."""
        problem, system = self.problem, self.problem.system
        found = []
        for direction in (deviations, -deviations):
            room = np.where(direction > 0, system.hi[columns], system.lo[columns])
            longest = float((room / direction).min(initial=np.inf))
            reach = np.where(problem.primary[columns], direction * longest, 0.0)
            for side, index in ((1, self._up), (-1, self._down)):
                one = index[columns]
                is_enough = side * reach >= (1 - LACKING) * problem.level[one]
                is_open = (one >= 0) & (self._certificates.number[one] < 0)
                found.append(one[is_open & is_enough & (side * reach > 0)])
            found.append(self._protected_from_insiders(columns, reach))
        every = np.unique(np.concatenate(found))
        return every[self._is_clear(columns, deviations, self.problem.cell[every])]

    def _is_clear(self, columns: Ints, deviations: Floats, cells: Ints) -> Bools:
        """Which of some columns move by far more than moves miss the relations by: less may be just rounding."""
        system, size = self.problem.system, float(np.abs(deviations).max(initial=0.0))
        moves = np.zeros(len(system))
        moves[columns] = deviations
        doubtful = np.abs(moves[cells]) < DOUBTFUL * size
        if not doubtful.any():
            return ~doubtful
        terms = moves[system.columns] * system.coefficients
        missed = float(np.abs(np.add.reduceat(terms, system.starts[:-1])).max(initial=0.0)) if len(terms) else 0.0
        return np.abs(moves[cells]) > CLEAR * missed

    def _protected_from_insiders(self, columns: Ints, reach: Floats) -> Ints:
        """The open requirements in the eyes of insiders that moves protect: those who know none of what moves."""
        problem = self.problem
        mine = self._inside[self._certificates.number[self._inside] < 0]
        if not len(mine):
            return mine
        moved, far = np.zeros(len(problem), dtype=np.bool_), np.zeros(len(problem))
        moved[columns], far[columns] = True, reach
        there = problem.side[mine] * far[problem.cell[mine]]
        mine = mine[(there > 0) & (there >= (1 - LACKING) * problem.level[mine])]
        return mine[[not moved[problem.fixed(requirement)].any() for requirement in mine.tolist()]]

    # Protecting anew.

    @property
    def first_sweeps(self) -> tuple[Sweep, ...]:
        """The sweeps that pay at first; where a program takes long, building anew gains more than a second one."""
        first = Sweep(is_rising=True)
        return (first,) if self.is_slow or self.is_single_minded else (first, Sweep(is_rising=False))

    def sweep(self) -> int:
        """Protect all requirements anew with suppressed cells only, small levels first; count cells that publishes."""
        if not self._is_whole:
            return 0
        self.protect(self.begin_sweep(Sweep(is_rising=True)))
        return self.end_sweep()

    def begin_sweep(self, sweep: Sweep) -> Ints:
        """Begin to protect all requirements anew by `protect`; give the order to do it in."""
        self._swept = _Swept(self._suppressed.copy(), self._certificates.number.copy(), sweep.parts)
        self._programs_of_sweep = 0
        self._suppressed[:] = self.problem.primary
        self._certificates.number[:] = -1
        order = self.problem.by_level()[:: -1 if sweep.is_rising else 1]
        # Sub-totals first: once they are safe, cheap boxes make the rest safe at any time.
        return order if sweep.is_rising else order[np.argsort(~self._is_hard[order], kind="stable")]

    def end_sweep(self, most: float | None = None) -> int:
        """Keep what came of a sweep if it is whole and cheaper; count the cells that publishes.

        Parameters
        ----------
        most : float, optional
            What it may cost, instead of less than before.
        """
        assert self._swept is not None
        before, self._swept = self._swept, None
        is_costly = self.cost >= self.problem.cost(before.suppressed) if most is None else self.cost > most
        if is_costly or not self._is_whole:
            self._suppressed[:] = before.suppressed
            self._certificates.restore(before.number)
        return int(before.suppressed.sum() - self._suppressed.sum())

    @property
    def safe(self) -> Bools:
        """What is safe now: in a sweep what was taken again, and what requirements still open rested on before."""
        if self._swept is None:
            return self.suppressed
        number = np.where(self._certificates.number < 0, self._swept.number, self._certificates.number)
        return self.problem.primary | self._certificates.needed(number)

    @cached_property
    def _is_hard(self) -> Bools:
        """Which requirements plain boxes leave open, where programs take long."""
        hard = np.zeros(self.problem.requirements, dtype=np.bool_)
        if self.is_vast:
            certificates = Certificates(len(self.problem), self.problem.requirements)
            self._boxes.protect(self.problem.primary.copy(), certificates, self.problem.by_level())
            hard = certificates.number < 0
        return hard

    # Publishing what nothing needs.

    def clean(self) -> int:
        """Publish secondary cells that nothing needs, the costliest first; count them."""
        before = int(self._suppressed.sum())
        self._certificates.tidy()
        if self._is_whole:
            self._suppressed &= self.problem.primary | self._certificates.needed()
            self.sweep()
            self._try_without(np.flatnonzero(self._suppressed & ~self.problem.primary), CLEANING_PROGRAMS)
        return before - int(self._suppressed.sum())

    def _try_without(self, cells: Ints, most: int) -> None:
        """Publish each of some cells that nothing needs, the costliest first, with so many programs at most."""
        prover: Prover = self._lattice or ConfinedProver(self.problem.system, self._suppressed, self._targeted)
        end = self.solved + most
        for cell in cells[np.argsort(-self.problem.weight[cells], kind="stable")].tolist():
            if self.solved >= end:
                break
            if self._suppressed[cell] and not self._cuts.essential(self._suppressed)[cell]:
                self._do_without(cell, prover)

    def _do_without(self, cell: int, prover: Prover) -> bool:
        """Publish a cell if the others can protect all that it helps to protect."""
        broken = self._certificates.users(np.array([cell]))
        before = self._certificates.number.copy()
        self._certificates.number[broken] = -1
        self._suppressed[cell] = False
        price = np.where(self._suppressed, CHARGE * self.problem.weight, np.inf)
        order = broken[np.argsort(broken != self._witness[cell], kind="stable")]
        for requirement in order.tolist():
            if self._certificates.number[requirement] >= 0:
                continue
            found = self._solve(prover, requirement, price)
            if found is None:
                self._certificates.restore(before)
                if prover.dual_ray is not None:
                    amount = float(self.problem.side[requirement] * self.problem.level[requirement])
                    able = self._suppressed.copy()
                    able[self.problem.fixed(requirement)] = False
                    what = int(self.problem.cell[requirement]), amount, able, self.problem.fixed(requirement)
                    self._cuts.add(prover.dual_ray, *what)
                self._suppressed[cell] = True
                self._witness[cell] = requirement
                return False
            self._certify(moving(found), found, requirement)
        return True

    # Taking apart and repairing.

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair so many times; give the cost of the pattern that is kept."""
        for _ in range(rounds):
            self._certificates.tidy()
            secondary = np.flatnonzero(self._suppressed & ~self.problem.primary)
            if not len(secondary):
                break
            if self.is_slow:
                self._replace(secondary, state)
            else:
                self._ruin_and_repair(secondary, state, most, heat)
        return self.cost

    def _ruin_and_repair(self, secondary: Ints, state: Words, most: int, heat: float) -> None:
        """Take some cells away, protect what that opens, and keep the pattern if it costs little more."""
        mark, cost = self.mark, self.cost
        cells = secondary[np.argsort(-self.problem.weight[secondary], kind="stable")]
        taken = self._pick(cells, state, most)
        opened = self._certificates.users(taken)
        self._certificates.number[opened] = -1
        self._suppressed[taken] = False
        banned = np.zeros(len(self.problem), dtype=np.bool_)
        banned[taken[: 1 + below(state, len(taken))]] = True
        opened = opened[np.argsort([uniform(state) for _ in opened], kind="stable")]
        failed = self._protect(opened, banned, bonus=BONUS)
        if failed:
            failed = self._protect(opened, np.zeros_like(banned), bonus=BONUS)
        if not failed:
            idle = self._suppressed & ~self.problem.primary & ~self._certificates.needed()
            self._suppressed[idle] = False
            is_closed = self._certificates.number[opened] >= 0
            near = [self._certificates.cells(requirement) for requirement in opened[is_closed].tolist()]
            self._try_without(np.unique(np.concatenate([*near, np.empty(0, np.int64)])), REPAIR_PROGRAMS)
        if failed or self.cost > cost * (1.0 + heat * uniform(state)):
            self.return_to(mark)

    def _pick(self, cells: Ints, state: Words, most: int) -> Ints:
        """A costly cell and some that share a certificate with it."""
        wanted = 1 + below(state, most)
        taken = [int(cells[min(int(len(cells) * uniform(state) ** 1.5), len(cells) - 1)])]
        users = self._certificates.users(np.array(taken))
        for _ in range(4 * wanted):
            if len(taken) >= wanted or not len(users):
                break
            near = self._certificates.cells(int(users[below(state, len(users))]))
            cell = int(near[below(state, len(near))])
            if cell not in taken:
                taken.append(cell)
        return np.array(taken, dtype=np.int64)

    def _replace(self, secondary: Ints, state: Words) -> bool:
        """Do without a costly cell if what that opens can be protected for less; whether it can.

        Where a program takes long, a trial ends as soon as it costs more than it saves.
        """
        total = np.cumsum(self.problem.weight[secondary])
        if total[-1] <= 0:
            return False
        # The more it costs, the more there is to gain.
        cell = secondary[min(int(np.searchsorted(total, uniform(state) * total[-1], "right")), len(secondary) - 1)]
        mark, cost = self.mark, self.cost
        opened = self._certificates.users(np.array([cell]))
        opened = opened[np.argsort(-self.problem.level[opened], kind="stable")]
        self._certificates.number[opened] = -1
        self._suppressed[cell] = False
        banned = np.zeros(len(self.problem), dtype=np.bool_)
        banned[cell] = True
        while not self._protect(opened, banned, 1, REPLACEMENT_BONUS) and self.cost < cost:
            if not (self._certificates.number[opened] < 0).any():
                self._suppressed &= self.problem.primary | self._certificates.needed()
                return True
        self.return_to(mark)
        return False
