"""Each operator of the genetic algorithm does what the paper says, and an evaluation is the SSE."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.partitions import genetic
from discreet.kernels.random import seeded

NO_TABLE = np.empty((0, 0))
SEEDS = st.integers(0, 2**32)


def plain_sse(points: Floats, chromosome: Ints) -> float:
    groups = [points[chromosome == group] for group in np.unique(chromosome)]
    return float(sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups))


def evaluate(points: Floats, table: Floats, k: int, chromosome: Ints) -> float:
    groups = len(points) // k
    members, sizes = np.empty((groups, 2 * k - 1), np.int64), np.empty(groups, np.int64)
    return float(genetic.evaluate(points, table, k, chromosome, members, sizes))


@given(st.integers(2, 6), st.integers(0, 60), SEEDS)
def test_a_chromosome_drawn_is_a_candidate_for_the_optimum(k: int, extra: int, seed: int) -> None:
    chromosome = np.empty(2 * k + extra, np.int64)
    genetic.draw(chromosome, k, seeded(seed, 0))
    sizes = np.bincount(chromosome)
    assert len(sizes) == len(chromosome) // k  # every group below k is filled, so every allele is used
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_all_partitions_can_be_drawn() -> None:
    state = seeded(1, 0)
    chromosome, seen = np.empty(5, np.int64), set()
    for _ in range(2000):
        genetic.draw(chromosome, 2, state)
        seen.add(tuple(chromosome))
    assert len(seen) == 20  # two of five records have the one allele or the other


@given(st.integers(2, 4), st.integers(0, 15), st.integers(1, 4), SEEDS)
@settings(max_examples=60)
def test_an_evaluation_is_the_sse_of_a_k_partition_and_infinite_otherwise(
    k: int, extra: int, d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(2 * k + extra, d)) * 10.0 ** rng.integers(-3, 4)
    chromosome = rng.integers(0, len(points) // k, len(points))
    if rng.random() < 0.6:  # a valid one is rarely met by chance
        genetic.draw(chromosome, k, seeded(seed, 0))
    sizes = np.unique(chromosome, return_counts=True)[1]
    found = evaluate(points, genetic.tabulate(points), k, chromosome)
    if sizes.min() >= k and sizes.max() <= 2 * k - 1:
        assert found == pytest.approx(plain_sse(points, chromosome), rel=1e-9)
    else:
        assert found == np.inf
    assert evaluate(points, NO_TABLE, k, chromosome) == found


def test_an_allele_that_no_record_has_is_no_group() -> None:
    points = np.arange(10.0)[:, None]
    assert evaluate(points, NO_TABLE, 3, np.repeat([0, 2], 5)) == pytest.approx(20.0)


def test_crossover_exchanges_what_follows_one_point() -> None:
    state = seeded(2, 0)
    points = np.zeros(9, np.int64)
    for _ in range(4000):
        genes = np.repeat([[0], [1], [2]], 10, axis=1)
        sse = np.arange(3.0)
        genetic.cross(genes, sse, 1.0, state)
        point = int((genes[0] == 0).sum())
        assert genes[0].tolist() == [0] * point + [1] * (10 - point)
        assert genes[1].tolist() == [1] * point + [0] * (10 - point)
        assert genes[2].tolist() == [2] * 10  # nobody is left to cross with
        assert (sse[:2] < 0).all()
        assert sse[2] == 2.0
        points[point - 1] += 1
    assert ((points - 4000 / 9) ** 2 / (4000 / 9)).sum() < chi2.isf(1e-6, 8)


def test_crossover_happens_to_the_share_of_pairs_that_the_rate_says() -> None:
    genes = np.tile(np.repeat([[0], [1]], 4, axis=1), (5000, 1))
    genetic.cross(genes, np.zeros(10_000), 0.3, seeded(3, 0))
    assert (np.ptp(genes, axis=1) > 0).mean() == pytest.approx(0.3, abs=0.03)
    before = genes.copy()
    genetic.cross(genes, np.zeros(10_000), 0.0, seeded(3, 0))
    np.testing.assert_array_equal(genes, before)


@pytest.mark.parametrize("rate", [0.0, 1e-300, 0.1, 0.5, 1.0])
def test_every_gene_mutates_with_the_probability_of_the_rate(rate: float) -> None:
    genes = np.full((2000, 20), 4, np.int64)
    sse = np.zeros(2000)
    genetic.mutate(genes, sse, rate, 4, seeded(4, 0))  # 4 is no allele: each mutation can be seen
    mutated = genes < 4
    assert mutated.mean() == pytest.approx(rate, abs=0.02)
    np.testing.assert_array_equal(sse < 0, mutated.any(axis=1))
    assert genes.min() >= 0
    if rate >= 0.1:
        counts = np.bincount(genes[mutated], minlength=4)
        assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < chi2.isf(1e-6, 3)


@pytest.mark.parametrize("elite", [True, False])
def test_selection_is_in_proportion_to_the_fitness(elite: bool) -> None:
    sse = np.array([3.0, 1.0, np.inf, 0.0, 9.0])
    fitness = np.array([0.25, 0.5, 0.05, 1.0, 0.1])
    old = np.repeat(np.arange(5), 2).reshape(5, 2)
    new, new_sse = np.empty((5, 2), np.int64), np.empty(5)
    rates, state = genetic.Rates(0.0, 0.0, 0.05, elite), seeded(5, 0)
    counts = np.zeros(5)
    for _ in range(8000):
        genetic.select(old, sse, rates, np.empty(5), new, new_sse, state)
        np.testing.assert_array_equal(new_sse, sse[new[:, 0]])
        assert not elite or new[0, 0] == 3
        counts += np.bincount(new[elite:, 0], minlength=5)
    expected = counts.sum() * fitness / fitness.sum()
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 4)


@pytest.mark.parametrize("elite", [True, False])
def test_generations_in_pieces_are_the_same_generations(elite: bool) -> None:
    points = np.random.default_rng(6).normal(size=(20, 2))
    table, rates = genetic.tabulate(points), genetic.Rates(0.3, 0.1, 1e-4, elite)
    at_once = genetic.populate(points, table, 3, np.empty(0, np.int64), 30, seeded(6, 0))
    genetic.breed(points, table, 3, rates, 200, at_once)
    pieces = genetic.populate(points, NO_TABLE, 3, np.empty(0, np.int64), 30, seeded(6, 0))
    for count in (1, 2, 97, 100):
        genetic.breed(points, NO_TABLE, 3, rates, count, pieces)
    for one, other in zip(at_once, pieces, strict=True):
        np.testing.assert_array_equal(one, other)
    assert at_once.counts[0] == 200


def test_the_elite_never_gets_worse() -> None:
    points = np.random.default_rng(7).normal(size=(17, 2))
    rates = genetic.Rates(1.0, 1.0, 1e-4, True)
    state = genetic.populate(points, NO_TABLE, 3, np.empty(0, np.int64), 10, seeded(7, 0))
    for generation in range(1, 200):
        genetic.breed(points, NO_TABLE, 3, rates, 1, state)
        assert state.sse[generation % 2].min() == state.least[0]
