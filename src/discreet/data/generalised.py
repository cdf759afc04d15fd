"""Releases of other tools: ranges in place of numbers, and `*` in place of values or of whole records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.dataset import Dataset
from discreet.data.values import read_numbers
from discreet.text import count

SUPPRESSED = "*"
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
# As ARX, sdcMicro, R's cut and pandas write them: [20, 40[, [20,40), (20,40], 20-40, 20 to 40, 20..40, {20, 40}.
_RANGE = rf"^[\[\](\{{]?\s*(?P<low>{_NUMBER})\s*(?:,|;|-|–|:|\.\.|to)\s*(?P<high>{_NUMBER})\s*[\[\])\}}]?$"
_ABOVE = rf"^(?:>=?|≥)\s*(?P<low>{_NUMBER})$|^(?P<base>{_NUMBER})\s*\+$"
_BELOW = rf"^(?:<=?|≤)\s*(?P<high>{_NUMBER})$"


def blank_suppressed(column: pl.Series) -> pl.Series:
    """A column in which `*` is a missing value."""
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return column
    text = column.cast(pl.String)
    return text.set((text.str.strip_chars() == SUPPRESSED).fill_null(False), None)


def read_ranges(column: pl.Series, decimal: str, low: float, high: float) -> tuple[pl.Series, str]:
    """Numbers in place of ranges, and what to note of it; the column as it is where it has none.

    A range stands at its midpoint, an open one between its end and the lowest or highest value of the original.

    Parameters
    ----------
    column : polars.Series
        A column of a release, `*` being missing already.
    decimal : str
        The decimal mark.
    low, high : float
        The lowest and highest value of the original.
    """
    if column.dtype != pl.String:
        return column, ""
    numbers, wrong = read_numbers(column, decimal)
    if not len(wrong):
        return column, ""
    text = column.gather(wrong).str.strip_chars()
    between = text.str.extract_groups(_RANGE).struct.unnest()
    above = text.str.extract_groups(_ABOVE).struct.unnest()
    below = text.str.extract(_BELOW)
    lows = _floats(between["low"]).fill_null(_floats(above["low"])).fill_null(_floats(above["base"]))
    highs = _floats(between["high"]).fill_null(_floats(below))
    ranged = lows.is_not_null() | highs.is_not_null()
    middle = (lows.fill_null(low).clip(upper_bound=high) + highs.fill_null(high)) / 2
    if not ranged.all():
        return column, ""  # what is neither number nor range is told by whoever reads the column
    values = numbers.cast(pl.Float64).to_numpy(writable=True)
    values[wrong] = middle.to_numpy()
    made = pl.Series(column.name, values, dtype=pl.Float64, nan_to_null=True)
    return made, f"{count(len(wrong), 'range')} taken at the midpoint"


def _floats(text: pl.Series) -> pl.Series:
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def find_suppressed(release: Dataset, quasi: Sequence[str]) -> NDArray[np.bool_]:
    """The rows of a release in which every quasi-identifier is `*`."""
    hidden = np.ones(release.frame.height, dtype=np.bool_)
    for name in quasi:
        column = release.frame[name]
        if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
            return np.zeros(release.frame.height, dtype=np.bool_)
        hidden &= (column.cast(pl.String).str.strip_chars() == SUPPRESSED).fill_null(False).to_numpy()
    return hidden
