"""Classes by missing pattern: all of at least k, and nothing blanked that need not be."""

import re

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


def test_what_gaps_cost_is_told_in_loss_and_the_better_way_suggested() -> None:
    ages = [20.0 + i for i in range(12)]
    frame = pl.DataFrame({"a": [None, *ages[1:]], "b": [20.0, None, *ages[2:]], "c": ages})
    losses = {}
    for way, begins in (("separate", "2 missing values kept apart in 2 classes of records: 2 values blanked"),
                        ("impute", "2 missing values filled")):  # fmt: skip
        release = discreet.protect(frame, k=2, quasi="all", missing=way, steps=40)
        told = next(note for note in release.evidence["notes"] if note.startswith(begins))
        mine, other = (float(number) for number in re.findall(r"([\d.]+) % (?:so|with)", told))
        # So few records are soon searched: a short search finds what the long one does.
        assert mine == pytest.approx(release.measures["il"], abs=0.01)
        assert ("try --missing" in told) == (other < mine)
        losses[way] = (mine, other)
    assert losses["separate"] == losses["impute"][::-1]
    assert sum("loss" in note for note in discreet.protect(frame, k=2, quasi="c", ignore="rest").evidence["notes"]) == 0


def test_where_patterns_are_too_small_the_other_way_is_said_to_be_impossible() -> None:
    frame = pl.DataFrame({"a": [None, *range(11)], "b": range(12)})
    release = discreet.protect(frame, k=3, quasi="all", missing="impute", steps=2)
    assert any("--missing separate is not possible" in note for note in release.evidence["notes"])
