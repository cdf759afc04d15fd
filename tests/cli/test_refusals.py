"""All that can be wrong with what `discreet protect` is given: a clear word, the right status, nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from canary import CANARY, Command

ROLES = ["--quasi", "town,age,income,born", "--confidential", "diagnosis", "--identifier", "name", "--by", "region"]


def bad(survey: Path, name: str, change: Callable[[str], str | bytes]) -> Path:
    path = survey.with_name(name)
    content = change(survey.read_text())
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def line(number: int, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines = text.splitlines()
        lines[number - 1] = new
        return "\n".join(lines) + "\n"

    return change


def without_ages(text: str) -> str:
    rows = [line.split(",") for line in text.splitlines()]
    return "\n".join(",".join([*row[:3], row[3] if row[3] == "age" else "", *row[4:]]) for row in rows) + "\n"


PARQUET = b"PAR1" + bytes(range(200)) + b"PAR1"
BAD_FILES: dict[str, tuple[str, Callable[[str], str | bytes], str]] = {
    "empty": ("a.csv", lambda _: "", "empty"),
    "only a header": ("a.csv", lambda text: text.splitlines()[0] + "\n", "no records|header"),
    "duplicate names": ("a.csv", line(1, "name,town,town,age,income,born,diagnosis"), "'town'"),
    "binary": ("a.csv", lambda _: bytes(range(256)) * 9, "binary"),
    "parquet called csv": ("a.csv", lambda _: PARQUET, "Parquet"),
    "wrong encoding": ("a.csv", lambda text: text.encode().replace(b"n3,", b"\x81\x8d,"), "line 5"),
    "truncated parquet": ("a.parquet", lambda _: PARQUET[:50], "Parquet|truncated|damaged"),
    "text in numbers": ("a.csv", line(9, f"n,t1,r0,{CANARY}x,1,1950-01-01,d1"), "'age' has numbers and text.*line 9"),
    "infinite": ("a.csv", line(9, "n,t1,r0,30,inf,1950-01-01,d1"), "'income' has infinite values .line 9"),
    "ragged": ("a.csv", line(9, f"n,t1,r0,{CANARY}"), "line 9"),
    "all missing": ("a.csv", without_ages, "'age' has no values"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(command: Command, survey: Path, tmp_path: Path, case: str) -> None:
    name, change, said = BAD_FILES[case]
    path = bad(survey, name, change)
    before = sorted(tmp_path.iterdir())
    result = command("protect", path, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 2, result.err
    assert name in result.err
    assert re.search(said, result.err, re.DOTALL), result.err
    assert sorted(tmp_path.iterdir()) == before


BAD_OPTIONS: dict[str, tuple[list[str], str]] = {
    "k below 2": (["--k", "1"], "k must be at least 2"),
    "k above n": (["--k", "41", "--by", "", "--ignore", "region"], "k = 41 is more than the 40 records"),
    "small stratum": (["--k", "21"], "2 of 2 strata of region have fewer than k = 21 records"),
    "unknown column": (["--quasi", "agge"], "unknown column 'agge'.*Did you mean 'age'"),
    "two roles": (["--confidential", "age"], "'age' has two roles"),
    "unknown method": (["--method", "mdaw"], "mdav"),
    "unknown parameter": (["--method", "mdav", "--param", "gamma=1"], "gamma"),
    "bad parameter": (["--param", "gamma"], "expected parameter=value"),
    "bad number": (["--k", "five"], "(?i)k.*five"),
    "unknown option": (["--kk", "5"], "--kk"),
    "missing config": (["--config", "none.toml"], "none.toml: there is no such file"),
    "unknown format": (["-o", "out.xyz"], "'.xyz'"),
    "no such folder": (["-o", "none/out.csv"], "none: there is no such folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    options, said = BAD_OPTIONS[case]
    standard = ["-o", "out.csv", "--k", "5", *ROLES]
    for option, value in zip(options[::2], options[1::2], strict=True):
        if option in ("--k", "-o", "--by"):
            del standard[standard.index(option) : standard.index(option) + 2]
        if value:
            standard += [option, value]
    result = command("protect", survey, *standard)
    assert result.status == 2, result.err
    assert re.search(said, result.err, re.DOTALL), result.err
    assert sorted(tmp_path.iterdir()) == [survey]


def test_a_column_with_no_role_is_listed(command: Command, survey: Path, tmp_path: Path) -> None:
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, "--quasi", "age")
    assert result.status == 2
    assert "'name', 'town', 'region', 'income', 'born', 'diagnosis'" in result.err


def test_nothing_is_written_over_without_force(command: Command, survey: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    result = command("protect", survey, "-o", out, "--k", 5, *ROLES)
    assert result.status == 2
    assert "exists already" in result.err
    assert out.read_text() == "old"
    itself = command("protect", survey, "-o", survey, "--k", 5, *ROLES, "--force")
    assert itself.status == 2
    assert "input itself" in itself.err


def test_a_folder_that_cannot_be_written_is_refused(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 2
    assert "cannot be written to" in result.err


def test_a_fault_of_ours_shows_no_value(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr("discreet.microdata.preparation.accept", broken)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 1
    assert "RuntimeError" in result.err


def test_a_release_that_breaks_its_promise_is_refused(
    command: Command, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.data.files import write as honest

    def leaky(frame: pl.DataFrame, path: Path, **rest: object) -> None:
        if "age" in frame.columns:
            frame = frame.with_columns(age=pl.when(pl.int_range(pl.len()) == 3).then(17.25).otherwise("age"))
        honest(frame, path, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr("discreet.release.targets.write", leaky)
    result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES)
    assert result.status == 1
    assert "refused" in result.err
    assert list(tmp_path.iterdir()) == [survey]


DISCREET = [sys.executable, "-m", "discreet"]


# All formats in one process that has a small disk.
FULL = """
import resource, signal, sys
from discreet.cli.app import run

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
source, *outs, options = sys.argv[1:]
for out in outs:
    print(run(["protect", source, "-o", out, *options.split()]))
