"""The commands on statistical tables, from microdata to a verdict."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from discreet.cli.app import run
from discreet.release.evidence import schema

CODES = {"r": ["a", "a", "a", "b", "b", "b", "b"], "s": ["x", "x", "y", "x", "y", "y", "y"]}
AMOUNTS = [900, 77, 40, 13, 64, 51, 47]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({**CODES, "amount": AMOUNTS}).write_csv("data.csv")
    assert run(["tabulate", "data.csv", "--by", "r", "--by", "s", "--value", "amount", "-o", "table.parquet"]) == 0
    return tmp_path


def flag(*more: str) -> int:
    return run(["primary", "table.parquet", "-o", "flagged.parquet", "--p", "15", *more])


def test_from_microdata_to_a_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert flag() == 0
    assert "internal: not for publication" in capsys.readouterr().err
    # Every unsafe cell alone in its line: subtraction finds them all.
    assert run(["audit", "flagged.parquet"]) == 1
    told = capsys.readouterr().out
    assert "NOT PROTECTED" in told
    assert not any(str(amount) in told for amount in (900, 977))


def test_a_pattern_that_protects_passes_and_is_certified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("list.csv").write_text("r,s,status\na,x,u\na,y,s\nb,x,s\nTotal,x,s\na,Total,s\n")
    assert run(["primary", "table.parquet", "-o", "f.parquet", "--manual", "list.csv", "--range", "1"]) == 0
    Path("pattern.txt").write_text(
        '"Total","Total",1192.00,1\n"Total","x",990.00,1\n"Total","y",202.00,1\n"a","Total",1017.00,1\n'
        '"a","x",977.00,3\n"a","y",40.00,11\n"b","Total",175.00,1\n"b","x",13.00,11\n"b","y",162.00,11\n'
    )
    capsys.readouterr()
    command = ["audit", "f.parquet", "--pattern", "pattern.txt", "--json", "--secondaries"]
    assert run([*command, "--certificate", "c.json", "--intervals", "i.csv"]) == 0
    printed = capsys.readouterr()
    account = json.loads(printed.out)
    jsonschema.validate(account, schema("evidence"))
    assert account["verification"]["passed"]
    intervals = pl.read_csv("i.csv")
    wanted = "cell,value,lower,upper,required_lower,required_upper,required_width,status,verdict,r,s"
    assert intervals.columns == wanted.split(",")
    assert next(iter(json.loads(Path("i.intervals.json").read_text()))) == "internal"
    assert next(iter(json.loads(Path("c.json").read_text()))) == "internal"
    # Up until b × x is used up at 13 less, down until b × y is at 162 less.
    first = intervals.filter(pl.col("status") == "u").row(0, named=True)
    assert (first["lower"], first["upper"]) == (977 - 162, 977 + 13)


def test_a_certificate_can_be_checked_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = "r,s\na,x\na,y\nb,x\nb,y\n"
    Path("list.csv").write_text(cells)
    run(["primary", "table.parquet", "-o", "f.parquet", "--manual", "list.csv", "--range", "1"])
    assert run(["audit", "f.parquet", "--certificate", "c.json"]) == 0
    assert run(["audit", "f.parquet", "--check", "c.json"]) == 0
    content = json.loads(Path("c.json").read_text())
    content["moves"][0]["amounts"][0] += 1
    Path("c.json").write_text(json.dumps(content))
    capsys.readouterr()
    assert run(["audit", "f.parquet", "--check", "c.json"]) == 1
    assert "does not add up" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tabulate", "data.csv", "-o", "t.parquet", "--value", "amount"], "--by"),
        (["tabulate", "data.csv", "--by", "nothing", "-o", "t.parquet"], "no column 'nothing'"),
        (["tabulate", "data.csv", "--by", "r", "--value", "s", "-o", "t.parquet"], "not numbers"),
        (["tabulate", "data.csv", "--by", "r", "-o", "t.xyz"], "t.xyz"),
        (["tabulate", "data.csv", "--by", "r@no.hrc", "-o", "t.parquet"], "no.hrc"),
        (["tabulate", "data.csv", "--by", "r", "--by", "s", "--part", "r,q", "-o", "t.parquet"], "a part must list"),
        (["primary", "table.parquet", "-o", "t.parquet"], "no rule is given"),
        (["primary", "table.parquet", "-o", "t.parquet", "--dominance", "75"], "two numbers"),
        (["primary", "table.parquet", "-o", "t.parquet", "--p", "-1"], "p must be"),
        (["primary", "table.parquet", "-o", "t.parquet", "--p", "10", "--coalition", "5"], "--top 6"),
        (["primary", "table.parquet", "-o", "t.parquet", "--threshold", "3", "--bounds", "1"], "bounds"),
        (["primary", "table.parquet", "-o", "table.parquet", "--p", "10", "--force"], "table.parquet"),
        (["audit", "nothing.jj"], "nothing.jj"),
        (["audit", "table.parquet", "--intervals", "i.txt"], ".csv or .parquet"),
        (["audit", "table.parquet", "--certificate", "c.txt"], ".json"),
        (["audit", "table.parquet", "--pattern", "nothing.txt"], "nothing.txt"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert run(arguments) == 2
    assert words in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_linked_tables_are_one_system(folder: Path) -> None:
    command = ["tabulate", "data.csv", "--by", "r", "--by", "s", "--value", "amount", "-o", "linked.parquet"]
    assert run([*command, "--part", "r", "--part", "s"]) == 0
    frame = pl.read_parquet("linked.parquet")
    assert sorted(zip(frame["r"], frame["s"], strict=True)) == [
        ("Total", "Total"),
        ("Total", "x"),
        ("Total", "y"),
        ("a", "Total"),
        ("b", "Total"),
    ]


def test_quiet_prints_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert flag("--quiet") == 0
    assert capsys.readouterr() == ("", "")
