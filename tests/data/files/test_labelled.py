"""SPSS, Stata and SAS: values and descriptions come through, as far as they are still true and safe."""

from __future__ import annotations

import datetime
import importlib
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from discreet.data import checks
from discreet.data.files import labelled
from discreet.data.files import labelled as labelled_out
from discreet.data.files.source import Source
from discreet.errors import InputError

CANARY = "Zyxwv-4711"
pyreadstat: Any = importlib.import_module("pyreadstat")  # its type hints leave out labels of texts
DAY, INSTANT, CLOCK = datetime.date(1950, 2, 3), datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.time(1, 2, 3)
FRAME = pl.DataFrame(
    {
        "sex": [1.0, 2.0, None],
        "income": [1234.5, None, 0.1],
        "name": ["Köln", "b", None],
        "born": [DAY, None, DAY],
        "seen": [INSTANT, None, INSTANT],
        "slot": [CLOCK, None, CLOCK],
    }
)
SUFFIXES = {"stata": ".dta", "spss": ".sav", "zsav": ".zsav", "sas": ".xpt"}


def there_and_back(frame: pl.DataFrame, folder: Path, name: str, like: Source | None = None) -> Source:
    temporary, final = folder / "out.tmp", folder / f"out{SUFFIXES[name]}"
    labelled_out.write(frame, temporary, name, like)
    temporary.rename(final)
    return labelled.read(final)


@pytest.mark.parametrize("name", SUFFIXES)
def test_values_come_back(tmp_path: Path, name: str) -> None:
    back = there_and_back(FRAME, tmp_path, name)
    assert_frame_equal(back.frame, FRAME)
    assert back.place(0) == "record 1"


def test_pandas_reads_the_same(tmp_path: Path) -> None:
    there_and_back(FRAME.drop("slot"), tmp_path, "stata")
    seen = pd.read_stata(tmp_path / "out.dta")
    assert seen["income"].tolist()[::2] == [1234.5, 0.1]
    assert seen["name"].tolist() == ["Köln", "b", ""]
    assert seen["born"].tolist()[0] == pd.Timestamp(DAY)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.none() | st.floats(-1e70, 1e70, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-70),
            st.none() | st.integers(-(2**53), 2**53),
            st.none() | st.text(st.characters(min_codepoint=33, exclude_categories=["Cs", "Cc", "Z"]), min_size=1),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_numbers_and_texts_come_back(tmp_path: Path, rows: list[tuple[float | None, int | None, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"x": pl.Float64, "i": pl.Int64, "t": pl.String}, orient="row")
    for name in SUFFIXES:
        back = there_and_back(frame, tmp_path, name).frame
        assert back["i"].cast(pl.Int64).to_list() == frame["i"].to_list()
        assert back["t"].to_list() == frame["t"].to_list()
        for seen, meant in zip(back["x"].to_list(), frame["x"].to_list(), strict=True):
            # SAS transport files have IBM floats, whose last bits differ.
            assert seen == meant or (name == "sas" and seen == pytest.approx(meant, rel=1e-14, abs=0))


@pytest.fixture
def spss(tmp_path: Path) -> Source:
    frame = pl.DataFrame({"sex": [1.0, 2.0, -9.0, -95.0], "age": [34.0, 51.0, 20.0, 7.0], "town": ["U", "B", "U", "X"]})
    pyreadstat.write_sav(
        frame,
        tmp_path / "in.sav",
        file_label="A survey",
        column_labels={"sex": "Sex of the person", "town": "Town of birth"},
        note="about " + CANARY,
        variable_value_labels={
            "sex": {1.0: "male", 2.0: "female", 3.0: CANARY, -9.0: "refused"},
            "town": {"U": "Ulm", "X": CANARY},
        },
        missing_ranges={"sex": [{"lo": -99, "hi": -90}, -9]},
        variable_measure={"sex": "nominal", "age": "scale"},
        variable_format={"age": "F3.0", "sex": "F2.0"},
        variable_display_width={"age": 12},
    )
    return labelled.read(tmp_path / "in.sav")


def test_user_missing_is_missing(spss: Source) -> None:
    assert spss.frame["sex"].to_list() == [1.0, 2.0, None, None]
    assert spss.labels is not None
    assert spss.labels.missing == {"sex": ((-99.0, -90.0), (-9.0, -9.0))}


@pytest.mark.parametrize("name", ["spss", "zsav"])
def test_descriptions_survive(spss: Source, tmp_path: Path, name: str) -> None:
    frame = spss.frame.with_columns(pl.col("town").replace("X", "U"))
    there_and_back(frame, tmp_path, name, spss)
    _, about = pyreadstat.read_sav(tmp_path / f"out{SUFFIXES[name]}", user_missing=True, output_format="polars")
    assert about.file_label == "A survey"
    assert about.column_names_to_labels == {"sex": "Sex of the person", "age": None, "town": "Town of birth"}
    assert about.variable_value_labels["sex"] == {1.0: "male", 2.0: "female", -9.0: "refused"}
    assert about.variable_value_labels["town"] == {"U": "Ulm"}
    assert about.missing_ranges["sex"] == [{"lo": -99.0, "hi": -90.0}, {"lo": -9.0, "hi": -9.0}]
    assert about.variable_measure["sex"] == "nominal"
    assert about.original_variable_types["age"] == "F3.0"
    assert about.variable_display_width["age"] == 12
    # Neither the notes nor labels of codes that were protected away are published.
    assert CANARY not in repr(vars(about))
    assert name == "zsav" or CANARY.encode() not in (tmp_path / "out.sav").read_bytes()


def test_descriptions_go_where_they_would_be_wrong(spss: Source, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [34.5, 20.0], "sex": [1.0, -95.0], "town": [1.0, 2.0]})
    there_and_back(frame, tmp_path, "spss", spss)
    back, about = pyreadstat.read_sav(tmp_path / "out.sav", output_format="polars")
    assert back["sex"].to_list() == [1.0, -95.0]  # not missing: a written value never vanishes
    assert about.original_variable_types["age"] != "F3.0"  # would show 35
    assert about.variable_value_labels == {"sex": {1.0: "male"}}
    assert about.column_names_to_labels["town"] == "Town of birth"


