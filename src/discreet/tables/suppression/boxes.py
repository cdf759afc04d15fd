"""A first safe pattern by boxes: for each requirement the cheapest box of cells that can move with its cell.

A box has two codes of one equation on each axis; along the branches of hierarchies there are boxes also for unsafe
sub-totals, which plain boxes cannot move.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from discreet.attack.grid import grid_of
from discreet.attack.system import Bools, Ints
from discreet.kernels.boxes import Cells, Requirements, Trees, branched_boxes, cheapest_boxes
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.problem import Problem
from discreet.tabular.table import Table

# How many boxes are tried for a requirement at most.
BOX_BUDGET = 3_000
NO_BOXES = np.zeros(1, np.int64), np.zeros(0, np.int64)


class Boxing(ABC):
    """Finds boxes for requirements of a problem; how, is for others to say.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        cells, n = problem.system.cells, len(problem.table)
        self._weight = np.zeros(n)
        self._weight[cells] = problem.weight
        self._number = np.full(n, -1, dtype=np.int64)
        self._number[cells] = np.arange(len(cells))

    def protect(self, suppressed: Bools, certificates: Certificates, order: Ints, able: Bools | None = None) -> None:
        """Protect what boxes can protect; the pattern and its certificates are changed.

        Parameters
        ----------
        suppressed, certificates : array of bool, Certificates
            The pattern.
        order : array of int
            The requirements to protect.
        able : array of bool, optional
            Which columns may be in a box.
        """
        views = self.problem.view[order]
        # In the eyes of everybody first, then of one insider after the other, in whose boxes his own cells are not.
        for view in np.unique(views).tolist():
            allowed = able
            if view >= 0:
                allowed = np.ones(len(self.problem), dtype=np.bool_) if able is None else able.copy()
                allowed[self.problem.known[view]] = False
            self._protect(suppressed, certificates, order[views == view], allowed, view)

    def _protect(
        self, suppressed: Bools, certificates: Certificates, order: Ints, able: Bools | None, view: int
    ) -> None:
        problem = self.problem
        cells, n = problem.system.cells, len(problem.table)
        lo, hi, hidden = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_)
        lo[cells], hi[cells] = problem.system.lo, problem.system.hi
        if able is not None:
            lo[cells[~able]], hi[cells[~able]] = 0.0, 0.0
        hidden[cells] = suppressed
        by = np.where(certificates.number >= 0, np.iinfo(np.int64).max, -1)
        starts, found = self._boxes(
            Cells(lo, hi, hidden),
            Requirements(cells[problem.cell], problem.side, problem.level, *self._by_cell(view), order, by),
        )
        suppressed |= hidden[cells]
        bounds = starts.tolist()
        proven = np.flatnonzero((by >= 0) & (certificates.number < 0))
        proven = proven[np.argsort(by[proven], kind="stable")]
        for requirements in np.split(proven, np.flatnonzero(np.diff(by[proven])) + 1):
            if len(requirements):
                box = int(by[requirements[0]])
                columns = self._number[found[bounds[box] : bounds[box + 1]]]
                certificates.add(columns[~problem.primary[columns]], requirements)

    def _by_cell(self, view: int) -> tuple[Ints, Ints]:
        """The requirements of each cell of the table in some eyes, up and down; −1 where there is none."""
        problem, n = self.problem, len(self.problem.table)
        up, down = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        for side, index in ((1, up), (-1, down)):
            mine = np.flatnonzero((problem.side == side) & (problem.view == view))
            index[problem.system.cells[problem.cell[mine]]] = mine
        return up, down

    @abstractmethod
    def _boxes(self, cells: Cells, requirements: Requirements) -> tuple[Ints, Ints]:
        """Find boxes; where the cells of each begin, and the cells. What is suppressed and proven is changed."""


class Boxes(Boxing):
    """The boxes of a problem; none where its table is no grid."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._grid = grid_of(problem.table)

    def _boxes(self, cells: Cells, requirements: Requirements) -> tuple[Ints, Ints]:
        if self._grid is None:
            return NO_BOXES
        return cheapest_boxes(self._grid, cells, self._weight, requirements, BOX_BUDGET)


# How many moves are tried for a requirement at most, and how many cells a box may have.
BRANCH_BUDGET = 10_000
LARGEST_BOX = 4_096


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
        self._trees = _trees(table)
        self.usable = bool(np.prod(2.0 * self._trees.depths.max(axis=1) + 1) <= LARGEST_BOX)

    def _boxes(self, cells: Cells, requirements: Requirements) -> tuple[Ints, Ints]:
        if not self.usable:
            return NO_BOXES
        return branched_boxes(self._trees, cells, self._weight, requirements, BRANCH_BUDGET)


def _trees(table: Table) -> Trees:
    """The hierarchy of each axis of a table whose cells can be looked up; axes are filled up with −1."""
    assert table.places.lookup is not None
    longest = max(len(one.codes) for one in table.dimensions)
    parents = np.full((len(table.dimensions), longest), -1, dtype=np.int64)
    depths, leaves = np.zeros_like(parents), np.full_like(parents, -1)
    for axis, one in enumerate(table.dimensions):
        parents[axis, : len(one.codes)] = one.parents[0]
        depths[axis, : len(one.codes)] = [len(line) - 1 for line in one.ancestors]
        base = np.flatnonzero(one.base)
        leaves[axis, : len(base)] = base
    return Trees(table.codes.astype(np.int64), table.places.strides, table.places.lookup, parents, depths, leaves)
