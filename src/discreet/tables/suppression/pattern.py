"""What every pattern offers to the searches: suppressed cells, with a certificate of each requirement they protect."""

from __future__ import annotations

from typing import Protocol

from discreet.attack.system import Bools, Ints
from discreet.evolution.process import State
from discreet.kernels.arrays import Words
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.program_pattern import LinearProgramPattern


class Pattern(Protocol):
    """A pattern of a problem, with a certificate for each requirement that is protected."""

    problem: Problem

    @property
    def is_compiled(self) -> bool:
        """Whether its steps are compiled, and take microseconds instead of a linear program each."""
        ...

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed, the primary ones among them; a copy."""
        ...

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        ...

    @property
    def open(self) -> Ints:
        """Requirements that are not protected, or not known to be."""
        ...

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given; no requirement is known protected."""
        ...

    def protect(self, order: Ints) -> int:
        """Protect requirements in an order, each at the least additional cost; count those that could not be."""
        ...

    def protect_together(self, requirements: Ints) -> bool:
        """Protect requirements of different cells by one solution in which each moves by its level, if there is one."""
        ...

    def clean(self) -> int:
        """Publish secondary cells that nothing needs, the costliest first; count them."""
        ...

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair so many times; give the cost of the pattern that is kept.

        Parameters
        ----------
        state : array of words
            Random state of `discreet.kernels.random`, which is moved on.
        rounds : int
            How often.
        most : int
            How many cells are taken away at once at most.
        heat : float
            How much costlier a pattern may be, as a share of the cost, to be kept all the same.
        """
        ...

    def save(self) -> State:
        """All that later steps depend on: the pattern, its certificates, and what was learnt by the way."""
        ...

    def load(self, state: State) -> None:
        """Go on from a saved pattern."""
        ...


def pattern_of(problem: Problem) -> Pattern:
    """A pattern of a problem: by flows where it is a network, by linear programs elsewhere."""
    return NetworkPattern(problem) if problem.is_network else LinearProgramPattern(problem)
