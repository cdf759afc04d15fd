"""Operators make children by plain functions; selection draws with the probabilities it should, or refuses to."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.evolution.variation import Floats, Ints, Operator, proportions, replace_worst, tournament, uniform


def join(parents: Sequence[str], _rng: np.random.Generator) -> str:
    return "".join(parents)


RNG = np.random.default_rng(0)


def test_an_operator_gives_its_children_in_a_list() -> None:
    assert Operator("join", join, parents=2).apply(["a", "b"], RNG) == ["ab"]
    twins: Operator[str] = Operator("twins", lambda parents, rng: [*parents], parents=2, children=2)
    assert twins.apply(["a", "b"], RNG) == ["a", "b"]
    with pytest.raises(ValueError, match="the operator twins made 3 children instead of 2"):
        twins.apply(["a", "b", "c"], RNG)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [1.0, float("nan")]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        proportions(weights)


DRAWS = 40_000
COSTS = st.lists(st.floats(-1e6, 1e6) | st.just(math.inf), min_size=1, max_size=30)


def fits(drawn: Ints, shares: Floats) -> bool:
    """Whether what was drawn has the frequencies that the shares ask for."""
    counts = np.bincount(drawn, minlength=len(shares))
    some = shares > 0
    return not counts[~some].any() and chisquare(counts[some], shares[some] * len(drawn)).pvalue > 1e-3


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_tournament_puts_the_pressure_its_size_says(size: int) -> None:
    costs = np.array([3.0, math.inf, 1.0, 2.0, 5.0])
    n = len(costs)
    rank = np.argsort(np.argsort(costs))
    # The winner has rank r or worse if all who take part have.
    shares = ((n - rank) / n) ** size - ((n - rank - 1) / n) ** size
    assert fits(tournament(costs, DRAWS, np.random.default_rng(size), size), shares)


def test_uniform_does_not_look_at_costs() -> None:
    rng = np.random.default_rng(3)
    assert fits(np.concatenate([uniform([1.0, 9.0, math.inf], 2, rng) for _ in range(4000)]), np.full(3, 1 / 3))


@given(st.integers(1, 10), st.integers(0, 15), st.integers(0, 2**32))
def test_uniform_repeats_nobody_while_there_are_enough(size: int, count: int, seed: int) -> None:
    drawn = uniform(np.zeros(size), count, np.random.default_rng(seed))
    assert len(drawn) == count
    assert len(set(drawn)) == count or count > size


@given(COSTS, st.floats(-2e6, 2e6))
def test_only_the_costliest_gives_way_and_only_to_a_cheaper_one(costs: list[float], newcomer: float) -> None:
    place = replace_worst(costs, newcomer)
    assert (place is None) == (newcomer >= max(costs))
    assert place is None or costs[place] == max(costs)


def test_costs_that_are_nan_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="costs must not contain NaN"):
        tournament([1.0, math.nan], 1, rng)
    with pytest.raises(ValueError, match="size is 0; it must be a whole number of at least 1"):
        tournament([1.0], 1, rng, 0)
