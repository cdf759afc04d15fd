"""Columns as attributes: kinds of text, numbers, dates, categories; and back to the column that came in."""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_series_equal

import discreet
from discreet.columns import resolve
from discreet.configuration import Config
from discreet.data.attributes import Attribute, read_attribute
from discreet.data.dataset import Dataset, accept
from discreet.errors import InputError

CANARY = "9471203385"


def text(values: Sequence[str | None], decimal: str = ".") -> Dataset:
    """A column as it comes from a CSV file."""
    return Dataset(
        pl.DataFrame({"x": values}, schema={"x": pl.String}),
        "some.csv",
        lambda row: f"line {row + 2}",
        textual=True,
        decimal=decimal,
    )


def read(dataset: Dataset, **details: object) -> Attribute:
    declared = resolve(["x"], Config(), quasi="x", **details)  # type: ignore[arg-type]
    return read_attribute(dataset, declared["x"])[0]


@pytest.mark.parametrize(
    ("values", "decimal", "kind", "numbers"),
    [
        (["1", " 2.5", "-3e2", None], ".", "numeric", [1, 2.5, -300, np.nan]),
        (["1,5", "2", "NA"], ",", "numeric", [1.5, 2, np.nan]),
        (["nan", "Null", ".", "7"], ".", "numeric", [np.nan, np.nan, np.nan, 7]),
        (["2020-01-02", "1970-01-01", None], ".", "date", [18263, 0, np.nan]),
        (["1970-01-01T00:00:01", "1970-01-01T00:00:00"], ".", "date", [1e6, 0]),
        (["b", "a", "NA", "b"], ".", "nominal", [2, 1, 0, 2]),
    ],
)
def test_kind_of_text(values: list[str | None], decimal: str, kind: str, numbers: list[float]) -> None:
    attribute = read(text(values, decimal))
    assert attribute.kind == kind
    np.testing.assert_array_equal(attribute.values, numbers)


def test_numbers_and_text_in_a_column_are_named_by_line_not_by_value() -> None:
    with pytest.raises(InputError, match=r"'x' has numbers and text: 2 of 5 .*line 3, line 5") as error:
        read(text(["1", f"{CANARY}x", "3", f"{CANARY} EUR", "5"]))
    assert CANARY not in str(error.value)


def test_a_thousands_point_is_not_read_as_a_decimal() -> None:
    with pytest.raises(InputError, match="line 3"):
        read(text(["1,5", "1.234"], ","))


@pytest.mark.parametrize("value", ["inf", "-Infinity", "1e999"])
def test_infinities_are_errors(value: str) -> None:
    with pytest.raises(InputError, match=r"infinite values .line 3"):
        read(text(["1", value]))
    with pytest.raises(InputError, match="infinite"):
        read(accept(pl.DataFrame({"x": [1.0, float("inf")]})))


def test_leading_zeros_are_pointed_out() -> None:
    _, notes = read_attribute(text(["01234", "56789"]), resolve(["x"], Config(), quasi="x")["x"])
    assert "declare it nominal" in notes


@pytest.mark.parametrize("values", [[None, None], ["NA", None]])
def test_a_column_without_values_is_refused(values: list[str | None]) -> None:
    with pytest.raises(InputError, match="'x' has no values"):
        read(text(values))


@pytest.mark.parametrize(
    ("values", "back"),
    [
        (["31.12.2020", "01.01.2021"], "01.07.2020"),
        (["12/31/2020", "01/01/2021"], "07/01/2020"),
        (["20201231", "20210101"], "20200701"),
        (["2020-12-31 10:00:00", "2021-01-01 10:00:00"], "2020-07-01 00:00:00"),
    ],
)
def test_a_declared_date_is_written_back_in_its_own_form(values: list[str], back: str) -> None:
    attribute = read(text(values), date="x")
    assert attribute.column(attribute.values).to_list() == values
    day = (date(2020, 7, 1) - date(1970, 1, 1)).days
    assert attribute.column(np.array([day if attribute.form.unit == "day" else day * 86_400e6])).to_list() == [back]  # type: ignore[union-attr]


