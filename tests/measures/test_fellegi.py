"""Probabilistic linkage equals its formulas written out over all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet
from discreet.kernels.space import fellegi as kernels
from discreet.measures import fellegi
from discreet.measures.fellegi import decile_bins, probabilistic_linkage

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def plain_model(x: Ints, y: Ints, first: float = 0.9) -> tuple[Floats, Floats]:
    """EM over the full table of pairs, in products of probabilities."""
    agree = (x[:, None, :] == y[None, :, :]).reshape(-1, x.shape[1])
    m, u, p = np.full(x.shape[1], first), np.clip(agree.mean(axis=0), 1e-6, 1 - 1e-6), 1 / len(y)
    p = float(np.clip(p, 1e-6, 1 - 1e-6))
    for _ in range(1000):
        match = p * np.where(agree, m, 1 - m).prod(axis=1)
        other = (1 - p) * np.where(agree, u, 1 - u).prod(axis=1)
        g = match / (match + other)
        new = [
            np.clip((agree * g[:, None]).sum(axis=0) / g.sum(), 1e-6, 1 - 1e-6),
            np.clip((agree * (1 - g)[:, None]).sum(axis=0) / (1 - g).sum(), 1e-6, 1 - 1e-6),
        ]
        change = max(np.abs(new[0] - m).max(), np.abs(new[1] - u).max())
        m, u = new
        if change <= 1e-10:
            break
    return m, u


def likelihood(x: Ints, y: Ints, m: Floats, u: Floats) -> float:
    """The logarithm of how likely the agreements of all pairs are."""
    agree = (x[:, None, :] == y[None, :, :]).reshape(-1, x.shape[1])
    own, other = np.where(agree, m, 1 - m).prod(axis=1), np.where(agree, u, 1 - u).prod(axis=1)
    return float(np.log(own / len(y) + other * (1 - 1 / len(y))).sum())


def plain_links(x: Ints, y: Ints, own: Ints, m: Floats, u: Floats) -> list[float]:
    """Highest weights under a model, pair by pair."""
    result = []
    for record, mine in zip(x, own, strict=True):
        weights = np.where(record == y, np.log(m / u), np.log((1 - m) / (1 - u))).sum(axis=1)
        top = weights >= weights.max() - 1e-9
        result.append(float(top[mine] / top.sum()))
    return result


def blurred(n: int, attributes: int, levels: int, share: float, seed: int) -> tuple[Ints, Ints]:
    """Codes, and the same with a share of them drawn anew."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, levels, (n, attributes))
    return x, np.where(rng.random(x.shape) < share, rng.integers(0, levels, x.shape), x)


