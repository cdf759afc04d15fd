"""`discreet study`: from a file to a report, interrupted or not."""

from pathlib import Path

import polars as pl
import pytest

from canary import Command

pytest.importorskip("statsmodels")
pytest.importorskip("altair")

ROLES = ("--quasi", "age,income", "--ignore", "rest")
SMALL = (
    "--k",
    4,
    "--grid",
    "mutation=0,0.1",
    "--grid",
    "population=10:30:10",
    "--runs",
    2,
    "--param",
    "generations=40",
)


def test_a_study_is_reported(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("study", "sensitivity", survey, *ROLES, *SMALL, "--threads", 1, "-o", out)
    assert done.status == 0, done.err
    runs = pl.read_parquet(out / "runs.parquet")
    assert runs.columns == ["mutation", "population", "run", "seed", "sse", "converged", "seconds"]
    assert runs.height == 12
    report = (out / "report.md").read_text(encoding="utf-8")
    for part in ("Step 1", "Step 4", "| mutation", "sse.svg", "--param generations=40"):
        assert part in report
    assert (out / "sse.svg").exists()
    assert (out / "converged.svg").exists()
    assert "Best values" in done.out


def test_the_same_command_again_goes_on_and_counts_no_run_twice(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    study = ("study", "sensitivity", survey, *ROLES, *SMALL, "--threads", 1, "--quiet", "-o", out)
    assert command(*study).status == 0
    first = pl.read_parquet(out / "runs.parquet")
    lines = (out / "runs" / "runs.jsonl").read_bytes()
    refused = command(*study)
    assert refused.status == 2
    assert "--force" in refused.err
    # As a kill within a line leaves it.
    (out / "runs" / "runs.jsonl").write_bytes(lines[: len(lines) * 2 // 3])
    assert command(*study, "--force").status == 0
    second = pl.read_parquet(out / "runs.parquet")
    assert second.drop("seconds").equals(first.drop("seconds"))
    assert (out / "runs" / "runs.jsonl").read_text().count("\n") == 13


def test_the_folder_has_a_name_by_default(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grid = ("--grid", "gamma=0.2,1.1")
    assert command("study", "sensitivity", survey, *ROLES, "--k", 4, "--method", "vmdav", *grid, "--quiet").status == 0
    assert (tmp_path / "survey.csv.sensitivity" / "report.md").exists()


def test_an_interrupt_keeps_the_runs(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.experiments.sensitivity.sensitivity", interrupted)
    done = command("study", "sensitivity", survey, *ROLES, *SMALL, "-o", tmp_path / "out")
    assert done.status == 130
    assert "are kept in" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--grid", "mutatoin=0,1"), "did you mean 'mutation'"),
        (("--grid", "mutation=0.1"), "one value"),
        (("--grid", "mutation=0,1", "--method", "genetics"), "no method"),
        (("--grid", "mutation=0,1", "--runs", 0), "runs must be at least 1"),
        (("--grid", "mutation=0,1", "--param", "mutation=1"), "fixed value"),
    ],
)
def test_bad_studies_are_refused(
    command: Command, survey: Path, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    done = command("study", "sensitivity", survey, *ROLES, "--k", 4, *arguments, "-o", tmp_path / "out")
    assert done.status == 2
    assert message in done.err
    assert not (tmp_path / "out" / "report.md").exists()


def test_a_missing_file_is_named(command: Command, tmp_path: Path) -> None:
    done = command("study", "sensitivity", tmp_path / "gone.csv", *SMALL, "-o", tmp_path / "out")
    assert done.status == 2
    assert "gone.csv" in done.err
