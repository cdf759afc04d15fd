"""The front holds exactly what nothing dominates, and its area is the area."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.grouping.objective import Front, hypervolume
from discreet.grouping.pareto import crowding_distance, rank_fronts

# Few different values, so that there are ties.
percentages = st.integers(0, 12).map(lambda tens: tens * 10.0)
clouds = st.lists(st.tuples(percentages, percentages), max_size=25)


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """The definition."""
    return one[0] <= other[0] and one[1] <= other[1] and one != other


@given(clouds)
def test_the_front_is_what_nothing_dominates(points: list[tuple[float, float]]) -> None:
    front: Front[int] = Front()
    for number, (il, dr) in enumerate(points):
        front.offer(il, dr, number)
    kept = [(trade.il, trade.dr) for trade in front.trades]
    assert kept == sorted({one for one in points if not any(dominates(other, one) for other in points)})
    for trade in front.trades:
        assert points.index((trade.il, trade.dr)) == trade.what  # of equals the first


def test_what_is_not_possible_is_never_on_the_front() -> None:
    front: Front[str] = Front()
    assert not front.offer(math.inf, math.inf, "not possible")
    assert front.offer(1.0, 2.0, "possible")
    assert not front.offer(1.0, 2.0, "a clone")
    assert [trade.what for trade in front.trades] == ["possible"]


@given(clouds)
def test_the_hypervolume_is_the_area_dominated(points: list[tuple[float, float]]) -> None:
    # All coordinates are multiples of 10: the square falls into 100 squares, each dominated wholly or not at all.
    squares = sum(
        any(il <= across and dr <= down for il, dr in points)
        for across in range(0, 100, 10)
        for down in range(0, 100, 10)
    )
    assert hypervolume(points) == pytest.approx(float(squares))


@given(clouds.filter(bool))
def test_ranks_peel_off_one_front_after_the_other(points: list[tuple[float, float]]) -> None:
    found = rank_fronts(np.array(points)).tolist()
    left = list(range(len(points)))
    level = 0
    while left:
        outer = [i for i in left if not any(dominates(points[j], points[i]) for j in left)]
        assert [i for i in left if found[i] == level] == outer
        left = [i for i in left if i not in outer]
        level += 1


def test_distance_is_the_distance_of_the_neighbours() -> None:
    points = np.array([[0.0, 10.0], [1.0, 6.0], [4.0, 5.0], [10.0, 0.0], [20.0, 20.0]])
    rank = rank_fronts(points)
    assert rank.tolist() == [0, 0, 0, 0, 1]
    distance = crowding_distance(points, rank)
    assert np.isinf(distance[[0, 3, 4]]).all()
    assert distance[1] == pytest.approx(4 / 10 + 5 / 10)
    assert distance[2] == pytest.approx(9 / 10 + 6 / 10)


def test_points_that_are_not_allowed_come_last() -> None:
    points = np.array([[math.inf, math.inf], [1.0, 1.0], [math.inf, math.inf]])
    rank = rank_fronts(points)
    assert rank.tolist() == [1, 0, 1]
    assert not np.isnan(crowding_distance(points, rank)).any()
