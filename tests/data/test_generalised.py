"""Releases of other tools, with ranges and suppressed values and records, can be measured and refined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.data.generalised import read_ranges
from discreet.errors import InputError

AGES = [21, 29, 24, 61, 68, 64, 90]
TOWNS = ["A", "A", "B", "C", "C", "C", "D"]
RANGES = ["[20, 30[", "[20, 30[", "[20, 30[", "[60, 70[", "[60, 70[", "[60, 70[", "*"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[20, 40[", 30), ("[20-40[", 30), ("(20,40]", 30), ("20-40", 30), ("20 to 40", 30), ("20..40", 30),
        ("]-10, 20]", 5), ("[1.5,2.5]", 2), (">=50", 75), ("> 50", 75), ("50+", 75), ("<20", 10), ("≤20", 10),
        ("35", 35),
    ],
)  # fmt: skip
def test_ranges_stand_at_their_midpoint(text: str, value: float) -> None:
    made, note = read_ranges(pl.Series("x", [text, "1-3", None]), ".", 0.0, 100.0)
    assert made.to_list() == [value, 2.0, None]
    assert "midpoint" in note


def test_what_is_neither_number_nor_range_stays_text() -> None:
    column = pl.Series("x", ["20-40", "many"])
    assert read_ranges(column, ".", 0.0, 100.0)[0].equals(column)


def test_a_generalised_release_is_measured_by_midpoints_and_means() -> None:
    original = pl.DataFrame({"age": AGES, "town": TOWNS})
    release = pl.DataFrame({"age": RANGES, "town": ["A", "A", "B", "C", "C", "C", "*"]})
    found = discreet.measure(original, release, quasi="all", measures=["il"])
    mean = sum(AGES) / len(AGES)
    same = pl.DataFrame({"age": [25.0] * 3 + [65.0] * 3 + [mean], "town": [*TOWNS[:-1], None]})
    assert found["il"] == pytest.approx(discreet.measure(original, same, quasi="all", measures=["il"])["il"])
    notes = " ".join(found.notes)
    assert "'age': 1 value suppressed (*)" in notes
    assert "'age': 6 ranges taken at the midpoint" in notes


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_suppressed_records_are_left_out_when_a_release_is_refined(make: Callable[[dict[str, Any]], Any]) -> None:
    release = {"age": RANGES, "ill": [0, 1, 0, 1, 1, 0, 1]}
    original = {"age": AGES, "ill": release["ill"]}
    better = discreet.refine(make(original), make(release), quasi="age", confidential="ill", steps=3)
    assert len(better.data["age"]) == 6
    assert any("1 record suppressed in the release given" in note for note in better.evidence["notes"])
    assert better.verification.passed


def test_suppressed_records_of_files_too(tmp_path: Path) -> None:
    pl.DataFrame({"age": AGES, "ill": [0, 1, 0, 1, 1, 0, 1]}).write_csv(tmp_path / "in.csv")
    pl.DataFrame({"age": RANGES, "ill": [0, 1, 0, 1, 1, 0, 1]}).write_csv(tmp_path / "given.csv")
    better = discreet.refine(tmp_path / "in.csv", tmp_path / "given.csv", quasi="age", confidential="ill", steps=3)
    better.write(tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 7
    with pytest.raises(InputError, match="all of its records are suppressed"):
        discreet.refine(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": ["*", "*"]}), quasi="a", steps=3)
