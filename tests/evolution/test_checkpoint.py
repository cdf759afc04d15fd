"""A checkpoint gives back what it was given, or says why it cannot; it is never half there."""

from __future__ import annotations

import io
import math
import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.evolution import checkpoint
from discreet.evolution.checkpoint import Checkpoint, CheckpointDamaged, CheckpointMismatch, load, save
from discreet.evolution.loop import evolve
from discreet.evolution.process import State
from discreet.evolution.stops import MaxSteps
from evolution.searches import Countdown, endless, same

SIGNATURE: dict[str, str | int | float] = {"data": "0f3a", "method": "genetic", "k": 3, "rate": 0.1, "seed": 0}
STATE: State = {"labels": np.arange(12).reshape(3, 4), "cost": 1.25, "best": -math.inf, "text": "é\n", "steps": 7}

KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,8}", fullmatch=True)
DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(sizes=(64, 128)),
    hnp.datetime64_dtypes(),
    hnp.unicode_string_dtypes(max_len=4),
    hnp.byte_string_dtypes(max_len=4),
)
VALUES = st.one_of(
    hnp.arrays(DTYPES, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_state_comes_back_to_the_bit(tmp_path: Path, state: State) -> None:
    path = tmp_path / "run.npz"
    save(path, state, SIGNATURE)
    back = load(path, SIGNATURE)
    assert back is not None
    same(state, back)
    for key, value in state.items():
        assert type(back[key]) is type(value)


def test_only_the_owner_can_read_it_and_nothing_else_is_left(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        save(tmp_path / "run.npz", STATE, SIGNATURE)
        save(tmp_path / "run.npz", STATE, SIGNATURE)
    finally:
        os.umask(old)
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "run.npz").stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.npz"
    save(path, STATE, SIGNATURE)
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("discreet.evolution.checkpoint.os.fsync", full)
    with pytest.raises(OSError, match="full"):
        save(path, {"other": 1}, SIGNATURE)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("value", [np.array([object()]), 2**70, None, {"secret": 4711}])
def test_what_would_need_a_pickle_is_refused_by_name(tmp_path: Path, value: Any) -> None:
    with pytest.raises(TypeError, match="gene cannot be kept") as caught:
        save(tmp_path / "run.npz", {"gene": value}, SIGNATURE)
    assert "4711" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_a_fresh_start(tmp_path: Path) -> None:
    assert load(tmp_path / "run.npz", SIGNATURE) is None


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a checkpoint."""
    path = tmp_path_factory.mktemp("whole") / "run.npz"
    save(path, STATE, SIGNATURE)
    return path.read_bytes()


def test_every_changed_byte_is_found_or_harmless(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            back = load(path, SIGNATURE)
        except CheckpointDamaged:
            continue
        assert back is not None
        same(back, STATE)


@given(st.integers(0))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_torn_file_is_damaged(content: bytes, tmp_path: Path, length: int) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(content[: length % len(content)])
    with pytest.raises(CheckpointDamaged):
        load(path, SIGNATURE)


def test_a_missing_member_is_damage(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    with np.load(io.BytesIO(content)) as archive:
        members = dict(archive)
    for missing in members:
        with path.open("wb") as file:
            np.savez(file, **{name: array for name, array in members.items() if name != missing})
        with pytest.raises(CheckpointDamaged):
            load(path, SIGNATURE)


def _array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.arange(3))


def _archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, labels=np.arange(3))


@pytest.mark.parametrize(
    "write",
    [lambda path: path.write_text("age,income\n4711,1\n"), lambda path: path.write_bytes(b""), _array, _archive],
)
def test_a_foreign_file_is_no_checkpoint(tmp_path: Path, write: Callable[[Path], object]) -> None:
    path = tmp_path / "run.npz"
    write(path)
    with pytest.raises(CheckpointDamaged) as caught:
        load(path, SIGNATURE)
    assert str(caught.value) == f"{path} is damaged or no checkpoint"


class Evil:
    """A pickle of this would run code when it is read."""

    ran = False

    def __reduce__(self) -> tuple[Any, ...]:
        return setattr, (Evil, "ran", True)


def test_reading_runs_no_code(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    with path.open("wb") as file:
        np.savez(file, **{"format": np.array(1), "state.x": np.array([Evil()], object)})  # type: ignore[arg-type]
    with pytest.raises(CheckpointDamaged):
        load(path, {})
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(CheckpointDamaged):
        load(path, {})
    assert not Evil.ran


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (SIGNATURE | {"k": 5}, ("k", 3, 5)),
        (SIGNATURE | {"data": "ffff", "seed": 1}, ("data", "0f3a", "ffff")),
        (SIGNATURE | {"rate": 0.1 + 1e-16}, ("rate", 0.1, 0.1 + 1e-16)),
        (SIGNATURE | {"start": 1}, ("start", None, 1)),
        ({key: value for key, value in SIGNATURE.items() if key != "method"}, ("method", "genetic", None)),
    ],
)
def test_another_run_is_refused_with_what_differs(
    tmp_path: Path, other: dict[str, str | int | float], told: tuple[str, object, object]
) -> None:
    save(tmp_path / "run.npz", STATE, SIGNATURE)
    with pytest.raises(CheckpointMismatch) as caught:
        load(tmp_path / "run.npz", other)
    assert (caught.value.key, caught.value.kept, caught.value.expected) == told


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FORMAT", 99)
    save(tmp_path / "run.npz", STATE, SIGNATURE)
    monkeypatch.undo()
    with pytest.raises(CheckpointMismatch) as caught:
        load(tmp_path / "run.npz", SIGNATURE)
    assert (caught.value.key, caught.value.kept) == ("format", 99)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (CheckpointMismatch("k", 3, 5), "the checkpoint was made with k = 3, this run has k = 5"),
        (CheckpointMismatch("k", None, 5), "the checkpoint was made without k, this run has k = 5"),
        (CheckpointMismatch("k", 3, None), "the checkpoint was made with k = 3, this run has no k"),
        (CheckpointDamaged(Path("run.npz")), "run.npz is damaged or no checkpoint"),
    ],
)
def test_the_errors_say_what_is_wrong_and_travel_between_processes(error: ValueError, text: str) -> None:
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    costs = [9.0, 8.0, 8.0, 6.0, 6.0, 5.0, 5.0, 4.0]
    first = evolve(Countdown(costs), MaxSteps(4), checkpoint=Checkpoint(path, SIGNATURE))
    heard: list[tuple[int, float]] = []
    second = evolve(
        process := Countdown(costs),
        MaxSteps(6),
        listeners=[lambda moment, _: heard.append((moment.steps, moment.cost))],
        checkpoint=Checkpoint(path, SIGNATURE),
    )
    assert (first.steps, second.steps, process.step) == (4, 6, 6)
    assert heard == [(5, 5.0), (6, 5.0)]
    assert [(step, cost) for step, _, cost in second.trace] == [(0, 9.0), (1, 8.0), (3, 6.0), (5, 5.0)]
    assert second.trace[:3] == first.trace
    assert second.trace[3][1] > first.trace[2][1]


def test_the_seconds_of_a_trace_are_those_of_all_sittings(tmp_path: Path) -> None:
    now = 100.0

    def work(_step: int) -> None:
        nonlocal now
        now += 10.0

    def clock() -> float:
        return now

    for steps in (2, 5, 6):
        process = Countdown([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0], work)
        kept = Checkpoint(tmp_path / "run.npz", SIGNATURE)
        outcome = evolve(process, MaxSteps(steps), checkpoint=kept, clock=clock)
        now += 1000.0
    assert outcome.seconds == 10.0
    assert [seconds for _, seconds, _ in outcome.trace] == [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]


def test_a_run_that_is_over_stays_over(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "run.npz", SIGNATURE)
    evolve(endless(), MaxSteps(4), checkpoint=kept)
    outcome = evolve(process := endless(), MaxSteps(4), checkpoint=kept)
    assert (outcome.steps, outcome.stopped, process.step) == (4, "steps", 4)


def test_it_writes_when_its_interval_is_over_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.npz"
    now = 0.0
    found: list[int] = []

    def work(step: int) -> None:
        nonlocal now
        now += 10.0
        kept = load(path, SIGNATURE)
        found.append(0 if kept is None else int(kept["run.steps"]))

    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(perf_counter=lambda: now))
    evolve(endless(work), MaxSteps(8), checkpoint=Checkpoint(path, SIGNATURE, every_seconds=25))
    assert found == [0, 0, 0, 3, 3, 3, 6, 6]
    kept = load(path, SIGNATURE)
    assert kept is not None
    assert kept["run.steps"] == 8


def test_a_run_that_fails_writes_nothing_more(tmp_path: Path) -> None:
    def fail(step: int) -> None:
        if step == 3:
            raise ZeroDivisionError

    path = tmp_path / "run.npz"
    with pytest.raises(ZeroDivisionError):
        evolve(endless(fail), MaxSteps(8), checkpoint=Checkpoint(path, SIGNATURE, every_seconds=0))
    kept = load(path, SIGNATURE)
    assert kept is not None
    assert kept["run.steps"] == 2


def test_a_folder_that_is_not_there_is_found_out_before_the_search(tmp_path: Path) -> None:
    process = endless()
    with pytest.raises(FileNotFoundError):
        evolve(process, MaxSteps(8), checkpoint=Checkpoint(tmp_path / "no" / "run.npz", SIGNATURE))
    assert process.step == 0


def test_a_state_that_no_run_left_is_no_checkpoint_of_one(tmp_path: Path) -> None:
    save(tmp_path / "run.npz", STATE, SIGNATURE)
    with pytest.raises(CheckpointDamaged):
        evolve(endless(), MaxSteps(8), checkpoint=Checkpoint(tmp_path / "run.npz", SIGNATURE))


def test_a_wrong_interval_names_itself(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="every_seconds is -1; it must be a finite number of at least 0"):
        Checkpoint(tmp_path / "run.npz", SIGNATURE, every_seconds=-1)
