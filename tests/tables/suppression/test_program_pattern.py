"""Patterns by linear programs: all that can be protected is, as the audit says, and cleaning up keeps it so."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attack.program import Program
from discreet.kernels.random import seeded
from discreet.tables.primary import primary
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tabular.files import jj
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from random_tables import tables


def _with(problem: Problem, suppressed: np.ndarray) -> Table:
    status = problem.table.status.copy()
    status[status == SECONDARY] = SAFE
    status[problem.system.cells[suppressed & ~problem.primary]] = SECONDARY
    return problem.table.but(status=status)


def _possible(problem: Problem) -> np.ndarray:
    """Which tasks can be proven with everything suppressed, by a program for each."""
    program = Program(problem.system, vertices=False)
    found = []
    for cell, side, level in zip(problem.cell.tolist(), problem.side.tolist(), problem.level.tolist(), strict=True):
        moved = program.furthest(cell, side, level, interior=False)
        found.append(moved is not None and side * moved[cell] >= level * (1 - 1e-7))
    return np.array(found, dtype=np.bool_)


def _problem(table: Table, share: float, rng: np.random.Generator) -> Problem | None:
    flagged = primary(table, p=15, threshold=2)
    status = flagged.status.copy()
    status[(status == SAFE) & (rng.random(len(status)) < share)] = FIXED
    problem = problem_of(flagged.but(status=status))
    return problem if problem.requirements else None


@given(tables(most=5), st.sampled_from([0.0, 0.2]), st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_all_that_can_be_protected_is_and_the_rest_is_counted(table: Table, share: float, seed: int) -> None:
    problem = _problem(table, share, np.random.default_rng(seed))
    if problem is None:
        return
    possible = _possible(problem)
    pattern = LinearProgramPattern(problem)
    failed = pattern.protect(problem.by_level())
    assert failed == int((~possible).sum())
    assert set(pattern.open.tolist()) == set(np.flatnonzero(~possible).tolist())
    costs = [pattern.cost]
    pattern.clean()
    costs.append(pattern.cost)
    costs.append(pattern.improve(seeded(seed, 0), 2, 3, 0.0))
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(costs))
    assert pattern.cost == pytest.approx(costs[-1])
    assert pattern.suppressed[problem.primary].all()
    if not failed:
        assert audit(_with(problem, pattern.suppressed))
    assert len(pattern.open) == failed


@given(tables(most=4), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_boxes_protect_as_well(table: Table, seed: int) -> None:
    problem = _problem(table, 0.0, np.random.default_rng(seed))
    if problem is None:
        return
    pattern = LinearProgramPattern(problem)
    if pattern.protect_by_boxes(problem.by_level()) == 0:
        assert audit(_with(problem, pattern.suppressed))
        before = pattern.cost
        pattern.sweep()
        assert pattern.cost <= before
        assert audit(_with(problem, pattern.suppressed))


@given(tables(most=2, linked=False), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_networks_cost_about_what_flows_cost(table: Table, seed: int) -> None:
    problem = _problem(table, 0.0, np.random.default_rng(seed))
    if problem is None:
        return
    if not problem.is_network:
        return
    both = LinearProgramPattern(problem), NetworkPattern(problem)
    failed = [one.protect(problem.by_level()) for one in both]
    assert failed[0] == failed[1]
    for one in both:
        one.clean()
    assert both[0].cost <= 1.5 * both[1].cost + 1e-9
    assert both[1].cost <= 1.5 * both[0].cost + 1e-9


def test_a_run_can_be_repeated(table_reference) -> None:  # type: ignore[no-untyped-def]
    table = jj.read(table_reference("jj/t10x10x10.jj.gz"))
    problem = problem_of(table)
    patterns = []
    for _ in range(2):
        one = LinearProgramPattern(problem)
        assert one.protect(problem.by_level()) == 0
        one.sweep()
        one.improve(seeded(1, 0), 2, 3, 0.0)
        patterns.append(one.suppressed)
    assert (patterns[0] == patterns[1]).all()
    assert audit(_with(problem, patterns[0]))
    assert problem.cost(patterns[0]) <= 450_592


def test_a_large_lattice_is_protected(table_reference) -> None:  # type: ignore[no-untyped-def]
    problem = problem_of(jj.read(table_reference("jj/t15x15x15.jj.gz")))
    pattern = LinearProgramPattern(problem)
    assert pattern.protect(problem.by_level()) == 0
    assert audit(_with(problem, pattern.suppressed))
    assert (problem.table.status[problem.system.cells[problem.primary]] == PRIMARY).all()
