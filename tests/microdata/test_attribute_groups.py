"""Releases with several groups of quasi-identifiers: k-anonymity within each, and nothing else claimed."""

import json
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.release.evidence import record, schema
from discreet.release.release import Release
from random_frames import ORDER, ROLES, frames

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
QUASI = ROLES["quasi"]
X = np.random.default_rng(5).normal(size=(90, 4)) * [1, 100, 0.01, 7] + 3
FRAME = pl.DataFrame(X, schema=["a", "b", "c", "d"])
GROUPING = [["d", "b"], ["a"], ["c"]]


@st.composite
def groupings(draw: st.DrawFn) -> list[list[str]]:
    """Any grouping of the quasi-identifiers, in any order."""
    labels = [draw(st.integers(0, 3)) for _ in QUASI]
    groups = [[name for name, label in zip(QUASI, labels, strict=True) if label == wanted] for wanted in range(4)]
    return draw(st.permutations([draw(st.permutations(group)) for group in groups if group]))


def protect(frame: Any, **options: Any) -> Release | None:
    """A release, or None where fewer than k records share a stratum or a pattern of missing values."""
    try:
        return discreet.protect(frame, **{**ROLES, "ordinal": {"size": ORDER}, "measures": "none", **options})
    except InputError as error:
        if re.search("fewer than k|no values at all|more than the", str(error)):
            return None
        raise


@SLOW
@given(
    frames(), groupings(), st.integers(2, 5), st.sampled_from(["separate", "impute"]), st.sampled_from(["mdav", "mst"])
)
def test_every_combination_within_each_group_occurs_k_times(
    frame: pl.DataFrame, grouping: list[list[str]], k: int, missing: str, method: str
) -> None:
    release = protect(frame, grouping=grouping, k=k, missing=missing, method=method)
    if release is None:
        return
    assert [set(group) for group in release.promise.groups] == [set(group) for group in grouping]
    labels = release.labels.reshape(frame.height, -1)
    assert labels.shape[1] == len(grouping)
    for group, own in zip(grouping, labels.T, strict=True):
        rows = release.data.select("stratum", *group).rows()
        assert min(Counter(rows).values()) >= k
        assert np.bincount(own).min() >= k
        # One group of records is one combination, in one stratum.
        assert len(set(zip(own.tolist(), rows, strict=True))) == own.max() + 1
    for name in ("diagnosis", "visits", "stratum"):
        assert release.data[name].equals(frame[name], null_equal=True)
    lost = frame.select(QUASI).null_count().sum_horizontal()[0] if missing == "separate" else 0
    assert release.data.select(QUASI).null_count().sum_horizontal()[0] == lost + release.measures["blanked"]


@SLOW
@given(frames(), groupings(), st.integers(2, 4))
def test_each_group_is_protected_as_if_it_were_alone(frame: pl.DataFrame, grouping: list[list[str]], k: int) -> None:
    release = protect(frame, grouping=grouping, k=k, method="mdav")
    if release is None:
        return
    for group in grouping:
        others: dict[str, Any] = {"quasi": group, "by": "stratum", "ignore": "rest", "ordinal": {"size": ORDER}}
        if "size" not in group:
            del others["ordinal"]
        alone = discreet.protect(frame, k=k, method="mdav", measures="none", confidential=None, **others)
        assert release.data.select(group).equals(alone.data.select(group))


@SLOW
@given(frames(), groupings())
def test_loss_and_linkage_are_those_that_measure_finds(frame: pl.DataFrame, grouping: list[list[str]]) -> None:
    release = protect(frame, grouping=grouping, k=2, method="mdav")
    if release is None:
        return
    found = discreet.measure(frame, release.data, quasi=QUASI, ordinal={"size": ORDER}, measures=["il", "dld"])
    assert release.measures["il"] == pytest.approx(found["il"])
    assert ("dld" in release.measures) == (len(grouping) > 1)
    if len(grouping) > 1:
        assert release.measures["dld"] == pytest.approx(found["dld"])


def plain(release: Release) -> dict[str, Any]:
    """The evidence without what the clock says."""
    content: dict[str, Any] = json.loads(json.dumps(release.evidence))
    content["search"].pop("seconds")
    content["search"]["trace"] = [[step, cost] for step, _, cost in content["search"]["trace"]]
    return content


@pytest.mark.parametrize("method", ["mdav", "memetic", "tour"])
def test_one_group_is_no_grouping(method: str) -> None:
    options: dict[str, Any] = {"k": 4, "quasi": "all", "method": method, "steps": 3, "weights": {"b": 2}}
    without = discreet.protect(FRAME, **options)
    for grouping in ([["a", "b", "c", "d"]], [["d", "b", "c", "a"]]):
        one = discreet.protect(FRAME, grouping=grouping, **options)
        assert one.data.equals(without.data)
        np.testing.assert_array_equal(one.labels, without.labels)
        assert plain(one) == plain(without)
        assert one.promise == without.promise


