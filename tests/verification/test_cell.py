"""What is told of one cell: the attacker's interval, and the unsafe cells that rely on it, against plain programs."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.tabular.table import PRIMARY, SECONDARY
from discreet.verification.cell import explain_cell
from plain_attacker import extremes, protected
from random_tables import random_table


def pattern(seed: int) -> discreet.tabular.Table:
    """A small table with unsafe cells, and secondary ones at random: some are needed, some are not."""
    rng = np.random.default_rng(seed)
    sizes = ([2, 3], [3, 3], [2, 2, 2], [4, 2])
    table = random_table(rng, sizes[seed % 4], hierarchical=seed % 3 == 0, zeros=0.2, decimals=0, complete=True)
    status = np.where(rng.random(len(table)) < 0.6, SECONDARY, 0).astype(np.uint8)
    status[rng.choice(np.flatnonzero(table.value > 0), 3, replace=False)] = PRIMARY
    levels = np.where(status == PRIMARY, np.ceil(table.value * 0.3), 0.0)
    return table.but(status=status, lpl=levels, upl=levels)


@pytest.mark.parametrize("seed", range(8))
def test_the_interval_and_what_relies_on_a_cell_are_those_of_plain_programs(seed: int) -> None:
    table = pattern(seed)
    hidden = table.suppressed
    every = np.flatnonzero(hidden)
    down, up = extremes(table, hidden, every)
    safe = dict(zip(table.primary.tolist(), _protected(table, hidden), strict=True))
    for at, cell in enumerate(every.tolist()):
        said = explain_cell(table, cell, singletons=False)
        assert said.feasible == pytest.approx((table.value[cell] - down[at], table.value[cell] + up[at]), abs=1e-6)
        others = table.primary[table.primary != cell]
        opened = hidden.copy()
        opened[cell] = False
        left = dict(zip(others.tolist(), _protected(table, opened, others), strict=True))
        broken = tuple(table.name(one) for one in others.tolist() if safe[one] and not left[one])
        assert said.protects == broken, (seed, cell)
    published = int(np.flatnonzero(~hidden)[0])
    assert explain_cell(table, published).feasible is None
    assert explain_cell(table, published).protects == ()


def _protected(table: discreet.tabular.Table, hidden: np.ndarray, cells: np.ndarray | None = None) -> list[bool]:
    cells = table.primary if cells is None else cells
    return [bool(one) for one in protected(table, cells, *extremes(table, hidden, cells))]


def test_what_sole_contributors_learn_counts_too() -> None:
    """Each secondary cell of a pattern that protects against insiders is needed by somebody, an insider perhaps."""
    data = {
        "region": ["a"] * 4 + ["b"] * 6 + ["c"] * 5,
        "size": ["s", "m", "m", "l", "s", "s", "s", "m", "l", "l", "s", "m", "m", "l", "l"],
        "turnover": [50, 20, 30, 40, 10, 20, 30, 60, 5, 15, 25, 35, 45, 55, 65],
    }
    table = discreet.primary(
        discreet.tabulate(pl.DataFrame(data), by=["region", "size"], value="turnover"), threshold=3
    )
    held = discreet.suppress(table, steps=5).table
    relied = {cell: explain_cell(held, cell).protects for cell in np.flatnonzero(held.status == SECONDARY).tolist()}
    assert relied
    outside = {cell: explain_cell(held, cell, singletons=False).protects for cell in relied}
    for cell, names in relied.items():
        assert set(outside[cell]) <= set(names)
        status = held.status.copy()
        status[cell] = 0
        assert bool(names) != discreet.audit(held.but(status=status), singletons=True).passed
