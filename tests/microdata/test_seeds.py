"""Several seeds of one search: the best is kept, whoever has searched."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.microdata.seeds import VIEWS, search_seed
from discreet.own import read_closed

HOW: dict[str, Any] = {"k": 3, "quasi": ["x", "y"], "steps": 4, "measures": "none"}


def _frame(records: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame({"x": rng.normal(size=records), "y": rng.normal(size=records), "home": np.arange(records) // 2})


def test_the_best_of_several_seeds_is_kept() -> None:
    frame = _frame().drop("home")
    alone = [discreet.protect(frame, seed=seed, **HOW) for seed in (3, 4, 5)]
    best = min(alone, key=lambda release: release.measures["il"])
    with ThreadPoolExecutor(1) as executor:
        elsewhere = discreet.protect(frame, seed=3, seeds=3, executor=executor, **HOW)
    here = discreet.protect(frame, seed=3, seeds=3, workers=1, **HOW)
    for found in (elsewhere, here):
        assert found.measures["il"] == best.measures["il"]
        assert found.data.equals(best.data)
        assert found.evidence["search"]["seed"] == best.evidence["search"]["seed"]
        assert found.evidence["parameters"]["seeds"] == 3
        assert any("of 3 searches, with the seeds 3 to 5" in note for note in found.evidence["notes"])


def test_households_are_searched_so_too() -> None:
    how = HOW | {"household": "home", "workers": 1}
    several = discreet.protect(_frame(120), seeds=2, **how)
    alone = [discreet.protect(_frame(120), seed=seed, **HOW | {"household": "home"}) for seed in (0, 1)]
    assert several.measures["il"] == min(one.measures["il"] for one in alone)


@pytest.mark.parametrize("name", [VIEWS, "1.pickle"])
def test_pickles_are_read_from_no_folder_that_others_can_open(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"cos\n_exit\n(I3\ntR.")  # would end this process
    tmp_path.chmod(0o755)
    with pytest.raises(InputError, match="open to others; nothing is read"):
        search_seed(str(tmp_path), 0) if name == VIEWS else read_closed(tmp_path / name)
    tmp_path.chmod(0o700)
    (tmp_path / name).rename(tmp_path / "other")
    (tmp_path / name).symlink_to(tmp_path / "other")
    with pytest.raises(InputError, match="is a link; nothing is read"):
        search_seed(str(tmp_path), 0) if name == VIEWS else read_closed(tmp_path / name)


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several seeds are searched without"):
        discreet.protect(_frame(), seeds=2, checkpoint=tmp_path / "kept.npz", ignore="home", **HOW)
    with pytest.raises(InputError, match="are for several seeds"):
        discreet.protect(_frame(), workers=2, ignore="home", **HOW)
    with pytest.raises(InputError, match="seeds must be at least 1"):
        discreet.protect(_frame(), seeds=0, ignore="home", **HOW)
