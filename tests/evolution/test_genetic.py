"""The genetic processes find optima, evaluate no clone twice, and keep to their plans."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.evolution.genetic import Generational, SteadyState
from discreet.evolution.loop import evolve
from discreet.evolution.population import Birth, Survival
from discreet.evolution.stops import MaxSteps
from discreet.evolution.variation import Operator
from evolution.searches import Bits, beginners, cross, flip, generational, steady, zeros

Make = Callable[..., Any]
BOTH = pytest.mark.parametrize("make", [generational, steady])


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_onemax_is_solved(make: Make, seed: int) -> None:
    process = make(seed)
    evolve(process, MaxSteps(3000 if make is steady else 400))
    assert (process.cost, process.answer().sum()) == (0.0, 24)


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_a_knapsack_is_packed_nearly_as_well_as_can_be(make: Make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, values = rng.integers(5, 40, 12), rng.integers(5, 40, 12)
    room = int(weights.sum() // 2)

    def cost(bits: Bits) -> float:
        return -float(values @ bits[:12]) if weights @ bits[:12] <= room else math.inf

    process = make(seed, cost=cost, key=lambda bits: bytes(bits[:12]))
    evolve(process, MaxSteps(4000 if make is steady else 300))
    everything = [np.array(bits) for bits in itertools.product([0, 1], repeat=12)]
    assert process.cost <= 0.9 * min(cost(bits) for bits in everything)
    assert cost(process.answer()) == process.cost


@BOTH
def test_the_first_epoch_judges_the_initial_ones_and_has_no_births(make: Make) -> None:
    events: list[Birth | Survival] = []
    process = make(3, listeners=[events.append])
    assert process.cost == math.inf
    next(process.epochs())
    assert process.generation == 0
    assert process.cost == min(zeros(member.individual) for member in process.members)
    assert events == [Survival(0, tuple(range(len(process.members))))]


@BOTH
def test_the_best_ever_is_the_answer_whoever_lives(make: Make) -> None:
    process = make(3)
    seen, first = math.inf, None
    for _ in range(30):
        next(process.epochs())
        now = min(member.cost for member in process.members)
        if now < seen:
            seen, first = now, process.answer()
        assert process.cost == seen == zeros(process.answer())
        assert process.answer() is first


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_cheapest_of_members_and_children_live_on(seed: int) -> None:
    events: list[Birth | Survival] = []
    process = generational(seed, listeners=[events.append])
    next(process.epochs())
    for _ in range(4):
        costs = {member.number: member.cost for member in process.members}
        events.clear()
        next(process.epochs())
        births = [event for event in events if isinstance(event, Birth)]
        pool = costs | {birth.child: birth.cost for birth in births}
        alive = [member.cost for member in process.members]
        assert alive == sorted(pool.values())[:16]
        assert all(pool[member.number] == member.cost == zeros(member.individual) for member in process.members)


def test_each_operator_is_applied_as_often_as_it_says() -> None:
    # The plan of GOMM: population 200, 25 crossovers of two children, ten of each of five mutations.
    def both(parents: Sequence[Bits], rng: np.random.Generator) -> list[Bits]:
        return [cross(parents, rng), cross(parents[::-1], rng)]

    mutations = [Operator(f"mutation {name}", flip, times=10) for name in range(5)]
    events: list[Birth | Survival] = []
    process = Generational(
        beginners(200, 30, 1),
        lambda items: [zeros(bits) for bits in items],
        [Operator("crossover", both, parents=2, children=2, times=25), *mutations],
        rng=np.random.default_rng(1),
        key=bytes,
        listeners=[events.append],
    )
    evolve(process, MaxSteps(4))
    births = [event for event in events if isinstance(event, Birth)]
    for generation in (1, 2, 3):
        counts = Counter(birth.operator for birth in births if birth.generation == generation)
        assert counts == {"crossover": 50} | {f"mutation {name}": 10 for name in range(5)}
    assert {len(birth.parents) for birth in births if birth.operator == "crossover"} == {2}
    assert {len(birth.parents) for birth in births if birth.operator != "crossover"} == {1}
    assert [len(event.alive) for event in events if isinstance(event, Survival)] == [200] * 4


def test_an_operator_that_brings_nothing_is_stopped() -> None:
    # D-GOMM; costs are whole numbers, "worsen" never and "idle" never brings a cheaper child.
    names: list[tuple[int, str]] = []

    def note(event: Birth | Survival) -> None:
        if isinstance(event, Birth):
            names.append((event.generation, event.operator))

    process = Generational(
        [50.0, 60.0],
        lambda numbers: [float(x) for x in numbers],
        [
            Operator("worsen", lambda parents, rng: parents[0] + 1),
            Operator("idle", lambda parents, rng: parents[0]),
            Operator("improve", lambda parents, rng: max(parents[0] - 1, 45.0)),
        ],
        rng=np.random.default_rng(1),
        patience=3,
        listeners=[note],
    )
    outcome = evolve(process, MaxSteps(1000))
    last = {name: max(generation for generation, other in names if other == name) for _, name in names}
    assert last["worsen"] == last["idle"] == 3
    assert last["improve"] > 8
    assert (outcome.stopped, process.cost) == ("finished", 45.0)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_a_cheaper_child_takes_the_place_of_the_costliest(seed: int) -> None:
    events: list[Birth | Survival] = []
    process = steady(seed, listeners=[events.append])
    next(process.epochs())
    costs = [member.cost for member in process.members]
    for _ in range(40):
        events.clear()
        next(process.epochs())
        born = [event for event in events if isinstance(event, Birth)]
        assert len(born) == 1
        for birth in born:
            if birth.cost < max(costs):
                costs[costs.index(max(costs))] = birth.cost
        assert [member.cost for member in process.members] == costs


def test_one_member_is_a_local_search() -> None:
    process = SteadyState(
        beginners(1, 12, 1),
        lambda items: [zeros(b) for b in items],
        [Operator("flip", flip)],
        rng=np.random.default_rng(1),
    )
    evolve(process, MaxSteps(2000))
    assert process.cost == 0.0


def test_drawn_operators_have_their_shares() -> None:
    counts: Counter[str] = Counter()

    def count(event: Birth | Survival) -> None:
        if isinstance(event, Birth):
            counts[event.operator] += 1

    evolve(steady(1, listeners=[count]), MaxSteps(2001))
    assert counts.total() == 2000
    assert counts["cross"] / 2000 == pytest.approx(0.7, abs=0.04)


def test_all_generations_done_is_finished() -> None:
    assert (outcome := evolve(generational(1, generations=7), MaxSteps(99))).stopped == "finished"
    assert outcome.steps == 8  # the first epoch judges the initial ones


def test_clones_are_evaluated_once() -> None:
    seen: Counter[bytes] = Counter()

    def count(bits: Bits) -> float:
        seen[bytes(bits)] += 1
        return zeros(bits)

    births: list[Birth] = []
    process = generational(
        1,
        cost=count,
        memory=100_000,
        listeners=[lambda event: births.append(event) if isinstance(event, Birth) else None],
    )
    evolve(process, MaxSteps(40))
    assert set(seen.values()) == {1}
    assert process.evaluations == len(seen) < len(births)
    assert sum(birth.computed for birth in births) == len(seen) - 16


def test_what_is_remembered_changes_nothing_but_the_work() -> None:
    runs = [generational(1, **options) for options in ({"key": None}, {"memory": 0}, {"memory": 5}, {"memory": 10_000})]
    for process in runs:
        evolve(process, MaxSteps(20))
    orders = [[(member.number, member.cost) for member in process.members] for process in runs]
    assert all(order == orders[0] for order in orders)
    work = [process.evaluations for process in runs]
    assert work[0] >= work[1] >= work[2] > work[3]


def _first(parents: Sequence[float], _rng: np.random.Generator) -> float:
    return parents[0]


def _numbers(operators: list[Operator[float]], costs: Sequence[float] = (1.0, 2.0)) -> Generational[float]:
    return Generational([1.0, 2.0], lambda numbers: costs, operators, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: generational(1, generations=-1), "generations is -1"),
        (lambda: next(generational(1, cost=lambda bits: math.nan).epochs()), "evaluate gave a cost that is NaN"),
        (lambda: Operator("x", flip, parents=0), "parents is 0"),
        (lambda: Operator("x", flip, times=-1), "times is -1; it must be a finite number of at least 0"),
        (lambda: next(_numbers([Operator("x", _first)], costs=[]).epochs()), "evaluate gave 0 costs for 2 individuals"),
        (lambda: _numbers([Operator("x", _first)] * 2), "two operators have the same name"),
        (
            lambda: _numbers([Operator("x", _first, times=0.5)]),
            "times of x is 0.5; it must be a whole number",
        ),
        (lambda: _numbers([Operator("x", _first, times=0)]), "at least one weight must be above 0"),
        (lambda: _numbers([]), "at least one weight must be above 0"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="generation"):
        generational(1, generation=5)
