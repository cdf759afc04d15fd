"""Partitions made elsewhere, by labels or by a function: released and verified like any other, or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError

FRAME = pl.DataFrame(
    {
        "age": [20, 22, 24, 60, 62, 64, 40, 42],
        "sex": ["f", "f", "f", "m", "m", "m", "f", "m"],
        "ill": [0, 1, 0, 1, 0, 1, 0, 1],
    }
)
LABELS = ["a", "a", "a", "b", "b", "b", "a", "b"]


def slices(points: Any, k: int, axis: int = 0) -> Any:
    """Slices along an axis."""
    order = np.argsort(points[:, axis], kind="stable")
    labels = np.empty(len(points), np.int64)
    labels[order] = (np.arange(len(points)) // k).clip(max=len(points) // k - 1)
    return labels


@given(
    labels=st.lists(st.integers(0, 3), min_size=12, max_size=40),
    k=st.integers(2, 4),
    seed=st.integers(0, 2**16),
)
def test_the_groups_given_are_the_groups_released_or_refused(labels: list[int], k: int, seed: int) -> None:
    frame = pl.DataFrame({"x": np.random.default_rng(seed).normal(size=len(labels)), "c": range(len(labels))})
    sizes = np.bincount(labels)
    small = int(((sizes > 0) & (sizes < k)).sum())
    if small:
        with pytest.raises(InputError, match=rf"labels: {small} of {int((sizes > 0).sum())} groups have fewer than k"):
            discreet.protect(frame, k=k, quasi="x", confidential="c", labels=labels, measures="none")
        return
    release = discreet.protect(frame, k=k, quasi="x", confidential="c", labels=labels, measures="none")
    expected = frame.with_columns(g=pl.Series(labels)).select(pl.col("x").mean().over("g"))["x"]
    assert np.allclose(release.data["x"], expected)
    assert release.data["x"].n_unique() <= len(set(labels))
    assert release.verification.passed


@pytest.mark.parametrize(
    "mine", [LABELS, np.array(LABELS), pd.Series(LABELS), pl.Series(LABELS), pl.DataFrame({"g": LABELS})]
)
def test_labels_may_be_any_column(mine: Any) -> None:
    release = discreet.protect(FRAME, k=4, quasi=["age", "sex"], confidential="ill", labels=mine)
    assert release.data["age"].unique().sort().to_list() == [26.5, 57.0]
    assert release.evidence["search"]["method"] == release.evidence["parameters"]["method"] == "labels"
    assert release.verification.passed
    assert {"il", "dld", "k"} <= set(release.measures)


def test_groups_are_cut_at_strata_or_refused() -> None:
    whole = [0] * 8
    release = discreet.protect(FRAME, k=4, quasi="age", by="sex", confidential="ill", labels=whole)
    assert release.measures["groups"] == 2
    assert any("cut" in note for note in release.evidence["notes"])
    across = [*"aaabbbba"]
    with pytest.raises(InputError, match="2 of 4 groups have fewer than k = 2 records within their stratum"):
        discreet.protect(FRAME, k=2, quasi="age", ignore="ill", by="sex", labels=across)


@pytest.mark.parametrize(
    ("mine", "message"),
    [
        ([0] * 7, "one label for each of the 8 records; 7 were given"),
        ([0.0] * 7 + [float("nan")], "1 of the 8 records have no label"),
        (["a"] * 7 + [None], "1 of the 8 records have no label"),
        (np.zeros((8, 2)), "one label for each record"),
    ],
)
def test_what_are_no_labels_is_refused(mine: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        discreet.protect(FRAME, k=4, quasi="age", ignore="rest", labels=mine)


def test_labels_and_a_method_exclude_each_other() -> None:
    with pytest.raises(InputError, match="leave out method"):
        discreet.protect(FRAME, k=4, quasi="age", ignore="rest", labels=LABELS, method="mdav")


def test_labels_of_several_groups_of_columns_are_those_of_a_release() -> None:
    columns: Any = {"quasi": ["age", "sex"], "confidential": "ill", "grouping": [["age"], ["sex"]]}
    first = discreet.protect(FRAME, k=4, method="mdav", **columns)
    again = discreet.protect(FRAME, k=4, labels=first.labels, **columns)
    assert again.data.equals(first.data)
    assert again.labels.tolist() == first.labels.tolist()


def test_labels_come_from_a_file_and_are_planned(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    pl.DataFrame({"group": LABELS}).write_csv(path)
    release = discreet.protect(FRAME, k=4, quasi="age", ignore="rest", labels=path)
    assert release.data["age"].unique().sort().to_list() == [26.5, 57.0]
    planned = discreet.plan(FRAME, k=4, quasi="age", ignore="rest", labels=path)
    assert planned.parameters["method"] == "labels"
    with pytest.raises(InputError, match=r"groups have fewer than k = 5"):
        discreet.plan(FRAME, k=5, quasi="age", ignore="rest", labels=path)


def test_levels_left_open_are_chosen_by_the_labels() -> None:
    frame = pl.DataFrame({"zip": ["111", "112", "113", "211", "212", "213"], "c": range(6)})
    release = discreet.protect(
        frame, k=3, quasi="zip", confidential="c", coarsen={"zip": "auto"}, labels=[0, 0, 0, 1, 1, 1]
    )
    assert release.verification.passed
    assert release.measures["groups"] == 2


def test_a_function_is_a_method() -> None:
    release = discreet.protect(FRAME, k=4, quasi=["age", "sex"], confidential="ill", method=slices, params={"axis": 0})
    assert release.evidence["search"]["method"] == "slices"
    assert release.evidence["search"]["params"] == {"axis": 0}
    assert release.measures["groups"] == 2
    assert discreet.partition(np.arange(8.0)[:, None], k=4, method=slices).labels.tolist() == [0] * 4 + [1] * 4


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda points, k: np.arange(len(points)), "8 of 8 groups have fewer than k = 4 records, the smallest 1"),
        (lambda points, k: [0], "one label for each of the 8 records; 1 were given"),
        (lambda points, k: None, "one label for each of the 8 records"),
    ],
)
def test_what_a_function_returns_is_checked(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        discreet.protect(FRAME, k=4, quasi="age", ignore="rest", method=function)


def test_a_function_cannot_change_the_points() -> None:
    def shift(points: Any, k: int) -> Any:
        points += 1

    with pytest.raises(ValueError, match="read-only"):
        discreet.partition(np.arange(8.0)[:, None], k=4, method=shift)


def test_a_function_has_only_its_own_parameters() -> None:
    with pytest.raises(InputError, match="the method slices has no parameter 'axes'"):
        discreet.partition(np.arange(8.0)[:, None], k=4, method=slices, params={"axes": 1})


def test_pandas_comes_back_as_pandas() -> None:
    frame = FRAME.to_pandas().astype({"sex": "category"}).set_index(pd.Index(list("stuvwxyz")))
    release = discreet.protect(frame, k=4, quasi=["age", "sex"], confidential="ill", labels=LABELS)
    better = discreet.refine(frame, release.data, quasi=["age", "sex"], confidential="ill", steps=1)
    for found in (release.data, better.data):
        assert isinstance(found, pd.DataFrame)
        assert found.index.equals(frame.index)
        assert found["sex"].dtype == "category"
        assert found["ill"].tolist() == frame["ill"].tolist()
