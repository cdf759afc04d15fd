"""Patterns by wide linear programs protect every requirement, and no search with them goes back."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.problem import SizeClasses
from discreet.tables.suppression.search.programs import WIDE_BUILDS, LinearProgramSearch
from discreet.tables.suppression.wide import WideProver
from tables.suppression.test_slices import check, possible, search

VAST = SizeClasses(vast=50)


def run(found: LinearProgramSearch, epochs: int = 400) -> list[float]:
    """The costs of a search to the end of its wide builds."""
    costs: list[float] = []
    while found._wide < WIDE_BUILDS and len(costs) < epochs:
        next(found.epochs())
        costs.append(found.cost)
    return costs


@pytest.mark.parametrize("kind", ["9x3x7h", "8x9hx4"])
def test_what_wide_programs_find_passes_the_audit_and_costs_no_less_than_the_bound(kind: str) -> None:
    problem = possible(kind, 1)
    found = search(problem, VAST)
    costs = run(found)
    assert found._wide == WIDE_BUILDS
    assert costs == sorted(costs, reverse=True)
    assert lower_bound(problem, 64) <= costs[-1]
    check(problem, found.answer())


@pytest.mark.parametrize("kind", ["9x3x7h", "8x9hx4"])
def test_a_search_by_wide_programs_goes_on_from_any_epoch(kind: str) -> None:
    problem = possible(kind, 2)
    whole, saved = search(problem, VAST), []
    for _ in range(30):
        saved.append(whole.save())
        next(whole.epochs())
    for at in (3, 14, 29):
        resumed = search(problem, VAST)
        resumed.load(saved[at])
        for _ in range(30 - at):
            next(resumed.epochs())
        assert resumed.cost == whole.cost
        assert (resumed.answer() == whole.answer()).all()


def test_more_dimensions_are_left_to_other_ways() -> None:
    found = search(possible("4x4x4x4", 1), VAST)
    run(found, 5)
    assert found._wide == 0


def test_sums_and_parts_of_a_cell_are_related_to_it() -> None:
    problem = possible("9x3x7h", 1)
    prover = WideProver(problem, problem.cell)
    codes = problem.table.codes[problem.system.cells]
    cell = int(problem.cell[0])
    expected = np.ones(len(problem), dtype=np.bool_)
    for axis, one in enumerate(problem.table.dimensions):
        own = int(codes[cell, axis])
        expected &= [
            own in (code, *one.ancestors[code]) or code in one.ancestors[own] for code in codes[:, axis].tolist()
        ]
    assert (prover.related(cell) == expected).all()
