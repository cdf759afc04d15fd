"""EGMAT makes groups of k in any number of domes, and its genetic steps never raise the SSE."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.kernels.arrays import Floats
from discreet.kernels.partitions.groups import within_sse
from discreet.microdata.method import Run
from discreet.microdata.methods.domes import Domes
from discreet.microdata.methods.mdav import Mdav


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, int]:
    """Points and a k: scattered, crowded, all the same, or with one record far away; often barely 2k of them."""
    k = draw(st.integers(2, 7))
    n = draw(st.one_of(st.integers(2 * k, 2 * k + 2), st.integers(2 * k, 150)))
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["scattered", "crowded", "constant", "outlier"]))
    points = rng.integers(0, 3, (n, d)).astype(np.float64) if kind == "crowded" else rng.normal(size=(n, d))
    if kind == "constant":
        points[:] = points[0]
    if kind == "outlier":
        points[rng.integers(n)] *= 1e8
    return points, k


@given(cases(), st.integers(0, 200), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
@settings(max_examples=40)
def test_groups_have_exactly_k_records_but_for_the_last(
    case: tuple[Floats, int], number: int, crossover: float, mutation: float, seed: int
) -> None:
    points, k = case
    before = points.copy()
    method = Domes(number=number, crossover=crossover, mutation=mutation, epochs=20, patience=5)
    labels = method.assign(points, k, Run(seed=seed))
    assert labels.dtype == np.int64
    assert labels.shape == (len(points),)
    sizes = np.bincount(labels)
    assert (sizes[:-1] == k).all()
    assert sizes[-1] == k + len(points) % k
    np.testing.assert_array_equal(points, before)


@given(cases(), st.integers(0, 2**32))
@settings(max_examples=25)
def test_more_epochs_never_cost_more(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    # With one dome the epochs of a longer run begin with those of a shorter one.
    costs = [
        within_sse(points, Domes(number=1, epochs=epochs, patience=epochs).assign(points, k, Run(seed=seed)))
        for epochs in (1, 2, 5, 20)
    ]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(costs))


def test_without_genetic_steps_the_groups_stay_in_their_domes() -> None:
    points = np.random.default_rng(1).normal(size=(120, 2))
    homes = Mdav().assign(points, 12, Run())
    labels = Domes(number=10, crossover=0.0, mutation=0.0).assign(points, 3, Run())
    assert all(len(set(homes[labels == group])) == 1 for group in range(40))


def test_as_many_domes_as_groups_begin_with_the_groups_of_mdav() -> None:
    points = np.random.default_rng(2).normal(size=(90, 3))
    start = Mdav().assign(points, 3, Run())
    np.testing.assert_array_equal(Domes(number=30, crossover=0.0, mutation=0.0).assign(points, 3, Run()), start)
    assert within_sse(points, Domes(number=30).assign(points, 3, Run())) < within_sse(points, start)


def test_the_same_seed_gives_the_same_groups() -> None:
    points = np.random.default_rng(3).normal(size=(200, 3))
    one, two, other = (Domes(epochs=50).assign(points, 4, Run(seed=seed)) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize("k", [3, 5])
def test_on_clustered_data_it_loses_less_than_mdav(k: int) -> None:
    rng = np.random.default_rng(4)
    points = 5 * rng.normal(size=(60, 4))[rng.integers(0, 60, 600)] + rng.normal(size=(600, 4))
    costs = [within_sse(points, Domes().assign(points, k, Run(seed=seed))) for seed in range(3)]
    assert max(costs) < within_sse(points, Mdav().assign(points, k, Run()))


def test_progress_rises_to_one() -> None:
    reports: list[float] = []
    Domes().assign(np.random.default_rng(5).normal(size=(300, 2)), 3, Run(progress=reports.append))
    assert reports == sorted(reports)
    assert reports[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"number": -1}, "number must be at least 0, not -1"),
        ({"crossover": 2}, "crossover is 2; it must be a number from 0 to 1"),
        ({"mutation": float("inf")}, "mutation is inf; it must be a number from 0 to 1"),
        ({"epochs": 1.5}, "epochs must be a whole number of at least 1"),
        ({"patience": 0}, "patience must be at least 1, not 0"),
    ],
)
def test_parameters_are_checked_when_made(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Domes(**params)
