"""The column that says whose a record is, where persons have several records."""

from __future__ import annotations

import polars as pl

from discreet.data.attributes import is_comparable
from discreet.data.dataset import Dataset
from discreet.errors import InputError
from discreet.text import count


def read_persons(dataset: Dataset, name: str) -> pl.Series:
    """Whose each record is; refused where a record does not say it."""
    if name not in dataset.frame.columns:
        raise InputError(f"{dataset.name}: there is no column '{name}' that says whose a record is")
    column = dataset.frame[name]
    if not is_comparable(column.dtype):
        raise InputError(f"{dataset.name}: column '{name}' is of type {column.dtype.base_type()} and names no persons")
    if column.null_count():
        rows = column.is_null().arg_true()
        raise InputError(
            f"{dataset.name}: column '{name}' does not say whose {count(len(rows), 'record')} "
            f"{'is' if len(rows) == 1 else 'are'} ({dataset.places(rows)}); fill it in, with a new number for each "
            "person if need be"
        )
    return column
