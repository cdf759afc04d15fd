"""Ranges that either side may have: what is found, proven and refused is judged by the audit of every pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import PromiseNotKept
from discreet.tables.suppression.problem import problem_of
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import FIXED, PRIMARY, SAFE, Table
from plain_attacker import bounded
from random_tables import generators, random_table
from unsafe_tables import exposed

KINDS: dict[str, tuple[list[int], dict[str, Any]]] = {
    "plane": ([3, 3], {}),
    "wide": ([2, 4], {}),
    "tree": ([4, 2], {"hierarchical": True}),
    "cube": ([2, 2, 2], {}),
    "cross": ([4, 2], {"hierarchical": True, "second": True}),
}


def ranged_table(rng: np.random.Generator, kind: str, free: int) -> Table:
    """A small table whose unsafe cells have ranges, levels besides or nothing; few others may be suppressed."""
    sizes, more = KINDS[kind]
    table = random_table(rng, sizes, zeros=float(rng.choice([0.0, 0.3])), complete=True, **more)
    table = table.but(**bounded(rng, table))
    n, step = len(table), 10.0 ** -(table.decimals or 0)
    unsafe = np.zeros(n, dtype=np.bool_)
    unsafe[rng.choice(n, int(rng.integers(1, 5)), replace=False)] = True
    unsafe &= table.upper > table.lower
    below, above = (np.minimum(room, 1e6) for room in (table.value - table.lower, table.upper - table.value))
    most = rng.choice([2.0, 5.0, 50.0])
    asked = np.round(rng.uniform(0.0, 1.0, n) * np.minimum(below + above, most * step) / step) * step
    bare = rng.random(n) < 0.3
    level = np.where(~bare & (rng.random(n) < 0.3), step, 0.0)
    status = np.full(n, FIXED, np.uint8)
    others = rng.permutation(np.flatnonzero(~unsafe & (table.upper > table.lower)))[:free]
    status[others], status[unsafe] = SAFE, PRIMARY
    return table.but(
        status=status,
        spl=np.where(unsafe & ~bare, asked, 0.0),
        upl=np.where(unsafe & (rng.random(n) < 0.5), np.minimum(level, above), 0.0),
        lpl=np.where(unsafe & (rng.random(n) < 0.5), np.minimum(level, below), 0.0),
        cost=(np.ones(n), 1.0 + np.abs(table.value), rng.integers(1, 9, n).astype(np.float64))[int(rng.integers(3))],
    )


def least_cost(table: Table, lost: set[int], *, strict: bool) -> float:
    """The cost of the cheapest pattern that exposes no more than every pattern does: all tried, in rising order."""
    free = np.flatnonzero(table.status == SAFE)
    patterns = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free)) & 1).astype(np.bool_)
    costs = patterns @ table.cost[free]
    failed: list[np.ndarray[Any, Any]] = []
    for at in np.argsort(costs, kind="stable"):
        # What fails, fails with less suppressed.
        if any((patterns[at] <= other).all() for other in failed):
            continue
        hidden = np.zeros(len(table), dtype=np.bool_)
        hidden[free[patterns[at]]] = True
        if exposed(table, hidden, strict=strict) <= lost:
            return float(costs[at])
        failed.append(patterns[at])
    raise AssertionError("everything suppressed protects what can be protected")


def agree(table: Table, method: str, *, strict: bool, steps: int, **wishes: Any) -> None:
    """What a method reports of a table is true."""
    # Some of the tables have no unsafe cell, and no rule that says so; the plain attacker is no insider.
    asked: dict[str, Any] = {"method": method, "strict": strict, "no_rules": True, "singletons": False}
    lost = exposed(table, table.status == SAFE, strict=strict)
    if lost:
        with pytest.raises(PromiseNotKept):
            discreet.suppress(table, steps=1, **asked)
    found = discreet.suppress(table, steps=steps, partial=True, **asked, **wishes)
    assert found.evidence["measures"]["unprotected_count"] == len(lost)
    assert exposed(table, found.table.suppressed, strict=strict) <= lost
    least = least_cost(table, lost, strict=strict)
    assert found.cost >= least - 1e-9
    if found.bound is not None:
        assert found.bound["value"] <= least + 1e-6 * max(1.0, least)
        assert found.bound["value"] <= found.cost
        if found.bound["gap"] == 0.0:
            assert found.cost == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("method", ["exact", "search"])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None)
@given(rng=generators, steps=st.sampled_from([1, 3, 60]), strict=st.booleans())
def test_bounds_hold_for_every_split(
    kind: str, method: str, rng: np.random.Generator, steps: int, *, strict: bool
) -> None:
    agree(ranged_table(rng, kind, 7), method, strict=strict, steps=steps)


@pytest.mark.parametrize("method", ["exact", "search"])
@settings(max_examples=20, deadline=None)
@given(rng=generators, steps=st.sampled_from([1, 60]))
def test_bounds_are_of_the_cost_whatever_is_free_preferred_or_avoided(
    method: str, rng: np.random.Generator, steps: int
) -> None:
    table = ranged_table(rng, str(rng.choice(["plane", "cube"])), 7)
    table = table.but(cost=np.where(rng.random(len(table)) < rng.choice([0.0, 0.3, 1.0]), 0.0, table.cost))
    chosen = rng.permutation(np.flatnonzero(table.status == SAFE))[:4]
    parts = {"prefer": chosen[:2].tolist(), "avoid": chosen[2:].tolist()}
    wishes = {wish: cells for wish, cells in parts.items() if cells and rng.random() < 0.5}
    agree(table, method, strict=False, steps=steps, **wishes)


def chain(spare: tuple[float, float], **levels: float) -> Table:
    """An unsafe cell of 5 and one beside it that can go down and up by no more than told; their total is published."""
    down, up = spare
    held: dict[str, Any] = {name: np.array([0.0, amount, 0.0]) for name, amount in levels.items()}
    return Table.of(
        [25.0, 5.0, 20.0],
        dimensions=[Dimension("A", Hierarchy.flat(["a", "b"]))],
        codes=[[0], [1], [2]],
        lower=np.array([0.0, 0.0, 20.0 - down]),
        upper=np.array([99.0, 99.0, 20.0 + up]),
        status=np.array([FIXED, PRIMARY, SAFE], np.uint8),
        **held,
    )


def levels(table: Table, *, strict: bool = False) -> dict[int, float]:
    """What is asked of the unsafe cell down (−1) and up (1)."""
    problem = problem_of(table, strict=strict)
    return dict(zip(problem.side.tolist(), problem.level.tolist(), strict=True))


@pytest.mark.parametrize(
    ("spare", "asked", "split"),
    [
        ((9.0, 9.0), {"spl": 4.0}, {-1: 4.0}),
        ((9.0, 9.0), {"spl": 8.0}, {1: 3.0, -1: 5.0}),  # it cannot be less than 0
        ((9.0, 3.0), {"spl": 4.0}, {1: 4.0}),
        ((3.0, 2.0), {"spl": 4.0}, {1: 3.0, -1: 1.0}),
        ((3.0, 2.0), {"spl": 4.0, "lpl": 2.0}, {1: 2.0, -1: 2.0}),
        ((2.5, 2.5), {"spl": 4.0}, {1: 2.0, -1: 2.0}),
        ((0.5, 0.5), {}, {1: 0.5, -1: 0.5}),
        ((0.0, 1.0), {}, {-1: 1.0}),
    ],
)
def test_a_range_is_split_by_how_far_the_cell_can_go(
    spare: tuple[float, float], asked: dict[str, float], split: dict[int, float]
) -> None:
    table = chain(spare, **asked)
    assert levels(table) == pytest.approx(split)
    assert discreet.suppress(table, steps=1).secondary.tolist() == [2]


@pytest.mark.parametrize("asked", [{"spl": 6.0}, {"spl": 5.0, "lpl": 3.0}])
def test_a_range_wider_than_both_sides_together_is_refused(asked: dict[str, float]) -> None:
    with pytest.raises(PromiseNotKept, match="1 unsafe cells cannot be protected"):
        discreet.suppress(chain((3.0, 2.0), **asked), steps=1)


def test_levels_beside_a_range_are_exceeded_where_that_is_asked() -> None:
    table = chain((3.0, 2.0), spl=4.0, lpl=1.0, upl=1.0)
    split = levels(table, strict=True)
    assert min(split.values()) > 1.0
    assert sum(split.values()) == pytest.approx(4.0)
    assert discreet.suppress(table, steps=1, strict=True).secondary.tolist() == [2]


def test_what_any_split_needs_is_all_that_a_bound_asks() -> None:
    problem = problem_of(chain((9.0, 9.0), spl=8.0, upl=1.0))
    assert problem.any_split().side.tolist() == [1]
    assert problem.any_split().level.tolist() == [3.0]  # no more than 5 of the 8 can lie below
    assert problem.ranged.tolist() == [0]
    assert problem.width.tolist() == [8.0]
