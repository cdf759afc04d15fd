"""The loop stops for the right reason, after the right epoch, and tells its listeners all."""

import itertools
import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evolution.loop import evolve
from discreet.evolution.stops import MaxSeconds, MaxSteps, Moment
from evolution.searches import Countdown, endless


def test_a_finished_process_does_no_step() -> None:
    outcome = evolve(Countdown([4.0]), MaxSteps(5))
    assert (outcome.steps, outcome.stopped) == (0, "finished")
    assert outcome.trace == ((0, 0.0, 4.0),)


def test_a_process_is_run_until_it_is_finished() -> None:
    process = Countdown([9.0, 8.0, 7.0])
    outcome = evolve(process, MaxSteps(5))
    assert (outcome.steps, outcome.stopped, process.answer()) == (2, "finished", 2)


@given(st.integers(1, 50))
def test_steps_are_exact(steps: int) -> None:
    process = endless()
    outcome = evolve(process, MaxSteps(steps))
    assert (outcome.steps, outcome.stopped, process.step) == (steps, "steps", steps)


def test_time_is_looked_at_between_epochs_only() -> None:
    now = 100.0

    def work(_step: int) -> None:
        nonlocal now
        now += 1.0

    outcome = evolve(endless(work), MaxSeconds(2.5), clock=lambda: now)
    assert (outcome.steps, outcome.stopped, outcome.seconds) == (3, "time", 3.0)


def test_any_time_is_enough_for_one_epoch() -> None:
    assert evolve(endless(), MaxSeconds(math.ulp(0.0))).steps >= 1


def test_listeners_are_told_each_epoch_in_order() -> None:
    heard: list[tuple[str, Moment, float]] = []
    costs = [9.0, 9.0, 6.0, 7.0, 5.0]
    evolve(
        Countdown(costs),
        MaxSteps(4),
        listeners=[lambda moment, part: heard.append(("a", moment, part)), lambda *told: heard.append(("b", *told))],
    )
    assert [name for name, _, _ in heard] == ["a", "b"] * 4
    moments = [moment for name, moment, _ in heard if name == "a"]
    assert [(moment.steps, moment.cost) for moment in moments] == [
        (1, 9.0),
        (2, 6.0),
        (3, 6.0),
        (4, 5.0),
    ]
    assert [part for name, _, part in heard if name == "b"] == [0.25, 0.5, 0.75, 1.0]


@dataclass
class Wavering:
    """A stop whose progress rises and falls."""

    fractions: list[float]

    def __call__(self, moment: Moment) -> str | None:
        return "over" if moment.steps == len(self.fractions) else None

    def progress(self, moment: Moment) -> float:
        return self.fractions[moment.steps - 1]


def test_the_progress_that_listeners_hear_never_falls() -> None:
    heard: list[float] = []
    outcome = evolve(endless(), Wavering([0.2, 0.5, 0.1, 0.6]), listeners=[lambda _, part: heard.append(part)])
    assert outcome.stopped == "over"
    assert heard == [0.2, 0.5, 0.5, 0.6]


def test_a_process_that_finishes_early_is_fully_done() -> None:
    heard: list[float] = []
    evolve(Countdown([9.0, 8.0]), MaxSteps(100), listeners=[lambda _, part: heard.append(part)])
    assert heard == [1.0]


def test_an_error_of_a_listener_comes_through() -> None:
    def refuse(_moment: Moment, _part: float) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        evolve(endless(), MaxSteps(5), listeners=[refuse])


@given(st.lists(st.floats(0, 100), min_size=2, max_size=60))
def test_the_trace_is_the_falls_of_the_best(costs: list[float]) -> None:
    outcome = evolve(Countdown([math.inf, *costs]), MaxSteps(1000))
    best = list(itertools.accumulate(costs, min))
    falls = [step for step, cost in enumerate(best, 1) if step == 1 or cost < best[step - 2]]
    assert [(step, cost) for step, _, cost in outcome.trace] == [(step, best[step - 1]) for step in falls]
    assert all(0.0 <= seconds <= outcome.seconds for _, seconds, _ in outcome.trace)


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    evolve(endless(), MaxSteps(3))
    assert capsys.readouterr() == ("", "")
