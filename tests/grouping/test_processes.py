"""The searches of groupings as processes: what they keep, what they go on from, and what chance does to them."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.evolution.population import Birth, Survival
from discreet.evolution.process import Process
from discreet.grouping.candidates import (
    MUTATIONS,
    Candidate,
    bell,
    candidate,
    canonical,
    change_k,
    clone_key,
    cross,
    every_grouping,
)
from discreet.grouping.evaluator import Evaluator
from discreet.grouping.gomm import DGomm, Gomm
from discreet.grouping.objective import Objective, Weights
from discreet.grouping.pareto import Pareto
from discreet.grouping.parts import Inner
from discreet.grouping.search import Enumeration
from discreet.measures.choices import Choices
from grouping.spaces import space_of

SMALL: dict[str, Any] = {"population": 20, "generations": 30, "crossovers": 3, "mutations": 2}
D = 7


def objective(ks: tuple[int, ...] = (4,)) -> Objective:
    """A small data set at some k."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3)) @ rng.normal(size=(3, D)) + 0.4 * rng.normal(size=(50, D)) + 4.0
    space = space_of(pl.DataFrame({f"a{j}": values[:, j] for j in range(D)}))
    return Objective([Evaluator(space, k, Inner.named("mdav", {}), Choices()) for k in ks], Weights())


def begun(method: Gomm, ks: tuple[int, ...] = (4,), seed: int = 1, listener: Any = None) -> Process[Candidate]:
    """A search from random groupings."""
    return method.search(objective(ks), [], seed, [] if listener is None else [listener])


def enumerated() -> Process[Candidate]:
    """All groupings."""
    return Enumeration(objective(), [])


@pytest.mark.parametrize(
    "begin",
    [lambda: begun(Gomm(**SMALL)), lambda: begun(DGomm(**SMALL)), lambda: begun(Pareto(**SMALL), (3, 6)), enumerated],
)
def test_a_search_goes_on_from_where_it_was_kept(begin: Callable[[], Process[Candidate]]) -> None:
    whole, first, second = begin(), begin(), begin()
    for _ in range(4):
        next(whole.epochs())
        next(first.epochs())
    second.load(first.save())
    for _ in range(4):
        next(whole.epochs())
        next(second.epochs())
    assert clone_key(second.answer()) == clone_key(whole.answer())
    assert second.finished == whole.finished


def test_an_operator_does_the_same_whether_or_not_another_is_at_work() -> None:
    def births(**said: Any) -> dict[str, list[tuple[tuple[int, ...], float]]]:
        told: dict[str, list[tuple[tuple[int, ...], float]]] = {}

        def listen(event: Birth | Survival) -> None:
            if isinstance(event, Birth):
                told.setdefault(event.operator, []).append((event.parents, event.cost))

        process = begun(Gomm(**(SMALL | said)), listener=listen)
        next(process.epochs())
        next(process.epochs())
        return told

    usual, more = births(), births(crossovers=9)
    assert len(more["crossover"]) == 3 * len(usual["crossover"])
    for name in MUTATIONS:
        assert usual[name] == more[name]


def test_d_gomm_goes_the_way_of_gomm_until_a_dropped_operator_would_have_mattered() -> None:
    full, short = begun(Gomm(**SMALL)), begun(DGomm(**SMALL, patience=30))
    while not full.finished:
        next(full.epochs())
    while not short.finished:
        next(short.epochs())
    assert clone_key(full.answer()) == clone_key(short.answer())


def test_the_best_of_all_groupings_is_found_by_looking_at_all() -> None:
    process = enumerated()
    costs = []
    while not process.finished:
        next(process.epochs())
        costs.append(process.cost)
    assert costs == sorted(costs, reverse=True)
    judge = objective()
    every = [candidate(labels) for labels in every_grouping(D)]
    assert len(every) == bell(D)
    best = min(zip(judge.evaluate(every), map(clone_key, every), strict=True))
    assert process.cost == pytest.approx(best[0])
    assert clone_key(process.answer()) == best[1]
    search = begun(Gomm(population=60, generations=40, crossovers=10, mutations=4))
    while not search.finished:
        next(search.epochs())
    assert search.cost == pytest.approx(best[0])


def test_the_front_grows_and_the_population_is_its_own() -> None:
    process = begun(Pareto(**SMALL), (3, 6))
    assert process.cost == 100.0
    costs = []
    for _ in range(10):
        next(process.epochs())
        costs.append(process.cost)
    assert costs == sorted(costs, reverse=True)
    members: Any = process
    keys = [clone_key(member.individual) for member in members.members]
    assert len(keys) == 20
    assert len(set(keys)) == 20  # no clones


def test_operators_keep_k_or_change_it_alone() -> None:
    rng = np.random.default_rng(2)
    parents = [candidate(canonical([0, 0, 1, 2, 1]), 0), candidate(canonical([0, 1, 1, 1, 0]), 2)]
    for _ in range(30):
        assert [child[0] for child in cross(parents, rng)] == [2, 0]
        for mutation in MUTATIONS.values():
            assert mutation(parents[1:], rng)[0] == 2
        for parent, allowed in zip(parents, ({1}, {1}), strict=True):
            child = change_k(3)([parent], rng)
            assert child[0] in allowed
            assert (child[1:] == parent[1:]).all()


def test_clones_are_judged_once() -> None:
    judge = objective()
    one = candidate(canonical([0, 1, 0, 1, 2, 2, 0]))
    assert judge.evaluate([one, one.copy()]) == judge.evaluate([one])[:1] * 2
    assert judge.evaluations == 1


@pytest.mark.parametrize("copies", [0, 1, 3])
def test_clones_have_limited_room(copies: int) -> None:
    process: Any = begun(Gomm(**SMALL, copies=copies))
    for _ in range(25):
        next(process.epochs())
    counts = Counter(clone_key(member.individual) for member in process.members)
    assert sum(counts.values()) == 20
    assert max(counts.values()) <= copies or not copies
    if not copies:
        assert max(counts.values()) > 3
