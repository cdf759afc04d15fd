"""Boxes are solutions of the relations and prove what they are said to prove; none of an enumeration is better."""

from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attack.grid import grid_of, list_boxes
from discreet.attack.program import Program
from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.boxes import Cells, Grid, Requirements, branched_boxes, cheapest_boxes, furthest_boxes
from discreet.tables.primary import primary
from discreet.tables.suppression.boxes import _trees
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tabular.table import PRIMARY
from random_tables import generators, random_table
from unsafe_tables import tree_table

# The parts and the total of each equation.
Equations = list[tuple[list[int], int]]
DIMENSIONS: dict[str, tuple[int, Equations]] = {
    "pair": (3, [([0, 1], 2)]),
    "flat": (4, [([0, 1, 2], 3)]),
    # 5 = 0 + 1 and 6 = 2 + 3 + 4 are parts of 7, so that they take part in two equations.
    "tree": (8, [([0, 1], 5), ([2, 3, 4], 6), ([5, 6], 7)]),
    # A part of its own beside a subtotal: 2 and the total 4 may exchange value.
    "uneven": (5, [([0, 1], 3), ([2, 3], 4)]),
}


class Cube(NamedTuple):
    """A table with some cells missing."""

    dimensions: list[str]
    grid: Grid
    lo: Floats
    hi: Floats
    hidden: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def relations(self) -> Floats:
        """All relations of the table, without the cells that are missing."""
        rows = []
        for axis, name in enumerate(self.dimensions):
            others = [range(DIMENSIONS[other][0]) for k, other in enumerate(self.dimensions) if k != axis]
            for (parts, total), rest in product(DIMENSIONS[name][1], product(*others)):
                row = np.zeros(len(self.grid.codes))
                for code in [*parts, total]:
                    place = [*rest[:axis], code, *rest[axis:]]
                    cell = self.grid.lookup[int(np.dot(place, self.grid.strides))]
                    if cell >= 0:
                        row[cell] = -1.0 if code == total else 1.0
                rows.append(row)
        return np.array(rows)

    def search(self, targets: Ints, up: Floats, down: Floats, budget: int = 10**9) -> tuple[Floats, Floats, Ints]:
        return furthest_boxes(self.grid, Cells(self.lo, self.hi, self.hidden), targets, up, down, budget)

    def box(self, cell: int, partners: Ints) -> tuple[Ints, Ints]:
        cells, signs = list_boxes(self.grid, np.array([cell]), partners[None])
        return cells[0], signs[0]


def cube(seed: int, dimensions: list[str], index: type[np.integer], *, share: float, missing: float = 0.1) -> Cube:
    rng = np.random.default_rng(seed)
    sizes = [DIMENSIONS[name][0] for name in dimensions]
    cells = [place for place in product(*map(range, sizes)) if rng.random() >= missing] or [(0,) * len(sizes)]
    codes = np.array(cells)[rng.permutation(len(cells))]
    strides = np.array([int(np.prod(sizes[k + 1 :])) for k in range(len(sizes))])
    lookup = np.full(int(np.prod(sizes)), -1)
    lookup[codes @ strides] = np.arange(len(codes))
    line, sign = np.full((len(sizes), max(sizes)), -1), np.ones((len(sizes), max(sizes)), np.int64)
    starts, members = [0], list[int]()
    for axis, name in enumerate(dimensions):
        equations = DIMENSIONS[name][1]
        for parts, total in equations:
            alone = [c for c in [*parts, total] if sum(c in p or c == t for p, t in equations) == 1]
            line[axis, alone] = len(starts) - 1
            if total in alone:
                sign[axis, total] = -1
            members += alone
            starts.append(len(members))
    n = len(codes)
    lo, hi = -rng.integers(0, 6, n).astype(np.float64), rng.integers(0, 6, n).astype(np.float64)
    grid = Grid(
        codes.astype(index),
        strides,
        lookup.astype(index),
        line.astype(index),
        sign.astype(index),
        np.array(starts).astype(index),
        np.array(members).astype(index),
    )
    return Cube(dimensions, grid, lo, hi, rng.random(n) < share)


def enumerate_boxes(case: Cube, cell: int) -> tuple[float, float]:
    """Try all partners, working out from the equations how corners move."""
    choices = []
    for axis, name in enumerate(case.dimensions):
        code = int(case.grid.codes[cell, axis])
        holding = [(parts, total) for parts, total in DIMENSIONS[name][1] if code in parts or code == total]
        pairs = []
        if len(holding) == 1:
            parts, total = holding[0]
            for other in [*parts, total]:
                alone = sum(other in p or other == t for p, t in DIMENSIONS[name][1]) == 1
                if other != code and alone:
                    pairs.append((other, 1 if total in (code, other) else -1))
        choices.append(pairs)
    best = [0.0, 0.0]
    for partners in product(*choices):
        reach = [np.inf, np.inf]
        for flips in product([False, True], repeat=len(partners)):
            place = [
                p[0] if flip else int(c) for p, flip, c in zip(partners, flips, case.grid.codes[cell], strict=True)
            ]
            factor = prod(p[1] for p, flip in zip(partners, flips, strict=True) if flip)
            corner = case.grid.lookup[int(np.dot(place, case.grid.strides))]
            room = (case.hi[corner], -case.lo[corner])
            if corner < 0 or not case.hidden[corner]:
                room = (0.0, 0.0)
            reach = [min(reach[0], room[factor < 0]), min(reach[1], room[factor > 0])]
        best = [max(a, b) for a, b in zip(best, reach, strict=True)]
    return best[0], best[1]


