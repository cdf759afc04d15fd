"""A run that was broken off and taken up again is the run that never stopped, to the bit, on any number of threads."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.evolution import checkpoint as randomness
from discreet.evolution.checkpoint import Checkpoint
from discreet.evolution.loop import evolve
from discreet.evolution.process import Process, Together
from discreet.evolution.stops import MaxSteps, Moment
from evolution.searches import generational, same, steady

Make = Callable[[int, int], Process[Any]]
MAKES: dict[str, Make] = {
    "generational": generational,
    "patience": lambda seed, threads: generational(seed, threads, patience=3),
    "steady": steady,
    "together": lambda seed, threads: Together(
        [generational(seed), steady(seed + 1), generational(seed + 2, generations=5)], threads
    ),
}
TOTAL = 12


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
@given(seed=st.integers(0, 1000), breaks=st.lists(st.integers(1, TOTAL - 1), max_size=3))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_resumed_equals_uninterrupted(make: Make, seed: int, breaks: list[int], tmp_path: Path) -> None:
    whole = make(seed, 1)
    one = evolve(whole, MaxSteps(TOTAL))
    path = tmp_path / "run.npz"
    path.unlink(missing_ok=True)
    for steps in [*sorted(breaks), TOTAL]:
        part = make(seed, 1)
        other = evolve(part, MaxSteps(steps), checkpoint=Checkpoint(path, {"seed": seed}))
    same(part.save(), whole.save())
    assert part.cost == whole.cost
    np.testing.assert_equal(part.answer(), whole.answer())
    assert (other.steps, other.stopped) == (one.steps, one.stopped)
    assert [(step, cost) for step, _, cost in other.trace] == [(step, cost) for step, _, cost in one.trace]


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(make: Make, tmp_path: Path) -> None:
    def interrupt(moment: Moment, _part: float) -> None:
        if moment.steps == 4:
            signal.raise_signal(signal.SIGINT)

    path = tmp_path / "run.npz"
    first = evolve(make(5, 1), MaxSteps(TOTAL), listeners=[interrupt], checkpoint=Checkpoint(path, {}))
    assert (first.steps, first.stopped) == (4, "interrupted")
    evolve(resumed := make(5, 1), MaxSteps(TOTAL), checkpoint=Checkpoint(path, {}))
    evolve(whole := make(5, 1), MaxSteps(TOTAL))
    same(resumed.save(), whole.save())


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_a_process_that_has_not_begun_can_be_kept(make: Make) -> None:
    fresh, loaded = make(3, 1), make(3, 1)
    loaded.load(fresh.save())
    for _ in range(3):
        next(fresh.epochs())
        next(loaded.epochs())
    same(loaded.save(), fresh.save())


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_a_kept_state_does_not_change_with_the_process(make: Make) -> None:
    process = make(3, 1)
    next(process.epochs())
    kept = process.save()
    copy = {key: np.copy(value) for key, value in kept.items()}
    next(process.epochs())
    same(kept, copy)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_the_number_of_threads_changes_nothing(make: Make) -> None:
    states = []
    for threads in (1, 2, 5):
        evolve(process := make(7, threads), MaxSteps(TOTAL))
        states.append(process.save())
    same(states[0], states[1])
    same(states[0], states[2])


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_every_generator_of_numpy_can_be_kept(kind: Callable[[int], np.random.BitGenerator]) -> None:
    rng, other = np.random.Generator(kind(1)), np.random.Generator(kind(2))
    rng.integers(10, size=7, dtype=np.int32)  # half a word is left over
    randomness.from_text(other, randomness.to_text(rng))
    np.testing.assert_array_equal(
        other.integers(2**31, size=99, dtype=np.int32), rng.integers(2**31, size=99, dtype=np.int32)
    )
    np.testing.assert_array_equal(other.normal(size=99), rng.normal(size=99))
