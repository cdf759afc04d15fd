"""Branched boxes: deviations that obey all relations and bounds, and prove what they are said to prove."""

import numpy as np
import pytest

from discreet.attack.program import Program
from discreet.kernels.boxes.branched_boxes import branched_boxes
from discreet.tables.suppression.boxes import _trees
from discreet.tables.suppression.problem import problem_of
from unsafe_tables import tree_table


@pytest.mark.parametrize("seed", range(60))
def test_the_cells_of_a_box_alone_can_make_the_moves_it_is_said_to_prove(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = tree_table(rng, 4)
    problem = problem_of(table)
    n, cells = len(table), problem.system.cells
    lo, hi, weight, hidden = np.zeros(n), np.zeros(n), np.ones(n), np.zeros(n, dtype=np.bool_)
    lo[cells], hi[cells], hidden[cells] = problem.system.lo, problem.system.hi, problem.primary
    up, down = np.full(n, -1), np.full(n, -1)
    up[cells], down[cells] = problem.requirements_by_column()
    by = np.full(problem.requirements, -1)
    lookup = table.places.lookup
    assert lookup is not None
    starts, found = branched_boxes(
        table.codes.astype(np.int64),
        table.places.strides,
        lookup,
        *_trees(table.dimensions),
        lo,
        hi,
        weight,
        hidden,
        cells[problem.cell],
        problem.side,
        problem.level,
        up,
        down,
        problem.by_level(),
        by,
        1_000,
    )
    assert hidden[found].all()
    for task in np.flatnonzero(by >= 0).tolist():
        box = found[starts[by[task]] : starts[by[task] + 1]]
        assert len(np.unique(box)) == len(box)
        columns = np.isin(cells, box)
        assert columns.sum() == len(box)
        part = problem.system.part(columns)
        column = int(np.flatnonzero(part.cells == cells[problem.cell[task]])[0])
        side, wanted = int(problem.side[task]), float(problem.level[task])
        moves = Program(part, vertices=False).furthest(column, side, wanted, interior=False)
        assert moves is not None
        assert side * moves[column] >= wanted * (1 - 1e-9)
