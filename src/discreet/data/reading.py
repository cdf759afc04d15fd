"""Columns read as attributes, by their declaration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.data.attributes import Attribute
from discreet.data.dates import find_form, read_dates
from discreet.data.kinds import kind_of
from discreet.data.numbers import read_numbers
from discreet.data.roles import AGGREGATES, Declaration
from discreet.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from discreet.data.dataset import Dataset


def read_attribute(dataset: Dataset, said: Declaration) -> tuple[Attribute, str]:
    """Read a quasi-identifier by its declaration, and say what was assumed."""
    import numpy as np

    column = dataset.frame[said.name]
    if column.null_count() == len(column):
        raise InputError(
            f"{dataset.name}: column '{said.name}' has no values at all; leave it out by naming it as ignore"
        )
    kind, order, assumed = kind_of(dataset, said)
    attribute = _READERS[kind](dataset, column, order, kind)
    if np.isnan(attribute.values).all():
        raise InputError(f"{dataset.name}: column '{said.name}' has no values at all; name it as ignore")
    aggregate = said.aggregate or AGGREGATES[kind][0]
    if aggregate not in AGGREGATES[kind]:
        raise InputError(
            f"column '{said.name}' is {kind} and can be aggregated by {' or '.join(AGGREGATES[kind])}, not {aggregate}"
        )
    if said.digits is not None and kind != "numeric":
        raise InputError(f"column '{said.name}' is {kind}; digits are for numeric columns")
    attribute = replace(
        attribute,
        weight=1.0 if said.weight is None else said.weight,
        aggregate=aggregate,
        missing=said.missing or "separate",
        digits=said.digits,
    )
    return attribute, assumed


def read_confidential(dataset: Dataset, said: Declaration) -> Attribute | None:
    """A confidential column, to look at the diversity of its values; None if it has none that can be compared.

    Nothing was declared of it, and whatever it holds is released as it is: values that are not all numbers or dates are
    categories.
    """
    column = dataset.frame[said.name]
    if column.null_count() == len(column) or not comparable(column.dtype):
        return None
    try:
        return read_attribute(dataset, said)[0]
    except InputError:
        return read_attribute(dataset, replace(said, kind="nominal", order=None, aggregate=None, digits=None))[0]


def comparable(dtype: pl.DataType) -> bool:
    """Whether values of a type can be written as texts; lists, structures, bytes and spans of time cannot."""
    import polars as pl

    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object)


def _numeric(dataset: Dataset, column: pl.Series, _order: object, kind: str) -> Attribute:
    import numpy as np
    import polars as pl

    if column.dtype == pl.String:
        numbers, wrong = read_numbers(column, dataset.decimal)
        if len(wrong):
            raise InputError(
                f"{dataset.name}: column '{column.name}' is declared numeric, but {len(wrong)} values are not numbers "
                f"({dataset.places(wrong)}). Correct them or leave them blank."
            )
    elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
        numbers = column.cast(pl.Float64)
    else:
        raise InputError(
            f"{dataset.name}: column '{column.name}' is of type {column.dtype.base_type()} and holds no numbers"
        )
    values = numbers.to_numpy().astype(np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise InputError(
            f"{dataset.name}: column '{column.name}' has infinite values ({dataset.places(infinite)}); "
            "make them missing or correct them"
        )
    seen = values[~np.isnan(values)]
    integral = column.dtype.is_integer() or bool((seen == np.round(seen)).all())
    return Attribute(column.name, kind, values, column.dtype, integral=integral)


def _date(dataset: Dataset, column: pl.Series, _order: object, kind: str) -> Attribute:
    form = find_form(column)
    if form is None:
        raise InputError(
            f"{dataset.name}: column '{column.name}' is declared a date, but is not written in one date format that "
            "can be told without doubt; write it as YYYY-MM-DD"
        )
    return Attribute(column.name, kind, read_dates(column, form), column.dtype, form=form)


def _categories(dataset: Dataset, column: pl.Series, order: tuple[str, ...] | None, kind: str) -> Attribute:
    import numpy as np
    import polars as pl

    if not comparable(column.dtype):
        raise InputError(
            f"{dataset.name}: column '{column.name}' is of type {column.dtype.base_type()}, which has no categories"
        )
    # A whole number is the same category whether it came as an integer or as a float.
    whole = column.dtype.is_float() and (column.drop_nulls() == column.drop_nulls().round()).all()
    texts = (column.cast(pl.Int64, strict=False) if whole else column).cast(pl.String)
    # Each category as text, to order by, and as it came in, to be written.
    present = pl.DataFrame({"text": texts, "value": column}).drop_nulls().unique("text", maintain_order=True)
    if order is None:
        order = tuple(_ordered(dataset, present, column.name, kind))
    codes = texts.replace_strict(list(order), list(range(len(order))), default=None, return_dtype=pl.Int64)
    wrong = np.flatnonzero((codes.is_null() & texts.is_not_null()).to_numpy())
    if len(wrong):
        raise InputError(
            f"{dataset.name}: column '{column.name}' has {len(wrong)} values that are not in its order "
            f"({dataset.places(wrong)}); add them to the order or correct them"
        )
    # A category that nobody has is never written: it has no value of the column's type.
    categories = pl.DataFrame({"text": list(order)}).join(present, on="text", how="left", maintain_order="left")[
        "value"
    ]
    values = codes.cast(pl.Float64).to_numpy().astype(np.float64)
    return Attribute(column.name, kind, values, column.dtype, categories=categories.alias(column.name))


def _ordered(dataset: Dataset, present: pl.DataFrame, name: str, kind: str) -> list[str]:
    """Categories in alphabetical order if nominal, else by number, since nothing else was said."""
    import polars as pl

    if kind == "nominal":
        return present["text"].sort().to_list()
    if present["value"].dtype.is_numeric() or present["value"].dtype in (pl.Boolean, pl.Date, pl.Datetime):
        return present.sort("value")["text"].to_list()
    numbers, wrong = read_numbers(present["text"], dataset.decimal)
    if not dataset.textual or len(wrong) or numbers.null_count():
        raise InputError(
            f"{dataset.name}: column '{name}' is declared ordinal and holds text, so its order must be given: "
            f"ordinal '{name}=lowest<...<highest'"
        )
    return present.with_columns(number=numbers).sort("number", "text")["text"].to_list()


_READERS = {"numeric": _numeric, "date": _date, "ordinal": _categories, "nominal": _categories}