def test_only_labels_of_columns_still_there(spss: Source, tmp_path: Path) -> None:
    there_and_back(spss.frame.select("age"), tmp_path, "spss", spss)
    _, about = pyreadstat.read_sav(tmp_path / "out.sav", output_format="polars")
    assert about.column_names == ["age"]
    assert about.variable_value_labels == {}


def test_labels_move_between_packages(spss: Source, tmp_path: Path) -> None:
    there_and_back(spss.frame, tmp_path, "stata", spss)
    _, about = pyreadstat.read_dta(tmp_path / "out.dta", output_format="polars")
    assert about.variable_value_labels == {"sex": {-9: "refused", 1: "male", 2: "female"}}
    assert about.column_names_to_labels["sex"] == "Sex of the person"
    there_and_back(spss.frame, tmp_path, "sas", spss)
    _, about = pyreadstat.read_xport(tmp_path / "out.xpt", output_format="polars")
    assert about.column_names_to_labels["sex"] == "Sex of the person"


def test_stata_keeps_integers_formats_and_labels(tmp_path: Path) -> None:
    frame = pl.DataFrame({"sex": pl.Series([1, 2, None], dtype=pl.Int32), "born": [DAY, None, DAY]})
    pyreadstat.write_dta(
        frame,
        tmp_path / "in.dta",
        column_labels={"born": "day of birth"},
        variable_value_labels={"sex": {1: "male", 2: "female"}},
        variable_format={"born": "%tdDD/NN/CCYY", "sex": "%8.0g"},
    )
    source = labelled.read(tmp_path / "in.dta")
    assert source.frame["born"].to_list() == [DAY, None, DAY]  # a date, though its layout is its own
    assert source.frame["sex"].to_list() == [1, 2, None]
    there_and_back(source.frame, tmp_path, "stata", source)
    _, about = pyreadstat.read_dta(tmp_path / "out.dta", output_format="polars")
    assert about.original_variable_types == {"sex": "%8.0g", "born": "%tdDD/NN/CCYY"}
    assert about.readstat_variable_types["sex"] == "int32"
    assert about.variable_value_labels == {"sex": {1: "male", 2: "female"}}
    assert about.column_names_to_labels["born"] == "day of birth"


