"""`discreet protect --grouping`: from the file to a release whose groups of columns keep their promise."""

import csv
import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from canary import CANARY, Command
from discreet.data.groupings import groups_text
from discreet.release.evidence import schema

ROLES = ["--quasi", "town,age,income,born", "--confidential", "diagnosis", "--identifier", "name", "--by", "region"]
GROUPS = [["income", "age"], ["town"], ["born"]]


def classes(path: Path, names: list[str]) -> Counter[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row[name] for name in names) for row in csv.DictReader(file))


@pytest.mark.parametrize("how", ["file", "text", "repeated", "configuration"])
def test_from_file_to_verified_release(command: Command, survey: Path, tmp_path: Path, how: str) -> None:
    out, grouping, config = tmp_path / "out.csv", tmp_path / "grouping.toml", tmp_path / "config.toml"
    grouping.write_text(groups_text(GROUPS, {"method": "gomm", "k": 5}))
    config.write_text(f"grouping = {json.dumps(GROUPS)}\n")
    options: dict[str, list[object]] = {
        "file": ["--grouping", grouping],
        "text": ["--grouping", "income, age; town; born"],
        "repeated": ["--grouping", "income,age", "--grouping", "town;born"],
        "configuration": ["--config", config],
    }
    result = command("protect", survey, "-o", out, "--k", 5, *ROLES, "--steps", 2, *options[how], "--json")
    assert result.status == 0, result.err
    for group in GROUPS:
        assert min(classes(out, ["region", *group]).values()) >= 5
    evidence = json.loads(result.out)
    record = json.loads((tmp_path / "out.csv.release.json").read_text())
    jsonschema.validate(evidence, schema("evidence"))
    jsonschema.validate(record, schema("release"))
    assert CANARY not in json.dumps([evidence, record])
    assert evidence["parameters"]["grouping"] == [["age", "income"], ["town"], ["born"]]
    assert record["promise"]["groups"] == [["age", "income"], ["town"], ["born"]]
    said = " ".join(result.err.split())
    for account in (evidence, record):
        assert "across groups nothing is promised" in account["promise"]["words"]
    assert f"an intruder who combines groups finds {evidence['measures']['dld']:.2f} % of the records" in said
    verified = command("verify", out, "--promise", tmp_path / "out.csv.release.json")
    assert verified.status == 0
    assert command("verify", out, "--grouping", grouping, "--by", "region", "--k", 5).status == 0
    assert command("verify", out, "--quasi", "town,age,income,born", "--by", "region", "--k", 5).status == 1


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ('[["age", "income"], ["town"]]', "no group has 'born'"),
        ('[["age", "income"], ["town", "age"], ["born"]]', "column 'age' stands twice"),
        ('[["age", "income"], ["town", "diagnosis"], ["born"]]', "column 2 of group 2 is no quasi-identifier"),
        ('[["age", "income"], ["town", "city"], ["born"]]', "column 2 of group 2 is no quasi-identifier"),
        ('[["age", "income", "town", "born"], []]', "a group is empty"),
        ("3", "expected a list of lists"),
    ],
)
def test_a_wrong_file_is_refused_and_nothing_is_written(
    command: Command, survey: Path, tmp_path: Path, groups: str, said: str
) -> None:
    grouping = tmp_path / "grouping.toml"
    grouping.write_text(f"groups = {groups}\n")
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES, "--grouping", grouping)
    assert result.status == 2
    assert str(grouping) in result.err
    assert said in result.err
    assert sorted(tmp_path.iterdir()) == sorted([survey, grouping])


def test_the_grouping_is_never_written_over(command: Command, survey: Path, tmp_path: Path) -> None:
    grouping = tmp_path / "grouping.toml"
    grouping.write_text(groups_text(GROUPS, {}))
    before = grouping.read_bytes()
    result = command(
        "protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES, "--grouping", grouping, "--force",
        "--evidence", grouping,
    )  # fmt: skip
    assert result.status == 2
    assert "is the grouping, which is never written over" in result.err
    assert grouping.read_bytes() == before


def test_a_column_with_a_comma_in_its_name_stands_in_quotes(command: Command, tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('"a,1",b\n' + "".join(f"{i},{i * i}\n" for i in range(12)))
    result = command("protect", source, "-o", out, "--k", 3, "--quasi", "all", "--grouping", '"a,1";b')
    assert result.status == 0, result.err
    assert min(classes(out, ["a,1"]).values()) >= 3
