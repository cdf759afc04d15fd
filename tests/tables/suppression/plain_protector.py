"""A protector that solves a plain linear program for every task, and small tables that need one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.process import State
from discreet.kernels.arrays import Words
from discreet.tables.primary import primary
from discreet.tables.suppression.problem import Problem
from discreet.tabular.table import SECONDARY, Table
from discreet.verification.audit import audit
from random_tables import random_table


class Plain:
    """The incremental attacker as the paper has it; nothing is remembered but what is protected."""

    is_compiled = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        system = problem.system
        self._matrix = np.zeros((len(system.relations), len(system)))
        rows = np.repeat(np.arange(len(system.relations)), np.diff(system.starts))
        self._matrix[rows, system.columns] = system.coefficients
        self.start()

    def start(self, suppressed: Bools | None = None) -> None:
        self._suppressed = self.problem.primary | (False if suppressed is None else suppressed)
        self._open = np.ones(self.problem.requirements, dtype=np.bool_)

    @property
    def suppressed(self) -> Bools:
        return self._suppressed.copy()

    @property
    def cost(self) -> float:
        return self.problem.cost(self._suppressed)

    @property
    def open(self) -> Ints:
        return np.flatnonzero(self._open)

    def protect(self, order: Ints) -> int:
        failed = 0
        for task in order.tolist():
            if self._open[task]:
                moves = self.moves(np.array([task]), np.ones(len(self.problem), dtype=np.bool_))
                failed += moves is None
                if moves is not None:
                    self._suppressed |= np.abs(moves) > 1e-7
                    self._open[task] = False
        return failed

    def protect_together(self, requirements: Ints) -> bool:
        moves = self.moves(requirements, np.ones(len(self.problem), dtype=np.bool_))
        if moves is None:
            return False
        self._suppressed |= np.abs(moves) > 1e-7
        self._open[requirements] = False
        return True

    def moves(self, tasks: Ints, able: Bools) -> Floats | None:
        """The cheapest deviations with which all tasks are at their levels at once, None if there are none."""
        problem, n = self.problem, len(self.problem)
        hi, lo = np.where(able, problem.system.hi, 0.0), np.where(able, -problem.system.lo, 0.0)
        bounds = [(0.0, one) for one in [*hi, *lo]]
        cells, sides, levels = problem.cell[tasks], problem.side[tasks], problem.level[tasks]
        for cell, side, level in zip(cells.tolist(), sides.tolist(), levels.tolist(), strict=True):
            if level > (hi[cell] if side > 0 else lo[cell]):
                return None
            bounds[cell] = (level, level) if side > 0 else (0.0, 0.0)
            bounds[n + cell] = (level, level) if side < 0 else (0.0, 0.0)
        cost = np.where(self._suppressed, 0.0, problem.weight)
        matrix = np.hstack([self._matrix, -self._matrix])
        zero = np.zeros(len(matrix))
        found = linprog(np.concatenate([cost, cost]), A_eq=matrix, b_eq=zero, bounds=bounds)
        return found.x[:n] - found.x[n:] if found.status == 0 else None

    def clean(self) -> int:
        tasks = np.flatnonzero(~self._open)
        secondary = np.flatnonzero(self._suppressed & ~self.problem.primary)
        gone = 0
        for column in secondary[np.argsort(-self.problem.weight[secondary], kind="stable")].tolist():
            self._suppressed[column] = False
            if all(self.moves(np.array([task]), self._suppressed) is not None for task in tasks.tolist()):
                gone += 1
            else:
                self._suppressed[column] = True
        return gone

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        return self.cost

    def save(self) -> State:
        return {"suppressed": self._suppressed.copy(), "open": self._open.copy()}

    def load(self, state: State) -> None:
        self._suppressed, self._open = np.array(state["suppressed"]), np.array(state["open"])


def unsafe_table(rng: np.random.Generator, sizes: Any, **kind: Any) -> Table:
    """A random table with its unsafe cells."""
    table = random_table(rng, sizes, zeros=float(rng.choice([0.0, 0.2])), complete=True, **kind)
    return primary(table, p=int(rng.choice([10, 30])), threshold=int(rng.choice([2, 3])))


def exposed(problem: Problem, suppressed: Bools) -> set[int]:
    """The primary cells that the audit finds exposed where a pattern is suppressed."""
    status = problem.table.status.copy()
    status[problem.system.cells[suppressed & ~problem.primary]] = SECONDARY
    return set(audit(problem.table.but(status=status)).failed.tolist())


def hopeless(problem: Problem) -> set[int]:
    """The primary cells that are exposed where everything is suppressed that may be."""
    return exposed(problem, np.ones(len(problem), dtype=np.bool_))
