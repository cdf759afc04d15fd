"""What the genetic processes have in common: members, births, memory, the best ever, and how all that is kept."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, cast

import numpy as np
from numpy.typing import NDArray

from discreet.evolution import randomness
from discreet.evolution.checks import whole
from discreet.evolution.events import Birth, Listener, Survival
from discreet.evolution.memory import Evaluate, Individual, Memory
from discreet.evolution.options import Select
from discreet.evolution.packing import pack, unpack
from discreet.evolution.process import State
from discreet.evolution.selection import Floats
from discreet.evolution.states import inside, part
from discreet.evolution.variation import Operator, proportions


@dataclass(frozen=True)
class Member(Generic[Individual]):
    """An individual with its number and its cost."""

    number: int
    individual: Individual
    cost: float


class Population(ABC, Generic[Individual]):
    """Individuals that have children. The first epoch judges the initial ones, each further one is a generation.

    Selection and variation use one random generator, one after the other; only the evaluation of a list of children
    may use threads. So the same seed gives the same run on any number of them.

    Parameters
    ----------
    initial : iterable
        The individuals to begin with.
    evaluate : callable
        Costs of a list of individuals, which depend on nothing else; infinite for one that is not allowed.
    operators : iterable of Operator
        How children are made.
    select : callable
        `(costs, count, rng) -> positions` of the parents of one birth.
    rng : numpy.random.Generator
        Source of randomness, of this process alone.
    generations, key, memory, distinct, encode, decode, listeners
        As in `Options`.
    """

    def __init__(
        self,
        initial: Iterable[Individual],
        evaluate: Evaluate[Individual],
        operators: Iterable[Operator[Individual]],
        *,
        select: Select,
        rng: np.random.Generator,
        generations: int | None = None,
        key: Callable[[Individual], bytes] | None = None,
        memory: int = 100_000,
        distinct: bool = False,
        encode: Callable[[Individual], NDArray[Any]] = np.asarray,
        decode: Callable[[NDArray[Any]], Individual] | None = None,
        listeners: Iterable[Listener] = (),
    ) -> None:
        self.members = [Member(number, individual, math.inf) for number, individual in enumerate(initial)]
        if not self.members:
            raise ValueError("a population needs at least one individual")
        self.operators = tuple(operators)
        if len({operator.name for operator in self.operators}) < len(self.operators):
            raise ValueError("two operators have the same name")
        self._shares = proportions([operator.times for operator in self.operators])
        self._select = select
        self._rng = rng
        self._generations = None if generations is None else whole("generations", generations, 0)
        self._memory = Memory(evaluate, key, memory)
        if distinct and key is None:
            raise ValueError("distinct needs a key that tells individuals apart")
        self._key = key if distinct else None
        self._encode = encode
        self._decode = decode
        self._listeners = tuple(listeners)
        self._best = self.members[0]
        self._born = len(self.members)
        self.generation = -1  # the initial ones are not judged yet

    @property
    def cost(self) -> float:
        """Cost of the best individual there ever was."""
        return self._best.cost

    @property
    def finished(self) -> bool:
        """Whether all generations are done."""
        return self._generations is not None and self.generation >= self._generations

    @property
    def evaluations(self) -> int:
        """How often a cost was computed."""
        return self._memory.evaluations

    def advance(self) -> None:
        """Judge the initial individuals, or do one generation."""
        if self.generation < 0:
            judged = self._memory.judge([member.individual for member in self.members])
            pairs = zip(self.members, judged, strict=True)
            self.members = [Member(member.number, member.individual, cost) for member, (cost, _) in pairs]
            self._best = min(self.members, key=lambda member: member.cost)
            self.generation = 0
        else:
            self.generation += 1
            self._succeed()
        self._tell(Survival(self.generation, tuple(member.number for member in self.members)))

    @abstractmethod
    def _succeed(self) -> None:
        """Do one generation."""

    def answer(self) -> Individual:
        """The best individual there ever was."""
        return self._best.individual

    def save(self) -> State:
        """All that the next generations depend on."""
        kept = [*self.members, self._best]
        flat, shapes = pack([self._encode(member.individual) for member in kept])
        state: State = {
            "individuals": flat,
            "shapes": shapes,
            "numbers": np.array([member.number for member in kept], np.int64),
            "costs": np.array([member.cost for member in kept], np.float64),
            "generation": self.generation,
            "born": self._born,
            "random": randomness.to_text(self._rng),
        }
        return state | inside("memory", self._memory.save())

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        kept = cast("dict[str, Any]", state)
        arrays = unpack(kept["individuals"], kept["shapes"])
        individuals = cast("list[Individual]", arrays) if self._decode is None else [*map(self._decode, arrays)]
        triples = zip(kept["numbers"].tolist(), individuals, kept["costs"].tolist(), strict=True)
        *self.members, self._best = [Member(*triple) for triple in triples]
        self.generation = int(kept["generation"])
        self._born = int(kept["born"])
        randomness.from_text(self._rng, kept["random"])
        self._memory.load(part("memory", state))

    def _costs(self) -> Floats:
        return np.array([member.cost for member in self.members], np.float64)

    def _draw(self, count: int, shares: Sequence[float] | None = None) -> list[Operator[Individual]]:
        """Operators at random, each as often as its share says."""
        drawn = self._rng.choice(len(self.operators), count, p=self._shares if shares is None else shares)
        return [self.operators[place] for place in drawn]

    def _breed(self, operators: Iterable[Operator[Individual]]) -> list[tuple[Member[Individual], Birth]]:
        """Let each operator make its children of members, and judge all children together."""
        costs = self._costs()
        made = []
        for operator in operators:
            parents = [self.members[place] for place in self._select(costs, operator.parents, self._rng)]
            individuals = operator.apply([parent.individual for parent in parents], self._rng)
            made += [(operator.name, parents, individual) for individual in individuals]
        judged = self._memory.judge([individual for _, _, individual in made])
        children = []
        for (name, parents, individual), (cost, computed) in zip(made, judged, strict=True):
            child = Member(self._born, individual, cost)
            self._born += 1
            if cost < self._best.cost:
                self._best = child
            numbers = tuple(parent.number for parent in parents)
            birth = Birth(
                self.generation, name, child.number, cost, numbers, tuple(parent.cost for parent in parents), computed
            )
            self._tell(birth)
            children.append((child, birth))
        return children

    def _tell(self, event: Birth | Survival) -> None:
        for listener in self._listeners:
            listener(event)
