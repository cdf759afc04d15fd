"""The method `pareto`: a genetic algorithm by non-dominated sorting for the front of loss and risk.

References
----------
K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE
Transactions on Evolutionary Computation 6 (2002) 182-197.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.population import Listener, Member, Options, Population
from discreet.evolution.process import Search
from discreet.evolution.variation import Operator
from discreet.grouping.candidates import Candidate, Labels, clone_key
from discreet.grouping.gomm import Gomm, split_clones
from discreet.grouping.objective import Objective


@dataclass(frozen=True)
class Pareto(Gomm):
    """A genetic algorithm for the whole front of trade-offs between loss and risk (NSGA-II with GOMM's operators).

    Parents are those of the better front, then those with more room round them; so are those who live on. All that was
    ever judged and is dominated by nothing makes the result.

    Parameters
    ----------
    population, generations, crossovers, mutations, start, enumeration
        As for `gomm`.
    copies : int
        As for `gomm`; here the population is the front, and clones would only make it thinner.

    References
    ----------
    K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE
    Transactions on Evolutionary Computation 6 (2002) 182-197; the operators of the paper of 2013 on GOMM.
    """

    copies: int = 1

    @property
    def seeks_front(self) -> bool:
        """Whether the whole front of loss and risk is sought, not the best score."""
        return True

    def search(
        self, objective: Objective, rivals: Iterable[Labels], seed: int, listeners: Iterable[Listener] = ()
    ) -> Search[Candidate]:
        """Begin the search; parameters as for `gomm`."""
        rng = np.random.default_rng(seed)
        return NonDominated(
            self.draw_initial(objective, rivals, rng),
            objective,
            self.operators(len(objective.ks)),
            rng=rng,
            generations=self.generations,
            key=clone_key,
            admit=objective.admits,
            copies=self.copies,
            listeners=listeners,
        )


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rank_fronts(points: Floats) -> Ints:
    """0 for points that no other dominates, 1 for those that only these dominate, and so on.

    Parameters
    ----------
    points : array of shape (n, 2)
        What is to be small; infinite for what is not allowed.
    """
    n = len(points)
    no_more = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    less = (points[:, None, :] < points[None, :, :]).any(axis=2)
    dominates = np.logical_and(no_more, less)
    levels = np.full(n, -1)
    level = 0
    while (levels < 0).any():
        left = levels < 0
        levels[left & ~dominates[left].any(axis=0)] = level
        level += 1
    return levels


def crowding_distance(points: Floats, rank: Ints) -> Floats:
    """The crowding distance: how far apart the neighbours of a point in its front are; infinite at the ends.

    Parameters
    ----------
    points : array of shape (n, 2)
        What is to be small.
    rank : array of int
        The front of each point.
    """
    distance = np.zeros(len(points))
    for level in np.unique(rank):
        members = np.flatnonzero(rank == level)
        for column in range(points.shape[1]):
            order = members[np.argsort(points[members, column], kind="stable")]
            values = points[order, column]
            distance[order[[0, -1]]] = np.inf
            if values[0] < values[-1] < np.inf:
                distance[order[1:-1]] += (values[2:] - values[:-2]) / (values[-1] - values[0])
    return distance


class NonDominated(Population[Candidate]):
    """Generations by non-dominated sorting: the better fronts survive, of the last one those with fewer neighbours.

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
        return self._objective.undominated

    def _succeed(self) -> None:
        self._preference = self._ranks(self.members)
        applied = [operator for operator in self.operators for _ in range(int(operator.times))]
        children = [child for child, _ in self._breed(applied)]
        pool, clones = split_clones([*self.members, *children], self._copies)
        pool += clones[: max(self._size - len(pool), 0)]
        order = np.argsort(self._ranks(pool), kind="stable")
        self.members = [pool[place] for place in order[: self._size]]

    def _ranks(self, members: list[Member[Candidate]]) -> NDArray[np.float64]:
        """Places in the order of preference, 0 for the best: by front, then by room."""
        figures = self._objective.figures([member.individual for member in members])
        points = np.array([[found.il, found.dr] for found in figures])
        rank = rank_fronts(points)
        order = np.lexsort((-crowding_distance(points, rank), rank))
        places = np.empty(len(members))
        places[order] = np.arange(len(members))
        return places

    def _tournament(self, _costs: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The preferred one of two, for each parent."""
        drawn = rng.integers(self._size, size=(count, 2))
        winners: NDArray[np.int64] = drawn[np.arange(count), np.argmin(self._preference[drawn], axis=1)]
        return winners
