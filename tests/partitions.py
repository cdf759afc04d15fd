"""Points to be partitioned, and what a partition of them is held against: plain, and apart from the kernels."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints

KINDS = ("scattered", "crowded", "constant", "outlier")


def cloud(n: int, d: int, kind: str, seed: int) -> Floats:
    """Points: scattered, on few places, all the same, or with one of them far away."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, d)).astype(np.float64) if kind == "crowded" else rng.normal(size=(n, d))
    if kind == "constant":
        points[:] = points[0]
    if kind == "outlier":
        points[rng.integers(n)] *= 1e6
    return points


@st.composite
def cases(draw: st.DrawFn, most: int = 80) -> tuple[Floats, int]:
    """Points of any kind and a k; often barely 2k of them."""
    k = draw(st.integers(2, 6))
    n = draw(st.one_of(st.integers(2 * k, 2 * k + 2), st.integers(2 * k, most)))
    d = draw(st.integers(1, 4))
    return cloud(n, d, draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**32))), k


def any_partition(n: int, k: int, seed: int) -> Ints:
    """A random partition into groups of k to 2k−1, labels 0 to g−1."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(-(-n // (2 * k - 1)), n // k + 1))
    sizes = np.full(count, k)
    for _ in range(n - count * k):
        sizes[rng.choice(np.flatnonzero(sizes < 2 * k - 1))] += 1
    return rng.permutation(np.repeat(np.arange(count), sizes))


def groups_of(labels: Ints) -> set[frozenset[int]]:
    """The groups as sets of records."""
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def plain_sse(points: Floats, labels: Ints) -> float:
    """The SSE as it is defined; relative to a record of each group, so that records that are alike cost exactly 0."""
    parts = [points[labels == label] - points[labels == label][0] for label in np.unique(labels)]
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


def check_sizes(labels: Ints, n: int, k: int, most: int | None = None) -> None:
    """Assert that every record has a group, and every group k to 2k−1 records (or as many as are said)."""
    assert labels.dtype == np.int64
    assert labels.shape == (n,)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= (2 * k - 1 if most is None else most)


def check_cost(cost: float, points: Floats, labels: Ints) -> None:
    """Assert that a cost is the SSE."""
    assert cost == pytest.approx(plain_sse(points, labels), rel=1e-9, abs=0.0)


def no_worse(points: Floats, labels: Ints, rival: Ints) -> bool:
    """Whether a partition costs no more than another, but for rounding."""
    return plain_sse(points, labels) <= plain_sse(points, rival) * (1 + 1e-9)


def optimum(points: Floats, k: int) -> float:
    """The least SSE of all k-partitions, by trying them all."""
    costs = {
        group: plain_sse(points[list(group)], np.zeros(size, np.int64))
        for size in range(k, 2 * k)
        for group in combinations(range(len(points)), size)
    }
    return min(sum(map(costs.__getitem__, partition)) for partition in _partitions(tuple(range(len(points))), k))


def _partitions(records: tuple[int, ...], k: int) -> Iterator[list[tuple[int, ...]]]:
    """All partitions into groups of k to 2k−1: the first record with any others, then the rest."""
    if not records:
        yield []
    for size in range(k, min(2 * k, len(records) + 1)):
        for others in combinations(records[1:], size - 1):
            rest = tuple(record for record in records[1:] if record not in others)
            for partition in _partitions(rest, k):
                yield [(records[0], *others), *partition]
