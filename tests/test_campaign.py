"""A short campaign: a few seeds of every trial, with nothing broken; and that the campaign notices what is."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from campaign import attackers, counts, frames, minimality, reviews, tables
from campaign.__main__ import BATCHES, trial_of
from campaign.found import Found
from campaign.ledger import Entry, Ledger
from discreet.release import review
from discreet.tabular import counts as known_counts


@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        ("frames", range(20)),
        # One kept an interior point method going round for ever; in another a level lay between two units.
        ("tables", [*range(4), 878, 1671]),
        ("counts", range(12)),
        # Time limits that are too short.
        ("insiders", range(10)),
        ("files", range(20)),
        ("states", range(6)),
        ("names", range(18)),
        ("folders", range(4)),
        ("reviews", range(20)),
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
    folder = Path(attackers.__file__).parent
    trials = {path.stem for path in folder.glob("[a-z]*.py") if "\ndef run(seed" in path.read_text(encoding="utf-8")}
    assert trials == set(BATCHES)


def test_a_release_that_breaks_its_promise_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = discreet.protect
    monkeypatch.setattr(discreet, "protect", lambda data, **said: honest(data, **said | {"k": 2, "method": "mdav"}))
    found = Found()
    for seed in range(12):
        found.add(frames.run(seed, tmp_path))
    assert {promise for promise, _ in found.broken} >= {frames.RECOUNTED, frames.HANDED_OUT}


def test_a_pattern_without_secondary_cells_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = tables.read_public

    def careless(path: Path, axes: Any) -> Any:
        # All totals are published after all.
        shown = {"Total"}
        held = read(path, axes)
        return {cell: 1.0 if number is None and shown & set(cell) else number for cell, number in held.items()}

    monkeypatch.setattr(tables, "read_public", careless)
    found = Found()
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(tables.run(seed, folder))
    assert tables.PUBLISHED in {promise for promise, _ in found.broken}


def test_a_table_whose_rows_tell_that_somebody_is_there_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if nobody knew that a combination which has a row is not empty.
    monkeypatch.setattr(known_counts, "_know", lambda table, kind, _lower: table.but(counts=kind))
    found = Found()
    for seed in range(40):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(counts.run(seed, folder))
    assert counts.NARROWED in {promise for promise, _ in found.broken}


def test_a_review_that_looks_at_nothing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    careful = review._count
    monkeypatch.setattr(review, "_count", lambda *given: replace(careful(*given), faults=(), sha256="0" * 64))
    found = Found()
    for seed in (1, 3, 4, 5, 8, 9):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(reviews.run(seed, folder))
    assert {promise for promise, _ in found.broken} >= {reviews.APPROVED, reviews.NAMED}


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


def test_who_knows_the_method_is_listed_what_fits(tmp_path: Path) -> None:
    found = Found()
    for seed in (3, 4, 6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.add(minimality.run(seed, folder))
    assert found.broken == []
    assert found.measured[minimality.UNSAFE] > 0
    # Whoever can repeat the choice is never wrong: the true table is among those that he keeps.
    assert found.measured[minimality.WRONG.format("without a secret")] == 0
    assert found.measured[minimality.NARROWED.format("without a secret")] > 0


def test_the_tables_that_fit_are_all_that_fit() -> None:
    """Against every table of small numbers."""
    counts = np.array([[1, 4, 3], [5, 2, 0], [3, 6, 7]])
    names = [("a0", "b0"), ("a0", "b1"), ("a1", "b0"), ("a1", "b1"), ("a1", "Total")]
    rows = {"a0": [0], "a1": [1], "a2": [2], "Total": [0, 1, 2]}
    columns = {name.replace("a", "b") if name != "Total" else name: places for name, places in rows.items()}
    public: dict[tuple[str, str], int | None] = {
        (a, b): int(counts[np.ix_(own, other)].sum())
        for a, own in rows.items()
        for b, other in columns.items()
        if (a, b) != ("a1", "b2")
    } | dict.fromkeys(names, None)
    least = 0 if minimality._zeros_have_rows() else 1
    meant = set()
    for one in np.ndindex(20, 20, 20, 20):
        table = counts.copy()
        table[:2, :2] = np.reshape(one, (2, 2))
        lines = [(table[0].sum(), 8), (table[:, 0].sum(), 9), (table[:, 1].sum(), 12), (table.sum(), 31)]
        if min(one) >= least and all(line == said for line, said in lines):
            meant.add(table.tobytes())
    found = list(minimality._fit(public, (3, 3), 1000))
    assert {table.astype(counts.dtype).tobytes() for table in found} == meant
    assert len(found) == len(meant) > 1


def test_what_is_measured_is_added_up_and_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "campaign.json"
    for first in (0, 1):
        ledger, found = Ledger(path), Found()
        found.hold("a promise", True)
        found.measured["cells that are known"] += 2
        ledger.add(Entry("minimality", first, first + 1, found))
        ledger.write()
    page = path.with_suffix(".md").read_text()
    assert "| cells that are known | 4 |" in page
    assert page.index("| a promise | 2 | 0 |") < page.index("not promised") < page.index("cells that are known")
