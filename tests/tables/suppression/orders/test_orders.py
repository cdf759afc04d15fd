"""Searches for orders: operators keep permutations, every answer is safe, and a resumed run is the same run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attack.system import Ints
from discreet.errors import InputError
from discreet.evolution.loop import evolve
from discreet.evolution.stops import MaxSteps
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.orders import agenda as agendas
from discreet.tables.suppression.orders import orders
from discreet.tables.suppression.orders.agenda import Follower, agenda_of, find_open, protect_group
from discreet.tables.suppression.orders.orders import OPERATORS, VARIANTS, Orders, OrderSearch, cross
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.provers import LinearProver
from discreet.tabular.files import jj
from discreet.tabular.table import FIXED, SAFE
from random_tables import generators
from tables.suppression.plain_protector import Plain, exposed, hopeless, unsafe_table

seeds = st.integers(0, 2**32 - 1)


def flows(problem: Problem) -> NetworkPattern:
    """The flows of a problem that is a network."""
    assert problem.is_network
    return NetworkPattern(problem)


def network(rng: np.random.Generator) -> NetworkPattern:
    """A random table of two dimensions, sometimes with a hierarchy and with cells that must be published."""
    sizes = [[4, 4], [6, 3], [3, 8]][int(rng.integers(3))]
    table = unsafe_table(rng, sizes, decimals=int(rng.choice([0, 2])))
    if rng.random() < 0.3:
        status = table.status.copy()
        status[(status == SAFE) & (rng.random(len(table)) < 0.15)] = FIXED
        table = table.but(status=status)
    return flows(problem_of(table))


def run(method: OrderSearch, protector: Any, seed: int, steps: int = 4) -> Orders:
    """A search after some epochs."""
    process = Orders(method, protector, seed)
    evolve(process, MaxSteps(steps))
    return process


@given(generators, st.sampled_from(sorted(OPERATORS)), st.integers(2, 30))
def test_a_mutation_is_a_permutation_and_leaves_its_parent(rng: np.random.Generator, name: str, size: int) -> None:
    order = rng.permutation(size)
    before = order.copy()
    changed = OPERATORS[name](order, rng)
    assert np.array_equal(np.sort(changed), np.arange(size))
    assert np.array_equal(order, before)
    moved = np.flatnonzero(changed != order)
    if name == "swap":
        assert len(moved) == 2
    elif len(moved):
        stretch, was = changed[moved[0] : moved[-1] + 1], order[moved[0] : moved[-1] + 1]
        turned = [np.roll(was, 1), np.roll(was, -1)] if name == "insert" else [was[::-1]]
        assert any(np.array_equal(stretch, one) for one in turned)


@given(generators, st.integers(1, 30))
def test_a_crossover_mixes_two_orders(rng: np.random.Generator, size: int) -> None:
    one, other = rng.permutation(size), rng.permutation(size)
    child = cross(one, other, rng)
    assert np.array_equal(np.sort(child), np.arange(size))
    assert np.array_equal(cross(one, one, rng), one)


class Points:
    """Chance that names the places."""

    def __init__(self, *places: int) -> None:
        self._places = np.array(places)

    def integers(self, *_arguments: object) -> Ints:
        return self._places


def test_the_order_based_crossover_of_the_paper() -> None:
    """A stretch of one parent; from its end on, round the list, the rest in the order of the other."""
    one, other = np.arange(9), np.array([8, 2, 6, 7, 1, 5, 4, 0, 3])
    child = cross(one, other, Points(3, 7))  # type: ignore[arg-type]
    assert child.tolist() == [2, 7, 1, 3, 4, 5, 6, 0, 8]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("clean", [False, True])
@settings(max_examples=5)
@given(rng=generators, seed=seeds)
def test_every_answer_is_safe_and_costs_what_is_said(
    variant: str, clean: bool, rng: np.random.Generator, seed: int
) -> None:
    protector = network(rng)
    problem = protector.problem
    process = run(OrderSearch(variant=variant, clean=clean, groups=int(rng.integers(1, 5))), protector, seed)
    pattern = process.answer()
    assert pattern[problem.primary].all()
    assert problem.cost(pattern) == pytest.approx(process.cost)
    assert exposed(problem, pattern) <= hopeless(problem)
    assert np.array_equal(process.answer(), pattern)


@pytest.mark.parametrize("variant", ["ga-one-k", "ga-group-k"])
@settings(max_examples=15)
@given(rng=generators, seed=seeds)
def test_a_surrogate_ends_safe(variant: str, rng: np.random.Generator, seed: int) -> None:
    protector = network(rng)
    method = OrderSearch(variant=variant, surrogate=True, groups=3, clean=bool(rng.random() < 0.5))
    pattern = run(method, protector, seed).answer()
    assert exposed(protector.problem, pattern) <= hopeless(protector.problem)


@pytest.mark.parametrize("variant", ["ls-insert", "ga-one-k", "ga-group-k"])
@pytest.mark.parametrize("protector", [Plain, LinearProgramPattern])
@pytest.mark.parametrize("sizes", [[3, 3, 2], [4, 3]])
@settings(max_examples=2)
@given(rng=generators)
def test_any_protector_will_do(variant: str, protector: Any, sizes: list[int], rng: np.random.Generator) -> None:
    problem = problem_of(unsafe_table(rng, sizes, hierarchical=len(sizes) == 2))
    method = OrderSearch(variant=variant, population=3, groups=2, clean=protector is LinearProgramPattern)
    process = run(method, protector(problem), 1, steps=3)
    assert exposed(problem, process.answer()) <= hopeless(problem)


@settings(max_examples=30)
@given(generators, st.sampled_from([[3, 3, 2], [4, 4]]))
def test_the_program_of_a_group_is_the_plain_one(rng: np.random.Generator, sizes: list[int]) -> None:
    problem = problem_of(unsafe_table(rng, sizes, hierarchical=len(sizes) == 2))
    tasks = rng.permutation(np.flatnonzero(problem.side > 0))[: rng.integers(1, 4)]
    program = LinearProver(problem.system, np.empty(0, dtype=np.int64))
    for _ in range(2):
        found = program.cheapest_together(
            problem.weight, problem.cell[tasks], problem.side[tasks] * problem.level[tasks]
        )
        expected = Plain(problem).moves(tasks, np.ones(len(problem), dtype=np.bool_))
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            cost = np.abs(expected) @ problem.weight
            assert np.abs(found) @ problem.weight == pytest.approx(cost, rel=1e-6, abs=1e-6)
            assert np.array_equal(found[problem.cell[tasks]], problem.level[tasks])
        tasks = tasks[:1]


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=5)
@given(rng=generators, seed=seeds)
def test_never_worse_than_the_orders_by_weight(variant: str, rng: np.random.Generator, seed: int) -> None:
    protector = network(rng)
    process = run(OrderSearch(variant=variant, groups=3), protector, seed)
    agenda = agenda_of(protector.problem, exposed=variant.endswith("-k"), groups=3 if variant == "ga-group-k" else 0)
    for order in (np.arange(len(agenda)), np.arange(len(agenda))[::-1]):
        protector.start()
        agenda.follow(protector, order)
        assert process.cost <= protector.cost


@pytest.mark.parametrize("room", [0, 3_000, 10**9])
@settings(max_examples=20)
@given(rng=generators, groups=st.sampled_from([0, 4]))
def test_orders_followed_from_where_they_part_lead_to_the_same(
    room: int, rng: np.random.Generator, groups: int
) -> None:
    protector = network(rng)
    agenda = agenda_of(protector.problem, groups=groups)
    plain = flows(protector.problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agendas, "WORTH_KEEPING", 0)
        patch.setattr(agendas, "KEPT_BYTES", room)
        follower = Follower(agenda, protector)
        order = rng.permutation(len(agenda))
        for _ in range(8):
            follower.follow(order)
            plain.start()
            agenda.follow(plain, order)
            one, other = protector.save(), plain.save()
            assert all(np.array_equal(value, other[name]) for name, value in one.items())
            if len(order) > 1:
                order = OPERATORS[str(rng.choice(sorted(OPERATORS)))](order, rng)


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=6)
@given(rng=generators, seed=seeds, stop=st.integers(1, 12))
def test_a_resumed_run_is_the_same_run(variant: str, rng: np.random.Generator, seed: int, stop: int) -> None:
    problem = network(rng).problem
    method = OrderSearch(variant=variant, clean=True, groups=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "EPOCH", 1)
        whole = run(method, flows(problem), seed, steps=16)
        first = run(method, flows(problem), seed, steps=stop)
        second = Orders(method, flows(problem), seed)
    second.load(first.save())
    while second.evaluations < whole.evaluations:
        next(second.epochs(), None)
    assert second.cost == whole.cost
    assert np.array_equal(second.answer(), whole.answer())
    assert np.array_equal(second.order(), whole.order())
    one, other = second.save(), whole.save()
    assert one.keys() == other.keys()
    for key, value in one.items():
        assert np.array_equal(value, other[key]), key


@settings(max_examples=30)
@given(generators)
def test_what_was_protected_before_makes_no_difference(rng: np.random.Generator) -> None:
    protector = network(rng)
    tasks = protector.problem.requirements
    order = rng.permutation(tasks)
    fresh = flows(protector.problem)
    fresh.start()
    fresh.protect(order)
    for _ in range(3):
        protector.start()
        protector.protect(rng.permutation(tasks))
        protector.clean()
    protector.start()
    protector.protect(order)
    assert np.array_equal(protector.suppressed, fresh.suppressed)


@settings(max_examples=30)
@given(generators)
def test_a_group_costs_what_a_linear_program_says(rng: np.random.Generator) -> None:
    """Confined to the cells that the group suppressed, a program is as cheap as with all cells."""
    protector = network(rng)
    problem = protector.problem
    plain = Plain(problem)
    mine = np.flatnonzero(problem.side == rng.choice([-1, 1]))
    # What primary cells protect takes no part.
    exposed_ones = [task for task in mine.tolist() if plain.moves(np.array([task]), problem.primary) is None]
    tasks = rng.permutation(np.array(exposed_ones, dtype=np.int64))[:3]
    if not len(tasks):
        return
    everything = np.ones(len(problem), dtype=np.bool_)
    protector.start()
    possible = protector.protect_together(tasks)
    assert possible == (plain.moves(tasks, everything) is not None)
    if not possible:
        assert np.array_equal(protector.suppressed, problem.primary)
        return
    assert not np.isin(tasks, protector.open).any()
    free, confined = plain.moves(tasks, everything), plain.moves(tasks, protector.suppressed)
    assert free is not None
    assert confined is not None
    weights = problem.weight
    assert np.abs(confined) @ weights == pytest.approx(np.abs(free) @ weights, rel=1e-6, abs=1e-6)


@settings(max_examples=20)
@given(generators)
def test_a_group_that_cannot_move_together_is_halved(rng: np.random.Generator) -> None:
    protector = network(rng)
    problem = protector.problem
    protector.start()
    stuck = protector.protect(problem.by_level())
    protector.start()
    protect_group(protector, np.flatnonzero(problem.side > 0))
    protect_group(protector, np.flatnonzero(problem.side < 0))
    assert len(protector.open) == stuck


@settings(max_examples=20)
@given(generators)
def test_exposed_cells_are_those_the_audit_finds(rng: np.random.Generator) -> None:
    problem = network(rng).problem
    found = problem.system.cells[problem.cell[find_open(problem, problem.primary)]]
    # A primary cell without a column cannot be helped.
    able = set(problem.system.cells[problem.cell].tolist())
    assert set(found.tolist()) == exposed(problem, problem.primary) & able
    cells = [problem.system.cells[group].tolist() for group in agenda_of(problem, exposed=True).groups]
    assert {cell for group in cells for cell in group} == set(found.tolist())


def test_groups_are_of_similar_weight_and_have_every_cell_once() -> None:
    problem = network(np.random.default_rng(3)).problem
    agenda = agenda_of(problem, groups=3)
    weight = problem.table.cost[problem.system.cells]
    assert len(agenda) == 3
    assert sorted(np.concatenate(agenda.groups).tolist()) == np.flatnonzero(problem.primary).tolist()
    for lighter, heavier in zip(agenda.groups, agenda.groups[1:], strict=False):
        assert weight[lighter].max() <= weight[heavier].min()


def test_hopeless_tasks_are_not_tried() -> None:
    protector = network(np.random.default_rng(5))
    process = Orders(OrderSearch(variant="ga-one-p"), protector, 1, hopeless=np.array([0, 3]))
    assert not np.isin([0, 3], process.order()).any()


@pytest.mark.parametrize(
    ("method", "most"),
    [
        (OrderSearch("ga-one-p", evaluations=60), 60),
        (OrderSearch("ls-swap", evaluations=60), 60),
        (OrderSearch("ls-invert", patience=20), 5_000),
        (OrderSearch("ga-swap", patience=10_000), 5_000),
    ],
)
def test_the_reasons_to_stop(method: OrderSearch, most: int) -> None:
    protector = network(np.random.default_rng(1))
    process = Orders(method, protector, 1)
    assert process.cost == np.inf
    while not process.finished:
        next(process.epochs(), None)
    assert process.evaluations <= most
    if method.variant == "ga-swap":
        assert process.evaluations >= method.convergence


def test_a_search_goes_on_though_its_population_is_alike() -> None:
    made = []
    for convergence in (20, 0):
        method = OrderSearch("ga-swap", evaluations=150, patience=150, convergence=convergence)
        process = Orders(method, network(np.random.default_rng(1)), 1)
        while not process.finished:
            next(process.epochs(), None)
        made.append(process.evaluations)
    assert made[0] < made[1] == 150


def test_nothing_to_protect() -> None:
    table = unsafe_table(np.random.default_rng(1), [3, 3])
    problem = problem_of(table.but(status=np.zeros(len(table), np.uint8)))
    process = run(OrderSearch(), flows(problem), 1)
    assert process.finished
    assert process.cost == 0.0
    assert not process.answer().any()


def test_better_than_one_pass_on_a_table_of_an_office(table_reference: Callable[[str], Path]) -> None:
    problem = problem_of(jj.read(table_reference("jj/t200x5.jj")))
    process = run(OrderSearch("ga-one-k", clean=True), flows(problem), 1, steps=3)
    pattern = process.answer()
    assert not exposed(problem, pattern)
    assert problem.cost(pattern) < 18_755


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "ga"}, "variant is 'ga'"),
        ({"population": 1}, "population must be at least 2"),
        ({"crossover": 1.5}, "crossover is 1.5"),
        ({"groups": 0}, "groups must be at least 1"),
        ({"evaluations": 0}, "evaluations must be at least 1"),
        ({"patience": 2.5}, "patience must be a whole number"),
        ({"convergence": -1}, "convergence must be at least 0"),
        ({"clean": 1}, "clean is 1"),
        ({"variant": "ga-one-p", "surrogate": True}, "surrogate is for"),
    ],
)
def test_wrong_parameters_name_themselves(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        OrderSearch(**options)
