"""The methods on trees give exactly what their plain forms give, among ties and duplicates as well."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plain_methods as plain
from discreet.kernels.arrays import Floats
from discreet.kernels.partitions.md import md
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.partitions.tour import chain
from discreet.kernels.partitions.vmdav import vmdav


def quiet(_: float) -> None:
    """Listen to nothing."""


@st.composite
def crowded(draw: st.DrawFn, largest: int = 400) -> tuple[Floats, int]:
    """Points on a coarse grid, with many ties and duplicates, and a k for them."""
    k = draw(st.integers(2, 6))
    n = draw(st.integers(2 * k, largest))
    d = draw(st.integers(1, 4))
    levels = draw(st.sampled_from([1, 2, 3, 8, 1000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, levels, (n, d)).astype(np.float64), k


@given(crowded())
@settings(max_examples=40, deadline=None)
def test_mdav(case: tuple[Floats, int]) -> None:
    points, k = case
    np.testing.assert_array_equal(mdav(points, k, False, quiet), plain.mdav(points, k))


@pytest.mark.parametrize("d", [1, 3, 13])
def test_mdav_on_scattered_points(d: int) -> None:
    points = np.random.default_rng(d).normal(size=(1501, d))
    np.testing.assert_array_equal(mdav(points, 4, False, quiet), plain.mdav(points, 4))


@given(crowded(largest=40))
@settings(max_examples=25, deadline=None)
def test_md(case: tuple[Floats, int]) -> None:
    points, k = case
    np.testing.assert_array_equal(md(points, k, quiet), plain.md(points, k))


def test_md_on_scattered_points() -> None:
    points = np.random.default_rng(2).normal(size=(200, 3))
    np.testing.assert_array_equal(md(points, 3, quiet), plain.md(points, 3))


@given(crowded(largest=60), st.sampled_from([0.0, 0.2, 1.0, 1.5]))
@settings(max_examples=25, deadline=None)
def test_vmdav(case: tuple[Floats, int], gamma: float) -> None:
    points, k = case
    np.testing.assert_array_equal(vmdav(points, k, gamma, quiet), plain.vmdav(points, k, gamma))


def test_vmdav_on_scattered_points() -> None:
    points = np.random.default_rng(2).normal(size=(300, 3))
    np.testing.assert_array_equal(vmdav(points, 4, 0.8, quiet), plain.vmdav(points, 4, 0.8))


@given(crowded())
@settings(max_examples=30, deadline=None)
def test_nearest_next(case: tuple[Floats, int]) -> None:
    points, _ = case
    assert chain(points, np.arange(len(points)), quiet).tolist() == plain.nearest_next(points)


@given(crowded())
@settings(max_examples=30, deadline=None)
def test_a_chain_of_groups_keeps_each_group_together(case: tuple[Floats, int]) -> None:
    points, k = case
    labels = mdav(points, k, False, quiet)
    order = chain(points, labels, quiet)
    assert sorted(order) == list(range(len(points)))
    assert np.count_nonzero(np.diff(labels[order])) == labels.max()
