"""Steps on unions of groups keep a valid partition at any temperature, and at temperature 0 never a worse one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.memetic.pool import Pool, pooled
from discreet.kernels.memetic.unions import Groups, anneal, slot_costs, slotted
from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from partitions import any_partition, cases, cloud, groups_of, plain_sse

SEEDS = st.integers(0, 2**32)


def no_pool(k: int) -> Pool:
    return pooled(0, k, 0)


def near(points: Floats) -> Ints:
    return neighbour_lists(points, min(12, len(points) - 1))


def check(groups: Groups, n: int, k: int) -> None:
    """Assert that slots, labels and the stack of empty slots say the same, and that sizes are as they must be."""
    used = groups.sizes > 0
    assert groups.sizes[used].min() >= k
    assert groups.sizes.max() <= 2 * k - 1
    assert groups.sizes.sum() == n
    for slot in range(len(used)):
        members = groups.members[slot, : groups.sizes[slot]]
        assert sorted(members) == np.flatnonzero(groups.labels == slot).tolist()
    assert sorted(groups.empty[: groups.empties[0]]) == np.flatnonzero(~used).tolist()


@given(cases(), SEEDS)
def test_slots_hold_the_partition_and_their_costs_are_the_sse(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    labels = any_partition(len(points), k, seed)
    groups = slotted(labels, k)
    check(groups, len(points), k)
    assert groups.labels is not labels
    np.testing.assert_array_equal(groups.labels, labels)
    costs = slot_costs(points, groups)
    assert len(costs) == len(points) // k
    for slot, cost in enumerate(costs):
        own = labels == slot
        assert cost == pytest.approx(plain_sse(points[own], labels[own]), rel=1e-9, abs=0.0)


@given(cases(), st.sampled_from([0.0, 1e-3, 0.1, 2.0, 1e9]), st.integers(1, 300), st.booleans(), SEEDS)
@settings(max_examples=60)
def test_the_partition_stays_valid_at_any_temperature(
    case: tuple[Floats, int], temperature: float, steps: int, wide: bool, seed: int
) -> None:
    points, k = case
    before = points.copy()
    groups = slotted(any_partition(len(points), k, seed), k)
    anneal(points, k, near(points), temperature, steps, wide, groups, no_pool(k), seeded(seed, 0))
    check(groups, len(points), k)
    np.testing.assert_array_equal(points, before)


@given(cases(), st.booleans(), SEEDS)
@settings(max_examples=30)
def test_at_temperature_0_no_step_makes_it_worse(case: tuple[Floats, int], wide: bool, seed: int) -> None:
    points, k = case
    groups, rng, lists = slotted(any_partition(len(points), k, seed), k), seeded(seed, 0), near(points)
    cost = within_sse(points, groups.labels)
    for _ in range(40):
        held = groups.labels.copy()
        anneal(points, k, lists, 0.0, 1, wide, groups, no_pool(k), rng)
        after = within_sse(points, groups.labels)
        # A step is taken only if it gains more than rounding.
        assert after < cost or groups_of(held) == groups_of(groups.labels)
        cost = after


def test_heat_lets_it_get_worse_and_cold_finds_the_way_back() -> None:
    points = cloud(60, 2, "scattered", 1)
    groups, rng, lists = slotted(any_partition(60, 3, 1), 3), seeded(1, 0), near(points)
    anneal(points, 3, lists, 0.0, 3000, False, groups, no_pool(3), rng)
    cold = within_sse(points, groups.labels)
    anneal(points, 3, lists, 2.0, 3000, False, groups, no_pool(3), rng)
    hot = within_sse(points, groups.labels)
    assert hot > cold
    anneal(points, 3, lists, 0.0, 3000, False, groups, no_pool(3), rng)
    assert within_sse(points, groups.labels) < hot


def test_plain_clusters_are_found_whatever_the_start() -> None:
    clusters = np.repeat(np.arange(8), [3, 4, 5, 3, 4, 5, 3, 3])
    points = np.random.default_rng(2).normal(size=(30, 2)) * 0.01 + np.column_stack([clusters % 3, clusters // 3])
    for seed in range(20):
        groups = slotted(any_partition(30, 3, seed), 3)
        anneal(points, 3, near(points), 0.0, 2000, False, groups, no_pool(3), seeded(seed, 0))
        assert groups_of(groups.labels) == groups_of(clusters)


def test_the_same_random_state_takes_the_same_steps() -> None:
    points = cloud(50, 3, "scattered", 3)
    lists, start = near(points), any_partition(50, 4, 3)
    one, two, other = slotted(start, 4), slotted(start, 4), slotted(start, 4)
    for groups, seed in ((one, 5), (two, 5), (other, 6)):
        anneal(points, 4, lists, 0.1, 200, False, groups, no_pool(4), seeded(seed, 0))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)
    assert (one.labels != other.labels).any()


def test_two_groups_are_a_union() -> None:
    points = np.array([[0.0], [10.0], [1.0], [11.0]])
    groups = slotted(np.array([0, 0, 1, 1]), 2)
    anneal(points, 2, near(points), 0.0, 50, False, groups, no_pool(2), seeded(0, 0))
    assert groups_of(groups.labels) == {frozenset({0, 2}), frozenset({1, 3})}
