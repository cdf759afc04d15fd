"""Patterns by pairs of slices protect every requirement."""

from __future__ import annotations

import pytest

from discreet.attack.system import Bools
from discreet.tables.suppression.problem import Problem, SizeClasses, problem_of, settle_ranges
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.search.programs import LinearProgramSearch
from discreet.tables.suppression.slices import PairedSlices
from discreet.tabular.table import SECONDARY
from discreet.verification.audit import audit
from tables.suppression.test_bounds import sample


def possible(kind: str, seed: int) -> Problem:
    """A problem of a generated table without what no pattern protects."""
    problem, lost = settle_ranges(problem_of(sample(kind, seed)))
    return problem.without(lost)


def check(problem: Problem, found: Bools) -> None:
    """That the audit finds everything protected."""
    status = problem.table.status.copy()
    status[problem.system.cells[found & ~problem.primary]] = SECONDARY
    failed = set(audit(problem.table.but(status=status)).failed.tolist())
    assert not failed & set(problem.system.cells[problem.cell].tolist())


def search(problem: Problem, sizes: SizeClasses) -> LinearProgramSearch:
    """A search of a problem as if it were large."""
    return LinearProgramSearch(LinearProgramPattern(problem, sizes), 1, most=4, heat=0.01)


@pytest.mark.parametrize("kind", ["9x4x6", "9x3x7h", "8x9hx4"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_pattern_by_slices_passes_the_audit(kind: str, seed: int) -> None:
    problem = possible(kind, seed)
    slices = PairedSlices(problem)
    assert slices.usable
    for _ in slices.protect():
        pass
    found = slices.complete()
    assert found is not None
    check(problem, found)


@pytest.mark.parametrize("kind", ["4x4x4x4", "5x5", "6hx6hx3"])
def test_tables_of_other_kinds_are_left_to_other_ways(kind: str) -> None:
    assert not PairedSlices(problem_of(sample(kind, 1))).usable


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("9x3x7h", SizeClasses(vast=50)),
        ("9x4x6", SizeClasses(lattice=50, sliced=50)),
    ],
)
def test_a_search_by_slices_goes_on_from_any_epoch(kind: str, sizes: SizeClasses) -> None:
    problem = possible(kind, 1)
    whole, saved, costs = search(problem, sizes), [], []
    for _ in range(40):
        saved.append(whole.save())
        next(whole.epochs())
        costs.append(whole.cost)
    assert costs == sorted(costs, reverse=True)
    check(problem, whole.answer())
    for at in (0, 1, 9, 23, 39):
        resumed = search(problem, sizes)
        resumed.load(saved[at])
        for _ in range(40 - at):
            next(resumed.epochs())
        assert resumed.cost == costs[-1]
        assert (resumed.answer() == whole.answer()).all()
