"""Interval disclosure equals its definition in exact arithmetic, and the known figures."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import discreet
from discreet.errors import InputError
from discreet.measures.interval import has_true_zero, interval_disclosure

# 9, 10 and 11 lie on the ends of each other's intervals of 10 %.
VALUES = st.sampled_from([math.nan, -11.0, -10.0, -1.0, 0.0, 0.5, 1.0, 9.0, 10.0, 11.0])
PAIRS = arrays(np.float64, st.tuples(st.just(2), st.integers(1, 25), st.integers(1, 3)), elements=VALUES)
NAMES = ["a", "b", "c"]
Table = NDArray[np.float64]


def relative(x: Fraction, y: Fraction, column: list[Fraction], width: Fraction) -> bool:
    return abs(y - x) <= width / 100 * abs(x)


def sd(x: Fraction, y: Fraction, column: list[Fraction], width: Fraction) -> bool:
    m = sum(column) / len(column)
    variance = sum((v - m) ** 2 for v in column) / (len(column) - 1) if len(column) > 1 else 0
    return (y - x) ** 2 <= width**2 * variance


def rank(x: Fraction, y: Fraction, column: list[Fraction], width: Fraction) -> bool:
    ranked = sorted(column)
    places = [place for place, value in enumerate(ranked) if value == y]
    own, reach = Fraction(sum(places), len(places)), width * len(ranked) / 100
    low, high = max(math.ceil(own - reach), 0), min(math.floor(own + reach), len(ranked) - 1)
    return ranked[low] <= x <= ranked[high]


KINDS = {"relative": relative, "sd": sd, "rank": rank}


def plain(X: Table, Y: Table, kind: str, records: bool, widths: list[Fraction]) -> tuple[float, list[float]]:
    """Rate and shares per record, by loops over widths, records and attributes."""
    per_record: list[list[float]] = [[] for _ in X]
    hits = cells = 0
    columns = [[Fraction(v) for v in column if not math.isnan(v)] for column in Y.T]
    for width in widths:
        for i in range(len(X)):
            verdicts = [
                not math.isnan(y) and KINDS[kind](Fraction(x), Fraction(y), columns[j], width)
                for j, (x, y) in enumerate(zip(X[i], Y[i], strict=True))
                if not math.isnan(x)
            ]
            hits, cells = hits + sum(verdicts), cells + len(verdicts)
            if verdicts:
                per_record[i].append(float(all(verdicts)) if records else sum(verdicts) / len(verdicts))
    shares = [100 * sum(each) / len(each) if each else math.nan for each in per_record]
    known = [share for share in shares if not math.isnan(share)]
    return (sum(known) / len(known) if records else 100 * hits / cells), shares


@settings(deadline=None)
@given(PAIRS, st.sampled_from(sorted(KINDS)), st.booleans(), st.lists(st.sampled_from([0, 10, 25, 50]), min_size=1))
def test_equals_its_definition(pair: Table, kind: str, records: bool, widths: list[int]) -> None:
    X, Y = pair
    assume((~np.isnan(X)).any())
    # The same numbers for all kinds: percents, and hundredths of a standard deviation.
    exact = [Fraction(w, 100 if kind == "sd" else 1) for w in widths]
    names = NAMES[: X.shape[1]]
    found = interval_disclosure(X, Y, names, kind, records, [float(w) for w in exact])
    rate, shares = plain(X, Y, kind, records, exact)
    assert found.rate == pytest.approx(rate)
    assert found.records == pytest.approx(shares, nan_ok=True)
    for j, name in enumerate(names):
        if (~np.isnan(X[:, j])).any():
            alone = plain(X[:, [j]], Y[:, [j]], kind, False, exact)[0]
            assert found.attributes[name] == pytest.approx(alone)
        else:
            assert np.isnan(found.attributes[name])
    json.dumps(found.as_dict(), allow_nan=False)


@settings(deadline=None)
@given(PAIRS, st.sampled_from(sorted(KINDS)))
def test_the_order_of_rows_does_not_matter(pair: Table, kind: str) -> None:
    X, Y = pair
    assume((~np.isnan(X)).any())
    order = np.random.default_rng(len(X)).permutation(len(X))
    one = interval_disclosure(X, Y, NAMES[: X.shape[1]], kind)
    two = interval_disclosure(X[order], Y[order], NAMES[: X.shape[1]], kind)
    assert one.rate == two.rate
    assert np.array_equal(one.records[order], two.records, equal_nan=True)


@settings(deadline=None)
@given(PAIRS, st.sampled_from(sorted(KINDS)))
def test_a_release_equal_to_the_original_discloses_everything(pair: Table, kind: str) -> None:
    X = pair[0]
    assume((~np.isnan(X)).any())
    assert interval_disclosure(X, X, NAMES[: X.shape[1]], kind).rate == 100.0


def test_defaults_are_those_of_the_sources() -> None:
    X = np.random.default_rng(1).normal(size=(20, 2))
    kinds = {kind: interval_disclosure(X, X, NAMES[:2], kind) for kind in KINDS}
    assert {kind: found.record_wise for kind, found in kinds.items()} == {"relative": False, "sd": True, "rank": True}
    assert kinds["relative"].widths == (10.0,)
    assert kinds["sd"].widths == (0.1,)
    assert kinds["rank"].widths == tuple(range(1, 11))


def test_an_original_of_zero_has_an_interval_of_no_width() -> None:
    X, Y = np.zeros((2, 1)), np.array([[0.0], [1e-12]])
    assert list(interval_disclosure(X, Y, ["a"]).records) == [100.0, 0.0]


def test_a_value_on_the_end_is_inside_whatever_the_rounding() -> None:
    # In floating point 0.33 − 0.3 is more than 0.1·0.3, and the mean of three times 0.1 is not 0.1.
    assert interval_disclosure(np.array([[0.3]]), np.array([[0.33]]), ["a"]).rate == 100.0
    X = np.full((3, 1), 0.1)
    for kind in KINDS:
        assert interval_disclosure(X, np.full((3, 1), (0.1 + 0.1 + 0.1) / 3), ["a"], kind).rate == 100.0


def test_missing_values_take_no_part_or_protect() -> None:
    X, Y = np.array([[1.0, np.nan], [1.0, 2.0], [np.nan, np.nan]]), np.array([[1.0, 7.0], [1.0, np.nan], [1.0, 1.0]])
    found = interval_disclosure(X, Y, NAMES[:2], records=True)
    assert list(found.records[:2]) == [100.0, 0.0]
    assert np.isnan(found.records[2])
    assert found.rate == 50.0
    assert interval_disclosure(X, np.full_like(Y, np.nan), NAMES[:2]).rate == 0.0
    assert interval_disclosure(X, np.full_like(Y, np.nan), NAMES[:2], "rank").rate == 0.0
    with pytest.raises(InputError, match="no value in any"):
        interval_disclosure(np.full_like(X, np.nan), Y, NAMES[:2])


def microaggregate(X: Table, k: int) -> Table:
    labels = discreet.partition((X - X.mean(axis=0)) / X.std(axis=0), k=k, method="mdav").labels
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, X)
    released: Table = (sums / np.bincount(labels)[:, None])[labels]
    return released


@pytest.mark.parametrize(("k", "sdid"), [(3, 25.8993), (5, 16.1871), (10, 9.4724)])
def test_sdid_of_mdav_is_the_known_figure(reference: Callable[[str], Path], k: int, sdid: float) -> None:
    X = np.loadtxt(reference("tarragona.csv"), delimiter=",", skiprows=1)
    found = interval_disclosure(X, microaggregate(X, k), [str(j) for j in range(X.shape[1])], "sd")
    assert round(found.rate, 4) == sdid


def test_numbers_near_the_end_of_their_range_are_compared() -> None:
    X = np.array([[1e308], [-1e308], [5e307]])
    for kind in KINDS:
        assert interval_disclosure(X, X, ["a"], kind).rate == 100.0
    assert list(interval_disclosure(X, X[::-1], ["a"]).records) == [0.0, 100.0, 0.0]


def test_wrong_arguments_name_what_is_allowed() -> None:
    X = np.ones((2, 1))
    with pytest.raises(InputError, match="relative, rank, sd"):
        interval_disclosure(X, X, ["a"], "wide")
    wrong: list[float | list[float]] = [-1.0, math.nan, []]
    for width in wrong:
        with pytest.raises(InputError, match="width"):
            interval_disclosure(X, X, ["a"], width=width)


ZEROES = st.sampled_from([(0.0, 1.0), (40.0, 12.0), (1985.0, 4.0), (44.95, 0.03), (-93.3, 0.1), (12_656.0, 700.0)])


@given(st.integers(0, 10**6), ZEROES)
def test_a_share_is_measured_only_of_what_has_a_true_zero(seed: int, where: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(*where, 200) if where[0] else rng.lognormal(3, 1, 200)
    x = np.abs(x) if where[0] == 40.0 else x
    y = np.full(200, x.mean())
    found = interval_disclosure(x[:, None], y[:, None], ["a"], "scale")
    near = where[0] not in (0.0, 40.0)
    assert has_true_zero(x) is not near
    assert found.by_sd == (("a",) if near else ())
    pure = (
        interval_disclosure(x[:, None], y[:, None], ["a"], "sd", False)
        if near
        else interval_disclosure(x[:, None], y[:, None], ["a"])
    )
    assert found.rate == pure.rate
    # Ten percent either way would call all of these known.
    assert found.rate < 50.0


def test_widths_of_the_scale_are_percent_of_the_value_or_of_the_standard_deviation() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.lognormal(3, 1, 90), rng.normal(1985, 4, 90)])
    Y = X + rng.normal(size=X.shape)
    for width in (5.0, 10.0, 50.0):
        found = interval_disclosure(X, Y, ["a", "b"], "scale", width=width)
        share = interval_disclosure(X[:, :1], Y[:, :1], ["a"], "relative", width=width)
        spread = interval_disclosure(X[:, 1:], Y[:, 1:], ["b"], "sd", False, width / 100)
        assert found.attributes == share.attributes | spread.attributes
        assert found.by_sd == ("b",)
    assert interval_disclosure(X, Y, ["a", "b"], "scale", true_zeros=[False, True]).by_sd == ("a",)


@pytest.mark.parametrize("values", [[0.0, 0.0], [5.0, 5.0], [np.nan, np.nan], [0.0, 1e300]])
def test_what_tells_nothing_against_its_zero_keeps_it(values: list[float]) -> None:
    assert has_true_zero(np.array(values))
