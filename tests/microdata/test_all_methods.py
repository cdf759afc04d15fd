"""Every method of the registry on the data that breaks methods."""

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.kernels.arrays import Floats
from discreet.methods import names
from partitions import check_cost, plain_sse

# Those whose groups have fewer than 2k records: all but those that let records join without a limit.
OPTIMISING = {"memetic", "genetic", "two-step", "recursive", "exact", "exhaustive"}
# As far as it takes to go through every part of a search.
SHORT: dict[str, dict[str, Any]] = {
    "memetic": {"steps": 40},
    "genetic": {"steps": 3},
    "two-step": {"steps": 10, "params": {"generations": 50}},
    "exact": {"steps": 10},
}


def scattered(n: int, d: int) -> Floats:
    return np.random.default_rng(n + d).normal(size=(n, d))


def fit_for(method: str, points: Floats) -> Floats:
    """As much of the points as a method takes: one attribute, few records."""
    if method == "univariate":
        return np.ascontiguousarray(points[:, :1])
    return points[8:24] if method == "exhaustive" and len(points) > 18 else points


def outlier() -> Floats:
    points = scattered(60, 3)
    points[17] = 1e6
    return points


CASES: dict[str, tuple[Floats, int]] = {
    "many identical records": (np.repeat(scattered(6, 2), [40, 3, 1, 1, 30, 2], axis=0), 3),
    "all but one identical": (np.append(np.zeros((40, 2)), [[1.0, 2.0]], axis=0), 4),
    "one dominant outlier": (outlier(), 3),
    "one attribute": (scattered(80, 1), 4),
    "many attributes": (scattered(40, 500), 3),
    "k = n": (scattered(7, 2), 7),
    "k = n // 2": (scattered(21, 2), 10),
    "n = 2k": (scattered(12, 2), 6),
    "n = 2k - 1": (scattered(11, 2), 6),
    "n = 2k + 1": (scattered(13, 2), 6),
    "constant": (np.full((50, 3), 0.1), 3),
    "one constant attribute": (scattered(50, 2) * [1.0, 0.0], 3),
    "two records": (np.array([[1.0, 2.0], [3.0, 5.0]]), 2),
    "four records": (np.array([[1.0], [8.0], [2.0], [9.0]]), 2),
    "far from the origin": (scattered(40, 2) + 1e8, 3),
    "tiny and huge attributes": (scattered(40, 3) * [1e-140, 1.0, 1e140], 3),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", names())
def test_every_record_has_a_group_of_at_least_k(method: str, case: str) -> None:
    points, k = fit_for(method, CASES[case][0]), CASES[case][1]
    before = points.copy()
    part = discreet.partition(points, k=k, method=method, **SHORT.get(method, {}))
    assert part.labels.shape == (len(points),)
    assert part.sizes.sum() == len(points)
    assert part.sizes.min() >= k
    if method in OPTIMISING:
        assert part.sizes.max() <= 2 * k - 1
    check_cost(part.sse, points, part.labels)
    assert part.il <= 100.0 * (1 + 1e-9)
    assert part.search["method"] == method
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize("method", names())
def test_the_same_call_gives_the_same_partition(method: str) -> None:
    points = fit_for(method, scattered(90, 1))
    one, two = (
        discreet.partition(points, k=4, method=method, seed=3, threads=threads, **SHORT.get(method, {}))
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.labels, two.labels)


@pytest.mark.parametrize("method", names())
def test_progress_never_falls_and_ends_at_one(method: str) -> None:
    heard: list[tuple[str, float]] = []
    discreet.partition(
        fit_for(method, scattered(90, 1)),
        k=4,
        method=method,
        progress=lambda stage, share: heard.append((stage, share)),
        **SHORT.get(method, {}),
    )
    shares = [share for stage, share in heard if stage == "grouping"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_univariate_says_what_it_needs() -> None:
    with pytest.raises(InputError, match=r"univariate needs one attribute, these records have 2; use tour"):
        discreet.partition(scattered(20, 2), k=3, method="univariate")


def test_nothing_beats_univariate_on_one_attribute_and_the_search_comes_near() -> None:
    points = scattered(60, 1)
    best = discreet.partition(points, k=3, method="univariate").sse
    for method in set(names()) - {"exhaustive"}:
        assert discreet.partition(points, k=3, method=method, **SHORT.get(method, {})).sse >= best * (1 - 1e-9)
    assert discreet.partition(points, k=3, steps=300).sse <= best * 1.01


def test_the_default_is_the_memetic_search() -> None:
    points = scattered(40, 2)
    part = discreet.partition(points, k=3, steps=5)
    assert part.search["method"] == "memetic"
    assert part.sse <= plain_sse(points, discreet.partition(points, k=3, method="mdav").labels)
