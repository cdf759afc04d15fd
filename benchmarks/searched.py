"""Searches of tables by the clock, judged by the audit, and what they are measured by: one pass of full programs."""

import time
from dataclasses import dataclass

import numpy as np
from benchmarks.common import clocked

from discreet.attack.system import Bools
from discreet.methods import make
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.provers import LinearProver
from discreet.tabular.table import SECONDARY, Table
from discreet.verification.audit import audit


@dataclass(frozen=True)
class Searched:
    """A search of a table: its costs by CPU seconds, and how the last pattern stood the audit."""

    table: Table
    trace: list[tuple[float, float]]
    cost: float
    cpu: float
    verdict: str
    audit_cpu: float

    @property
    def first(self) -> tuple[float, float]:
        """When the first safe pattern was there, and what it cost."""
        return self.trace[0]

    def at(self, seconds: float) -> float:
        """What the best pattern cost by then."""
        return min((cost for when, cost in self.trace if when <= seconds), default=float("inf"))

    def reached(self, cost: float) -> float:
        """When a pattern cost no more than this first."""
        return next((when for when, found in self.trace if found <= cost), float("inf"))


def searched(table: Table, seconds: float) -> Searched:
    """Search for so many CPU seconds, until a first pattern is there at least, and audit the last."""
    start = time.process_time()
    problem = problem_of(table)
    process = Components(make("search", {}, "suppression"), problem, 1)
    epochs = process.epochs()
    trace: list[tuple[float, float]] = []
    while not trace or (time.process_time() - start < seconds and not process.finished):
        next(epochs)
        if not trace or process.cost < trace[-1][1]:
            trace.append((time.process_time() - start, process.cost))
    spent = time.process_time() - start
    with clocked() as audited:
        verdict = judged(problem, process.pattern())
    return Searched(table, trace, process.cost, spent, verdict, audited.cpu)


def judged(problem: Problem, pattern: Bools) -> str:
    """What the audit says of a pattern; cells that no pattern protects are told apart."""
    failed = exposed(problem, pattern)
    if not failed:
        return "passed"
    hopeless = exposed(problem, np.ones(len(problem), dtype=np.bool_))
    return f"passed but for {len(failed)} that nothing protects" if failed <= hopeless else "FAILED"


def exposed(problem: Problem, pattern: Bools) -> set[int]:
    """The unsafe cells that a pattern over the columns does not protect."""
    status = problem.table.status.copy()
    status[problem.system.cells[pattern & ~problem.primary]] = SECONDARY
    return set(audit(problem.table.but(status=status)).failed.tolist())


def full_lp(problem: Problem) -> tuple[float, float, str]:
    """One pass of the incremental attacker by falling level on HiGHS, without rewards and without clean-up.

    Tells its cost, its CPU seconds and its verdict. A task that a solution before proves is skipped: that costs nothing
    and takes no time, so the pass is as fast as it can be.
    """
    start = time.process_time()
    program = LinearProver(problem.system, np.empty(0, dtype=np.int64))
    lo, hi, nothing = problem.system.lo, problem.system.hi, np.zeros(len(problem))
    hidden, open_ = problem.primary.copy(), np.ones(problem.requirements, dtype=np.bool_)
    for task in problem.by_level().tolist():
        if not open_[task]:
            continue
        price = np.where(hidden, 0.0, problem.weight)
        moves = program.cheapest(
            price, int(problem.cell[task]), float(problem.side[task] * problem.level[task]), nothing, 0.0
        )
        if moves is None:
            continue
        moves[np.abs(moves) <= 1e-9] = 0.0
        moving = np.flatnonzero(moves)
        hidden[moving] = True
        open_[task] = False
        for deviations in (moves, -moves):
            room = np.where(deviations > 0, hi, lo)[moving] / deviations[moving]
            reach = problem.side * deviations[problem.cell] * float(room.min())
            open_ &= (reach < (1 - 1e-10) * problem.level) | (reach <= 0)
    spent = time.process_time() - start
    return problem.cost(hidden), spent, judged(problem, hidden)
