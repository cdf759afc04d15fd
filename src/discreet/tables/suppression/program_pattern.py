"""Patterns of tables of any kind, built by linear programs: one task after the other, and all of them anew.

Why a cell cannot be published: cuts that every pattern which protects a task has to satisfy.

Where a task cannot be proven, the dual of its linear program says why: with prices y of the relations the moves of
suppressed cells do not add up to that of the primary cell. The capacities of the cells under these prices make a cut
(Fischetti and Salazar, 2001): Σ coefficient · suppressed ≥ 1. It holds for every pattern, so that one program that
fails tells of many cells, now and later, that they are needed.

Patterns of tables of any kind, cleaned up and repaired: every step is a linear program.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.attack.system import Bools, Floats, Ints, System
from discreet.kernels.arrays import Words
from discreet.kernels.random import below, uniform
from discreet.tables.suppression.boxes import Boxes, Branches
from discreet.tables.suppression.lattice import LatticeFlows, lattice_of
from discreet.tables.suppression.pattern import CHARGE, Certificates, Certified, moving
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.provers import Forcing, Inside, Mover
from discreet.tables.suppression.subtable import Restricted

# What a unit of a move that proves another task is worth, in parts of the median weight. Little at first: what is cheap
# goes along. In a full table of three dimensions it grows with each program after some, in parts of the columns: the
# last tasks cost next to nothing, and one by one they would take most of the time.
REWARD, DEAREST = 1e-2, 10.0
PATIENT, GROWTH = 1 / 600, 1.6
# The same where programs are of parts of the table: what costs little had better be proven along.
EAGER = 1.0
# The same where only suppressed cells may move, so that a reward buys nothing.
SWEEPING = 2.0
# From this many columns on a full table of three dimensions has its own method. It ends inside the cheapest solutions;
# up to so many columns the first one, which fixes most of the cost, is brought to a corner, where fewer cells move.
LATTICE, CORNERED = 2_000, 5_000
# From this many columns on sub-totals are made safe along branches before programs are solved, and from this many on
# programs are of parts of the table.
LARGE, VAST = 3_000, 20_000


class Sweep(NamedTuple):
    """How to protect all tasks anew: cells taken for a task early may have become needless by those taken later."""

    rising: bool  # small levels first
    known: float | None = None  # what suppressed cells cost in parts of their weight; None: no others are taken


class Built(Certified):
    """A pattern of a problem that is built by boxes and by linear programs.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        # Tasks that no pattern protects.
        self._hopeless = np.zeros(problem.tasks, dtype=np.bool_)
        self._kept: Bools | None = None
        self._known: float | None = None
        self._before = self._proofs.by
        self.solved = 0
        self._since = 0

    @cached_property
    def _lattice(self) -> LatticeFlows | None:
        return lattice_of(self.problem) if len(self.problem) >= LATTICE else None

    @property
    def _is_vast(self) -> bool:
        return self._lattice is None and bool(self.problem.table.dimensions) and len(self.problem) >= VAST

    @property
    def is_slow(self) -> bool:
        """Whether a program takes long: where the table is a lattice, or vast."""
        return self._lattice is not None or self._is_vast

    @cached_property
    def _mover(self) -> Mover:
        if self._lattice is not None:
            return self._lattice
        if self._is_vast:
            return Restricted(self.problem, self._wishful)
        return Forcing(self.problem.system, self._wishful)

    @cached_property
    def _boxes(self) -> Boxes:
        return Boxes(self.problem)

    @cached_property
    def _branches(self) -> Branches:
        return Branches(self.problem)

    @cached_property
    def _last(self) -> Mover:
        return Forcing(self.problem.system, self._wishful)

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given; no task is known to be protected."""
        self._suppressed[:] = self.problem.primary
        if suppressed is not None:
            self._suppressed |= suppressed
        self._proofs.clear()
        self._kept, self._since = None, 0

    def waiting(self, order: Ints) -> Ints:
        """Which tasks are still to be protected, in the order given; not those that no pattern protects."""
        return order[(self._proofs.by[order] < 0) & ~self._hopeless[order]]

    def protect(self, order: Ints, most: int | None = None) -> int:
        """Protect tasks in an order, each at the least additional cost; tell how many could not be.

        Parameters
        ----------
        order : array of int
            The tasks.
        most : int, optional
            Leave after so many for which programs had to be solved; the others are not told of.
        """
        banned = np.zeros(len(self.problem), dtype=np.bool_)
        if self._kept is not None and self._known is None:
            banned = ~self._kept
        return self._protect(order, banned, most)

    def _protect(self, order: Ints, banned: Bools, most: int | None = None, reward: float | None = None) -> int:
        failed = tried = 0
        price = self._prices()
        if self._kept is not None and self._known is not None:
            price[self._kept & ~self._suppressed] *= self._known
        price[banned] = np.inf
        for task in order.tolist():
            if self._proofs.by[task] >= 0:
                continue
            if tried == most:
                break
            tried += 1
            worth = self._growing() if reward is None else reward
            found = None if self._hopeless[task] else self._moved(self._mover, task, price, worth)
            is_known = self._kept is not None and bool(self._before[task] >= 0)
            if found is None and not is_known and not banned.any() and not self._hopeless[task]:
                # Before it is given up, another method has its say.
                found = self._moved(self._last, task, price, worth) if self.is_slow else None
                self._hopeless[task] = found is None
            if found is None and is_known:
                self._recall(task, price)
            elif found is None:
                failed += 1
                continue
            else:
                self._take(found, task, price)
            if self.is_slow:
                # Where a program takes long, what is suppressed by now may prove more at no cost.
                still = order[self._proofs.by[order] < 0]
                self._boxes.protect(self._suppressed, self._proofs, still, self._suppressed)
                if self._is_vast:
                    self._branches.protect(self._suppressed, self._proofs, still, self._suppressed)
        return failed

    def _recall(self, task: int, price: Floats) -> None:
        """In a sweep, let a task rest on what it rested on before."""
        self._proofs.by[task] = self._before[task]
        cells = self._proofs.of(task)
        self._suppressed[cells] = True
        price[cells] = CHARGE * self.problem.weight[cells]

    def _moved(self, mover: Mover, task: int, price: Floats, reward: float = REWARD) -> Floats | None:
        """The cheapest moves that prove a task, and others if that costs little."""
        problem = self.problem
        self.solved += 1
        amount = float(problem.side[task] * problem.level[task])
        what = (price, int(problem.cell[task]), amount, self._wishes(), reward * self._typical)
        is_first = bool((self._proofs.by < 0).all())
        found = mover.cheapest(*what)
        if found is None or mover is not self._lattice or not is_first or len(problem) > CORNERED:
            return found
        able = np.zeros(len(problem), dtype=np.bool_)
        able[moving(found)] = True
        corner = Inside(problem.system, able, self._wishful[able[self._wishful]]).cheapest(*what)
        return found if corner is None else corner

    def _growing(self) -> float:
        """What proving another task is worth by now, in parts of the median weight."""
        if self._kept is not None and self._known is None:
            return SWEEPING
        if not self._lattice:
            return EAGER if self._is_vast else REWARD
        self._since += 1
        late = self._since - max(8.0, PATIENT * len(self.problem))
        return float(min(DEAREST, REWARD * GROWTH ** min(max(0.0, late), 100.0)))

    def sketch(self, order: Ints) -> int:
        """Protect tasks fast and dear, by boxes of cells, and the rest by programs; tell how many could not be."""
        self._box(order)
        return self.protect(order)

    def _box(self, order: Ints) -> None:
        """Protect by boxes what they can protect, along branches where the table is large and no lattice."""
        if len(self.problem) >= LARGE and not self._lattice:
            # Sub-totals have no other box, and what moves them proves much that is under them.
            self._branches.protect(self._suppressed, self._proofs, order)
        self._boxes.protect(self._suppressed, self._proofs, order)

    @cached_property
    def _hard(self) -> Bools:
        """Tasks that plain boxes leave open, where programs take long."""
        hard = np.zeros(self.problem.tasks, dtype=np.bool_)
        if self._is_vast:
            proofs = Certificates(len(self.problem), self.problem.tasks)
            self._boxes.protect(self.problem.primary.copy(), proofs, self.problem.by_level())
            hard = proofs.by < 0
        return hard

    def completed(self) -> Bools | None:
        """The pattern at hand, with boxes for what is still open: dear, but safe; None where they do not suffice."""
        mark = self.mark
        self._box(self.waiting(self.problem.by_level()))
        found = self._suppressed.copy() if self._is_whole else None
        self.return_to(mark)
        return found

    def sweep(self) -> int:
        """Protect all tasks anew with suppressed cells only, small levels first; tell how many cells that publishes."""
        if not self._is_whole:
            return 0
        self.protect(self.begin_sweep(Sweep(rising=True)))
        return self.end_sweep()

    def begin_sweep(self, sweep: Sweep) -> Ints:
        """Begin to protect all tasks anew by `protect`; give the order to do it in."""
        self._known, self._since = sweep.known, 0
        self._kept, self._before = self._suppressed.copy(), self._proofs.by.copy()
        self._suppressed[:] = self.problem.primary
        self._proofs.by[:] = -1
        order = self.problem.by_level()[:: -1 if sweep.rising else 1]
        # Sub-totals first: once they are safe, cheap boxes make the rest safe at any time.
        return order if sweep.rising else order[np.argsort(~self._hard[order], kind="stable")]

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """The sweeps that pay at first; where a program takes long, building anew gains more than a second one."""
        first = Sweep(rising=True)
        return (first,) if self.is_slow else (first, Sweep(rising=False))

    @property
    def pattern(self) -> Bools:
        """What is safe now: in a sweep what was taken again, and what tasks still open rested on before."""
        if self._kept is None:
            return self.suppressed
        by = np.where(self._proofs.by < 0, self._before, self._proofs.by)
        return self.problem.primary | self._proofs.needed(by)

    def end_sweep(self, most: float | None = None) -> int:
        """Keep what came of a sweep if it is whole and cheaper; tell how many cells that publishes.

        Parameters
        ----------
        most : float, optional
            What it may cost, instead of less than before.
        """
        assert self._kept is not None
        kept, self._kept = self._kept, None
        dear = self.cost >= self.problem.cost(kept) if most is None else self.cost > most
        if dear or not self._is_whole:
            self._suppressed[:] = kept
            self._proofs.restore(self._before)
        return int(kept.sum() - self._suppressed.sum())

    @property
    def mark(self) -> tuple[Bools, Ints]:
        """The pattern and its certificates, to come back to with `return_to` until anything is cleaned or improved."""
        return self._suppressed.copy(), self._proofs.by.copy()

    def return_to(self, mark: tuple[Bools, Ints]) -> None:
        """Come back to a pattern."""
        self._suppressed[:] = mark[0]
        self._proofs.restore(mark[1])

    @property
    def _is_whole(self) -> bool:
        """Whether everything is protected that can be."""
        return bool(((self._proofs.by >= 0) | self._hopeless).all())


MOST = 4_000
# A cut has to be missed by this to count: less may be rounding.
CLEAR = 1e-7


class Cuts:
    """Cuts of a system.

    Parameters
    ----------
    system : System
        The system.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._entries = np.repeat(np.arange(len(system)), np.diff(system.by_starts))
        self._columns: list[Ints] = []
        self._coefficients: list[Floats] = []
        self._held: tuple[Ints, Ints, Floats] | None = None

    def __len__(self) -> int:
        return len(self._columns)

    def add(self, prices: Floats, cell: int, amount: float, suppressed: Bools) -> bool:
        """Add the cut that prices of relations make for a cell that is to move by an amount; tell if it is one."""
        system = self.system
        turned = np.bincount(self._entries, prices[system.by_rows] * system.by_coefficients, len(system))
        turned[np.abs(turned) <= 1e-9 * np.abs(turned).max(initial=0.0)] = 0.0
        wanted = -turned[cell] * amount
        if wanted < 0:
            turned, wanted = -turned, -wanted
        if wanted <= 0:
            return False
        columns = np.flatnonzero(turned)
        columns = columns[columns != cell]
        along = turned[columns]
        room = along * np.where(along > 0, system.hi[columns], system.lo[columns])
        coefficients = np.minimum(room / wanted, 1.0)
        if coefficients[suppressed[columns]].sum() >= 1 - CLEAR:
            return False
        if len(self) >= MOST:
            del self._columns[: MOST // 4], self._coefficients[: MOST // 4]
        self._columns.append(columns[coefficients > 0])
        self._coefficients.append(coefficients[coefficients > 0])
        self._held = None
        return True

    def essential(self, suppressed: Bools) -> Bools:
        """Which suppressed cells a cut shows to be needed."""
        found = np.zeros(len(self.system), dtype=np.bool_)
        if not len(self):
            return found
        if self._held is None:
            sizes = np.array([len(one) for one in self._columns])
            rows = np.repeat(np.arange(len(sizes)), sizes)
            self._held = rows, np.concatenate(self._columns), np.concatenate(self._coefficients)
        rows, columns, coefficients = self._held
        there = np.where(suppressed[columns], coefficients, 0.0)
        total = np.bincount(rows, there, len(self))
        found[columns[total[rows] - there < 1 - CLEAR]] = True
        return found & suppressed


# What a unit of a move that proves another task is worth where a dear cell is replaced, in parts of the median weight.
REPLACING = 1.0
# How many programs a clean-up may solve cell by cell, and how many after each repair.
TRIALS, FEW = 100, 10


class Linear(Built):
    """A pattern of a problem, with a certificate for each task that is protected.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._cuts = Cuts(problem.system)
        # For each cell a task that could not do without it when last tried.
        self._witness = np.full(len(problem), -1, dtype=np.int64)

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given; no task is known to be protected."""
        super().start(suppressed)
        self._witness[:] = -1

    def clean(self) -> int:
        """Publish secondary cells that nothing needs, the dearest first; tell how many."""
        before = int(self._suppressed.sum())
        self._proofs.tidy()
        if self._is_whole:
            self._suppressed &= self.problem.primary | self._proofs.needed()
            self.sweep()
            self._try_without(np.flatnonzero(self._suppressed & ~self.problem.primary), TRIALS)
        return before - int(self._suppressed.sum())

    def _try_without(self, cells: Ints, most: int) -> None:
        """Publish each of some cells that nothing needs, the dearest first, with so many programs at most."""
        inside: Mover = self._lattice or Inside(self.problem.system, self._suppressed, self._wishful)
        end = self.solved + most
        for cell in cells[np.argsort(-self.problem.weight[cells], kind="stable")].tolist():
            if self.solved >= end:
                break
            if self._suppressed[cell] and not self._cuts.essential(self._suppressed)[cell]:
                self._without(cell, inside)

    def _without(self, cell: int, inside: Mover) -> bool:
        """Publish a cell if the others can prove all that it helps to prove."""
        broken = self._proofs.users(np.array([cell]))
        before = self._proofs.by.copy()
        self._proofs.by[broken] = -1
        self._suppressed[cell] = False
        price = np.where(self._suppressed, CHARGE * self.problem.weight, np.inf)
        witness = self._witness[cell]
        order = broken[np.argsort(broken != witness, kind="stable")]
        for task in order.tolist():
            if self._proofs.by[task] >= 0:
                continue
            found = self._moved(inside, task, price)
            if found is None:
                self._proofs.restore(before)
                if inside.prices is not None:
                    amount = float(self.problem.side[task] * self.problem.level[task])
                    self._cuts.add(inside.prices, int(self.problem.cell[task]), amount, self._suppressed)
                self._suppressed[cell] = True
                self._witness[cell] = task
                return False
            columns = moving(found)
            self._certify(columns, np.union1d(self._proven(columns, found[columns]), [task]))
        return True

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair so many times; give the cost of the pattern that is kept."""
        if self.is_slow:
            for _ in range(rounds):
                self._replace(state)
            return self.cost
        cost = self.cost
        for _ in range(rounds):
            self._proofs.tidy()
            secondary = np.flatnonzero(self._suppressed & ~self.problem.primary)
            if not len(secondary):
                break
            cells = secondary[np.argsort(-self.problem.weight[secondary], kind="stable")]
            kept, by = self._suppressed.copy(), self._proofs.by.copy()
            taken = self._pick(cells, state, most)
            opened = self._proofs.users(taken)
            self._proofs.by[opened] = -1
            self._suppressed[taken] = False
            banned = np.zeros(len(self.problem), dtype=np.bool_)
            banned[taken[: 1 + below(state, len(taken))]] = True
            opened = opened[np.argsort([uniform(state) for _ in opened], kind="stable")]
            failed = self._protect(opened, banned, reward=REWARD)
            if failed:
                failed = self._protect(opened, np.zeros_like(banned), reward=REWARD)
            if not failed:
                idle = self._suppressed & ~self.problem.primary & ~self._proofs.needed()
                self._suppressed[idle] = False
                near = [self._proofs.of(task) for task in opened.tolist() if self._proofs.by[task] >= 0]
                self._try_without(np.unique(np.concatenate([*near, np.empty(0, np.int64)])), FEW)
            now = self.cost
            if not failed and now <= cost * (1.0 + heat * uniform(state)):
                cost = now
            else:
                self._suppressed[:] = kept
                self._proofs.restore(by)
        return cost

    def _replace(self, state: Words) -> bool:
        """Do without a dear cell if what that opens can be protected for less; tell if so.

        Where a program takes long, a trial ends as soon as it costs more than it saves.
        """
        self._proofs.tidy()
        secondary = np.flatnonzero(self._suppressed & ~self.problem.primary)
        total = np.cumsum(self.problem.weight[secondary])
        if not len(secondary) or total[-1] <= 0:
            return False
        # The more it costs, the more there is to gain.
        cell = secondary[min(int(np.searchsorted(total, uniform(state) * total[-1], "right")), len(secondary) - 1)]
        kept, by, cost = self._suppressed.copy(), self._proofs.by.copy(), self.cost
        opened = self._proofs.users(np.array([cell]))
        opened = opened[np.argsort(-self.problem.level[opened], kind="stable")]
        self._proofs.by[opened] = -1
        self._suppressed[cell] = False
        banned = np.zeros(len(self.problem), dtype=np.bool_)
        banned[cell] = True
        while not self._protect(opened, banned, 1, REPLACING) and self.cost < cost:
            if not (self._proofs.by[opened] < 0).any():
                self._suppressed &= self.problem.primary | self._proofs.needed()
                return True
        self._suppressed[:] = kept
        self._proofs.restore(by)
        return False

    def _pick(self, cells: Ints, state: Words, most: int) -> Ints:
        """A dear cell and some that share a certificate with it."""
        wanted = 1 + below(state, most)
        taken = [int(cells[min(int(len(cells) * uniform(state) ** 1.5), len(cells) - 1)])]
        users = self._proofs.users(np.array(taken))
        for _ in range(4 * wanted):
            if len(taken) >= wanted or not len(users):
                break
            near = self._proofs.of(int(users[below(state, len(users))]))
            cell = int(near[below(state, len(near))])
            if cell not in taken:
                taken.append(cell)
        return np.array(taken, dtype=np.int64)
