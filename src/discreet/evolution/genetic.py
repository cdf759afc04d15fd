"""A genetic algorithm whose generations follow each other.

A genetic algorithm in which each child takes its place at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np

from discreet.evolution.checks import whole
from discreet.evolution.population import Evaluate, Individual, Member, Options, Population, Select
from discreet.evolution.process import State
from discreet.evolution.variation import Floats, Ints, Operator, proportions, replace_worst, tournament, uniform
from discreet.evolution.variation import elite as cheapest


class Generational(Population[Individual]):
    """In each generation members have children; the cheapest of the elite and of the children are the next members.

    With the whole population as elite nobody gives way to a dearer child, as in GOMM; with an elite of one only the
    best lives on besides the children, as in the textbook.

    Parameters
    ----------
    population : iterable
        The individuals to begin with; there will always be as many.
    evaluate : callable
        Costs of a list of individuals, which depend on nothing else; infinite for one that is not allowed.
    operators : iterable of Operator
        How children are made. Each is applied `times` times in a generation, unless `births` is given.
    rng : numpy.random.Generator
        Source of randomness, of this process alone.
    elite : int, optional
        How many of the members may live on if they are cheap enough; all of them without.
    births : int, optional
        Apply so many operators in a generation, drawn at random in proportion to their `times`.
    select : callable
        `(costs, count, rng) -> positions` of the parents of one birth; any members with the same chance by default.
    patience : int, optional
        Apply an operator no more after so many generations without a child cheaper than its parents on average, as in
        D-GOMM. Without any operator left the process is finished. Only where all members are elite.
    **options : Options
        Generations, key, memory, distinct, encode, decode, listeners: see `Options`.

    References
    ----------
    D. E. Goldberg, Genetic Algorithms in Search, Optimization, and Machine Learning, Addison-Wesley (1989); the paper
    of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, sections 3 and 4.3.
    """

    def __init__(
        self,
        population: Iterable[Individual],
        evaluate: Evaluate[Individual],
        operators: Iterable[Operator[Individual]],
        *,
        rng: np.random.Generator,
        elite: int | None = None,
        births: int | None = None,
        select: Select = uniform,
        patience: int | None = None,
        **options: Unpack[Options[Individual]],
    ) -> None:
        super().__init__(population, evaluate, operators, select=select, rng=rng, **options)
        self._size = len(self.members)
        self._elite = self._size if elite is None else whole("elite", elite, 0)
        self._births = None if births is None else whole("births", births, 1)
        self._patience = None if patience is None else whole("patience", patience, 1)
        self._idle = [0] * len(self.operators)
        self._check()

    def _check(self) -> None:
        if self._births is None:
            for operator in self.operators:
                if operator.times != int(operator.times):
                    raise ValueError(f"times of {operator.name} is {operator.times}; without births it must be whole")
            children = sum(int(operator.times) * operator.children for operator in self.operators)
        else:
            children = self._births * min(operator.children for operator in self.operators)
        if self._elite + children < self._size:
            raise ValueError(
                f"elite is {self._elite} and {children} children are born, but the population has {self._size} members"
            )
        if self._patience is not None and self._elite < self._size:
            raise ValueError(f"elite is {self._elite}; with patience it must be the whole population, {self._size}")

    @property
    def finished(self) -> bool:
        """Whether all generations are done, or no operator is left."""
        return super().finished or not any(self._weights())

    def _weights(self) -> list[float]:
        """How often each operator is applied, 0 for one that has been idle for too long."""
        return [
            operator.times if self._patience is None or idle < self._patience else 0.0
            for operator, idle in zip(self.operators, self._idle, strict=True)
        ]

    def _succeed(self) -> None:
        weights = self._weights()
        if self._births is None:
            applied = [
                operator for operator, times in zip(self.operators, weights, strict=True) for _ in range(int(times))
            ]
        else:
            applied = self._draw(self._births, proportions(weights))
        children = self._breed(applied)
        used = {operator.name for operator in applied}
        useful = {birth.operator for _, birth in children if birth.cost < birth.parent_cost}
        self._idle = [
            0 if operator.name in useful else idle + (operator.name in used)
            for operator, idle in zip(self.operators, self._idle, strict=True)
        ]
        stay = [self.members[place] for place in cheapest(self._costs(), self._elite)]
        # Stable: of two that cost the same, the older one stays.
        pool = sorted([*stay, *(child for child, _ in children)], key=lambda member: member.cost)
        self.members = self._clones_last(pool)[: self._size]

    def _clones_last(self, members: list[Member[Individual]]) -> list[Member[Individual]]:
        """Put members who mean the same as one before them behind all others, if they are to be distinct."""
        if self._key is None:
            return members
        first: dict[bytes, Member[Individual]] = {}
        for member in members:
            first.setdefault(self._key(member.individual), member)
        originals = {member.number for member in first.values()}
        return [*first.values(), *(member for member in members if member.number not in originals)]

    def _state(self) -> State:
        """All that the next generations depend on."""
        return super()._state() | {"idle": np.array(self._idle, np.int64)}

    def _restore(self, state: State) -> None:
        """Go on from a saved state."""
        super()._restore(state)
        self._idle = np.asarray(state["idle"]).tolist()


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
