"""The search by linear programs: always safe, never costlier, the same again from the same seed or a checkpoint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attack.system import Bools
from discreet.tables.primary import primary
from discreet.tables.suppression.baselines import hypercube
from discreet.tables.suppression.problem import SIZE_CLASSES, Problem, problem_of
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.search.programs import LinearProgramSearch
from discreet.tabular.files import jj
from discreet.tabular.table import SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from random_tables import random_table, tables

LATTICE = SIZE_CLASSES._replace(lattice=1)
LARGE = SIZE_CLASSES._replace(large=1)


def released(problem: Problem, suppressed: Bools) -> Table:
    status = problem.table.status.copy()
    status[status == SECONDARY] = SAFE
    status[problem.system.cells[suppressed & ~problem.primary]] = SECONDARY
    return problem.table.but(status=status)


def cube(seed: int) -> Problem:
    """A full table of three dimensions with unsafe cells that can be protected."""
    for at in range(seed, seed + 1_000_000, 100_000):
        table = random_table(np.random.default_rng(at), [4, 4, 3], complete=True)
        problem = problem_of(primary(table, p=15, threshold=2))
        if problem.requirements and not LinearProgramPattern(problem).protect(problem.by_level()):
            return problem
    raise AssertionError("no such table")


def begun(pattern: LinearProgramPattern, seed: int = 1) -> LinearProgramSearch:
    return LinearProgramSearch(pattern, seed, most=4, heat=0.01)


@given(table=tables(most=4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_a_rebuild_is_never_costlier_and_leaves_nothing_open(table: Table, seed: int) -> None:
    problem = problem_of(primary(table, p=15, threshold=2))
    pattern = LinearProgramPattern(problem)
    if not problem.requirements or pattern.protect(problem.by_level()):
        return
    before = pattern.cost
    search = begun(pattern, seed)
    for _ in range(2):  # small levels first, and last
        assert len(list(search._rebuild())) <= 2 * problem.requirements + 3
        assert not len(pattern.open)
        assert pattern.cost <= before
        before = pattern.cost
        assert audit(released(problem, pattern.suppressed))


@pytest.mark.parametrize("sizes", [SIZE_CLASSES, LATTICE, LARGE], ids=["programs", "lattice", "large"])
@pytest.mark.parametrize("seed", range(2))
def test_a_search_has_a_safe_answer_at_every_step(seed: int, sizes: object) -> None:
    problem = cube(seed)
    ends = []
    for again in (False, True):
        search = begun(LinearProgramPattern(problem, sizes), seed)  # type: ignore[arg-type]
        cost = np.inf
        for _, _ in zip(range(60), search.epochs(), strict=False):
            assert search.cost <= cost
            cost = search.cost
            assert problem.cost(search.answer()) == pytest.approx(cost)
            assert again or audit(released(problem, search.answer()))
        ends.append(search.answer())
    assert (ends[0] == ends[1]).all()


@pytest.mark.parametrize("seed", range(4))
def test_crossed_hierarchies_are_never_costlier_than_by_hypercubes(seed: int) -> None:
    table = random_table(np.random.default_rng(seed), [6, 5, 2], hierarchical=True)
    problem = problem_of(primary(table, p=15, threshold=3))
    plain = problem.cost(hypercube(LinearProgramPattern(problem, LARGE)))
    search = begun(LinearProgramPattern(problem, LARGE), seed)
    for _ in search.epochs():
        if search._swept:  # the first build has ended
            break
    assert search.cost <= plain * (1 + 1e-12)
    assert audit(released(problem, search.answer()))


def test_rebuilds_find_what_one_pass_does_not(table_reference) -> None:  # type: ignore[no-untyped-def]
    problem = problem_of(jj.read(table_reference("jj/t10x10x10.jj.gz")))
    pattern = LinearProgramPattern(problem)
    assert not pattern.protect(problem.by_level())
    before = pattern.cost
    search = begun(pattern)
    for _ in range(2):
        list(search._rebuild())
    assert pattern.cost < before
    assert audit(released(problem, pattern.suppressed))


def test_a_build_that_the_relaxation_leads_is_cheaper() -> None:
    led: list[float] = []
    plain: list[float] = []
    for seed in range(6):
        problem = cube(seed)
        for shares, costs in ((None, led), (np.zeros(len(problem)), plain)):
            search = begun(LinearProgramPattern(problem))
            if shares is not None:
                search.__dict__["_first_shares"] = shares
            for _ in search.epochs():
                if search._swept:  # the first build has ended
                    break
            costs.append(search.cost)
            assert audit(released(problem, search.answer()))
    assert sum(led) < sum(plain)
