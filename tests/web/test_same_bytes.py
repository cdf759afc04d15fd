"""What is written from a search that has ended is what its command writes, in every format and in both ways.

A release is written by going on from the checkpoint of its candidate, which has ended; the command that is shown begins
anew. Where a format holds a time of its own (Excel, Stata, SPSS) the values are the same, elsewhere the bytes.
"""

import json
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.data.files import read
from discreet.examples import make
from discreet.jobs.job import CHECKPOINT
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import SETTINGS, repeat, suppress, try_out, write_table_settings

BYTES = (".csv", ".parquet", ".arrow")


def write_twice(words: list[str], kept: list[str], output: str) -> None:
    """Write from a checkpoint and anew, and compare."""
    names = [output, f"{output}.release.json"]
    assert run([*words, *kept, "--quiet"]) == 0
    first = [look(Path(name)) for name in names]
    assert run([*words, "--quiet", "--force"]) == 0
    assert [look(Path(name)) for name in names] == first


def look(path: Path) -> object:
    """What is compared of a file; the record of one that holds a time has its digest, and so is another."""
    if path.name.endswith((*BYTES, *(f"{suffix}.release.json" for suffix in BYTES))):
        return path.read_bytes()
    if path.suffix == ".json":
        return None
    return read(path, header=True if path.suffix == ".xlsx" else None).frame.rows()


def test_microdata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("survey", tmp_path, n=200)
    monkeypatch.chdir(tmp_path)
    settings = Path("survey.toml").read_text()
    job = Jobs(tmp_path).add(try_out("survey.csv", time=0.2, seed=1), files={SETTINGS: settings}, start=False)
    kept = ["--checkpoint", str(job.path / CHECKPOINT)]
    assert run([*job.command, *kept, "--quiet"]) == 0
    search = json.loads((job.path / "candidate.csv.evidence.json").read_text())["search"]
    for suffix in (*BYTES, ".xlsx", ".dta", ".sav"):
        output = f"release{suffix}"
        Path(f"{output}.toml").write_text(settings)
        words = repeat("survey.csv", output, search, report=False)
        assert words[words.index("--steps") + 1] == str(search["steps"])
        write_twice(words, kept, output)
    assert Path("release.csv").read_bytes() == (job.path / "candidate.csv").read_bytes()


def test_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make("companies", tmp_path)
    monkeypatch.chdir(tmp_path)
    choices = {"by": ["district@region.hrc", "size_class"], "value": "turnover", "rules": {"threshold": 3, "p": 10}}
    Path("out.toml").write_text(write_table_settings(choices, {}))
    assert run(["tabulate", "companies.csv", "--config", "out.toml", "-o", "table.parquet", "--quiet"]) == 0
    assert run(["primary", "table.parquet", "--config", "out.toml", "-o", "flagged.parquet", "--quiet"]) == 0
    Path("marks.csv").write_text("cell\n30\n")
    kept = ["--checkpoint", "kept.npz"]
    files = {"prefer": "marks.csv"}
    words = suppress("flagged.parquet", "out.toml", "candidate.csv", files, {"time": 0.2, "seed": 3})
    assert run([*words, *kept, "--quiet"]) == 0
    found = json.loads(Path("candidate.csv.evidence.json").read_text())["search"]
    search = {"steps": found["steps"], "seed": found["seed"]}
    assert search["seed"] == 3
    Path("out.toml").write_text(write_table_settings(choices, search))
    for suffix in (*BYTES, ".xlsx"):
        words = suppress("flagged.parquet", "out.toml", f"public{suffix}", files, search)
        write_twice(words, kept, f"public{suffix}")
    # The configuration alone says it, too.
    assert (
        run(["suppress", "flagged.parquet", "--config", "out.toml", "--prefer", "marks.csv", "-o", "x.csv", "--quiet"])
        == 0
    )
    assert Path("x.csv").read_bytes() == Path("public.csv").read_bytes() == Path("candidate.csv").read_bytes()
