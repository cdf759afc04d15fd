"""Releases of other tools, with ranges and suppressed values and records, can be measured and refined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.cli.app import run
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


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_records_that_a_tool_removed_are_left_out(make: Callable[[dict[str, Any]], Any]) -> None:
    original = {"id": [7, 3, 5, 1, 2, 4, 6], "age": AGES, "ill": [0, 1, 0, 1, 1, 0, 1]}
    release = {"id": [4, 2, 1, 5, 3, 7], "age": RANGES[5:2:-1] + RANGES[2::-1], "ill": [0, 1, 1, 0, 1, 0]}
    kept = pl.DataFrame(original).head(6)
    found = discreet.measure(make(original), make(release), key="id", quasi="age", measures=["il", "risk"])
    alone = discreet.measure(kept, make(release), key="id", quasi="age", measures=["il", "risk"])
    assert (found["il"], found.records) == (alone["il"], 6)
    assert "1 of the 7 records of the original are not in the release given and left out" in found.notes
    assert np.isnan(found.per_record["class_risk"]).tolist() == [False] * 6 + [True]
    better = discreet.refine(make(original), make(release), key="id", quasi="age", confidential="ill", steps=3)
    same = discreet.refine(kept, make(release), key="id", quasi="age", confidential="ill", steps=3)
    assert pl.DataFrame(better.data).equals(pl.DataFrame(same.data))
    assert type(better.data) is type(make(original))
    assert better.verification.passed
    with pytest.raises(InputError, match="1 row of it has no record in the original"):
        discreet.measure(kept, make(original), key="id", quasi="age")


@pytest.mark.parametrize("form", [".csv", ".parquet"])
def test_a_report_and_risks_by_record_keep_the_numbers_of_the_file(form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [7, 3, 5, 1, 2, 4, 6], "age": AGES, "ill": [0, 1, 0, 1, 1, 0, 1]})
    before, after, risks = tmp_path / f"in{form}", tmp_path / f"given{form}", tmp_path / "risks.csv"
    for path, rows in ((before, frame), (after, frame[3:].with_columns(age=pl.Series(RANGES[3:])))):
        rows.write_csv(path) if form == ".csv" else rows.write_parquet(path)
    options = ["--key", "id", "--quasi", "age", "--confidential", "ill"]
    assert run(["measure", str(before), str(after), *options, "--measures", "risk", "--per-record", str(risks)]) == 0
    written = pl.read_csv(risks)
    assert written["input_record"].to_list() == list(range(1, 8))
    assert written["class_risk"].is_null().to_list() == [True] * 3 + [False] * 4
    discreet.report(after, original=before, key="id", quasi="age", confidential="ill")
    page = after.with_name(after.name + ".internal.html").read_text(encoding="utf-8")
    assert f"3 of the 7 records of {before.name} are not in the release given and left out" in page
    assert "4–7" in page  # the numbers in the file of the records that were unique


def test_the_release_of_another_tool_is_measured_and_refined(reference: Callable[[str], Path]) -> None:
    files = [reference(name) for name in ("stroke.csv", "stroke_arx_k5.csv")]
    options: dict[str, Any] = {"key": "id", "quasi": ["gender", "age", "work_type", "smoking_status"]}
    found = discreet.measure(*files, **options, measures=["il", "k"])
    assert found.records == 4810
    better = discreet.refine(*files, **options, ignore="rest", steps=2)
    assert better.verification.passed
    assert better.measures["il"] < found["il"]
    assert any("300 of the 5,110 records" in note for note in better.evidence["notes"])
