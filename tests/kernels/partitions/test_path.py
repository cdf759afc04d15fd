"""The cut of an order is the best of all cuts."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.partitions.path import cut_order


@lru_cache
def cuts(n: int, k: int) -> list[list[int]]:
    """All ways to cut n neighbours into groups of at least k, as lists of sizes."""

    def extend(left: int) -> Iterator[list[int]]:
        if left == 0:
            yield []
        for size in range(k, left + 1):
            for rest in extend(left - size):
                yield [size, *rest]

    return list(extend(n))


@given(k=st.integers(1, 4), extra=st.integers(0, 10), d=st.integers(1, 3), seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_no_cut_is_better(k: int, extra: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 20, (k + extra, d)).astype(np.float64)
    order = rng.permutation(k + extra)
    labels = cut_order(points, order, k, lambda _: None)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert (np.diff(labels[order]) >= 0).all()
    best = min(within_sse(points[order], np.repeat(np.arange(len(c)), c)) for c in cuts(k + extra, k))
    assert within_sse(points, labels) == pytest.approx(best, abs=1e-9)


def test_a_large_offset_does_not_change_the_cut() -> None:
    steps = np.random.default_rng(1).integers(1, 9, 2000).cumsum().astype(np.float64)
    near = cut_order(steps[:, None], np.arange(2000), 3, lambda _: None)
    far = cut_order(steps[:, None] + 2.0**40, np.arange(2000), 3, lambda _: None)
    np.testing.assert_array_equal(near, far)
