"""Our own search as a process: it never gets worse, and a resumed search is the same search."""

import numpy as np
import pytest

from discreet.evolution.process import Search as Process
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.search.search import Search
from tables.suppression.plain_protector import exposed, hopeless, unsafe_table


def after(problem: Problem, epochs: int, state: object = None) -> Process[np.ndarray]:
    search = Search().search(problem, 1)
    if state is not None:
        search.load(state)  # type: ignore[arg-type]
    for _ in range(epochs):
        if not search.finished:
            next(search.epochs())
    return search


@pytest.mark.parametrize("sizes", [[5, 4], [12, 9], [3, 3, 2], [5, 4, 3]], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_it_never_gets_worse_and_stays_safe(sizes: list[int], seed: int) -> None:
    problem = problem_of(unsafe_table(np.random.default_rng(seed), sizes))
    search, costs = after(problem, 0), []
    for _, _ in zip(range(12), search.epochs(), strict=False):
        costs.append(search.cost)
        if search.finished:
            break
    assert costs == sorted(costs, reverse=True)
    assert search.cost == pytest.approx(problem.cost(search.answer()))
    assert exposed(problem, search.answer()) <= hopeless(problem)
    assert search.bound is None or search.bound <= search.cost


@pytest.mark.parametrize("sizes", [[12, 9], [5, 4, 3]], ids=["network", "programs"])
def test_a_resumed_search_is_the_same_search(sizes: list[int]) -> None:
    problem = problem_of(unsafe_table(np.random.default_rng(3), sizes))
    whole = after(problem, 130)
    for stop in (1, 4, 30, 77, 120):
        broken = after(problem, stop)
        resumed = after(problem, 0, broken.save())
        assert resumed.cost == broken.cost
        assert np.array_equal(resumed.answer(), broken.answer())
        for _ in range(130 - stop):
            if not resumed.finished:
                next(resumed.epochs())
        assert (resumed.cost, resumed.bound, resumed.finished) == (whole.cost, whole.bound, whole.finished)
        assert np.array_equal(resumed.answer(), whole.answer())
        one, other = resumed.save(), whole.save()
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert np.array_equal(value, other[key]), key
