"""Classes by missing pattern: all of at least k, and nothing blanked that need not be."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import discreet
from discreet.data.attributes import Attribute
from discreet.errors import InputError
from discreet.microdata.classes import pattern_classes
from discreet.microdata.gaps import Trials, tell_gaps

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


LOSSES = re.compile(r"; (?:after (\d+) steps? )?the loss is ([\d.]+) % so, and ([\d.]+) % with --missing \w+")


@pytest.mark.parametrize("method", ["memetic", "mdav"])
@pytest.mark.parametrize("gaps", [1, 4])
def test_what_gaps_cost_is_told_in_loss_after_as_many_steps_and_the_better_way_suggested(
    method: str, gaps: int
) -> None:
    ages = [20.0 + i for i in range(12)]
    frame = pl.DataFrame({"a": [*[None] * gaps, *ages[gaps:]], "b": ages, "c": ages})
    rows = pl.int_range(pl.len()).is_in([1] if gaps == 1 else [10, 11])
    frame = frame.with_columns(b=pl.when(~rows).then("b"))
    releases = {
        way: discreet.protect(frame, k=2, quasi="all", missing=way, steps=40, method=method)
        for way in ("separate", "impute")
    }
    advised = 0
    for way, other_way in (("separate", "impute"), ("impute", "separate")):
        loss = releases[way].measures["il"]
        told = next(note for note in releases[way].evidence["notes"] if "missing value" in note)
        found = LOSSES.search(told)
        if found is None:
            # Nothing is told where a few steps promise nothing.
            assert releases[way].evidence["search"]["steps"] > 8
            continue
        steps, mine, other = found.groups()
        assert float(mine) == pytest.approx(loss, abs=0.01)
        if steps is not None:
            again = discreet.protect(frame, k=2, quasi="all", missing=other_way, steps=int(steps))
            assert float(other) == pytest.approx(again.measures["il"], abs=0.01)
        else:
            assert float(other) == pytest.approx(releases[other_way].measures["il"], abs=0.01)
        assert ("try --missing" in told) == (loss - float(other) > loss / 10)
        advised += "try --missing" in told
    assert advised == (gaps == 1)
    assert sum("loss" in note for note in discreet.protect(frame, k=2, quasi="c", ignore="rest").evidence["notes"]) == 0


def test_a_gain_of_less_than_a_tenth_is_no_advice_and_nor_is_one_of_a_search_broken_off() -> None:
    asked: list[int] = []

    def words(*losses: float | None, steps: int = 100, records: int = 3_000) -> str:
        asked.clear()
        left = list(losses)
        gaps = np.where(np.arange(records) < 2, np.nan, np.arange(records))

        def search(_attributes: object, _groups: object, steps: int) -> float | None:
            asked.append(steps)
            return left.pop(0)

        trials = Trials(lambda _turned: [], search, steps, lambda at: 24.0 if at < steps else 9.11)
        return " ".join(tell_gaps([Attribute("a", "numeric", gaps, pl.Float64())], [], trials))

    # The first steps promise much: at as many steps the gain is small.
    told = words(12.11, 8.75)
    assert told.endswith("; after 100 steps the loss is 9.11 % so, and 8.75 % with --missing impute")
    assert asked == [10, 100]
    assert words(12.11, 8.10).endswith(" 9.11 % so, and 8.10 % with --missing impute: try --missing impute")
    assert "loss" not in words(23.5)
    assert asked == [10]
    assert "loss" not in words(12.11, None)
    assert words(8.10, steps=0).endswith(
        "; the loss is 9.11 % so, and 8.10 % with --missing impute: try --missing impute"
    )
    # A long search is not made again: both ways have fewer steps then, and the same.
    told = words(12.11, 9.0, 10.4, steps=1_000)
    assert told.endswith(
        "; after 100 steps the loss is 10.40 % so, and 9.00 % with --missing impute: try --missing impute"
    )
    assert asked == [10, 100, 100]


def test_where_patterns_are_too_small_the_other_way_is_said_to_be_impossible() -> None:
    frame = pl.DataFrame({"a": [None, *range(11)], "b": range(12)})
    release = discreet.protect(frame, k=3, quasi="all", missing="impute", steps=2)
    assert any("--missing separate is not possible" in note for note in release.evidence["notes"])
