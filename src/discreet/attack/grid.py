"""The grid that a table fills, in which boxes of cells can exchange value without a trace.

In a table of D dimensions take two codes on every axis that stand in one and the same equation and in no other. Their
2^D cells form a box: one moved up and its neighbours along each axis moved down, or up where one of the two codes is
the total of the other, leave every sum as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.attack.system import Ints
from discreet.kernels.boxes import Grid
from discreet.tabular.table import Table

MOST_DIMENSIONS = 6


def list_boxes(grid: Grid, cells: Ints, partners: Ints) -> tuple[Ints, Ints]:
    """The cells of a box of each of some cells and the sign of each, a row for each box, the cell itself first.

    Parameters
    ----------
    grid : Grid
        The grid.
    cells, partners : arrays of int
        The cells, and for each the code of its partner on each axis.
    """
    axes = np.arange(partners.shape[1])
    codes = grid.codes[cells].astype(np.int64)
    turn = np.where(grid.sign[axes, codes] == grid.sign[axes, partners], -1, 1)
    # A bit for each axis: whether a corner stands at the partner's code there.
    at_partner = (np.arange(1 << len(axes))[:, None] >> axes & 1).astype(np.bool_)
    keys = (np.where(at_partner, partners[:, None, :], codes[:, None, :]) * grid.strides).sum(axis=2)
    signs = np.where(at_partner, turn[:, None, :], 1).prod(axis=2)
    return np.asarray(grid.lookup[keys], dtype=np.int64), signs


def grid_of(table: Table) -> Grid | None:
    """The grid of a table, None if it has none that boxes can be found in."""
    if not table.dimensions:
        return _from_relations(table)
    if len(table.parts) != 1 or not 2 <= len(table.dimensions) <= MOST_DIMENSIONS or table.places.lookup is None:
        return None
    return _grid(
        table.codes.astype(np.int64),
        table.places.strides,
        table.places.lookup,
        [_equations(one.parents) for one in table.dimensions],
    )


def _grid(codes: Ints, strides: Ints, lookup: Any, axes: list[tuple[Ints, Ints]]) -> Grid:
    """Number the equations of all axes through, and list the codes of each."""
    longest = max(len(line) for line, _ in axes)
    lines = np.full((len(axes), longest), -1, dtype=np.int64)
    signs = np.ones((len(axes), longest), dtype=np.int64)
    members, starts, first = [], [0], 0
    for axis, (line, sign) in enumerate(axes):
        for number in range(int(line.max(initial=-1)) + 1):
            members.append(np.flatnonzero(line == number))
            starts.append(starts[-1] + len(members[-1]))
        lines[axis, : len(line)] = np.where(line >= 0, line + first, -1)
        signs[axis, : len(sign)] = sign
        first += int(line.max(initial=-1)) + 1
    held = np.concatenate([*members, np.empty(0, np.int64)]).astype(np.int64)
    return Grid(codes, strides, lookup, lines, signs, np.array(starts, dtype=np.int64), held)


def _equations(parents: Ints) -> tuple[Ints, Ints]:
    """For each code the number of the only equation that it stands in (−1 if in several), and its sign there."""
    codes = parents.shape[1]
    equation: dict[tuple[int, int], int] = {}
    line, sign, times = np.full(codes, -1), np.ones(codes, dtype=np.int64), np.zeros(codes, dtype=np.int64)
    for way, row in enumerate(parents):
        for code in np.flatnonzero(row >= 0).tolist():
            number = equation.setdefault((way, int(row[code])), len(equation))
            line[code] = number
            times[code] += 1
        for code in np.unique(row[row >= 0]).tolist():
            line[code] = equation[way, code]
            sign[code] = -1
            times[code] += 1
    return np.where(times == 1, line, -1).astype(np.int64), sign


def _from_relations(table: Table) -> Grid | None:
    """The grid of a table without names, if its relations are the lines of one in the usual order of cells."""
    relations, n = table.relations, len(table)
    lengths = np.diff(relations.starts)
    if n < 4 or not len(lengths) or lengths.min() < 2:
        return None
    order = np.lexsort((relations.cells, relations.rows))
    cells, coefficients = relations.cells[order].astype(np.int64), relations.coefficients[order]
    firsts = relations.starts[:-1]
    steps = np.diff(cells)
    inner = np.ones(len(cells) - 1, dtype=np.bool_)
    inner[firsts[1:] - 1] = False
    stride = cells[firsts + 1] - cells[firsts]
    if (steps[inner] != stride[relations.rows[1:][inner]]).any():
        return None
    strides = np.unique(stride)[::-1]
    sizes, signs = [], []
    for one in strides.tolist():
        mine = np.flatnonzero(stride == one)
        size = int(lengths[mine[0]])
        if (lengths[mine] != size).any() or len(mine) * size != n:
            return None
        # A line that starts in the middle would run over into the next.
        if (cells[firsts[mine]] // one % size).any():
            return None
        pattern = coefficients[firsts[mine][:, None] + np.arange(size)]
        pattern = pattern * np.where(pattern.sum(axis=1) < 0, -1.0, 1.0)[:, None] if size > 2 else pattern
        if (pattern != pattern[0]).any() or (np.abs(pattern[0]) != 1.0).any():
            return None
        sizes.append(size)
        signs.append(pattern[0].astype(np.int64))
    expected = np.concatenate([np.cumprod(sizes[::-1])[::-1][1:], [1]])
    if not 2 <= len(sizes) <= MOST_DIMENSIONS or (expected != strides).any() or int(np.prod(sizes)) != n:
        return None
    codes = np.stack([np.arange(n) // step % size for step, size in zip(strides, sizes, strict=True)], axis=1)
    axes = [(np.zeros(size, dtype=np.int64), sign) for size, sign in zip(sizes, signs, strict=True)]
    return _grid(codes, strides.astype(np.int64), np.arange(n, dtype=np.int32), axes)
