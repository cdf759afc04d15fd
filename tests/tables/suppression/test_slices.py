"""Patterns by pairs of slices protect every requirement."""

from __future__ import annotations

import pytest

from discreet.tables.suppression.problem import Problem, problem_of, settle_ranges
from discreet.tables.suppression.slices import PairedSlices
from discreet.tabular.table import SECONDARY
from discreet.verification.audit import audit
from tables.suppression.test_bounds import sample


def possible(kind: str, seed: int) -> Problem:
    """A problem of a generated table without what no pattern protects."""
    problem, lost = settle_ranges(problem_of(sample(kind, seed)))
    return problem.without(lost)


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
    status = problem.table.status.copy()
    status[problem.system.cells[found & ~problem.primary]] = SECONDARY
    failed = set(audit(problem.table.but(status=status)).failed.tolist())
    assert not failed & set(problem.system.cells[problem.cell].tolist())


@pytest.mark.parametrize("kind", ["4x4x4x4", "5x5", "6hx6hx3"])
def test_tables_of_other_kinds_are_left_to_other_ways(kind: str) -> None:
    assert not PairedSlices(problem_of(sample(kind, 1))).usable
