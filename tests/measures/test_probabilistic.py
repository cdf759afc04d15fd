"""`pil` equals its formula in exact arithmetic; its variances are those that resampling shows."""

import json
import math
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.probabilistic import KINDS, probabilistic_loss

VALUES = st.sampled_from([math.nan, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, 10.0])
PAIRS = arrays(np.float64, st.tuples(st.just(2), st.integers(1, 12), st.integers(1, 4)), elements=VALUES)
NAMES = ["a", "b", "c", "d"]
Table = NDArray[np.float64]
Rows = list[tuple[Fraction, Fraction]]


def column(table: Table, j: int) -> list[Fraction]:
    return sorted(Fraction(x) for x in table[:, j] if not math.isnan(x))


def both(table: Table, j: int, k: int) -> Rows:
    return [(Fraction(r[j]), Fraction(r[k])) for r in table if not math.isnan(r[j]) and not math.isnan(r[k])]


def moment(rows: Rows, i: int, j: int) -> Fraction:
    """Central moment μ_ij."""
    m = sum((x for x, _ in rows), Fraction(0)) / len(rows)
    k = sum((y for _, y in rows), Fraction(0)) / len(rows)
    return sum(((x - m) ** i * (y - k) ** j for x, y in rows), Fraction(0)) / len(rows)


def quantile(ordered: list[Fraction], p: float) -> float:
    place = p * (len(ordered) - 1)
    below = min(math.floor(place), len(ordered) - 1)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * Fraction(place - below))


def quantile_deviation(ordered: list[Fraction], p: float) -> float:
    q, n = NormalDist().inv_cdf(p), len(ordered)
    z, density = NormalDist().inv_cdf(0.975), NormalDist().pdf(q)
    h = min(n ** (-1 / 3) * z ** (2 / 3) * (1.5 * density**2 / (2 * q**2 + 1)) ** (1 / 3), p, 1 - p)
    spacing = quantile(ordered, min(p + h, 1.0)) - quantile(ordered, max(p - h, 0.0))
    return math.sqrt(p * (1 - p) / n) * spacing / (2 * h) if spacing > 1e-13 else 0.0


def correlation(rows: Rows) -> float | None:
    if len(rows) < 2 or not (moment(rows, 2, 0) and moment(rows, 0, 2)):
        return None
    return float(moment(rows, 1, 1)) / math.sqrt(moment(rows, 2, 0) * moment(rows, 0, 2))


def correlation_variance(rows: Rows) -> Fraction:
    """Kendall and Stuart's, with r² = μ11²/(μ20·μ02) multiplied out so that μ11 may be 0."""
    m = {(i, j): moment(rows, i, j) for i in range(5) for j in range(5)}
    s, t = m[2, 0], m[0, 2]
    square = m[1, 1] ** 2 / (s * t)
    fourth = m[2, 2] / (s * t) + square / 4 * (m[4, 0] / s**2 + m[0, 4] / t**2 + 2 * m[2, 2] / (s * t))
    return (fourth - m[1, 1] / (s * t) * (m[3, 1] / s + m[1, 3] / t)) / len(rows)


def plain(X: Table, Y: Table) -> dict[str, list[tuple[float, float] | None]]:
    """Of each statistic the change and its standard deviation, or None where the original has none."""
    found: dict[str, list[tuple[float, float] | None]] = {kind: [] for kind in KINDS}
    for j in range(X.shape[1]):
        x, y = column(X, j), column(Y, j)
        for step in range(1, 20):
            p = step / 20
            found["quantiles"].append((abs(quantile(x, p) - quantile(y, p)), quantile_deviation(x, p)))
        if len(x) < 2:
            found["means"].append(None)
            found["variances"].append(None)
            continue
        pairs, other = [(v, v) for v in x], [(v, v) for v in y]
        n, mu2 = len(x), moment(pairs, 1, 1)
        gap = abs(sum(x, Fraction(0)) / n - sum(y, Fraction(0)) / len(y))
        found["means"].append((float(gap), math.sqrt(mu2 / (n - 1))))
        kept = moment(other, 1, 1) * len(y) / (len(y) - 1) if len(y) > 1 else 0
        found["variances"].append((float(abs(mu2 * n / (n - 1) - kept)), math.sqrt((moment(pairs, 4, 0) - mu2**2) / n)))
    for j, k in combinations(range(X.shape[1]), 2):
        rows, other = both(X, j, k), both(Y, j, k)
        if len(rows) < 2:
            found["covariances"].append(None)
            found["correlations"].append(None)
            continue
        kept = moment(other, 1, 1) * len(other) / (len(other) - 1) if len(other) > 1 else 0
        gap = abs(moment(rows, 1, 1) * len(rows) / (len(rows) - 1) - kept)
        found["covariances"].append((float(gap), math.sqrt((moment(rows, 2, 2) - moment(rows, 1, 1) ** 2) / len(rows))))
        r = correlation(rows)
        found["correlations"].append(
            None if r is None else (abs(r - (correlation(other) or 0)), math.sqrt(correlation_variance(rows)))
        )
    return found


