"""Blocks: every record stays once, every group whole; work in a block never makes it worse and touches no other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.memetic.blocks import block_costs, borders, centroids, improve, locate, regroup, sort_records
from discreet.kernels.random import seeded
from partitions import any_partition, cases, check_sizes, cloud, groups_of, plain_sse

SEEDS = st.integers(0, 2**32)


def lined_up(labels: Ints) -> tuple[Ints, Ints]:
    """The partition as an order of the records and marks at the first of each group."""
    order = np.argsort(labels, kind="stable")
    return order, np.diff(labels[order], prepend=-1)


def labels_of(order: Ints, heads: Ints) -> Ints:
    labels = np.empty(len(order), np.int64)
    labels[order] = np.cumsum(heads) - 1
    return labels


@given(cases(300), st.integers(1, 40), SEEDS)
def test_every_point_is_in_the_block_that_the_borders_say(case: tuple[Floats, int], blocks: int, seed: int) -> None:
    points, _ = case
    tree = borders(points, blocks, seeded(seed, 0))
    leaves = len(tree.axes) + 1
    assert leaves & (leaves - 1) == 0
    assert blocks <= leaves < 2 * blocks
    homes = np.full(len(points), -1)
    half = len(points) // 2
    locate(points, tree, 0, half, homes)
    assert (homes[half:] == -1).all()
    locate(points, tree, half, len(points), homes)
    for point, home in zip(points, homes, strict=True):
        low, high = 0, leaves
        node = 0
        while high - low > 1:
            middle = (low + high) // 2
            right = point[tree.axes[node]] >= tree.borders[node]
            low, high = (middle, high) if right else (low, middle)
            node = 2 * node + 1 + right
        assert home == low


def test_blocks_are_of_similar_sizes() -> None:
    points = cloud(20_000, 3, "scattered", 1)
    homes = np.empty(20_000, np.int64)
    for seed in range(10):
        locate(points, borders(points, 16, seeded(seed, 0)), 0, 20_000, homes)
        sizes = np.bincount(homes, minlength=16)
        # Four borders on the way to a block, each of them between 40 and 60 %, through a sample.
        assert sizes.min() > 0.01 * len(points)
        assert sizes.max() < 0.2 * len(points)


def test_other_seeds_draw_other_borders() -> None:
    points = cloud(1000, 3, "scattered", 1)
    one, two = borders(points, 8, seeded(1, 0)), borders(points, 8, seeded(2, 0))
    assert (one.borders != two.borders).all()


@given(st.lists(st.integers(0, 7), min_size=1, max_size=60))
def test_sorting_by_block_keeps_the_order_within(homes: list[int]) -> None:
    order, starts = sort_records(np.array(homes), 8)
    assert order.tolist() == np.argsort(homes, kind="stable").tolist()
    assert starts.tolist() == [sum(home < block for home in homes) for block in range(9)]


@given(cases(), SEEDS)
def test_centroids_are_the_means_of_the_groups(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    order, heads = lined_up(any_partition(len(points), k, seed))
    parts = np.split(order, np.flatnonzero(heads)[1:])
    expected = np.array([points[part].mean(axis=0) for part in parts])
    np.testing.assert_allclose(centroids(points, order, heads), expected, rtol=1e-9, atol=1e-9)


@given(st.integers(2, 5), st.integers(0, 60), st.integers(1, 6), SEEDS)
def test_regrouping_keeps_groups_whole_and_puts_them_into_their_blocks(
    k: int, extra: int, blocks: int, seed: int
) -> None:
    labels = any_partition(2 * k + extra, k, seed)
    order, heads = lined_up(labels)
    homes = np.random.default_rng(seed).integers(0, blocks, labels.max() + 1)
    new_order, new_heads, starts = regroup(order, heads, homes, blocks)
    assert sorted(new_order) == list(range(len(labels)))
    assert groups_of(labels_of(new_order, new_heads)) == groups_of(labels)
    assert starts[0] == 0
    assert starts[-1] == len(labels)
    for block in range(blocks):
        inside = new_order[starts[block] : starts[block + 1]]
        assert set(inside) == set(np.flatnonzero(homes[labels] == block))
        assert not len(inside) or new_heads[starts[block]] == 1


@given(cases(), st.integers(1, 6), SEEDS)
def test_the_costs_of_blocks_are_those_of_their_groups(case: tuple[Floats, int], blocks: int, seed: int) -> None:
    points, k = case
    labels = any_partition(len(points), k, seed)
    homes = np.random.default_rng(seed).integers(0, blocks, labels.max() + 1)
    order, heads, starts = regroup(*lined_up(labels), homes, blocks)
    costs = block_costs(points, order, heads, starts)
    for block in range(blocks):
        own = homes[labels] == block
        assert costs[block] == pytest.approx(plain_sse(points[own], labels[own]), rel=1e-9, abs=0.0)


@given(cases(), st.sampled_from([0.0, 0.5, 8.0]), st.sampled_from([0.0, 0.02, 3.0]), SEEDS)
@settings(max_examples=60)
def test_a_block_gets_no_worse_and_nothing_else_changes(
    case: tuple[Floats, int], effort: float, heat: float, seed: int
) -> None:
    points, k = case
    order, heads = lined_up(any_partition(len(points), k, seed))
    if seed % 2:  # good already, so that there is something to lose
        improve(points, order, heads, 0, len(order), k, 30.0, 0.0, seeded(seed, 1))
    labels = labels_of(order, heads)
    rng = np.random.default_rng(seed)
    cuts = np.append(np.flatnonzero(heads), len(order))
    start, end = np.sort(rng.choice(cuts, 2, replace=False)).tolist()
    before = points.copy(), order.copy(), heads.copy()
    cost = improve(points, order, heads, start, end, k, effort, heat, seeded(seed, 0))
    np.testing.assert_array_equal(points, before[0])
    outside = np.r_[:start, end : len(order)]
    np.testing.assert_array_equal(order[outside], before[1][outside])
    np.testing.assert_array_equal(heads[outside], before[2][outside])
    block = order[start:end]
    assert sorted(block) == sorted(before[1][start:end])
    new = labels_of(order, heads)
    check_sizes(new, len(points), k)
    old_cost, new_cost = plain_sse(points[block], labels[block]), plain_sse(points[block], new[block])
    assert new_cost <= old_cost * (1 + 1e-12)
    assert cost == pytest.approx(new_cost, rel=1e-9, abs=0.0)


def test_a_block_of_less_than_two_groups_is_left_alone() -> None:
    points = cloud(9, 2, "scattered", 1)
    order, heads = np.arange(9), np.array([1, 0, 0, 0, 1, 0, 0, 0, 0])
    assert improve(points, order, heads, 4, 9, 3, 8.0, 0.1, seeded(1, 0)) == pytest.approx(
        plain_sse(points[4:], order[4:] * 0)
    )
    assert improve(points, order, heads, 4, 4, 3, 8.0, 0.1, seeded(1, 0)) == 0.0
    assert order.tolist() == list(range(9))
    assert heads.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0]


def test_effort_pays() -> None:
    points = cloud(600, 2, "scattered", 1)
    costs = []
    for effort, heat in ((0.0, 0.0), (5.0, 0.0), (40.0, 0.05)):
        order, heads = lined_up(any_partition(600, 3, 1))
        costs.append(improve(points, order, heads, 0, 600, 3, effort, heat, seeded(1, 0)))
    assert plain_sse(points, any_partition(600, 3, 1)) > costs[0] > costs[1] > costs[2]


def test_what_heat_has_made_worse_is_not_taken() -> None:
    points = cloud(600, 2, "scattered", 2)
    order, heads = lined_up(any_partition(600, 3, 2))
    cost = improve(points, order, heads, 0, 600, 3, 300.0, 0.02, seeded(1, 0))
    for seed in range(10):
        after = improve(points, order, heads, 0, 600, 3, 1.0, 5.0, seeded(seed, 1))
        assert after <= cost * (1 + 1e-12)
        assert after == pytest.approx(plain_sse(points, labels_of(order, heads)), rel=1e-9)
        cost = after
