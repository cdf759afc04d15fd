"""The independent components of a problem, searched side by side."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from discreet.attack.system import Bools
from discreet.evolution.process import Process, Together
from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.problem import Problem

# A bound so near to the cost, in parts of it, is not improved on by less than linear programs.
MUCH = 0.9


# How a bound that no search has proven was found.
PRICES = "prices of relations"


class PatternProcess(Process[Bools], Protocol):
    """A search for a pattern."""

    @property
    def bound_method(self) -> str:
        """How the bound was found, in words."""
        ...


class Method(Protocol):
    """A method of secondary suppression: a frozen dataclass, whose fields are its parameters."""

    def search(self, problem: Problem, seed: int, previous: Bools | None = None) -> PatternProcess:
        """The search of one component of a problem, begun with a previous pattern over its columns if given."""
        ...


class Components(Together[Bools]):
    """The searches of the components of a problem, as one search.

    Parameters
    ----------
    method : Method
        The method.
    problem : Problem
        The problem.
    seed : int
        Seed of the random numbers; each component but the first has one that is drawn from it and its number.
    previous : array of bool, optional
        A pattern over the columns to begin with.
    threads : int
        How many components are searched at the same time; the result does not depend on it.
    """

    def __init__(
        self, method: Method, problem: Problem, seed: int, previous: Bools | None = None, threads: int = 1
    ) -> None:
        self.problem = problem
        self.components = problem.components()
        # What is proven beside the searches: no pattern of a component costs less.
        self._proven: list[float | None] = [None] * len(self.components)
        self._places = [np.searchsorted(problem.system.cells, part.system.cells) for part in self.components]
        self._searches = [
            method.search(part, _seed_of(seed, number), None if previous is None else previous[places])
            for number, (part, places) in enumerate(zip(self.components, self._places, strict=True))
        ]
        super().__init__(self._searches, threads)

    @property
    def bound(self) -> float | None:
        """No pattern costs less: the sum of the bounds, where one is known; None where none is."""
        bounds = [
            process.bound if proven is None else max(proven, process.bound or 0.0)
            for process, proven in zip(self.processes, self._proven, strict=True)
        ]
        # Of a component of which nothing is proven it is known that it costs no less than nothing.
        return None if all(bound is None for bound in bounds) else math.fsum(bound or 0.0 for bound in bounds)

    @property
    def bound_method(self) -> str:
        """How the bound was found, in words: each way that a component's was."""
        ways = [
            PRICES if proven is not None and proven >= (search.bound or 0.0) else search.bound_method
            for search, proven in zip(self._searches, self._proven, strict=True)
            if proven is not None or search.bound is not None
        ]
        return ", ".join(sorted(set(ways)))

    def prove(self, steps: int) -> None:
        """Bound the cost where no search has proven much, with more effort after more steps of a search."""
        for number, (part, process) in enumerate(zip(self.components, self.processes, strict=True)):
            # In a network the searches that prove anything prove more than this; elsewhere, those that prove much.
            if process.bound is None or (not part.is_network and process.bound < MUCH * process.cost):
                self._proven[number] = lower_bound(part, steps)

    def pattern(self) -> Bools:
        """The best pattern over the columns of the whole problem."""
        found = self.problem.primary.copy()
        for places, pattern in zip(self._places, self.answer(), strict=True):
            found[places] = pattern
        return found


def _seed_of(seed: int, number: int) -> int:
    return seed if number == 0 else int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
