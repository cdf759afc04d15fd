"""The best patterns of a search, each of another cost, from which pairs are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.attack.system import Bools
from discreet.evolution.checks import integers
from discreet.evolution.process import State
from discreet.kernels.arrays import Words
from discreet.kernels.random import below
from discreet.tables.suppression.problem import Problem


class Elites:
    """Some patterns of a problem.

    Parameters
    ----------
    problem : Problem
        The problem.
    most : int
        How many to keep.

    Attributes
    ----------
    patterns
        The patterns, the cheapest first.
    """

    def __init__(self, problem: Problem, most: int) -> None:
        self._problem, self._most = problem, most
        self.patterns: list[Bools] = []

    def __len__(self) -> int:
        return len(self.patterns)

    def add(self, pattern: Bools) -> bool:
        """Take a pattern if it is cheaper than the costliest, or there is room; tell whether it is taken."""
        cost = self._problem.cost
        costs = [cost(one) for one in self.patterns]
        if cost(pattern) in costs or (len(costs) >= self._most and cost(pattern) > max(costs)):
            return False
        self.patterns = sorted([*self.patterns, pattern], key=cost)[: self._most]
        return True

    def pair(self, random: Words) -> tuple[Bools, Bools]:
        """Two different ones, by chance."""
        one = below(random, len(self.patterns))
        other = below(random, len(self.patterns) - 1)
        return self.patterns[one], self.patterns[other + (other >= one)]

    def save(self) -> State:
        """The patterns."""
        return {"patterns": np.array(self.patterns, dtype=np.bool_).reshape(-1, len(self._problem))}

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: Mapping[str, Any] = state
        found = integers("patterns", held["patterns"], (-1, len(self._problem)), 0, 1).astype(np.bool_)
        self.patterns = [one | self._problem.primary for one in found[: self._most]]
