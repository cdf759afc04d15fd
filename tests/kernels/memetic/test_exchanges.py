"""Exchanges of records never make a partition worse and keep its books."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.memetic.exchanges import _move, _swap, polish, rotate
from discreet.kernels.memetic.unions import Groups, slotted
from partitions import any_partition, cases, check_sizes, cloud, groups_of, plain_sse


def centres_of(points: Floats, labels: Ints) -> Floats:
    return np.array([points[labels == group].mean(axis=0) for group in range(labels.max() + 1)])


def exchanged(points: Floats, k: int, labels: Ints, seed: int, rotates: bool = False) -> tuple[Groups, Floats]:
    """Polish or rotate with neighbours in any order, which must not matter for what is promised."""
    count = int(labels.max()) + 1
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, count)) if count > 1 else 0
    around = np.array([rng.permutation(np.delete(np.arange(count), group))[:width] for group in range(count)])
    groups, centres = slotted(labels, k), centres_of(points, labels)
    around = around.astype(np.int64).reshape(count, width)
    if rotates:
        rotate(points, around, centres, groups)
        np.testing.assert_array_equal(np.bincount(groups.labels), np.bincount(labels))
    else:
        polish(points, k, around, centres, groups)
    return groups, centres


@pytest.mark.parametrize("rotates", [False, True])
@given(case=cases(), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_it_never_raises_the_sse(rotates: bool, case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    before = points.copy()
    labels = any_partition(len(points), k, seed)
    groups, centres = exchanged(points, k, labels, seed, rotates)
    np.testing.assert_array_equal(points, before)
    check_sizes(groups.labels, len(points), k)
    assert plain_sse(points, groups.labels) <= plain_sse(points, labels) * (1 + 1e-12)
    for slot in range(labels.max() + 1):
        assert sorted(groups.members[slot, : groups.sizes[slot]]) == np.flatnonzero(groups.labels == slot).tolist()
    scale = np.abs(points).max()
    np.testing.assert_allclose(centres, centres_of(points, groups.labels), rtol=1e-9, atol=1e-9 * scale)
    assert groups.empties[0] == len(points) // k - (labels.max() + 1)


@given(st.integers(2, 4), st.integers(1, 3), st.sampled_from(["scattered", "crowded"]), st.integers(0, 2**32))
@settings(max_examples=60)
def test_between_two_groups_the_best_swap_or_move_is_done_if_it_gains(k: int, d: int, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1], rng.integers(k, 2 * k, 2)))
    points = cloud(len(labels), d, kind, seed)
    start = plain_sse(points, labels)

    def outcome(*records: int) -> float:
        """The SSE with these records in the other group."""
        changed = labels.copy()
        changed[list(records)] = 1 - changed[list(records)]
        return plain_sse(points, changed)

    sizes = np.bincount(labels)
    larger = int(sizes[1] > sizes[0])
    swaps = [outcome(i, j) for i in range(len(labels)) for j in range(len(labels)) if labels[i] < labels[j]]
    # Of two groups of one size the first gives.
    moves = [outcome(i) for i in range(len(labels)) if labels[i] == larger]
    if sizes[larger] == k or sizes[1 - larger] == 2 * k - 1:
        moves = []
    for costs in (swaps, moves):
        groups, centres = slotted(labels, k), centres_of(points, labels)
        swapping = costs is swaps
        done = _swap(points, 0, 1, centres, groups) if swapping else _move(points, 0, 1, k, centres, groups)
        best = min(costs, default=np.inf)
        if best < start * (1 - 1e-9) or best > start * (1 + 1e-9):
            assert done == (best < start)
        assert plain_sse(points, groups.labels) == pytest.approx(best if done else start, rel=1e-9, abs=1e-12)


def test_a_swap_and_a_move_are_found() -> None:
    points = np.array([[0.0], [1.0], [10.0], [11.0]])
    groups, _ = exchanged(points, 2, np.array([0, 1, 0, 1]), 0)
    assert groups_of(groups.labels) == {frozenset({0, 1}), frozenset({2, 3})}
    points = np.array([[0.0], [1.0], [10.0], [11.0], [10.5]])
    groups, _ = exchanged(points, 2, np.array([0, 0, 1, 1, 0]), 0)
    assert groups_of(groups.labels) == {frozenset({0, 1}), frozenset({2, 3, 4})}


@pytest.mark.parametrize("kind", ["scattered", "crowded", "outlier"])
def test_again_and_again_it_comes_to_an_end(kind: str) -> None:
    points = cloud(200, 2, kind, 1)
    labels = any_partition(200, 4, 1)
    cost = plain_sse(points, labels)
    for round_ in range(30):
        labels = exchanged(points, 4, labels, round_)[0].labels
        assert plain_sse(points, labels) <= cost * (1 + 1e-12)
        cost = plain_sse(points, labels)
    assert cost < plain_sse(points, any_partition(200, 4, 1))


@given(st.integers(2, 3), st.integers(1, 3), st.sampled_from(["scattered", "crowded"]), st.integers(0, 2**32))
@settings(max_examples=40)
def test_three_groups_rotate_until_no_rotation_gains(k: int, d: int, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], rng.integers(k, 2 * k, 3)))
    points = cloud(len(labels), d, kind, seed)
    groups, centres = slotted(labels, k), centres_of(points, labels)
    around = np.array([[1, 2], [2, 0], [0, 1]])
    while rotate(points, around, centres, groups):
        assert plain_sse(points, groups.labels) < plain_sse(points, labels)
    least = plain_sse(points, groups.labels)
    first, second, third = (np.flatnonzero(groups.labels == group) for group in range(3))
    for x, y, z in product(first, second, third):
        for turn in ([1, 2, 0], [2, 0, 1]):
            turned = groups.labels.copy()
            turned[[x, y, z]] = turn
            assert plain_sse(points, turned) >= least * (1 - 1e-9) - 1e-12
