"""One attribute in two files: read the same way in both, whoever wrote them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.data.dataset import Dataset
from discreet.data.kinds import kind_of
from discreet.data.numbers import read_numbers
from discreet.data.reading import read_attribute
from discreet.errors import InputError

# Squares of larger numbers could overflow.
LARGEST = 1e150

if TYPE_CHECKING:
    import polars as pl

    from discreet.data.attributes import Attribute, Values
    from discreet.data.roles import Declaration


def read_pair(original: Dataset, release: Dataset, said: Declaration) -> tuple[Attribute, Values, str, str]:
    """An attribute of the original, its values in the release, what was assumed, and what should be noted of it.

    The kind is that of the original. Categories are those of both files, so that a category which only the release has
    is one of its own. Where the spelling differs, codes are compared as numbers if they are numbers.
    """
    name = said.name
    if name not in release.frame.columns:
        raise InputError(
            f"{release.name}: there is no column '{name}', which {original.name} has; nothing to compare with"
        )
    if release.frame[name].null_count() == release.frame.height:
        # A column that was blanked altogether has no type of its own.
        attribute, assumed = read_attribute(original, said)
        return attribute, _nothing(release.frame.height), assumed, f"'{name}' has no value in the release"
    kind, order, assumed = kind_of(original, said)
    told = replace(said, kind=kind, order=order, aggregate=None, digits=None)
    if kind in ("numeric", "date"):
        before, after = read_attribute(original, told)[0], read_attribute(release, told)[0]
        _computable(release, name, after.values)
        return before, _same_unit(before, after), assumed, ""
    both, height = _together(original, release, name), original.frame.height
    attribute, _ = read_attribute(both, replace(told, order=_as_written(order, both)))
    mine, theirs = attribute.values[:height], attribute.values[height:]
    strange = len(set(theirs[theirs == theirs].tolist()) - set(mine.tolist()))
    note = f"'{name}' has {strange} categories in the release that the original has not" if strange else ""
    return replace(attribute, values=mine), theirs, assumed, note


def _computable(release: Dataset, name: str, values: Values) -> None:
    import numpy as np

    if np.nanmax(np.abs(values)) > LARGEST:
        raise InputError(f"{release.name}: column '{name}' has numbers too large to compute with; rescale both files")


def _nothing(height: int) -> Values:
    import numpy as np

    return np.full(height, np.nan)


def _same_unit(before: Attribute, after: Attribute) -> Values:
    """Days and microseconds brought to the unit of the original."""
    if before.form is None or after.form is None or before.form.days == after.form.days:
        return after.values
    per_day = 86_400_000_000
    return after.values / per_day if before.form.days else after.values * per_day


def _together(original: Dataset, release: Dataset, name: str) -> Dataset:
    """The two columns as one, of text; rows of the release come after those of the original."""
    import polars as pl

    columns = [original.frame[name].cast(pl.String), release.frame[name].cast(pl.String)]
    if not set(columns[1].unique()) <= set(columns[0].unique()):
        # Another spelling of the same codes, most likely.
        columns = [_plain(original.frame[name], original), _plain(release.frame[name], release)]
    joined = pl.concat(columns)
    height = original.frame.height

    def place(row: int) -> str:
        own, at = (original, row) if row < height else (release, row - height)
        return f"{own.place(at)} of {own.name}"

    return Dataset(joined.to_frame(), f"{original.name} and {release.name}", place, textual=True)


def _plain(column: pl.Series, dataset: Dataset) -> pl.Series:
    """Numbers and truth values in one spelling, so that 1, 1.0 and "1" are the same code, and True and true."""
    import polars as pl

    if column.dtype.is_numeric():
        return column.cast(pl.Float64).cast(pl.String)
    text = column.cast(pl.String)
    if set(text.drop_nulls().str.to_lowercase().unique()) <= {"true", "false"}:
        return text.str.to_lowercase()
    numbers, wrong = read_numbers(text, dataset.decimal)
    return text if len(wrong) else numbers.cast(pl.String)


def _as_written(order: tuple[str, ...] | None, both: Dataset) -> tuple[str, ...] | None:
    """A declared order in the spelling of the joined column."""
    if order is None:
        return None
    import polars as pl

    present = set(both.frame.to_series().drop_nulls().unique().to_list())
    if present <= set(order):
        return order
    return tuple(_plain(pl.Series([category]), both)[0] or category for category in order)
