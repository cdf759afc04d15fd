"""The two-step method is never worse than its heuristic, at any moment, and as good as its paper on its data."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import methods as registry
from discreet.errors import InputError
from discreet.kernels.arrays import Floats
from discreet.kernels.partitions.groups import total_sse, within_sse
from discreet.microdata.method import Construction, Run
from discreet.microdata.methods.domes import Domes
from discreet.microdata.methods.md import Md
from discreet.microdata.methods.mdav import Mdav
from discreet.microdata.methods.two_step import WINDOW_MACRO_GROUPS, MacroGroups, TwoStep, macro_groups

HEURISTICS: dict[str, Construction] = {"mdav": Mdav(), "md": Md(), "domes": Domes()}


def begun(points: Floats, k: int, run: Run | None = None, **params: Any) -> MacroGroups:
    process = TwoStep(**{"generations": 30, **params}).search(points, k, run or Run())
    assert isinstance(process, MacroGroups)
    return process


def searched(points: Floats, k: int, run: Run | None = None, **params: Any) -> MacroGroups:
    process = begun(points, k, run, **params)
    while not process.finished:
        next(process.epochs(), None)
    return process


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, int]:
    """Points and a k: scattered, crowded, all the same, or with one record far away; often barely 2k of them."""
    k = draw(st.integers(2, 6))
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


@given(cases(), st.sampled_from(list(HEURISTICS)), st.integers(2, 9), st.integers(0, 2**32))
@settings(max_examples=30)
def test_it_is_never_worse_than_the_heuristic(case: tuple[Floats, int], heuristic: str, width: int, seed: int) -> None:
    points, k = case
    before = points.copy()
    rival = within_sse(points, HEURISTICS[heuristic].assign(points, k, Run(seed=seed)))
    process = begun(points, k, Run(seed=seed), heuristic=heuristic, K=width * k)
    cost = np.inf
    while True:
        labels = process.answer()
        sizes = np.bincount(labels)
        assert labels.dtype == np.int64
        assert labels.shape == (len(points),)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1
        assert process.cost <= cost
        assert process.cost == pytest.approx(within_sse(points, labels), rel=1e-9, abs=1e-12)
        assert within_sse(points, labels) <= rival * (1 + 1e-12)
        if process.finished:
            break
        cost = process.cost
        next(process.epochs(), None)
    np.testing.assert_array_equal(points, before)


@given(cases(), st.integers(0, 2**32))
@settings(max_examples=30)
def test_it_is_never_worse_than_the_start(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    start = np.random.default_rng(seed).permutation(np.minimum(np.arange(len(points)) // k, len(points) // k - 1))
    process = searched(points, k, Run(seed=seed, start=start), generations=3)
    assert within_sse(points, process.answer()) <= within_sse(points, start) * (1 + 1e-12)
    best = process.answer()
    again = searched(points, k, Run(seed=seed + 1, start=best), generations=3)
    assert within_sse(points, again.answer()) <= within_sse(points, best) * (1 + 1e-12)


@pytest.mark.parametrize(("n", "k", "width"), [(360, 3, 6), (1000, 4, 5), (71, 5, 3)])
def test_macro_groups_are_whole_groups_put_together_by_their_centroids(n: int, k: int, width: int) -> None:
    points = np.random.default_rng(n).normal(size=(n, 3))
    labels = Mdav().assign(points, k, Run())
    parts = macro_groups("mdav", points, labels, width, Run())
    assert sorted(np.concatenate(parts)) == list(range(n))
    groups = [set(labels[part]) for part in parts]
    assert sum(len(one) for one in groups) == labels.max() + 1  # no group is in two
    centroids = np.array([points[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
    homes = Mdav().assign(centroids, width, Run())
    assert groups == [set(np.flatnonzero(homes == home)) for home in range(homes.max() + 1)]
    assert all(len(one) == width for one in groups[:-1])


def test_the_answer_does_not_depend_on_threads() -> None:
    points = np.random.default_rng(1).normal(size=(400, 3))
    one = searched(points, 3, Run(seed=7, threads=1))
    two = searched(points, 3, Run(seed=7, threads=2))
    np.testing.assert_array_equal(one.answer(), two.answer())
    assert one.cost == two.cost
    assert searched(points, 3, Run(seed=8)).cost != one.cost


def test_a_saved_search_goes_on_as_if_it_had_not_stopped() -> None:
    points = np.random.default_rng(2).normal(size=(600, 2))
    process = begun(points, 3, Run(seed=3), generations=1200)
    for _ in range(4):  # in the middle of the second macro-groups
        next(process.epochs(), None)
    kept, answer, cost = process.save(), process.answer(), process.cost
    while not process.finished:
        next(process.epochs(), None)
    resumed = begun(points, 3, Run(seed=3), generations=1200)
    resumed.load(kept)
    assert resumed.cost == cost
    np.testing.assert_array_equal(resumed.answer(), answer)
    while not resumed.finished:
        next(resumed.epochs(), None)
    assert resumed.cost == process.cost
    np.testing.assert_array_equal(resumed.answer(), process.answer())


@pytest.mark.parametrize(
    "inner", ["discreet.microdata.methods.tour:Tour", "discreet.microdata.methods.genetic:Genetic"]
)
def test_any_inner_method_will_do(monkeypatch: pytest.MonkeyPatch, inner: str) -> None:
    """One that is no search and knows nothing of a start; one that would go on for long."""
    monkeypatch.setitem(registry.FAMILIES["partition"], "memetic", inner)
    points = np.random.default_rng(3).normal(size=(500, 3))
    rival = Mdav().assign(points, 4, Run())
    process = begun(points, 4, inner="memetic", steps=2)
    epochs = 0
    while not process.finished:
        next(process.epochs(), None)
        epochs += 1
    macros = len(macro_groups("mdav", points, rival, 6, Run()))
    assert epochs <= 2 * -(-macros // WINDOW_MACRO_GROUPS)
    assert np.bincount(process.answer()).min() >= 4
    assert process.cost == pytest.approx(within_sse(points, process.answer()))
    assert process.cost <= within_sse(points, rival) * (1 + 1e-12)


def read(path: Path) -> Floats:
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    values = np.array(rows, dtype=np.float64)
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def test_on_census_it_loses_no_more_than_published(reference: Callable[[str], Path]) -> None:
    points = read(reference("census.csv"))
    process = searched(points, 3, K=18, generations=4000)
    assert 100 * process.cost / total_sse(points) <= 5.46


def test_a_macro_group_must_be_made_of_whole_groups() -> None:
    points = np.zeros((30, 1))
    with pytest.raises(InputError, match="K is 10; it must be a multiple of k = 3 from 6 on, or 0 for 6k"):
        TwoStep(K=10).search(points, 3, Run())
    with pytest.raises(InputError, match="K is 3"):
        TwoStep(K=3).search(points, 3, Run())


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"heuristic": "vmdav"}, "heuristic is 'vmdav'; it must be one of 'mdav', 'md', 'domes'"),
        ({"K": -3}, "K must be at least 0, not -3"),
        ({"inner": "mdav"}, "inner is 'mdav'; it must be one of"),
        ({"generations": 0}, "generations must be at least 1, not 0"),
        ({"steps": 0}, "steps must be at least 1, not 0"),
    ],
)
def test_parameters_are_checked_when_made(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        TwoStep(**params)
