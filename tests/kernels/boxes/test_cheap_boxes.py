"""Cheap boxes obey all relations, are wide enough, and cost no more than any box that a plain enumeration finds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.attack.grid import Grid, grid_of
from discreet.kernels.boxes.cheap_boxes import cheap_boxes
from discreet.tables.primary import primary
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tabular.table import PRIMARY
from random_tables import generators, random_table

EVERY = 10**9


class Run:
    """The boxes of a problem, in arrays over the cells of its table."""

    def __init__(self, problem: Problem, order: np.ndarray, budget: int = EVERY) -> None:
        grid = grid_of(problem.table)
        assert grid is not None
        self.grid: Grid = grid
        cells, n = problem.system.cells, len(problem.table)
        self.lo, self.hi, self.weight = np.zeros(n), np.zeros(n), np.zeros(n)
        self.lo[cells], self.hi[cells], self.weight[cells] = problem.system.lo, problem.system.hi, problem.weight
        self.before = problem.table.status == PRIMARY
        self.hidden = self.before.copy()
        self.cells = cells[problem.cell]
        up, down = np.full(n, -1), np.full(n, -1)
        up[self.cells[problem.side > 0]] = np.flatnonzero(problem.side > 0)
        down[self.cells[problem.side < 0]] = np.flatnonzero(problem.side < 0)
        self.by = np.full(problem.requirements, -1)
        self.boxes = cheap_boxes(
            grid.codes, grid.strides, grid.lookup, grid.line, grid.sign, grid.starts, grid.members, self.lo, self.hi,
            self.weight, self.hidden, self.cells, problem.side, problem.level, up, down, order, self.by, budget,
        )  # fmt: skip

    def cheapest(self, cell: int, side: int, level: float) -> float:
        """What the cheapest wide box through a cell costs, by trying all; infinite if there is none."""
        grid, least = self.grid, np.inf
        groups = [int(grid.line[axis, code]) for axis, code in enumerate(grid.codes[cell].tolist())]
        if min(groups) < 0:
            return least
        members = [grid.members[grid.starts[g] : grid.starts[g + 1]].tolist() for g in groups]
        for partners in product(*members):
            if any(one == own for one, own in zip(partners, grid.codes[cell].tolist(), strict=True)):
                continue
            corners, signs = grid.box(cell, np.array(partners))
            if (corners < 0).any():
                continue
            room = np.where(signs * side > 0, self.hi[corners], -self.lo[corners])
            if (room >= level).all():
                least = min(least, float(self.weight[corners[~self.before[corners]]].sum()))
        return least


def _problem(rng: np.random.Generator) -> Problem | None:
    made = random_table(rng, int(rng.integers(2, 5)), hierarchical=bool(rng.integers(2)), zeros=0.2, complete=True)
    problem = problem_of(primary(made, p=15, threshold=2))
    return problem if problem.requirements else None


@given(generators)
@settings(max_examples=30)
def test_the_first_box_is_the_cheapest_of_all(rng: np.random.Generator) -> None:
    problem = _problem(rng)
    if problem is None:
        return
    task = int(rng.integers(problem.requirements))
    run = Run(problem, np.array([task]))
    cost = run.cheapest(int(run.cells[task]), int(problem.side[task]), float(problem.level[task]))
    if np.isinf(cost):
        assert len(run.boxes) == 0
        assert run.by[task] == -1
    else:
        assert run.by[task] == 0
        assert run.weight[run.hidden & ~run.before].sum() == pytest.approx(cost)


@given(generators)
@settings(max_examples=30)
def test_every_box_proves_what_it_is_said_to_prove(rng: np.random.Generator) -> None:
    problem = _problem(rng)
    if problem is None:
        return
    run = Run(problem, problem.by_level(), budget=200)
    matrix = problem.table.relations.matrix
    for task in np.flatnonzero(run.by >= 0).tolist():
        box = run.boxes[run.by[task]]
        assert run.hidden[box].all()
        # The signs of a box follow from its relations: they are the only solution on its cells up to a factor.
        inside = matrix[:, box].toarray()
        _, directions = np.linalg.eigh(inside.T @ inside)
        move = directions[:, 0] * np.sign(directions[box == run.cells[task], 0]) * problem.side[task]
        move = move / np.abs(move).max() * problem.level[task]
        assert np.abs(inside @ move).max() <= 1e-6 * problem.level[task]
        assert np.allclose(np.abs(move), problem.level[task])
        room = np.where(move > 0, run.hi[box], -run.lo[box])
        assert (room >= np.abs(move) * (1 - 1e-9)).all()
