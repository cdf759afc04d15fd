"""A genetic process that makes two things small at once: loss and risk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.options import Options
from discreet.evolution.population import Member, Population
from discreet.evolution.process import State
from discreet.evolution.variation import Operator
from discreet.grouping.candidate import Candidate
from discreet.grouping.clones import told_apart
from discreet.grouping.dominance import crowding, ranks
from discreet.grouping.objective import Objective


class NonDominated(Population[Candidate]):
    """Generations by non-dominated sorting: the better fronts live on, of the last one those with more room.

    Its cost is the share of all combinations of loss and risk, in percent, that the front found so far does not
    dominate.

    Parameters
    ----------
    population : iterable of candidates
        Those to begin with; there will always be as many.
    objective : Objective
        What is to be small.
    operators : iterable of Operator
        How children are made; each is applied `times` times in a generation.
    rng : numpy.random.Generator
        Source of randomness.
    copies : int
        How many clones of one candidate may live beside others; 0 for any number.
    **options : Options
        As for every genetic process.
    """

    def __init__(
        self,
        population: Iterable[Candidate],
        objective: Objective,
        operators: Iterable[Operator[Candidate]],
        *,
        rng: np.random.Generator,
        copies: int = 1,
        **options: Unpack[Options[Candidate]],
    ) -> None:
        super().__init__(population, objective.evaluate, operators, select=self._tournament, rng=rng, **options)
        self._objective, self._copies = objective, copies
        self._size = len(self.members)
        self._preference = np.zeros(self._size)

    @property
    def cost(self) -> float:
        """Share of all trade-offs, in percent, that nothing found so far dominates."""
        return 100.0 - self._objective.front.hypervolume

    def _succeed(self) -> None:
        self._preference = self._preferred(self.members)
        applied = [operator for operator in self.operators for _ in range(int(operator.times))]
        children = [child for child, _ in self._breed(applied)]
        pool, clones = told_apart([*self.members, *children], self._copies)
        pool += clones[: max(self._size - len(pool), 0)]
        order = np.argsort(self._preferred(pool), kind="stable")
        self.members = [pool[place] for place in order[: self._size]]

    def _preferred(self, members: list[Member[Candidate]]) -> NDArray[np.float64]:
        """Places in the order of preference, 0 for the best: by front, then by room."""
        figures = self._objective.figures([member.individual for member in members])
        points = np.array([[found.il, found.dr] for found in figures])
        rank = ranks(points)
        order = np.lexsort((-crowding(points, rank), rank))
        places = np.empty(len(members))
        places[order] = np.arange(len(members))
        return places

    def _tournament(self, _costs: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The preferred one of two, for each parent."""
        drawn = rng.integers(self._size, size=(count, 2))
        winners: NDArray[np.int64] = drawn[np.arange(count), np.argmin(self._preference[drawn], axis=1)]
        return winners

    def load(self, state: State) -> None:
        """Go on from a saved state; the front starts anew from the members."""
        super().load(state)
        self._objective.evaluate([member.individual for member in self.members])
