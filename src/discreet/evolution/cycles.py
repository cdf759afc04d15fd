"""Cycles that grow: how a search that may be stopped at any time shares out its epochs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """Where an epoch stands: the number of its cycle, its place in the cycle, and the cycle's length."""

    cycle: int
    epoch: int
    length: int

    @property
    def fraction(self) -> float:
        """How much of the cycle is over when the epoch begins; 1 in the last epoch."""
        return self.epoch / (self.length - 1) if self.length > 1 else 1.0

    @property
    def last(self) -> bool:
        """Whether the cycle ends with this epoch."""
        return self.epoch == self.length - 1


@dataclass(frozen=True)
class Cycles:
    """Cycles of epochs, each longer than the one before by the same factor.

    An annealing that cools once needs to know how long it may last. In cycles it needs not: where an epoch stands
    follows from its number alone, so a run of N epochs is the beginning of every longer one.

    Parameters
    ----------
    first : int
        Epochs of the first cycle, at least 1.
    growth : float
        How much longer each cycle is than the one before, at least 1.
    """

    first: int
    growth: float

    def length(self, cycle: int) -> int:
        """Epochs of the cycle of a number, from 0 on."""
        return int(self.first * self.growth**cycle)

    def places(self, cycle: int) -> Iterator[Place]:
        """The places of a cycle, in their order."""
        length = self.length(cycle)
        return (Place(cycle, epoch, length) for epoch in range(length))

    def place(self, epoch: int) -> Place:
        """Where the epoch of a number, from 0 on, stands."""
        cycle = 0
        while epoch >= self.length(cycle):
            epoch -= self.length(cycle)
            cycle += 1
        return Place(cycle, epoch, self.length(cycle))
