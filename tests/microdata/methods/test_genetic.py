"""The genetic algorithm of 2006 keeps its promises on any data and shows what its paper shows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.examples.companies import sme
from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.partitions.mdav import mdav
from discreet.microdata.method import Run, split_large
from discreet.microdata.methods.genetic import Genetic, Population

OPTIMUM = 14.8273  # of the eleven companies at k = 3, by enumeration


def standardised(values: Floats) -> Floats:
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def uniform(n: int, seed: int) -> Floats:
    """Random data as the paper made them."""
    return standardised(np.random.default_rng(seed).uniform(-10_000, 10_000, (n, 2)))


def evolved(method: Genetic, points: Floats, k: int, seed: int = 0, start: Ints | None = None) -> Population:
    process = Population(method, points, k, Run(seed=seed, start=start))
    while not process.finished:
        next(process.epochs(), None)
    return process


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, int]:
    """Points and a k: scattered, crowded, all the same, or with one record far away; often barely 2k of them."""
    k = draw(st.integers(2, 6))
    n = draw(st.one_of(st.integers(2 * k, 2 * k + 2), st.integers(2 * k, 60)))
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["scattered", "crowded", "constant", "outlier"]))
    points = rng.integers(0, 3, (n, d)).astype(np.float64) if kind == "crowded" else rng.normal(size=(n, d))
    if kind == "constant":
        points[:] = points[0]
    if kind == "outlier":
        points[rng.integers(n)] *= 1e8
    return points, k


@given(cases(), st.floats(0, 1), st.floats(0, 1), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=30)
def test_the_answer_is_a_k_partition_that_costs_what_it_says(
    case: tuple[Floats, int], crossover: float, mutation: float, elite: bool, seed: int
) -> None:
    points, k = case
    before = points.copy()
    method = Genetic(population=9, crossover=crossover, mutation=mutation, generations=40, elite=elite)
    process = evolved(method, points, k, seed)
    labels = process.answer()
    assert labels.dtype == np.int64
    assert labels.shape == (len(points),)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert process.cost == pytest.approx(within_sse(points, labels), rel=1e-9, abs=1e-12)
    assert process.done == 40
    assert 0 <= process.converged <= 40
    np.testing.assert_array_equal(points, before)


@given(cases(), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=25)
def test_the_answer_is_never_worse_than_the_start(case: tuple[Floats, int], elite: bool, seed: int) -> None:
    points, k = case
    start = mdav(points, k, False, lambda _: None)
    process = evolved(Genetic(population=5, generations=20, elite=elite), points, k, seed, start)
    assert within_sse(points, process.answer()) <= within_sse(points, start) * (1 + 1e-12)


@given(st.lists(st.integers(2, 20), min_size=1, max_size=8), st.integers(0, 2**32))
def test_a_start_with_large_groups_is_cut(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    chromosome = split_large(labels, 2)
    parts = np.bincount(chromosome)
    assert parts.min() >= 2
    assert parts.max() <= 3
    assert all(len(np.unique(labels[chromosome == part])) == 1 for part in range(len(parts)))


def test_a_start_that_is_a_chromosome_stays_what_it_is() -> None:
    labels = np.array([1, 0, 2, 1, 0, 2, 1, 0, 2, 2])
    np.testing.assert_array_equal(split_large(labels, 3), labels)


def test_the_same_seed_gives_the_same_answer_in_any_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    points = uniform(35, 1)
    one = evolved(Genetic(generations=500), points, 3, seed=4)
    monkeypatch.setattr("discreet.microdata.methods.genetic.EPOCH_GENES", 35 * 100 * 7)
    two = evolved(Genetic(generations=500), points, 3, seed=4)
    np.testing.assert_array_equal(one.answer(), two.answer())
    assert (one.cost, one.converged) == (two.cost, two.converged)
    assert evolved(Genetic(generations=500), points, 3, seed=5).cost != one.cost


def test_a_saved_search_goes_on_as_if_it_had_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.microdata.methods.genetic.EPOCH_GENES", 20 * 100 * 50)
    points = uniform(20, 2)
    process = Population(Genetic(generations=300), points, 3, Run(seed=1))
    next(process.epochs(), None)
    kept = process.save()
    answer = process.answer()
    while not process.finished:
        next(process.epochs(), None)
    resumed = Population(Genetic(generations=300), points, 3, Run(seed=9))
    resumed.load(kept)
    assert resumed.done == 50
    np.testing.assert_array_equal(resumed.answer(), answer)
    while not resumed.finished:
        next(resumed.epochs(), None)
    assert resumed.cost == process.cost
    np.testing.assert_array_equal(resumed.answer(), process.answer())


def test_many_records_need_no_table_of_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    points = uniform(30, 3)
    expected = evolved(Genetic(generations=100), points, 3)
    monkeypatch.setattr("discreet.microdata.methods.genetic.MOST_TABLE_RECORDS", 10)
    assert evolved(Genetic(generations=100), points, 3).cost == expected.cost


def test_the_optimum_of_the_companies_of_the_chapter_is_found() -> None:
    points = standardised(sme().drop("company").to_numpy().astype(np.float64))
    costs = np.array([evolved(Genetic(generations=1000), points, 3, seed).cost for seed in range(100)])
    assert costs.min() == pytest.approx(OPTIMUM, abs=5e-5)
    assert (costs < OPTIMUM + 1e-4).sum() >= 90


@pytest.mark.parametrize(("n", "generations"), [(20, 10_000), (35, 10_000), (50, 100_000)])  # Table II
def test_on_small_data_it_beats_mdav(n: int, generations: int) -> None:
    points = uniform(n, seed=1)
    rival = within_sse(points, mdav(points, 3, False, lambda _: None))
    assert evolved(Genetic(generations=generations), points, 3).cost < rival


def test_on_a_hundred_records_it_does_not() -> None:
    points = uniform(100, 1)
    assert evolved(Genetic(), points, 3).cost > 2 * within_sse(points, mdav(points, 3, False, lambda _: None))


def test_mutation_helps_at_a_low_rate_and_elites_are_needed() -> None:
    points = uniform(35, 1)
    low, none, high = (evolved(Genetic(mutation=rate), points, 3).cost for rate in (0.1, 0.0, 0.4))
    assert low < 0.5 * min(none, high)
    assert low < 0.5 * evolved(Genetic(elite=False), points, 3).cost


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"population": 1}, "population must be at least 2, not 1"),
        ({"population": 2.5}, "population must be a whole number"),
        ({"generations": 0}, "generations must be at least 1, not 0"),
        ({"crossover": 1.5}, "crossover is 1.5; it must be a number from 0 to 1"),
        ({"mutation": -0.1}, "mutation is -0.1; it must be a number from 0 to 1"),
        ({"mutation": float("nan")}, "mutation is nan"),
        ({"mutation": "low"}, "mutation is 'low'"),
        ({"penalty": 0.0}, "penalty is 0.0; it must be a number from 1e-09 to 1"),
        ({"elite": 1}, "elite is 1; it must be True or False"),
    ],
)
def test_parameters_are_checked_when_made(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Genetic(**params)
