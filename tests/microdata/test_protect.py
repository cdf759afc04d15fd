"""The promise of `protect`, by property: on the frame handed out and on the bytes written."""

import csv
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.release.release import Release
from random_frames import ORDER, ROLES, frames

SLOW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
QUASI = ROLES["quasi"]


def protect(frame: Any, **options: Any) -> Release | None:
    """A release, or None where fewer than k records share a stratum or a pattern of missing values."""
    try:
        return discreet.protect(frame, **{**ROLES, "ordinal": {"size": ORDER}, **options})
    except InputError as error:
        if re.search("fewer than k|no values at all|more than the", str(error)):
            return None
        raise


@SLOW
@given(frames(), st.integers(2, 5), st.sampled_from(["separate", "impute"]), st.sampled_from(["mdav", "tour", "mst"]))
def test_promise_holds_on_the_frame(frame: pl.DataFrame, k: int, missing: str, method: str) -> None:
    release = protect(frame, k=k, missing=missing, method=method)
    if release is None:
        return
    counts = Counter(release.data.select("stratum", *QUASI).rows())
    assert min(counts.values()) >= k
    assert release.data.columns == [name for name in frame.columns if name not in ("id", "remark")]
    for name in ("diagnosis", "visits", "stratum"):
        assert release.data[name].equals(frame[name], null_equal=True)
    assert np.bincount(release.labels).min() >= k
    # A group never reaches over a stratum.
    assert all(
        frame["stratum"].gather(np.flatnonzero(release.labels == g)).n_unique() == 1 for g in set(release.labels)
    )
    if missing == "impute":
        assert release.data.select(QUASI).null_count().sum_horizontal()[0] == 0
    assert release.measures["il"] >= 0


@SLOW
@given(frames(), st.integers(2, 4))
def test_promise_holds_on_the_bytes_written(frame: pl.DataFrame, k: int) -> None:
    release = protect(frame, k=k)
    if release is None:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.csv"
        release.write(path)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    assert len(rows) == frame.height
    assert list(rows[0]) == [name for name in frame.columns if name not in ("id", "remark")]
    assert min(Counter(tuple(row[name] for name in ("stratum", *QUASI)) for row in rows).values()) >= k
    # The confidential values of a record stay together, unchanged, and with the values of its own group.
    before = {row["diagnosis"]: row for row in frame.iter_rows(named=True)}
    assert {row["diagnosis"] for row in rows} == set(before)
    for row in rows:
        original = before[row["diagnosis"]]
        assert row["visits"] == ("" if original["visits"] is None else str(original["visits"]))
        assert row["stratum"] == original["stratum"]


@SLOW
@given(frames())
def test_missing_stays_missing_and_blanks_are_counted(frame: pl.DataFrame) -> None:
    release = protect(frame, k=2)
    if release is None:
        return
    lost = frame.select(QUASI).null_count().sum_horizontal()[0]
    now = release.data.select(QUASI).null_count().sum_horizontal()[0]
    assert now == lost + release.measures["blanked"]
    for name in QUASI:
        assert release.data[name].is_null().to_numpy()[frame[name].is_null().to_numpy()].all()


@pytest.mark.parametrize("method", ["mdav", "vmdav", "md", "mst", "tour"])
def test_il_is_that_of_the_embedding_where_means_are_written(method: str) -> None:
    X = np.random.default_rng(3).normal(size=(300, 3)) * [1, 100, 0.01] + 7
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    release = discreet.protect(frame, k=4, quasi="all", method=method)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    part = discreet.partition(Z, k=4, method=method)
    np.testing.assert_array_equal(release.labels, part.labels)
    assert release.measures["il"] == pytest.approx(part.il)
    assert release.measures["partition_il"] == pytest.approx(part.il)
    Y = release.data.to_numpy()
    assert release.measures["il"] == pytest.approx(100 * ((X - Y) ** 2 / X.var(axis=0)).sum() / X.size)


PLAIN = {
    "age": [1, 2, 3, 4, 5, 6],
    "town": ["a", "a", "b", "b", "b", "a"],
    "ill": [1, 0, 1, 0, 1, 0],
    "name": list("uvwxyz"),
}
OPTIONS: dict[str, Any] = {"k": 3, "quasi": ["age", "town"], "confidential": "ill", "identifier": "name"}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_the_same_kind_of_frame_comes_out(make: Callable[[Any], Any]) -> None:
    frame = make(PLAIN)
    data = discreet.protect(frame, **OPTIONS).data
    assert type(data) is type(frame)
    assert list(getattr(data, "column_names", None) or data.columns) == ["age", "town", "ill"]
    assert pl.DataFrame(data)["age"].to_list() == [3.0, 3.0, 4.0, 4.0, 4.0, 3.0]  # by town


