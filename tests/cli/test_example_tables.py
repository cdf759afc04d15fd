"""`discreet example tables`: files that agree with each other, or none at all."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from canary import Command
from discreet.examples import contributors
from discreet.tables.primary import primary
from discreet.tables.tabulate import tabulate
from discreet.tabular.files.formats import read_table
from discreet.tabular.hierarchy import Hierarchy


def test_the_files_are_one_table(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    arguments = ("--kind", "6x20hx3", "--sensitive", 0.2, "--zeros", 0.1, "--seed", 4)
    made = command("example", "tables", folder, *arguments)
    assert made.status == 0, made.err
    names = ["6x20hx3.csv", "6x20hx3.d2.hrc", "6x20hx3.parquet", "6x20hx3.jj"]
    assert {path.name for path in folder.iterdir()} == set(names), "and nothing temporary is left"
    assert [Path(line).name for line in made.err.splitlines()[:4]] == names

    frame, hierarchies = contributors("6x20hx3", sensitive=0.2, zeros=0.1, seed=4)
    assert (folder / names[0]).read_text() == frame.write_csv()
    assert Hierarchy.from_hrc(folder / names[1]) == hierarchies["d2"]
    by = ["d1", f"d2@{folder / names[1]}", "d3"]
    table = primary(tabulate(folder / names[0], by=by, value="value", complete=True), p=15)
    for name in names[2:]:
        read = read_table(folder / name)
        for attribute in ("value", "status", "cost", "lpl", "upl", "lower", "upper"):
            assert np.array_equal(getattr(read, attribute), getattr(table, attribute)), attribute
    said = made.err.splitlines()[4]
    assert said.startswith(f"{len(table)} cells with their totals, {len(table.primary)} unsafe (")
    assert "internal" in made.err
    assert not made.out


def test_defaults_and_names(command: Command, tmp_path: Path) -> None:
    assert command("example", "tables", tmp_path).status == 0
    assert pl.read_csv(tmp_path / "200x5.csv").equals(contributors("200x5")[0])
    # 201 × 6 cells; the unsafe ones are a tenth of 1000, and the totals that they make unsafe.
    assert len(read_table(tmp_path / "200x5.jj")) == 1206
    assert command("example", "tables", tmp_path, "--kind", "hierarchical").status == 0
    assert (tmp_path / "hierarchical.d3.hrc").exists()


def test_nothing_is_overwritten_unless_forced(command: Command, tmp_path: Path) -> None:
    (tmp_path / "4x5.jj").write_text("mine")
    refused = command("example", "tables", tmp_path, "--kind", "4x5")
    assert refused.status == 2
    assert "4x5.jj exists already" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["4x5.jj"]
    assert command("example", "tables", tmp_path, "--kind", "4x5", "--force").status == 0
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert first.keys() == {"4x5.csv", "4x5.parquet", "4x5.jj"}
    assert command("example", "tables", tmp_path, "--kind", "4x5", "--force").status == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first, "the same seed, the same files"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tables", "--kind", "5"], "there is no kind '5'"),
        (["tables", "--kind", "../4x5"], "there is no kind"),
        (["tables", "--sensitive", "0.8", "--zeros", "0.3"], "more than 1 together"),
        (["tables", "--zeros", "2"], "zeros must be a share"),
        (["tables", "--seed", "-1"], "seed must be at least 0"),
        (["tables", "--records", "10"], "leave out --records"),
        (["companies", "--kind", "4x5"], "--kind is for tables only"),
        (["survey", "--sensitive", "0.1"], "--sensitive is for tables only"),
        (["sme", "--zeros", "0"], "--zeros is for tables only"),
    ],
)
def test_what_cannot_be_made_leaves_nothing_behind(
    command: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    name, *options = arguments
    refused = command("example", name, tmp_path / "folder", *options)
    assert refused.status == 2
    assert said in refused.err
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is a file" in command("example", "tables", tmp_path / "file").err
    below = command("example", "tables", tmp_path / "file" / "below", "--kind", "4x5")
    assert below.status == 2
    assert "cannot be written" in below.err


def test_a_failure_while_writing_leaves_nothing_behind(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> int:
        if path.suffix == ".jj":
            raise OSError(28, "No space left on device")
        with path.open("wb") as file:
            return file.write(data)

    monkeypatch.setattr(Path, "write_bytes", full)
    failed = command("example", "tables", tmp_path, "--kind", "4x5")
    assert failed.status == 2
    assert "the disk is full" in failed.err
    assert not list(tmp_path.iterdir())
