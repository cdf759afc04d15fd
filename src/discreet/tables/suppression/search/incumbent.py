"""What the searches for patterns have in common: the best pattern so far, its cost, and going back to it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.attack.system import Bools
from discreet.evolution import process
from discreet.evolution.checks import integers, whole, words
from discreet.evolution.process import State
from discreet.evolution.stops import Cycles, Place
from discreet.kernels.random import seeded
from discreet.tables.suppression.pattern import Pattern

CYCLES = Cycles(40, 1.5)


class PatternSearch(process.Search[Bools]):
    """A search that improves a pattern and keeps the best one.

    Parameters
    ----------
    pattern : Pattern
        The pattern at hand; nobody else may use it meanwhile.
    seed : int
        Seed of the random numbers.
    previous : array of bool, optional
        A pattern over the columns to begin with.
    heat : float
        How much costlier a pattern may be, as a share of the cost, at the beginning of a cycle.
    """

    pattern: Pattern

    def __init__(self, pattern: Pattern, seed: int, previous: Bools | None, heat: float) -> None:
        self.pattern, self.problem = pattern, pattern.problem
        self._previous, self._heat = previous, heat
        self._random = seeded(seed, 0)
        self._best: Bools | None = None
        self._cost = np.inf
        # How many requirements no pattern protects.
        self._unprotectable = 0

    @property
    def cost(self) -> float:
        """Cost of the best pattern so far."""
        return self._cost

    @property
    def finished(self) -> bool:
        """Whether nothing can be gained: no secondary cell is needed, or the pattern is proven to be the cheapest."""
        return self._best is not None and self._cost == 0.0

    def answer(self) -> Bools:
        """The best pattern over the columns."""
        return self.problem.primary.copy() if self._best is None else self._best.copy()

    def _keep(self, pattern: Bools) -> None:
        """Keep a safe pattern if it is cheaper than the best so far."""
        cost = self.problem.cost(pattern)
        if cost < self._cost:
            self._cost, self._best = cost, pattern

    def _return_to_best(self) -> None:
        """Go on from the best pattern, unless the one at hand is as good."""
        is_worse = self.pattern.cost > self._cost or len(self.pattern.open) > self._unprotectable
        if self._best is not None and is_worse:
            self.pattern.start(self._best)
            self.pattern.protect(self.problem.by_level())
            self._tidy_up()

    @abstractmethod
    def _tidy_up(self) -> None:
        """Publish what the best pattern turns out not to need."""

    def _heat_at(self, place: Place) -> float:
        """How much costlier a pattern may be: nothing in every other cycle, less and less in the others."""
        return self._heat * (1.0 - place.fraction) if place.cycle % 2 else 0.0

    def _state(self) -> State:
        state: State = {"random": self._random.copy(), "cost": self._cost, "unprotectable": self._unprotectable}
        return state if self._best is None else state | {"best": self._best}

    def _restore(self, state: State) -> None:
        held: Mapping[str, Any] = state
        self._random[:] = words("random", held["random"], self._random)
        self._unprotectable = whole("unprotectable", held["unprotectable"], 0)
        every = (len(self.problem),)
        self._best = integers("best", held["best"], every, 0, 1).astype(np.bool_) if "best" in held else None
        # What a pattern costs is worked out, not believed.
        self._cost = np.inf if self._best is None else self.problem.cost(self._best)
