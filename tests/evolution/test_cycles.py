"""Where an epoch stands follows from its number alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evolution.stops import Cycles, Place


@given(st.integers(1, 50), st.floats(1.0, 3.0), st.integers(1, 400))
def test_epochs_fill_one_cycle_after_the_other(first: int, growth: float, epochs: int) -> None:
    cycles = Cycles(first, growth)
    before = None
    for number in range(epochs):
        place = cycles.place(number)
        if before is None or before.last:
            assert place.epoch == 0
            assert place.cycle == (0 if before is None else before.cycle + 1)
            assert place.length == int(first * growth**place.cycle)
        else:
            assert (place.cycle, place.length, place.epoch) == (before.cycle, before.length, before.epoch + 1)
        before = place


@given(st.integers(1, 50), st.floats(1.0, 3.0), st.integers(0, 2000))
def test_the_fraction_goes_from_0_to_1(first: int, growth: float, epoch: int) -> None:
    place = Cycles(first, growth).place(epoch)
    assert 0.0 <= place.fraction <= 1.0
    assert (place.fraction == 1.0) == place.last
    assert place.length == 1 or (place.fraction == 0.0) == (place.epoch == 0)


def test_an_example() -> None:
    cycles = Cycles(2, 1.5)
    lengths = [place.length for place in map(cycles.place, range(50)) if place.epoch == 0]
    assert lengths == [2, 3, 4, 6, 10, 15, 22]
    assert cycles.place(6) == Place(cycle=2, epoch=1, length=4)
    assert cycles.place(6).fraction == pytest.approx(1 / 3)
    assert Cycles(1, 1.0).place(7) == Place(cycle=7, epoch=0, length=1)
