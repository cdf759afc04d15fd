"""Linkage by tables equals linkage by distances between points."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.kernels.partitions.group_release import cluster_means, lost, pinned
from discreet.kernels.space.group_linkage import chances, fill_distances, nearest_records
from discreet.measures.linkage import distance_linkage


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 40),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.sampled_from([0, 2, 4]),
    st.sampled_from([1, 2]),
)
@settings(max_examples=40)
def test_chances_are_those_of_the_points(seed: int, n: int, widths: list[int], levels: int, nearest: int) -> None:
    rng = np.random.default_rng(seed)
    d = sum(widths)
    points: Floats = np.asarray(rng.integers(0, levels, (n, d)) if levels else rng.normal(size=(n, d)), np.float64)
    columns = np.split(np.arange(d), np.cumsum(widths)[:-1])
    rows = np.stack([np.unique(rng.integers(0, max(n // 3, 1), n), return_inverse=True)[1] for _ in widths]).astype(
        np.int32
    )
    queries = rng.permutation(n)[: rng.integers(1, n, endpoint=True)]
    tables = np.full((len(widths), len(queries), n), np.nan)
    released = np.empty_like(points)
    for table, own, labels in zip(tables, columns, rows, strict=True):
        places = cluster_means(points, own, labels, int(labels.max()) + 1)
        fill_distances(points[queries], own, np.ascontiguousarray(places.T), table)
        released[:, own] = places[labels]
    slots = np.arange(len(widths))
    expected = distance_linkage(points, released, nearest=nearest, queries=queries).credits
    members = np.argsort(rows[0], kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[0]))])
    near = nearest_records(points, queries, min(3, n))
    found = chances(tables, slots, rows, members, starts, near, queries, nearest)
    assert np.allclose(found, expected, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 4))
def test_means_losses_and_counts_are_plain_sums(seed: int, n: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(n, d)) * 10) * 0.1
    rows = np.unique(rng.integers(0, 4, n), return_inverse=True)[1].astype(np.int32)
    columns = rng.permutation(d)[: rng.integers(1, d, endpoint=True)]
    means = cluster_means(values, columns, rows, int(rows.max()) + 1)
    expected = np.array([values[rows == c][:, columns].mean(axis=0) for c in range(int(rows.max()) + 1)])
    assert np.allclose(means, expected)
    for c, mean in enumerate(means):  # exactly what they were where all are equal
        own = values[rows == c][:, columns]
        assert ((own.min(axis=0) <= mean) & (mean <= own.max(axis=0))).all()
    weights = rng.random(len(columns))
    gaps = rng.random((n, d)) < 0.2
    errors = (values[:, columns] - means[rows]) ** 2
    assert np.isclose(lost(values, columns, weights, np.zeros((0, d), bool), means, rows), (errors * weights).sum())
    without = np.where(gaps[:, columns], 0.0, errors)
    assert np.isclose(lost(values, columns, weights, gaps, means, rows), (without * weights).sum())
    inside = np.abs(means[rows] - values[:, columns]) <= 0.1 * np.abs(values[:, columns])
    assert pinned(values, columns, means, rows, 0.1, 0.0) == inside.sum()
    lacking = np.where(gaps, np.nan, values)
    assert pinned(lacking, columns, means, rows, 0.1, 0.0) == (inside & ~gaps[:, columns]).sum()


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 3), st.sampled_from([0, 3]))
def test_the_nearest_records_are_different_and_the_nearest(seed: int, n: int, d: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    points: Floats = np.asarray(rng.integers(0, levels, (n, d)) if levels else rng.normal(size=(n, d)), np.float64)
    queries = rng.permutation(n)[: rng.integers(1, n, endpoint=True)]
    width = int(rng.integers(1, n, endpoint=True))
    for query, found in zip(queries, nearest_records(points, queries, width), strict=True):
        distances = ((points - points[query]) ** 2).sum(axis=1)
        assert len(set(found.tolist())) == width
        assert np.allclose(np.sort(distances[found]), np.sort(distances)[:width])
