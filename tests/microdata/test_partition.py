"""A k-partition cannot be made with a group below k; the verb checks its arguments."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.methods import names
from discreet.microdata.solving import Partition


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(2, 5))
def test_a_partition_below_k_cannot_be_constructed(labels: list[int], k: int) -> None:
    small = min(labels.count(label) for label in labels) < k
    if small:
        with pytest.raises(InputError, match="at least k"):
            Partition(np.array(labels), k, 0.0, 1.0)
    else:
        made = Partition(np.array(labels), k, 0.0, 1.0)
        assert made.sizes.min() >= k
        assert made.sizes.sum() == len(labels)
        assert made.labels[0] == 0
        with pytest.raises(ValueError, match="read-only"):
            made.labels[0] = 1


def test_sse_and_il_are_those_of_the_labels() -> None:
    X = np.random.default_rng(1).normal(size=(200, 4))
    for name in names():
        points = X[:, :1] if name == "univariate" else X[:16] if name == "exhaustive" else X
        part = discreet.partition(points, k=5, method=name)
        centroids = np.array([points[part.labels == g].mean(axis=0) for g in range(len(part.sizes))])
        sse = ((points - centroids[part.labels]) ** 2).sum()
        assert part.sse == pytest.approx(sse)
        assert part.il == pytest.approx(100 * sse / ((points - points.mean(axis=0)) ** 2).sum())
        assert part.sizes.min() >= 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"X": [[1.0], [2.0]], "k": 1}, "k must be at least 2"),
        ({"X": [[1.0], [2.0]], "k": 3}, "more than the 2 records"),
        ({"X": [[1.0], [2.0]], "k": 2.5}, "k must be a whole number"),
        ({"X": [1.0, 2.0], "k": 2}, "matrix of n records"),
        ({"X": [["a"], ["b"]], "k": 2}, "matrix of numbers"),
        ({"X": [[1.0], [float("nan")]], "k": 2}, "missing or infinite"),
        ({"X": np.zeros((0, 2)), "k": 2}, "no values"),
        ({"X": [[1.0], [2.0]], "k": 2, "method": "mdaw"}, "mdav"),
        ({"X": [[1.0], [2.0]], "k": 2, "time": 0}, "time must be"),
        ({"X": [[1.0], [2.0]], "k": 2, "seed": -1}, "seed must be"),
        ({"X": [[1.0], [2.0]], "k": 2, "threads": 0}, "threads must be"),
        ({"X": [[1.0], [2.0]], "k": 2, "steps": 0}, "steps must be"),
    ],
)
def test_arguments_are_checked_at_the_door(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        discreet.partition(**arguments)


def test_fewer_than_2k_points_are_one_group() -> None:
    assert discreet.partition(np.arange(5.0)[:, None], k=3).labels.tolist() == [0] * 5
