"""Bars of a report: at least k records each, rounded edges, no extreme and no rare category."""

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.data.attributes import Attribute
from discreet.data.dates import DateForm
from discreet.release.reports.distributions import MISSING, MOST_BARS, OTHERS, Distribution, distribute

FORMS = {
    "numeric": None,
    "day": DateForm(),
    "microsecond": DateForm(unit="microsecond"),
    "month": DateForm(unit="month"),
}
SCALES = {"numeric": 1e9, "day": 300_000.0, "microsecond": 2e16, "month": 9_000.0}


@st.composite
def numbers(draw: st.DrawFn) -> tuple[Attribute, np.ndarray]:
    """A column of numbers or dates of any spread, with gaps, ties and outliers, and its released values."""
    kind = draw(st.sampled_from(sorted(FORMS)))
    n = draw(st.integers(1, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([0.0, 1e-9, 1.0, 30.0, 1e4, 1.0e8])) * SCALES[kind] / 1e9
    values = rng.normal(draw(st.sampled_from([0.0, 0.5, -0.5])) * SCALES[kind], spread, n)
    if draw(st.booleans()):
        values = np.abs(values) ** 1.5 if kind == "numeric" else values
    if kind != "numeric" or draw(st.booleans()):
        values = np.round(values)
    values = np.clip(values, -SCALES[kind], SCALES[kind])
    values[rng.random(n) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = np.nan
    present = values[~np.isnan(values)]
    integral = bool((present == np.round(present)).all())
    form = FORMS[kind]
    attribute = Attribute("x", "date" if form else "numeric", values, pl.Float64(), form=form, integral=integral)
    return attribute, np.where(np.isnan(values), np.nan, np.nanmean(values) if len(present) else np.nan)


def check(found: Distribution | None, values: np.ndarray, least: int) -> None:
    if found is None:
        return
    assert 2 <= len(found.labels) <= MOST_BARS + 1
    assert len(set(found.labels)) == len(found.labels)
    assert (found.counts[0] >= least).all()
    # Every value present is in one bar; missing ones are, where they are as many.
    gone = int(np.isnan(values).sum())
    assert found.counts[0].sum() == len(values) - (0 if gone >= least else gone)


@given(numbers(), st.integers(2, 12))
def test_bars_of_numbers_and_dates_have_at_least_k_records(column: tuple[Attribute, np.ndarray], least: int) -> None:
    attribute, released = column
    check(distribute(attribute, [attribute.values, released], least), attribute.values, least)


@example([0, -1, -1], 2, False)
@given(st.lists(st.integers(-1, 25), min_size=1, max_size=200), st.integers(2, 12), st.booleans())
def test_bars_of_categories_have_at_least_k_records(codes: list[int], least: int, ordered: bool) -> None:
    values = np.array([np.nan if code < 0 else float(code) for code in codes])
    names = pl.Series([f"category {code}" for code in range(26)])
    attribute = Attribute("x", "ordinal" if ordered else "nominal", values, pl.String(), categories=names)
    found = distribute(attribute, [values, values[::-1]], least)
    check(found, values, least)
    if found is not None:
        for label, number in zip(found.labels, found.counts[0], strict=True):
            if label not in (OTHERS, MISSING):
                assert number == codes.count(int(label.split()[1]))


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([20.5] * 9 + [31.5] * 9 + [99_999.25], ["below 30", "30 and above"]),
        (list(range(10)) * 5 + [10**6], ["below 1", "1", "2", "3", "4", "5", "6", "7", "8", "9 and above"]),
    ],
)
def test_edges_are_rounded_and_both_ends_are_open(values: list[float], labels: list[str]) -> None:
    array = np.array(values, dtype=np.float64)
    integral = bool((array == np.round(array)).all())
    found = distribute(Attribute("x", "numeric", array, pl.Float64(), integral=integral), [array], 5)
    assert found is not None
    assert found.labels[0].startswith("below")
    assert found.labels[-1].endswith("and above")
    if integral:
        assert found.labels == labels


def test_years_are_the_edges_of_dates() -> None:
    days = np.arange(-20_000.0, 15_000.0, 50)
    found = distribute(Attribute("x", "date", days, pl.Date(), form=DateForm()), [days], 5)
    assert found is not None
    assert found.labels[:3] == ["below 1920", "1920 to 1929", "1930 to 1939"]
    # 1930 to 1939 are 3,652 days, of which every fiftieth is there.
    assert abs(int(found.counts[0][2]) - 73) <= 1


def test_too_few_values_are_not_drawn() -> None:
    few = np.array([1.0, 2.0, 3.0, np.nan])
    assert distribute(Attribute("x", "numeric", few, pl.Float64()), [few], 5) is None
    same = np.full(50, 7.0)
    assert distribute(Attribute("x", "numeric", same, pl.Float64()), [same], 5) is None
