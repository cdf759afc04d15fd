"""Metadata files: every option is understood, passed over and said so, or refused with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.files import rda
from discreet.tabular.files.rda import Metadata, Variable

FIXED = """Industry 1 5 99999 "  x"
  <RECODEABLE>
  <HIERARCHICAL> <HIERLEVELS> 3 1 1 0 0
  <DISTANCE> 1 3 5 7 9
Region 7 2
  <RECODEABLE>
  <TOTCODE> "All regions"
  <CODELIST> "C:\\Data\\REGION.CDL"
  <HIERARCHICAL>
  <HIERCODELIST> "\\\\server\\share\\region.HRC"
  <HIERLEADSTRING> "->"
Wgt 10 4
  <DECIMALS> 1 <WEIGHT>
Var 15 10 9999999999
  <NUMERIC>
  <TRUNCABLE>
  <DECIMALS> 2
Firm 26 9
  <HOLDING>
Ask 35 1
  <REQUEST> "1" "2"
"""

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\ufeff'), min_size=1, max_size=6)
NAMES = WORDS.filter(lambda word: bool(word.strip()))
FLAGS = ("recodeable", "numeric", "weight", "holding", "frequency", "maxscore", "status", "shadow", "cost", "lowerpl")


@st.composite
def variables(draw: st.DrawFn, fixed: bool, folder: Path) -> Variable:
    """A variable that a .rda file can describe."""
    way = draw(st.sampled_from(["flat", "file", "levels"]))
    return Variable(
        draw(NAMES),
        draw(st.integers(1, 99)) if fixed else 0,
        draw(st.integers(1, 12)) if fixed else 0,
        tuple(draw(st.lists(WORDS, max_size=3, unique=True))),
        hierarchical=way != "flat",
        hierarchy=folder / "region.hrc" if way == "file" else None,
        codelist=draw(st.sampled_from([None, folder / "Region.cdl"])),
        lead=draw(WORDS) if way == "file" else "@",
        levels=draw(st.lists(st.integers(1, 3), min_size=1).map(tuple)) if way == "levels" else (),
        decimals=draw(st.none() | st.integers(0, 9)),
        request=tuple(draw(st.lists(WORDS, max_size=2))),
        total=draw(st.none() | WORDS),
        **{flag: draw(st.booleans()) for flag in FLAGS},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("region.hrc", "Region.cdl"):
        (tmp_path / name).write_text("a\n")
    return tmp_path


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_fixed_places(folder: Path) -> None:
    meta = rda.read(put(folder / "a.rda", FIXED))
    industry, region, weight, number, firm, asked = meta.variables
    assert meta.separator is None
    assert industry == Variable(
        "Industry", 1, 5, ("99999", "  x"), recodeable=True, hierarchical=True, levels=(3, 1, 1, 0, 0)
    )
    assert region == Variable(
        "Region",
        7,
        2,
        recodeable=True,
        total="All regions",
        codelist=folder / "Region.cdl",
        hierarchical=True,
        hierarchy=folder / "region.hrc",
        lead="->",
    )
    assert weight == Variable("Wgt", 10, 4, decimals=1, weight=True)
    assert weight.is_number
    assert number == Variable("Var", 15, 10, ("9999999999",), numeric=True, decimals=2)
    assert firm.holding
    assert not firm.is_number
    assert asked.request == ("1", "2")
    assert meta["Region"] is region


def test_what_is_passed_over_is_said(folder: Path) -> None:
    notes = rda.read(put(folder / "a.rda", FIXED)).notes
    assert notes == ("a.rda: <DISTANCE> is passed over (line 4)", "a.rda: <TRUNCABLE> is passed over (line 16)")


def test_a_separator(tmp_path: Path) -> None:
    lines = ['\ufeff   <SEPARATOR> ";"', 'Size "99" " 9"', " <RECODEABLE>"]
    text = "\r\n".join([*lines, '"My value" 9', " <NUMERIC> <SHADOW>", "Top1", " <MAXSCORE>"])
    meta = rda.read(put(tmp_path / "a.rda", text))
    assert meta.separator == ";"
    assert meta.variables == (
        Variable("Size", missing=("99", " 9"), recodeable=True),
        Variable("My value", missing=("9",), numeric=True, shadow=True),
        Variable("Top1", maxscore=True),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), separator=st.sampled_from([None, ";", ",", "\t", "|"]))
def test_metadata_come_back(folder: Path, data: st.DataObject, separator: str | None) -> None:
    found = data.draw(
        st.lists(variables(separator is None, folder), min_size=1, max_size=4, unique_by=lambda one: one.name)
    )
    path = folder / "a.rda"
    meta = Metadata(path, separator, tuple(found))
    assert rda.read(put(path, meta.text())) == meta


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("Size\n", ["line 1", "width", "<SEPARATOR>"]),
        ("Size 1\n", ["line 1", "width"]),
        ("Size 0 2\n", ["line 1", "counted from 1"]),
        ("Size x 2\n", ["line 1", "counted from 1"]),
        ("\n<NUMERIC>\nSize 1 2\n", ["line 2", "before the first variable"]),
        ("a 1 2\nb 3 1\na 4 1\n", ["line 3", "this variable is in line 1 already"]),
        ("a 1 2\n<DECIMALS> two\n", ["line 2", "<DECIMALS>", "whole numbers"]),
        ("a 1 2\n<DECIMALS>\n", ["line 2", "<DECIMALS>", "one entry"]),
        ("a 1 2\n<HIERLEVELS> 1 -1\n", ["line 2", "<HIERLEVELS>", "whole numbers"]),
        ("a 1 2\n<REQUEST>\n", ["line 2", "<REQUEST>"]),
        ("a 1 2\n<TOTCODE> All of it\n", ["line 2", "<TOTCODE>", "quotation marks"]),
        ('a 1 2\n<TOTCODE> "All\n', ["line 2", "not closed"]),
        ("a 1 2\n<NUMERIC\n", ["line 2", "not closed"]),
        ("a 1 2\n\n  <HIERARCHICAL>\nb 3 1\n", ["line 1", "<HIERCODELIST> nor <HIERLEVELS>"]),
        ('a 1 2\n<SEPARATOR> ";"\n', ["line 2", "before the first variable"]),
        ('<SEPARATOR> ";;"\na\n', ["line 1", "one character"]),
        ("<SEPARATOR>\na\n", ["line 1", "<SEPARATOR>", "one entry"]),
        ('<SEPARATOR> ";"\n""\n', ["line 2", "no name"]),
        ("\n\n", ["no variable"]),
        ('<SEPARATOR> ";"\n', ["no variable"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, content: str, told: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        rda.read(put(tmp_path / "bad.rda", content))
    assert all(words in str(caught.value) for words in ["bad.rda", *told]), str(caught.value)


@pytest.mark.parametrize("option", ["CODELIST", "HIERCODELIST"])
def test_a_file_that_is_not_there_is_told_by_its_line(tmp_path: Path, option: str) -> None:
    content = f'a 1 2\n <{option}> "C:\\there\\Not here.hrc"\n'
    with pytest.raises(InputError) as caught:
        rda.read(put(tmp_path / "a.rda", content))
    assert all(words in str(caught.value) for words in ("a.rda, line 2", "is not in", str(tmp_path)))
    assert "Not here" not in str(caught.value)


def test_a_file_can_be_in_a_folder_beside(tmp_path: Path) -> None:
    (tmp_path / "codes").mkdir()
    put(tmp_path / "codes" / "r.hrc", "a\n")
    meta = rda.read(put(tmp_path / "a.rda", 'a 1 2\n <HIERARCHICAL> <HIERCODELIST> "codes/r.hrc"\n'))
    assert meta.variables[0].hierarchy == tmp_path / "codes" / "r.hrc"


@pytest.mark.parametrize("how", ["../secret.hrc", "absolute", "..\\secret.hrc", "down/../../secret.hrc", "link.hrc"])
def test_no_file_is_opened_that_is_not_beside_or_below(tmp_path: Path, how: str) -> None:
    """A .rda file may come from anybody: what it names elsewhere is neither opened nor told."""
    folder = tmp_path / "here"
    (folder / "down").mkdir(parents=True)
    secret = put(tmp_path / "secret.hrc", "a\n")
    (folder / "link.hrc").symlink_to(secret)
    named = str(secret) if how == "absolute" else how
    with pytest.raises(InputError) as caught:
        rda.read(put(folder / "a.rda", f'a 1 2\n <HIERARCHICAL> <HIERCODELIST> "{named}"\n'))
    assert "a.rda, line 2" in str(caught.value)
    assert "secret" not in str(caught.value)
    # A path of another machine, as τ-ARGUS writes them, is looked for by its name beside the file.
    put(folder / "secret.hrc", "b\n")
    if how != "link.hrc":
        assert rda.read(folder / "a.rda").variables[0].hierarchy == folder / "secret.hrc"


def test_two_files_that_differ_in_case_only_are_not_guessed_between(tmp_path: Path) -> None:
    put(tmp_path / "R.hrc", "a\n")
    put(tmp_path / "r.HRC", "a\n")
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("names of files do not differ by case here")
    with pytest.raises(InputError, match=r"2 files in .* have this name"):
        rda.read(put(tmp_path / "a.rda", 'a 1 2\n <HIERCODELIST> "r.hrc"\n'))
    assert rda.read(put(tmp_path / "a.rda", 'a 1 2\n <HIERCODELIST> "R.hrc"\n')).variables[0].hierarchy


def test_an_unknown_variable_is_refused_with_those_there_are(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no variable 'Size'; there are Industry, Region"):
        rda.read(put(folder / "a.rda", FIXED))["Size"]


def test_a_quotation_mark_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="quotation mark"):
        Metadata(tmp_path / "a.rda", ";", (Variable("a", missing=('"',)),)).text()


def test_the_reference_metadata(table_reference: Callable[[str], Path]) -> None:
    meta = rda.read(table_reference("tab/pp.rda"))
    assert meta.separator == ";"
    region = meta["Region"]
    assert region.codelist is not None
    assert region.codelist.name == "region.cdl"  # named REGION.CDL
    assert [one.name for one in meta.variables if one.maxscore] == ["Top1", "Top2"]
    assert meta.notes == ("pp.rda: <DISTANCE> is passed over (line 8)",)
    fixed = rda.read(table_reference("enterprise/example_enterprise.rda"))
    assert (fixed["turnover"].start, fixed["turnover"].width, fixed["turnover"].decimals) == (19, 8, 2)
    assert fixed["act"].missing == ("00",)
