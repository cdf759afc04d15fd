"""Patterns of tables of any kind, built by linear programs: one task after the other, and all of them anew."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.tables.suppression.boxed import Boxes
from discreet.tables.suppression.branched import Branches
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.certified import CHARGE, Certified, moving
from discreet.tables.suppression.forcing import Forcing, Inside, Mover
from discreet.tables.suppression.lattice_flows import LatticeFlows, lattice_of
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.restricted import Restricted
from discreet.verification.attack.system import Bools, Floats, Ints

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
