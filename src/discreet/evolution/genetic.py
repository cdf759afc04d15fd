"""Two genetic searches: generations that follow each other, and children that take their place at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np

from discreet.evolution.checks import integers, whole
from discreet.evolution.population import Evaluate, Individual, Member, Options, Population
from discreet.evolution.process import State
from discreet.evolution.variation import Operator, replace_worst, tournament, uniform


class Generational(Population[Individual]):
    """In each generation members have children; the cheapest of members and children are the next members.

    Parameters
    ----------
    population : iterable
        The individuals to begin with; there will always be as many.
    evaluate : callable
        Costs of a list of individuals, which depend on nothing else; infinite for one that is not allowed.
    operators : iterable of Operator
        How children are made. Each is applied `times` times in a generation, to members drawn with the same chance.
    rng : numpy.random.Generator
        Source of randomness, of this process alone.
    patience : int, optional
        Apply an operator no more after so many generations without a child cheaper than its parents on average, as in
        D-GOMM. Without any operator left the process is finished.
    **options : Options
        Generations, key, memory, listeners: see `Options`.

    References
    ----------
    The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, sections 3 and 4.3.
    """

    def __init__(
        self,
        population: Iterable[Individual],
        evaluate: Evaluate[Individual],
        operators: Iterable[Operator[Individual]],
        *,
        rng: np.random.Generator,
        patience: int | None = None,
        **options: Unpack[Options[Individual]],
    ) -> None:
        super().__init__(population, evaluate, operators, select=uniform, rng=rng, **options)
        self._size = len(self.members)
        self._patience = None if patience is None else whole("patience", patience, 1)
        self._idle = [0] * len(self.operators)
        for operator in self.operators:
            whole(f"times of {operator.name}", operator.times, 0)

    @property
    def finished(self) -> bool:
        """Whether all generations are done, or no operator is left."""
        return super().finished or not any(times for times in self._times())

    def _times(self) -> list[int]:
        """How often each operator is applied, 0 for one that has been idle for too long."""
        return [
            int(operator.times) if self._patience is None or idle < self._patience else 0
            for operator, idle in zip(self.operators, self._idle, strict=True)
        ]

    def _succeed(self) -> None:
        counts = self._times()
        applied = [operator for operator, times in zip(self.operators, counts, strict=True) for _ in range(times)]
        children = self._breed(applied)
        useful = {birth.operator for _, birth in children if birth.cost < birth.parent_cost}
        self._idle = [
            0 if operator.name in useful else idle + (times > 0)
            for operator, idle, times in zip(self.operators, self._idle, counts, strict=True)
        ]
        # Stable: of two that cost the same, the older one stays.
        pool = sorted([*self.members, *(child for child, _ in children)], key=lambda member: member.cost)
        self.members = self._clones_last(pool)[: self._size]

    def _clones_last(self, members: list[Member[Individual]]) -> list[Member[Individual]]:
        """Put members who mean the same as one before them behind all others, if a subclass tells them apart."""
        return members

    def _state(self) -> State:
        """All that the next generations depend on."""
        return super()._state() | {"idle": np.array(self._idle, np.int64)}

    def _restore(self, state: State) -> None:
        """Take over a state."""
        super()._restore(state)
        self._idle = integers("idle", state["idle"], (len(self.operators),), 0, 2**62).tolist()


class SteadyState(Population[Individual]):
    """One birth after the other: a child that is cheaper than the costliest member takes its place.

    A generation is one operator applied to parents by tournaments of two. With a single member it is a local search.

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
    **options : Options
        Generations, key, memory, listeners: see `Options`.

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
        **options: Unpack[Options[Individual]],
    ) -> None:
        super().__init__(population, evaluate, operators, select=tournament, rng=rng, **options)

    def _succeed(self) -> None:
        drawn = self._rng.choice(len(self.operators), 1, p=self._shares)
        for child, _ in self._breed([self.operators[drawn[0]]]):
            place = replace_worst(self._costs(), child.cost)
            if place is not None:
                self.members[place] = child