@pytest.mark.parametrize("values", [["01/02/2020", "03/04/2020"], ["yesterday", "today"], ["2020-01-01", "01.02.2020"]])
def test_a_date_in_doubt_is_refused(values: list[str]) -> None:
    with pytest.raises(InputError, match="say the form"):
        read(text(values), date="x")


def test_order_of_an_ordinal_is_kept_and_strangers_are_named_by_line() -> None:
    order = {"x": ["low", "mid", "high"]}
    assert read(text(["high", "low", None]), ordinal=order).values.tolist()[:2] == [2, 0]
    with pytest.raises(InputError, match=r"1 values that are not in its order .line 3") as error:
        read(text(["high", CANARY]), ordinal=order)
    assert CANARY not in str(error.value)
    with pytest.raises(InputError, match="order must be given"):
        read(text(["high", "low"]), ordinal="x")
    assert read(text(["10", "9", "1"]), ordinal="x").values.tolist() == [2, 1, 0]


MOMENT = datetime(2020, 5, 1, 12, 30, tzinfo=ZoneInfo("Europe/Vienna"))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.5, None, 2.25], pl.Float64),
        ([1.5, None, 2.25], pl.Float32),
        ([True, None, False], pl.Boolean),
        (["a", None, "b"], pl.String),
        (["a", None, "b"], pl.Categorical),
        (["b", None, "a"], pl.Enum(["b", "a"])),
        ([date(2020, 1, 1), None, date(1950, 2, 3)], pl.Date),
        ([MOMENT, None], pl.Datetime("ms", "Europe/Vienna")),
        ([MOMENT.replace(tzinfo=None), None], pl.Datetime("ns")),
        (["1.50", None, "2.25"], pl.Decimal(10, 2)),
    ],
)
def test_typed_columns_come_back_as_they_were(values: list[object], dtype: pl.DataType) -> None:
    column = pl.Series("x", values).cast(dtype)
    attribute = read(accept(column.to_frame()))
    assert_series_equal(attribute.column(attribute.values), column)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**53), 2**53)), min_size=1))
def test_integers_stay_integers_only_if_rounding_is_asked_for(values: list[int | None]) -> None:
    if all(value is None for value in values):
        return
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Int64})
    assert read(accept(frame)).column(np.array([1.5])).to_list() == [1.5]
    attribute = read(accept(frame), digits={"x": 0})
    assert_series_equal(attribute.column(attribute.values), frame["x"])
    assert attribute.column(np.array([2.6, np.nan])).to_list() == [3, None]


def test_rounding_never_writes_a_negative_zero() -> None:
    attribute = read(accept(pl.DataFrame({"x": [0.5, 1.0]})), digits={"x": 0})
    assert str(attribute.column(np.array([-0.3]))[0]) == "0.0"


def test_a_frame_with_lists_or_mixed_objects_is_refused_without_a_value() -> None:
    with pytest.raises(InputError, match=r"'x' is of type .* which cannot be protected"):
        read(accept(pl.DataFrame({"x": [[1], [2]]})))
    import pandas as pd

    with pytest.raises(InputError, match="'x' mixes values") as error:
        accept(pd.DataFrame({"x": [1, CANARY, date(2020, 1, 1)]}))
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("data", [3, [1, 2], pl.LazyFrame({"a": [1]})])
def test_other_objects_are_refused(data: object) -> None:
    with pytest.raises(InputError):
        accept(data)


def test_a_frame_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no records"):
        accept(pl.DataFrame({"a": []}))


def test_a_category_that_is_not_released_leaves_no_trace() -> None:
    column = pl.Series("x", ["b", "c", "a"], dtype=pl.Enum(["c", "b", "a"]))
    attribute = read(accept(column.to_frame()))
    assert attribute.column(np.array([0.0, 0.0, 1.0])).dtype == pl.Enum(["b", "a"])


