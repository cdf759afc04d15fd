"""A genetic algorithm in which each child takes its place at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np

from discreet.evolution.checks import whole
from discreet.evolution.memory import Evaluate, Individual
from discreet.evolution.options import Options, Select
from discreet.evolution.population import Population
from discreet.evolution.selection import Floats, Ints, replace_worst, tournament
from discreet.evolution.variation import Operator


def binary(costs: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Parents by tournaments of two.

    Parameters
    ----------
    costs : array of float
        Low is good.
    count : int
        How many parents.
    rng : numpy.random.Generator
        Source of randomness.
    """
    return tournament(costs, count, 2, rng)


class SteadyState(Population[Individual]):
    """One birth after the other: a child that is cheaper than the dearest member takes its place.

    A generation is a fixed number of births. With a single member it is a local search.

    Parameters
    ----------
    population : iterable
        The individuals to begin with; there will always be as many.
    evaluate : callable
        Costs of a list of individuals, which depend on nothing else; infinite for one that is not allowed.
    operators : iterable of Operator
        How children are made; one is drawn for each birth, at random in proportion to `times`.
    rng : numpy.random.Generator
        Source of randomness, of this process alone.
    births : int
        How many operators are applied in a generation.
    brood : int
        How many of these are applied to the same members and their children evaluated together, so that threads have
        something to share. The result depends on it.
    select : callable
        `(costs, count, rng) -> positions` of the parents of one birth; tournaments of two by default.
    **options : Options
        Generations, key, memory, distinct, encode, decode, listeners: see `Options`.

    References
    ----------
    J. E. Smith, A. R. Clark, A. T. Staggemeier, M. C. Serpell, A genetic approach to statistical disclosure control,
    IEEE Transactions on Evolutionary Computation (2012), doi 10.1109/TEVC.2011.2159271, section III.B.
    """

    def __init__(
        self,
        population: Iterable[Individual],
        evaluate: Evaluate[Individual],
        operators: Iterable[Operator[Individual]],
        *,
        rng: np.random.Generator,
        births: int = 1,
        brood: int = 1,
        select: Select = binary,
        **options: Unpack[Options[Individual]],
    ) -> None:
        super().__init__(population, evaluate, operators, select=select, rng=rng, **options)
        self._births = whole("births", births, 1)
        self._brood = whole("brood", brood, 1)

    def _succeed(self) -> None:
        for start in range(0, self._births, self._brood):
            for child, _ in self._breed(self._draw(min(self._brood, self._births - start))):
                place = replace_worst(self._costs(), child.cost)
                if place is not None and not self._is_clone(child.individual):
                    self.members[place] = child

    def _is_clone(self, individual: Individual) -> bool:
        """Whether a member means the same, if they are to be distinct."""
        key = self._key
        return key is not None and key(individual) in {key(member.individual) for member in self.members}
