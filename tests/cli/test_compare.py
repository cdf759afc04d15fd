"""`discreet study compare`: from files to a report, interrupted or not."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from canary import Command

pytest.importorskip("scikit_posthocs")
pytest.importorskip("altair")

ROLES = ("--quasi", "age,income", "--ignore", "rest")
METHODS = ("--method", "mdav", "--method", "tour", "--method", "genetic:generations=20")
SMALL = ("--k", 3, "--k", 4, "--seeds", 2, "--steps", 2, "--threads", 1)


def test_a_comparison_is_reported(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("study", "compare", survey, *ROLES, *METHODS, *SMALL, "-o", out)
    assert done.status == 0, done.err
    runs = pl.read_parquet(out / "runs.parquet")
    assert runs.height == 12
    assert pl.read_parquet(out / "traces.parquet")["value"].is_not_null().all()
    report = (out / "report.md").read_text(encoding="utf-8")
    for part in (
        "Friedman",
        "Wilcoxon",
        "Medians and spreads",
        "--method genetic:generations=20",
        "--steps 2",
        "--quasi age,income --ignore rest",
    ):
        assert part in report
    for picture in ("critical-difference.svg", "time-to-quality.svg"):
        assert f"({picture})" in report
        assert (out / picture).exists()
    assert "mean rank" in done.out


def test_the_same_command_again_goes_on(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    study = ("study", "compare", survey, *ROLES, *METHODS, *SMALL, "--quiet", "-o", out)
    assert command(*study).status == 0
    first = pl.read_parquet(out / "runs.parquet")
    kept = out / "runs" / "runs.jsonl"
    lines = kept.read_bytes()
    refused = command(*study)
    assert refused.status == 2
    assert "--force" in refused.err
    kept.write_bytes(lines[: len(lines) * 2 // 3])  # as a kill within a line leaves it
    assert command(*study, "--force").status == 0
    assert pl.read_parquet(out / "runs.parquet").drop("seconds", "processor").equals(first.drop("seconds", "processor"))
    assert kept.read_text().count("\n") == 13


def test_tables_are_compared_without_k(
    command: Command, tmp_path: Path, table_reference: Callable[[str], Path]
) -> None:
    table, out = table_reference("jj/tiny.jj"), tmp_path / "out"
    methods = ("--method", "search", "--method", "hypercube")
    done = command("study", "compare", table, *methods, "--seeds", 1, "--steps", 2, "--threads", 1, "-o", out)
    assert done.status == 0, done.err
    assert "cost" in done.out
    assert "k" not in pl.read_parquet(out / "runs.parquet").columns


def test_an_interrupt_keeps_the_runs(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.experiments.compare.compare", interrupted)
    done = command("study", "compare", survey, *ROLES, *METHODS, *SMALL, "-o", tmp_path / "out")
    assert done.status == 130
    assert "are kept in" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "mdav", "--k", 3), "at least two"),
        (("--method", "mdav", "--method", "mdva", "--k", 3), "did you mean 'mdav'"),
        (("--method", "mdav", "--method", "tour"), "need k"),
        (("--method", "mdav", "--method", "tour", "--k", 3, "--seeds", 0), "seeds must be at least 1"),
        (("--method", "mdav", "--method", "tour", "--k", 30), "needs at least 60"),
        (("--method", "mdav", "--method", "tour", "--k", 3, "--time", 0), "positive number of seconds"),
    ],
)
def test_bad_comparisons_are_refused(
    command: Command, survey: Path, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    done = command("study", "compare", survey, *ROLES, *arguments, "-o", tmp_path / "out")
    assert done.status == 2
    assert message in done.err
    assert not (tmp_path / "out" / "report.md").exists()


def test_a_missing_file_is_named(command: Command, tmp_path: Path) -> None:
    for more in (("--k", 3), ()):
        methods = ("mdav", "tour") if more else ("search", "hypercube")
        named = [word for method in methods for word in ("--method", method)]
        done = command("study", "compare", tmp_path / "gone.csv", *named, *more, "-o", tmp_path / "out")
        assert done.status == 2
        assert "gone.csv" in done.err


def test_an_input_twice_is_refused(command: Command, survey: Path, tmp_path: Path) -> None:
    done = command("study", "compare", survey, survey, *METHODS, "--k", 3, "-o", tmp_path / "out")
    assert done.status == 2
    assert "named twice" in done.err
