"""Patterns by wide linear programs protect every requirement, and no search with them goes back."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attack.system import Floats
from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.problem import Problem, SizeClasses
from discreet.tables.suppression.program_pattern import LinearProgramPattern, Route
from discreet.tables.suppression.provers import moving
from discreet.tables.suppression.search.programs import WIDE_BUILDS, LinearProgramSearch
from discreet.tables.suppression.wide import FLOORS, Task, WideProver
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


def residuals(problem: Problem, moves: Floats) -> Floats:
    """By how much moves miss each relation."""
    system = problem.system
    column = np.repeat(np.arange(len(system)), np.diff(system.by_starts))
    missed: Floats = np.bincount(system.by_rows, system.by_coefficients * moves[column], len(system.relations)).astype(
        np.float64
    )
    return missed


def routes(pattern: LinearProgramPattern, requirement: int) -> list[Route]:
    """The first route of a requirement, and every cheaper one."""
    weight = pattern.problem.weight
    route = pattern.route(requirement, 1.0, weight, is_near=False)
    found: list[Route] = []
    while route is not None:
        found.append(route)
        route = pattern.reroute(route, weight)
    return found


@pytest.mark.parametrize("kind", ["9x3x7h", "8x9hx4", "12x4x12h"])
@pytest.mark.parametrize("seed", range(3))
def test_a_rerouted_giant_moves_as_far_by_cells_that_cost_less(kind: str, seed: int) -> None:
    problem = possible(kind, seed)
    pattern = LinearProgramPattern(problem, VAST)
    pattern.start()
    giant = int(problem.by_level()[0])
    cell, level = int(problem.cell[giant]), float(problem.level[giant])
    found = routes(pattern, giant)
    assert 1 <= len(found) <= 1 + len(FLOORS)
    charges = []
    for route in found:
        assert route.moves[cell] == pytest.approx(problem.side[giant] * level)
        assert np.abs(residuals(problem, route.moves)).max() <= 1e-6 * level
        assert (problem.system.lo - 1e-6 <= route.moves).all()
        assert (route.moves <= problem.system.hi + 1e-6).all()
        charges.append(pattern._task(giant, 1.0, problem.weight).charge(route.moves))
    assert charges == sorted(charges, reverse=True)
    pattern.take_route(found[-1], problem.by_level())
    assert giant not in pattern.open
    assert pattern.suppressed[moving(found[-1].moves)].all()


def test_rerouting_gains_where_a_linear_program_spreads_a_move_over_many_cells() -> None:
    gains = []
    for seed in range(6):
        problem = possible("12x4x12h", seed)
        pattern = LinearProgramPattern(problem, VAST)
        pattern.start()
        found = routes(pattern, int(problem.by_level()[0]))
        gains.append(len(found) > 1)
    assert any(gains)


def test_the_charge_of_moves_counts_cells_once_and_what_others_gain() -> None:
    task = Task(
        price=np.array([5.0, 7.0, 11.0, 13.0]),
        suppressed=np.array([True, False, False, False]),
        cell=0,
        amount=-2.0,
        target=np.array([0.0, 3.0, -1.0, 0.0]),
        worth=np.full(4, 4.0),
    )
    moves = np.array([-2.0, 1.0, -9.0, 0.0])
    assert task.taken(moves) == 7.0 + 11.0
    assert task.charge(moves) == 18.0 - 4.0 * (1.0 + 1.0) / 2.0
