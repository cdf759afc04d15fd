"""What groups keep is what the definitions say of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.kernels.promised.constraints import DISTINCT, EQUAL, ORDERED, measured
from plain_promises import constrain, constraints, plain_keep, plain_measure


@given(st.data(), st.integers(2, 4), st.integers(8, 120), st.integers(0, 2**32))
def test_groups_are_judged_as_the_definitions_say(data: st.DataObject, k: int, n: int, seed: int) -> None:
    own = data.draw(constraints(n, k))
    rng = np.random.default_rng(seed)
    members = rng.permutation(n)[: rng.integers(1, n + 1)]
    for at, column in enumerate(own.columns):
        found, plain = measured(own.promised, at, members), plain_measure(own, column, members)
        if column.kind == DISTINCT:  # not counted beyond what is asked for
            found, plain = min(found, column.limit), min(plain, column.limit)
        assert found == pytest.approx(plain, abs=1e-11)
    labels = np.unique(rng.integers(0, 3, n), return_inverse=True)[1]
    assert own.keep(labels) == plain_keep(own, labels)


def test_a_part_is_held_against_all_records() -> None:
    own = constrain(1, np.arange(4), (ORDERED, 0.1, np.array([1, 2, 3, 4])), (EQUAL, 0.1, np.array([1, 1, 1, 2])))
    part = own.take(np.array([2, 3]))
    # Cumulated shares of the part are 0, 0, ½, and of all ¼, ½, ¾.
    assert part.measure(0) == pytest.approx((0.25 + 0.5 + 0.25) / 3)
    assert part.measure(1) == pytest.approx(0.25)


def test_values_count_by_the_persons_who_stand_for_them() -> None:
    # One person has three values, the other two have one and the same.
    values, persons = np.array([1, 2, 3, 1, 1]), np.array([0, 0, 0, 1, 2])
    own = constrain(2, persons, (DISTINCT, 3, values))
    assert own.measure(0) == 2
    assert own.count_persons() == 3


def test_more_than_few_records_of_many_values() -> None:
    rng = np.random.default_rng(0)
    own = constrain(2, rng.integers(0, 900, 1000), (ORDERED, 0.1, rng.normal(size=1000)))
    members = rng.permutation(1000)[:90]
    assert measured(own.promised, 0, members) == pytest.approx(plain_measure(own, own.columns[0], members), abs=1e-12)