cubes = st.builds(
    cube,
    st.integers(0, 2**32),
    st.one_of(
        st.lists(st.sampled_from(sorted(DIMENSIONS)), min_size=2, max_size=3),
        st.lists(st.sampled_from(["pair", "flat"]), min_size=4, max_size=4),
    ),
    st.sampled_from([np.int32, np.int64]),
    share=st.sampled_from([0.5, 0.8, 1.0]),
    missing=st.sampled_from([0.0, 0.05]),
)


def some(case: Cube, seed: int, most: int = 12) -> Ints:
    n = len(case.grid.codes)
    return np.random.default_rng(seed).permutation(n)[:most].astype(np.int64)


@given(cubes, st.integers(0, 2**32), st.sampled_from([0.0, 2.0, np.inf]), st.sampled_from([0.0, 3.0, np.inf]))
@settings(max_examples=30, deadline=None)
def test_as_far_as_the_best_box_of_an_enumeration(case: Cube, seed: int, above: float, below: float) -> None:
    targets = some(case, seed)
    up, down, partners = case.search(targets, np.full(targets.size, above), np.full(targets.size, below))
    for i, cell in enumerate(targets):
        expected = enumerate_boxes(case, int(cell))
        assert (up[i], down[i]) == (min(expected[0], above), min(expected[1], below))
    assert np.array_equal(partners.min(axis=2)[:, 0] >= 0, up > 0)
    assert np.array_equal(partners.min(axis=2)[:, 1] >= 0, down > 0)


@given(cubes, st.integers(0, 2**32), st.sampled_from([2.0, np.inf]), st.sampled_from([1, 5, 10**9]))
@settings(max_examples=40, deadline=None)
def test_every_box_is_a_solution_within_the_bounds(case: Cube, seed: int, level: float, budget: int) -> None:
    relations = case.relations()
    targets = some(case, seed)
    levels = np.full(targets.size, level)
    up, down, partners = case.search(targets, levels, levels, budget)
    for i, cell in enumerate(targets):
        for side, amount in enumerate((up[i], -down[i])):
            if amount == 0:
                assert (partners[i, side] == -1).all()
                continue
            cells, signs = case.box(int(cell), partners[i, side])
            assert len(set(cells.tolist())) == 2 ** len(case.dimensions)
            assert (cells[0], signs[0]) == (cell, 1)
            assert case.hidden[cells].all()
            deviations = np.zeros(len(case.grid.codes))
            deviations[cells] = amount * signs
            assert not (relations @ deviations).any()
            assert np.all((case.lo <= deviations) & (deviations <= case.hi))


@pytest.mark.parametrize("dimensions", [5, 6])
def test_more_dimensions(dimensions: int) -> None:
    case = cube(1, ["pair"] * dimensions, np.int32, share=1.0, missing=0.0)
    case.lo[:], case.hi[:] = -3.0, 2.0
    targets = some(case, 2, 30)
    levels = np.full(targets.size, np.inf)
    up, down, partners = case.search(targets, levels, levels)
    relations = case.relations()
    assert (up >= 2.0).all()
    assert (down >= 2.0).all()
    for i, cell in enumerate(targets):
        cells, signs = case.box(int(cell), partners[i, 0])
        deviations = np.zeros(len(case.grid.codes))
        deviations[cells] = up[i] * signs
        assert cells.size == 2**dimensions
        assert not (relations @ deviations).any()


def test_without_budget_or_hidden_there_is_nothing() -> None:
    case = cube(1, ["flat", "flat"], np.int64, share=1.0, missing=0.0)
    case.lo[:], case.hi[:] = -3.0, 3.0
    targets, levels = np.arange(16), np.full(16, np.inf)
    assert case.search(targets, levels, levels)[0].tolist() == [3.0] * 16
    assert not case.search(targets, levels, levels, budget=0)[0].any()
    case.hidden[:8] = False
    assert not case.search(targets, levels, levels)[0][:8].any()


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
        requirements = Requirements(self.cells, problem.side, problem.level, up, down, order, self.by)
        self.starts, self.found = cheapest_boxes(
            grid, Cells(self.lo, self.hi, self.hidden), self.weight, requirements, budget
        )

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
            corners, signs = (rows[0] for rows in list_boxes(grid, np.array([cell]), np.array([partners])))
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
        assert len(run.found) == 0
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
        box = run.found[run.starts[run.by[task]] : run.starts[run.by[task] + 1]]
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


@pytest.mark.parametrize("seed", range(24))
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
    requirements = Requirements(cells[problem.cell], problem.side, problem.level, up, down, problem.by_level(), by)
    starts, found = branched_boxes(_trees(table), Cells(lo, hi, hidden), weight, requirements, 1_000)
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