def test_pandas_types_are_kept_where_the_method_allows() -> None:
    frame = pd.DataFrame(
        {
            "age": pd.array([1, 2, 3, 4], dtype="Int16"),
            "born": pd.to_datetime(["2020-01-01", "2020-01-03", "2021-01-01", "2021-01-03"]),
            "size": pd.Categorical(["s", "s", "l", "l"], categories=["s", "m", "l"], ordered=True),
            "town": pd.array(["a", "a", "b", "b"], dtype="string"),
            "share": np.array([1, 2, 3, 4], dtype="float32"),
            "ill": pd.array([True, None, False, True], dtype="boolean"),
        },
        index=["w", "x", "y", "z"],
    )
    release = discreet.protect(frame, k=2, quasi="all", confidential="ill", digits={"age": 0})
    assert release.data.dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
    assert list(release.data.index) == ["w", "x", "y", "z"]
    assert any("index" in note for note in release.evidence["notes"])
    assert release.evidence["parameters"]["columns"]["size"]["type"] == "ordinal"


def test_arrow_types_are_kept_where_the_method_allows() -> None:
    frame = pa.table(
        {
            "age": pa.array([1, 2, 3, 4], pa.int16()),
            "born": pa.array([0, 2, 100, 102], pa.date32()),
            "town": pa.array(["a", "a", "b", "b"]).dictionary_encode(),
            "ill": pa.array([1, None, 3, 4], pa.int8()),
        }
    )
    data = discreet.protect(frame, k=2, quasi="all", confidential="ill").data
    assert [field.type for field in data.schema] == [
        pa.float64(),
        pa.date32(),
        frame.schema.field("town").type,
        pa.int8(),
    ]


def test_same_seed_same_result() -> None:
    first, second = (discreet.protect(pl.DataFrame(PLAIN), **OPTIONS, seed=3, threads=t) for t in (1, 2))
    assert first.data.equals(second.data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": 1}, "k must be at least 2"),
        ({"k": 7}, "k = 7 is more than the 6 records"),
        ({"k": None}, "k is missing"),
        ({"by": "town", "quasi": "age", "k": 4}, "2 of 2 strata of town have fewer than k = 4"),
        ({"missing": "guess"}, "missing must be one of"),
        ({"method": "magic"}, "magic"),
        ({"params": {"gamma": 1}, "method": "mdav"}, "gamma"),
        ({"digits": {"town": 1}}, "digits are for numeric"),
        ({"aggregate": {"town": "mean"}}, "can be aggregated by mode"),
        ({"quasi": ["age"]}, "no role was given for: 'town'"),
    ],
)
def test_arguments_are_checked_at_the_door(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        discreet.protect(pl.DataFrame(PLAIN), **{**OPTIONS, **change})


def test_a_constant_column_is_noted_and_takes_no_part() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "b": [7, 7, 7, 7]})
    release = discreet.protect(frame, k=2, quasi="all")
    assert release.data["b"].to_list() == [7.0] * 4
    assert any("'b' is constant" in note for note in release.evidence["notes"])
    assert discreet.protect(frame.select("b"), k=2, quasi="all").measures["il"] == 0


def test_weights_steer_the_grouping() -> None:
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]})
    heavy_a = discreet.protect(frame, k=2, quasi="all", weights={"a": 100})
    heavy_b = discreet.protect(frame, k=2, quasi="all", weights={"b": 100})
    assert heavy_a.labels.tolist() == [0, 0, 1, 1]
    assert heavy_b.labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("missing", ["separate", "impute"])
def test_missing_numbers(missing: str) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0, None, float("nan"), 9.0, 10.0]})
    released = discreet.protect(frame, k=2, quasi="a", missing=missing).data["a"].to_list()
    assert released.count(None) == (2 if missing == "separate" else 0)
    with pytest.raises(InputError, match="2 missing values, the first at row 2"):
        discreet.protect(frame, k=2, quasi="a", missing="error")


def test_an_unsafe_release_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.microdata.aggregate import aggregate as honest

    def leaky(attribute: Any, labels: Any) -> Any:
        values = honest(attribute, labels).copy()
        values[0] = attribute.values[0] + 0.125
        return values

    monkeypatch.setattr("discreet.microdata.protection.aggregate", leaky)
    with pytest.raises(discreet.PromiseNotKept, match="2 combinations of age have fewer than 3 records"):
        discreet.protect(pl.DataFrame(PLAIN), k=3, quasi="age", ignore="rest")