@pytest.mark.parametrize("method", ["mdav", "memetic", "genetic"])
def test_losses_add_up_over_groups(method: str) -> None:
    options: dict[str, Any] = {"k": 4, "method": method, "steps": 4, "ignore": "rest", "measures": "none"}
    release = discreet.protect(FRAME, quasi=FRAME.columns, grouping=GROUPING, **options)
    alone = [discreet.protect(FRAME, quasi=group, **options) for group in GROUPING]
    for column, single in enumerate(alone):
        np.testing.assert_array_equal(release.labels[:, column], single.labels)
    expected = sum(len(group) * single.measures["partition_il"] for group, single in zip(GROUPING, alone, strict=True))
    assert release.measures["partition_il"] == pytest.approx(expected / 4)
    assert release.measures["il"] == pytest.approx(expected / 4)
    assert release.measures["groups"] == sum(single.measures["groups"] for single in alone)
    assert release.measures["smallest_group"] == min(single.measures["smallest_group"] for single in alone)
    assert release.measures["largest_group"] == max(single.measures["largest_group"] for single in alone)


def test_the_bound_is_the_sum_over_groups() -> None:
    small = FRAME.head(18)
    options: dict[str, Any] = {"k": 3, "ignore": "rest", "measures": "none", "method": "mdav", "bound": True}
    release = discreet.protect(small, quasi=FRAME.columns, grouping=GROUPING, **options)
    alone = [discreet.protect(small, quasi=group, **options) for group in GROUPING]
    expected = sum(
        len(group) * single.evidence["bound"]["value"] for group, single in zip(GROUPING, alone, strict=True)
    )
    bound = release.evidence["bound"]
    assert bound["value"] == pytest.approx(expected / 4)
    assert bound["value"] <= release.measures["partition_il"] + 1e-9
    assert bound["gap"] == pytest.approx(100 * (release.measures["partition_il"] / bound["value"] - 1))
    proven = discreet.protect(
        small, quasi=FRAME.columns, grouping=GROUPING, **{**options, "method": "exact", "bound": False, "steps": 100}
    )
    assert proven.evidence["bound"]["gap"] == pytest.approx(0, abs=1e-6)
    assert proven.measures["partition_il"] >= bound["value"] - 1e-9


OPTIONS: dict[str, Any] = {"k": 3, "quasi": "all", "grouping": GROUPING, "seed": 7, "measures": "none"}


def test_steps_replay_a_search_on_any_number_of_threads() -> None:
    first = discreet.protect(FRAME, time=0.2, threads=2, **OPTIONS)
    again = discreet.protect(FRAME, steps=first.evidence["search"]["steps"], threads=1, **OPTIONS)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert first.data.equals(again.data)


