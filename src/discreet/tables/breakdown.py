"""What a table is broken down by: columns of the microdata, each with its hierarchies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.checks import listed
from discreet.data.dataset import Dataset
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.asc import dimension_of
from discreet.tabular.files.rda import Metadata
from discreet.tabular.hierarchy import Hierarchy

By = Sequence[Any] | Mapping[str, Any]
"""Columns; or a column with `@` and hierarchies; or a mapping of columns to hierarchies."""

_DIGITS = re.compile(r"\d+(\+\d+)+")


def spelled(by: Any) -> list[tuple[list[str], list[Any]]]:
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
        raise InputError(f"by names {listed(sorted({n for n in names if names.count(n) > 1}))} more than once")
    return found


def text_of(dataset: Dataset, name: str) -> pl.Series:
    """A column as codes."""

    if name not in dataset.frame.columns:
        raise InputError(
            f"{dataset.name} has no column '{name}'; it has {listed(dataset.frame.columns)}.{dataset.hint}"
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
    return column.cast(pl.String)


def dimension(
    dataset: Dataset, columns: list[str], hierarchies: list[Any], meta: Metadata | None, total: str
) -> tuple[Dimension, NDArray[np.int32]]:
    """A dimension, and the position of each record's code in it."""

    name = columns[-1]
    codes = text_of(dataset, name)
    present = codes.unique().sort()
    made = _made(dataset, columns, hierarchies, meta, total, present.to_list())
    position = made.position
    lost = [code for code in present if code not in position]
    if lost:
        where = listed([way.source for way in made.hierarchies])
        raise InputError(
            f"{dataset.name}: {len(lost)} codes of column '{name}' are not in {where}: {listed(lost)}; add them to the "
            "hierarchy or correct the records"
        )
    sums = [code for code in present if not made.base[position[code]]]
    if sums:
        raise InputError(
            f"{dataset.name}: column '{name}' has codes that the hierarchy adds up from others: {listed(sums)}; give "
            "those records one of the codes below"
        )
    places = codes.replace_strict(present, [position[code] for code in present], return_dtype=pl.Int32)
    return made, places.to_numpy()


def _made(
    dataset: Dataset, columns: list[str], hierarchies: list[Any], meta: Metadata | None, total: str, present: list[str]
) -> Dimension:
    if hierarchies and isinstance(hierarchies[0], Dimension):
        return hierarchies[0]
    name = columns[-1]
    variable = next((one for one in meta.variables if one.name == name), None) if meta is not None else None
    if variable is not None and not hierarchies and len(columns) == 1:
        return dimension_of(variable, present)
    missing = [code for code in (variable.missing if variable is not None else ()) if code in present]
    ways = [_hierarchy(one, name, present, missing, total) for one in hierarchies]
    if len(columns) > 1:
        nested = dataset.frame.select(text_of(dataset, column).alias(column) for column in columns)
        ways.insert(0, Hierarchy.from_columns(nested, columns, total=total))
    if not ways:
        if total in present:
            raise InputError(
                f"{dataset.name}: column '{name}' has the code '{total}' of the total itself; leave those records out, "
                "or name the total differently"
            )
        ways = [Hierarchy.flat(present, total=total, source=f"the codes of '{name}'")]
    return Dimension(name, ways, missing)


def _hierarchy(held: Any, name: str, present: list[str], missing: list[str], total: str) -> Hierarchy:
    if isinstance(held, Hierarchy):
        return held
    if isinstance(held, str) and _DIGITS.fullmatch(held):
        lengths = [int(part) for part in held.split("+")]
        return Hierarchy.from_digits(present, lengths, total=total, apart=missing, source=f"the digits of '{name}'")
    if isinstance(held, str | Path):
        found = Hierarchy.from_hrc(held, total=total)
        apart = [code for code in missing if code not in found.codes]
        return (
            found if not apart else Hierarchy([*found.codes, *apart], [*found.parents, *(0 for _ in apart)], str(held))
        )
    raise InputError(f"the hierarchy of '{name}' must be a Hierarchy, a .hrc file or lengths such as 3+1+1")
