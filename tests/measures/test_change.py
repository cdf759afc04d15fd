"""Changes of means, variances and correlations equal those counted by hand, in exact arithmetic."""

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.change import changes, moments

# Few values, exact in binary, so that there are ties, constants and means that are exactly 0.
VALUES = st.sampled_from([math.nan, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, 10.0])
PAIRS = arrays(np.float64, st.tuples(st.just(2), st.integers(1, 12), st.integers(1, 4)), elements=VALUES)
NAMES = ["a", "b", "c", "d"]


def mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def covariance(pairs: Sequence[tuple[Fraction, Fraction]]) -> Fraction | None:
    if len(pairs) < 2:
        return None
    m = sum((x for x, _ in pairs), Fraction(0)) / len(pairs)
    k = sum((y for _, y in pairs), Fraction(0)) / len(pairs)
    return sum(((x - m) * (y - k) for x, y in pairs), Fraction(0)) / (len(pairs) - 1)


def column(table: NDArray[np.float64], j: int) -> list[Fraction]:
    return [Fraction(x) for x in table[:, j] if not math.isnan(x)]


def both(table: NDArray[np.float64], j: int, k: int) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(r[j]), Fraction(r[k])) for r in table if not math.isnan(r[j]) and not math.isnan(r[k])]


def correlation(pairs: Sequence[tuple[Fraction, Fraction]]) -> float | None:
    cov = covariance(pairs)
    left, right = covariance([(x, x) for x, _ in pairs]), covariance([(y, y) for _, y in pairs])
    return float(cov) / math.sqrt(left * right) if cov is not None and left and right else None


@settings(deadline=None)
@given(PAIRS)
def test_equals_the_formulas(pair: NDArray[np.float64]) -> None:
    original, released = pair
    d = original.shape[1]
    found = changes(original, released, NAMES[:d], most=100)
    for j, attribute in enumerate(found["attributes"]):
        assert attribute["name"] == NAMES[j]
        for statistic in ("mean", "variance"):
            old, new = (
                mean(column(t, j)) if statistic == "mean" else covariance([(x, x) for x in column(t, j)])
                for t in (original, released)
            )
            change = 100 * (new - old) / abs(old) if old and new is not None else None
            for key, plain in {"original": old, "released": new, "change": change}.items():
                got = attribute[statistic][key]
                assert got is None if plain is None else got == pytest.approx(float(plain), rel=1e-9, abs=1e-12)
    plain_pairs = {}
    for j, k in combinations(range(d), 2):
        r, s = correlation(both(original, j, k)), correlation(both(released, j, k))
        if r is not None and s is not None:
            plain_pairs[NAMES[j], NAMES[k]] = (r, s)
    listed = found["correlations"]["largest"]
    assert {tuple(entry["attributes"]) for entry in listed} == set(plain_pairs)
    assert found["correlations"]["pairs"] + found["correlations"]["undefined"] == d * (d - 1) // 2
    sizes = [abs(entry["difference"]) for entry in listed]
    assert sizes == sorted(sizes, reverse=True)
    for entry in listed:
        assert (entry["original"], entry["released"]) == pytest.approx(plain_pairs[tuple(entry["attributes"])])
        assert entry["difference"] == pytest.approx(entry["released"] - entry["original"])
    if listed:
        assert found["correlations"]["mean_absolute_difference"] == pytest.approx(sum(sizes) / len(sizes))
    json.dumps(found, allow_nan=False)


def test_lists_only_the_largest_changes() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(50, 8))
    found = changes(table, rng.permutation(table), list("abcdefgh"), most=3)
    assert len(found["correlations"]["largest"]) == 3
    assert found["correlations"]["pairs"] == 28


def test_a_constant_is_constant_whatever_the_rounding() -> None:
    # The mean of ten times 0.1 is not 0.1, but its variance is 0 and it correlates with nothing.
    table = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    found = moments(table, NAMES[:2])
    assert found.variance[0] == 0.0
    assert found.covariance[0, 1] == 0.0
    assert np.isnan(found.correlation[0, 1])


def test_a_mean_that_is_zero_but_for_rounding_is_zero() -> None:
    table = np.random.default_rng(3).normal(size=(1000, 1)) * 100
    table -= table.mean()
    assert changes(table, table, ["a"])["attributes"][0]["mean"]["change"] is None


def test_a_large_offset_costs_no_digits() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(0, 100, (1000, 2)).astype(float)
    small, large = moments(table, NAMES[:2]), moments(table + 1e9, NAMES[:2])
    assert large.variance == pytest.approx(small.variance, rel=1e-12)
    assert large.correlation[0, 1] == pytest.approx(small.correlation[0, 1], rel=1e-9)


@pytest.mark.parametrize("value", [1e200, 5e307, 1e-200])
def test_numbers_out_of_range_are_refused_without_being_told(value: float) -> None:
    table = np.array([[1.0], [2.0], [-3.0]]) * value
    with pytest.raises(InputError, match="'a' has numbers too large or too close") as error:
        changes(table, table, ["a"])
    assert str(value) not in str(error.value)


def test_shapes_names_and_infinite_values_are_checked() -> None:
    table = np.ones((3, 2))
    with pytest.raises(InputError, match="same number of records"):
        changes(table, table[:2], NAMES[:2])
    with pytest.raises(InputError, match="1 names were given for 2"):
        changes(table, table, ["a"])
    with pytest.raises(InputError, match="nothing to measure"):
        changes(table[:0], table[:0], NAMES[:2])
    with pytest.raises(InputError, match="'b' of the release has an infinite value"):
        changes(table, np.array([[1.0, np.inf]] * 3), NAMES[:2])
