"""Measures of the user's own: given original and release row beside row, reported beside ours."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import discreet
from discreet.errors import InputError

FRAME = pl.DataFrame({"age": [20, 22, 30, 62, 70, 72], "pay": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]})


def kept_range(original: Any, released: Any) -> float:
    """What share of the range is left."""
    return float(
        100 * (released["age"].max() - released["age"].min()) / (original["age"].max() - original["age"].min())
    )


def shifts(original: Any, released: Any) -> dict[str, float]:
    """How far values move."""
    return {name: abs(original[name] - released[name]).max() for name in ("age", "pay")}


def test_they_are_reported_beside_ours() -> None:
    release = discreet.protect(FRAME, k=3, quasi="all", method="mdav", measures=["k", kept_range, shifts])
    assert release.measures["kept_range"] == pytest.approx(100 * 44 / 52)
    assert release.measures["shifts"] == pytest.approx({"age": 6.0, "pay": 1.0})
    assert release.measures["k"] == 3
    assert "kept_range: 84.6154" in release.summary()
    assert "shifts: age 6, pay 1" in release.summary()


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_they_are_given_the_kind_of_frame_that_came_in(kind: str) -> None:
    frame = {"polars": FRAME, "pandas": FRAME.to_pandas(), "arrow": FRAME.to_arrow()}[kind]
    seen: list[Any] = []

    def look(original: Any, released: Any) -> int:
        seen.extend((original, released))
        return 0

    release = discreet.protect(frame, k=3, quasi="all", measures=[look], method="mdav")
    assert {type(one) for one in seen} == {type(frame)} == {type(release.data)}


def test_numbers_of_text_files_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    comma = pl.col("pay").cast(pl.String).str.replace(".", ",", literal=True)
    FRAME.with_columns(comma).write_csv(path, separator=";")
    written = discreet.protect(path, k=3, quasi="all", measures=[shifts], method="mdav")
    assert written.measures["shifts"] == pytest.approx({"age": 6.0, "pay": 1.0})
    written.write(tmp_path / "release.csv", row_map=tmp_path / "map.csv")
    measured = discreet.measure(
        path, tmp_path / "release.csv", quasi="all", row_map=tmp_path / "map.csv", measures=[shifts]
    )
    assert measured["shifts"] == pytest.approx({"age": 6.0, "pay": 1.0})


def test_rows_stand_beside_each_other() -> None:
    original = pd.DataFrame({"id": list("abcdef"), **FRAME.to_dict(as_series=False)})
    released = original.iloc[::-1].assign(age=lambda frame: frame["age"] + 1)
    measured = discreet.measure(original, released, quasi=["age", "pay"], key="id", measures=[shifts])
    assert measured["shifts"] == {"age": 1, "pay": 0.0}


def test_what_is_coarsened_is_compared_with_what_came_in() -> None:
    def levels(original: Any, released: Any) -> dict[str, int]:
        return {"before": original["zip"].n_unique(), "after": released["zip"].n_unique()}

    frame = pl.DataFrame({"zip": ["111", "112", "113", "211", "212", "213"]})
    release = discreet.protect(frame, k=3, quasi="zip", coarsen={"zip": "prefix:1"}, measures=levels)
    assert release.measures["levels"] == {"before": 6, "after": 2}


@pytest.mark.parametrize(("value", "kept"), [(np.float32(1.5), 1.5), (np.int64(3), 3), (float("nan"), None)])
def test_values_are_plain(value: Any, kept: Any) -> None:
    release = discreet.protect(FRAME, k=3, quasi="all", measures=[lambda original, released: value])
    assert release.measures["<lambda>"] == kept


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="the measure look must return a number or a mapping"):
        discreet.protect(FRAME, k=3, quasi="all", measures=[_named("look", lambda original, released: "high")])


@pytest.mark.parametrize("name", ["il", "dld", "twice"])
def test_a_name_that_is_taken_is_refused(name: str) -> None:
    one = _named(name, lambda original, released: 0)
    with pytest.raises(InputError, match=f"another measure of the name {name}"):
        discreet.measure(FRAME, FRAME, quasi="all", measures=[one, one] if name == "twice" else [one])


def _named(name: str, function: Any) -> Any:
    function.__name__ = name
    return function
