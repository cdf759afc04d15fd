"""Neighbour lists are what brute force finds, place by place."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.kernels.space.lists import neighbour_lists
from partitions import KINDS, cloud


def places_of(points: Floats) -> list[bytes]:
    return [(point + 0.0).tobytes() for point in points]  # zero and minus zero are one place


def brute_force(points: Floats, record: int, width: int) -> list[float]:
    """Squared distances of the entries: the record's own place if others are there, then the nearest other places."""
    places = places_of(points)
    others = {place: i for i, place in enumerate(places) if place != places[record]}
    distances = sorted(float(((points[i] - points[record]) ** 2).sum()) for i in others.values())
    own = [0.0] if places.count(places[record]) > 1 else []
    return (own + distances)[:width]


@given(st.integers(2, 60), st.integers(1, 4), st.sampled_from(KINDS), st.integers(0, 2**32), st.data())
@settings(max_examples=60)
def test_lists_are_the_nearest_places(n: int, d: int, kind: str, seed: int, data: st.DataObject) -> None:
    points = cloud(n, d, kind, seed)
    width = data.draw(st.integers(1, n - 1))
    lists = neighbour_lists(points, width)
    assert lists.shape == (n, width)
    places = places_of(points)
    for record in range(n):
        entries = lists[record].tolist()
        expected = brute_force(points, record, width)
        assert record not in entries
        distances = [float(((points[i] - points[record]) ** 2).sum()) for i in entries]
        np.testing.assert_allclose(distances[: len(expected)], expected, rtol=1e-12)
        visited = [places[i] for i in entries[: len(expected)]]
        assert len(set(visited)) == len(visited)
        assert entries[len(expected) :] == entries[len(expected) - 1 :][:1] * (width - len(expected))


@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 2**32))
def test_all_records_of_a_place_are_reached_from_each_other(n: int, levels: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, levels, (n, 1)).astype(np.float64)
    lists = neighbour_lists(points, 1)
    for record in range(n):
        like = set(np.flatnonzero(points[:, 0] == points[record, 0]).tolist())
        if len(like) > 1:
            reached, at = set(), record
            for _ in like:
                at = int(lists[at, 0])
                reached.add(at)
            assert reached == like


def test_crowds_are_shared_out() -> None:
    """Not everybody is sent to the same record of a neighbouring place."""
    points = np.repeat([[0.0], [1.0]], 10, axis=0)
    lists = neighbour_lists(points, 2)
    assert sorted(lists[:10, 1]) == list(range(10, 20))
    assert sorted(lists[10:, 1]) == list(range(10))


def test_zero_and_minus_zero_are_one_place() -> None:
    lists = neighbour_lists(np.array([[0.0], [-0.0], [1.0]]), 2)
    assert lists[:2].tolist() == [[1, 2], [0, 2]]


def test_a_tree_of_several_leaves_finds_the_same() -> None:
    points = cloud(1500, 3, "scattered", 1)
    lists = neighbour_lists(points, 8)
    for record in range(0, 1500, 50):
        distances = ((points - points[record]) ** 2).sum(axis=1)
        assert lists[record].tolist() == np.argsort(distances)[1:9].tolist()
