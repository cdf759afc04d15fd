"""The best patterns stay, each of another cost, and come back as they were."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.kernels.random import seeded
from discreet.tables.suppression.problem import problem_of
from discreet.tables.suppression.search.elites import Elites
from tables.suppression.plain_protector import unsafe_table


@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_of_other_costs_stay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = problem_of(unsafe_table(rng, [5, 4, 3]))
    elites, added = Elites(problem, 4), []
    for _ in range(30):
        pattern = problem.primary | (rng.random(len(problem)) < rng.random())
        added.append(problem.cost(pattern))
        kept = {problem.cost(one) for one in np.asarray(elites.save()["patterns"])}
        assert elites.add(pattern) == (added[-1] not in kept and (len(kept) < 4 or added[-1] < max(kept)))
    costs = [problem.cost(one) for one in np.asarray(elites.save()["patterns"])]
    assert costs == sorted(set(added))[:4]


def test_pairs_are_of_two_and_all_come_up() -> None:
    rng = np.random.default_rng(1)
    problem = problem_of(unsafe_table(rng, [5, 4, 3]))
    elites, random = Elites(problem, 4), seeded(1, 0)
    while len(elites) < 4:
        elites.add(problem.primary | (rng.random(len(problem)) < 0.5))
    again = Elites(problem, 4)
    again.load(elites.save())
    seen = set()
    for _ in range(100):
        costs = [problem.cost(one) for one in again.pair(random)]
        assert costs[0] != costs[1]
        seen.add(tuple(costs))
    assert len(seen) == 12
