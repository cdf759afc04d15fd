"""Microdata for tables to suppress cells in, made as in the paper of 2012.

In its sections III.A and VII.A the contributors of a cell follow a Poisson distribution, a contribution is −1/log r
with r uniform between 0 and 1, and the shares of empty and of sensitive cells are given.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.errors import InputError, whole
from discreet.examples.draws import Draws, label
from discreet.tabular.hierarchy import TOTAL, Hierarchy

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

KINDS = {"3d": "40x26x17", "hierarchical": "60x5x80h"}
"""Names for sizes; any other sizes may be spelled out."""

MOST_CELLS = 4_000_000
MOST_DIMENSIONS = 8
# A smaller hierarchy could not have two branches of two codes each.
LEAST_LEAVES = 4

_SIZES = re.compile(r"[1-9][0-9]{0,8}h?(x[1-9][0-9]{0,8}h?)+")
_MEAN = 4.0
_UNIT = 10.0
# So that sums of contributions stay exact.
_LARGEST = 1e8
# Branches with at least so many codes are divided once more.
_DIVIDED = 6
# The p of the rule by which the sensitive cells are unsafe, and no others, is 15 %: three twentieths.
_PARTS, _OF = 3, 20


def contributors(
    kind: str, *, sensitive: float = 0.1, zeros: float = 0.25, seed: int = 1
) -> tuple[pl.DataFrame, dict[str, Hierarchy]]:
    """Generate the contributions to the inner cells of a table.

    The sensitive cells have one or two contributors, so that the p% rule finds them unsafe for every p. All other cells
    are empty, or have three contributors at least and are safe under the p% rule with p = 15. Margins are what follows.

    Parameters
    ----------
    kind : str
        How many codes each dimension has, without totals, such as 200x5 or 10x10x20h; `h` makes a dimension
        hierarchical, with that many codes at the bottom. Or a name: 3d is 40x26x17, hierarchical is 60x5x80h.
    sensitive : float
        The share of all inner cells that are sensitive.
    zeros : float
        The share of all inner cells that are empty.
    seed : int
        The same seed gives the same contributions.

    Returns
    -------
    frame : polars.DataFrame
        One record for each contribution: its codes (`row` and `col`, or `d1`, `d2` and so on) and its `value`, a whole
        number of at least 1. A code to which nobody contributes does not occur.
    hierarchies : dict of str to Hierarchy
        The hierarchical dimensions.
    """
    sizes = _sizes(kind)
    shape = [size for size, _ in sizes]
    cells = math.prod(shape)
    unsafe, empty = _shares(kind, cells, sensitive, zeros)
    draws = Draws(cells, whole("seed", seed, 0))
    order = np.argsort(draws.uniform(), kind="stable")
    count = _between(draws.uniform(), 3)
    count[order[:unsafe]] = _between(draws.uniform(unsafe), 1, 2)
    count[order[unsafe : unsafe + empty]] = 0
    cell = np.repeat(np.arange(cells), count)
    value = _contributions(draws, count)
    names = ["row", "col"] if len(sizes) == 2 else [f"d{axis + 1}" for axis in range(len(sizes))]
    letters = "RC" if len(sizes) == 2 else "ABCDEFGH"
    columns: dict[str, Any] = {}
    hierarchies = {}
    for name, letter, (size, nested), at in zip(names, letters, sizes, np.unravel_index(cell, shape), strict=False):
        codes = _number_codes(letter, size, size)
        columns[name] = label(at, codes)
        if nested:
            hierarchies[name] = _hierarchy(draws, codes, f"the hierarchy of '{name}'")
    return pl.DataFrame({**columns, "value": value}), hierarchies


def _sizes(kind: str) -> list[tuple[int, bool]]:
    """The number of codes of each dimension, and whether it is hierarchical."""
    spelled = KINDS.get(kind, kind)
    if not isinstance(spelled, str) or not _SIZES.fullmatch(spelled):
        raise InputError(
            f"there is no kind {kind!r}; give sizes such as 200x5, 40x26x17 or 60x5x80h (h: hierarchical), or one of "
            f"{', '.join(KINDS)}"
        )
    sizes = [(int(part.rstrip("h")), part.endswith("h")) for part in spelled.split("x")]
    if len(sizes) > MOST_DIMENSIONS:
        raise InputError(f"kind {kind!r} has {len(sizes)} dimensions; {MOST_DIMENSIONS} are the most")
    for size, nested in sizes:
        if size < (LEAST_LEAVES if nested else 2):
            what = f"a hierarchical dimension needs {LEAST_LEAVES} codes" if nested else "a dimension needs 2 codes"
            raise InputError(f"kind {kind!r}: {what} at least, not {size}")
    if math.prod(size for size, _ in sizes) > MOST_CELLS:
        raise InputError(f"kind {kind!r} has more than {MOST_CELLS:,} inner cells; choose smaller sizes")
    return sizes


def _shares(kind: str, cells: int, sensitive: float, zeros: float) -> tuple[int, int]:
    """How many cells are sensitive, and how many empty."""
    for name, share in (("sensitive", sensitive), ("zeros", zeros)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise InputError(f"{name} must be a share of the cells, from 0 to 1, not {share!r}")
    # Two shares may add up to 1 in decimals and miss it in bits.
    if sensitive + zeros > 1 + 1e-9:
        raise InputError(
            f"sensitive ({sensitive:g}) and zeros ({zeros:g}) are more than 1 together; a sensitive cell is not empty"
        )
    unsafe = round(sensitive * cells)
    empty = min(round(zeros * cells), cells - unsafe)
    if empty == cells:
        raise InputError(f"with zeros = {zeros:g} all cells of kind {kind!r} would be empty; lower it")
    return unsafe, empty


def _between(uniform: Numbers, least: int, most: int = 40) -> Codes:
    """Poisson numbers, given that they are neither below nor above: the inverse of their distribution function."""
    odds = np.cumprod(np.concatenate([[1.0], _MEAN / np.arange(1, most + 1)]))[least:]
    edges = np.cumsum(odds)[:-1] / odds.sum()
    found: Codes = least + np.searchsorted(edges, uniform).astype(np.int64)
    return found


def _contributions(draws: Draws, count: Codes) -> Codes:
    """What each contributor brings, cell by cell; none dominates a cell that has three of them or more."""
    records = int(count.sum())
    raw = np.minimum(_UNIT / -np.log(draws.uniform(records)), _LARGEST)
    value: Codes = np.maximum(1, np.ceil(raw)).astype(np.int64)
    held = count[count > 0]
    ends = np.cumsum(held)
    ranked = value[np.lexsort((value, np.repeat(np.arange(len(held)), held)))]
    largest, second = ranked[ends - 1], ranked[np.maximum(ends - 2, 0)]
    rest = np.add.reduceat(value, ends - held) - largest - second
    # The rule wants rest ≥ 15 % of the largest. Nobody but the two largest can be above what follows, and whatever they
    # become between half of it and all of it, they stay the two largest and the rest stays the rest.
    limit = np.where(held < 3, np.int64(_LARGEST), _OF * rest // _PARTS)
    limit = np.repeat(limit, held)
    lowered = np.ceil(limit * (0.5 + 0.5 * draws.uniform(records))).astype(np.int64)
    return np.where(value > limit, lowered, value)


def _hierarchy(draws: Draws, codes: list[str], source: str) -> Hierarchy:
    """Branches of unequal size, the larger ones divided again: the codes are two or three levels below the total."""
    pairs: list[tuple[str, str]] = []
    branches = _divide(draws, codes)
    twigs = [_divide(draws, branch) if len(branch) >= _DIVIDED else [branch] for branch in branches]
    tops = _number_codes("X", len(branches), len(codes))
    middles = iter(_number_codes("Y", sum(map(len, twigs)), len(codes)))
    for top, parts in zip(tops, twigs, strict=True):
        pairs.append((top, TOTAL))
        for part in parts:
            above = top
            if len(parts) > 1:
                above = next(middles)
                pairs.append((above, top))
            pairs += [(code, above) for code in part]
    return Hierarchy.from_pairs(pairs, total=TOTAL, source=source)


def _divide(draws: Draws, codes: list[str]) -> list[list[str]]:
    """The codes in about as many parts as a part has codes, two codes at least in each."""
    parts = max(2, math.isqrt(len(codes)))
    spare = len(codes) - 2 * parts
    cuts = np.sort(np.floor(draws.uniform(parts - 1) * (spare + 1)).astype(np.int64))
    ends = (cuts + 2 * np.arange(1, parts)).tolist()
    return [codes[start:end] for start, end in zip([0, *ends], [*ends, len(codes)], strict=True)]


def _number_codes(letter: str, n: int, widest: int) -> list[str]:
    """Codes of equal width: a letter and a number."""
    width = len(str(widest))
    return [f"{letter}{number:0{width}}" for number in range(1, n + 1)]
