"""The folder for output checkers has ACRO's form: its record, a copy of each file and their checksums."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.release.acro import ACRO_VERSION, write_acro

# What ACRO 1.0 loads of each output; its viewer asks for files with names, checksums, and cells of a table.
FIELDS = {
    "uid", "status", "type", "properties", "files", "outcome", "command", "summary", "timestamp", "comments",
    "exception", "fair",
}  # fmt: skip


def read(folder: Path) -> dict[str, Any]:
    """The one output of a folder, after its checksums were compared."""
    content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert set(content) == {"version", "tool", "results"}
    (uid, output), *others = content["results"].items()
    assert (uid, others) == (output["uid"], [])
    assert set(output) == FIELDS
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert names == {"results.json", *(file["name"] for file in output["files"])}
    for name in names:
        said = (folder / "checksums" / f"{name}.txt").read_text()
        assert said == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    return dict(output)


def test_microdata_go_to_checkers_as_they_would_be_published(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 21, 22, 50, 51, 52], "sick": ["a", "b", "a", "c", "a", "b"]})
    release = discreet.protect(frame, quasi=["age"], confidential=["sick"], k=3, steps=1)
    written = release.write(tmp_path / "out.csv")
    folder = write_acro(written.files["release"], written.evidence, tmp_path / "check", command="discreet protect …")
    output = read(folder)
    assert (output["status"], output["type"], output["command"]) == ("pass", "custom", "discreet protect …")
    assert (folder / "out.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert folder.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="exists already"):
        write_acro(written.files["release"], written.evidence, folder)
    with pytest.raises(InputError, match="no such folder"):
        write_acro(written.files["release"], written.evidence, tmp_path / "nowhere" / "check")
    (tmp_path / "out.csv").unlink()
    with pytest.raises(InputError, match="nothing was left behind"):
        write_acro(written.files["release"], written.evidence, tmp_path / "again")
    assert {path.name for path in tmp_path.iterdir()} == {"check", "out.csv.release.json", "out.csv.evidence.json"}


def test_a_table_shows_its_marks_where_the_viewer_looks(tmp_path: Path) -> None:
    frame = pl.DataFrame({"r": list("aaabbbccc") * 3, "c": list("xyz") * 9, "v": range(10, 37)})
    frame = frame.filter((pl.col("r") != "a") | (pl.col("c") != "x") | (pl.col("v") < 15))
    table = discreet.primary(discreet.tabulate(frame, by=["r", "c"], value="v"), threshold=3)
    safe = discreet.suppress(table, steps=2)
    files = safe.write(tmp_path / "out.csv")
    account = json.loads(files["evidence"].read_text())
    output = read(write_acro(files["release"], account, tmp_path / "check"))
    assert output["type"] == "table"
    # As little of how its cells were chosen as in the record.
    told = (tmp_path / "check" / "results.json").read_text()
    assert "method" not in told
    assert discreet.__version__ not in told.replace(ACRO_VERSION, "")
    marked = output["files"][0]["sdc"]["cells"]["suppressed"]
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert len(marked) == sum(line.endswith(",x") for line in lines) > 3
    # The viewer counts rows without the header and columns after the first.
    assert all(lines[row + 1].split(",")[column + 1] == "x" for row, column in marked)


def test_the_folder_can_be_made_with_the_release_or_later_from_its_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 21, 22, 50, 51, 52], "sick": ["a", "b", "a", "c", "a", "b"]})
    release = discreet.protect(frame, quasi=["age"], confidential=["sick"], k=3, steps=1)
    written = release.write(tmp_path / "out.csv", acro=tmp_path / "at once")
    assert read(written.files["acro"])["command"].startswith("discreet protect")
    later = discreet.report(tmp_path / "out.csv", acro=tmp_path / "later")
    first, second = read(written.files["acro"]), read(later["acro"])
    assert first | {"timestamp": ""} == second | {"timestamp": ""}
    written.files["evidence"].unlink()
    with pytest.raises(InputError, match="needs the evidence"):
        discreet.report(tmp_path / "out.csv", output=tmp_path / "bare", acro=tmp_path / "bare")
    assert not (tmp_path / "bare.report.html").exists()
    with pytest.raises(InputError, match="output checkers look at files"):
        release.write(f"sqlite:{tmp_path}/a.db#t", acro=tmp_path / "again", files=tmp_path)
    assert not (tmp_path / "a.db").exists()
