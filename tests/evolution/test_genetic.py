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
from discreet.evolution.stops import MaxSteps, Target, first_of
from discreet.evolution.variation import Operator, in_turn, roulette, sometimes
from evolution.searches import Bits, beginners, cross, flip, generational, steady, zeros

Make = Callable[..., Any]
BOTH = pytest.mark.parametrize("make", [generational, steady])


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_onemax_is_solved(make: Make, seed: int) -> None:
    process = make(seed)
    outcome = evolve(process, first_of(Target(0.0), MaxSteps(400)))
    assert outcome.stopped == "target"
    assert process.answer().sum() == 24


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_a_knapsack_is_packed_as_well_as_can_be(make: Make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, values = rng.integers(5, 40, 12), rng.integers(5, 40, 12)
    room = int(weights.sum() // 2)

    def cost(bits: Bits) -> float:
        return -float(values @ bits[:12]) if weights @ bits[:12] <= room else math.inf

    process = make(seed, cost=cost, key=lambda bits: bytes(bits[:12]), distinct=True)
    evolve(process, MaxSteps(300))
    everything = [np.array(bits) for bits in itertools.product([0, 1], repeat=12)]
    assert process.cost == min(cost(bits) for bits in everything)
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


def test_without_an_elite_the_best_can_die_and_is_still_the_answer() -> None:
    # Each child is worse than its parent, and all parents die.
    worsen: Operator[float] = Operator("worsen", lambda parents, rng: parents[0] + 1, times=4)
    process = Generational(
        [0.0, 1.0, 2.0, 3.0],
        lambda numbers: [float(x) for x in numbers],
        [worsen],
        rng=np.random.default_rng(1),
        elite=0,
    )
    evolve(process, MaxSteps(5))
    assert min(member.cost for member in process.members) >= 4
    assert (process.cost, process.answer()) == (0.0, 0.0)


@BOTH
def test_distinct_members_stay_distinct(make: Make) -> None:
    process = make(3, key=bytes, distinct=True)
    for _ in range(40):
        next(process.epochs())
        assert len({bytes(member.individual) for member in process.members}) == len(process.members)
    with pytest.raises(ValueError, match="distinct needs a key"):
        make(3, key=None, distinct=True)


@given(st.integers(0, 10_000), st.integers(0, 16))
@settings(max_examples=20)
def test_the_cheapest_of_elite_and_children_live_on(seed: int, elite: int) -> None:
    events: list[Birth | Survival] = []
    process = generational(seed, elite=elite, listeners=[events.append])
    next(process.epochs())
    for _ in range(4):
        costs = {member.number: member.cost for member in process.members}
        oldest = sorted(costs, key=lambda number: costs[number])[:elite]
        events.clear()
        next(process.epochs())
        births = [event for event in events if isinstance(event, Birth)]
        pool = {number: costs[number] for number in oldest} | {birth.child: birth.cost for birth in births}
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


def test_drawn_operators_have_their_shares() -> None:
    counts: Counter[str] = Counter()

    def count(event: Birth | Survival) -> None:
        if isinstance(event, Birth):
            counts[event.operator] += 1

    evolve(generational(1, births=400, listeners=[count]), MaxSteps(6))
    assert counts.total() == 2000
    assert [counts[name] / 2000 for name in ("cross", "flip", "swap")] == pytest.approx(
        [6 / 16, 8 / 16, 2 / 16], abs=0.04
    )


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
    with pytest.raises(ValueError, match="elite is 3; with patience it must be the whole population, 16"):
        generational(1, elite=3, patience=2)


def test_an_operator_that_was_not_drawn_was_not_idle() -> None:
    counts: Counter[str] = Counter()
    process = Generational(
        [1.0, 1.0],
        lambda numbers: [1.0 for _ in numbers],
        [Operator("often", _first, times=9), Operator("seldom", _first, times=1)],
        rng=np.random.default_rng(1),
        births=1,
        patience=3,
        listeners=[lambda event: counts.update([event.operator]) if isinstance(event, Birth) else None],
    )
    assert evolve(process, MaxSteps(1000)).stopped == "finished"
    assert counts == {"often": 3, "seldom": 3}


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=20)
def test_a_cheaper_child_takes_the_place_of_the_dearest(seed: int, births: int, brood: int) -> None:
    events: list[Birth | Survival] = []
    process = steady(seed, births=births, brood=brood, listeners=[events.append])
    next(process.epochs())
    costs = [member.cost for member in process.members]
    for _ in range(5):
        events.clear()
        next(process.epochs())
        born = [event for event in events if isinstance(event, Birth)]
        assert len(born) == births
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
    assert evolve(process, first_of(Target(0.0), MaxSteps(2000))).stopped == "target"


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


def test_roulette_on_fitness_can_select_parents() -> None:
    # The selection of the genetic algorithm of 2006: in proportion to 1/(cost + 1).
    process = generational(2, select=lambda costs, count, rng: roulette(1 / (costs + 1), count, rng), elite=1)
    evolve(process, MaxSteps(60))
    assert process.cost <= 4


Order = tuple[tuple[int, ...], int, float]


def test_orders_with_operator_and_rate_as_genes_can_be_searched() -> None:
    # The genetic algorithm of 2012: order-based crossover at 0.7, then a mutation whose kind and rate the individual
    # carries in two genes, each changed with probability 0.1; population 10, tournaments of two, replace worst.
    size = 7
    price = np.random.default_rng(4).random((size, size))

    def order_cross(parents: Sequence[Order], rng: np.random.Generator) -> Order:
        (first, kind, rate), (second, _, _) = parents
        start, end = sorted(rng.integers(size + 1, size=2))
        middle = first[start:end]
        rest = [item for item in [*second[end:], *second[:end]] if item not in middle]
        return (*rest[size - end :], *middle, *rest[: size - end]), kind, rate

    def mutate(parents: Sequence[Order], rng: np.random.Generator) -> Order:
        found, kind, rate = parents[0]
        kind = int(rng.integers(3)) if rng.random() < 0.1 else kind
        rate = float(rng.random()) if rng.random() < 0.1 else rate
        order = list(found)
        if rng.random() < rate:
            one, other = sorted(rng.integers(size, size=2))
            if kind == 0:
                order[one], order[other] = order[other], order[one]
            elif kind == 1:
                order.insert(one, order.pop(other))
            else:
                order[one : other + 1] = order[one : other + 1][::-1]
        return tuple(order), kind, rate

    def cost(order: Sequence[int]) -> float:
        return float(sum(price[a, b] for a, b in itertools.combinations(order, 2)))

    def make() -> SteadyState[Order]:
        rng = np.random.default_rng(1)
        return SteadyState(
            [(tuple(rng.permutation(size).tolist()), int(rng.integers(3)), 0.5) for _ in range(10)],
            lambda orders: [cost(order) for order, _, _ in orders],
            [Operator("order, then a mutation", in_turn(sometimes(order_cross, 0.7), mutate), parents=2)],
            rng=np.random.default_rng(2),
            births=10,
            key=lambda individual: bytes(individual[0]),
            distinct=True,
            encode=lambda individual: np.array([*individual[0], *individual[1:]]),
            decode=lambda array: (tuple(array[:size].astype(int).tolist()), int(array[size]), float(array[size + 1])),
        )

    process, other = make(), make()
    evolve(process, MaxSteps(300))
    assert sorted(process.answer()[0]) == list(range(size))
    assert process.cost == min(cost(order) for order in itertools.permutations(range(size)))
    other.load(process.save())
    assert other.members == process.members


def _first(parents: Sequence[float], _rng: np.random.Generator) -> float:
    return parents[0]


def _numbers(operators: list[Operator[float]], costs: Sequence[float] = (1.0, 2.0)) -> Generational[float]:
    return Generational([1.0, 2.0], lambda numbers: costs, operators, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: generational(1, elite=0, births=15), "elite is 0 and 15 children are born, but the population has 16"),
        (lambda: generational(1, births=0), "births is 0; it must be a whole number of at least 1"),
        (lambda: generational(1, generations=-1), "generations is -1"),
        (lambda: steady(1, brood=0), "brood is 0"),
        (lambda: next(generational(1, cost=lambda bits: math.nan).epochs()), "evaluate gave a cost that is NaN"),
        (lambda: Operator("x", flip, parents=0), "parents is 0"),
        (lambda: Operator("x", flip, times=-1), "times is -1; it must be a finite number of at least 0"),
        (lambda: next(_numbers([Operator("x", _first)], costs=[]).epochs()), "evaluate gave 0 costs for 2 individuals"),
        (lambda: _numbers([Operator("x", _first)] * 2), "two operators have the same name"),
        (lambda: _numbers([Operator("x", _first, times=0.5)]), "times of x is 0.5; without births it must be whole"),
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
