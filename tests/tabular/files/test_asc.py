"""Microdata of fixed or separated fields: codes as they are, numbers as numbers, and the dimensions they make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.files import asc, rda
from discreet.tabular.files.rda import Metadata, Variable

CANARY = "7316094825"
WIDTH = 6
CELL = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters='"\ufeff'), max_size=WIDTH)
CODES = (
    st.tuples(CELL, st.integers(0, 2))
    .map(lambda one: (" " * one[1] + one[0])[:WIDTH])
    .filter(lambda code: code.strip())
)
NUMBERS = st.none() | st.integers(-9999, 99999).map(float) | st.integers(-999, 999).map(lambda number: number / 4)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def meta_of(separator: str | None = None) -> Metadata:
    fixed = separator is None
    return Metadata(
        Path("a.rda"),
        separator,
        (
            Variable("code", 1 if fixed else 0, WIDTH if fixed else 0, ("99",), recodeable=True),
            Variable("number", 8 if fixed else 0, 8 if fixed else 0, ("999999",), numeric=True),
        ),
    )


def refused(path: Path, content: str | bytes, meta: Metadata) -> str:
    with pytest.raises(InputError) as caught:
        asc.read(put(path, content), meta)
    message = str(caught.value)
    assert CANARY not in message
    return message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(CODES, NUMBERS), min_size=1, max_size=20),
    separator=st.sampled_from([None, ";", "\t", ","]),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
)
def test_records_come_back(
    tmp_path: Path, rows: list[tuple[str, float | None]], separator: str | None, end: str, last: bool
) -> None:
    words = [(code, "999999" if number is None else repr(number)) for code, number in rows]
    if separator is None:
        lines = [f"{code:{WIDTH}} {number:>8}" for code, number in words]
    else:
        lines = [f'"{code}"{separator}{number}' for code, number in words]
    source = asc.read(put(tmp_path / "a.asc", end.join(lines) + end * last), meta_of(separator))
    assert source.frame.schema == {"code": pl.String, "number": pl.Float64}
    assert source.frame.rows() == rows
    assert source.format == ("asc" if separator is None else "csv")


def test_a_code_of_blanks_stays_and_none_is_null(tmp_path: Path) -> None:
    fixed = asc.read(put(tmp_path / "a.asc", "           1.5 x\n 2           3 x\n"), meta_of())
    assert fixed.frame.rows() == [(" " * WIDTH, 1.5), (" 2", 3.0)]
    separated = asc.read(put(tmp_path / "b.csv", ";1\n 2 ;3;\n"), meta_of(";"))
    assert separated.frame.rows() == [(None, 1.0), (" 2", 3.0)]


def test_a_blank_number_is_missing_and_said(tmp_path: Path) -> None:
    source = asc.read(put(tmp_path / "a.csv", "a;\nb;  \nc;1\n"), meta_of(";"))
    assert source.frame["number"].to_list() == [None, None, 1.0]
    assert source.notes == ("a.csv: 2 blank fields of 'number' are taken to be missing",)


def test_a_line_of_names_is_not_a_record(tmp_path: Path) -> None:
    source = asc.read(put(tmp_path / "a.csv", "code;number\n\na;1\n"), meta_of(";"))
    assert source.frame.rows() == [("a", 1.0)]
    assert source.place(0) == "line 3"
    assert "line 1 holds the names" in source.notes[0]


def test_letters_beyond_ascii_take_one_place(tmp_path: Path) -> None:
    line = "Süßöäü       1\n"
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        source = asc.read(put(tmp_path / "a.asc", (line * 2).encode(encoding).replace(b"1\n", b" 1\n")), meta_of())
        assert source.frame.rows() == [("Süßöäü", 1.0)] * 2


@pytest.mark.parametrize(
    ("separator", "content", "told"),
    [
        (None, "abc           1\nab\n", ["line 2", "shorter than the 15 characters"]),
        (None, "abc           1\n\nabc           1\n", ["line 2", "shorter"]),
        (None, "abc           1\nabc         1,5\n", ["line 2", "'number'", "decimal comma"]),
        (None, "abc           1\nabc         x5 \nabc         x5 \n", ["line 2", "'number'", "not a number", "1 more"]),
        (None, "abc         inf\n", ["line 1", "'number'", "not a number"]),
        (";", f"a;1\nb;{CANARY}x\n", ["line 2", "'number'", "not a number"]),
        (";", f"a;1\n\nb;{CANARY},5\n", ["line 3", "'number'", "decimal comma"]),
        (";", f"a;1\nb;{CANARY};2\n", ["line 2", "3 fields", "2 variables"]),
        (";", f"a;1\nb {CANARY}\n", ["line 2", "1 fields"]),
        (";", f'a;1\n"b;{CANARY}\n', ["line 2", "quotation mark"]),
        (";", "code;number\n", ["no records"]),
        (";", "", ["empty"]),
        (None, "", ["empty"]),
        (None, "a\0", ["not a text file"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, separator: str | None, content: str, told: list[str]
) -> None:
    message = refused(tmp_path / "bad.asc", content, meta_of(separator))
    assert all(words in message for words in ["bad.asc", *told]), message


def test_a_flat_dimension_is_sorted_and_holds_the_missing_code() -> None:
    dimension = asc.dimension_of(Variable("size", missing=("99", "98")), pl.Series(["99", " 3", "10", " 3"]))
    assert dimension.codes == ("Total", " 3", "10", "99", "98")
    assert dimension.missing == {"99", "98"}
    assert dimension.is_flat


def test_a_missing_code_is_the_one_of_the_data_whatever_its_blanks() -> None:
    dimension = asc.dimension_of(Variable("size", width=2, missing=("9",)), [" 9", " 1"])
    assert dimension.codes == ("Total", " 1", " 9")
    assert dimension.missing == {" 9"}


def test_a_dimension_by_levels() -> None:
    variable = Variable("act", missing=("99",), hierarchical=True, levels=(1, 1, 0), total="All")
    dimension = asc.dimension_of(variable, ["11", "12", "21", "99"])
    above = {"1": "All", "11": "1", "12": "1", "2": "All", "21": "2", "99": "All"}
    assert dict(dimension.hierarchies[0].pairs()) == above


def test_a_dimension_by_a_file(tmp_path: Path) -> None:
    path = put(tmp_path / "r.hrc", "n\n@ 1\n@ 2\ns\n")
    variable = Variable("region", missing=("99",), hierarchical=True, hierarchy=path)
    dimension = asc.dimension_of(variable, [" 1", "s"])
    assert dimension.codes == ("Total", "n", " 1", " 2", "s", "99")
    assert dict(dimension.hierarchies[0].pairs())["99"] == "Total"


@pytest.mark.parametrize(
    ("codes", "told"),
    [
        (["Total", "s"], ["'region'", "code of the total", "<TOTCODE>"]),
        (["  ", "s"], ["'region'", "no code"]),
        ([None, "s"], ["'region'", "no code"]),
    ],
)
def test_codes_that_do_not_fit_are_refused(tmp_path: Path, codes: list[str | None], told: list[str]) -> None:
    variable = Variable("region", hierarchical=True, hierarchy=put(tmp_path / "r.hrc", "n\n@ 1\n@ 2\ns\n"))
    with pytest.raises(InputError) as caught:
        asc.dimension_of(variable, codes)
    assert all(words in str(caught.value) for words in told), str(caught.value)


def test_the_reference_microdata(table_reference: Callable[[str], Path]) -> None:
    meta = rda.read(table_reference("tau_testW/Tau_TestW.rda"))
    frame = asc.read(table_reference("tau_testW/tau_testW.asc"), meta).frame
    assert frame.height == 42723
    assert frame["Var2"].sum() == pytest.approx(16847646.84)
    assert frame["Size"].unique().sort().to_list() == [" 2", " 4", " 5", " 6", " 7", " 8", " 9", "99"]
    assert set(asc.dimension_of(meta["Region"], frame["Region"].unique()).hierarchies[0].leaves) == {
        *(f"{number:2}" for number in range(1, 13)),
        "99",
    }
    industry = asc.dimension_of(meta["IndustryCode"], frame["IndustryCode"].unique())
    assert {len(code) for code in industry.codes} == {3, 4, 5}


def test_the_reference_microdata_of_enterprises(table_reference: Callable[[str], Path]) -> None:
    meta = rda.read(table_reference("enterprise/example_enterprise.rda"))
    frame = asc.read(table_reference("enterprise/example_enterprise.asc"), meta).frame
    assert frame.height == 8169
    assert frame["turnover"].sum() == pytest.approx(5214849.23)
    assert asc.dimension_of(meta["act"], frame["act"].unique()).missing == {"00"}
