"""Several processes as one."""

import math

import pytest

from discreet.evolution.loop import evolve
from discreet.evolution.process import Together
from discreet.evolution.stops import MaxSteps
from evolution.searches import Countdown


def test_cost_is_the_sum_and_the_answer_a_list() -> None:
    both = Together([Countdown([5.0, 3.0, 1.0]), Countdown([math.inf, 10.0, 20.0])])
    assert both.cost == math.inf
    both.advance()
    assert both.cost == 13.0
    assert both.answer() == [1, 1]


def test_the_finished_wait_for_the_others() -> None:
    parts = [Countdown([3.0, 2.0]), Countdown([9.0, 8.0, 7.0, 6.0]), Countdown([1.0])]
    outcome = evolve(Together(parts), MaxSteps(99))
    assert (outcome.steps, outcome.stopped) == (3, "finished")
    assert [part.step for part in parts] == [1, 3, 0]
    assert [cost for _, _, cost in outcome.trace] == [13.0, 11.0, 10.0, 9.0]


def test_nothing_is_finished() -> None:
    nothing = Together[int]([])
    assert (nothing.finished, nothing.cost, nothing.answer(), nothing.save()) == (True, 0.0, [], {})


def test_the_sum_does_not_depend_on_the_version_of_python() -> None:
    # Summed one after the other this is 0.0, and compensated sums came with Python 3.12.
    assert Together([Countdown([1e100]), Countdown([1.0]), Countdown([-1e100])]).cost == 1.0


def test_states_are_kept_apart() -> None:
    both = Together([Countdown([1.0] * 9) for _ in range(12)])
    for place, process in enumerate(both.processes):
        for _ in range(place % 5):
            process.advance()
    other = Together([Countdown([1.0] * 9) for _ in range(12)])
    other.load(both.save())
    assert other.answer() == both.answer()


def test_a_wrong_number_of_threads_names_itself() -> None:
    with pytest.raises(ValueError, match="threads is 0"):
        Together([Countdown([1.0])], threads=0)