def test_labels_of_stata_missing_codes_do_not_disturb(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": pd.Series([1, "a", 2], dtype=object)})
    pyreadstat.write_dta(
        frame,
        tmp_path / "in.dta",
        variable_value_labels={"x": {1: "one", "a": "refused"}},
        missing_user_values={"x": ["a"]},
    )
    source = labelled.read(tmp_path / "in.dta")
    assert source.frame["x"].to_list() == [1, None, 2]
    assert there_and_back(source.frame, tmp_path, "stata", source).frame["x"].to_list() == [1, None, 2]


def test_other_types_find_a_place(tmp_path: Path) -> None:
    from decimal import Decimal

    frame = pl.DataFrame(
        {
            "b": [True, None],
            "c": pl.Series(["x", None], dtype=pl.Categorical),
            "m": [Decimal("1.5"), None],
            "big": [2**40, None],
            "n": [None, None],
            "nan": [float("nan"), 1.0],
            "u": pl.Series([1, None], dtype=pl.UInt16),
        }
    )
    for name in SUFFIXES:
        back = there_and_back(frame, tmp_path, name).frame
        assert back.row(0) == (1, "x", 1.5, 2**40, None, None, 1)


@pytest.mark.parametrize("name", SUFFIXES)
@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({"a b": [1]}), "does not allow the column name 'a b'"),
        (pl.DataFrame({"x" * 70: [1]}), "does not allow the column name"),
        (pl.DataFrame({"x": [2**60]}), "whole numbers beyond"),
        (pl.DataFrame({"x": [-(2**63)]}), "whole numbers beyond"),
        (pl.DataFrame({"x": [float("inf")]}), "infinite"),
        (pl.DataFrame({"x": [[1]]}), "nested"),
        (pl.DataFrame({"x": [datetime.timedelta(1)]}), "duration"),
        (pl.DataFrame({"x": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)]}), "time zones"),
    ],
)
def test_what_cannot_be_held_is_refused(tmp_path: Path, name: str, frame: pl.DataFrame, words: str) -> None:
    with pytest.raises(InputError, match=words):
        labelled_out.write(frame, tmp_path / "out", name)


def test_limits_of_single_packages(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SAS cannot hold infinite or such large numbers"):
        labelled_out.write(pl.DataFrame({"x": [1e300]}), tmp_path / "out", "sas")  # would come out as infinity
    with pytest.raises(InputError, match="upper from lower case; rename 'a', 'A'"):
        labelled_out.write(pl.DataFrame({"a": [1], "A": [2]}), tmp_path / "out", "spss")
    with pytest.raises(InputError, match="does not allow the column name 'with'"):
        labelled_out.write(pl.DataFrame({"with": [1]}), tmp_path / "out", "spss")
    with pytest.raises(InputError, match="cannot be written"):
        labelled_out.write(FRAME, tmp_path / "no" / "out", "spss")


def test_a_failure_of_the_library_is_told_without_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(pyreadstat, "write_dta", fail)
    with pytest.raises(InputError, match="could not be written as Stata") as caught:
        labelled_out.write(FRAME, tmp_path / "out", "stata")
    assert CANARY not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt"])
def test_damaged_files_are_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"in{suffix}"
    with pytest.raises(InputError, match="does not exist"):
        labelled.read(path)
    path.write_bytes(CANARY.encode() * 100)
    with pytest.raises(InputError, match=f"in{suffix} cannot be read") as caught:
        labelled.read(path)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", ["stata", "spss", "sas"])
def test_cut_off_files_are_refused(tmp_path: Path, name: str) -> None:
    source = there_and_back(pl.DataFrame({"t": [CANARY] * 500, "x": range(500)}), tmp_path, name)
    source.path.write_bytes(source.path.read_bytes()[:700])
    with pytest.raises(InputError) as caught:
        labelled.read(source.path)
    assert CANARY not in str(caught.value)


def test_por_and_no_records(tmp_path: Path) -> None:
    pyreadstat.write_por(pd.DataFrame({"AGE": [34.0, 51.0]}), tmp_path / "in.por", column_labels=["age"])
    source = labelled.read(tmp_path / "in.por")
    assert source.format == "spss"
    assert source.frame.rows() == [(34.0,), (51.0,)]
    pyreadstat.write_sav(pl.DataFrame({"x": pl.Series([], dtype=pl.Float64)}), tmp_path / "in.sav")
    with pytest.raises(InputError, match="no records"):
        labelled.read(tmp_path / "in.sav")


def test_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(checks, "import_module", absent)
    with pytest.raises(InputError) as caught:
        labelled.read(tmp_path / "in.dta")
    assert str(caught.value) == "reading Stata files needs the 'formats' extra: pip install 'discreet[formats]'"
    with pytest.raises(InputError, match="writing SPSS files needs the 'formats' extra"):
        labelled_out.write(FRAME, tmp_path / "out", "zsav")