def test_il_is_that_of_the_values_written() -> None:
    frame = pl.DataFrame({"a": [1.0, 2, 3, 4, 5, 6, 7, 8]})
    release = discreet.protect(frame, k=2, quasi="a", digits={"a": -1})
    x, y = frame["a"].to_numpy(), release.data["a"].to_numpy()
    assert release.measures["il"] == pytest.approx(100 * ((x - y) ** 2).sum() / ((x - x.mean()) ** 2).sum())
    days = pl.DataFrame({"d": [0, 1, 2, 3]}).cast(pl.Date)
    release = discreet.protect(days, k=2, quasi="d")
    x, y = (frame["d"].cast(pl.Int32).to_numpy() for frame in (days, release.data))
    assert release.measures["il"] == pytest.approx(100 * ((x - y) ** 2).sum() / ((x - x.mean()) ** 2).sum())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": {"age": "x"}}, "weight must be a number"),
        ({"digits": {"age": 1.5}}, "digits must be a whole number"),
        ({"ordinal": {"town": 1}}, "must be a list"),
        ({"weights": {1: 1}}, "expected a mapping"),
        ({"config": 3}, "config must be the path"),
        ({"params": {3: 3}}, "params must be a mapping"),
        ({"params": {"gamma": 1}}, "method memetic has no parameter 'gamma'"),
        ({"measures": "everything"}, "unknown measure"),
    ],
)
def test_arguments_of_a_wrong_type_are_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        discreet.protect(pl.DataFrame(PLAIN), **{**OPTIONS, **change})


def test_numpy_numbers_are_numbers() -> None:
    release = discreet.protect(pl.DataFrame(PLAIN), **{**OPTIONS, "k": np.int64(3), "seed": np.int64(2)})
    assert release.evidence["parameters"]["k"] == 3
    assert type(release.evidence["parameters"]["seed"]) is int
    assert discreet.verify(release.data, quasi=["age", "town"], k=int(np.int64(3)))


def test_odd_frames_get_an_answer_or_a_clear_error() -> None:
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(InputError, match="unique"):
        discreet.protect(twice, k=2, quasi="all")
    seconds = pa.table({"q": pa.array([0, 1, 5, 8], pa.timestamp("s"))})
    assert discreet.protect(seconds, k=2, quasi="q").data.num_rows == 4
    nested = pl.DataFrame({"a": [1, 2, 3, 4], "b": [[1], [2], [3], [4]]})
    assert discreet.protect(nested, k=2, quasi="a", ignore="b").data.columns == ["a"]
    wide = pa.table({"a": pa.array([1, 2], pa.decimal256(60))})
    with pytest.raises(InputError, match="'a' has the type"):
        discreet.protect(wide, k=2, quasi="a")


@pytest.mark.parametrize("path", [3, "", "."])
def test_a_path_that_is_none_is_refused(path: Any) -> None:
    with pytest.raises(InputError):
        discreet.protect(pl.DataFrame(PLAIN), **OPTIONS).write(path)


def test_zero_has_one_spelling_in_a_stratum(tmp_path: Path) -> None:
    frame = pl.DataFrame({"s": [0.0, -0.0, 0.0, -0.0], "a": [1, 2, 3, 4]})
    written = discreet.protect(frame, k=3, quasi="a", by="s").write(tmp_path / "out.csv")
    assert written.verification.passed


def test_many_missing_patterns_are_grouped() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 25))
    X[rng.random(X.shape) < 0.3] = np.nan
    release = discreet.protect(pl.DataFrame(X, schema=[f"c{i}" for i in range(25)]), k=5, quasi="all", measures="none")
    assert min(Counter(release.data.rows()).values()) >= 5


def test_categories_of_a_parquet_file_are_categories_whatever_their_values(tmp_path: Path) -> None:
    places = np.arange(20)
    frame = pd.DataFrame(
        {"age": places, "code": pd.Categorical(places // 4), "rank": pd.Categorical(places / 1.0 // 4, ordered=True)}
    )
    frame.to_parquet(tmp_path / "in.parquet")
    for data in (frame, tmp_path / "in.parquet"):
        release = discreet.protect(data, k=3, quasi="all")
        columns = release.evidence["parameters"]["columns"]
        assert [columns[name]["type"] for name in frame.columns] == ["numeric", "nominal", "ordinal"]
        assert set(release.data["code"]) <= set(range(5))


def test_intervals_of_pandas_are_ordered_categories() -> None:
    frame = pd.DataFrame({"age": np.arange(20), "band": pd.cut(np.arange(20), 4), "plain": pd.cut(np.arange(20), 4)})
    frame["plain"] = frame["plain"].astype(frame["band"].cat.categories.dtype)
    release = discreet.protect(frame, k=3, quasi="all")
    assert set(release.data["band"]) <= set(frame["band"])
    assert set(release.data["plain"]) <= set(frame["plain"])
    assert release.evidence["parameters"]["columns"]["band"]["type"] == "ordinal"


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_no_minus_zero_is_left_in_strata(make: Callable[[dict[str, Any]], Any]) -> None:
    release = discreet.protect(make({"age": list(range(8)), "z": [0.0, -0.0] * 4}), k=2, quasi="age", by="z")
    assert not np.signbit(np.asarray(release.data["z"])).any()


def test_minus_zero_is_counted_alike_in_every_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [0.0, -0.0, 1.0, 1.0]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    verdicts = [discreet.verify(one, quasi="a", k=2) for one in (frame, tmp_path / "a.csv", tmp_path / "a.parquet")]
    assert [verdict.checks[0].too_small for verdict in verdicts] == [2, 2, 2]
