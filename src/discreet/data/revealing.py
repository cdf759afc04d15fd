"""Confidential columns that may give their respondents away: a value of its own for nearly every record, free text.

What is confidential is released as it is. So such columns are pointed out, and refused where nobody named them.
"""

from __future__ import annotations

import polars as pl

from discreet.data.attributes import is_comparable
from discreet.data.dataset import Dataset
from discreet.data.profile import LONG_TEXT, MOSTLY_DISTINCT
from discreet.data.roles import Declarations
from discreet.data.values import read_numbers
from discreet.errors import InputError

# How a note begins that is a warning and no assumption.
BEWARE = "Beware: "


def warn_of_revealing(dataset: Dataset, declarations: Declarations) -> list[str]:
    """Warnings of confidential columns that may tell whose a record is; refused are those under `rest`.

    Decimal numbers are different in nearly every record by nature: they are warned of only.
    """
    notes, refused = [], []
    for name in declarations.names("confidential"):
        why, decimals = find_revealing(dataset, name)
        if why and not declarations[name].named and not decimals:
            refused.append(f"'{name}' ({why})")
        elif why:
            notes.append(f"{BEWARE}'{name}' is released unchanged, and {why}: whoever knows it finds the record")
    if refused:
        raise InputError(
            f"'rest' would release columns unchanged that may tell whose a record is: {', '.join(refused)}. Name them "
            "as confidential if that is meant, or as identifier, quasi or ignore"
        )
    return notes


def find_revealing(dataset: Dataset, name: str) -> tuple[str, bool]:
    """Say why the values of a column may tell whose they are, or nothing; and whether they are decimal numbers."""
    column = dataset.frame[name].drop_nulls()
    if column.is_empty() or not is_comparable(column.dtype):
        return "", False
    text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    if text and float(column.cast(pl.String).str.len_chars().median() or 0) > LONG_TEXT:  # type: ignore[arg-type]
        return "it holds free text", False
    share = column.n_unique() / len(column)
    if share <= MOSTLY_DISTINCT:
        return "", False
    return f"it has a different value in {100 * share:.0f} % of the records that have one", _has_decimals(
        dataset, column
    )


def _has_decimals(dataset: Dataset, column: pl.Series) -> bool:
    if column.dtype == pl.String and dataset.textual:
        numbers, wrong = read_numbers(column, dataset.decimal)
        column = column if len(wrong) else numbers.drop_nulls()
    if not column.dtype.is_float() and not column.dtype.is_decimal():
        return False
    return not bool((column.cast(pl.Float64) == column.cast(pl.Float64).round()).all())
