"""Numbers that a column of text holds."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

# Words for a missing number, in any case; in a text column they are words like any other ("NA" is Namibia).
MISSING_WORDS = ("na", "nan", "n/a", "null", "none", "nil", ".")


def read_numbers(column: pl.Series, decimal: str) -> tuple[pl.Series, NDArray[np.int64]]:
    """Numbers of a text column (null where missing or wrong) and the rows whose text is no number."""
    text = column.str.strip_chars()
    said = text.is_not_null() & (text != "") & ~text.str.to_lowercase().is_in(list(MISSING_WORDS))
    plain = text
    if decimal == ",":
        # A point in a decimal-comma file would be a thousands mark: refuse it rather than misread it.
        plain = plain.set(plain.str.contains(".", literal=True).fill_null(False), "?").str.replace(
            ",", ".", literal=True
        )
    numbers = plain.set(~said.fill_null(False), None).cast(pl.Float64, strict=False)
    # "nan" in other spellings would slip through the words above as a number.
    numbers = numbers.fill_nan(None)
    wrong = np.flatnonzero((said.fill_null(False) & numbers.is_null()).to_numpy())
    return numbers.alias(column.name), wrong


def leading_zeros(column: pl.Series) -> bool:
    """Whether some whole numbers are written with a leading zero, as codes are."""
    return bool(column.str.contains(r"^\s*0\d+\s*$").any())