"""


def test_a_full_disk_leaves_the_old_file_and_no_trace(survey: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"out.{suffix}" for suffix in ("csv", "parquet", "arrow", "xlsx", "sav", "dta")]
    for out in outs:
        out.write_text("old")
    options = ["--k", "5", *ROLES, "--force", "--method", "mdav"]
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(survey), *map(str, outs), " ".join(options)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.stdout.split() == ["2"] * len(outs), done.stderr
    for out in outs:
        assert re.search(rf"{re.escape(out.name)} (could not|cannot) be written", done.stderr), done.stderr
        assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == sorted([survey, *outs])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    big = tmp_path / "big.csv"
    pl.DataFrame({"x": range(400_000), "y": [(i * 7919) % 400_009 for i in range(400_000)]}).write_csv(big)
    options = ["--k", "5", "--quasi", "all", "--method", "md"]
    process = subprocess.Popen(
        [*DISCREET, "protect", str(big), "-o", str(tmp_path / "out.csv"), *options], stderr=subprocess.PIPE, text=True
    )
    time.sleep(2)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; nothing was written" in err
    assert list(tmp_path.iterdir()) == [big]


def test_one_file_under_two_names_is_refused(command: Command, survey: Path, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    for other in ("sub/../out.csv", "link/out.csv"):
        for option in ("--evidence", "--row-map"):
            result = command("protect", survey, "-o", tmp_path / "out.csv", "--k", 5, *ROLES, option, tmp_path / other)
            assert result.status == 2
            assert "same name" in result.err
    config = tmp_path / "survey.toml"
    config.write_text("k = 5\n")
    result = command(
        "protect", survey, "-o", tmp_path / "out.csv", "--config", config, *ROLES, "--evidence", config, "--force"
    )
    assert result.status == 2
    assert "never written over" in result.err


def test_a_first_record_is_not_published_as_column_names(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text(f"{CANARY}a,{CANARY}b\nAnna,x\nBob,y\nCy,z\nDi,w\n")
    for roles in (["--quasi", "all"], ["--quasi", "column_1"]):
        result = command("protect", source, "-o", tmp_path / "out.csv", "--k", 2, *roles)
        assert result.status == 2
        assert "--header" in result.err
    assert (
        command("protect", source, "-o", tmp_path / "out.csv", "--k", 2, "--quasi", "all", "--header", "no").status == 0
    )


def test_a_respondent_with_gaps_is_not_published_as_column_names(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    rows = "".join(f"Person {i},{i},{i * 7 % 5},{1950 + i}\n" for i in range(20))
    for first in (f"{CANARY},unknown,refused,1950\n", f"{CANARY},unknown,refused,n.a.\n"):
        source.write_text(first + rows)
        result = command("protect", source, "-o", tmp_path / "out.csv", "--k", 2, "--quasi", "all")
        assert result.status == 2
        assert "--header" in result.err
        assert CANARY not in result.err


def test_a_header_of_years_can_be_told(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "years.csv"
    source.write_text("region,2019,2020\n" + "".join(f"R{i % 3},{i * 3},{i * 5}\n" for i in range(12)))
    call = ["protect", source, "-o", tmp_path / "out.csv", "--k", 3, "--quasi", "2019,2020", "--confidential", "region"]
    result = command(*call)
    assert result.status == 2
    assert "--header yes" in result.err
    assert command(*call, "--header", "yes").status == 0
