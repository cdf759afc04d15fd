"""Both baselines protect whatever can be protected, in tables of every kind."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.attack.system import Bools
from discreet.tables.suppression import baselines
from discreet.tables.suppression.baselines import hypercube, marginal
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tabular.table import FIXED, SAFE, Table
from random_tables import generators
from tables.suppression.plain_protector import Plain, exposed, hopeless, unsafe_table

METHODS = {"marginal": marginal, "hypercube": hypercube}
KINDS: dict[str, tuple[list[int], dict[str, Any]]] = {
    "flat": ([4, 4], {}),
    "three dimensions": ([3, 3, 3], {}),
    "four dimensions": ([2, 2, 2, 2], {}),
    "hierarchical": ([5, 3], {"hierarchical": True}),
    "not nested": ([4, 3], {"hierarchical": True, "second": True}),
    "decimal": ([4, 3], {"decimals": 2}),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(rng=generators)
def test_what_can_be_protected_is(method: str, kind: str, rng: np.random.Generator) -> None:
    sizes, options = KINDS[kind]
    problem = problem_of(unsafe_table(rng, sizes, **options))
    pattern = METHODS[method](Plain(problem))
    assert pattern[problem.primary].all()
    assert exposed(problem, pattern) <= hopeless(problem)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10)
@given(rng=generators)
def test_published_cells_stay_published(method: str, rng: np.random.Generator) -> None:
    table = unsafe_table(rng, [3, 4])
    status = table.status.copy()
    status[(status == SAFE) & (rng.random(len(table)) < 0.2)] = FIXED
    problem = problem_of(table.but(status=status))
    pattern = METHODS[method](Plain(problem))
    assert (status[problem.system.cells[pattern]] != FIXED).all()
    assert exposed(problem, pattern) <= hopeless(problem)


@settings(max_examples=20)
@given(generators, st.sampled_from([[5, 4], [3, 3, 3]]))
def test_a_single_cell_gets_the_cheapest_box(rng: np.random.Generator, sizes: list[int]) -> None:
    problem = single(rng, sizes)
    if problem is None:
        return
    pattern = hypercube(Plain(problem))
    assert problem.cost(pattern) <= least_box(problem) + 1e-9


@settings(max_examples=10)
@given(generators)
def test_with_fewer_boxes_everything_is_still_protected(rng: np.random.Generator) -> None:
    problem = problem_of(unsafe_table(rng, [4, 4]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baselines, "MOST_BOXES", 4)
        pattern = hypercube(Plain(problem))
    assert exposed(problem, pattern) <= hopeless(problem)


def test_the_margins_of_one_cell() -> None:
    """Row total, column total and grand total hide a cell of two dimensions."""
    problem = None
    seed = 0
    while problem is None:
        problem = single(np.random.default_rng(seed), [5, 4])
        seed += 1
    pattern = marginal(Plain(problem))
    chosen = problem.table.codes[problem.system.cells[pattern & ~problem.primary]]
    cell = problem.table.codes[problem.table.primary[0]]
    total = [0, 0]
    assert sorted(map(list, chosen.tolist())) == sorted([total, [total[0], int(cell[1])], [int(cell[0]), total[1]]])


def single(rng: np.random.Generator, sizes: list[int]) -> Problem | None:
    """The problem of one inner cell with a small level, None where it has no room."""
    table = unsafe_table(rng, sizes)
    inner = np.flatnonzero((table.codes > 0).all(axis=1) & (table.value > 10))
    if not len(inner):
        return None
    status, level = np.where(table.value > 0, SAFE, FIXED).astype(np.uint8), np.zeros(len(table))
    cell = rng.choice(inner)
    status[cell], level[cell] = 1, 1.0
    return problem_of(table.but(status=status, lpl=level, upl=level, spl=np.zeros(len(table))))


def least_box(problem: Problem) -> float:
    """The cost of the cheapest box of one cell by trying all, infinite if there is none."""
    table, system = problem.table, problem.system
    place = {tuple(codes): at for at, codes in enumerate(table.codes[system.cells].tolist())}
    column = int(problem.cell[0])
    start = table.codes[system.cells[column]].tolist()
    level = float(problem.level[0])
    others = [[code for code in range(len(one.codes)) if code != start[at]] for at, one in enumerate(table.dimensions)]
    least = np.inf
    for partner in np.stack(np.meshgrid(*others, indexing="ij"), axis=-1).reshape(-1, len(start)).tolist():
        corners = [
            tuple(partner[axis] if corner >> axis & 1 else start[axis] for axis in range(len(start)))
            for corner in range(1 << len(start))
        ]
        columns = [place.get(corner, -1) for corner in corners]
        if min(columns) < 0:
            continue
        able: Bools = np.minimum(system.hi[columns], -system.lo[columns]) >= level
        if able.all():
            least = min(least, float(problem.weight[columns].sum()))
    return least


def crossed(seed: int) -> Table:
    """Two hierarchies by a flat dimension; many cells have few contributors."""
    rng, n = np.random.default_rng([seed, 18]), 240
    digits = [rng.integers(0, most, n) for most in (2, 2, 3, 3, 2)]
    frame = pl.DataFrame(
        {
            "activity": ["".join(map(str, codes)) for codes in zip(*digits[:3], strict=True)],
            "region": ["".join(map(str, codes)) for codes in zip(*digits[3:], strict=True)],
            "size": rng.choice(["s", "m"], n, p=[0.7, 0.3]),
            "turnover": np.round(rng.lognormal(4, 1.4, n), 1),
        }
    )
    made = discreet.tabulate(frame, by=["activity@1+1+1", "region@1+1", "size"], value="turnover")
    return discreet.primary(made, threshold=3, dominance=(1, 85))


@pytest.mark.parametrize("seed", range(3))
def test_the_default_never_costs_more_than_a_baseline(seed: int) -> None:
    table = crossed(seed)
    wishes: dict[str, Any] = {"singletons": False, "partial": True}
    cost = discreet.suppress(table, steps=60, **wishes).cost
    for method in METHODS:
        assert cost <= discreet.suppress(table, method=method, **wishes).cost
