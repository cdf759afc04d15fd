"""Loss against risk over k and methods: every figure is that of a release, and the front is not beaten."""

from pathlib import Path

import polars as pl
import pytest

import discreet
from canary import CANARY
from discreet.cli.app import run
from discreet.experiments.tradeoff import Tradeoff

pytest.importorskip("altair")

COLUMNS = ["--quasi", "age,income", "--ignore", "rest"]


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    lines = ["name,age,income", *(f"{CANARY},{20 + 7 * i % 40},{1000 + 37 * (i * i % 50)}.5" for i in range(60))]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_study_of_loss_and_risk(survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    line = ["study", "tradeoff", str(survey), "--k", "3,5", "--methods", "mdav,tour", *COLUMNS, "--steps", "2"]
    assert run([*line, "--threads", "1", "-o", str(out)]) == 0
    printed = capsys.readouterr()
    assert CANARY not in printed.out + printed.err
    runs = pl.read_parquet(out / "runs.parquet")
    assert runs.select("k", "method").rows() == [(3, "mdav"), (3, "tour"), (5, "mdav"), (5, "tour")]
    release = discreet.protect(survey, k=5, quasi=["age", "income"], ignore="rest", method="tour", measures=["score"])
    own = runs.row(3, named=True)
    assert own["il"] == pytest.approx(release.measures["il"])
    assert own["score"] == pytest.approx(release.measures["score"])
    report = (out / "report.md").read_text()
    assert "--k 3,5 --methods mdav --methods tour --quasi age,income" in report
    assert (out / "loss-and-risk.svg").exists()
    assert run([*line, "-o", str(out)]) == 2
    assert run([*line, "--force", "--quiet", "-o", str(out)]) == 0


def test_nothing_on_the_front_is_beaten() -> None:
    runs = pl.DataFrame({"il": [1.0, 2.0, 2.0, 3.0, 4.0, 5.0], "dr": [9.0, 8.0, 7.0, 7.0, 7.5, 1.0], "k": range(6)})
    front = Tradeoff(runs, "dr").front()
    assert front["k"].to_list() == [0, 2, 5]
