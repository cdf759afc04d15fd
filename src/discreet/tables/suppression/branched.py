"""Boxes along the branches of hierarchies, for unsafe sub-totals that plain boxes cannot move.

On an axis a leaf moves with every code it is part of, and another leaf with its own codes the other way; where the two
branches meet they cancel. Or a leaf moves with all its codes up to the total. Either way the axis adds up, and the
product of such moves over all axes is a table that fits: a box whose sides are branches.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.data.tabular.dimension import Dimension
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.system import Bools, Floats, Ints

# How many moves of each axis are put together, the lightest along the line of the cell.
BEST = 5
# How many leaves of an inner code are tried.
INNER = 6


class Move(NamedTuple):
    """A move on one axis: the codes that move and the sign of each."""

    codes: Ints
    signs: Ints


class Branches:
    """The branched boxes of a problem; none where its table is linked, has no names or several ways of adding up.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        table = problem.table
        one_way = all(len(one.hierarchies) == 1 for one in table.dimensions)
        self.usable = bool(table.dimensions) and len(table.parts) == 1 and one_way and table.places.lookup is not None
        cells, n = problem.system.cells, len(table)
        self._number = np.full(n + 1, -1, dtype=np.int64)
        self._number[cells] = np.arange(len(cells))
        self._paths = [_paths(one) for one in table.dimensions] if self.usable else []
        # Every task of a code asks for the same moves again: made once for each axis and two leaves.
        self._made: dict[tuple[int, int, int], Move] = {}

    def protect(self, suppressed: Bools, proofs: Certificates, order: Ints) -> None:
        """Protect tasks that have no certificate, where a branched box is found; the pattern is changed."""
        if not self.usable:
            return
        for task in order.tolist():
            if proofs.by[task] >= 0:
                continue
            found = self._box(task, suppressed)
            if found is not None:
                suppressed[found] = True
                proofs.add(found[~self.problem.primary[found]], np.array([task]))

    def _box(self, task: int, suppressed: Bools) -> Ints | None:
        """The columns of the cheapest branched box, among the lightest moves of each axis, that carries a task."""
        problem, table = self.problem, self.problem.table
        cell = int(problem.system.cells[problem.cell[task]])
        side, level = int(problem.side[task]), float(problem.level[task])
        weight = np.where(suppressed, 0.0, problem.weight)
        key, strides = int(table.places.keys[cell]), table.places.strides
        axes = []
        for axis, paths in enumerate(self._paths):
            moves = self._moves(axis, int(table.codes[cell, axis]), paths, key, side, level, weight)
            if not moves:
                return None
            axes.append(moves)
        best, least = None, np.inf
        for chosen in product(*axes):
            offsets, signs = np.array([key]), np.array([side])
            for axis, move in enumerate(chosen):
                steps = (move.codes - table.codes[cell, axis]) * strides[axis]
                offsets = (offsets[:, None] + steps).ravel()
                signs = (signs[:, None] * move.signs).ravel()
            columns = self._columns(offsets)
            if (columns < 0).any() or not self._carries(columns, signs, level):
                continue
            cost = float(weight[columns].sum())
            if cost < least:
                best, least = columns, cost
        return best

    def _moves(
        self, axis: int, code: int, paths: list[Ints], key: int, side: int, level: float, weight: Floats
    ) -> list[Move]:
        """The lightest moves of an axis that move a code up, by what they cost along the line of the cell."""
        stride = int(self.problem.table.places.strides[axis])
        under = [at for at, path in enumerate(paths) if code in path]
        inside = set(under)
        beside = [at for at in range(len(paths)) if at not in inside] if code != 0 else []
        found: list[tuple[float, int, Move]] = []
        for at in under[:INNER]:
            rest = [Move(paths[at], np.ones(len(paths[at]), dtype=np.int64))]
            rest += [self._difference(axis, at, other) for other in beside]
            for move in rest:
                columns = self._columns(key + (move.codes - code) * stride)
                if (columns >= 0).all() and self._carries(columns, side * move.signs, level):
                    found.append((float(weight[columns].sum()), len(found), move))
        return [move for _, _, move in sorted(found, key=lambda one: one[:2])[:BEST]]

    def _difference(self, axis: int, at: int, other: int) -> Move:
        """The move from one leaf of an axis to another."""
        move = self._made.get((axis, at, other))
        if move is None:
            move = self._made[axis, at, other] = _difference(self._paths[axis][at], self._paths[axis][other])
        return move

    def _columns(self, keys: NDArray[np.int64]) -> Ints:
        """The columns at keys; −1 where there is no cell or none that may be suppressed."""
        return self._number[self.problem.table.places.find(keys)]

    def _carries(self, columns: Ints, signs: Ints, level: float) -> bool:
        system = self.problem.system
        room = np.where(signs > 0, system.hi[columns], -system.lo[columns])
        return bool((room >= level).all())


def _paths(dimension: Dimension) -> list[Ints]:
    """For each leaf its code and every code it is part of."""
    return [dimension.ancestors[code] for code in np.flatnonzero(dimension.base).tolist()]


def _difference(path: Ints, other: Ints) -> Move:
    """A branch up and another down, without what they share."""
    mine, theirs = np.setdiff1d(path, other), np.setdiff1d(other, path)
    signs = np.repeat(np.array([1, -1], dtype=np.int64), [len(mine), len(theirs)])
    return Move(np.concatenate([mine, theirs]), signs)
