"""Equal rows are counted together, and a scan in blocks finds exactly what the tree finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.kernels.space import linkage


def credits_by(monkeypatch: pytest.MonkeyPatch, share: int, points: Floats, candidates: Floats, nearest: int) -> Floats:
    """Link with a search that gives up after one in `share` leaves."""
    monkeypatch.setattr(linkage, "SHARE_OF_FEW", share)
    monkeypatch.setattr(linkage, "SHARE_OF_MANY", share)
    rows = np.arange(len(points))
    return linkage.link(points, candidates, rows, rows, nearest, lambda fraction: None)


@given(n=st.integers(1, 200), d=st.integers(1, 4), levels=st.integers(1, 5), seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_distinct_rows_stand_for_all_rows(n: int, d: int, levels: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, levels, (n, d)).astype(np.uint64)
    first, entry, weights = linkage.distinct(rows)
    np.testing.assert_array_equal(rows[first][entry], rows)
    np.testing.assert_array_equal(weights, np.bincount(entry))
    assert len(first) == len(np.unique(rows, axis=0))


@pytest.mark.parametrize("nearest", [1, 2])
@pytest.mark.parametrize("scale", [1.0, 1e-25, 1e30])
@pytest.mark.parametrize(("n", "d"), [(1200, 2), (1200, 13), (1200, 30)])
def test_the_way_of_searching_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, n: int, d: int, scale: float, nearest: int
) -> None:
    rng = np.random.default_rng(n + d)
    points = np.concatenate([rng.normal(size=(n // 2, d)), rng.integers(0, 3, (n // 2, d)) / 3.0])
    points[::97] *= 1e3
    candidates = points + rng.normal(size=points.shape) * rng.choice([0.0, 0.1, 1.0], (n, 1))
    # At the small scale all distances tie but for the absolute tolerance, and single precision underflows; at the large
    # scale it overflows.
    points, candidates = points * scale, candidates * scale
    whole = credits_by(monkeypatch, 1, points, candidates, nearest)
    assert (credits_by(monkeypatch, 5, points, candidates, nearest) == whole).all()
    # A search that gives up at its second leaf leaves nearly all to the scan.
    assert (credits_by(monkeypatch, 10**9, points, candidates, nearest) == whole).all()
