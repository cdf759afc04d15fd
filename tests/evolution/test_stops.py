"""Stops stop when they say, and know how far along they are."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evolution.stops import MaxSeconds, MaxSteps, Moment, Stop


@pytest.mark.parametrize(
    ("stop", "reason", "before", "at"),
    [
        (MaxSeconds(2.5), "time", Moment(9, 2.49, 1.0), Moment(9, 2.5, 1.0)),
        (MaxSteps(7), "steps", Moment(6, 99.0, 1.0), Moment(7, 0.0, 1.0)),
    ],
)
def test_each_stops_at_its_limit(stop: Stop, reason: str, before: Moment, at: Moment) -> None:
    assert stop(before) is None
    assert stop(at) == reason
    assert stop.progress(before) < 1.0
    assert stop.progress(at) == 1.0


STOPS = st.one_of(
    st.builds(MaxSeconds, st.floats(0.01, 100)),
    st.builds(MaxSteps, st.integers(1, 100)),
)


@st.composite
def runs(draw: st.DrawFn) -> list[Moment]:
    """The moments of a run that never gets better."""
    pauses = draw(st.lists(st.floats(0, 10), max_size=30))
    cost = draw(st.floats(-100, math.inf))
    return [Moment(step, seconds, cost) for step, seconds in enumerate(itertools.accumulate([0.0, *pauses]))]


@given(STOPS, runs())
def test_progress_rises_from_0_to_1_and_is_1_when_it_stops(stop: Stop, moments: list[Moment]) -> None:
    fractions = [stop.progress(moment) for moment in moments]
    assert fractions == sorted(fractions)
    assert all(0.0 <= fraction <= 1.0 for fraction in fractions)
    for moment, fraction in zip(moments, fractions, strict=True):
        assert (stop(moment) is not None) == (fraction == 1.0)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: MaxSeconds(0.0), "seconds is 0.0; it must be a finite number above 0"),
        (lambda: MaxSeconds(math.nan), "seconds is nan"),
        (lambda: MaxSeconds(math.inf), "seconds is inf"),
        (lambda: MaxSeconds(True), "seconds is True"),
        (lambda: MaxSeconds("5"), "seconds is '5'"),  # type: ignore[arg-type]
        (lambda: MaxSteps(0), "steps is 0; it must be a whole number of at least 1"),
        (lambda: MaxSteps(2.0), "steps is 2.0"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_argument_names_itself_its_value_and_what_is_allowed(make: Callable[[], Stop], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def test_numbers_of_numpy_are_numbers() -> None:
    assert MaxSteps(np.int64(3))(Moment(3, 0.0, 1.0)) == "steps"  # type: ignore[arg-type]
    assert MaxSeconds(np.float32(3))(Moment(3, 3.0, 1.0)) == "time"  # type: ignore[arg-type]
