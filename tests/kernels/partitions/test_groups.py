"""Sums of squares are right, also far from the origin and for many records."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.partitions.groups import total_sse, within_sse


def exact(points: Floats, labels: Ints) -> float:
    """The SSE in rational arithmetic."""
    sse = Fraction(0)
    for group in np.unique(labels):
        for column in points[labels == group].T:
            values = [Fraction(float(x)) for x in column]
            mean = sum(values, Fraction(0)) / len(values)
            sse += sum(((x - mean) ** 2 for x in values), Fraction(0))
    return float(sse)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_sse_equals_exact_arithmetic(offset: float) -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 3)) + offset
    labels = rng.integers(0, 40, 300)
    assert within_sse(points, labels) == pytest.approx(exact(points, labels), rel=1e-12)
    assert total_sse(points) == pytest.approx(exact(points, np.zeros(300, np.int64)), rel=1e-12)


def test_sst_of_many_records_keeps_its_accuracy() -> None:
    points = np.tile([[1e6 - 0.5], [1e6 + 0.5]], (500_000, 1))
    assert total_sse(points) == pytest.approx(250_000.0, rel=1e-14)


def test_groups_of_equal_records_lose_nothing() -> None:
    points = np.repeat([[0.1, 0.7], [1 / 3, 1e9]], 5, axis=0)
    assert within_sse(points, np.repeat([0, 1], 5)) == 0.0
