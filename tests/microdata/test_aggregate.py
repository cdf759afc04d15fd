"""Aggregates against plain loops, and the cases where rounding could betray a group."""

from statistics import mode

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.attributes import Attribute
from discreet.kernels.arrays import order_within
from discreet.microdata.aggregate import aggregate, fill

VALUES = st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(-50, 50))), min_size=1, max_size=60)


def attribute(values: np.ndarray, by: str, *, coded: bool = False) -> Attribute:
    kind = "nominal" if coded else "numeric"
    categories = pl.Series(range(200)) if coded else None
    return Attribute("x", kind, values, pl.Float64(), categories=categories, aggregate=by)


def case(pairs: list[tuple[int, int | None]]) -> tuple[np.ndarray, np.ndarray]:
    labels = np.unique([label for label, _ in pairs], return_inverse=True)[1].astype(np.int64)
    return np.array([np.nan if value is None else float(value) for _, value in pairs]), labels


@given(VALUES, st.sampled_from(["mean", "median"]))
def test_mean_and_median_are_those_of_the_group(pairs: list[tuple[int, int | None]], by: str) -> None:
    values, labels = case(pairs)
    released = aggregate(attribute(values, by), labels)
    for label in range(labels.max() + 1):
        group = values[labels == label]
        group = group[~np.isnan(group)]
        expected = getattr(np, by)(group) if len(group) else np.nan
        np.testing.assert_allclose(released[labels == label], expected, rtol=1e-12, atol=1e-12)
        assert len(set(released[labels == label].tolist())) == 1 or not len(group)


@given(VALUES)
def test_mode_is_a_most_frequent_value_of_the_group(pairs: list[tuple[int, int | None]]) -> None:
    values, labels = case([(label, None if value is None else value + 50) for label, value in pairs])
    released = aggregate(attribute(values, "mode", coded=True), labels)
    for label in range(labels.max() + 1):
        group = [value for value in values[labels == label].tolist() if value == value]
        if group:
            (winner,) = set(released[labels == label].tolist())
            assert group.count(winner) == group.count(mode(group))
    # Numbers go another way to the same modes.
    np.testing.assert_array_equal(released, aggregate(attribute(values, "mode"), labels))


def test_equal_modes_are_decided_by_the_whole_column_then_by_the_lowest() -> None:
    values = np.array([1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 0.0, 1.0])
    labels = np.array([0, 0, 1, 1, 1, 1, 2, 2])
    assert aggregate(attribute(values, "mode", coded=True), labels).tolist() == [1, 1, 3, 3, 3, 3, 1, 1]


def test_the_median_of_categories_is_a_category() -> None:
    released = aggregate(
        attribute(np.array([0.0, 1.0, 1.0, 2.0, 0.0, 1.0]), "median", coded=True), np.repeat([0, 1], [4, 2])
    )
    assert released.tolist() == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("value", [0.1, 1e15 + 0.3, -7.7])
def test_equal_values_stay_what_they_were(value: float) -> None:
    assert aggregate(attribute(np.full(7, value), "mean"), np.zeros(7, np.int64)).tolist() == [value] * 7


def test_filling_takes_the_aggregate_of_the_column() -> None:
    values = np.array([1.0, np.nan, 3.0, np.nan, 8.0])
    assert fill(attribute(values, "mean")).tolist() == [1.0, 4.0, 3.0, 4.0, 8.0]
    assert fill(attribute(values, "median")).tolist() == [1.0, 3.0, 3.0, 3.0, 8.0]


def test_a_group_without_values_stays_missing() -> None:
    values, labels = np.array([1.0, np.nan, 3.0, np.nan, np.nan]), np.array([0, 0, 0, 1, 1])
    kept = aggregate(attribute(values, "mean"), labels)
    assert kept[:3].tolist() == [2.0] * 3
    assert np.isnan(kept[3:]).all()


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([-0.0, 0.0, 1.0, -2.5, 1e300])), min_size=1))
def test_records_are_ordered_by_group_and_value_as_numpy_does(pairs: list[tuple[int, float]]) -> None:
    labels, values = np.array([label for label, _ in pairs]), np.array([value for _, value in pairs])
    np.testing.assert_array_equal(order_within(labels, values, 6), np.lexsort((values, labels)))
