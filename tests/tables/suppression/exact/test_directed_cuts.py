"""Cuts that know directions hold for every pattern that protects the requirement, and forbid what does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from discreet.attack.system import Bools
from discreet.tables.suppression.exact.cuts import Cut
from discreet.tables.suppression.exact.directed_cuts import DirectedCuts, has_directions
from discreet.tables.suppression.problem import Problem
from random_tables import generators
from tables.suppression.exact.test_branch_and_cut import KINDS, possible, small_problem
from tables.suppression.plain_protector import Plain

ROUNDS = 4


def directed_problem(rng: np.random.Generator, kind: str) -> Problem:
    """A small problem whose cells cannot move without end."""
    problem = small_problem(rng, kind)
    system, most = problem.system, 3.0 * float(np.abs(problem.table.value).max(initial=1.0))
    bounded = replace(problem, system=system.within(np.maximum(system.lo, -most), np.minimum(system.hi, most)))
    assert has_directions(bounded)
    return bounded


def cuts_of(problem: Problem, requirement: int, able: Bools, rng: np.random.Generator) -> list[Cut]:
    """Cuts of a requirement at several shares, with the inequalities of those before."""
    separator = DirectedCuts(problem, requirement, able)
    found = []
    for _ in range(ROUNDS):
        share = np.where(problem.primary, 1.0, rng.random(len(problem)) * (rng.random(len(problem)) < 0.7))
        found.append(separator.cut(np.where(able, share, 0.0)))
    return [cut for cut in found if cut is not None]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8, deadline=None)
@given(rng=generators)
def test_every_pattern_that_protects_a_requirement_satisfies_its_cuts(kind: str, rng: np.random.Generator) -> None:
    problem = directed_problem(rng, kind)
    attacker = Plain(problem)
    free = np.flatnonzero(~problem.primary)
    able = problem.primary | (rng.random(len(problem)) < 0.9)
    for requirement in [int(one) for one in problem.by_level()[:3] if possible(problem, int(one))]:
        cuts = cuts_of(problem, requirement, able, rng)
        for _ in range(40):
            pattern = problem.primary.copy()
            pattern[free] = rng.random(len(free)) < rng.uniform(0.2, 1.0)
            pattern &= able
            if attacker.moves(np.array([requirement]), pattern) is not None:
                assert all(cut.lacks(pattern.astype(np.float64)) <= 1e-6 for cut in cuts)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_that_does_not_protect_a_requirement_violates_a_cut_of_it(kind: str) -> None:
    violated = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = directed_problem(rng, kind)
        attacker, every = Plain(problem), np.ones(len(problem), dtype=np.bool_)
        for requirement in [int(one) for one in problem.by_level()[:2] if possible(problem, int(one))]:
            share = problem.primary.astype(np.float64)
            if attacker.moves(np.array([requirement]), problem.primary) is None:
                cut = DirectedCuts(problem, requirement, every).cut(share)
                assert cut is not None
                assert cut.lacks(share) > 1e-6
                violated += 1
    assert violated


def test_inequalities_of_the_shares_before_make_cuts_deeper() -> None:
    gains = []
    for seed in range(6):
        problem = directed_problem(np.random.default_rng(seed), "cube")
        requirement = int(problem.by_level()[0])
        if possible(problem, requirement):
            separator = DirectedCuts(problem, requirement, np.ones(len(problem), dtype=np.bool_))
            lacking = []
            for _ in range(4):
                separator.cut(problem.primary.astype(np.float64))
                lacking.append(separator.lacking)
            assert lacking[-1] >= lacking[0] * (1 - 1e-3)
            gains.append(lacking[-1] > lacking[0] * 1.01)
    assert any(gains)