def test_categories_of_numbers_are_categories() -> None:
    import pandas as pd
    import pyarrow as pa

    assert read(accept(pd.DataFrame({"x": pd.Categorical([3, 1, 3])}))).kind == "nominal"
    assert read(accept(pa.table({"x": pa.array([3, 1, 3]).dictionary_encode()}))).kind == "nominal"
    ordered = pa.DictionaryArray.from_arrays([0, 1, 0], ["low", "high"], ordered=True)
    attribute = read(accept(pa.table({"x": ordered})))
    assert (attribute.kind, attribute.values.tolist()) == ("ordinal", [0, 1, 0])


def test_an_order_of_whole_numbers_fits_a_column_of_floats() -> None:
    attribute = read(accept(pl.DataFrame({"x": [2.0, 1.0, None]})), ordinal={"x": ["1", "2"]})
    assert attribute.values.tolist()[:2] == [1, 0]


@pytest.mark.parametrize(("dtype", "values"), [(pl.Int8, [120, 127, 5]), (pl.Decimal(3, 1), ["95.0", "96.0", "1.0"])])
def test_rounding_beyond_the_type_widens_it(dtype: pl.DataType, values: list[object]) -> None:
    column = pl.Series("x", values).cast(dtype)
    attribute = read(accept(column.to_frame()), digits={"x": -1})
    released = attribute.column(np.array([127.0, 96.0]))
    assert released.cast(pl.Float64).to_list() == [130.0, 100.0]
    assert attribute.round_values(np.array([127.0, 96.0])).tolist() == [130.0, 100.0]


def test_the_categories_of_a_type_are_not_quoted() -> None:
    column = pl.Series("x", [CANARY, "b"], dtype=pl.Enum([CANARY, "b"]))
    with pytest.raises(InputError, match="of type Enum and holds no numbers") as error:
        read(accept(column.to_frame()), numeric="x")
    assert CANARY not in str(error.value)


def test_words_for_missing_values_are_missing() -> None:
    said = resolve(["x"], Config(), quasi="x", na=[999, "Unknown", "-"])["x"]
    attribute, assumed = read_attribute(text(["1", "999", "unknown", " - ", "2"]), said)
    assert np.isnan(attribute.values).tolist() == [False, True, True, True, False]
    assert assumed == "taken as numbers, 3 values taken as missing (na)"
    frame = accept(pl.DataFrame({"x": [1.0, 999.0, 2.0], "y": [999, 1, 2]}))
    both = resolve(["x", "y"], Config(), quasi="all", na={"x": [999]})
    assert np.isnan(read_attribute(frame, both["x"])[0].values).tolist() == [False, True, False]
    assert read_attribute(frame, both["y"])[0].values.tolist() == [999, 1, 2]


def test_digits_for_all_are_those_of_numbers_not_named() -> None:
    frame = accept(pl.DataFrame({"x": [1.25, 2.5], "y": [1.25, 2.5], "t": ["a", "b"]}))
    said = resolve(["x", "y", "t"], Config(), quasi="all", digits={"all": 0, "y": 1})
    assert [read_attribute(frame, said[name])[0].digits for name in "xyt"] == [0, 1, None]


def test_few_whole_numbers_look_like_codes() -> None:
    for values, suspicious in (([1, 2, 3] * 10, True), (list(range(30)), False), ([1.5, 2.5] * 20, False)):
        _, assumed = read_attribute(accept(pl.DataFrame({"x": values})), resolve(["x"], Config(), quasi="x")["x"])
        assert ("look like codes" in assumed) is suspicious


@pytest.mark.parametrize("how", ["median", "mode"])
def test_medians_and_modes_of_whole_numbers_stay_whole(how: str) -> None:
    frame = pl.DataFrame({"x": pl.Series([1, 2, 4, 9, 12, 13], dtype=pl.Int32)})
    release = discreet.protect(frame, k=2, quasi="x", aggregate={"x": how})
    assert release.data["x"].dtype == pl.Int32
    assert set(release.data["x"]) <= set(frame["x"])
