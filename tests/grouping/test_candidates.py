"""Every operator makes a partition of the attributes; together they reach all of them; all are listed, each once."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.grouping.candidates import (
    Labels,
    bell,
    canonical,
    clone_key,
    count,
    create_group,
    crossover,
    eliminate_group,
    every_grouping,
    groups,
    move_element,
    name_groups,
    random_grouping,
    split_group,
    swap_elements,
)

MUTATIONS = (create_group, eliminate_group, split_group, swap_elements, move_element)
Mutation = Callable[[Sequence[Labels], np.random.Generator], Labels]

seeds = st.integers(0, 2**32 - 1)


@st.composite
def groupings(draw: st.DrawFn, size: int | None = None) -> Labels:
    """Any grouping, given under any numbers."""
    size = draw(st.integers(1, 12)) if size is None else size
    return canonical(draw(st.lists(st.integers(0, 12), min_size=size, max_size=size)))


def is_canonical(labels: Labels, size: int) -> bool:
    """Whether it is a restricted growth string: no number is more than one above all before it."""
    seen = -1
    for label in labels.tolist():
        if not 0 <= label <= seen + 1:
            return False
        seen = max(seen, label)
    return labels.dtype == np.int16 and labels.shape == (size,)


def partition(labels: Labels) -> set[frozenset[int]]:
    """The grouping as a set of sets."""
    return {frozenset(group) for group in groups(labels)}


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.permutations(range(11)))
def test_clones_have_one_form(given_labels: list[int], names: list[int]) -> None:
    renamed = [names[label + 5] for label in given_labels]
    labels = canonical(given_labels)
    assert is_canonical(labels, len(given_labels))
    assert clone_key(labels) == clone_key(canonical(renamed))
    together = [a == b for a in given_labels for b in given_labels]
    assert [a == b for a in labels for b in labels] == together


@given(groupings())
def test_the_group_part_follows_from_the_object_part(labels: Labels) -> None:
    parts = groups(labels)
    assert sorted(place for group in parts for place in group) == list(range(len(labels)))
    assert len(parts) == count(labels)
    assert all(len({labels[place] for place in group}) == 1 for group in parts)
    letters = "abcdefghijkl"
    assert name_groups(labels, letters) == [[letters[place] for place in group] for group in parts]


@pytest.mark.parametrize("mutation", MUTATIONS)
@given(labels=groupings(), seed=seeds)
def test_a_mutation_makes_a_grouping_and_leaves_its_parent_alone(mutation: Mutation, labels: Labels, seed: int) -> None:
    before = labels.copy()
    child = mutation([labels], np.random.default_rng(seed))
    assert is_canonical(child, len(labels))
    assert (labels == before).all()


@given(st.integers(1, 12).flatmap(lambda size: st.tuples(groupings(size), groupings(size))), seeds)
def test_a_child_of_a_crossover_has_groups_of_both(parents: tuple[Labels, Labels], seed: int) -> None:
    before = [parent.copy() for parent in parents]
    children = crossover(parents, np.random.default_rng(seed))
    assert len(children) == 2
    for child, giver, taker in zip(children, parents, reversed(parents), strict=True):
        assert is_canonical(child, len(giver))
        given_groups = partition(child) & partition(giver)
        assert given_groups  # whole groups are handed on
        rest = set(range(len(child))) - {place for group in given_groups for place in group}
        # What is not handed on whole stands as in the taker, less what was taken from it.
        inherited = {frozenset(group & rest) for group in partition(taker)} - {frozenset()}
        assert {group for group in partition(child) if group <= rest} == inherited
    assert all((parent == copy).all() for parent, copy in zip(parents, before, strict=True))


@given(groupings(), seeds)
def test_each_mutation_does_what_its_name_says(labels: Labels, seed: int) -> None:
    there, size = count(labels), len(labels)
    rng = np.random.default_rng(seed)
    assert count(eliminate_group([labels], rng)) == max(there - 1, 1)
    assert count(split_group([labels], rng)) == min(there + 1, size)
    swapped = swap_elements([labels], rng)
    assert sorted(np.bincount(swapped)) == sorted(np.bincount(labels))
    moved = move_element([labels], rng)
    alone = [place for place in range(size) if (labels == labels[place]).sum() == 1]
    # The paper: a clone comes only where there is a single group.
    assert (clone_key(moved) == clone_key(labels)) == (there == 1)
    assert count(moved) in {there, there - 1 if alone and there > 1 else there}
    created = partition(create_group([labels], rng))
    # At most one group is made of several old ones or parts of them; the others lost something or stayed as they were.
    assert sum(not any(group <= old for old in partition(labels)) for group in created) <= 1


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("start", ["together", "alone"])
def test_the_mutations_reach_every_grouping(size: int, start: str) -> None:
    rng = np.random.default_rng(0)
    first = canonical([0] * size if start == "together" else range(size))
    reached, waiting = {clone_key(first)}, [first]
    while waiting:
        labels = waiting.pop()
        for mutation in MUTATIONS:
            for _ in range(100):
                child = mutation([labels], rng)
                if clone_key(child) not in reached:
                    reached.add(clone_key(child))
                    waiting.append(child)
    assert reached == {clone_key(labels) for labels in every_grouping(size)}


@given(st.integers(1, 40), seeds)
def test_random_groupings_are_groupings(size: int, seed: int) -> None:
    assert is_canonical(random_grouping(size, np.random.default_rng(seed)), size)


def test_random_groupings_have_one_group_to_many() -> None:
    rng = np.random.default_rng(1)
    counts = [count(random_grouping(10, rng)) for _ in range(2_000)]
    assert min(counts) == 1
    assert max(counts) >= 9


@pytest.mark.parametrize("size", range(1, 8))
def test_every_grouping_comes_once_and_in_canonical_form(size: int) -> None:
    keys = [clone_key(labels) for labels in every_grouping(size)]
    assert len(set(keys)) == len(keys) == bell(size)
    assert keys == [clone_key(canonical(labels)) for labels in every_grouping(size)]


@pytest.mark.parametrize("size", range(1, 6))
def test_nothing_is_left_out(size: int) -> None:
    brute = {clone_key(canonical(labels)) for labels in itertools.product(range(size), repeat=size)}
    assert {clone_key(labels) for labels in every_grouping(size)} == brute


def test_the_bell_numbers() -> None:
    assert [bell(size) for size in range(1, 11)] == [1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975]
