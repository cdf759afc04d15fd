"""Methods that make one pattern and are done: the baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.evolution.process import State
from discreet.tables.suppression.baselines import hypercube, marginal
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.protector import Protector
from discreet.verification.attack.system import Bools


@dataclass(frozen=True)
class Hypercube:
    """For each unsafe cell the cheapest box of cells that can carry its level."""

    def begin(self, problem: Problem, protector: Protector, seed: int, previous: Bools | None) -> Once:
        """The method as a process of one epoch."""
        return Once(problem, lambda: hypercube(protector))


@dataclass(frozen=True)
class Marginal:
    """The totals of the lines of unsafe cells: the last resort."""

    def begin(self, problem: Problem, protector: Protector, seed: int, previous: Bools | None) -> Once:
        """The method as a process of one epoch."""
        return Once(problem, lambda: marginal(protector))


class Once:
    """A process of one epoch.

    Parameters
    ----------
    problem : Problem
        The problem.
    make : callable
        Makes the pattern.
    """

    def __init__(self, problem: Problem, make: Callable[[], Bools]) -> None:
        self.problem = problem
        self._make = make
        self._pattern: Bools | None = None

    @property
    def cost(self) -> float:
        """Cost of the pattern; infinite before there is any."""
        return float("inf") if self._pattern is None else self.problem.cost(self._pattern)

    @property
    def finished(self) -> bool:
        """Whether the pattern is made."""
        return self._pattern is not None

    def advance(self) -> None:
        """Make the pattern."""
        self._pattern = self._make()

    def answer(self) -> Bools:
        """The pattern over the columns."""
        return self.problem.primary.copy() if self._pattern is None else self._pattern.copy()

    def save(self) -> State:
        """The pattern, if it is made."""
        return {} if self._pattern is None else {"pattern": self._pattern.copy()}

    def load(self, state: State) -> None:
        """Take over a pattern that was made."""
        self._pattern = state.get("pattern")  # type: ignore[assignment]