def loss(gap: float, deviation: float) -> float:
    if deviation == 0:
        return 0.0 if gap < 1e-12 else 100.0
    return 200.0 * (NormalDist().cdf(gap / deviation) - 0.5)


@settings(deadline=None)
@given(PAIRS)
def test_equals_its_formula(pair: Table) -> None:
    X, Y = pair
    assume((~np.isnan(pair)).any(axis=1).all())
    found = probabilistic_loss(X, Y, NAMES[: X.shape[1]])
    changes = plain(X, Y)
    everything = []
    for kind in KINDS:
        known = [change for change in changes[kind] if change is not None]
        losses = [loss(*change) for change in known]
        everything += losses
        mean = sum(losses) / len(losses) if losses else math.nan
        assert getattr(found, kind) == pytest.approx(mean, rel=1e-7, abs=1e-7, nan_ok=True)
        assert found.terms[kind] == len(losses)
        assert found.left_out[kind] == len(changes[kind]) - len(losses)
        assert found.without_variance[kind] == sum(deviation == 0 for _, deviation in known)
    assert found.pil == pytest.approx(sum(everything) / len(everything), rel=1e-7, abs=1e-7)
    json.dumps(found.as_dict(), allow_nan=False)


@settings(deadline=None)
@given(PAIRS)
def test_identical_data_lose_nothing_and_order_does_not_matter(pair: Table) -> None:
    X, Y = pair
    assume((~np.isnan(pair)).any(axis=1).all())
    names = NAMES[: X.shape[1]]
    assert probabilistic_loss(X, X, names).pil == 0.0
    order = np.random.default_rng(len(X)).permutation(len(X))
    one, two = probabilistic_loss(X, Y, names), probabilistic_loss(X[order], Y[order], names)
    assert one.pil == pytest.approx(two.pil, rel=1e-9, abs=1e-9)
    assert one.without_variance == two.without_variance


def test_a_sample_of_the_original_loses_half() -> None:
    # If θ' is θ and sampling error, |θ'−θ|/√Var θ' is a standard normal's size and the loss uniform on 0..100. So this
    # holds of every kind only if its variance is right; the data are skewed, so that normal theory would fail.
    rng = np.random.default_rng(7)
    n = 3000
    common = rng.gamma(2, 1, n)
    X = np.column_stack([common + rng.gamma(1, 1, n), common * rng.uniform(0.5, 1.5, n), rng.normal(0, 1, n)])
    runs = [probabilistic_loss(X, X[rng.integers(0, n, n)], NAMES[:3]) for _ in range(100)]
    for kind in KINDS:
        assert np.mean([getattr(run, kind) for run in runs]) == pytest.approx(50, abs=5)


@settings(deadline=None)
@given(st.floats(1e-30, 1e30), st.floats(-1e3, 1e3))
def test_units_do_not_matter(factor: float, shift: float) -> None:
    rng = np.random.default_rng(8)
    X = rng.gamma(2, 1, (40, 3))
    Y = X + rng.normal(0, 0.2, X.shape)
    one = probabilistic_loss(X, Y, NAMES[:3])
    two = probabilistic_loss((X + shift) * factor, (Y + shift) * factor, NAMES[:3])
    assert one.pil == pytest.approx(two.pil, rel=1e-6)


def test_a_constant_original_is_all_or_nothing() -> None:
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    same = probabilistic_loss(X, X, NAMES[:2])
    assert same.pil == 0.0
    assert same.without_variance["means"] == 1
    assert same.left_out["correlations"] == 1
    assert probabilistic_loss(X, X + [1, 0], NAMES[:2]).means == 50.0


def test_one_record_has_quantiles_only() -> None:
    found = probabilistic_loss(np.array([[4.0]]), np.array([[5.0]]), ["a"])
    assert found.pil == found.quantiles == 100.0
    assert np.isnan(found.means)
    assert found.left_out["means"] == found.left_out["variances"] == 1


def test_a_column_without_values_is_refused() -> None:
    with pytest.raises(InputError, match="'a' has no value in the release"):
        probabilistic_loss(np.ones((4, 1)), np.full((4, 1), np.nan), ["a"])
