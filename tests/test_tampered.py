"""A checkpoint that somebody has changed is refused, or does no harm: kernels never see what was not looked at."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from campaign.states import SEARCHES, kept_state, resume, spoil
from discreet.cli.app import run
from discreet.errors import DiscreetWarning, InputError
from discreet.evolution import checkpoint


def survey(n: int) -> pl.DataFrame:
    return pl.DataFrame(np.random.default_rng(1).normal(size=(n, 3)), schema=["a", "b", "c"])


@pytest.mark.parametrize("name", SEARCHES)
def test_a_changed_checkpoint_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    state, signature = kept_state(name, path)
    assert resume(name, path, state, signature) == (True, "gone on")
    said = set()
    # Every other array of it, the campaign changes all; with a digest that fits: this is somebody who knows how.
    for at, key in enumerate(sorted(state)[::2]):
        is_kept, words = resume(name, path, state | {key: spoil(state[key], np.random.default_rng(at))}, signature)
        assert is_kept, key
        said.add(words)
    assert any("the file is damaged or no checkpoint" in words for words in said)


def test_any_change_that_the_digest_does_not_know_of_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    SEARCHES["memetic"](path, 3)
    with np.load(path, allow_pickle=False) as archive:
        members = {key: archive[key] for key in archive.files}
    for key in sorted(members)[::3]:
        if key.startswith("state.") and members[key].dtype.kind in "if" and members[key].size:
            changed = members[key].copy()
            changed.reshape(-1)[0] += 1
            np.savez(path, **(members | {key: changed}))
            with pytest.raises(InputError, match="damaged or no checkpoint"):
                SEARCHES["memetic"](path, 3)


def test_a_checkpoint_that_cannot_be_written_does_not_cost_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save", full)
    with pytest.warns(DiscreetWarning, match="went on without it"):
        release = SEARCHES["memetic"](tmp_path / "run.npz", 3)
    assert release.verification


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
