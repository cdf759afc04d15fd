"""Several processes as one."""

import math
from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest

from discreet.evolution.loop import evolve
from discreet.evolution.process import Finished, Search, State, Together
from discreet.evolution.stops import MaxSteps
from evolution.searches import Countdown


def test_cost_is_the_sum_and_the_answer_a_list() -> None:
    both = Together([Countdown([5.0, 3.0, 1.0]), Countdown([math.inf, 10.0, 20.0])])
    assert both.cost == math.inf
    next(both.epochs())
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
            next(process.epochs())
    other = Together([Countdown([1.0] * 9) for _ in range(12)])
    other.load(both.save())
    assert other.answer() == both.answer()


def test_a_wrong_number_of_threads_names_itself() -> None:
    with pytest.raises(ValueError, match="threads is 0"):
        Together([Countdown([1.0])], threads=0)


def test_the_bound_is_the_sum_once_all_are_known() -> None:
    assert Together([Finished(1, 5.0, 2.0), Finished(2, 7.0, 3.0)]).bound == 5.0
    assert Together([Finished(1, 5.0, 2.0), Finished(2, 7.0)]).bound is None


class Phases(Search[list[int]]):
    """A search that can be entered at the beginning of a phase alone; phases of 1, 2, 3, … epochs."""

    def __init__(self, phases: int) -> None:
        self.phases, self.phase, self.done = phases, 0, np.zeros(0, np.int64)

    @property
    def cost(self) -> float:
        return -float(len(self.done))

    @property
    def finished(self) -> bool:
        return self.phase == self.phases

    def answer(self) -> list[int]:
        return [int(number) for number in self.done]

    def _epochs(self) -> Iterator[None]:
        while not self.finished:
            self._begin_phase()
            for epoch in range(self.phase + 1):
                self.done = np.append(self.done, 10 * self.phase + epoch)
                self.phase += epoch == self.phase
                yield

    def _state(self) -> State:
        return {"phase": self.phase, "done": self.done}

    def _restore(self, state: State) -> None:
        self.phase, self.done = int(cast("int", state["phase"])), np.asarray(state["done"])


@pytest.mark.parametrize("broken", range(11))
def test_a_search_resumed_within_a_phase_stands_where_it_stood(broken: int) -> None:
    whole, first, second = Phases(4), Phases(4), Phases(4)
    for _ in whole.epochs():
        pass
    for _ in range(broken):
        next(first.epochs())
    second.load(first.save())
    assert second.answer() == first.answer()
    assert len(list(second.epochs())) == 10 - broken
    assert second.answer() == whole.answer()
    assert second.finished
