"""`discreet suppress`: files, exit status, and nothing left behind."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from discreet.cli.app import run
from discreet.release.evidence import schema


@pytest.fixture
def flagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run(["example", "tables", ".", "--kind", "8x6", "--sensitive", "0.1"]) == 0
    return tmp_path


def test_a_table_is_suppressed_written_and_audited(flagged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["suppress", "8x6.parquet", "-o", "public.csv", "--internal", "all.jj", "--certificate", "proof.json"]
    assert run([*command, "--steps", "5", "--json"]) == 0
    printed = capsys.readouterr()
    account = json.loads(printed.out)
    jsonschema.validate(account, schema("evidence"))
    jsonschema.validate(json.loads(Path("public.csv.release.json").read_text()), schema("release"))
    jsonschema.validate(json.loads(Path("public.csv.evidence.json").read_text()), schema("evidence"))
    assert account["measures"]["secondary_count"] > 0
    assert account["verification"]["passed"]
    assert run(["audit", "all.jj"]) == 0
    assert run(["audit", "all.jj", "--check", "proof.json"]) == 0
    public = pl.read_csv("public.csv", infer_schema=False)
    assert (public["value"] == "x").sum() == account["verification"]["suppressed"]


def test_a_partial_release_exits_with_three_and_names_the_cells_to_the_steward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("region,sales\na,5\nb,7\nb,2\nb,4\n")
    assert run(["tabulate", "data.csv", "--by", "region", "--value", "sales", "-o", "t.csv"]) == 0
    capsys.readouterr()
    command = ["suppress", "p.csv", "-o", "out.csv", "--frozen", "frozen.csv", "--steps", "1"]
    assert run(["suppress", "t.csv", "-o", "out.csv", "--steps", "1"]) == 2
    assert "no rule was ever applied" in capsys.readouterr().err
    assert run(["primary", "t.csv", "--threshold", "3", "-o", "p.csv"]) == 0
    Path("frozen.csv").write_text("region\nb\nTotal\n")
    assert run(command) == 1
    assert not Path("out.csv").exists()
    capsys.readouterr()
    assert run([*command, "--partial"]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "NOT PROTECTED: 1 of 1 cells (1 known exactly): region=a" in said
    assert "protected7" not in said
    record = json.loads(Path("out.csv.release.json").read_text())
    jsonschema.validate(record, schema("release"))
    assert (record["verified"], record["partial"]) == (False, True)
    assert "region=a" in Path("out.csv.evidence.json").read_text()


def test_a_configuration_holds_the_keywords_and_the_call_wins(
    flagged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run.toml").write_text('method = "ls-swap"\nseed = 3\nsteps = 2\nstrict = true\n[params]\nclean = true\n')
    capsys.readouterr()
    command = ["suppress", "8x6.parquet", "--config", "run.toml", "--json", "--quiet"]
    assert run([*command, "-o", "one.csv"]) == 0
    account = json.loads(capsys.readouterr().out)
    assert account["promise"]["strict"]
    assert (account["search"]["method"], account["search"]["seed"], account["search"]["steps"]) == ("ls-swap", 3, 2)
    assert account["search"]["params"] == {"clean": True}
    assert run([*command, "-o", "other.csv", "--seed", "4", "--steps", "1"]) == 0
    account = json.loads(capsys.readouterr().out)
    assert (account["search"]["seed"], account["search"]["steps"]) == (4, 1)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["-o", "public.jj"], 2, "never published"),
        (["-o", "public.csv", "--method", "nothing"], 2, "there is no method"),
        (["-o", "public.csv", "--mark", "0", "--steps", "1"], 2, "mark"),
        (["-o", "public.csv", "--certificate", "c.txt"], 2, ".json"),
        (["-o", "public.csv", "--config", "nothing.toml"], 2, "there is no such file"),
        (["-o", "8x6.csv", "--steps", "1"], 2, "exists already"),
        (["-o", "public.csv", "--internal", "8x6.parquet", "--force", "--steps", "1"], 2, "never written over"),
    ],
)
def test_bad_input_leaves_nothing_behind(
    flagged: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, words: str
) -> None:
    before = {path: path.read_bytes() for path in flagged.iterdir()}
    capsys.readouterr()
    assert run(["suppress", "8x6.parquet", *arguments]) == status
    assert words in capsys.readouterr().err
    assert {path: path.read_bytes() for path in flagged.iterdir()} == before
