"""A short campaign: a few seeds of every trial, with nothing broken; and that the campaign notices what is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from campaign import attackers, files, frames, insiders, names, states, tables
from campaign.__main__ import BATCHES, trial_of
from campaign.found import Found
from campaign.ledger import Entry, Ledger


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("frames", range(20)),
        # One kept an interior point method going round for ever; in another a level lay between two units.
        ("tables", [*range(4), 878, 1671]),
        # Time limits that are too short.
        ("insiders", range(10)),
        ("files", range(20)),
        ("states", range(6)),
        ("names", range(18)),
    ],
)
def test_nothing_breaks(name: str, seeds: Sequence[int], tmp_path: Path) -> None:
    found = Found()
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(trial_of(name)(seed, folder))
    assert found.broken == []
    assert sum(found.tried.values()) >= len(seeds)


# Killed, two writers, little memory; closed streams are tested with the command line.
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_faults_from_outside_break_nothing(seed: int, tmp_path: Path) -> None:
    found = trial_of("faults")(seed, tmp_path)
    assert found.broken == []
    assert found.tried


def test_every_trial_is_known() -> None:
    assert {module.__name__.split(".")[-1] for module in (frames, tables, insiders, files, states, names)} <= set(
        BATCHES
    )


def test_a_release_that_breaks_its_promise_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = discreet.protect
    monkeypatch.setattr(discreet, "protect", lambda data, **said: honest(data, **said | {"k": 2, "method": "mdav"}))
    found = Found()
    for seed in range(12):
        found.add(frames.run(seed, tmp_path))
    assert {promise for promise, _ in found.broken} >= {frames.RECOUNTED, frames.HANDED_OUT}


def test_a_pattern_without_secondary_cells_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = tables._read_public

    def careless(path: Path, axes: Any) -> Any:
        # All totals are published after all.
        shown = {"Total"}
        held = read(path, axes)
        return {cell: 1.0 if number is None and shown & set(cell) else number for cell, number in held.items()}

    monkeypatch.setattr(tables, "_read_public", careless)
    found = Found()
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(tables.run(seed, folder))
    assert tables.PUBLISHED in {promise for promise, _ in found.broken}


def test_counts_add_up_and_nothing_counts_twice(tmp_path: Path) -> None:
    path = tmp_path / "campaign.json"
    for first in (0, 10):
        ledger = Ledger(path)
        found = Found()
        for at in range(first, first + 10):
            found.hold("a promise", at != 13, "by 13")
        assert ledger.next_seed("frames") == first
        ledger.add(Entry("frames", first, first + 10, found))
        ledger.write()
    assert "| a promise | 20 | 1 |" in path.with_suffix(".md").read_text()
    assert (
        "| frames | 0 to 19 | `python -m campaign --trials frames --seeds 0:20" in path.with_suffix(".md").read_text()
    )
    with pytest.raises(SystemExit, match="tried before"):
        Ledger(path).add(Entry("frames", 5, 6, Found()))


def test_elimination_finds_what_follows_by_subtraction() -> None:
    # a + b = 3 fixes none of them; with b = 1 both.
    assert attackers.determined(np.array([[1.0, 1.0]])).tolist() == [False, False]
    assert attackers.determined(np.array([[1.0, 1.0], [0.0, 1.0]])).tolist() == [True, True]


def test_what_sole_contributors_learn_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    careful = discreet.suppress
    monkeypatch.setattr(discreet, "suppress", lambda table, **said: careful(table, **said, singletons=False))
    found = Found()
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(tables.run(seed, folder))
    broken = {promise for promise, _ in found.broken}
    assert tables.INSIDE in broken
    assert tables.ATTACKED not in broken