@given(st.integers(2, 40), st.integers(1, 20), st.integers(1, 10), st.floats(0, 1), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_links_equal_the_formula(n: int, attributes: int, levels: int, share: float, seed: int) -> None:
    x, y = blurred(n, attributes, levels, share, seed)
    result = probabilistic_linkage(x, y)
    for chances in (result.m, result.u):
        assert ((chances >= 1e-6) & (chances <= 1 - 1e-6)).all()
    np.testing.assert_allclose(result.credits, plain_links(x, y, np.arange(n), result.m, result.u), atol=1e-12)
    assert result.rate == pytest.approx(100 * result.credits.mean())
    assert result.standard_error is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n", "attributes", "levels"), [(60, 3, 10), (80, 6, 5), (40, 12, 3), (50, 18, 4)])
def test_the_model_is_that_of_em_over_all_pairs(n: int, attributes: int, levels: int, seed: int) -> None:
    x, y = blurred(n, attributes, levels, 0.2, seed)
    result = probabilistic_linkage(x, y)
    m, u = plain_model(x, y)
    np.testing.assert_allclose(result.m, m, atol=1e-7)
    np.testing.assert_allclose(result.u, u, atol=1e-7)
    assert result.p == 1 / n


@pytest.mark.parametrize("seed", [0, 89, 206])
def test_of_two_starts_the_likelier_end_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, attributes = int(rng.integers(8, 200)), int(rng.integers(1, 7))
    x = rng.integers(0, rng.integers(2, 9, attributes), (n, attributes))
    kept = rng.random((n, attributes)) < rng.uniform(0.05, 1, attributes)
    y = np.where(kept, x, rng.integers(0, 9, (n, attributes)))
    result = probabilistic_linkage(x, y)
    high, low = (likelihood(x, y, *plain_model(x, y, first)) for first in (0.9, 0.3))
    assert likelihood(x, y, result.m, result.u) == pytest.approx(max(high, low), rel=1e-9)
    assert (low > high + 1.0) == (seed > 0)


def test_the_model_finds_the_chances_that_made_the_data() -> None:
    x, y = blurred(1000, 6, 10, 0.3, 4)
    result = probabilistic_linkage(x, y)
    # A code drawn anew is the same in one of ten cases.
    np.testing.assert_allclose(result.m, 0.7 + 0.03, atol=0.06)
    np.testing.assert_allclose(result.u, 0.1, atol=0.01)


@pytest.mark.parametrize("attributes", [5, 20])
def test_patterns_are_all_pairs(attributes: int) -> None:
    rng = np.random.default_rng(attributes)
    x, y = rng.integers(0, 2, (attributes, 90)), rng.integers(0, 2, (attributes, 5000))
    weights, copies = rng.integers(1, 4, 90).astype(float), rng.integers(1, 9, 5000).astype(float)
    words, counts = kernels.patterns(x, weights, y, copies, lambda fraction: None)
    bits = 2 ** np.arange(attributes)
    pairs = ((x[:, :, None] == y[:, None, :]) * bits[:, None, None]).sum(axis=0).ravel()
    found, inverse = np.unique(pairs, return_inverse=True)
    assert words.tolist() == found.tolist()
    assert counts.tolist() == np.bincount(inverse, np.outer(weights, copies).ravel()).tolist()


def test_as_many_attributes_as_a_word_has_bits() -> None:
    x, y = blurred(60, 62, 8, 0.5, 0)
    result = probabilistic_linkage(x, y)
    assert result.credits.tolist() == plain_links(x, y, np.arange(60), result.m, result.u)
    with pytest.raises(discreet.InputError, match="at most 62 attributes, not 63"):
        probabilistic_linkage(np.zeros((2, 63), int), np.zeros((2, 63), int))


def test_the_order_of_the_release_does_not_matter() -> None:
    x, y = blurred(300, 4, 6, 0.2, 1)
    order = np.random.default_rng(0).permutation(300)
    whole, moved = probabilistic_linkage(x, y), probabilistic_linkage(x, y[order], np.argsort(order))
    np.testing.assert_allclose(moved.m, whole.m, atol=1e-9)
    np.testing.assert_allclose(moved.credits, whole.credits)


def test_a_file_of_different_records_released_as_it_is_links_fully() -> None:
    x = np.array([(a, b, c) for a in range(7) for b in range(7) for c in range(7)])
    assert probabilistic_linkage(x, x).rate == 100.0


def test_constant_attributes_and_single_records() -> None:
    same = np.zeros((10, 2), int)
    assert probabilistic_linkage(same, same).rate == pytest.approx(10.0)
    assert probabilistic_linkage(same[:1], same[:1]).rate == 100.0


def test_too_many_pairs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = blurred(3000, 5, 6, 0.2, 2)
    whole = probabilistic_linkage(x, y)
    distinct = len(np.unique(y, axis=0))
    monkeypatch.setattr(fellegi, "MOST_PAIRS", 600 * distinct)
    part = probabilistic_linkage(x, y, seed=3)
    assert len(part.queries) == len(part.credits) == 600
    assert part.standard_error is not None
    assert abs(part.rate - whole.rate) < 3 * part.standard_error
    assert probabilistic_linkage(x, y, seed=3).credits.tolist() == part.credits.tolist()


def test_bins_are_the_original_s_deciles() -> None:
    x = np.arange(101.0)
    codes, moved = decile_bins(x, x + 5.5)
    assert codes[[0, 10, 11, 90, 91, 100]].tolist() == [0, 0, 1, 8, 9, 9]
    assert moved[[0, 4, 5, 100]].tolist() == [0, 0, 1, 9]
    assert np.bincount(codes).tolist() == [11] + [10] * 9


def test_a_frequent_value_has_one_bin_and_missing_ones_their_own() -> None:
    x = np.array([0.1] * 60 + [5.0] * 30 + [np.nan] * 10)
    released = np.where(np.arange(100) < 60, (0.1 + 0.1 + 0.1) / 3, np.nan)
    assert released[0] != 0.1
    codes, others = decile_bins(x, released)
    assert len(set(codes[:60])) == len(set(codes[60:90])) == len(set(codes[90:])) == 1
    assert len(set(codes)) == 3
    assert (others == np.where(np.arange(100) < 60, codes[0], codes[99])).all()


def test_an_attribute_of_missing_values_only() -> None:
    codes, others = decile_bins([np.nan, np.nan], [np.nan, 3.0])
    assert codes[0] == codes[1] == others[0] != others[1]


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (np.zeros((2, 2)), np.zeros((2, 2), int), "whole numbers"),
        (np.zeros((2, 2), int), np.zeros((2, 3), int), "must be the same"),
        (np.zeros((2, 2), int), np.zeros((3, 2), int), "belong together"),
        (np.zeros((0, 2), int), np.zeros((0, 2), int), "at least one record"),
    ],
)
def test_what_cannot_be_linked_is_refused_in_words(x: Ints, y: Ints, words: str) -> None:
    with pytest.raises(discreet.InputError, match=words):
        probabilistic_linkage(x, y)
