"""The check of households against pandas; it fails when it must."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.verification.promise import Promise, check

FRAME = pl.DataFrame({"age": [30, 40, 40, 30, 30, 30], "home": [1, 1, 2, 2, 3, 3]})


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3), st.booleans())
def test_counts_are_those_of_pandas(seed: int, homes: int, values: int, strata: bool) -> None:
    rng = np.random.default_rng(seed)
    count = 24
    table = pd.DataFrame(
        {
            "home": rng.integers(0, homes, count),
            "a": [None if value == 0 else str(value) for value in rng.integers(0, values + 1, count)],
            "b": rng.integers(0, 2, count) - 0.5,
            "area": rng.integers(0, 2, count),
        }
    )
    by = ["area"] if strata else []
    groups = (("a",), ("b",)) if values == 1 else (("a", "b"),)
    found = check(pl.from_pandas(table), Promise(2, groups, tuple(by), household="home"))
    for group, checked in zip(groups, found.checks, strict=True):
        looks = table[[*by, *group]].map(repr).agg("|".join, axis=1)
        whole = looks.groupby(table["home"]).agg(lambda own: " & ".join(sorted(own)))
        alike = whole.map(whole.value_counts())
        members = table["home"].value_counts()
        assert checked.combinations == whole.nunique()
        assert checked.smallest == alike.min()
        assert checked.too_small == (whole.value_counts() < 2).sum()
        assert checked.exposed == members[alike.index[alike < 2]].sum()
    assert bool(found) == all(checked.smallest >= 2 for checked in found.checks)


def test_a_verdict_counts_households() -> None:
    found = discreet.verify(FRAME, quasi="age", k=2, household="home")
    assert not found
    assert found.words() == (
        "NOT KEPT: 1 combination of age has fewer than 2 households (2 records exposed; the rarest has 1 household)"
    )
    kept = discreet.verify(FRAME[:4], quasi="age", k=2, household="home")
    assert kept.words() == "passed: 1 combination in 4 records, the rarest with 2 households"
    # Every record of it is one of two that look alike; three members are not two.
    assert discreet.verify(FRAME[:4], quasi="age", k=2)
    assert not discreet.verify(pl.concat([FRAME[:4], FRAME[:1]]), quasi="age", k=2, household="home")


def test_a_promise_of_households_is_read_again_from_its_record() -> None:
    promise = Promise(2, (("age",),), household="home")
    assert Promise.from_dict(promise.as_dict()) == promise
    assert "of a whole household is that of at least 2 households" in promise.words()
    with pytest.raises(InputError, match="damaged"):
        Promise.from_dict(promise.as_dict() | {"household": 3})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"household": "house"}, "'house' of the promise is not in the release"),
        ({"household": "age"}, "stands twice"),
        ({"household": 3}, "household must be the name of a column"),
        ({"household": "home", "person": "home"}, "leave out person"),
    ],
)
def test_what_makes_no_sense_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        discreet.verify(FRAME, quasi="age", k=2, **said)


def test_a_record_without_a_household_is_refused() -> None:
    frame = FRAME.with_columns(home=pl.when(pl.col("home") > 1).then("home"))
    with pytest.raises(InputError, match="'home' does not say of which household 2 records are"):
        discreet.verify(frame, quasi="age", k=2, household="home")
