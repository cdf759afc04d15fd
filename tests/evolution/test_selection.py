"""Selection draws with the probabilities it should, and refuses what it cannot weigh."""

import math
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.evolution.variation import Floats, Ints, elite, replace_worst, roulette, tournament, uniform

DRAWS = 40_000
COSTS = st.lists(st.floats(-1e6, 1e6) | st.just(math.inf), min_size=1, max_size=30)


def fits(drawn: Ints, shares: Floats) -> bool:
    """Whether what was drawn has the frequencies that the shares ask for."""
    counts = np.bincount(drawn, minlength=len(shares))
    some = shares > 0
    return not counts[~some].any() and chisquare(counts[some], shares[some] * len(drawn)).pvalue > 1e-3


@pytest.mark.parametrize("fitness", [[1.0, 2.0, 3.0, 4.0], [0.0, 5.0, 0.0, 1.0, 0.0], [1e308] * 4, [5e-324, 1e-323]])
def test_roulette_draws_in_proportion_to_fitness(fitness: list[float]) -> None:
    scaled = np.array(fitness) / max(fitness)
    assert fits(roulette(fitness, DRAWS, np.random.default_rng(1)), scaled / scaled.sum())


def test_roulette_draws_all_alike_where_nobody_is_fit() -> None:
    assert fits(roulette([0.0] * 5, DRAWS, np.random.default_rng(2)), np.full(5, 0.2))


@given(st.lists(st.just(0.0) | st.floats(0, 1e300), min_size=1, max_size=20), st.integers(0, 2**32))
def test_roulette_never_draws_zero_beside_another(fitness: list[float], seed: int) -> None:
    drawn = roulette(fitness, 50, np.random.default_rng(seed))
    assert any(fitness) is False or all(fitness[place] > 0 for place in drawn)


@pytest.mark.parametrize(("number", "place"), [(0.0, 1), (1.0 - 2**-53, 3)])
def test_roulette_draws_zero_at_neither_end_of_the_wheel(number: float, place: int) -> None:
    rng = SimpleNamespace(random=lambda count: np.full(count, number))
    assert roulette([0.0, 1.0, 0.0, 0.3, 0.0], 2, cast(np.random.Generator, rng)).tolist() == [place] * 2


@pytest.mark.parametrize("fitness", [[1.0, -1e-9], [1.0, math.nan], [1.0, math.inf], [], [[1.0, 2.0]]])
def test_roulette_refuses_what_is_no_fitness(fitness: list[float]) -> None:
    with pytest.raises(ValueError, match="fitness must"):
        roulette(fitness, 1, np.random.default_rng(0))


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_tournament_puts_the_pressure_its_size_says(size: int) -> None:
    costs = np.array([3.0, math.inf, 1.0, 2.0, 5.0])
    n = len(costs)
    rank = np.argsort(np.argsort(costs))
    # The winner has rank r or worse if all who take part have.
    shares = ((n - rank) / n) ** size - ((n - rank - 1) / n) ** size
    assert fits(tournament(costs, DRAWS, size, np.random.default_rng(size)), shares)


def test_uniform_does_not_look_at_costs() -> None:
    rng = np.random.default_rng(3)
    assert fits(np.concatenate([uniform([1.0, 9.0, math.inf], 2, rng) for _ in range(4000)]), np.full(3, 1 / 3))


@given(st.integers(1, 10), st.integers(0, 15), st.integers(0, 2**32))
def test_uniform_repeats_nobody_while_there_are_enough(size: int, count: int, seed: int) -> None:
    drawn = uniform(np.zeros(size), count, np.random.default_rng(seed))
    assert len(drawn) == count
    assert len(set(drawn)) == count or count > size


@given(COSTS, st.integers(0, 40))
def test_the_elite_are_the_cheapest_and_first_come_first(costs: list[float], count: int) -> None:
    assert elite(costs, count).tolist() == sorted(range(len(costs)), key=lambda place: costs[place])[:count]


@given(COSTS, st.floats(-2e6, 2e6))
def test_only_the_dearest_gives_way_and_only_to_a_cheaper_one(costs: list[float], newcomer: float) -> None:
    place = replace_worst(costs, newcomer)
    assert (place is None) == (newcomer >= max(costs))
    assert place is None or costs[place] == max(costs)


def test_costs_that_are_nan_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="costs must not contain NaN"):
        tournament([1.0, math.nan], 1, 2, rng)
    with pytest.raises(ValueError, match="costs must not contain NaN"):
        elite([1.0, math.nan], 1)
    with pytest.raises(ValueError, match="size is 0; it must be a whole number of at least 1"):
        tournament([1.0], 1, 0, rng)
