"""Bounds by cuts that know directions: no pattern costs less, rounds only raise them, and they go on from any round."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.evolution.process import State
from discreet.tables.suppression import directed_bounds
from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.directed_bounds import DirectedBounds, can_be_directed
from discreet.tables.suppression.problem import Problem, SizeClasses, settle_ranges
from discreet.tables.suppression.search import families, programs
from random_tables import generators
from tables.suppression.exact.test_branch_and_cut import KINDS, least_cost
from tables.suppression.exact.test_directed_cuts import directed_problem
from tables.suppression.test_slices import check, possible, search

MIDDLING = SizeClasses(lattice=50, tiny=50)


def rounds(bounds: DirectedBounds, count: int) -> list[float]:
    """The bound before the first round and after each of some."""
    values = [bounds.value]
    for _ in range(count):
        for _ in bounds.refine():
            pass
        values.append(bounds.value)
    return values


def prepared(problem: Problem, cost: float) -> DirectedBounds:
    """Bounds that know of a pattern that costs so much."""
    bounds = DirectedBounds(problem)
    for _ in bounds.prepare(cost):
        pass
    return bounds


@pytest.mark.parametrize("out_of_question", [0.5, 0.0])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4, deadline=None)
@given(rng=generators)
def test_no_pattern_costs_less(kind: str, out_of_question: float, rng: np.random.Generator) -> None:
    problem = directed_problem(rng, kind)
    problem, lost = settle_ranges(problem)
    problem = problem.without(lost)
    if not can_be_directed(problem) or not problem.requirements:
        return
    least = least_cost(problem)
    with pytest.MonkeyPatch.context() as patch:
        # With nothing all columns are left out that may be.
        patch.setattr(directed_bounds, "OUT_OF_QUESTION", out_of_question)
        values = rounds(prepared(problem, max(least, 1e-3)), 6)
    assert values == sorted(values)
    assert values[-1] <= least * (1 + 1e-9)


def test_it_is_higher_than_a_bound_that_does_not_know_directions() -> None:
    problem = possible("9x3x7h", 1)
    found = search(problem, MIDDLING)
    for _ in range(10):
        next(found.epochs())
    bounds = prepared(problem, found.cost)
    values = rounds(bounds, 6)
    assert lower_bound(problem, 256) < values[-1] <= found.cost
    assert values[0] < values[-1]
    assert ((bounds.shares >= 0.0) & (bounds.shares <= 1.0)).all()
    assert (bounds.shares[problem.primary] == 1.0).all()


@pytest.mark.parametrize(("kind", "seed"), [("6x5x4", 1), ("5x4x4", 2)])
def test_what_is_left_out_still_counts(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nearly all is left out that may be, some of which patterns need that cost little more than the bound.
    monkeypatch.setattr(directed_bounds, "OUT_OF_QUESTION", 0.005)
    problem = possible(kind, seed)
    found = search(problem, SizeClasses())
    for _ in range(40):
        next(found.epochs())
    bounds = prepared(problem, found.cost)
    rounds(bounds, 2)
    assert not bounds._able.all()
    held = bounds._held
    assert held.master.solve()
    assert bounds.value == bounds._beyond < held.master.bound()[0] / held.scale
    assert bounds.value <= found.cost


def test_rounds_go_on_from_any_other() -> None:
    problem = possible("8x9hx4", 2)
    cost = float(problem.weight.sum())
    whole = prepared(problem, cost)
    saved: list[State] = []
    for _ in range(5):
        saved.append({key: copy.copy(value) for key, value in whole.save().items()})
        rounds(whole, 1)
    for at in (0, 2, 4):
        resumed = DirectedBounds(problem)
        resumed.load(saved[at])
        values = rounds(resumed, 5 - at)
        assert values[-1] == whole.value
        assert (resumed.shares == whole.shares).all()


def test_a_search_is_led_by_them_and_goes_on_from_any_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "NEAR", 0.0)
    monkeypatch.setattr(programs, "FAMILIES_AFTER", (1, 2))
    monkeypatch.setattr(families, "MEMBERS", 3)
    monkeypatch.setattr(families, "CROSSINGS", 2)
    monkeypatch.setattr(directed_bounds, "HEAVIEST", 3)
    problem = possible("8x9x4", 2)
    whole, saved, bounds = search(problem, MIDDLING), [], []
    assert whole._directed is not None
    while whole._families.begun < 3:  # one after the rounds
        saved.append(whole.save())
        next(whole.epochs())
        bounds.append(whole.bound or 0.0)
    check(problem, whole.answer())
    assert bounds == sorted(bounds)
    assert 0.0 < bounds[-1] <= whole.cost
    for at in (3 * len(saved) // 4, len(saved) - 2):
        resumed = search(problem, MIDDLING)
        resumed.load(saved[at])
        for _ in range(len(saved) - at):
            next(resumed.epochs())
        assert (resumed.cost, resumed.bound) == (whole.cost, whole.bound)
        assert (resumed.answer() == whole.answer()).all()


def test_a_search_that_a_weak_relaxation_would_lead_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = possible("8x9x4", 2)
    for near, is_led in ((0.0, True), (np.inf, False)):
        monkeypatch.setattr(programs, "NEAR", near)
        found = search(problem, MIDDLING)
        repairs = np.inf
        while found._repairs <= repairs and not found._turns_of_wholes:
            next(found.epochs())
            repairs = min(repairs, found._repairs if found._rebuilds else np.inf)
        assert (found._turns_of_wholes > 0) == is_led
        assert found.bound is None
