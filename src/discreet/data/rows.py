"""What a row is about: the record it was made from (the row map, internal), whose it is, and how many it stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.attributes import Values, is_comparable, read_attribute
from discreet.data.dataset import Dataset, accept
from discreet.data.roles import Declaration
from discreet.errors import InputError
from discreet.text import count


def read_row_map(row_map: Any, original: Dataset, release: Dataset) -> NDArray[np.int64]:
    """For each record of the original the row of the release that was made from it.

    Parameters
    ----------
    row_map : path or frame
        The row map that was written with the release.
    original, release : Dataset
        What it links.
    """
    name = Path(row_map).name if isinstance(row_map, str | Path) else "the row map"
    frame = accept(row_map).frame
    if not {"release_row", "input_record"} <= set(frame.columns):
        raise InputError(f"{name}: not a row map; it must have the columns release_row and input_record")
    if any(dtype.is_nested() for dtype in frame.schema.values()):
        raise InputError(f"{name}: not a row map; its columns must be whole numbers")
    link = frame.select(pl.col("release_row", "input_record").cast(pl.Int64, strict=False))
    count = original.frame.height
    whole = pl.Series(range(1, count + 1), dtype=pl.Int64)
    fits = release.frame.height == count and all(link[column].sort().equals(whole) for column in link.columns)
    if not fits:
        raise InputError(
            f"{name}: it does not link the {count:,} records of {original.name} to the {release.frame.height:,} rows "
            f"of {release.name}, each once; it is of another release"
        )
    rows = np.empty(count, np.int64)
    rows[link["input_record"].to_numpy() - 1] = link["release_row"].to_numpy() - 1
    return rows


def read_persons(dataset: Dataset, name: str, who: str = "person") -> pl.Series:
    """Whose each record is, the person's or the household's; refused where a record does not say it."""
    if name not in dataset.frame.columns:
        raise InputError(f"{dataset.name}: there is no column '{name}' that says whose a record is")
    column = dataset.frame[name]
    if not is_comparable(column.dtype):
        raise InputError(f"{dataset.name}: column '{name}' is of type {column.dtype.base_type()} and names no {who}s")
    if column.null_count():
        rows = column.is_null().arg_true()
        raise InputError(
            f"{dataset.name}: column '{name}' does not say whose {count(len(rows), 'record')} "
            f"{'is' if len(rows) == 1 else 'are'} ({dataset.places(rows)}); fill it in, with a new number for each "
            f"{who} if need be"
        )
    return column


def read_weights(dataset: Dataset, name: str) -> Values:
    """How many of the population each record stands for; refused where a record does not say it."""
    if name not in dataset.frame.columns:
        raise InputError(f"{dataset.name}: there is no column '{name}' of sampling weights")
    weights = read_attribute(dataset, Declaration(name, kind="numeric"))[0].values
    wrong = np.flatnonzero(~(weights > 0))
    if len(wrong):
        raise InputError(
            f"{dataset.name}: column '{name}' has {count(len(wrong), 'sampling weight')} missing or not above 0 "
            f"({dataset.places(wrong)}); correct them, or leave these records out"
        )
    return weights
