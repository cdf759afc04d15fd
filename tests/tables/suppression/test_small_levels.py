"""Cells of value 0 have the smallest levels there are; among values of millions these are no rounding."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.tables.suppression.problem import problem_of, settle_ranges
from discreet.tabular.table import FIXED, Table
from plain_attacker import extremes


def linked(seed: int) -> Table:
    """Two linked tables of values about a million, some of whose cells are zeros of few contributors."""
    rng = np.random.default_rng([seed, 16])
    digits = (None, 0, 2, 6)[seed % 4]
    sizes = rng.integers(2, 5, 3)
    records = []
    for r, c, s in np.ndindex(*sizes):
        zero = rng.random() < 0.2
        for _ in range(int(rng.integers(1, 3) if zero else rng.integers(0 if seed % 3 else 3, 6))):
            value = 0.0 if zero else rng.uniform(1e5, 2e6)
            records.append((f"r{r}", f"c{c}", f"s{s}", value if digits is None else round(value, digits)))
    frame = pl.DataFrame(records, schema=["r", "c", "s", "v"], orient="row")
    table = discreet.tabulate(frame, by=["r", "c", "s"], value="v", parts=[["r", "c"], ["r", "s"]])
    return discreet.primary(table, threshold=3)


@pytest.mark.parametrize("seed", range(24))
def test_a_level_however_small_is_found_to_be_reached_or_not(seed: int) -> None:
    table = linked(seed)
    cells = table.primary
    down, up = extremes(table, table.status != FIXED, cells)
    can = (down >= table.lpl[cells] * (1 - 1e-6)) & (up >= table.upl[cells] * (1 - 1e-6))
    _, lost = settle_ranges(problem_of(table, settle=False))
    assert lost.tolist() == cells[~can].tolist()


@pytest.mark.parametrize("method", ["search", "hypercube", "exact"])
@pytest.mark.parametrize("seed", [*range(0, 24, 3), 20])
def test_cells_of_the_smallest_levels_are_protected(seed: int, method: str) -> None:
    table = linked(seed)
    found = discreet.suppress(table, method=method, steps=2, partial=True)
    _, lost = settle_ranges(problem_of(table, settle=False))
    kept = np.setdiff1d(table.primary, lost)
    down, up = extremes(found.table, found.table.suppressed, kept)
    assert (down >= table.lpl[kept] * (1 - 1e-6)).all()
    assert (up >= table.upl[kept] * (1 - 1e-6)).all()
    assert found.evidence["measures"]["unprotected_count"] == len(lost)
