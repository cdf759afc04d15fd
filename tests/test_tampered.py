"""A checkpoint that somebody has changed is refused, or does no harm: kernels never see what was not looked at."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.cli.app import run
from discreet.errors import DiscreetWarning, InputError
from discreet.evolution import checkpoint

SEEDS = 3
EXTREMES = {"i": (-1, 10**12, -(2**62)), "u": (0, 2**63), "f": (np.nan, np.inf, -1e308), "b": (True, False)}


def spoil(array: Any, rng: np.random.Generator) -> Any:
    """Change an array in one of the ways that somebody might."""
    array = np.array(array)
    how = rng.integers(6)
    if array.dtype.kind not in EXTREMES or how == 0:
        return np.zeros((2, 3)) if array.dtype.kind in EXTREMES else "spoilt"
    if how == 1 and array.ndim:
        return array[: len(array) // 2]
    if how == 2 and array.ndim:
        return np.concatenate([array, array])
    if how == 3 and array.size > 1:
        return rng.permutation(array.ravel()).reshape(array.shape)
    if how == 4:
        return array.astype(np.float64) + 0.5
    extremes = EXTREMES[array.dtype.kind]
    flat = array.copy().reshape(-1)
    if flat.size:
        flat[rng.integers(flat.size)] = np.array(extremes[rng.integers(len(extremes))]).astype(array.dtype)
    return flat.reshape(array.shape)


def survey(n: int, seed: int = 1) -> pl.DataFrame:
    return pl.DataFrame(np.random.default_rng(seed).normal(size=(n, 3)), schema=["a", "b", "c"])


def table() -> Any:
    rng = np.random.default_rng(2)
    rows = {"r": rng.integers(0, 6, 400).astype(str), "s": rng.integers(0, 5, 400).astype(str)}
    frame = pl.DataFrame(rows | {"amount": rng.integers(1, 90, 400)})
    return discreet.primary(discreet.tabulate(frame, by=["r", "s"], value="amount"), p=30, threshold=9)


SEARCHES: dict[str, Callable[[Path], object]] = {
    "memetic": lambda path: discreet.protect(survey(90), k=3, quasi="all", steps=3, checkpoint=path, measures="il"),
    "blocks": lambda path: discreet.protect(
        survey(400), k=3, quasi="all", steps=2, params={"large": 100, "block": 50}, checkpoint=path, measures="il"
    ),
    "exact": lambda path: discreet.protect(
        survey(24), k=3, quasi="all", method="exact", steps=2, checkpoint=path, measures="il"
    ),
    "genetic": lambda path: discreet.protect(
        survey(40), k=3, quasi="all", method="genetic", steps=2, checkpoint=path, measures="il"
    ),
    "suppress": lambda path: discreet.suppress(table(), steps=3, checkpoint=path),
    "group": lambda path: discreet.group(survey(40), k=3, quasi="all", steps=2, checkpoint=path),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_changed_checkpoint_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    SEARCHES[name](path)
    with np.load(path, allow_pickle=False) as archive:
        members = {key: archive[key] for key in archive.files}
    state = {key.removeprefix("state."): value for key, value in members.items() if key.startswith("state.")}
    signature = {
        key.removeprefix("signature."): value.item() for key, value in members.items() if key.startswith("signature.")
    }
    refused = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        key = sorted(state)[rng.integers(len(state))]
        # With a digest that fits: this is somebody who knows how.
        checkpoint.save(path, state | {key: spoil(state[key], rng)}, signature)
        try:
            SEARCHES[name](path)
        except InputError as error:
            refused.append(str(error))
    assert refused
    assert all("the file is damaged or no checkpoint" in message for message in refused)


def test_any_change_that_the_digest_does_not_know_of_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    SEARCHES["memetic"](path)
    with np.load(path, allow_pickle=False) as archive:
        members = {key: archive[key] for key in archive.files}
    for key in sorted(members)[::3]:
        if key.startswith("state.") and members[key].dtype.kind in "if" and members[key].size:
            changed = members[key].copy()
            changed.reshape(-1)[0] += 1
            np.savez(path, **(members | {key: changed}))
            with pytest.raises(InputError, match="damaged or no checkpoint"):
                SEARCHES["memetic"](path)


def test_a_checkpoint_that_cannot_be_written_does_not_cost_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save", full)
    with pytest.warns(DiscreetWarning, match="went on without it"):
        release = SEARCHES["memetic"](tmp_path / "run.npz")
    assert release.verification  # type: ignore[attr-defined]


def test_a_checkpoint_is_no_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data.csv"
    survey(30).write_csv(data)
    for name in ("out.csv", "out.csv.release.json", "out.csv.evidence.json"):
        call = [
            "protect",
            data,
            "--k",
            3,
            "--quasi",
            "all",
            "-o",
            tmp_path / "out.csv",
            "--checkpoint",
            tmp_path / name,
        ]
        assert run(list(map(str, call))) == 2
        assert "is the checkpoint" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
