"""A dry run: it refuses what the run would refuse, promises what the run keeps, and does nothing."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from canary import CANARY
from discreet.cli.app import run
from discreet.errors import InputError


@pytest.fixture
def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [None, None, None, *range(20, 47)],
            "town": list("abc") * 10,
            "code": [f"1{i % 5}" for i in range(30)],
            "ill": [CANARY] * 30,
        }
    )


def test_the_plan_promises_what_the_release_keeps(frame: pl.DataFrame) -> None:
    asked: dict[str, Any] = {"k": 3, "quasi": "all", "by": ["town"], "confidential": ["ill"], "missing": "impute"}
    planned, release = discreet.plan(frame, **asked, time=7), discreet.protect(frame, **asked)
    assert planned.promise == release.promise
    assert planned.groups >= release.measures["groups"]
    assert planned.classes == 3
    assert planned.blanked == release.measures["blanked"]
    assert planned.parameters["columns"] == release.evidence["parameters"]["columns"]
    assert planned.memory > 0
    assert planned.seconds is not None
    assert planned.seconds > 7
    assert set(planned.notes) <= set(release.evidence["notes"])
    text = planned.summary()
    assert "Unchanged   ill" in text
    assert "about" in text
    assert CANARY not in text
    assert discreet.plan(frame, **asked, steps=5).seconds is None


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 31, "quasi": "all"},
        {"k": 3, "quasi": ["age"]},
        {"k": 11, "quasi": "all", "by": ["town"]},
        {"k": 4, "quasi": ["age"], "ignore": "rest"},
        {"k": 3, "quasi": ["age"], "ignore": "rest", "missing": "error"},
        {"k": 3, "quasi": "all", "method": "nonsense"},
    ],
)
def test_what_the_run_would_refuse_the_plan_refuses_in_the_same_words(
    asked: dict[str, Any], frame: pl.DataFrame
) -> None:
    with pytest.raises(InputError) as planned:
        discreet.plan(frame, **asked)
    with pytest.raises(InputError) as made:
        discreet.protect(frame, **asked)
    assert str(planned.value) == str(made.value)


def test_an_open_level_of_coarsening_is_told(frame: pl.DataFrame) -> None:
    found = discreet.plan(frame, k=3, quasi=["code"], ignore="rest", coarsen={"code": "auto"})
    assert "the level of 'code' will be chosen in the first half of the search" in found.notes


def test_a_dry_run_writes_nothing(frame: pl.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, output = tmp_path / "data.csv", tmp_path / "out.csv"
    frame.write_csv(data)
    line = ["protect", str(data), "--k", "3", "--quasi", "all", "--confidential", "ill", "-o", str(output), "--dry-run"]
    assert run(line) == 0
    out, err = capsys.readouterr()
    assert "nothing was done or written" in out
    assert CANARY not in out + err
    assert list(tmp_path.iterdir()) == [data]
    assert run([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "discreet/plan/1"
    output.write_text("")
    assert run(line) == 2  # it exists, and the run would say so
