"""Cells that somebody else has summed up: the columns of a frame as what a table is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import read_attribute
from discreet.data.checks import itemize
from discreet.data.dataset import Dataset, accept
from discreet.data.roles import Declaration
from discreet.errors import CodesError, InputError, whole
from discreet.tabular.breakdown import make_hierarchy, parse_by, read_hierarchy, tell_places, text_of
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import TOTAL, Hierarchy
from discreet.text import count as tell

Floats = NDArray[np.float64]

# What sums of floating-point numbers may be off by, in parts of them.
DUST = 1e-9


@dataclass(frozen=True, eq=False)
class Aggregates:
    """The cells of a frame, an entry for each.

    Attributes
    ----------
    dataset
        The frame, which knows its name and the place of each cell.
    dimensions, codes
        What the cells are broken down by, and the position of each cell's codes.
    value, count, tops
        Value, contributors and largest contributions; None where no column holds them.
    notes
        What was assumed.
    """

    dataset: Dataset
    dimensions: tuple[Dimension, ...]
    codes: NDArray[np.int32]
    value: Floats
    count: Floats | None
    tops: Floats | None
    notes: tuple[str, ...]


def read_aggregates(
    data: Any, by: Any, value: str, count: str | None, largest: str | Sequence[str] | None, total: Any
) -> Aggregates:
    """Take in a frame or a file with a row for each cell, margins and sub-totals too; see `Table.from_frame`."""
    dataset = accept(data)
    notes = list(dataset.notes)
    dimensions, codes = [], []
    for columns, hierarchies in parse_by(by):
        if len(columns) > 1:
            raise InputError(
                f"by: nested columns ({' > '.join(columns)}) are for microdata; of cells that are summed up already, "
                "name the column of the codes and its hierarchy"
            )
        made = _make_dimension(dataset, columns[0], hierarchies, total, notes)
        words = text_of(dataset, made.name)
        lost = [code for code in words.unique().sort() if code not in made.position]
        if lost:
            raise InputError(
                f"{dataset.name}: {tell(len(lost), 'code')} of column '{made.name}' are in no hierarchy of it"
                f"{tell_places(dataset, [made.name], lost)}; add them to the hierarchy, or say by total which is the "
                "total"
            )
        dimensions.append(made)
        codes.append(np.array([made.position[code] for code in words], dtype=np.int32))
    names = [largest] if isinstance(largest, str) else list(largest or ())
    tops = [_numbers(dataset, name) for name in names]
    for one, next_one, name in zip(tops, tops[1:], names[1:], strict=False):
        if (next_one > one).any():
            raise InputError(f"{dataset.name}: column '{name}' is above the one before it; name the largest first")
    numbers = None if count is None else _numbers(dataset, count)
    if numbers is not None and (numbers < 0).any():
        raise InputError(f"{dataset.name}: column '{count}' has negative numbers of contributors; correct them")
    return Aggregates(
        dataset,
        tuple(dimensions),
        np.stack(codes, axis=1),
        _numbers(dataset, value),
        numbers,
        np.stack(tops, axis=1) if tops else None,
        tuple(notes),
    )


def round_values(value: Floats, decimals: Any, where: str, place: Any) -> Floats:
    """Values that are shown with so many decimals: what is beyond them must be dust of floating-point numbers."""
    shown: Floats = np.round(value, whole("decimals", decimals, 0))
    wrong = np.flatnonzero(_differ(shown, value))
    if len(wrong):
        have = "has" if len(wrong) == 1 else "have"
        raise InputError(
            f"{where}: {tell(len(wrong), 'cell')} {have} more than {tell(int(decimals), 'decimal')} "
            f"({itemize([place(cell) for cell in wrong.tolist()])}); sums cannot be cut off, since they would no "
            "longer add up. Round what is summed up instead"
        )
    return shown


def suggest_decimals(value: Floats) -> list[str]:
    """Advice where floating-point numbers show more digits than they mean."""
    for digits in range(7):
        if not _differ(np.round(value, digits), value).any():
            return [f"the values show the dust of floating-point sums; --decimals {digits} takes it away"]
    return []


def _differ(shown: Floats, value: Floats) -> NDArray[np.bool_]:
    beyond: NDArray[np.bool_] = np.abs(shown - value) > DUST * np.maximum(1.0, np.abs(value))
    return beyond


def _numbers(dataset: Dataset, name: str) -> Floats:
    if name not in dataset.frame.columns:
        raise InputError(
            f"{dataset.name} has no column '{name}'; it has {itemize(dataset.frame.columns)}.{dataset.hint}"
        )
    values = read_attribute(dataset, Declaration(name, kind="numeric"))[0].values
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise InputError(
            f"{dataset.name}: column '{name}' has no number in {tell(len(missing), 'cell')} "
            f"({dataset.places(missing)}); complete them, or leave the cells out if they are zero"
        )
    return values


def _make_dimension(dataset: Dataset, name: str, given: list[Any], total: Any, notes: list[str]) -> Dimension:
    if given and isinstance(given[0], Dimension):
        return given[0]
    present = list(dict.fromkeys(text_of(dataset, name)))
    code = _find_total(dataset, name, given, total, present, notes)
    try:
        if not given:
            return Dimension(name, Hierarchy.flat([one for one in present if one != code], total=code))
        ways = [make_hierarchy(one, name, _longest(one, present), [], code) for one in given]
        return Dimension(name, [_prune(way, present) for way in ways])
    except CodesError as error:
        raise InputError(f"{error}{tell_places(dataset, [name], error.codes)}") from None


def _longest(given: Any, present: list[str]) -> list[str]:
    """The codes of the lowest level, where digits make the levels: the others are their sums."""
    if not isinstance(given, str) or "+" not in given or not given.replace("+", "").isdigit():
        return present
    return [code for code in present if len(code) == sum(map(int, given.split("+")))]


def _find_total(dataset: Dataset, name: str, given: list[Any], total: Any, present: list[str], notes: list[str]) -> str:
    """The code of the total: as it is said; or the one code that the hierarchy does not list."""
    said = total.get(name) if isinstance(total, Mapping) else total
    if given and isinstance(given[0], Hierarchy):
        return given[0].total
    if said is None and TOTAL in present:
        return TOTAL
    if said is not None and said in present:
        return str(said)
    if said is None and given and isinstance(given[0], str | Path) and Path(given[0]).suffix:
        listed = read_hierarchy(Path(given[0]), total="\0").codes
        rest = [code for code in present if code not in listed]
        if len(rest) == 1:
            notes.append(f"the total of '{name}' is the one code that {Path(given[0]).name} does not list")
            return rest[0]
    raise InputError(
        f"{dataset.name}: column '{name}' never has the code '{TOTAL if said is None else said}' of the total; say "
        f"what it is, as total={{'{name}': CODE}} or --total {name}=CODE, and give the table all its totals"
    )


def _prune(hierarchy: Hierarchy, present: list[str]) -> Hierarchy:
    """The hierarchy without codes that no cell has, nor any code below them: a table may end above its lowest level."""
    known = set(present)
    needed = np.array([code in known for code in hierarchy.codes])
    for at in range(len(hierarchy.codes) - 1, 0, -1):
        needed[hierarchy.parents[at]] |= needed[at]
    needed[0] = True
    if needed.all() or needed.sum() < 2:
        return hierarchy
    place = np.cumsum(needed) - 1
    parents = [-1 if above < 0 else place[above] for above in hierarchy.parents[needed].tolist()]
    codes = [code for code, kept in zip(hierarchy.codes, needed, strict=True) if kept]
    return Hierarchy(codes, parents, hierarchy.source)
