"""No pattern costs less than the bound, which is high enough to tell something."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import discreet
from discreet.examples import contributors
from discreet.tables.primary import primary
from discreet.tables.suppression.bounds import Bounds
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.exact.branch_and_cut import Proof
from discreet.tables.suppression.problem import Problem, problem_of, settle_ranges
from discreet.tables.tabulate import tabulate
from discreet.tabular.table import Table
from random_tables import generators
from tables.suppression.exact.test_branch_and_cut import KINDS as SMALL
from tables.suppression.exact.test_branch_and_cut import least_cost, small_problem
from unsafe_tables import KINDS, case

ROUNDS = 3


def rising(problem: Problem) -> list[float]:
    """The bounds of a problem: at equal prices, after some steps, and with more and more cuts."""
    bounds = Bounds(problem)
    found = [bounds.value]
    bounds.raise_prices(60)
    found.append(bounds.value)
    assert (bounds.shares[problem.primary] == 1.0).all()
    assert ((bounds.shares >= 0.0) & (bounds.shares <= 1.0)).all()
    for _ in range(ROUNDS):
        bounds.add_cuts()
        bounds.raise_prices(60)
        found.append(bounds.value)
    return found


def possible(problem: Problem) -> Problem:
    """The problem without what no pattern protects."""
    problem, lost = settle_ranges(problem)
    return problem.without(lost)


@pytest.mark.parametrize("kind", SMALL)
@settings(max_examples=5, deadline=None)
@given(rng=generators)
def test_no_pattern_costs_less(kind: str, rng: np.random.Generator) -> None:
    problem = possible(small_problem(rng, kind))
    values = rising(problem)
    assert values == sorted(values)
    least = least_cost(problem)
    assert values[-1] <= least * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_no_pattern_that_the_exact_method_finds_costs_less(kind: str) -> None:
    for seed in range(4):
        one = case(7_000 + seed, kind)
        problem = possible(problem_of(one.table, frozen=one.frozen))
        exact = Components(Proof(), problem, 1)
        for _ in zip(range(60), exact.epochs(), strict=False):
            pass
        value = sum(rising(part)[-1] for part in problem.components())
        # Whatever it has found by then is a pattern that protects everything, and mostly the optimum.
        assert value <= exact.cost * (1 + 1e-7) + 1e-9, f"seed {seed}"


def sample(kind: str, seed: int) -> Table:
    frame, hierarchies = contributors(kind, sensitive=0.1, zeros=0.25, seed=seed)
    by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
    return primary(tabulate(frame, by=by, value="value", complete=True), p=15)


@pytest.mark.parametrize(("kind", "share"), [("8x6x5", 0.4), ("4x3x3x3", 0.2), ("6hx6h", 0.2)])
def test_every_search_says_how_far_from_the_least_cost_it_can_be(kind: str, share: float) -> None:
    found = discreet.suppress(sample(kind, 2), steps=40, seed=1)
    assert found.bound is not None
    assert share * found.cost <= found.bound["value"] <= found.cost
    assert found.bound["gap"] == pytest.approx(100 * (found.cost / found.bound["value"] - 1))


def test_a_method_that_proves_nothing_has_a_bound_too() -> None:
    table = sample("8x6x5", 1)
    found = discreet.suppress(table, method="hypercube", seed=1)
    assert found.bound is not None
    assert 0 < found.bound["value"] <= discreet.suppress(table, steps=60, seed=1).cost
