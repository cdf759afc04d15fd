"""Operators make children by plain functions."""

from collections.abc import Sequence

import numpy as np
import pytest

from discreet.evolution.variation import Operator, proportions


def join(parents: Sequence[str], _rng: np.random.Generator) -> str:
    return "".join(parents)


RNG = np.random.default_rng(0)


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
