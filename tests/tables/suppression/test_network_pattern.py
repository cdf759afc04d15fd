"""Patterns of networks: protected by every step, cleaned up to what is needed, and never costlier."""

import numpy as np
import pytest

from discreet.examples.contributors import contributors
from discreet.kernels.flows.least_cost import goes_by_hubs
from discreet.kernels.random import seeded
from discreet.tables.primary import primary
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.tabulate import tabulate
from discreet.tabular.table import FIXED, PRIMARY, SECONDARY
from discreet.verification.audit import audit
from random_tables import random_table


def flat_problem(seed: int) -> Problem:
    """A table of two dimensions, one of them hierarchical at times, with random unsafe and fixed cells."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, 2, hierarchical=False, second=False, linked=False)
    status = np.where(rng.random(len(table)) < 0.2, PRIMARY, 0).astype(np.uint8)
    status[(rng.random(len(table)) < 0.1) & (status == 0)] = FIXED
    status[table.value == 0] = FIXED
    level = np.where(status == PRIMARY, np.maximum(np.round(0.15 * table.value), 1.0), 0.0)
    down = np.minimum(level, table.value)
    return problem_of(table.but(status=status, upl=level, lpl=down, cost=np.maximum(table.value, 1.0)))


def flows_of(problem: Problem) -> NetworkPattern:
    assert problem.is_network
    return NetworkPattern(problem)


def protected(problem: Problem, flows: NetworkPattern) -> bool:
    """Whether the audit finds every primary cell protected whose tasks are not open."""
    table = problem.table
    status = table.status.copy()
    status[problem.system.cells[flows.suppressed & ~problem.primary]] = SECONDARY
    lost = problem.system.cells[problem.cell[flows.open]]
    status[lost] = SECONDARY
    if not (status == PRIMARY).any():
        return True
    return audit(table.but(status=status, upl=_gone(table.upl, lost), lpl=_gone(table.lpl, lost))).passed


def _gone(levels: np.ndarray, cells: np.ndarray) -> np.ndarray:
    kept = levels.copy()
    kept[cells] = 0.0
    return kept


@pytest.mark.parametrize("seed", range(24))
def test_every_step_keeps_every_cell_protected(seed: int) -> None:
    problem = flat_problem(seed)
    flows = flows_of(problem)
    failed = flows.protect(problem.by_level())
    assert failed == len(flows.open)
    assert protected(problem, flows)
    before, lost = flows.cost, set(flows.open.tolist())
    flows.clean()
    assert flows.cost <= before
    assert set(flows.open.tolist()) == lost
    assert protected(problem, flows)
    cleaned = flows.cost
    if not lost:
        assert flows.improve(seeded(seed, 0), 20, 3, 0.0) <= cleaned
        assert not len(flows.open)
        assert protected(problem, flows)


def test_a_long_table_with_one_very_large_contribution_is_protected_and_followed_from_where_it_was_kept() -> None:
    frame, _ = contributors("200x5", sensitive=0.1, zeros=0.25, seed=3)
    problem = problem_of(primary(tabulate(frame, by=frame.columns[:-1], value="value", complete=True), p=15))
    flows = flows_of(problem)
    # A single path carries a small part of it only.
    assert problem.level.max() > 1_000 * np.median(problem.level)
    assert goes_by_hubs(flows._graph, flows._room, False)
    order = problem.by_level()
    flows.protect(order[:1])
    again = flows.twin()
    again.load(flows.save())
    for one in (flows, again):
        one.protect(order)
        assert not len(one.open)
    assert protected(problem, flows)
    assert np.array_equal(flows.suppressed, again.suppressed)


@pytest.mark.parametrize("seed", range(10))
def test_after_the_clean_up_every_secondary_cell_is_needed(seed: int) -> None:
    problem = flat_problem(seed)
    flows = flows_of(problem)
    if flows.protect(problem.by_level()):
        return
    flows.clean()
    pattern = flows.suppressed
    for column in np.flatnonzero(pattern & ~problem.primary):
        status = problem.table.status.copy()
        rest = pattern & ~problem.primary
        rest[column] = False
        status[problem.system.cells[rest]] = SECONDARY
        assert not audit(problem.table.but(status=status)).passed


@pytest.mark.parametrize("seed", range(10))
def test_a_pattern_that_protects_is_taken_over_without_more(seed: int) -> None:
    problem = flat_problem(seed)
    flows = flows_of(problem)
    if flows.protect(problem.by_level()):
        return
    pattern, cost = flows.suppressed, flows.cost
    flows.start(pattern)
    assert flows.protect(problem.by_level()) == 0
    assert flows.cost == cost
    assert np.array_equal(flows.suppressed, pattern)


def test_the_same_seed_gives_the_same_pattern() -> None:
    def run() -> tuple[float, bytes]:
        problem = flat_problem(3)
        flows = flows_of(problem)
        flows.protect(problem.by_level())
        flows.clean()
        flows.improve(seeded(7, 0), 50, 4, 0.05)
        return flows.cost, flows.suppressed.tobytes()

    assert run() == run()


def test_the_published_tables_cost_no_more_than_the_peers(table_reference: object) -> None:
    from discreet.tabular.files import jj

    for name, bar in (("jj/t200x5.jj", 17_349.0), ("jj/t200x50.jj", 18_115.0)):
        problem = problem_of(jj.read(table_reference(name)))  # type: ignore[operator]
        flows = flows_of(problem)
        assert flows.protect(problem.by_level()) == 0
        flows.clean()
        assert flows.improve(seeded(1, 0), 20, 3, 0.0) <= bar
        assert protected(problem, flows)


@pytest.mark.parametrize("seed", range(10))
def test_the_pool_of_certificates_grows_when_it_is_full(seed: int) -> None:
    problem = flat_problem(seed)
    ample, scarce = flows_of(problem), flows_of(problem)
    # Room for no more than one certificate of all cells: the second one has to wait for more.
    scarce._pattern = scarce._pattern._replace(pool=np.zeros(len(problem) + 1, dtype=np.int64))
    for flows in (ample, scarce):
        flows.start()
        flows.protect(problem.by_level())
    assert (scarce.suppressed == ample.suppressed).all()
    assert scarce.open.tolist() == ample.open.tolist()
    scarce.clean()
    assert protected(problem, scarce)
    scarce.improve(seeded(seed, 0), 20, 3, 0.0)
    assert protected(problem, scarce)
