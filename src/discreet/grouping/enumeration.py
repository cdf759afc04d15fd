"""A search that is none: all candidates are judged, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import islice
from typing import cast

import numpy as np

from discreet.evolution.population import Evaluate
from discreet.evolution.process import Advancing, State
from discreet.grouping.candidates import Candidate

# Candidates judged in an epoch.
EPOCH = 50


class Enumeration(Advancing):
    """Judges all candidates of a list, so many in an epoch.

    Parameters
    ----------
    candidates : callable
        Gives all of them, always in the same order; the ones likely to be good first.
    evaluate : callable
        Their costs.
    cost : callable, optional
        The cost of what was found so far; that of the best candidate by default.
    """

    def __init__(
        self,
        candidates: Callable[[], Iterable[Candidate]],
        evaluate: Evaluate[Candidate],
        cost: Callable[[], float] | None = None,
    ) -> None:
        self._candidates, self._evaluate, self._cost = candidates, evaluate, cost
        self._left = iter(candidates())
        self._next: list[Candidate] = list(islice(self._left, EPOCH))
        self._done = 0
        self._best, self._lowest = self._next[0], math.inf

    @property
    def cost(self) -> float:
        """Cost of what was found so far."""
        return self._lowest if self._cost is None else self._cost()

    @property
    def finished(self) -> bool:
        """Whether all were judged."""
        return not self._next

    def advance(self) -> None:
        """Judge the next ones."""
        for one, cost in zip(self._next, self._evaluate(self._next), strict=True):
            if cost < self._lowest:
                self._best, self._lowest = one, cost
        self._done += len(self._next)
        self._next = list(islice(self._left, EPOCH))

    def answer(self) -> Candidate:
        """The best candidate so far."""
        return self._best

    def save(self) -> State:
        """How many were judged, and the best of them."""
        return {"done": self._done, "best": self._best.copy(), "lowest": self._lowest}

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._done = int(cast("int", state["done"]))
        self._best = np.asarray(state["best"], np.int16)
        self._lowest = float(cast("float", state["lowest"]))
        self._left = islice(self._candidates(), self._done, None)
        self._next = list(islice(self._left, EPOCH))
