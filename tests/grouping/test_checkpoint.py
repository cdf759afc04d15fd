"""A search for groupings that is killed goes on from its checkpoint and ends where it would have."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.grouping.result import Grouping

# Keeps the search after every epoch, and dies without warning in the middle of the epoch after the fourth.
KILLED = """
import json, os, signal, sys
import polars as pl
import discreet
from discreet.evolution.checkpoint import Checkpoint

Checkpoint.offer = Checkpoint.write
heard = []

def progress(stage, fraction):
    if stage == "searching":
        heard.append(fraction)
        if len(heard) == 5:
            os.kill(os.getpid(), signal.SIGKILL)

discreet.group(pl.read_csv(sys.argv[1]), checkpoint=sys.argv[2], progress=progress, **json.loads(sys.argv[3]))
"""
SMALL: dict[str, Any] = {"population": 30, "crossovers": 4, "mutations": 3, "enumeration": 0}
SEARCHES: dict[str, dict[str, Any]] = {
    "gomm": {"k": 4, "method": "gomm", "params": SMALL},
    "d-gomm": {"k": 4, "method": "d-gomm", "params": {**SMALL, "patience": 3}},
    "pareto": {"k": [3, 6], "method": "pareto", "params": SMALL},
    "all groupings": {"k": [3, 6], "method": "pareto"},
}
STEPS = 9


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    """Six attributes that hang together: 203 groupings, at two values of k nine epochs of 50."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 6)) + 0.4 * rng.normal(size=(50, 6)) + 4.0
    return pl.DataFrame({f"a{j}": values[:, j].round(3) for j in range(6)})


def told(found: Grouping) -> dict[str, Any]:
    """All that was found, but for seconds."""
    kept = found.as_dict()
    search = kept.pop("evidence")["search"]
    return {
        **kept,
        "evaluations": found.evidence["measures"]["evaluations"],
        "search": {name: search[name] for name in ("method", "params", "seed", "steps", "stopped")},
        "costs": [(step, cost) for step, _, cost in search["trace"]],
    }


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_killed_ends_where_it_would_have(name: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    data, kept = tmp_path / "data.csv", tmp_path / "search.npz"
    frame.write_csv(data)
    options = {"quasi": "all", "steps": STEPS, "seed": 3, "threads": 1, **SEARCHES[name]}
    child = [sys.executable, "-c", KILLED, str(data), str(kept), json.dumps(options)]
    assert subprocess.run(child, check=False).returncode == -signal.SIGKILL
    frame = pl.read_csv(data)
    stages: list[str] = []
    resumed = discreet.group(frame, checkpoint=kept, progress=lambda stage, _: stages.append(stage), **options)
    assert stages.count("searching") == STEPS - 4  # what the child had done was not done again
    assert told(resumed) == told(discreet.group(frame, **options))


def test_a_longer_search_goes_on_and_another_is_refused(frame: pl.DataFrame, tmp_path: Path) -> None:
    kept = tmp_path / "search.npz"
    options: dict[str, Any] = {"k": 4, "quasi": "all", "seed": 3, "params": SMALL}
    discreet.group(frame, checkpoint=kept, steps=3, **options)
    resumed = discreet.group(frame, checkpoint=kept, steps=7, **options)
    assert told(resumed) == told(discreet.group(frame, steps=7, **options))
    for other, reason in (
        ({"k": 5}, "made with k = 4, this run has k = 5"),
        ({"seed": 4}, "made with seed = 3, this run has seed = 4"),
        ({"method": "pareto"}, "made with method = gomm, this run has method = pareto"),
        ({"loss_weight": 2.0}, "loss_weight = 1.0, this run has loss_weight = 2.0"),
        ({"inner": "vmdav"}, "inner = mdav, this run has inner = vmdav"),
        ({"nearest": 2}, "nearest = 1, this run has nearest = 2"),
        ({"weights": {"a1": 2.0}}, "made from other data, or with other columns or weights"),
        ({"params": SMALL | {"copies": 3}}, "params.copies = 20, this run has params.copies = 3"),
    ):
        with pytest.raises(InputError, match=reason):
            discreet.group(frame, checkpoint=kept, steps=7, **(options | other))


def test_a_grouping_that_cannot_be_is_told_after_a_resumption_too(tmp_path: Path) -> None:
    kept = tmp_path / "search.npz"
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, None, 6.0], "b": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]})
    refusals = []
    for _ in range(2):
        with pytest.raises(InputError) as refused:
            discreet.group(frame, k=3, quasi="all", missing="separate", steps=3, checkpoint=kept)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
