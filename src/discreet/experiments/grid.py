"""The values that a study tries: a grid over some parameters of a method."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from discreet.errors import InputError
from discreet.experiments.store import Scalar
from discreet.microdata.registry import make

Grid = dict[str, tuple[Scalar, ...]]

MOST = 10_000


def parse(texts: Iterable[str], method: str) -> Grid:
    """Read factors of a study, as a command line has them.

    Parameters
    ----------
    texts : iterable of str
        `name=low:high:step`, both ends included, or `name=a,b,c`.
    method : str
        The method whose parameters they are.
    """
    grid: Grid = {}
    for text in texts:
        name, found, values = text.partition("=")
        name = name.strip()
        if not found or not name or not values.strip():
            raise InputError(f"grid '{text}': write it as mutation=0:1:0.1 or as mutation=0.1,0.2,0.5")
        if name in grid:
            raise InputError(f"grid '{text}': {name} has a grid already; give all its values in one")
        grid |= checked({name: _range(text, values) if ":" in values else values.split(",")}, method)
    return grid


def checked(grid: Mapping[str, Sequence[Any]], method: str) -> Grid:
    """The grid with values of the parameters' types; unknown factors and grids of one value are refused."""
    if not grid:
        make(method, {})
        raise InputError("a study needs a grid, such as mutation=0:1:0.1: nothing varies without one")
    result: Grid = {}
    for name, values in grid.items():
        made = [
            getattr(make(method, {name: value.strip() if isinstance(value, str) else value}), name) for value in values
        ]
        if any(not isinstance(value, str | int | float | None) for value in made):
            raise InputError(f"the parameter {name} of {method} is not a single value and cannot be a factor")
        different = tuple(dict.fromkeys(made))
        if len(different) < 2:
            raise InputError(f"the grid of {name} has one value; a factor needs at least two to be compared")
        result[name] = different
    return result


def combinations(grid: Grid, method: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Scalar]]:
    """Every combination of the grid's values, the last factor varying fastest; each is one the method takes."""
    fixed = dict(params or {})
    twice = [name for name in grid if name in fixed]
    if twice:
        raise InputError(f"{twice[0]} has a grid and a fixed value; leave one of them out")
    every = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    for each in every:
        make(method, fixed | each)
    return every


def _range(text: str, values: str) -> list[str]:
    """`0:1:0.1` in decimal arithmetic, so that the fourth value is 0.3 and not 0.30000000000000004."""
    try:
        low, high, step = (Decimal(part.strip()) for part in values.split(":"))
        if not (low.is_finite() and high.is_finite() and step.is_finite()):
            raise ValueError
    except (ValueError, InvalidOperation):
        raise InputError(f"grid '{text}': a range is low:high:step with three numbers, such as 0:1:0.1") from None
    if step <= 0 or high < low:
        raise InputError(f"grid '{text}': the step must be above 0, and the high end not below the low one")
    count = int((high - low) / step) + 1
    if count > MOST:
        raise InputError(f"grid '{text}': {count:,} values are too many; at most {MOST:,} are tried")
    return [format((low + i * step).normalize(), "f") for i in range(count)]
