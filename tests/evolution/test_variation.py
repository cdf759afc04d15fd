"""Operators combine plain functions."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from discreet.evolution.variation import Operator, any_of, in_turn, proportions, sometimes


def join(parents: Sequence[str], _rng: np.random.Generator) -> str:
    return "".join(parents)


def loud(parents: Sequence[str], _rng: np.random.Generator) -> str:
    return parents[0].upper()


def double(parents: Sequence[str], _rng: np.random.Generator) -> str:
    return parents[0] * 2


RNG = np.random.default_rng(0)


def test_one_after_the_other() -> None:
    assert in_turn(join, loud, double)(["a", "b"], RNG) == "ABAB"


def test_sometimes_leaves_the_first_parent() -> None:
    assert sometimes(join, 0.0)(["a", "b"], RNG) == "a"
    assert sometimes(join, 1.0)(["a", "b"], RNG) == "ab"
    made = Counter(sometimes(join, 0.3)(["a", "b"], RNG) for _ in range(4000))
    assert made["ab"] / 4000 == pytest.approx(0.3, abs=0.03)


def test_any_of_chooses_by_weight() -> None:
    made = Counter(any_of([loud, double, join], [1, 3, 0])(["a"], RNG) for _ in range(4000))
    assert made["aa"] / 4000 == pytest.approx(0.75, abs=0.03)
    assert made.total() == made["aa"] + made["A"]
    assert {any_of([loud, double])(["a"], RNG) for _ in range(50)} == {"A", "aa"}


def test_an_operator_gives_its_children_in_a_list() -> None:
    assert Operator("join", join, parents=2).apply(["a", "b"], RNG) == ["ab"]
    twins: Operator[str] = Operator("twins", lambda parents, rng: [*parents], parents=2, children=2)
    assert twins.apply(["a", "b"], RNG) == ["a", "b"]
    with pytest.raises(ValueError, match="the operator twins made 3 children instead of 2"):
        twins.apply(["a", "b", "c"], RNG)


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [1.0, float("nan")]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        proportions(weights)


def test_a_wrong_rate_names_itself() -> None:
    with pytest.raises(ValueError, match=r"rate is 1.5; it must be a finite number from 0 to 1"):
        sometimes(join, 1.5)
    with pytest.raises(ValueError, match="there are 2 weights for 1 functions"):
        any_of([join], [1, 2])
