"""The embedding: each attribute carries the variance of its weight, whatever its kind."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.columns import resolve
from discreet.configuration import Config
from discreet.data.attributes import Attribute, read_attribute
from discreet.data.dataset import accept
from discreet.data.embedding import embed
from discreet.errors import InputError


def attributes(frame: pl.DataFrame, **details: object) -> list[Attribute]:
    dataset = accept(frame)
    declared = resolve(frame.columns, Config(), quasi="all", **details)  # type: ignore[arg-type]
    return [read_attribute(dataset, declared[name])[0] for name in frame.columns]


MIXED = pl.DataFrame(
    {
        "number": [1.0, 2.0, 4.0, 9.0, 9.0, 3.0],
        "whole": [5, 5, 7, 8, 1, 2],
        "town": ["x", "y", "x", "z", "z", "z"],
        "size": ["small", "large", "medium", "small", "small", "large"],
        "day": ["2020-01-01", "2020-03-01", "2021-01-01", "1999-12-31", "2005-06-07", "2020-01-01"],
        "flag": [True, False, True, True, False, True],
    }
).with_columns(pl.col("day").str.to_date())


@given(st.lists(st.floats(0.1, 10), min_size=6, max_size=6))
def test_variance_of_each_attribute_is_its_weight(weights: list[float]) -> None:
    given_weights = dict(zip(MIXED.columns, weights, strict=True))
    found = attributes(MIXED, ordinal={"size": ["small", "medium", "large"]}, weights=given_weights)
    embedding, notes = embed(found)
    points = embedding.points([attribute.values for attribute in found])
    assert notes == []
    assert points.mean(axis=0) == pytest.approx(0, abs=1e-9)
    for span, weight in zip(embedding.spans(), weights, strict=True):
        assert points[:, span].var(axis=0).sum() == pytest.approx(weight)


def test_kinds_are_read_from_types() -> None:
    kinds = [attribute.kind for attribute in attributes(MIXED)]
    assert kinds == ["numeric", "numeric", "nominal", "nominal", "date", "nominal"]


def test_different_categories_are_equally_far() -> None:
    (town,) = attributes(MIXED.select("town"))
    embedding, _ = embed([town])
    points = embedding.points([np.array([0.0, 1.0, 2.0])])
    distances = {round(float(((points[i] - points[j]) ** 2).sum()), 9) for i in range(3) for j in range(i)}
    shares = np.array([2, 1, 3]) / 6
    assert distances == {round(2 / (1 - (shares**2).sum()), 9)}


def test_ordinals_lie_at_their_mid_ranks() -> None:
    (size,) = attributes(MIXED.select("size"), ordinal={"size": ["small", "medium", "large"]})
    embedding, _ = embed([size])
    lows, middles, highs = embedding.points([np.array([0.0, 1.0, 2.0])])[:, 0]
    # Ranks 1-3 are small, 4 is medium, 5-6 are large.
    assert (middles - lows) / (highs - lows) == pytest.approx((4 - 2) / (5.5 - 2))


def test_a_missing_value_lies_at_the_mean() -> None:
    found = attributes(MIXED)
    embedding, _ = embed(found)
    points = embedding.points([np.full(1, np.nan) for _ in found])
    assert (points == 0).all()


def test_a_constant_column_has_no_weight_and_is_noted() -> None:
    frame = pl.DataFrame({"a": [3, 3, 3], "b": ["x", "x", "x"], "c": [1, 2, 3]})
    embedding, notes = embed(attributes(frame))
    assert [axis.width for axis in embedding.axes] == [0, 0, 1]
    assert len(notes) == 2
    assert "'a' is constant" in notes[0]


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=6, max_size=6))
def test_sums_of_categories_are_those_of_their_indicators(after: list[float]) -> None:
    (town,) = attributes(MIXED.select("town"))
    axis = embed([town])[0].axes[0]
    x, y = np.zeros((6, 3)), np.zeros((6, 3))
    axis.place(town.values, x)
    axis.place(np.array(after), y)
    assert axis.sums(town.values, np.array(after)) == pytest.approx((((x - y) ** 2).sum(), (x**2).sum()))


def test_numbers_that_cannot_be_squared_are_refused() -> None:
    with pytest.raises(InputError, match="too large"):
        embed(attributes(pl.DataFrame({"a": [1e300, -1e300, 0.0]})))
