"""What every way of protecting a problem offers to the searches."""

from __future__ import annotations

from typing import Protocol

from discreet.kernels.arrays import Words
from discreet.tables.suppression.problem import Problem
from discreet.verification.attack.system import Bools, Ints


class Protector(Protocol):
    """A pattern of a problem, with a certificate for each task that is protected."""

    problem: Problem

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
        """Tasks that are not protected, or not known to be."""
        ...

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given; no task is known to be protected."""
        ...

    def protect(self, order: Ints) -> int:
        """Protect tasks in an order, each at the least additional cost; tell how many could not be."""
        ...

    def clean(self) -> int:
        """Publish secondary cells that nothing needs, the dearest first; tell how many."""
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
            How much dearer a pattern may be, as a share of the cost, to be kept all the same.
        """
        ...
