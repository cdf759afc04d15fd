"""A pool notes each group once, with its cost, while it has room; and gives the groups round a point or in a region."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.kernels.memetic.pool import Pool, clear, inside, note, pooled, region
from discreet.kernels.memetic.unions import anneal, slotted
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from partitions import any_partition, cases, cloud, groups_of, plain_sse

SEEDS = st.integers(0, 2**32)
GROUPS = st.lists(st.sets(st.integers(0, 19), min_size=3, max_size=5), max_size=60)


def noted(pool: Pool) -> list[frozenset[int]]:
    return [frozenset(pool.members[i, : pool.sizes[i]].tolist()) for i in range(pool.filled[0])]


@given(GROUPS, st.integers(1, 40), SEEDS)
def test_each_group_once_in_the_order_in_which_it_came(groups: list[set[int]], room: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = pooled(20, 3, room)
    for number, group in enumerate(groups):
        note(pool, rng.permutation(sorted(group)), float(number))
    first = list(dict.fromkeys(map(frozenset, groups)))[:room]
    assert noted(pool) == first
    assert pool.costs[: len(first)].tolist() == [float(groups.index(set(group))) for group in first]
    assert pool.sizes[: len(first)].tolist() == list(map(len, first))


@given(GROUPS)
def test_a_cleared_pool_is_as_good_as_new(groups: list[set[int]]) -> None:
    used, new = pooled(20, 3, 30), pooled(20, 3, 30)
    for group in reversed(groups):
        note(used, np.array(sorted(group)), 1.0)
    clear(used)
    assert noted(used) == []
    for pool in (used, new):
        for group in groups:
            note(pool, np.array(sorted(group)), 2.0)
    assert noted(used) == noted(new)


def test_one_without_room_takes_none() -> None:
    pool = pooled(0, 3, 0)
    note(pool, np.array([0, 1, 2]), 1.0)
    assert pool.filled[0] == 0


@given(st.integers(2, 5), st.sampled_from(["scattered", "crowded"]), SEEDS)
@settings(max_examples=25)
def test_what_the_steps_form_is_noted_at_its_cost(k: int, kind: str, seed: int) -> None:
    points: Floats = cloud(60, 3, kind, seed)
    start = any_partition(60, k, seed)
    groups, pool = slotted(start, k), pooled(60, k, 2400)
    anneal(points, k, neighbour_lists(points, 12), 0.05, 300, False, groups, pool, seeded(seed, 0))
    known = noted(pool)
    assert len(set(known)) == len(known)
    for members, cost in zip(known, pool.costs, strict=False):
        assert k <= len(members) <= 2 * k - 1
        own = points[sorted(members)]
        assert cost == pytest.approx(plain_sse(own, np.zeros(len(own), np.int64)), rel=1e-9, abs=1e-12)
    # Whatever the partition has now it had at the start or has formed.
    assert groups_of(groups.labels) <= groups_of(start) | set(known)


@given(cases(), st.integers(1, 100), SEEDS)
def test_a_region_has_the_nearest_groups_and_no_more_than_it_needs(
    case: tuple[Floats, int], reach: int, seed: int
) -> None:
    points, k = case
    labels = any_partition(len(points), k, seed)
    sizes = np.bincount(labels)
    centre = points[seed % len(points)]
    found = region(points, labels, centre, reach).tolist()
    distances = np.array([((points[labels == g].mean(axis=0) - centre) ** 2).sum() for g in range(len(sizes))])
    assert len(set(found)) == len(found)
    # Enough records, and not without the last group; or all there are.
    assert sizes[found].sum() >= min(reach, len(points))
    assert sizes[found[:-1]].sum() < reach
    # No group that was left out is nearer than one that was taken.
    left = np.delete(distances, found)
    assert not len(left) or distances[found].max() <= left.min() * (1 + 1e-9) + 1e-12


def test_groups_are_taken_from_near_to_far() -> None:
    points = cloud(90, 2, "scattered", 1)
    labels = any_partition(90, 3, 1)
    found = region(points, labels, points[7], 60)
    distances = [float(((points[labels == g].mean(axis=0) - points[7]) ** 2).sum()) for g in found]
    assert distances == sorted(distances)
    assert len(found) > 10


@given(st.integers(2, 5), st.integers(0, 40), st.floats(0, 1), SEEDS)
def test_inside_are_the_groups_with_all_members_there(k: int, extra: int, share: float, seed: int) -> None:
    n = 2 * k + extra
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 30))
    sizes = rng.integers(k, 2 * k, count)
    members = np.array([rng.permutation(n)[: 2 * k - 1] for _ in range(count)], np.int64).reshape(count, 2 * k - 1)
    position = np.where(rng.random(n) < share, np.arange(n), -1)
    there = {i for i in range(n) if position[i] >= 0}
    expected = [g for g in range(count) if set(members[g, : sizes[g]].tolist()) <= there]
    assert inside(members, sizes, position).tolist() == expected
