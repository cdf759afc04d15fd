"""Boxes of a table's grid leave every sum as it was, and a grid is found only where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from discreet.attack.grid import grid_of, list_boxes
from discreet.kernels.boxes import Cells, Grid, furthest_boxes
from discreet.tabular.files import jj
from discreet.tabular.relations import Relations, build_relations
from discreet.tabular.table import Table
from plain_attacker import case, lines
from random_tables import generators, random_table


def check_boxes(table: Table, grid: Grid, rng: np.random.Generator) -> int:
    """Every box that is found obeys all relations and moves hidden cells only, by as much as is said."""
    matrix = lines(table)
    n = len(table)
    hidden = rng.random(n) < 0.8
    lo, hi = -rng.integers(0, 5, n).astype(float), rng.integers(0, 5, n).astype(float)
    targets = np.flatnonzero(hidden)
    levels = np.full(len(targets), 3.0)
    up, down, partners = furthest_boxes(grid, Cells(lo, hi, hidden), targets, levels, levels, 500)
    seen = 0
    for at, cell in enumerate(targets.tolist()):
        for side, amount in enumerate((up[at], -down[at])):
            if partners[at, side, 0] < 0:
                assert amount == 0
                continue
            cells, signs = (rows[0] for rows in list_boxes(grid, np.array([cell]), partners[at, side][None]))
            assert cells[0] == cell
            assert len(set(cells.tolist())) == len(cells)
            moved = np.zeros(n)
            moved[cells] = signs * amount
            assert not (matrix @ moved).any()
            assert hidden[cells].all()
            assert (moved >= lo).all()
            assert (moved <= hi).all()
            seen += 1
    return seen


@given(rng=generators)
def test_boxes_of_dimensions_obey_all_relations(rng: np.random.Generator) -> None:
    table = random_table(
        rng, hierarchical=rng.random() < 0.5, second=rng.random() < 0.5, zeros=0.2, complete=rng.random() < 0.5
    )
    grid = grid_of(table)
    assert grid is not None
    check_boxes(table, grid, rng)


@given(rng=generators)
def test_boxes_of_numbered_cells_obey_all_relations(rng: np.random.Generator) -> None:
    table = random_table(rng, hierarchical=rng.random() < 0.3, second=rng.random() < 0.3, complete=True)
    grid = grid_of(numbered(table))
    flat = all(one.is_flat for one in table.dimensions)
    assert (grid is not None) >= flat
    if grid is not None:
        check_boxes(numbered(table), grid, rng)


def numbered(table: Table, relations: Relations | None = None) -> Table:
    """The table without the names of its dimensions."""
    return Table.of(table.value, relations=relations or table.relations)


@given(rng=generators)
def test_relations_in_any_order_have_the_same_grid(rng: np.random.Generator) -> None:
    table = random_table(rng, 3, complete=True)
    held = table.relations
    order = rng.permutation(len(held.cells))
    rows = rng.permutation(len(held))[held.rows]
    factors = rng.choice([1.0, -1.0], len(held))[held.rows]
    shuffled = build_relations(
        rows[order], held.cells[order], (held.coefficients * factors)[order], held.rhs, len(table)
    )
    grid = grid_of(numbered(table, shuffled))
    if grid is not None:
        check_boxes(numbered(table, shuffled), grid, rng)
    only_order = build_relations(rows[order], held.cells[order], held.coefficients[order], held.rhs, len(table))
    assert grid_of(numbered(table, only_order)) is not None


@given(rng=generators)
def test_no_grid_is_seen_where_relations_are_of_other_cells(rng: np.random.Generator) -> None:
    table = random_table(rng, [2, 2, 2] if rng.random() < 0.5 else [2, 3], complete=True)
    held = table.relations
    kind = rng.integers(3)
    if kind == 0:  # cells renumbered
        cells = rng.permutation(len(table))[held.cells]
    elif kind == 1:  # two cells exchanged in some relations
        one, other = rng.choice(len(table), 2, replace=False)
        some = (rng.random(len(held)) < 0.5)[held.rows]
        swap = np.arange(len(table))
        swap[[one, other]] = other, one
        cells = np.where(some, swap[held.cells], held.cells)
    else:  # lines that start anywhere
        shift = rng.integers(0, len(table), len(held))[held.rows]
        cells = (held.cells + shift) % len(table)
    wrong = numbered(table, build_relations(held.rows, cells, held.coefficients, held.rhs, len(table)))
    grid = grid_of(wrong)
    if grid is not None:
        check_boxes(wrong, grid, rng)


def test_lines_that_run_over_are_no_grid() -> None:
    down = [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    across = [[0, 1, 2], [1, 2, 3], [5, 6, 7]]
    cells = np.array([cell for line in down + across for cell in line])
    rows = np.repeat(np.arange(6), 3)
    table = Table.of(np.zeros(9), relations=build_relations(rows, cells, np.tile([-1.0, 1.0, 1.0], 6), np.zeros(6), 9))
    assert grid_of(table) is None


def test_files_keep_the_grid(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(0), [3, 3, 2], complete=True)
    path = tmp_path / "table.jj"
    path.write_text(jj.text(table), encoding="utf-8")
    read = jj.read(path)
    grid = grid_of(read)
    assert grid is not None
    assert check_boxes(read, grid, np.random.default_rng(1)) > 0


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_linked_tables_have_no_grid_of_their_own(seed: int) -> None:
    table = case(seed).table
    if len(table.parts) > 1:
        assert grid_of(table) is None
