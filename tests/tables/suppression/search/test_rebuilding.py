"""Building anew and repairs in turns: never dearer, always safe, the same again from the same seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attack.system import Bools
from discreet.tables.primary import primary
from discreet.tables.suppression import program_pattern as built
from discreet.tables.suppression.network_pattern import random_state
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.program_pattern import Linear
from discreet.tables.suppression.search.rebuilding import Round, Turns
from discreet.tables.suppression.search.search import Search
from discreet.tabular.files import jj
from discreet.tabular.table import SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from tabulated import random_table, tables

TURNS = 60


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
        if problem.tasks and not Linear(problem).protect(problem.by_level()):
            return problem
    raise AssertionError("no such table")


def to_the_end(turn: Round) -> int:
    steps = 0
    while not turn.finished:
        turn.advance()
        steps += 1
    return steps


@given(table=tables(most=4), seed=st.integers(0, 2**32 - 1), rising=st.booleans())
@settings(max_examples=15)
def test_a_round_is_never_dearer_and_leaves_nothing_open(table: Table, seed: int, *, rising: bool) -> None:
    problem = problem_of(primary(table, p=15, threshold=2))
    pattern = Linear(problem)
    if not problem.tasks or pattern.protect(problem.by_level()):
        return
    before = pattern.cost
    turn = Round(pattern, random_state(seed), rising=rising)
    assert to_the_end(turn) <= 2 * problem.tasks + 2
    assert not len(pattern.open)
    assert pattern.cost <= before
    assert turn.gain == pytest.approx(before - pattern.cost)
    assert audit(released(problem, pattern.suppressed))


@pytest.mark.parametrize("seed", range(4))
def test_turns_of_a_lattice_are_safe_whenever_they_pause(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "LATTICE", 1)
    problem = cube(seed)
    ends = []
    for _ in range(2):
        pattern = Linear(problem)
        assert not pattern.protect(problem.by_level())
        turns, state, cost = Turns(pattern), random_state(seed), pattern.cost
        for _ in range(TURNS):
            turns.advance(state, 3, 0.0)
            if not turns.busy:
                assert pattern.cost <= cost
                cost = pattern.cost
                assert audit(released(problem, pattern.suppressed))
            else:
                # What is taken by now and what the open tasks rest on together.
                assert audit(released(problem, pattern.pattern))
        ends.append(pattern.pattern)
    assert (ends[0] == ends[1]).all()


def test_a_search_has_a_safe_answer_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "LATTICE", 1)
    problem = cube(7)
    search = Search().begin(problem, Linear(problem), 1)
    cost = np.inf
    for _ in range(40):
        search.advance()
        assert search.cost <= cost
        cost = search.cost
        assert problem.cost(search.answer()) == pytest.approx(cost)
        assert audit(released(problem, search.answer()))


def test_rounds_find_what_one_pass_does_not(table_reference) -> None:  # type: ignore[no-untyped-def]
    problem = problem_of(jj.read(table_reference("jj/t10x10x10.jj.gz")))
    pattern = Linear(problem)
    assert not pattern.protect(problem.by_level())
    before = pattern.cost
    state = random_state(1)
    for rising in (True, False):
        to_the_end(Round(pattern, state, rising=rising))
    assert pattern.cost < before
    assert audit(released(problem, pattern.suppressed))
