"""All groupings are listed, each once."""

import itertools

import pytest

from discreet.grouping.candidates import bell, canonical, every_grouping, key


@pytest.mark.parametrize("size", range(1, 8))
def test_every_grouping_comes_once_and_in_canonical_form(size: int) -> None:
    keys = [key(labels) for labels in every_grouping(size)]
    assert len(set(keys)) == len(keys) == bell(size)
    assert keys == [key(canonical(labels)) for labels in every_grouping(size)]


@pytest.mark.parametrize("size", range(1, 6))
def test_nothing_is_left_out(size: int) -> None:
    brute = {key(canonical(labels)) for labels in itertools.product(range(size), repeat=size)}
    assert {key(labels) for labels in every_grouping(size)} == brute


def test_the_bell_numbers() -> None:
    assert [bell(size) for size in range(1, 11)] == [1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975]