def test_a_search_goes_on_from_its_checkpoint_and_from_no_other(tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    whole = discreet.protect(FRAME, steps=6, **OPTIONS)
    discreet.protect(FRAME, steps=3, checkpoint=path, **OPTIONS)
    resumed = discreet.protect(FRAME, steps=6, checkpoint=path, **OPTIONS)
    np.testing.assert_array_equal(resumed.labels, whole.labels)
    before = path.read_bytes()
    for other in ([["d", "b", "a"], ["c"]], [["a", "b"], ["d"], ["c"]], None):
        with pytest.raises(InputError, match="other columns"):
            discreet.protect(FRAME, steps=6, checkpoint=path, **{**OPTIONS, "grouping": other})
    assert path.read_bytes() == before


def test_what_is_not_promised_is_told_with_the_measured_risk(tmp_path: Path) -> None:
    release = discreet.protect(FRAME, **OPTIONS, steps=2)
    risk = release.measures["dld"]
    said = " ".join(release.summary().split())
    assert "[b, d] [a] [c], each protected on its own" in said
    assert "within each of the 3 groups of quasi-identifiers only" in said
    assert f"an intruder who combines groups finds {risk:.2f} % of the records" in said
    written = release.write(tmp_path / "out.csv")
    accounts = [json.loads(written.files[name].read_text()) for name in ("record", "evidence")]
    for account in accounts:
        assert account["promise"]["groups"] == [["b", "d"], ["a"], ["c"]]
        assert "across groups nothing is promised" in account["promise"]["words"]
    # What linkage finds is for the steward: with a figure in public, one could check guesses against it.
    assert "dld" not in accounts[0]["measures"]
    assert accounts[1]["measures"]["dld"] == risk
    jsonschema.validate(accounts[0], schema("release"))
    jsonschema.validate(accounts[1], schema("evidence"))
    assert discreet.verify(tmp_path / "out.csv", promise=written.files["record"])
    assert not discreet.verify(tmp_path / "out.csv", quasi=["a", "b", "c", "d"], k=3)
    del accounts[1]["measures"]["dld"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(accounts[1], schema("evidence"))


def test_a_release_with_one_group_says_nothing_of_groups(tmp_path: Path) -> None:
    release = discreet.protect(FRAME, **{**OPTIONS, "grouping": None}, steps=2)
    assert "Groups" not in release.summary()
    written = release.write(tmp_path / "out.csv")
    # Of so few records not even the loss is public.
    assert set(record(written.evidence)["measures"]) == set()


def test_a_large_sample_is_estimated_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.microdata.protection.LINKAGE_COORDINATES", 1)
    monkeypatch.setattr("discreet.microdata.protection.LEAST_SAMPLE", 20)
    release = discreet.protect(FRAME, **OPTIONS, steps=2)
    assert release.measures["dld_standard_error"] is not None
    assert "(estimated from 20 of them, ± " in " ".join(release.summary().split())


@pytest.mark.parametrize(
    ("frame", "grouping", "il"),
    [
        ({"a": [1.0, 2, 3, 9, 10, 11]}, [["a"]], None),
        ({"a": [1.0, 2, 3, 9, 10, 11], "b": [1.0, 2, 3, 9, 10, 11]}, [["a"], ["b"]], None),
        ({"a": [1.0, 2, 3, 9, 10, 11], "b": [1.0, 2, 3, 9, 10, 11]}, [["a", "b"]], None),
        ({"a": [1.0, 2, 3, 9, 10, 11], "b": [5.0] * 6}, [["a"], ["b"]], None),
        ({"a": [1.0] * 6, "b": [5.0] * 6}, [["b"], ["a"]], 0.0),
    ],
    ids=["one attribute", "identical apart", "identical together", "constant", "all constant"],
)
@pytest.mark.parametrize("method", ["mdav", "memetic"])
def test_odd_attributes(
    frame: dict[str, list[float]], grouping: list[list[str]], il: float | None, method: str
) -> None:
    data = pl.DataFrame(frame)
    release = discreet.protect(data, k=3, quasi="all", grouping=grouping, method=method)
    assert release.verification.passed
    assert release.data["a"].to_list() == ([1.0] * 6 if il == 0.0 else [2.0] * 3 + [10.0] * 3)
    if "b" in frame:
        assert release.data["b"].to_list() == ([5.0] * 6 if frame["b"][0] == 5 else release.data["a"].to_list())
    if il is not None:
        assert release.measures["il"] == il


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": 91}, "k = 91 is more than the 90 records"),
        ({"grouping": [["a", "b"], ["c"]]}, "grouping: no group has 'd'"),
        ({"grouping": [["a", "b"], ["c", "d", "a"]]}, "grouping: column 'a' stands twice"),
        ({"grouping": [["a", "b"], ["c", "d", "e"]]}, "grouping: column 'e' is no quasi-identifier"),
        ({"grouping": [["a", "b", "c", "d"], []]}, "grouping: a group is empty"),
        ({"grouping": ["a", "b", "c", "d"]}, "grouping: expected a list of lists"),
        ({"grouping": 3}, "grouping: expected a list of lists"),
        ({"grouping": "nowhere.toml"}, "nowhere.toml: there is no such file"),
    ],
)
def test_a_wrong_grouping_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        discreet.protect(FRAME, **{**OPTIONS, **change})


def test_groups_from_an_object_a_file_and_a_configuration(tmp_path: Path) -> None:
    expected = discreet.protect(FRAME, **OPTIONS, method="mdav")
    text = json.dumps(GROUPING)
    (tmp_path / "grouping.toml").write_text(f"method = 'gomm'\nscore = 12.5\ngroups = {text}\n")
    (tmp_path / "config.toml").write_text(f"k = 3\nquasi = 'all'\nmethod = 'mdav'\ngrouping = {text}\n")
    options = {**OPTIONS, "method": "mdav"}
    for grouping in (tmp_path / "grouping.toml", SimpleNamespace(groups=GROUPING)):
        release = discreet.protect(FRAME, **{**options, "grouping": grouping})
        np.testing.assert_array_equal(release.labels, expected.labels)
    said = discreet.protect(FRAME, config=tmp_path / "config.toml", measures="none")
    np.testing.assert_array_equal(said.labels, expected.labels)
    over = discreet.protect(FRAME, config=tmp_path / "config.toml", grouping=[["a", "b", "c", "d"]], measures="none")
    assert over.labels.shape == (90,)
    with pytest.raises(InputError, match="refine starts from groups over all quasi-identifiers"):
        discreet.refine(FRAME, over.data, config=tmp_path / "config.toml")
    (tmp_path / "config.toml").write_text("k = 3\nquasi = 'all'\ngrouping = [['a'], ['b'], ['c']]\n")
    with pytest.raises(InputError, match=r"config\.toml: grouping: no group has 'd'"):
        discreet.protect(FRAME, config=tmp_path / "config.toml")
    (tmp_path / "config.toml").write_text("k = 3\nquasi = 'all'\ngrouping = ['a']\n")
    with pytest.raises(InputError, match=r"config\.toml: grouping: expected a list of lists"):
        discreet.protect(FRAME, config=tmp_path / "config.toml")
