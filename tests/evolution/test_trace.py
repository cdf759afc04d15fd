"""A trace keeps when the best fell, thinned but never without its ends."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from discreet.evolution.stops import MOST_POINTS, Trace


def told(falls: int) -> Trace:
    trace = Trace()
    for step in range(falls):
        trace.note(step, step / 10, -float(step))
    return trace


def test_every_fall_and_nothing_else_is_kept() -> None:
    trace = Trace()
    for step, cost in enumerate([math.inf, 5.0, 5.0, 6.0, 4.0, math.nan, 4.0, 1.0]):
        trace.note(step, step / 10, cost)
    assert trace.points == ((1, 0.1, 5.0), (4, 0.4, 4.0), (7, 0.7, 1.0))


@given(st.integers(1, 5000))
def test_it_is_thinned_evenly_and_keeps_first_and_last(falls: int) -> None:
    steps = [step for step, _, _ in told(falls).points]
    assert len(steps) <= MOST_POINTS
    assert len(steps) >= min(falls, MOST_POINTS // 2)
    assert (steps[0], steps[-1]) == (0, falls - 1)
    gaps = {after - before for before, after in itertools.pairwise(steps[:-1])}
    assert len(gaps) <= 1
    if len(steps) > 2:
        assert 0 < steps[-1] - steps[-2] <= gaps.pop()


@given(st.integers(1, 2000), st.integers(0, 2000))
def test_a_trace_taken_up_again_is_the_same(before: int, after: int) -> None:
    first = told(before)
    second = Trace(first.points, first.count, first.stride, earlier=0.0)
    for step in range(before, before + after):
        second.note(step, step / 10, -float(step))
    assert second.points == told(before + after).points


def test_the_seconds_of_earlier_sittings_count() -> None:
    trace = Trace(((0, 0.0, 9.0),), 1, 1, earlier=30.0)
    trace.note(5, 2.0, 8.0)
    assert trace.points == ((0, 0.0, 9.0), (5, 32.0, 8.0))
