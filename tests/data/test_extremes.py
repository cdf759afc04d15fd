"""Values at the edges of what types hold: a clear error or a right answer, and never a library's own words."""

from __future__ import annotations

import datetime
import os
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet
from discreet.data import embedding, memory
from discreet.data.files import arrow as columnar
from discreet.data.files import read
from discreet.errors import InputError

N = 12
COUNT = list(range(N))


def protect(columns: dict[str, Any], **options: Any) -> pl.DataFrame:
    data = discreet.protect(pl.DataFrame(columns), k=3, quasi="all", **options).data
    assert isinstance(data, pl.DataFrame)
    return data


@pytest.mark.parametrize("large", [2.0**63, 2.0**64, 1e300])
def test_large_floats_can_be_categories(large: float) -> None:
    values = [large, -large, 5.0] * 4
    assert protect({"a": values}, nominal="a")["a"].to_list() == values


def test_decimals_are_rounded_in_their_own_type() -> None:
    made = protect({"a": [Decimal(f"{i}.25") for i in COUNT]}, digits={"a": 1})["a"]
    assert made.dtype.is_decimal()
    assert all(value == round(value, 1) for value in made)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": 2**64}, "seed must be below"),
        ({"seed": 10**400}, "seed must be below"),
        ({"weights": {"a": 1e308}}, "weight must be a number from 0 to 1e"),
        ({"weights": {"a": 10**400}}, "weight must be a number from 0 to 1e"),
    ],
)
def test_options_beyond_what_can_be_computed_with_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        protect({"a": COUNT, "b": COUNT}, **options)


@pytest.mark.parametrize("days", [2**31 - 1, -(2**31), 10**7, -719_163])
@pytest.mark.parametrize("role", ["quasi", "confidential"])
def test_dates_outside_the_calendar_are_refused(days: int, role: str) -> None:
    dates = pl.Series([0] * (N - 1) + [days], dtype=pl.Int32).cast(pl.Date)
    roles: dict[str, Any] = {"quasi": ["x", "d"]} if role == "quasi" else {"quasi": "x", "confidential": "d"}
    with pytest.raises(InputError, match=r"column 'd' has 1 date outside the years 1 to 9999 \(row 11"):
        discreet.protect(pl.DataFrame({"d": dates, "x": COUNT}), k=3, **roles)


def test_moments_of_any_unit_within_the_calendar_are_taken() -> None:
    for unit in ("ms", "us", "ns"):
        column = pl.Series([datetime.datetime(1900 + i, 1, 1) for i in COUNT], dtype=pl.Datetime(unit))
        assert protect({"d": column})["d"].dtype == column.dtype


def test_spans_of_time_are_refused_where_they_cannot_be_written(tmp_path: Path) -> None:
    frame = pl.DataFrame({"d": [datetime.timedelta(days=1)] * N, "x": COUNT})
    with pytest.raises(InputError, match="type Duration"):
        discreet.protect(frame, k=3, quasi="all")
    release = discreet.protect(frame, k=3, quasi="x", confidential="d")
    with pytest.raises(discreet.DiscreetError, match="spans of time"):
        release.write(tmp_path / "out.csv")
    release.write(tmp_path / "out.parquet")


def test_numbers_of_thousands_of_digits_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{'9' * 5000},{i}\n" for i in COUNT))
    with pytest.raises(InputError, match="column 'a' has infinite values") as caught:
        discreet.protect(path, k=3, quasi="all")
    assert "999" not in str(caught.value)


def test_a_name_that_begins_with_a_mark_is_written_and_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"\ufeffa": COUNT})
    discreet.protect(frame, k=3, quasi="all").write(tmp_path / "out.csv")
    assert read(tmp_path / "out.csv").frame.columns == ["\ufeffa"]


def test_a_record_of_a_hundred_thousand_brackets_is_no_record(tmp_path: Path) -> None:
    path, record = tmp_path / "a.csv", tmp_path / "a.csv.release.json"
    pl.DataFrame({"a": COUNT}).write_csv(path)
    record.write_text("[" * 100_000)
    with pytest.raises(InputError, match="not a record of a release"):
        discreet.verify(path, promise=record)
    assert discreet.measure(path, path, quasi="a", measures=["k"])["k"] == 1


class TestMemory:
    @pytest.mark.parametrize(
        ("said", "size"), [("8GB", 8 * 10**9), ("500 mb", 5 * 10**8), ("7", 7), (12, 12), ("1k", 1000)]
    )
    def test_sizes(self, said: str | int, size: int) -> None:
        assert memory.parse_size(said) == size

    @pytest.mark.parametrize("said", ["", "many", "-1", "0", True, "1e9"])
    def test_no_sizes(self, said: Any) -> None:
        with pytest.raises(InputError, match="max_size"):
            memory.parse_size(said)

    def test_a_text_that_stands_once_in_a_parquet_file_and_in_every_record(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.parquet"
        parquet.write_table(pa.table({"a": ["x" * 100_000] * 2_000}), path)
        assert path.stat().st_size < 10_000
        with pytest.raises(InputError, match=r"more than 50MB once it is unpacked; .* --max-size"):
            read(path, max_size="50MB")
        assert read(path, max_size="1GB").frame.height == 2_000

    @pytest.mark.parametrize("suffix", [".arrow", ".feather"])
    def test_a_compressed_arrow_file(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"bomb{suffix}"
        pl.DataFrame({"a": [0] * 1_000_000}).write_ipc(path, compression="zstd")
        with pytest.raises(InputError, match="once it is unpacked"):
            read(path, max_size="1MB")

    def test_a_workbook(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.xlsx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", b"0" * 3_000_000)
        with pytest.raises(InputError, match="once it is unpacked"):
            read(path, max_size="2MB")

    @pytest.mark.parametrize("failure", [MemoryError, pa.ArrowMemoryError])
    def test_a_failed_allocation_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
    ) -> None:
        path = tmp_path / "a.parquet"
        pl.DataFrame({"a": COUNT}).write_parquet(path)

        def fail(*_: object) -> None:
            raise failure("canary")

        monkeypatch.setattr(columnar, "_collect", fail)
        with pytest.raises(InputError, match="not enough memory") as caught:
            read(path)
        assert "canary" not in str(caught.value)

    def test_what_does_not_fit_is_refused_before_the_work(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embedding, "available", lambda: 1_000)
        columns: dict[str, Any] = {"town": [f"t{i % 50}" for i in range(400)]}
        with pytest.raises(InputError, match=r"400 records of .* need .* would fit"):
            discreet.protect(pl.DataFrame(columns), k=3, quasi="all")

    def test_there_is_some_memory(self) -> None:
        there = memory.available()
        assert there is None or there > 10**6


def test_a_panic_of_a_library_is_told_in_our_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": COUNT}).write_parquet(path)

    def panic(*_: object) -> None:
        raise pl.exceptions.PanicException("canary")

    for where in ("find_dictionaries", "to_frame"):
        with monkeypatch.context() as patch:
            patch.setattr(columnar, where, panic)
            with pytest.raises(InputError) as caught:
                read(path)
        assert "canary" not in str(caught.value)


def test_what_polars_prints_of_a_panic_reaches_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    far = pl.from_arrow(pa.array([2**31 - 1], pa.int32()).cast(pa.date32()))
    assert isinstance(far, pl.Series)
    with pytest.raises(InputError, match="it holds something"), memory.allocating("far.parquet"):
        far.to_list()
    with memory.allocating("near.parquet"):
        os.write(2, b"by the way")
    assert capfd.readouterr().err == "by the way"
