"""A tree with removals answers exactly what a scan of the remaining points answers, ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.space.kdtree import farthest, grow, nearest, nearest_k, remove


def distances_to(points: Floats, query: Floats) -> Floats:
    """Squared distances, summed attribute by attribute."""
    total = np.zeros(points.shape[0])
    for j in range(points.shape[1]):
        total += (points[:, j] - query[j]) ** 2
    return total


def agree(points: Floats, removed: Ints, queries: Floats, k: int) -> None:
    """Compare every question with a scan while points are being removed."""
    tree = grow(points)
    left = np.ones(points.shape[0], bool)
    found, distances = np.zeros(k, np.int64), np.zeros(k)
    for step, query in enumerate(queries):
        for record in removed[step :: queries.shape[0]]:
            remove(tree, record)
            left[record] = False
        alive = np.flatnonzero(left)
        assert tree.alive[0] == alive.size
        scan = distances_to(points[alive], query)
        order = np.lexsort((alive, scan))[:k]
        count = nearest_k(tree, query, found, distances)
        assert found[:count].tolist() == alive[order].tolist()
        assert distances[:count].tolist() == scan[order].tolist()
        if alive.size:
            assert nearest(tree, query) == (alive[order[0]], scan[order[0]])
            last = np.lexsort((alive, -scan))[0]
            assert farthest(tree, query) == (alive[last], scan[last])
        else:
            assert nearest(tree, query)[0] == farthest(tree, query)[0] == -1


@given(
    n=st.integers(1, 600),
    d=st.integers(1, 5),
    levels=st.integers(1, 6),
    k=st.integers(1, 9),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=30, deadline=None)
def test_queries_equal_a_scan_among_duplicates_and_ties(n: int, d: int, levels: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, levels, (n, d)).astype(np.float64)
    queries = np.vstack([points[rng.integers(0, n, 5)], rng.integers(0, 2 * levels, (5, d)) / 2.0])
    agree(points, rng.permutation(n), queries, k)


@pytest.mark.parametrize("d", [1, 2, 5, 13])
def test_queries_equal_a_scan_on_many_points(d: int) -> None:
    rng = np.random.default_rng(d)
    # Thirds are not binary fractions, so equal true distances round differently unless summed in the same order.
    points = np.concatenate([rng.normal(size=(1500, d)), rng.integers(0, 4, (500, d)) / 3.0])
    agree(points, rng.permutation(2000)[:1900], np.vstack([points[:40], rng.normal(size=(40, d)) * 3]), 7)


def test_boxes_shrink_to_the_points_that_remain() -> None:
    points = np.random.default_rng(0).normal(size=(600, 3))
    tree = grow(points)
    for record in range(550):
        remove(tree, record)
    np.testing.assert_array_equal(tree.low[0], points[550:].min(axis=0))
    np.testing.assert_array_equal(tree.high[0], points[550:].max(axis=0))
