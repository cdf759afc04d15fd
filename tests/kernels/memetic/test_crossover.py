"""A child has groups of its parents only, and of each connected component the better ones."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.memetic.pool import pooled
from discreet.kernels.memetic.unions import anneal, slot_costs, slotted
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from partitions import any_partition, cases, check_sizes, cloud, groups_of, plain_sse

SEEDS = st.integers(0, 2**32)


def relative(points: Floats, k: int, labels: Ints, steps: int, seed: int) -> Ints:
    """A partition that differs from another one in places."""
    groups = slotted(labels, k)
    lists = neighbour_lists(points, min(5, len(points) - 1))
    anneal(points, k, lists, 0.5, steps, False, groups, pooled(0, k, 0), seeded(seed, 0))
    return np.unique(groups.labels, return_inverse=True)[1].astype(np.int64)


def crossed(points: Floats, k: int, mother: Ints, father: Ints) -> tuple[Ints, int]:
    return cross(mother, slot_costs(points, slotted(mother, k)), father, slot_costs(points, slotted(father, k)))


def components(mother: Ints, father: Ints) -> list[tuple[list[int], list[int]]]:
    """The groups of either parent in each component of the graph in which groups with a common record are connected."""
    graph = nx.Graph((("mother", a), ("father", b)) for a, b in zip(mother.tolist(), father.tolist(), strict=True))
    return [
        ([group for side, group in part if side == "mother"], [group for side, group in part if side == "father"])
        for part in nx.connected_components(graph)
    ]


def cost_of(points: Floats, labels: Ints, groups: list[int]) -> float:
    return plain_sse(points[np.isin(labels, groups)], labels[np.isin(labels, groups)])


@given(cases(), st.integers(0, 40), SEEDS)
@settings(max_examples=60)
def test_a_child_is_the_best_of_both_in_every_component(case: tuple[Floats, int], steps: int, seed: int) -> None:
    points, k = case
    mother = any_partition(len(points), k, seed)
    father = relative(points, k, mother, steps, seed) if steps else any_partition(len(points), k, seed + 1)
    before = mother.copy(), father.copy()
    child, won = crossed(points, k, mother, father)
    np.testing.assert_array_equal((mother, father), before)
    check_sizes(child, len(points), k)
    assert groups_of(child) <= groups_of(mother) | groups_of(father)
    costs = [(cost_of(points, mother, a), cost_of(points, father, b)) for a, b in components(mother, father)]
    best = sum(min(pair) for pair in costs)
    assert plain_sse(points, child) == pytest.approx(best, rel=1e-9, abs=0.0)
    assert won <= sum(b < a for a, b in costs)
    assert won >= sum(b < a * (1 - 1e-9) for a, b in costs)
    # Its groups are numbered in the order of their first records.
    assert list(dict.fromkeys(child.tolist())) == list(range(child.max() + 1))


@given(cases(), SEEDS)
def test_a_parent_crossed_with_itself_is_the_child(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    mother = any_partition(len(points), k, seed)
    father = (mother.max() - mother).astype(np.int64)  # the same groups, other numbers
    child, won = crossed(points, k, mother, father)
    assert groups_of(child) == groups_of(mother)
    assert won == 0


def test_where_they_are_equal_the_mother_is_taken() -> None:
    points = np.zeros((8, 2))
    mother, father = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 1, 0, 1, 2, 3, 2, 3])
    child, won = crossed(points, 2, mother, father)
    np.testing.assert_array_equal(child, mother)
    assert won == 0


def test_parents_that_are_good_in_different_places_have_a_child_that_is_better_than_both() -> None:
    points = np.array([[0.0], [0.1], [5.0], [5.1], [100.0], [100.1], [105.0], [105.1]])
    mother, father = np.array([0, 0, 1, 1, 2, 3, 2, 3]), np.array([0, 1, 0, 1, 2, 2, 3, 3])
    child, won = crossed(points, 2, mother, father)
    np.testing.assert_array_equal(child, [0, 0, 1, 1, 2, 2, 3, 3])
    assert won == 1


def test_large_partitions_are_crossed_as_well() -> None:
    points = cloud(3000, 2, "scattered", 1)
    mother = any_partition(3000, 3, 1)
    groups = slotted(mother, 3)
    anneal(points, 3, neighbour_lists(points, 12), 0.0, 20_000, False, groups, pooled(0, 3, 0), seeded(1, 0))
    mother = np.unique(groups.labels, return_inverse=True)[1].astype(np.int64)
    father = relative(points, 3, mother, 500, 2)
    child, won = crossed(points, 3, mother, father)
    parts = components(mother, father)
    assert len(parts) > 100
    assert won == sum(cost_of(points, father, b) < cost_of(points, mother, a) * (1 - 1e-12) for a, b in parts)
    assert plain_sse(points, child) < min(plain_sse(points, mother), plain_sse(points, father))
