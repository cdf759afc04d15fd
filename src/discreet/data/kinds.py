"""What kind of attribute a column is: declared, else what the data declares of itself, else what its values are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.dates import find_form
from discreet.data.numbers import leading_zeros, read_numbers
from discreet.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declaration


def kind_of(dataset: Dataset, said: Declaration) -> tuple[str, tuple[str, ...] | None, str]:
    """The kind of a column, its order if it has one, and in words what was assumed, if anything."""
    import polars as pl

    if said.kind is not None:
        return said.kind, said.order, ""
    name = said.name
    if name in dataset.hints:
        kind, order, why = dataset.hints[name]
        return kind, order, f"taken as {kind}, by {why}"
    column = dataset.frame[name]
    if column.dtype.is_numeric():
        return "numeric", None, "taken as numbers"
    if column.dtype in (pl.Date, pl.Datetime):
        return "date", None, "taken as dates"
    if column.dtype == pl.Boolean or isinstance(column.dtype, pl.Categorical | pl.Enum):
        return "nominal", None, "taken as nominal"
    if column.dtype != pl.String:
        raise InputError(
            f"{dataset.name}: column '{name}' is of type {column.dtype.base_type()}, which cannot be "
            "protected; convert it"
        )
    if not dataset.textual:
        return "nominal", None, "text, taken as nominal"
    return _kind_of_text(dataset, column)


def _kind_of_text(dataset: Dataset, column: pl.Series) -> tuple[str, None, str]:
    numbers, wrong = read_numbers(column, dataset.decimal)
    name = column.name
    if not len(wrong):
        if leading_zeros(column):
            return "numeric", None, "taken as numbers, though some begin with 0 as codes do (if so, declare it nominal)"
        return "numeric", None, "taken as numbers"
    form = find_form(column)
    if form is not None and form.sure:
        return "date", None, "taken as dates"
    if numbers.null_count() < len(column):
        where = dataset.places(wrong)
        raise InputError(
            f"{dataset.name}: column '{name}' has numbers and text: {len(wrong)} of {len(column)} values are not "
            f"numbers ({where}). Correct them or leave them blank, or declare the column nominal."
        )
    return "nominal", None, "text, taken as nominal"
