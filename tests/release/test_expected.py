"""What is written is what was looked at: any other release is refused, in every format, and leaves nothing behind."""

from pathlib import Path

import pytest

import discreet
from discreet.cli.app import run
from discreet.errors import InputError, PromiseNotKept
from discreet.examples import make

PROTECT = ["protect", "survey.csv", "--config", "survey.toml", "--quiet"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make("survey", tmp_path, n=200)
    make("companies", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_microdata(folder: Path) -> None:
    assert run([*PROTECT, "--steps", "3", "-o", "seen.csv"]) == 0
    for suffix in (".csv", ".parquet", ".xlsx", ".dta"):
        assert run([*PROTECT, "--steps", "3", "-o", f"same{suffix}", "--expect", "seen.csv"]) == 0
        assert run([*PROTECT, "--steps", "3", "--k", "6", "-o", f"other{suffix}", "--expect", "seen.csv"]) == 1
    assert not list(folder.glob("other*"))
    assert (folder / "same.csv").read_bytes() == (folder / "seen.csv").read_bytes()
    # The data has changed meanwhile, by a single value that the release shows.
    lines = (folder / "survey.csv").read_text().splitlines()
    hours = lines[0].split(",").index("hours")
    row = lines[1].split(",")
    row[hours] = "99"
    (folder / "survey.csv").write_text("\n".join([lines[0], ",".join(row), *lines[2:]]) + "\n")
    before = sorted(folder.iterdir())
    assert run([*PROTECT, "--steps", "3", "-o", "other.csv", "--expect", "seen.csv"]) == 1
    assert run([*PROTECT, "--steps", "3", "-o", "same.csv", "--expect", "seen.csv", "--force"]) == 1
    assert sorted(folder.iterdir()) == before
    assert (folder / "same.csv").read_bytes() == (folder / "seen.csv").read_bytes()


def test_tables(folder: Path) -> None:
    table = discreet.primary(
        discreet.tabulate("companies.csv", by=["district@region.hrc", "size_class"], value="turnover"), threshold=3
    )
    seen = discreet.suppress(table, steps=3)
    seen.write("seen.csv")
    for suffix in (".csv", ".parquet", ".arrow", ".xlsx"):
        seen.write(f"same{suffix}", expect="seen.csv")
    (folder / "seen.csv").write_bytes((folder / "seen.csv").read_bytes().replace(b",x\n", b",y\n", 1))
    for suffix in (".csv", ".xlsx"):
        with pytest.raises(PromiseNotKept, match=r"not the one in seen\.csv"):
            seen.write(f"other{suffix}", expect="seen.csv")
    assert not list(folder.glob("other*"))


def test_what_cannot_be_compared_is_refused_before_the_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, words in (("none.csv", "does not exist"), ("survey.toml", "compared as .csv")):
        assert run([*PROTECT, "--time", "600", "-o", "out.csv", "--expect", name]) == 2
        assert words in capsys.readouterr().err
    assert run([*PROTECT, "--steps", "3", "-o", "seen.csv"]) == 0
    assert run([*PROTECT, "--time", "600", "-o", "seen.csv", "--expect", "seen.csv", "--force"]) == 2
    assert "seen.csv is the expected release" in capsys.readouterr().err
    table = discreet.tabulate("companies.csv", by=["size_class"])
    with pytest.raises(InputError, match=r"compared as \.csv"):
        discreet.suppress(discreet.primary(table, threshold=3)).write("x.csv", expect="survey.toml")
