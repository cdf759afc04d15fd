"""A grid is what its writer means, or refused with what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.experiments.sensitivity import checked, combinations, parse


def test_ranges_have_both_ends_and_exact_decimals() -> None:
    grid = parse(["mutation=0:1:0.1", "population=10:100:10"], "genetic")
    assert grid["mutation"] == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert grid["population"] == tuple(range(10, 101, 10))
    assert all(isinstance(value, int) for value in grid["population"])


def test_lists_of_numbers_and_words() -> None:
    assert parse(["gamma=0.2, 1.1,auto"], "vmdav") == {"gamma": (0.2, 1.1, "auto")}
    assert parse(["elite=yes,no"], "genetic") == {"elite": (True, False)}


@given(st.integers(1, 50), st.integers(1, 40), st.integers(1, 9))
def test_a_range_is_an_arithmetic_progression(low: int, count: int, step: int) -> None:
    high = low + count * step
    assert parse([f"generations={low}:{high}:{step}"], "genetic")["generations"] == tuple(range(low, high + 1, step))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mutatoin=0:1:0.1", "did you mean 'mutation'"),
        ("mutation=0.1", "one value"),
        ("mutation=0.1,0.10", "one value"),
        ("mutation=0.5:0.5:0.1", "one value"),
        ("mutation", "write it as"),
        ("mutation=", "write it as"),
        ("=1,2", "write it as"),
        ("mutation=0:1", "low:high:step"),
        ("mutation=0:x:1", "low:high:step"),
        ("mutation=0:inf:1", "low:high:step"),
        ("mutation=1:0:0.1", "not below"),
        ("mutation=0:1:0", "above 0"),
        ("generations=1:10000000:1", "too many"),
        ("mutation=0.5,2", "mutation"),
        ("population=1.5,2", "whole number"),
    ],
)
def test_bad_grids_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse([text], "genetic")


def test_a_factor_twice_and_no_factor_are_refused() -> None:
    with pytest.raises(InputError, match="already"):
        parse(["mutation=0,1", "mutation=0.5,0.6"], "genetic")
    with pytest.raises(InputError, match="needs a grid"):
        checked({}, "genetic")
    with pytest.raises(InputError, match="no method"):
        parse(["mutation=0,1"], "genetics")


def test_combinations_are_all_and_each_once() -> None:
    grid = parse(["mutation=0,0.5", "population=10:30:10"], "genetic")
    every = combinations(grid, "genetic", {"generations": 5})
    assert len(every) == len({tuple(each.items()) for each in every}) == 6
    with pytest.raises(InputError, match="grid and a fixed value"):
        combinations(grid, "genetic", {"mutation": 0.1})
