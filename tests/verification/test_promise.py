"""The check of k-anonymity against counting by hand, and that it fails when it must."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.verification.promise import Promise, Verification

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["n", "s", None]),
        st.one_of(st.none(), st.sampled_from([0.0, 1.5, float("nan")])),
        st.one_of(st.none(), st.sampled_from(["x", ""])),
    ),
    min_size=1,
    max_size=40,
)


@given(ROWS, st.integers(2, 4))
def test_verdict_is_that_of_counting_by_hand(rows: list[tuple[object, object, object]], k: int) -> None:
    frame = pl.DataFrame(
        rows, schema={"region": pl.String, "size": pl.Float64, "kind": pl.String}, orient="row", strict=False
    )
    verdict = discreet.verify(frame, quasi=["size", "kind"], by=["region"], k=k)
    assert isinstance(verdict, Verification)
    counts = Counter((region, None if size != size else size, kind) for region, size, kind in rows)
    assert verdict.passed == (min(counts.values()) >= k)
    assert verdict.checks[0].combinations == len(counts)
    assert verdict.checks[0].smallest == min(counts.values())
    assert verdict.checks[0].exposed == sum(count for count in counts.values() if count < k)


def test_a_missing_value_is_no_wildcard() -> None:
    frame = pl.DataFrame({"a": [1, 1, None]})
    assert not discreet.verify(frame, quasi="a", k=2)
    assert discreet.verify(pl.DataFrame({"a": [1, 1, None, None]}), quasi="a", k=2)


def test_each_group_of_columns_is_checked_on_its_own() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]})
    assert discreet.verify(frame, grouping=[["a"], ["b"]], k=2)
    assert not discreet.verify(frame, grouping=[["a", "b"]], k=2)


def test_strata_are_checked_each_on_its_own() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 1], "by": [1, 1, 1, 2]})
    assert discreet.verify(frame, quasi="a", k=3)
    assert not discreet.verify(frame, quasi="a", by="by", k=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "say what to check"),
        ({"k": 2}, "either as quasi or as a grouping"),
        ({"k": 2, "quasi": "a", "grouping": [["a"]]}, "either as quasi or as a grouping"),
        ({"k": 1, "quasi": "a"}, "at least 2"),
        ({"k": 2, "quasi": ["a", "a"]}, "twice"),
        ({"k": 2, "quasi": ["b"]}, "'b' of the promise is not in the release"),
        ({"promise": {"k": 2}}, "incomplete"),
        ({"promise": {"kind": "magic", "k": 2, "groups": [["a"]]}}, "unknown kind"),
        ({"promise": Promise(2, (("a",),)), "k": 3}, "not both"),
        ({"promise": "nowhere.json"}, "no such file"),
        ({"k": 2, "grouping": "nowhere.toml"}, "no such file"),
    ],
)
def test_arguments_are_checked_at_the_door(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        discreet.verify(pl.DataFrame({"a": [1, 1]}), **arguments)  # type: ignore[arg-type]


def test_a_promise_survives_its_record() -> None:
    promise = Promise(3, (("a", "b"), ("c",)), ("d",))
    assert Promise.from_dict(promise.as_dict()) == promise
    assert "across groups nothing is promised" in promise.words()
