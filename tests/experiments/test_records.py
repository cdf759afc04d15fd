"""Data of a user and of the literature: what is missing is said with its place."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from discreet.errors import InputError
from discreet.experiments.records import VARIABLE, records, reference


def test_all_columns_are_standardised() -> None:
    points = records(pl.DataFrame({"a": [1.0, 2, 3, 10], "b": [5.0, 5, 6, 7]}), k=2)
    assert points.shape == (4, 2)
    assert np.allclose(points.mean(axis=0), 0)
    assert np.allclose(points.std(axis=0), 1)


def test_columns_can_be_left_out() -> None:
    frame = pl.DataFrame({"name": ["p", "q", "r", "s"], "a": [1.0, 2, 3, 10], "b": [5.0, 5, 6, 7]})
    assert records(frame, k=2, identifier=["name"]).shape == (4, 2)
    assert records(frame, k=2, quasi=["a"], ignore="rest").shape == (4, 1)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"a": [1.0, None, 3, 10]}), "'a' is missing in"),
        (pl.DataFrame({"a": [1.0, 2, 3]}), "at least 4"),
        (pl.DataFrame({"a": [1.0] * 4}), "constant"),
    ],
)
def test_what_cannot_be_studied_is_refused(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        records(frame, k=2)


def test_missing_reference_data_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(InputError) as caught:
        reference("microdata/census.csv")
    for part in ("microdata/census.csv", str(tmp_path), VARIABLE):
        assert part in str(caught.value)
    (tmp_path / "microdata").mkdir()
    (tmp_path / "microdata" / "census.csv").touch()
    assert reference("microdata/census.csv") == tmp_path / "microdata" / "census.csv"
