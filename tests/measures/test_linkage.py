"""Distance linkage equals its formula, whatever the order of rows, the ties and the way of searching."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet
from discreet.data.embedding import Axis, Embedding
from discreet.measures.linkage import distance_linkage, draw_sample, mixed_linkage, subset_linkage

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def plain(points: Floats, candidates: Floats, own: Ints, nearest: int) -> list[float]:
    """The formula, record by record."""
    result = []
    for x, mine in zip(points, own, strict=True):
        distances = ((candidates - x) ** 2).sum(axis=1)
        apart = distances - distances[mine]
        slack = 1e-9 * distances[mine] + 1e-18
        nearer, tied = (apart < -slack).sum(), (np.abs(apart) <= slack).sum()
        result.append(float(np.clip((nearest - nearer) / tied, 0.0, 1.0)))
    return result


def averaged(points: Floats, labels: Ints) -> Floats:
    """Give each record the mean of its group."""
    sums = np.zeros((labels.max() + 1, points.shape[1]))
    np.add.at(sums, labels, points)
    return (sums / np.maximum(np.bincount(labels), 1)[:, None])[labels]


@st.composite
def releases(draw: st.DrawFn) -> tuple[Floats, Floats, int]:
    """An original and a release of it: group means, noise, rounding, or another file; with ties or without."""
    n, d = draw(st.integers(2, 400)), draw(st.integers(1, 15))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    levels = draw(st.sampled_from([0, 0, 2, 3, 10]))
    x = rng.integers(0, levels, (n, d)) / 3.0 if levels else rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["means", "noise", "rounded", "other", "same"]))
    if kind == "means":
        return x, averaged(x, rng.integers(0, max(n // 4, 1), n)), n
    if kind == "noise":
        return x, x + rng.normal(size=(n, d)) * draw(st.sampled_from([0.01, 0.3, 1.0])), n
    if kind == "rounded":
        return x, np.round(x), n
    return x, x[rng.permutation(n)] if kind == "other" else x.copy(), n


@given(releases(), st.sampled_from([1, 2]), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_equals_the_formula_both_ways_and_in_any_order(
    release: tuple[Floats, Floats, int], nearest: int, seed: int
) -> None:
    x, y, n = release
    for points, candidates in ((x, y), (y, x)):
        result = distance_linkage(points, candidates, nearest=nearest)
        np.testing.assert_allclose(result.credits, plain(points, candidates, np.arange(n), nearest), rtol=0, atol=1e-12)
        assert result.rate == pytest.approx(100 * result.credits.mean())
        assert result.standard_error is None
        order = np.random.default_rng(seed).permutation(n)
        moved = distance_linkage(points, candidates[order], np.argsort(order), nearest=nearest)
        assert (moved.credits == result.credits).all()


def test_more_candidates_than_points() -> None:
    rng = np.random.default_rng(3)
    points, candidates, own = rng.normal(size=(50, 3)), rng.normal(size=(300, 3)), rng.integers(0, 300, 50)
    result = distance_linkage(points, candidates, own, nearest=2)
    assert result.credits.tolist() == plain(points, candidates, own, 2)


@pytest.mark.parametrize("d", [1, 5, 30])
def test_a_file_released_as_it_is_links_fully(d: int) -> None:
    x = np.random.default_rng(d).normal(size=(3000, d))
    assert distance_linkage(x, x).rate == 100.0


def test_all_records_alike_tie() -> None:
    assert distance_linkage(np.ones((8, 2)), np.ones((8, 2))).rate == 12.5
    assert distance_linkage(np.zeros((8, 0)), np.zeros((8, 0)), nearest=2).rate == 25.0


def test_one_record() -> None:
    assert distance_linkage([[1.0]], [[5.0]], nearest=2).rate == 100.0


def test_swapping_rows_within_groups_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 4))
    labels = discreet.partition(x, k=4, method="mdav").labels
    y = averaged(x, labels)
    swapped = np.arange(600)
    for group in range(labels.max() + 1):
        members = np.flatnonzero(labels == group)
        swapped[members] = rng.permutation(members)
    for nearest in (1, 2):
        whole = distance_linkage(x, y, nearest=nearest)
        assert (distance_linkage(x, y[swapped], nearest=nearest).credits == whole.credits).all()


def test_means_that_differ_in_the_last_bit_tie() -> None:
    x = np.random.default_rng(1).normal(size=(500, 5))
    labels = np.repeat(np.arange(100), 5)
    y = averaged(x, labels)
    blurred = y * (1 + np.random.default_rng(2).integers(-2, 3, y.shape) * 2.0**-52)
    assert (blurred != y).any()
    np.testing.assert_array_equal(distance_linkage(x, blurred).credits, distance_linkage(x, y).credits)


@pytest.mark.parametrize(
    ("name", "rates"), [("census", (29.32, 16.04, 7.29)), ("tarragona", (28.46, 15.17, 6.98))], ids=lambda case: case
)
def test_published_rates_on_the_reference_data(
    reference: Callable[[str], Path], name: str, rates: tuple[float, ...]
) -> None:
    raw = np.loadtxt(reference(f"{name}.csv"), delimiter=",", skiprows=1)
    x = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    for k, rate in zip((3, 5, 10), rates, strict=True):
        y = averaged(x, discreet.partition(x, k=k, method="mdav").labels)
        assert distance_linkage(x, y).rate == pytest.approx(rate, abs=0.005)


def test_a_sample_estimates_the_rate_of_all() -> None:
    x = np.random.default_rng(5).normal(size=(20_000, 4))
    y = averaged(x, discreet.partition(x, k=4, method="tour").labels)
    whole = distance_linkage(x, y)
    errors = []
    for seed in range(20):
        queries = draw_sample(20_000, 2_000, seed)
        part = distance_linkage(x, y, queries=queries)
        assert (part.credits == whole.credits[queries]).all()
        assert part.standard_error is not None
        assert abs(part.rate - whole.rate) < 3 * part.standard_error
        errors.append((part.rate - whole.rate) / part.standard_error)
    # Too large a standard error would pass the test above as well.
    assert 0.5 < np.std(errors) < 1.5


def test_a_sample_is_of_different_records_and_repeatable() -> None:
    rows = draw_sample(1000, 300, 7)
    assert len(np.unique(rows)) == 300
    assert rows.tolist() == draw_sample(1000, 300, 7).tolist() != draw_sample(1000, 300, 8).tolist()
    assert draw_sample(5, 300, 7).tolist() == [0, 1, 2, 3, 4]


def test_subsets_are_averaged() -> None:
    rng = np.random.default_rng(9)
    x = rng.integers(0, 4, (80, 6)).astype(float)
    y = averaged(x, rng.integers(0, 20, 80))
    spans = [slice(0, 1), slice(1, 3), slice(3, 4), slice(5, 6)]
    for choose in (1, 2, 4):
        expected = [
            np.mean(plain(x[:, columns], y[:, columns], np.arange(80), 2))
            for chosen in combinations(spans, choose)
            for columns in [np.r_[chosen]]
        ]
        result = subset_linkage(x, y, spans, choose, nearest=2)
        assert result.rate == pytest.approx(100 * np.mean(expected))
        some = subset_linkage(x, y, spans, choose, nearest=2, queries=np.arange(0, 80, 2))
        np.testing.assert_allclose(some.credits, result.credits[::2])
        assert some.standard_error is not None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: distance_linkage(x, x[:3]), "which belong together"),
        (lambda x: distance_linkage(x, x[:, :1]), "must be the same"),
        (lambda x: distance_linkage(x, x, nearest=3), "1 or 2, not 3"),
        (lambda x: distance_linkage(x, x, [0, 1, 2, 9]), "0 to 3"),
        (lambda x: distance_linkage(x, x, [0.0, 1.0, 2.0, 3.0]), "whole number"),
        (lambda x: distance_linkage(x, x, queries=[4]), "0 to 3"),
        (lambda x: distance_linkage(x, x, queries=[]), "at least one"),
        (lambda x: distance_linkage(x, x, queries=[1, 1]), "different records"),
        (lambda x: distance_linkage(x, x * np.nan), "candidates have missing"),
        (lambda x: distance_linkage(x[:0], x[:0]), "at least one record"),
        (lambda x: subset_linkage(x, x, [slice(0, 1)] * 20, 10), "184,756 subsets of 10, more than 5,000"),
        (lambda x: subset_linkage(x, x, [slice(0, 1)], 2), "1 to 1"),
        (lambda x: draw_sample(10, 0, 0), "at least 1"),
    ],
)
def test_what_cannot_be_linked_is_refused_in_words(call: Callable[[Floats], object], words: str) -> None:
    with pytest.raises(discreet.InputError, match=words):
        call(np.arange(8.0).reshape(4, 2))


@given(st.integers(2, 40), st.integers(0, 2**32), st.sampled_from([1, 2]), st.booleans())
@settings(max_examples=25)
def test_categories_are_linked_as_their_indicators(count: int, seed: int, nearest: int, gaps: bool) -> None:
    rng = np.random.default_rng(seed)
    shares = np.array([0.5, 0.3, 0.2])
    axes = (Axis("n", np.array([2.0]), 0.5), Axis("c", shares, 1.3), Axis("d", shares, 0.7))
    sides = []
    for _ in range(2):
        columns = [rng.integers(0, 4, count).astype(float), *(rng.integers(0, 3, count).astype(float) for _ in "cd")]
        for column in columns if gaps else []:
            column[rng.random(count) < 0.2] = np.nan
        sides.append(columns)
    embedding = Embedding(axes)
    (a, b), x, y = sides, embedding.points(sides[0]), embedding.points(sides[1])
    found = mixed_linkage(embedding, a, b, [0, 1, 2], 3, nearest=nearest)
    assert found.credits == pytest.approx(distance_linkage(x, y, nearest=nearest).credits)
    pairs = mixed_linkage(embedding, a, b, [0, 1, 2], 2, nearest=nearest)
    assert pairs.credits == pytest.approx(subset_linkage(x, y, embedding.spans(), 2, nearest=nearest).credits)
