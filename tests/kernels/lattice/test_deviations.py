"""Deviations of 3-D tables are as cheap as another solver finds them and add up, or are impossible there as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, linprog

from discreet.kernels.arrays import Floats
from discreet.kernels.lattice.deviations import Lattice, Lines, Moves, Normal, support
from discreet.tabular.files import jj
from discreet.tabular.table import FIXED, PRIMARY

Shape = tuple[int, int, int]
shapes = st.tuples(*[st.integers(2, 7)] * 3)


def relations(shape: Shape) -> sp.csc_matrix:
    """All line sums, a row each, written down without any thought of structure."""
    i, j, l = np.indices(shape).reshape(3, -1)  # noqa: E741
    cells = np.arange(i.size)
    _, middle, last = shape
    rows = (i * middle + j, i * last + l, j * last + l)
    return sp.vstack([sp.csr_matrix((np.ones(i.size), (row, cells))) for row in rows]).tocsc()


def oracle(shape: Shape, moves: Moves) -> OptimizeResult:
    matrix = relations(shape)
    columns = matrix[:, moves.cell] @ sp.diags(moves.direction)
    bounds = np.column_stack([np.zeros(moves.cell.size), moves.capacity])
    return linprog(moves.cost, A_eq=columns, b_eq=-(matrix @ moves.fixed), bounds=bounds, method="highs")


def draw(rng: np.random.Generator, shape: Shape, *, forced: float) -> Moves:
    """Cells that move both ways, one way or not at all; costed, free or rewarded one way, in one part or two."""
    n = int(np.prod(shape))
    most = rng.choice([2, 20, 10_000])
    parts: list[tuple[float, float, float, float]] = []
    for cell in np.flatnonzero(rng.random(n) < rng.choice([0.4, 0.7, 0.9, 1.0])).tolist():
        cost = float(rng.integers(1, most + 1)) * (rng.random() < 0.8)
        reward = rng.random() * 5 if not cost and rng.random() < 0.3 else 0.0
        for way in (1, -1):
            if rng.random() < 0.9:
                parts.append((cell, way, cost - reward * way, float(rng.integers(1, 30))))
                if reward and way > 0:
                    parts.append((cell, way, 0.0, float(rng.integers(1, 30))))
    fixed = np.zeros(n)
    fixed[rng.integers(n)] = forced
    cells, direction, costs, capacity = np.array(parts, np.float64).reshape(-1, 4).T
    return Moves(cells.astype(np.int64), direction, costs, capacity, fixed)


def assert_allowed(lattice: Lattice, moves: Moves, x: Floats, e: Floats, scale: float) -> None:
    assert (x >= 0).all()
    assert (x <= moves.capacity * (1 + 1e-12)).all()
    moved = moves.fixed + np.bincount(moves.cell, moves.direction * x, moves.fixed.size)
    np.testing.assert_allclose(e, moved, atol=1e-12 * scale)
    assert np.abs(relations(lattice.shape) @ e).max() <= 1e-7 * scale


@settings(max_examples=60)
@given(shapes, st.integers(0, 2**32), st.sampled_from([0.0, 1.0, -3.0, 12.0]))
def test_as_cheap_as_another_solver(shape: Shape, seed: int, forced: float) -> None:
    moves = draw(np.random.default_rng(seed), shape, forced=forced)
    if not moves.cell.size:
        return
    lattice = Lattice(shape)
    result = lattice.solve(*moves)
    best = oracle(shape, moves)
    assert result.status == {0: "optimal", 2: "infeasible"}[best.status]
    if result.status == "optimal":
        # What is nearly nothing is measured by what the cheapest cell that can move costs for one level, or for more.
        able, _ = lattice._able(moves.cell, moves.direction, moves.cost, -lattice.sums(moves.fixed))
        price = np.abs(moves.cost[able])
        whole = max(abs(best.fun), float(price[price > 0].min(initial=price.max(initial=1.0))) * (abs(forced) or 30.0))
        assert abs(result.objective - best.fun) <= 1e-5 * whole
        assert result.gap <= 1e-6
        assert_allowed(lattice, moves, result.x, result.e, max(1.0, abs(forced)))


@settings(max_examples=30)
@given(shapes, st.integers(0, 2**32), st.sampled_from([0.99, 1.0, 1.001, 1.5]))
def test_knows_how_far_a_cell_can_go(shape: Shape, seed: int, part: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    cell, direction = np.repeat(np.arange(n), 2), np.tile([1.0, -1.0], n)
    capacity = rng.integers(1, 30, 2 * n).astype(np.float64)
    capacity[:2] = 1e4, 1.0
    reward = np.zeros(2 * n)
    reward[:2] = -1.0, 1.0
    most = -oracle(shape, Moves(cell, direction, reward, capacity, np.zeros(n))).fun
    lattice = Lattice(shape)
    found = lattice.solve(cell, direction, reward, capacity, np.zeros(n))
    assert found.status == "optimal"
    assert found.objective == pytest.approx(-most, rel=1e-5)
    fixed = np.zeros(n)
    fixed[0] = part * most
    cost = np.repeat(rng.integers(1, 100, n), 2).astype(np.float64)
    forced = lattice.solve(cell[2:], direction[2:], cost[2:], capacity[2:], fixed)
    assert forced.status == ("optimal" if part <= 1 else "infeasible")


def test_a_forced_cell_without_others_in_its_line_is_impossible() -> None:
    fixed = np.zeros(27)
    fixed[13] = 1.0
    one, free = np.ones(2), np.zeros(2)
    result = Lattice((3, 3, 3)).solve(np.array([0, 26]), one, free, one, fixed)
    assert result.status == "infeasible"


def test_cells_that_cannot_move_stay() -> None:
    result = Lattice((2, 3, 4)).solve(np.array([0, 5]), np.ones(2), -np.ones(2), np.ones(2), np.zeros(24))
    assert result.status == "optimal"
    assert not result.e.any()


def test_no_segments() -> None:
    nothing = np.zeros(0)
    result = Lattice((2, 2, 2)).solve(np.zeros(0, np.int64), nothing, nothing, nothing, np.zeros(8))
    assert result.status == "optimal"
    assert not result.e.any()


def test_says_so_if_steps_do_not_suffice() -> None:
    moves = cube((4, 4, 4))
    assert Lattice((4, 4, 4)).solve(*moves, iterations=2).status == "stalled"


def cube(shape: Shape) -> Moves:
    """All cells move by 10 up and down at a random cost, the first is forced by 4."""
    n = int(np.prod(shape))
    cost = np.repeat(np.random.default_rng(5).integers(1, 100, n - 1), 2).astype(np.float64)
    fixed = np.zeros(n)
    fixed[0] = 4.0
    return Moves(np.repeat(np.arange(1, n), 2), np.tile([1.0, -1.0], n - 1), cost, np.full(2 * (n - 1), 10.0), fixed)


@given(shapes, st.integers(0, 2**32), st.sampled_from([0.3, 0.8, 1.0]))
def test_projection_is_the_least_squares_one(shape: Shape, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    weights = np.where(rng.random(n) < share, 10.0 ** rng.uniform(-3, 1, n), 0.0)
    matrix = relations(shape).toarray()
    # Off by what cells with a weight can make up for.
    e = weights * rng.normal(size=n)
    root = np.sqrt(weights)
    change, *_ = np.linalg.lstsq(matrix * root, -(matrix @ e), rcond=1e-12)
    found = Lattice(shape).project(e, weights)
    np.testing.assert_allclose(found, e + root * change, atol=1e-7 * max(1.0, float(np.abs(e).max())))
    assert (found[weights == 0] == e[weights == 0]).all()
    assert np.abs(matrix @ found).max() <= 1e-10 * max(1.0, float(np.abs(e).max()))


@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 6), st.integers(0, 2**32))
def test_normal_equations_are_solved(i: int, j: int, l: int, seed: int) -> None:  # noqa: E741
    rng = np.random.default_rng(seed)
    first, second, third = sorted((i, j, l), reverse=True)
    lines = Lines((first, second, third))
    weights = np.where(rng.random(lines.cells) < 0.8, 10.0 ** rng.uniform(-4, 4, lines.cells), 0.0)
    normal = Normal(lines, weights)
    right = normal.times(rng.normal(size=lines.size))
    np.testing.assert_allclose(
        normal.times(normal.solve(right)), right, atol=1e-8 * float(np.abs(right).max(initial=1))
    )


@given(shapes, st.integers(0, 2**32), st.sampled_from([1.0, 12.0]))
def test_support_adds_up_within_bounds(shape: Shape, seed: int, forced: float) -> None:
    moves = draw(np.random.default_rng(seed), shape, forced=forced)
    lattice = Lattice(shape)
    result = lattice.solve(*moves)
    if result.status != "optimal":
        return
    kept = support(lattice, moves, result, forced)
    assert kept.is_exact
    assert np.abs(relations(shape) @ kept.e).max() <= 1e-9 * forced
    low, high = moves.bounds()
    assert (kept.e >= low - 1e-7 * forced).all()
    assert (kept.e <= high + 1e-7 * forced).all()
    assert kept.cells.tolist() == np.flatnonzero(kept.e).tolist()


def test_support_drops_what_hardly_moves() -> None:
    moves = cube((5, 4, 4))
    lattice = Lattice((5, 4, 4))
    kept = support(lattice, moves, lattice.solve(*moves), 4.0)
    # The cheapest way to move a corner is to move a cuboid.
    assert kept.is_exact
    assert kept.cells.size < 30
    np.testing.assert_allclose(np.abs(kept.e[kept.cells]).max(), 4.0)


def forced_primary(path: Path, shape: Shape, rank: int) -> Moves:
    """Move one primary of a reference table up by its level; others are free, safe cells cost what they cost."""
    table = jj.read(path)
    margins: NDArray[np.int64] = sum(index == end - 1 for index, end in zip(np.indices(shape), shape, strict=True))
    sign = (-1.0) ** margins.ravel()
    primaries = np.flatnonzero(table.status == PRIMARY)
    target = primaries[np.argsort(-table.upl[primaries], kind="stable")[rank]]
    level = table.upl[target]
    able = np.flatnonzero((table.status != FIXED) & (np.arange(len(table)) != target))
    far = 5 * level
    room = [np.minimum(table.upper - table.value, far)[able], np.minimum(table.value - table.lower, far)[able]]
    cost = np.where(table.status == PRIMARY, 0.0, table.cost)[able]
    fixed = np.zeros(len(table))
    fixed[target] = sign[target] * level
    return Moves(
        np.tile(able, 2), np.concatenate([sign[able], -sign[able]]), np.tile(cost, 2), np.concatenate(room), fixed
    )


@pytest.mark.parametrize("rank", [0, 5, 50])
def test_reference_table(table_reference: Callable[[str], Path], rank: int) -> None:
    moves = forced_primary(table_reference("jj/t10x10x10.jj.gz"), (11, 11, 11), rank)
    lattice = Lattice((11, 11, 11))
    result = lattice.solve(*moves)
    level = float(np.abs(moves.fixed).max())
    assert result.status == "optimal"
    assert result.objective == pytest.approx(oracle((11, 11, 11), moves).fun, rel=1e-5, abs=1e-3)
    assert_allowed(lattice, moves, result.x, result.e, level)
    kept = support(lattice, moves, result, level)
    assert kept.is_exact
    assert np.abs(lattice.sums(kept.e)).max() <= 1e-9 * level


def test_axes_may_come_in_any_order() -> None:
    shape = (3, 6, 4)
    moves = cube(shape)
    result = Lattice(shape).solve(*moves)
    assert result.objective == pytest.approx(oracle(shape, moves).fun, rel=1e-5)
