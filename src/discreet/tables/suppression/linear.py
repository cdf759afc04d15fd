"""Patterns of tables of any kind, cleaned up and repaired: every step is a linear program."""

from __future__ import annotations

import numpy as np

from discreet.kernels.arrays import Words
from discreet.kernels.random import below, uniform
from discreet.tables.suppression.built import REWARD, Built
from discreet.tables.suppression.certified import CHARGE, moving
from discreet.tables.suppression.cuts import Cuts
from discreet.tables.suppression.forcing import Inside, Mover
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.system import Bools, Ints

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
