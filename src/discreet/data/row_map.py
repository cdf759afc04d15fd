"""The row map of a release: which row was made from which record of the original. Internal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.dataset import Dataset, accept
from discreet.errors import InputError


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
