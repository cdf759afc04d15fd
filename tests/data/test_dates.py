"""Dates come in many forms, are read rightly and come back in the form they were written in."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.data.dates import OTHERS, DateForm, convert_unit, find_form, fitting_patterns, read_dates, write_dates
from discreet.errors import InputError

DAY = date(1996, 7, 30)


def days(value: date) -> int:
    return (value - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("30.07.96", "%d.%m.%y"),
        ("30.7.1996", "%d.%m.%Y"),
        ("30-Jul-1996", "%d-%b-%Y"),
        ("30JUL1996", "%d%b%Y"),
        ("30jul96", "%d%b%y"),
        ("July 30, 1996", "%B %d, %Y"),
        ("30. July 1996", "%d. %B %Y"),
        ("07/30/1996", "%m/%d/%Y"),
        ("19960730", "%Y%m%d"),
        ("1996-07-30", "%Y-%m-%d"),
    ],
)
def test_forms_are_found_and_written_back(text: str, pattern: str) -> None:
    column = pl.Series("d", [text, None, " " + text])
    form = find_form(column)
    assert form is not None
    assert form.pattern == pattern
    assert pattern in form.words()
    values = read_dates(column, form)
    assert values[[0, 2]].tolist() == [days(DAY)] * 2
    assert np.isnan(values[1])
    assert write_dates(values, form, column.dtype).to_list() == [text, None, text]


@given(st.dates(date(1970, 1, 1), date(2060, 1, 1)), st.sampled_from([p for p in OTHERS if "d" in p and "%H" not in p]))
def test_every_form_reads_what_python_writes(value: date, pattern: str) -> None:
    column = pl.Series("d", [value.strftime(pattern)])
    form = find_form(column, pattern)
    assert form is not None
    assert read_dates(column, form).tolist() == [days(value)]
    assert write_dates(np.array([days(value)]), form, column.dtype).to_list() == column.to_list()


@pytest.mark.parametrize(("pivot", "years"), [(68, [2068, 1969, 2000, 1999]), (20, [1968, 1969, 2000, 1999])])
def test_two_digit_years_turn_at_the_pivot(pivot: int, years: list[int]) -> None:
    column = pl.Series("d", ["31.12.68", "31.12.69", "31.12.00", "31.12.99"])
    form = find_form(column, pivot=pivot)
    assert form is not None
    assert read_dates(column, form).tolist() == [days(date(year, 12, 31)) for year in years]
    assert f"00–{pivot}" in form.words()
    assert write_dates(read_dates(column, form), form, column.dtype).to_list() == column.to_list()


def test_a_month_is_a_date_too() -> None:
    column = pl.Series("d", ["1996-07", "1996-12"])
    form = find_form(column)
    assert form is not None
    months = read_dates(column, form)
    assert months.tolist() == [26 * 12 + 6, 26 * 12 + 11]
    assert write_dates(np.array([months.mean() - 0.1]), form, column.dtype).to_list() == ["1996-09"]


def test_whole_numbers_are_dates_where_declared_and_stay_numbers() -> None:
    column = pl.Series("d", [19960730, 20010101], dtype=pl.Int32)
    form = find_form(column)
    assert form is not None
    assert read_dates(column, form).tolist() == [days(DAY), days(date(2001, 1, 1))]
    assert write_dates(read_dates(column, form), form, column.dtype).equals(column)


def test_times_with_offsets_are_moments() -> None:
    east = timezone(timedelta(hours=2))
    moments = [datetime(1996, 7, 30, 12, 30, tzinfo=east), datetime(1996, 7, 31, 1, 0, tzinfo=east)]
    column = pl.Series("d", [moment.isoformat() for moment in moments])
    form = find_form(column)
    assert form is not None
    assert read_dates(column, form).tolist() == [moment.timestamp() * 1e6 for moment in moments]
    assert write_dates(read_dates(column, form), form, column.dtype).to_list() == column.to_list()
    mixed = pl.Series("d", [moments[0].isoformat(), moments[1].astimezone(UTC).isoformat()])
    form = find_form(mixed)
    assert form is not None
    assert write_dates(read_dates(mixed, form), form, mixed.dtype)[0] == "1996-07-30T10:30:00+00:00"


@pytest.mark.parametrize("text", ["31.06.1996", "30.07.196", "0.7.1996", "1996-7-300", "Julember 3, 1996", "24:00"])
def test_what_is_no_date_is_none(text: str) -> None:
    assert fitting_patterns(pl.Series([text])) == []


def test_units_are_converted() -> None:
    day, month, moment = DateForm(), DateForm("%Y-%m", "month"), DateForm(unit="microsecond")
    values = np.array([float(days(DAY)), np.nan])
    assert convert_unit(values, day, moment)[0] == days(DAY) * 86_400e6
    assert convert_unit(values, day, month)[0] == 26 * 12 + 6
    assert convert_unit(np.array([318.0]), month, day)[0] == days(date(1996, 7, 1))
    assert np.isnan(convert_unit(values, day, moment)[1])


@pytest.mark.parametrize("pattern", ["%d.%m", "%Q.%m.%Y", "%m/%d", "%Y-%Y-%m"])
def test_a_form_that_gives_no_date_is_refused(pattern: str) -> None:
    frame = pl.DataFrame({"d": ["30.07.1996"] * 4})
    with pytest.raises(InputError, match="column 'd': the form of a date"):
        discreet.protect(frame, k=2, quasi="all", date={"d": pattern})


def test_dates_that_cannot_be_told_apart_ask_for_their_form() -> None:
    frame = pl.DataFrame({"d": ["01/02/2020", "03/04/2020", "05/06/2020", "07/08/2020"]})
    with pytest.raises(InputError, match="%d/%m/%Y or %m/%d/%Y; say the form, as --date 'd=%d/%m/%Y'"):
        discreet.protect(frame, k=2, quasi="all", date="d")
    release = discreet.protect(frame, k=2, quasi="all", date={"d": "%m/%d/%Y"})
    assert release.data["d"].to_list() == ["02/02/2020"] * 2 + ["06/07/2020"] * 2
    with pytest.raises(InputError, match="4 values are not"):
        discreet.protect(frame, k=2, quasi="all", date={"d": "%d.%m.%Y"})


def test_what_is_assumed_of_dates_is_always_listed(tmp_path: Path) -> None:
    texts = ["30.07.96", "31.07.96", "01.08.15", "02.08.15"]
    frame = pl.DataFrame({"d": texts, "n": [19960730, 19960731, 20150801, 20150802]})
    notes = discreet.protect(frame, k=2, quasi="all").evidence["notes"]
    assert any("looks like dates written %d.%m.%y" in note and note.endswith(": d") for note in notes)
    assert any("look like dates written %Y%m%d" in note and note.endswith(": n") for note in notes)
    release = discreet.protect(frame, k=2, quasi="all", date=["d", "n"], pivot=10)
    assert any("years 00–10" in note for note in release.evidence["notes"])
    assert any("dates, written %Y%m%d: n" in note for note in release.evidence["notes"])
    assert release.data["n"].to_list() == [19960731, 19960731, 20150801, 20150801]
    assert release.data["n"].dtype == pl.Int64


def test_the_form_stands_in_a_configuration(tmp_path: Path) -> None:
    config = tmp_path / "dates.toml"
    config.write_text('k = 2\nquasi = "all"\npivot = 10\n\n[columns.d]\nform = "%d.%m.%y"\n')
    frame = pl.DataFrame({"d": ["30.07.96", "30.07.96", "01.08.15", "01.08.15"]})
    release = discreet.protect(frame, config=config)
    assert any("years 00–10" in note for note in release.evidence["notes"])
    assert release.evidence["parameters"]["columns"]["d"]["type"] == "date"


def test_a_release_is_measured_in_the_form_of_its_original() -> None:
    original = pl.DataFrame({"d": ["01/12/2020", "31/01/2020", "29/01/2020", "03/12/2020"]})
    release = pl.DataFrame({"d": ["02/12/2020", "01/02/2020", "01/02/2020", "02/12/2020"]})  # month first fits too
    found = discreet.measure(original, release, quasi="all", date="d", measures=["il"])
    assert found["il"] < 1
