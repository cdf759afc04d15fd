"""Linear programs of parts of a table: their moves are moves of the whole, and patterns of them are safe."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attack.system import Floats
from discreet.examples import contributors
from discreet.tables.primary import primary
from discreet.tables.suppression import provers as forcing
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.provers import ConfinedProver, LinearProver, Neighbourhoods, SubtableProver
from discreet.tables.tabulate import tabulate
from discreet.tabular.table import SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from random_tables import tables


def _problem(table: Table) -> Problem | None:
    problem = problem_of(primary(table, p=15, threshold=2))
    return problem if problem.requirements else None


def _objective(moves: Floats, price: Floats, wish: Floats, reward: float, cell: int) -> float:
    """What moves cost, less what is earned for moving as wished, as far as is wanted."""
    wish = wish.copy()
    wish[cell] = 0.0
    along = np.clip(np.sign(wish) * moves, 0.0, np.abs(wish))
    against = np.maximum(-np.sign(wish) * moves, 0.0)
    free = np.arange(len(price)) != cell
    return float((price * np.abs(moves))[free].sum() - reward * along.sum() + reward * against.sum())


def _assert_moves(problem: Problem, moves: Floats, cell: int, amount: float) -> None:
    system = problem.system
    assert moves[cell] == pytest.approx(amount)
    assert (moves >= system.lo).all()
    assert (moves <= system.hi).all()
    rows = np.repeat(np.arange(len(system.relations)), np.diff(system.starts))
    missed = np.bincount(rows, system.coefficients * moves[system.columns], len(system.relations))
    assert np.abs(missed).max(initial=0.0) <= 1e-6 * max(1.0, float(np.abs(moves).max()))


@given(tables(most=5), st.sampled_from([0.0, 0.5]), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_moves_of_a_part_are_moves_of_the_whole_and_no_cheaper(table: Table, worth: float, seed: int) -> None:
    problem = _problem(table)
    if problem is None:
        return
    rng = np.random.default_rng(seed)
    pattern = LinearProgramPattern(problem)
    wishful = np.unique(problem.cell)
    price, wish = pattern._prices(), pattern._targets()
    price[rng.random(len(price)) < 0.1] = np.inf
    reward = worth * max(pattern._typical_weight, 1.0)
    part = SubtableProver(problem, wishful, size=6)
    whole = LinearProver(problem.system, wishful)
    for task in rng.permutation(problem.requirements)[:4].tolist():
        cell, amount = int(problem.cell[task]), float(problem.side[task] * problem.level[task])
        price[cell] = 0.0
        # What cannot move has no target.
        wanted = np.where(np.isfinite(price), wish, 0.0)
        mine, theirs = (one.cheapest(price, cell, amount, wanted, reward) for one in (part, whole))
        # Parts grow until they are the whole.
        assert (mine is None) == (theirs is None)
        if mine is None or theirs is None:
            continue
        _assert_moves(problem, mine, cell, amount)
        finite = np.where(np.isfinite(price), price, 0.0)
        assert (mine[~np.isfinite(price)] == 0.0).all()
        costs = [_objective(one, finite, wanted, reward, cell) for one in (mine, theirs)]
        scale = max(1.0, float((finite * np.abs(theirs)).sum()), reward * float(np.abs(wanted).sum()))
        assert costs[0] >= costs[1] - 1e-6 * scale


@given(tables(most=5), st.integers(3, 200))
@settings(max_examples=30)
def test_a_part_holds_the_cell_and_with_each_code_those_it_is_part_of(table: Table, size: int) -> None:
    problem = _problem(table)
    if problem is None:
        return
    nearby, price = Neighbourhoods(problem), np.where(problem.primary, 0.0, problem.weight)
    cell = int(problem.cell[0])
    kept = nearby.columns(cell, float(problem.level[0]), price, size)
    assert kept[cell]
    codes = problem.table.codes[problem.system.cells].tolist()
    number = {tuple(one): column for column, one in enumerate(codes)}
    for column in np.flatnonzero(kept).tolist():
        for axis, dimension in enumerate(problem.table.dimensions):
            for above in dimension.ancestors[codes[column][axis]].tolist():
                place = number.get((*codes[column][:axis], above, *codes[column][axis + 1 :]))
                assert place is None or kept[place]


@given(tables(most=5), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_patterns_of_parts_stand_the_audit(table: Table, seed: int) -> None:
    problem = _problem(table)
    if problem is None:
        return
    pattern = LinearProgramPattern(problem)
    pattern.__dict__["_prover"] = SubtableProver(problem, np.unique(problem.cell), size=20)
    if pattern.protect(problem.by_level()) == 0:
        for _ in range(2):
            status = problem.table.status.copy()
            status[status == SECONDARY] = SAFE
            status[problem.system.cells[pattern.suppressed & ~problem.primary]] = SECONDARY
            assert audit(problem.table.but(status=status))
            pattern.sweep()


def test_interior_points_find_what_vertices_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forcing, "INTERIOR_VARIABLES", 1)
    monkeypatch.setattr(forcing, "INTERIOR_TARGETS", 1)
    frame, hierarchies = contributors("12x4x8h", sensitive=0.1, zeros=0.25, seed=1)
    by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
    problem = problem_of(primary(tabulate(frame, by=by, value="value", complete=True), p=15))
    pattern = LinearProgramPattern(problem)
    every, wishful = np.ones(len(problem), dtype=np.bool_), np.unique(problem.cell)
    price, wish, reward = pattern._prices(), pattern._targets(), pattern._typical_weight
    for task in problem.by_level()[:5].tolist():
        cell, amount = int(problem.cell[task]), float(problem.side[task] * problem.level[task])
        costs = []
        for interior in (False, True):
            program = ConfinedProver(problem.system, every, wishful, is_interior_allowed=interior)
            moves = program.cheapest(price, cell, amount, wish, reward)
            assert moves is not None
            _assert_moves(problem, moves, cell, amount)
            costs.append(_objective(moves, price, wish, reward, cell))
        assert costs[1] == pytest.approx(costs[0], rel=1e-6)
