"""What other packages add by entry points is known by its name everywhere, and said to be broken where it is."""

import json
from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet import methods
from discreet.cli.app import run
from discreet.errors import InputError

SOURCE = '''
"""A package of somebody else."""

from dataclasses import dataclass

import numpy as np

from discreet.microdata.method import Construction


def slices(points, k, axis: int = 0):
    """Slices of k records along one coordinate.

    Parameters
    ----------
    axis : int
        The coordinate.
    """
    order = np.argsort(points[:, axis], kind="stable")
    labels = np.empty(len(points), np.int64)
    labels[order] = (np.arange(len(points)) // k).clip(max=len(points) // k - 1)
    return labels


@dataclass(frozen=True)
class Sliced(Construction):
    """The same as a class."""

    axis: int = 0

    def assign(self, points, k, run):
        return slices(points, k, self.axis)


def moved(original, released):
    """How far the mean moves."""
    return float(abs(original["age"].mean() - released["age"].mean()))
'''
POINTS = """[discreet.methods]
slices = elsewhere:slices
sliced = elsewhere:Sliced
mdav = elsewhere:slices
broken = nowhere:slices

[discreet.measures]
moved = elsewhere:moved
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with entry points."""
    site = tmp_path / "site"
    info = site / "elsewhere-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "elsewhere.py").write_text(SOURCE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(site)


@pytest.mark.parametrize("name", ["slices", "sliced"])
def test_methods_and_measures_are_known_by_name(name: str, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    pl.DataFrame({"age": [20, 22, 24, 60, 62, 64], "pay": [1, 2, 3, 4, 5, 7]}).write_csv(path)
    config = tmp_path / "run.toml"
    config.write_text('measures = ["k", "moved"]\n', encoding="utf-8")
    asked = ["--k", "3", "--quasi", "all", "--method", name, "--param", "axis=1", "--config", str(config)]
    assert run(["protect", str(path), "-o", str(out), "--header", "yes", *asked]) == 0
    account = json.loads((tmp_path / "out.csv.evidence.json").read_text(encoding="utf-8"))
    assert account["search"]["method"] == name
    assert account["search"]["params"] == {"axis": 1}
    assert account["measures"]["moved"] == pytest.approx(0)
    assert sorted(set(pl.read_csv(out)["age"])) == [22.0, 62.0]


def test_they_are_listed_after_ours_and_replace_none() -> None:
    names = methods.names()
    assert names[-3:] == ("slices", "sliced", "broken")
    assert methods.make("mdav", {}).__class__.__module__.startswith("discreet.")


def test_a_broken_one_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="'broken' of the package elsewhere cannot be loaded"):
        discreet.partition([[1.0], [2.0], [3.0], [4.0]], k=2, method="broken")
    assert run(["methods"]) == 0
    listed = capsys.readouterr().out
    assert "Slices of k records along one coordinate." in listed
    assert "cannot be loaded" in listed


def test_unknown_names_are_told_what_there_is() -> None:
    with pytest.raises(InputError, match="moved, and fast or all for several"):
        discreet.measure(pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), quasi="a", measures="shift")
