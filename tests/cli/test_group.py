"""`discreet group`: from a file to a grouping that `discreet protect` takes."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from canary import Command
from discreet.data.groupings import read_groups
from discreet.release.evidence import schema

ROLES = ("--quasi", "age,income,born,town", "--by", "region", "--confidential", "diagnosis", "--identifier", "name")
QUICK = ("--threads", 1, "--steps", 3)


def test_a_grouping_is_written_and_protects(command: Command, survey: Path, tmp_path: Path) -> None:
    grouping, release = tmp_path / "grouping.toml", tmp_path / "release.csv"
    found = command("group", survey, *ROLES, "--k", 4, *QUICK, "-o", grouping)
    assert found.status == 0
    assert found.out == ""
    assert "4 quasi-identifiers" in found.err
    assert f"--grouping {grouping}" in found.err
    assert sorted(name for group in read_groups(grouping) for name in group) == ["age", "born", "income", "town"]
    made = command("protect", survey, *ROLES, "--k", 4, "--method", "mdav", "--grouping", grouping, "-o", release)
    assert made.status == 0
    assert release.exists()


def test_the_evidence_goes_to_standard_output(command: Command, survey: Path, tmp_path: Path) -> None:
    found = command("group", survey, *ROLES, "--k", 4, *QUICK, "-o", tmp_path / "g.toml", "--json", "--quiet")
    account = json.loads(found.out)
    jsonschema.validate(account, schema("evidence"))
    assert (account["kind"], account["output"]["file"]) == ("grouping", "g.toml")
    assert account["measures"]["grouping"] == read_groups(tmp_path / "g.toml")
    assert found.err == ""


def test_the_front_over_several_k_as_files_and_pictures(command: Command, survey: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    files = {name: tmp_path / name for name in ("g.toml", "points", "front.html", "operators.csv")}
    found = command(
        "group", survey, *ROLES, "--k", "3,5", "--k", 8, "--method", "pareto", "--param", "enumeration=0", *QUICK,
        "-o", files["g.toml"], "--point", 1, "--front", files["points"], "--plot", files["front.html"],
        "--operators", files["operators.csv"],
    )  # fmt: skip
    assert found.status == 0, found.err
    points = sorted(files["points"].iterdir())
    assert points
    assert read_groups(points[0]) == read_groups(files["g.toml"])
    assert "<html" in files["front.html"].read_text().lower()
    operators = pl.read_csv(files["operators.csv"])
    assert {"generation", "operator", "unused", "lifetime", "improved", "efficiency"} <= set(operators.columns)
    assert set(operators["generation"]) == {1, 2}


def test_options_of_search_and_risk_are_understood(command: Command, survey: Path, tmp_path: Path) -> None:
    found = command(
        "group", survey, *ROLES, "--k", 4, *QUICK, "-o", tmp_path / "g.toml", "--method", "d-gomm", "--param",
        "patience=2,population=20,enumeration=0", "--inner", "vmdav", "--inner-param", "gamma=0.2", "--start", "random",
        "--loss-weight", 2, "--direction", "released", "--nearest", 2, "--known", "age,town", "--choose", 1,
        "--interval", "rank", "--records", "--seed", 5, "--memory", 10, "--json",
    )  # fmt: skip
    assert found.status == 0, found.err
    parameters = json.loads(found.out)["parameters"]
    assert parameters["inner"]["params"]["gamma"] == 0.2
    assert parameters["params"]["patience"] == 2
    assert parameters["params"]["start"] == "random"
    assert parameters["choices"]["known"] == ["age", "town"]
    assert parameters["loss_weight"] == 2.0


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (("--k", "some"), "whole numbers"),
        (("--k", 41), "k = 41"),
        (("--k", "3,5"), "several k are for the method pareto"),
        (("--k", 4, "--inner", "mdaw"), "did you mean 'mdav'"),
        (("--k", 4, "--method", "best"), "best"),
        (("--k", 4, "--plot", "front.pdf"), ".html"),
        (("--k", 4, "--operators", "operators.doc"), "operators.doc"),
        (("--k", 4, "--front", "{survey}"), "is a file"),
        (("--k", 4, "--point", 999), "the front has points"),
        ((), "k is missing"),
    ],
)
def test_what_cannot_be_done_is_told_and_nothing_written(
    command: Command, survey: Path, tmp_path: Path, said: tuple[object, ...], message: str
) -> None:
    arguments = [str(word).format(survey=survey) for word in said]
    target = tmp_path / "g.toml"
    roles = ("--quasi", "age,income,born,town", "--ignore", "rest")
    found = command("group", survey, *roles, *QUICK, *arguments, "-o", target)
    assert found.status == 2
    assert message in found.err
    assert not target.exists()


def test_files_that_exist_stay_unless_forced(command: Command, survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "g.toml"
    target.write_text("mine")
    found = command("group", survey, *ROLES, "--k", 4, *QUICK, "-o", target)
    assert found.status == 2
    assert "exists already" in found.err
    assert target.read_text() == "mine"
    assert command("group", survey, *ROLES, "--k", 4, *QUICK, "-o", survey, "--force").status == 2
    assert command("group", survey, *ROLES, "--k", 4, *QUICK, "-o", target, "--force", "--quiet").status == 0
    assert read_groups(target)


def test_a_search_goes_on_from_its_checkpoint(command: Command, survey: Path, tmp_path: Path) -> None:
    kept, outs = tmp_path / "search.npz", [tmp_path / "resumed.toml", tmp_path / "whole.toml"]
    call = ["group", survey, *ROLES, "--k", 4, "--param", "enumeration=0,population=20", "--json", "--quiet"]
    first = command(*call, "--steps", 3, "--checkpoint", kept, "-o", tmp_path / "first.toml")
    assert first.status == 0, first.err
    accounts = [
        json.loads(command(*call, "--steps", 7, *more, "-o", out).out)
        for out, more in zip(outs, (["--checkpoint", kept], []), strict=True)
    ]
    assert outs[0].read_text() == outs[1].read_text()
    assert accounts[0]["measures"] == accounts[1]["measures"]
    assert [account["search"]["steps"] for account in accounts] == [7, 7]
    refused = command(*call, "--seed", 9, "--checkpoint", kept, "-o", tmp_path / "other.toml")
    assert refused.status == 2
    assert f"{kept}: the checkpoint was made with seed = 0, this run has seed = 9" in refused.err
    assert command(*call, "--checkpoint", kept, "-o", kept, "--force").status == 2
