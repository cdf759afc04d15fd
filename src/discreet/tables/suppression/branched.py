"""Boxes along the branches of hierarchies, for unsafe sub-totals that plain boxes cannot move."""

from __future__ import annotations

import numpy as np

from discreet.data.tabular.dimension import Dimension
from discreet.kernels.branched_boxes import branched_boxes
from discreet.tables.suppression.boxed import Boxing, Wanted
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.system import Ints

# How many moves are tried for a task at most, and how many cells a box may have.
BUDGET = 10_000
LARGEST = 4_096


class Branches(Boxing):
    """The branched boxes of a problem; none where its table is linked, has no names or several ways of adding up.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        table = problem.table
        one_way = all(len(one.hierarchies) == 1 for one in table.dimensions)
        self.usable = bool(table.dimensions) and len(table.parts) == 1 and one_way and table.places.lookup is not None
        if not self.usable:
            return
        self._parents, self._depths, self._leaves = _trees(table.dimensions)
        self.usable = bool(np.prod(2.0 * self._depths.max(axis=1) + 1) <= LARGEST)
        self._codes = table.codes.astype(np.int64)

    def _boxes(self, wanted: Wanted) -> list[Ints] | Ints:
        places = self.problem.table.places
        if not self.usable or places.lookup is None:
            return []
        starts, found = branched_boxes(
            self._codes,
            places.strides,
            places.lookup,
            self._parents,
            self._depths,
            self._leaves,
            *wanted,
            BUDGET,
        )
        return np.split(found, starts[1:-1])


def _trees(dimensions: tuple[Dimension, ...]) -> tuple[Ints, Ints, Ints]:
    """For each axis the code above each code, how many codes are above it, and the leaves; filled up with −1."""
    longest = max(len(one.codes) for one in dimensions)
    parents = np.full((len(dimensions), longest), -1, dtype=np.int64)
    depths, leaves = np.zeros_like(parents), np.full_like(parents, -1)
    for axis, one in enumerate(dimensions):
        parents[axis, : len(one.codes)] = one.parents[0]
        depths[axis, : len(one.codes)] = [len(line) - 1 for line in one.ancestors]
        base = np.flatnonzero(one.base)
        leaves[axis, : len(base)] = base
    return parents, depths, leaves
