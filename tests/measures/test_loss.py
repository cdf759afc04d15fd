"""`gil` equals its formula in exact arithmetic, the figures of the literature, and 0 where nothing changed."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import discreet
from discreet.errors import InputError
from discreet.measures.loss import PARTS, general_loss

VALUES = st.sampled_from([math.nan, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, 10.0])
PAIRS = arrays(np.float64, st.tuples(st.just(2), st.integers(1, 12), st.integers(1, 4)), elements=VALUES)
NAMES = ["a", "b", "c", "d"]
Table = NDArray[np.float64]


def mean(table: Table, j: int) -> Fraction:
    values = [Fraction(v) for v in table[:, j] if not math.isnan(v)]
    return sum(values, Fraction(0)) / len(values)


def covariance(table: Table, j: int, k: int) -> Fraction | None:
    rows = [(Fraction(r[j]), Fraction(r[k])) for r in table if not math.isnan(r[j]) and not math.isnan(r[k])]
    if len(rows) < 2:
        return None
    m = sum((x for x, _ in rows), Fraction(0)) / len(rows)
    w = sum((y for _, y in rows), Fraction(0)) / len(rows)
    return sum(((x - m) * (y - w) for x, y in rows), Fraction(0)) / (len(rows) - 1)


def correlation(table: Table, j: int, k: int) -> float | None:
    common = table[~np.isnan(table[:, j]) & ~np.isnan(table[:, k])]
    v, s, t = covariance(common, j, k), covariance(common, j, j), covariance(common, k, k)
    return float(v) / math.sqrt(s * t) if v is not None and s and t else None


def plain(X: Table, Y: Table) -> tuple[float, dict[str, float], dict[str, int]]:
    """The formula: IL1s, means, covariances, variances, correlations."""
    terms: dict[str, list[float]] = {part: [] for part in PARTS}
    left_out = dict.fromkeys(PARTS, 0)

    def add(part: str, term: float | None) -> None:
        if term is None:
            left_out[part] += 1
        else:
            terms[part].append(term)

    for j in range(X.shape[1]):
        variance = covariance(X, j, j)
        for x, y in zip(X[:, j], Y[:, j], strict=True):
            if not math.isnan(x) and not math.isnan(y):
                add("values", abs(x - y) / math.sqrt(2 * variance) if variance else None)
        old, new = mean(X, j), mean(Y, j)
        add("means", float(abs(old - new) / abs(old)) if old else None)
        add("variances", float(abs(variance - (covariance(Y, j, j) or 0)) / variance) if variance else None)
    for j, k in combinations(range(X.shape[1]), 2):
        v, r = covariance(X, j, k), correlation(X, j, k)
        add("covariances", float(abs(v - (covariance(Y, j, k) or 0)) / abs(v)) if v else None)
        add("correlations", None if r is None else abs(r - (correlation(Y, j, k) or 0)))
    parts = {part: 100 * sum(each) / len(each) if each else math.nan for part, each in terms.items()}
    counted = [loss for loss in parts.values() if not math.isnan(loss)]
    return (sum(counted) / len(counted) if counted else math.nan), parts, left_out


@settings(deadline=None)
@given(PAIRS)
def test_equals_its_formula(pair: Table) -> None:
    X, Y = pair
    assume((~np.isnan(pair)).any(axis=1).all())
    found = general_loss(X, Y, NAMES[: X.shape[1]])
    gil, parts, left_out = plain(X, Y)
    assert found.gil == pytest.approx(gil, rel=1e-9, abs=1e-10, nan_ok=True)
    for part, formula in PARTS.items():
        assert getattr(found, part) == pytest.approx(parts[part], rel=1e-9, abs=1e-10, nan_ok=True)
        assert getattr(found, part) is getattr(found, formula)
    assert found.left_out == left_out
    assert set(found.without_terms) == {part for part, loss in parts.items() if math.isnan(loss)}
    json.dumps(found.as_dict(), allow_nan=False)


@settings(deadline=None)
@given(PAIRS)
def test_identical_data_lose_nothing(pair: Table) -> None:
    X = pair[0]
    assume((~np.isnan(X)).any(axis=0).all())
    found = general_loss(X, X, NAMES[: X.shape[1]])
    assert found.gil == 0.0 or len(found.without_terms) == 5


@settings(deadline=None)
@given(PAIRS)
def test_the_order_of_rows_does_not_matter(pair: Table) -> None:
    X, Y = pair
    assume((~np.isnan(pair)).any(axis=1).all())
    order = np.random.default_rng(len(X)).permutation(len(X))
    names = NAMES[: X.shape[1]]
    one, two = general_loss(X, Y, names), general_loss(X[order], Y[order], names)
    assert one.gil == pytest.approx(two.gil, rel=1e-12, abs=1e-12, nan_ok=True)
    assert one.left_out == two.left_out


def microaggregate(X: Table, k: int) -> tuple[Table, NDArray[np.int64]]:
    labels = discreet.partition((X - X.mean(axis=0)) / X.std(axis=0), k=k, method="mdav").labels
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, X)
    return (sums / np.bincount(labels)[:, None])[labels], labels


@pytest.mark.parametrize(
    ("name", "k", "il1"),
    [
        ("census", 3, 11.452563),
        ("census", 5, 14.620040),
        ("census", 10, 18.332861),
        ("tarragona", 3, 10.072832),
        ("tarragona", 5, 12.093000),
        ("tarragona", 10, 14.601907),
    ],
)
def test_il1s_of_mdav_is_the_known_figure(reference: Callable[[str], Path], name: str, k: int, il1: float) -> None:
    X = np.loadtxt(reference(f"{name}.csv"), delimiter=",", skiprows=1)
    found = general_loss(X, microaggregate(X, k)[0], [str(j) for j in range(X.shape[1])])
    assert round(found.il1, 6) == il1
    # Groups keep the means, so that part is rounding.
    assert found.means < 1e-9
    assert not any(found.left_out.values())


def test_swapping_rows_of_one_group_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(5, 1, (60, 3))
    Y, labels = microaggregate(X, 4)
    swapped = np.arange(60)
    for group in range(labels.max() + 1):
        members = np.flatnonzero(labels == group)
        swapped[members] = rng.permutation(members)
    assert general_loss(X, Y[swapped], NAMES[:3]) == general_loss(X, Y, NAMES[:3])


def test_one_attribute_has_no_pairs_and_says_so() -> None:
    X, Y = np.array([[1.0], [2.0], [6.0]]), np.array([[2.0], [2.0], [5.0]])
    found = general_loss(X, Y, ["a"])
    assert found.without_terms == ("covariances", "correlations")
    assert found.left_out["covariances"] == found.left_out["correlations"] == 0
    assert found.gil == pytest.approx((found.il1 + found.il2 + found.il4) / 3)


def test_a_constant_release_loses_all_variance_and_association() -> None:
    X = np.random.default_rng(6).normal(5, 1, (50, 2))
    found = general_loss(X, np.full_like(X, 0.1), NAMES[:2])
    assert found.variances == found.covariances == 100.0
    assert found.correlations == pytest.approx(100 * abs(np.asarray(np.corrcoef(X.T))[0, 1]))


def test_a_constant_original_is_left_out_and_counted() -> None:
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    found = general_loss(X, X + 1, NAMES[:2])
    assert found.left_out == {"values": 10, "means": 0, "covariances": 1, "variances": 1, "correlations": 1}


def test_one_record_has_a_mean_only() -> None:
    found = general_loss(np.array([[4.0, 2.0]]), np.array([[5.0, 2.0]]), NAMES[:2])
    assert found.gil == found.means == 12.5
    assert set(found.without_terms) == set(PARTS) - {"means"}


@pytest.mark.parametrize("file", ["original", "release"])
def test_a_column_without_values_is_refused(file: str) -> None:
    full, empty = np.ones((4, 1)), np.full((4, 1), np.nan)
    X, Y = (empty, full) if file == "original" else (full, empty)
    with pytest.raises(InputError, match=f"'a' has no value in the {file}"):
        general_loss(X, Y, ["a"])


def test_the_share_of_changed_categories_is_at_most_100_and_gaps_take_no_part() -> None:
    frame = pl.DataFrame({"town": ["x", "y", None, "z", "z"], "age": [1, 2, 3, 4, 5]})
    release = pl.DataFrame({"town": ["x", "z", "x", None, "z"], "age": [3, 3, 3, 3, 3]})
    found = discreet.measure(frame, release, quasi="all", measures=["il"])
    assert found["changed_per_attribute"] == {"town": 50.0}


def test_changes_of_means_are_told_against_the_standard_deviation() -> None:
    frame = pl.DataFrame({"balance": [-1.0, 1.0, -1.0, 1.001]})
    found = discreet.measure(frame, frame.with_columns(pl.col("balance") + 0.1), quasi="all", measures=["change"])
    assert "means move by at most 8.66 % of a standard deviation" in " ".join(found.summary().lower().split())
