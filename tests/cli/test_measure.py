"""`discreet measure` from two files."""

import json
from pathlib import Path

import jsonschema
import polars as pl

from canary import CANARY, Command
from discreet.release.evidence import schema

ROLES = ["--quasi", "town,age,income,born", "--confidential", "diagnosis", "--identifier", "name", "--by", "region"]


def test_a_release_is_judged_by_its_row_map(command: Command, survey: Path, tmp_path: Path) -> None:
    out, rows = tmp_path / "out.csv", tmp_path / "map.csv"
    made = json.loads(command("protect", survey, "-o", out, "--k", 5, *ROLES, "--row-map", rows, "--json").out)
    quasi = ["--quasi", "town,age,income,born"]
    result = command("measure", survey, out, *quasi, "--row-map", rows, "--json")
    assert result.status == 0, result.err
    found = json.loads(result.out)
    for name in ("il", "dld", "id", "score"):
        assert abs(found["measures"][name] - made["measures"][name]) < 1e-9
    jsonschema.validate(found, schema("evidence"))
    assert found["parameters"]["choices"]["direction"] == "original"
    assert found["parameters"]["alignment"] == "row map"
    assert found["input"]["sha256"] == made["input"]["sha256"]
    assert found["output"]["sha256"] == made["output"]["sha256"]
    for word in ("Intruder", "Analyst", "finds the right one", "gil", "score"):
        assert word in result.err
    refused = command("measure", survey, out, *quasi)
    assert refused.status == 2
    assert "order of the records was destroyed" in refused.err


def test_measures_by_name_and_by_key(command: Command, survey: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    lines = survey.read_text().splitlines()
    other.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    options = [
        "--quasi",
        "age,income",
        "--key",
        "name",
        "--measures",
        "il,dld",
        "--measures",
        "l",
        "--confidential",
        "town",
    ]
    result = command("measure", survey, other, *options, "--json", "--quiet")
    assert result.status == 0, result.err
    found = json.loads(result.out)["measures"]
    assert (found["il"], found["dld"]) == (0, 100)
    assert set(found["l"]) == {"town"}
    assert "gil" not in found


def test_no_value_is_quoted(command: Command, survey: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(survey.read_text().replace(",26,", f",{CANARY}x,"))
    result = command("measure", survey, other, "--quasi", "age", "--key", "name")
    assert result.status == 2
    assert "line 8" in result.err
    doubled = survey.read_text() + survey.read_text().splitlines()[7] + "\n"
    other.write_text(doubled)
    assert "not unique" in command("measure", survey, other, "--quasi", "age", "--key", "name").err


def test_protect_measures_what_it_is_told(command: Command, survey: Path, tmp_path: Path) -> None:
    standard = ["protect", survey, "--k", 5, *ROLES, "--json", "--quiet"]
    for number, (asked, there, absent) in enumerate(
        [("none", {"il"}, {"dld"}), ("dld,pld", {"il", "dld", "pld"}, {"gil"}), ("all", {"pil", "l", "t", "si"}, set())]
    ):
        result = command(*standard, "-o", tmp_path / f"{number}.csv", "--measures", asked)
        assert result.status == 0, result.err
        found = json.loads(result.out)["measures"]
        assert there <= set(found)
        assert not absent & set(found)


def test_the_risk_of_each_record(command: Command, survey: Path, tmp_path: Path) -> None:
    out, rows, risks = tmp_path / "out.csv", tmp_path / "map.csv", tmp_path / "risk.parquet"
    command("protect", survey, "-o", out, "--k", 5, *ROLES, "--row-map", rows)
    call = [
        "measure",
        survey,
        out,
        "--quasi",
        "town,age,income,born",
        "--row-map",
        rows,
        "--per-record",
        risks,
        "--json",
    ]
    result = command(*call)
    assert result.status == 0, result.err
    found = pl.read_parquet(risks)
    assert found.columns == ["input_record", "class_risk", "linkage_risk"]
    assert found["input_record"].to_list() == list(range(1, 41))
    assert max(found["class_risk"]) <= 0.2
    assert abs(sum(found["linkage_risk"]) / 0.4 - json.loads(result.out)["measures"]["dld"]) < 1e-9
    assert risks.stat().st_mode & 0o777 == 0o600
    assert command(*call).status == 2
    assert command(*call, "--force").status == 0


def test_files_that_were_read_are_never_written_over(command: Command, survey: Path, tmp_path: Path) -> None:
    out, rows = tmp_path / "out.csv", tmp_path / "map.csv"
    command("protect", survey, "-o", out, "--k", 5, *ROLES, "--row-map", rows)
    before = {path: path.read_bytes() for path in (survey, out, rows)}
    for path in before:
        call = [
            "measure",
            survey,
            out,
            "--quasi",
            "town,age,income,born",
            "--row-map",
            rows,
            "--per-record",
            path,
            "--force",
        ]
        result = command(*call)
        assert result.status == 2
        assert "never written over" in result.err
    assert before == {path: path.read_bytes() for path in before}


def test_per_record_measures_the_risk_it_writes(command: Command, survey: Path, tmp_path: Path) -> None:
    risks = tmp_path / "risk.csv"
    call = ["measure", survey, survey, "--quasi", "age", "--key", "name", "--measures", "il", "--per-record", risks]
    assert command(*call).status == 0
    assert risks.read_text().splitlines()[0] == "input_record,class_risk,linkage_risk"


def test_a_release_is_read_as_its_record_says(command: Command, tmp_path: Path) -> None:
    source, out, rows = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "map.csv"
    # The name of a column is also one of its values, so that the header cannot be told from a record.
    source.write_text("urban,sex\n" + "urban,f\nrural,m\n" * 4)
    names = ["--quasi", "urban,sex", "--header", "yes"]
    assert command("protect", source, "-o", out, "--k", 2, *names, "--row-map", rows).status == 0
    typed = tmp_path / "in.parquet"
    pl.read_csv(source).write_parquet(typed)
    result = command("measure", typed, out, "--quasi", "urban,sex", "--row-map", rows, "--measures", "il")
    assert result.status == 0, result.err
    # Of two files, an option need apply to one only.
    result = command("measure", typed, out, *names, "--row-map", rows, "--measures", "il")
    assert result.status == 0, result.err
