"""The proven optimum is that of all patterns, tried one by one with a plain attacker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import milp

from discreet.attack.system import Bools, Floats
from discreet.tables.primary import primary
from discreet.tables.suppression.exact.branch_and_cut import Exact
from discreet.tables.suppression.exact.master import Relaxation
from discreet.tables.suppression.exact.parts import solve_parts
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.tabulate import tabulate
from discreet.tabular.files import jj
from random_tables import generators
from tables.suppression.plain_protector import Plain, exposed, hopeless, unsafe_table

KINDS = {
    "plane": ([3, 3], {}),
    "wide": ([2, 5], {}),
    "tree": ([4, 2], {"hierarchical": True}),
    "cube": ([2, 2, 2], {}),
    "cross": ([4, 2], {"hierarchical": True, "second": True}),
}
FREE = 7


def small_problem(rng: np.random.Generator, kind: str) -> Problem:
    """A problem with few columns besides the primary ones, of whole, equal or odd weights."""
    sizes, more = KINDS[kind]
    table = unsafe_table(rng, sizes, **more)
    problem = problem_of(table)
    others = problem.system.cells[~problem.primary]
    frozen = rng.permutation(others)[FREE:]
    table = table.but(cost=_weights(rng, table.value))
    return problem_of(table, frozen=frozen)


def _weights(rng: np.random.Generator, value: Floats) -> Floats:
    ways = (value, np.ones(len(value)), np.log1p(np.abs(value)), np.where(rng.random(len(value)) < 0.3, 0.0, value))
    return ways[int(rng.integers(4))]


def least_cost(problem: Problem) -> float:
    """The cost of the cheapest pattern that protects every task that can be, by trying all in rising order."""
    attacker = Plain(problem)
    tasks = [t for t in range(problem.requirements) if possible(problem, t)]
    free = np.flatnonzero(~problem.primary)
    patterns = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free)) & 1).astype(np.bool_)
    costs = patterns @ problem.weight[free]
    for at in np.argsort(costs, kind="stable"):
        pattern = problem.primary.copy()
        pattern[free[patterns[at]]] = True
        for place, task in enumerate(tasks):
            if attacker.moves(np.array([task]), pattern) is None:
                # What has just failed will often fail again.
                tasks.insert(0, tasks.pop(place))
                break
        else:
            return float(costs[at])
    raise AssertionError("everything suppressed protects what can be protected")


def possible(problem: Problem, task: int) -> bool:
    """Whether a task is protected where everything is suppressed."""
    return Plain(problem).moves(np.array([task]), np.ones(len(problem), dtype=np.bool_)) is not None


def proven(search: Exact) -> Exact:
    while not search.finished:
        before = search.bound, search.cost
        next(search.epochs(), None)
        assert before[0] <= search.bound + 1e-9
        assert search.bound <= search.cost <= before[1]
    return search


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None)
@given(rng=generators)
def test_the_optimum_is_that_of_all_patterns(kind: str, rng: np.random.Generator) -> None:
    problem = small_problem(rng, kind)
    search = proven(Exact(problem, Plain(problem)))
    least = least_cost(problem)
    assert search.cost == pytest.approx(least, rel=1e-7)
    assert search.bound == pytest.approx(least, rel=1e-7)
    assert problem.cost(search.answer()) == search.cost
    assert exposed(problem, search.answer()) == hopeless(problem)


def flows_of(problem: Problem) -> NetworkPattern:
    assert problem.is_network
    return NetworkPattern(problem)


def cleaned(problem: Problem) -> Bools:
    """A pattern made in one pass."""
    flows = flows_of(problem)
    flows.protect(problem.by_level())
    flows.clean()
    return flows.suppressed


@settings(max_examples=10, deadline=None)
@given(rng=generators, epochs=st.integers(0, 12))
def test_a_search_goes_on_from_where_it_was_saved(rng: np.random.Generator, epochs: int) -> None:
    table = unsafe_table(rng, [7, 7])
    problem = problem_of(table)
    whole, first, second = (Exact(problem, flows_of(problem)) for _ in range(3))
    for _ in range(epochs):
        next(first.epochs(), None)
    second.load(first.save())
    assert second.cost == first.cost
    assert second.bound == first.bound
    for _ in range(epochs):
        next(whole.epochs(), None)
    while not second.finished:
        next(whole.epochs(), None)
        next(second.epochs(), None)
        assert (second.cost, second.bound, second.finished) == (whole.cost, whole.bound, whole.finished)
    assert (second.answer() == whole.answer()).all()


@settings(max_examples=15, deadline=None)
@given(rng=generators)
def test_no_pattern_found_is_cheaper_than_the_bound(rng: np.random.Generator) -> None:
    problem = problem_of(unsafe_table(rng, [6, 5]))
    pattern = cleaned(problem)
    search = Exact(problem, flows_of(problem), pattern)
    for _ in range(3):
        assert search.bound <= problem.cost(pattern)
        next(search.epochs(), None)
    proven(search)
    assert exposed(problem, search.answer()) == exposed(problem, pattern)


@settings(max_examples=15, deadline=None)
@given(rng=generators)
def test_parts_solved_for_themselves_cost_what_all_cost_together(rng: np.random.Generator) -> None:
    table = unsafe_table(rng, [9, 8])
    problem = problem_of(table.but(cost=_weights(rng, table.value)))
    relaxation = Relaxation(problem, 1.0)
    for _ in range(4):
        relaxation.round()
    # Fixed columns take the rest apart.
    lower, upper = problem.primary.astype(np.float64), np.ones(len(problem))
    lower[rng.random(len(problem)) < 0.3] = 1.0
    found = solve_parts(relaxation, lower, upper, 0.0)
    rows = np.zeros((len(relaxation.pool), len(problem)))
    for row, cut in zip(rows, relaxation.pool.cuts, strict=True):
        row[cut.columns] = cut.coefficients
    least = np.array([cut.least for cut in relaxation.pool.cuts])
    together = milp(problem.weight, integrality=1, bounds=(lower, upper), constraints=(rows, least, np.inf))
    assert found.is_whole
    assert found.bound == pytest.approx(together.fun, rel=1e-5)
    assert problem.weight @ found.share == pytest.approx(together.fun, rel=1e-5)
    assert (rows @ found.share >= least - 1e-5).all()


def test_nothing_to_protect_costs_nothing() -> None:
    problem = problem_of(unsafe_table(np.random.default_rng(1), [3, 3]).but(status=np.zeros(16, dtype=np.uint8)))
    search = Exact(problem, flows_of(problem))
    assert search.finished
    assert search.cost == search.bound == 0.0
    assert not search.answer().any()


def test_the_reference_table_of_1206_cells(table_reference: Callable[[str], Path]) -> None:
    problem = problem_of(jj.read(table_reference("jj/t200x5.jj")))
    search = proven(Exact(problem, flows_of(problem), cleaned(problem)))
    assert search.cost == search.bound == 17_335
    assert not exposed(problem, search.answer())


def test_the_reference_table_of_10251_cells(table_reference: Callable[[str], Path]) -> None:
    problem = problem_of(jj.read(table_reference("jj/t200x50.jj")))
    search = proven(Exact(problem, flows_of(problem), cleaned(problem)))
    assert search.cost == search.bound == 16_976
    assert not exposed(problem, search.answer())


def test_the_reference_microdata(table_reference: Callable[[str], Path]) -> None:
    folder = table_reference("tau_testW/tau_testW.asc").parent
    table = tabulate(folder / "tau_testW.asc", by=["Size", "Region"], value="Var2", meta=folder / "Tau_TestW.rda")
    problem = problem_of(primary(table, p=15))
    search = proven(Exact(problem, flows_of(problem)))
    assert search.cost == search.bound == 521_926.0
    assert not exposed(problem, search.answer())
