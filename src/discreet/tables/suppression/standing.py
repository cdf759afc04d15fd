"""Patterns that stand the audit: one that does not is widened at what it fails, or gives way to a safer one.

A search protects by floating-point numbers, the audit judges by exact ones, and by more than a search minds (sums,
whole numbers). Whatever the audit finds at fault gets a certificate of its own with further cells, and where that
changes nothing, the cheapest cells beside it are suppressed as well. That ends: with every cell suppressed that may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from discreet.attack.system import Bools, Ints
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import Problem
from discreet.verification.verdict import Audit

# How often a pattern is widened before a safer one is tried; the cells beside each fault double each time.
ROUNDS = 6

Judge = Callable[[Bools], Audit]


def stand(problem: Problem, hidden: Bools, judge: Judge) -> tuple[Bools, Audit]:
    """A pattern that stands the audit, near to one that may not, with its verdict; if none does, the least at fault.

    Parameters
    ----------
    problem : Problem
        What was to be protected.
    hidden : array of bool
        The pattern that was found, over the cells of the table.
    judge : callable
        Audits a pattern over the cells.
    """
    best = hidden, judge(hidden)
    for pattern in _starts(problem, hidden):
        for number in range(ROUNDS):
            verdict = best[1] if pattern is hidden else judge(pattern)
            if verdict:
                return pattern, verdict
            faults = _faults(verdict)
            if (only_cells(verdict), -len(faults)) > (only_cells(best[1]), -len(_faults(best[1]))):
                best = pattern, verdict
            wider = _widen(problem, pattern, faults, 2**number)
            if np.array_equal(wider, pattern):
                break
            pattern = wider
    return best


def only_cells(verdict: Audit) -> bool:
    """Whether cells are all that an audit finds at fault, and neither insiders nor sums."""
    return not verdict.insiders and not verdict.sums


def _starts(problem: Problem, hidden: Bools) -> Iterator[Bools]:
    """Patterns to widen: the one that was found, one that boxes or single programs make, and all that may be hidden."""
    yield hidden
    yield _build(problem, problem.primary, np.ones(problem.requirements, dtype=np.bool_)) | _primary(problem, hidden)
    every = hidden.copy()
    every[problem.system.cells] = True
    yield every


def _primary(problem: Problem, hidden: Bools) -> Bools:
    """What of a pattern is hidden in any case."""
    found = hidden.copy()
    found[problem.system.cells[~problem.primary]] = False
    return found


def _faults(verdict: Audit) -> Ints:
    """The cells at which a pattern does not stand, whatever for."""
    faults = [
        verdict.failed,
        *(cells for _, cells in verdict.insiders or ()),
        *(cells for _, cells in verdict.sums or ()),
    ]
    return np.unique(np.concatenate(faults)).astype(np.int64)


def _widen(problem: Problem, hidden: Bools, faults: Ints, many: int) -> Bools:
    """A pattern with what protects the cells at fault anew; where it has that, with the cheapest beside each."""
    at_fault = np.isin(problem.system.cells[problem.cell], faults)
    wider = hidden | _build(problem, hidden[problem.system.cells], at_fault)
    if not np.array_equal(wider, hidden):
        return wider
    weight = np.full(len(problem.table), np.inf)
    weight[problem.system.cells] = problem.weight
    relations = problem.table.relations
    starts, rows, _ = relations.by_cell
    for cell in faults.tolist():
        beside = np.unique(
            [one for row in rows[starts[cell] : starts[cell + 1]].tolist() for one in relations.of(row).tolist()]
        )
        able = beside[~wider[beside] & np.isfinite(weight[beside])]
        wider[able[np.argsort(weight[able], kind="stable")][:many]] = True
    if np.array_equal(wider, hidden):
        # Nothing is left beside them: the cheapest anywhere.
        able = problem.system.cells[~wider[problem.system.cells]]
        wider[able[np.argsort(weight[able], kind="stable")][: many * len(faults)]] = True
    return wider


def _build(problem: Problem, begun: Bools, requirements: Bools) -> Bools:
    """A pattern over the cells that protects some requirements, from one over the columns."""
    found = np.zeros(len(problem.table), dtype=np.bool_)
    chosen = problem.only(requirements, np.ones(len(problem.ranged), dtype=np.bool_))
    for part in chosen.components() if requirements.any() else ():
        made = pattern_of(part)
        made.start(begun[np.searchsorted(problem.system.cells, part.system.cells)])
        made.protect(part.by_level())
        found[part.system.cells] = made.suppressed
    return found
