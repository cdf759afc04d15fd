"""What a table is broken down by, as a call or a command says it: columns, each with its hierarchies."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.data.checks import itemize
from discreet.data.dataset import Dataset
from discreet.data.files import csv as delimited
from discreet.errors import CodesError, InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy

By = Sequence[Any] | Mapping[str, Any]
"""Columns; or a column with `@` and hierarchies; or a mapping of columns to hierarchies."""

MOST_DAYS = 90_000_000
_DIGITS = re.compile(r"\d+(\+\d+)+")


def parse_by(by: Any) -> list[tuple[list[str], list[Any]]]:
    """What the breakdown says of each dimension: its columns, the coarsest first, and its hierarchies."""
    if isinstance(by, str):
        by = [by]
    if isinstance(by, Mapping):
        items: list[tuple[Any, Any]] = list(by.items())
    elif isinstance(by, Sequence):
        items = [(item, None) for item in by]
    else:
        raise InputError("by must name columns: a list of names, or a mapping of names to hierarchies")
    found: list[tuple[list[str], list[Any]]] = []
    for said, held in items:
        item = said
        if isinstance(said, Dimension):
            item, held = said.name, [said]
        if not isinstance(item, str) or not item.strip():
            raise InputError(f"by must name columns, not hold an object of type {type(item).__name__}")
        name, *files = item.split("@")
        if held is not None and not isinstance(held, list | tuple):
            held = [held]
        found.append(([part.strip() for part in name.split(">")], [*files, *(held or [])]))
    if not found:
        raise InputError("by names no column; a table needs one dimension at least")
    names = [columns[-1] for columns, _ in found]
    if len(set(names)) < len(names):
        raise InputError(f"by names {itemize(sorted({n for n in names if names.count(n) > 1}))} more than once")
    return found


def text_of(dataset: Dataset, name: str) -> pl.Series:
    """A column as codes."""
    if name not in dataset.frame.columns:
        raise InputError(
            f"{dataset.name} has no column '{name}'; it has {itemize(dataset.frame.columns)}.{dataset.hint}"
        )
    column = dataset.frame[name]
    missing = np.flatnonzero(column.is_null().to_numpy())
    if len(missing):
        raise InputError(
            f"{dataset.name}: column '{name}' has no code in {len(missing)} records ({dataset.places(missing)}); give "
            "them a code of their own, such as 'unknown'"
        )
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        if (whole.cast(pl.Float64) != column).any() or whole.null_count():
            raise InputError(f"{dataset.name}: column '{name}' holds numbers with decimals, which are no codes")
        column = whole
    if column.dtype.is_temporal() and column.dtype != pl.Duration and column.dtype != pl.Time:
        # Beyond the calendar of the library it panics, in words of its own.
        if (column.cast(pl.Date).to_physical().abs() > MOST_DAYS).any():
            raise InputError(f"{dataset.name}: column '{name}' has dates beyond any calendar; correct them")
    elif column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InputError(f"{dataset.name}: column '{name}' holds no single codes; write them as text")
    return column.cast(pl.String)


def tell_places(dataset: Dataset, columns: Sequence[str], codes: Collection[str]) -> str:
    """Where the records stand that have one of these codes in a column; nothing where none has."""
    wrong = np.zeros(dataset.frame.height, dtype=np.bool_)
    for name in columns:
        wrong |= text_of(dataset, name).is_in(list(codes)).to_numpy()
    return f" ({dataset.places(np.flatnonzero(wrong))})" if wrong.any() else ""


def are_digits(held: Any) -> bool:
    """Whether what is given for a hierarchy is the lengths of digits, such as 3+1+1."""
    return isinstance(held, str) and _DIGITS.fullmatch(held) is not None


def make_hierarchy(held: Any, name: str, present: list[str], missing: list[str], total: str) -> Hierarchy:
    """The hierarchy that is given for a column: itself, a file, or the lengths of digits."""
    if isinstance(held, Hierarchy):
        return held
    if are_digits(held):
        lengths = [int(part) for part in held.split("+")]
        return Hierarchy.from_digits(present, lengths, total=total, apart=missing, source=f"the digits of '{name}'")
    if isinstance(held, str | Path):
        found = read_hierarchy(Path(held), total=total)
        apart = [code for code in missing if code not in found.codes]
        return (
            found if not apart else Hierarchy([*found.codes, *apart], [*found.parents, *(0 for _ in apart)], str(held))
        )
    raise InputError(f"the hierarchy of '{name}' must be a Hierarchy, a .hrc file or lengths such as 3+1+1")


def read_hierarchy(path: Path, *, total: str) -> Hierarchy:
    """A hierarchy in a file: a .hrc, or a .csv of columns code and parent, or of nested columns, the coarsest first."""
    if path.suffix.lower() != ".csv":
        return Hierarchy.from_hrc(path, total=total)
    source = delimited.read(path, header=True)
    try:
        if source.frame.columns == ["code", "parent"]:
            return Hierarchy.from_pairs(source.frame.rows(), total=total, source=path.name)
        return Hierarchy.from_columns(source.frame, source.frame.columns, total=total, source=path.name)
    except CodesError as error:
        held = np.zeros(source.frame.height, dtype=np.bool_)
        for column in source.frame.columns:
            held |= source.frame[column].is_in(list(error.codes)).fill_null(value=False).to_numpy()
        places = itemize([source.place(row) for row in np.flatnonzero(held).tolist()])
        raise InputError(f"{error}{f' ({places})' if places else ''}") from None
