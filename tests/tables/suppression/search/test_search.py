"""Our own search as a process: it never gets worse, and goes on from what it has kept."""

import numpy as np
import pytest

from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.protectors import protector_of
from discreet.tables.suppression.search.search import Search, Searching
from tables.suppression.plain_protector import exposed, hopeless, unsafe_table


def begun(problem: Problem) -> Searching:
    return Search().begin(problem, protector_of(problem), 1)


@pytest.mark.parametrize("sizes", [[5, 4], [3, 3, 2]], ids=["plane", "cube"])
@pytest.mark.parametrize("seed", range(3))
def test_it_never_gets_worse_and_goes_on_from_what_it_has_kept(sizes: list[int], seed: int) -> None:
    problem = problem_of(unsafe_table(np.random.default_rng(seed), sizes))
    lost = hopeless(problem)
    process = begun(problem)
    costs = []
    for _ in range(8):
        process.advance()
        costs.append(process.cost)
    assert costs == sorted(costs, reverse=True)
    assert exposed(problem, process.answer()) <= lost
    again = begun(problem)
    again.load(process.save())
    assert again.cost == process.cost
    assert np.array_equal(again.answer(), process.answer())
    for _ in range(4):
        if again.finished:
            break
        again.advance()
    assert again.cost <= process.cost
    assert again.cost == pytest.approx(problem.cost(again.answer()))
    assert exposed(problem, again.answer()) <= lost
