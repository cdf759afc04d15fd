"""Programs of whole tables protect every requirement, and no search with them goes back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.attack.system import Bools, Floats
from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.problem import Problem, SizeClasses, problem_of, settle_ranges
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.provers import moving
from discreet.tables.suppression.search.programs import LinearProgramSearch
from discreet.tables.suppression.splitting import Route, SplittingProver
from discreet.tabular.files import jj
from tables.suppression.test_slices import check, possible, search
from unsafe_tables import case

VAST = SizeClasses(vast=50)
MIDDLING = SizeClasses(lattice=50)
TABLES = ("9x3x7h", "8x9hx4", "5x4x4x3", "7hx6h")


def run(found: LinearProgramSearch, epochs: int) -> list[float]:
    """The costs of a search for so many epochs."""
    costs: list[float] = []
    while len(costs) < epochs and not found.finished:
        next(found.epochs())
        costs.append(found.cost)
    return costs


@pytest.mark.parametrize("kind", TABLES)
def test_what_is_built_from_whole_tables_passes_the_audit_and_costs_no_less_than_the_bound(kind: str) -> None:
    problem = possible(kind, 1)
    found = search(problem, VAST)
    built: list[Bools] = []
    costs: list[float] = []
    while found._turns_of_wholes < 4 and len(costs) < 200:
        costs += run(found, 1)
        if found._turns_of_wholes and not len(found.pattern.open):
            built.append(found.pattern.suppressed)
    assert costs == sorted(costs, reverse=True)
    # What is built is whole, be it the best or not.
    for pattern in built[:: max(1, len(built) // 3)]:
        check(problem, pattern)
        assert lower_bound(problem, 64) <= problem.cost(pattern)
    check(problem, found.answer())


@pytest.mark.parametrize("kind", ["9x3x7h", "5x4x4x3"])
def test_a_search_of_whole_tables_goes_on_from_any_epoch(kind: str) -> None:
    problem = possible(kind, 2)
    whole, saved = search(problem, VAST), []
    for _ in range(60):
        saved.append(whole.save())
        next(whole.epochs())
    for at in (3, 29, 59):
        resumed = search(problem, VAST)
        resumed.load(saved[at])
        for _ in range(60 - at):
            next(resumed.epochs())
        assert resumed.cost == whole.cost
        assert (resumed.answer() == whole.answer()).all()


def test_what_splitting_does_not_find_is_protected_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SplittingProver, "route", lambda *_: None)
    problem = possible("9x3x7h", 1)
    found = search(problem, VAST)
    run(found, 60)
    check(problem, found.answer())


@pytest.mark.parametrize(
    ("kind", "is_usable"), [("plane", True), ("tree", True), ("crossed", False), ("four", True), ("linked", False)]
)
def test_tables_that_are_no_product_of_trees_are_left_to_other_ways(kind: str, *, is_usable: bool) -> None:
    found = [SplittingProver(problem_of(case(seed, kind).table)).usable for seed in range(20)]
    assert any(found) == is_usable


def test_sums_and_parts_of_a_cell_are_related_to_it() -> None:
    problem = possible("9x3x7h", 1)
    prover = SplittingProver(problem)
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


def routes(pattern: LinearProgramPattern, requirement: int, tries: int) -> list[Route]:
    """The first route of a requirement, every cheaper one that is tried, and the last at a vertex."""
    route = pattern.route(requirement, 1.0, pattern.problem.weight)
    assert route is not None
    found = [route]
    for tried in range(tries):
        better = pattern.reroute(found[-1], [requirement, tried])
        found += [] if better is None else [better]
    return [*found, pattern.at_vertex(found[-1])]


@pytest.mark.parametrize("kind", ["9x3x7h", "8x9hx4", "12x4x12h", "5x4x4x3"])
@pytest.mark.parametrize("seed", range(3))
def test_routes_obey_every_relation_and_protect_and_rerouting_makes_them_cheaper(kind: str, seed: int) -> None:
    problem = possible(kind, seed)
    for place in (0, problem.requirements // 2, problem.requirements - 1):
        pattern = LinearProgramPattern(problem, VAST)
        pattern.start()
        requirement = int(problem.by_level()[place])
        cell, level = int(problem.cell[requirement]), float(problem.level[requirement])
        found = routes(pattern, requirement, 4)
        charges = [route.charge for route in found]
        assert charges == sorted(charges, reverse=True)
        for route in found:
            assert route.moves[cell] == pytest.approx(problem.side[requirement] * level)
            assert np.abs(residuals(problem, route.moves)).max() <= 1e-7 * level
            assert (problem.system.lo - 1e-7 * level <= route.moves).all()
            assert (route.moves <= problem.system.hi + 1e-7 * level).all()
            moved = moving(route.moves)
            assert route.taken == pytest.approx(problem.weight[moved[~problem.primary[moved]]].sum())
        pattern.take_route(found[-1], requirement, problem.by_level())
        assert requirement not in pattern.open
        assert pattern.suppressed[moving(found[-1].moves)].all()


def test_rerouting_gains_somewhere() -> None:
    gains = []
    for seed in range(4):
        problem = possible("12x4x12h", seed)
        pattern = LinearProgramPattern(problem, VAST)
        pattern.start()
        gains.append(len(routes(pattern, int(problem.by_level()[0]), 10)) > 2)
    assert any(gains)


def test_a_route_at_a_vertex_moves_no_other_cells_and_gains_somewhere() -> None:
    gains = []
    for seed in range(4):
        problem = possible("12x4x12h", seed)
        pattern = LinearProgramPattern(problem, VAST)
        pattern.start()
        route = pattern.route(int(problem.by_level()[0]), 1.0, problem.weight)
        assert route is not None
        vertex = pattern.at_vertex(route)
        assert np.isin(moving(vertex.moves), moving(route.moves)).all()
        # Cells of a vertex that have room to both sides are no more than relations, or they would move in circles.
        moves, system = vertex.moves, problem.system
        is_free = (moves != 0) & (moves > system.lo) & (moves < system.hi)
        assert vertex.charge == route.charge or is_free.sum() <= 1 + len(system.relations) + problem.requirements
        gains.append(vertex.charge < route.charge)
    assert any(gains)


def test_there_is_no_route_where_too_little_may_move() -> None:
    problem = possible("9x3x7h", 1)
    prover = SplittingProver(problem)
    requirement = int(problem.by_level()[0])
    cell, level = int(problem.cell[requirement]), float(problem.level[requirement])
    price = np.full(len(problem), np.inf)
    price[:5] = 1.0
    assert prover.cheapest(price, cell, level, np.zeros(len(problem)), 0.0) is None


@pytest.mark.parametrize(("kind", "is_usable"), [("6x5x4", True), ("8x9hx4", False)])
def test_a_table_without_names_has_the_axes_that_its_relations_show(
    kind: str, tmp_path: Path, *, is_usable: bool
) -> None:
    (tmp_path / "table.jj").write_text(jj.text(possible(kind, 1).table))
    problem, lost = settle_ranges(problem_of(jj.read(tmp_path / "table.jj")))
    problem = problem.without(lost)
    assert not problem.table.dimensions
    assert SplittingProver(problem).usable == is_usable
    if is_usable:
        pattern = LinearProgramPattern(problem, MIDDLING)
        pattern.start()
        requirement = int(problem.by_level()[0])
        route = pattern.route(requirement, 1.0, problem.weight)
        assert route is not None
        assert np.abs(residuals(problem, route.moves)).max() <= 1e-7 * problem.level[requirement]
        found = search(problem, MIDDLING)
        assert found.pattern.is_on_lattice
        while found._turns_of_wholes < 4:
            next(found.epochs())
        check(problem, found.answer())
        assert lower_bound(problem, 64) <= found.cost
