"""RGMAT divides as its paper says, never raises the SSE on the way, and keeps the sizes on any data."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.kernels.arrays import Floats
from discreet.kernels.partitions import recursive as kernel
from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.random import seeded
from discreet.microdata.method import Run
from discreet.microdata.methods.recursive import Recursive

SEEDS = st.integers(0, 2**32)


def quick(**params: Any) -> Recursive:
    return Recursive(**{"epochs": 20, "patience": 5, **params})


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, int]:
    """Points and a k: scattered, crowded, all the same, or with one record far away; often barely 2k of them."""
    k = draw(st.integers(2, 7))
    n = draw(st.one_of(st.integers(2 * k, 2 * k + 2), st.integers(2 * k, 150)))
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(SEEDS))
    kind = draw(st.sampled_from(["scattered", "crowded", "constant", "outlier"]))
    points = rng.integers(0, 3, (n, d)).astype(np.float64) if kind == "crowded" else rng.normal(size=(n, d))
    if kind == "constant":
        points[:] = points[0]
    if kind == "outlier":
        points[rng.integers(n)] *= 1e8
    return points, k


@given(cases(), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
@settings(max_examples=40)
def test_groups_have_k_to_2k_less_1_records(
    case: tuple[Floats, int], crossover: float, mutation: float, seed: int
) -> None:
    points, k = case
    before = points.copy()
    labels = quick(crossover=crossover, mutation=mutation).assign(points, k, Run(seed=seed))
    assert labels.dtype == np.int64
    assert labels.shape == (len(points),)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    if len(points) % k == 0:
        assert sizes.max() == k
    np.testing.assert_array_equal(points, before)


@given(st.integers(2, 9), st.integers(0, 1000))
def test_the_left_size_is_the_largest_that_the_paper_allows(k: int, extra: int) -> None:
    n = 2 * k + extra
    left = kernel.left_size(n, k)
    size = n // 2
    while size % k or (size % 2 and n >= 4 * k):  # as printed, but for the loop that could end at 0
        size -= 1
    if k % 2:  # for even k the text is read as: of 2k, not of k alone
        assert left == size
    assert k <= left <= n // 2
    assert left % (2 * k if n >= 4 * k else k) == 0
    assert n - left >= k


@given(cases())
def test_a_dome_is_split_round_its_farthest_record(case: tuple[Floats, int]) -> None:
    points, k = case
    n = len(points)
    row, centroids = np.random.default_rng(n).permutation(n), np.zeros((2, points.shape[1]))
    middle = kernel.left_size(n, k)
    kernel.split(points, row, 0, middle, n, centroids)
    assert sorted(row) == list(range(n))
    far = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    assert far[row[0]] == pytest.approx(far.max(), rel=1e-9, abs=1e-12)
    near = ((points - points[row[0]]) ** 2).sum(axis=1)
    assert near[row[:middle]].max() <= near[row[middle:]].min()
    for part, centroid in zip((row[:middle], row[middle:]), centroids, strict=True):
        np.testing.assert_allclose(centroid, points[part].mean(axis=0), rtol=1e-9, atol=1e-9 * np.abs(points).max())


@given(cases(), SEEDS)
def test_a_swap_is_made_when_the_sse_falls_and_only_then(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    n = len(points)
    rng = np.random.default_rng(seed)
    row, middle = rng.permutation(n), kernel.left_size(n, k)
    labels = np.zeros(n, np.int64)
    labels[row[middle:]] = 1
    a, b = int(rng.integers(middle)), int(rng.integers(middle, n))
    swapped = labels.copy()
    swapped[[row[a], row[b]]] = [1, 0]
    before, after = within_sse(points, labels), within_sse(points, swapped)
    centroids = np.array([points[row[:middle]].mean(axis=0), points[row[middle:]].mean(axis=0)])
    old = row.copy()
    done = kernel.swap(points, row, a, b, centroids[0], middle, centroids[1], n - middle)
    if abs(after - before) > 1e-9 * max(before, 1e-300):
        assert done == (after < before)
    if done:
        old[a], old[b] = old[b], old[a]
    np.testing.assert_array_equal(row, old)
    scale = 1e-9 * max(np.abs(points).max(), 1e-9)
    np.testing.assert_allclose(centroids[0], points[row[:middle]].mean(axis=0), rtol=1e-9, atol=scale)
    np.testing.assert_allclose(centroids[1], points[row[middle:]].mean(axis=0), rtol=1e-9, atol=scale)


@given(cases(), SEEDS)
def test_crossover_and_mutation_never_raise_the_sse(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    n = len(points)
    row, centroids, state = np.arange(n), np.zeros((2, points.shape[1])), seeded(seed, 0)
    middle = kernel.left_size(n, k)
    kernel.split(points, row, 0, middle, n, centroids)
    sides = np.zeros(n, np.int64)
    sides[row[middle:]] = 1
    before = within_sse(points, sides)
    kernel.cross(points, row, 0, middle, n, 1.0, centroids, state)
    sides[row[:middle]], sides[row[middle:]] = 0, 1
    assert sorted(row) == list(range(n))
    assert within_sse(points, sides) <= before * (1 + 1e-9)
    labels = quick(mutation=0.0).assign(points, k, Run(seed=seed))
    migrated = labels.copy()
    kernel.migrate(points, k, np.arange(n), migrated, state)
    assert within_sse(points, migrated) <= within_sse(points, labels) * (1 + 1e-9)
    assert np.bincount(migrated).min() >= k
    assert np.bincount(migrated).max() <= 2 * k - 1


def test_a_record_migrates_to_the_leaf_where_it_belongs() -> None:
    points = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 1.0])[:, None]
    labels = np.array([0, 0, 0, 1, 1, 1, 1])
    kernel.migrate(points, 3, np.array([6]), labels, seeded(0, 0))
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_two_clusters_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(0, 1, (24, 2)), rng.normal(50, 1, (24, 2))])
    labels = Recursive().assign(points, 3, Run())
    assert not set(labels[:24]) & set(labels[24:])


def test_the_same_seed_gives_the_same_groups() -> None:
    points = np.random.default_rng(2).normal(size=(200, 3))
    one, two, other = (Recursive().assign(points, 4, Run(seed=seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_crossover_lowers_the_loss_and_so_does_patience() -> None:
    points = np.random.default_rng(3).normal(size=(500, 4))
    none, paper, default = (
        within_sse(points, method.assign(points, 3, Run()))
        for method in (Recursive(crossover=0.0), Recursive(crossover=1.0, patience=1), Recursive())
    )
    assert default < paper < none


def test_progress_rises_to_one() -> None:
    reports: list[float] = []
    Recursive().assign(np.random.default_rng(4).normal(size=(300, 2)), 3, Run(progress=reports.append))
    assert reports == sorted(reports)
    assert reports[-1] == 1.0


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"crossover": 1.5}, "crossover is 1.5; it must be a number from 0 to 1"),
        ({"mutation": -1}, "mutation is -1; it must be a number from 0 to 1"),
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"patience": 0}, "patience must be at least 1, not 0"),
    ],
)
def test_parameters_are_checked_when_made(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Recursive(**params)
