"""Excel workbooks: typed where a column is of one kind, exact or refused on the way out."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from discreet.data.files import excel
from discreet.errors import InputError

CANARY = "Zyxwv-4711"


def book(path: Path, *sheets: list[list[Any]]) -> Path:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for i, rows in enumerate(sheets, 1):
        sheet = workbook.create_sheet(f"part {i}")
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "survey.xlsx"


def test_columns_of_one_kind_come_typed(file: Path) -> None:
    day, instant = datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4)
    rows: list[list[Any]] = [
        ["i", "f", "t", "d", "ts", "b", "none"],
        [1, 1.5, "a", day, instant, True, ""],
        [None, 2, None, None, day, None, None],
        [3, None, "007", day, None, False, None],
    ]
    frame = excel.read(book(file, rows)).frame
    assert frame.drop("none").schema == {
        "i": pl.Int64, "f": pl.Float64, "t": pl.String, "d": pl.Date, "ts": pl.Datetime("us"), "b": pl.Boolean
    }  # fmt: skip
    assert frame.row(0) == (1, 1.5, "a", day.date(), instant, True, None)


def test_mixed_column_comes_as_text_with_its_rows(file: Path) -> None:
    source = excel.read(
        book(file, [["id", "age"], [1, 34], [], [2, "young"], [3, 5.5], [4, datetime.datetime(2020, 1, 2)]]),
        header=True,
    )
    assert source.frame["age"].to_list() == ["34", "young", "5.5", "2020-01-02T00:00:00"]
    assert [source.place(row) for row in range(4)] == ["row 2", "row 4", "row 5", "row 6"]
    assert "column 'age' mixes kinds" in source.notes[0]


def test_sheets(file: Path) -> None:
    book(file, [["a", "b"], [1, 2]], [["c", "d"], [3, 4]])
    source = excel.read(file)
    assert source.frame.rows() == [(1, 2)]
    assert source.notes == (
        "survey.xlsx: read the sheet 'part 1', the first of 2",
        "survey.xlsx: the first row is taken as the column names",
    )
    assert excel.read(file, "part 2").frame.columns == ["c", "d"]
    with pytest.raises(InputError, match="no sheet 'part 3'; it has 'part 1', 'part 2'"):
        excel.read(file, "part 3")


def test_a_record_does_not_become_names(file: Path) -> None:
    book(file, [[CANARY, 34], ["x", 51]])
    with pytest.raises(InputError, match="row may be a record") as caught:
        excel.read(file)
    assert CANARY not in str(caught.value)
    source = excel.read(file, header=False)
    assert source.frame.columns == ["column_1", "column_2"]
    assert source.line(0) == 1
    assert excel.read(file, header=True).frame.columns == [CANARY, "34"]


TEXT = st.text(
    st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.none() | TEXT,
            st.none() | st.integers(-(10**14), 10**14),
            st.none() | st.dates(datetime.date(1901, 1, 1), datetime.date(2200, 1, 1)),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_what_went_out_comes_in(file: Path, rows: list[tuple[str | None, int | None, datetime.date | None]]) -> None:
    # A constant column, because a row of blanks cannot be told from no row.
    schema = {"t": pl.String, "i": pl.Int64, "d": pl.Date}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(one=pl.lit(1, pl.Int64))
    excel.write(frame, file)
    back = excel.read(file, header=True).frame
    for name in frame.columns:
        if frame[name].null_count() < frame.height:
            assert_frame_equal(back.select(name), frame.select(name))
        else:
            assert back[name].null_count() == frame.height


def test_pandas_reads_the_same(file: Path) -> None:
    frame = pl.DataFrame({"x": [0.1 + 0.2, None], "t": ["=SUM(A1)", "#N/A"], "d": [datetime.date(2020, 1, 2), None]})
    excel.write(frame, file.with_suffix(".tmp"))
    seen = pd.read_excel(file.with_suffix(".tmp"), engine="openpyxl", keep_default_na=False, na_values=[""])
    assert seen["x"].tolist()[0] == 0.1 + 0.2
    assert seen["t"].tolist() == ["=SUM(A1)", "#N/A"]
    assert seen["d"].tolist()[0] == pd.Timestamp("2020-01-02")
    assert excel.read(file.with_suffix(".tmp")).frame["t"].to_list() == ["=SUM(A1)", "#N/A"]


def test_formula_never_calculated_is_not_a_missing_value(file: Path) -> None:
    book(file, [["a", "b"], [1, 2], [3, "=A2+A3"], [5, None]])
    with pytest.raises(InputError, match="column 'b', row 3 holds a formula"):
        excel.read(file)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([10**15], "more than 15 digits"),
        ([2**64 - 1], "more than 15 digits"),
        ([-(2**63)], "more than 15 digits"),
        ([float("inf")], "infinite"),
        ([CANARY + "x" * 32_767], "texts of more than"),
        ([datetime.date(1850, 1, 1)], "dates before 1900"),
        ([datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)], "time zones"),
        ([[1]], "nested"),
        ([CANARY + "\x01"], "control characters"),
    ],
)
def test_what_excel_cannot_hold_is_refused(file: Path, values: list[Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        excel.write(pl.DataFrame({"x": values}), file)
    assert CANARY not in str(caught.value)
    assert not file.exists()


def test_refusals(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        excel.read(file)
    file.write_bytes(b"PK\x03\x04" + CANARY.encode())
    with pytest.raises(InputError, match="cannot be read as an Excel workbook") as caught:
        excel.read(file)
    assert CANARY not in str(caught.value)
    with pytest.raises(InputError, match="is empty"):
        excel.read(book(file, [[]]))
    with pytest.raises(InputError, match="no records"):
        excel.read(book(file, [["a", "b"]]), header=True)
    with pytest.raises(InputError, match=r"'a' \(columns 1, 2\)"):
        excel.read(book(file, [["a", "a", "n"], ["x", "y", 1]]))
    with pytest.raises(InputError, match="no name for column 2"):
        excel.read(book(file, [["a", None], [1, CANARY], [2, "x"]]))
    with pytest.raises(InputError, match="cannot be written"):
        excel.write(pl.DataFrame({"x": [1]}), tmp_path / "no" / "out")


def test_a_workbook_that_asks_for_an_unknown_version_of_zip_is_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "new.xlsx", [["a", "b"], [1, "x"], [2, "y"]])
    raw = bytearray(path.read_bytes())
    place = raw.find(b"PK\x01\x02")
    while place >= 0:
        raw[place + 6 : place + 8] = (145).to_bytes(2, "little")
        place = raw.find(b"PK\x01\x02", place + 4)
    path.write_bytes(raw)
    with pytest.raises(InputError, match="cannot be read as an Excel workbook"):
        excel.read(path)
