"""Classes by missing pattern: all of at least k, and nothing blanked that need not be."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import discreet
from discreet.errors import InputError
from discreet.microdata.classes import pattern_classes

NAMES = ["a", "b", "c"]


@given(arrays(bool, st.tuples(st.integers(1, 60), st.just(3))), st.integers(2, 6))
def test_every_class_has_k_records_that_share_a_pattern(missing: np.ndarray, k: int) -> None:
    try:
        classes = pattern_classes(missing, k, NAMES)
    except InputError:
        # Only records of patterns that are too small can be in the way.
        patterns, counts = np.unique(missing, axis=0, return_counts=True)
        assert counts[counts < k].sum() < k or len(patterns) == 1
        return
    rows = np.concatenate([members for _, members in classes])
    assert sorted(rows.tolist()) == list(range(len(missing)))
    for pattern, members in classes:
        assert len(members) >= k
        blank = np.isin(np.arange(3), sorted(pattern))
        assert (missing[members] <= blank).all()


@given(arrays(bool, st.tuples(st.integers(4, 60), st.just(3))), st.integers(2, 6))
def test_records_of_large_patterns_are_never_touched(missing: np.ndarray, k: int) -> None:
    try:
        classes = pattern_classes(missing, k, NAMES)
    except InputError:
        return
    _, inverse, counts = np.unique(missing, axis=0, return_inverse=True, return_counts=True)
    for pattern, members in classes:
        large = members[counts[inverse.ravel()[members]] >= k]
        assert all(set(np.flatnonzero(missing[row])) == pattern for row in large)


def test_small_patterns_are_blanked_together() -> None:
    missing = np.zeros((10, 3), bool)
    missing[7, 0] = missing[8, 1] = missing[9, 1] = True
    classes = {pattern: rows.tolist() for pattern, rows in pattern_classes(missing, 3, NAMES)}
    assert classes == {frozenset(): [0, 1, 2, 3, 4, 5, 6], frozenset({0, 1}): [7, 8, 9]}


def test_a_small_pattern_joins_a_larger_one_that_lacks_more() -> None:
    missing = np.zeros((10, 3), bool)
    missing[5:, 0] = True
    missing[6:, 1] = True
    classes = {pattern: rows.tolist() for pattern, rows in pattern_classes(missing, 3, NAMES)}
    assert classes == {frozenset(): [0, 1, 2, 3, 4], frozenset({0, 1}): [5, 6, 7, 8, 9]}


def test_too_few_is_an_error_that_names_the_columns() -> None:
    missing = np.zeros((10, 3), bool)
    missing[3, 1] = True
    with pytest.raises(InputError, match=r"1 record lacks a value in 'b'.*k = 3.*impute"):
        pattern_classes(missing, 3, NAMES)


def test_what_gaps_cost_is_told_and_the_better_way_suggested() -> None:
    ages = [20.0 + i for i in range(12)]
    frame = pl.DataFrame({"a": [None, *ages[1:]], "b": [20.0, None, *ages[2:]], "c": ages})
    release = discreet.protect(frame, k=2, quasi="all")
    told = next(note for note in release.evidence["notes"] if "kept apart" in note)
    assert told.startswith("2 missing values kept apart in 2 classes of records: 2 values blanked")
    assert "--missing impute" not in told
    many = frame.with_columns(d=pl.Series([20.0, 21.0, None, *ages[3:]]))
    assert "try --missing impute" in discreet.protect(many, k=2, quasi="all").summary()
    filled = discreet.protect(many, k=2, quasi="all", missing="impute").evidence["notes"]
    assert any(note.startswith("3 missing values filled") for note in filled)
