"""Every method keeps its promise on any data: groups of at least k, and of at most 2k−1 where it says so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.kernels.partitions.groups import within_sse
from discreet.microdata.method import Construction, Run
from discreet.microdata.methods.md import Md
from discreet.microdata.methods.mdav import Mdav
from discreet.microdata.methods.mst import Mst
from discreet.microdata.methods.tour import Tour
from discreet.microdata.methods.univariate import Univariate
from discreet.microdata.methods.vmdav import Vmdav

AT_MOST_2K: list[Construction] = [
    Mdav(),
    Mdav(ending="chapter"),
    Md(),
    Mst(),
    Tour(order="curve"),
    Tour(order="nearest"),
    Tour(order="mdav"),
    Univariate(),
]
ANY_SIZE: list[Construction] = [Vmdav(), Vmdav(gamma=0.0), Vmdav(gamma=0.2), Vmdav(gamma=100.0)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, int]:
    """Points, crowded or scattered, from n = 2k up, and a k for them."""
    k = draw(st.integers(2, 7))
    n = draw(st.integers(2 * k, 120))
    d = draw(st.integers(1, 6))
    levels = draw(st.sampled_from([1, 2, 4, 0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    points = rng.integers(0, levels, (n, d)).astype(np.float64) if levels else rng.standard_cauchy((n, d))
    return points, k


@pytest.mark.parametrize("method", AT_MOST_2K + ANY_SIZE, ids=repr)
@given(case=cases())
@settings(max_examples=25, deadline=None)
def test_groups_have_the_sizes_promised(method: Construction, case: tuple[Floats, int]) -> None:
    points, k = case
    if isinstance(method, Univariate):
        points = np.ascontiguousarray(points[:, :1])
    before = points.copy()
    labels = method.assign(points, k, Run())
    assert labels.dtype == np.int64
    assert labels.shape == (len(points),)
    assert labels.min() == 0
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    if method in AT_MOST_2K:
        assert sizes.max() <= 2 * k - 1
    np.testing.assert_array_equal(points, before)


@given(case=cases())
@settings(max_examples=25, deadline=None)
def test_a_tour_through_the_groups_of_mdav_is_never_worse_than_mdav(case: tuple[Floats, int]) -> None:
    points, k = case
    tour = within_sse(points, Tour(order="mdav").assign(points, k, Run()))
    mdav = within_sse(points, Mdav().assign(points, k, Run()))
    assert tour <= mdav * (1 + 1e-12)


@given(case=cases())
@settings(max_examples=25, deadline=None)
def test_on_one_attribute_nothing_beats_univariate(case: tuple[Floats, int]) -> None:
    points, k = np.ascontiguousarray(case[0][:, :1]), case[1]
    best = within_sse(points, Univariate().assign(points, k, Run()))
    for method in (Mdav(), Vmdav(), Md(), Mst(), Tour(order="nearest")):
        assert best <= within_sse(points, method.assign(points, k, Run())) * (1 + 1e-9)


@pytest.mark.parametrize("method", AT_MOST_2K + ANY_SIZE, ids=repr)
def test_progress_ends_at_one(method: Construction) -> None:
    points = np.random.default_rng(1).normal(size=(150, 1))
    reports: list[float] = []
    method.assign(points, 4, Run(progress=reports.append))
    assert reports == sorted(reports)
    assert reports[-1] == pytest.approx(1.0)
