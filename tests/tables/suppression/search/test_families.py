"""Families are begun, crossed and merged in turn, and go on from any step as they were."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.attack.system import Bools
from discreet.kernels.random import seeded
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.suppression.search import families as rooms
from discreet.tables.suppression.search.families import Families, Stage
from tables.suppression.plain_protector import unsafe_table


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    for name, value in {
        "MEMBERS": 6,
        "ELITES": 4,
        "CROSSINGS": 8,
        "MERGINGS": 5,
        "IDLE_CROSSINGS": 3,
        "CHAMPIONS": 2,
    }.items():
        monkeypatch.setattr(rooms, name, value)
    return problem_of(unsafe_table(np.random.default_rng(1), [5, 4, 3]))


def some(problem: Problem, rng: np.random.Generator) -> Bools:
    found: Bools = problem.primary | (rng.random(len(problem)) < rng.random())
    return found


def breed(families: Families, problem: Problem, rng: np.random.Generator, most: int) -> list[tuple[Stage, float]]:
    """Build by chance what is to come; tell each stage and what the cheapest elite cost then."""
    seen = []
    while families.begun < most or families.stage != Stage.RESTING:
        if families.stage == Stage.RESTING:
            families.begin()
        costs = [problem.cost(one) for one in families._elites.patterns]
        assert not costs or max(costs) == families.most
        seen.append((families.stage, min(costs, default=np.inf)))
        families.take(some(problem, rng) if rng.random() < 0.8 else None)
    return seen


def test_a_family_grows_is_crossed_and_meets_the_champions_before(problem: Problem) -> None:
    families = Families(problem)
    stages = [stage for stage, _ in breed(families, problem, np.random.default_rng(2), 2)]
    turns = [stage for at, stage in enumerate(stages) if at == 0 or stages[at - 1] != stage]
    assert turns == [Stage.GROWING, Stage.CROSSING, Stage.GROWING, Stage.CROSSING, Stage.MERGING]
    assert stages.count(Stage.GROWING) == 12
    assert 6 <= stages.count(Stage.CROSSING) <= 16
    assert 3 <= stages.count(Stage.MERGING) <= 5
    assert families.builds == len(stages)


def test_elites_get_cheaper_within_a_stage_and_champions_are_the_best(problem: Problem) -> None:
    families, rng = Families(problem), np.random.default_rng(3)
    best = np.inf
    for _ in range(4):
        seen = breed(families, problem, rng, families.begun + 1)
        for (stage, before), (later, least) in itertools.pairwise(seen):
            assert stage != later or least <= before
        champions = [problem.cost(one) for one in families._champions.patterns]
        # What was best in all families is still among them.
        best = min(best, *(least for _, least in seen))
        assert champions == sorted(champions)
        assert len(champions) == 2
        assert champions[0] <= best


def test_a_family_without_two_members_is_done(problem: Problem) -> None:
    families, one = Families(problem), some(problem, np.random.default_rng(4))
    families.begin()
    for _ in range(6):
        assert families.stage == Stage.GROWING
        families.take(one)
    assert families.stage == Stage.RESTING


def test_it_goes_on_from_any_step(problem: Problem) -> None:
    whole, rng, saved = Families(problem), np.random.default_rng(5), []
    built = [some(problem, rng) if rng.random() < 0.8 else None for _ in range(50)]
    for one in built:
        saved.append(whole.save())
        if whole.stage == Stage.RESTING:
            whole.begin()
        whole.take(one)
    for at in (0, 4, 9, 14, 30, 45):
        resumed = Families(problem)
        resumed.load(saved[at])
        for one in built[at:]:
            if resumed.stage == Stage.RESTING:
                resumed.begin()
            resumed.take(one)
        assert (resumed.stage, resumed.begun, resumed.builds) == (whole.stage, whole.begun, whole.builds)
        assert {key: np.asarray(value).tolist() for key, value in resumed.save().items()} == {
            key: np.asarray(value).tolist() for key, value in whole.save().items()
        }
        if len(whole._elites) > 1:
            ours, theirs = (one.pair(seeded(1, 0)) for one in (resumed, whole))
            assert all((mine == other).all() for mine, other in zip(ours, theirs, strict=True))


def test_a_state_that_cannot_be_is_refused(problem: Problem) -> None:
    families = Families(problem)
    for change in ({"stage": int(Stage.CROSSING)}, {"stage": 9}, {"done": -1}):
        with pytest.raises(ValueError, match=r"elites|Stage|done"):
            families.load(families.save() | change)
