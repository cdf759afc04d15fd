"""What all genetic searches have in common: members, births, a memory of costs, the best ever, and listeners."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, cast

import numpy as np

from discreet.evolution import checkpoint as randomness
from discreet.evolution.checks import floats, integers, whole
from discreet.evolution.process import Search, State, inside, part
from discreet.evolution.variation import Floats, Ints, Operator, proportions

Individual = TypeVar("Individual")

Evaluate = Callable[[Sequence[Individual]], Sequence[float]]


class Judged(NamedTuple):
    """The cost of an individual, and whether it had to be computed."""

    cost: float
    computed: bool


class Memory(Generic[Individual]):
    """Evaluates individuals, each only once as long as it is remembered.

    Parameters
    ----------
    evaluate : callable
        Costs of a list of individuals, which depend on nothing else; infinite for one that is not allowed.
    key : callable, optional
        Bytes that are the same for individuals that mean the same; without it all are evaluated.
    limit : int
        How many keys are remembered; those not met for longest are forgotten.
    """

    def __init__(
        self,
        evaluate: Evaluate[Individual],
        key: Callable[[Individual], bytes] | None = None,
        limit: int = 100_000,
    ) -> None:
        self.evaluate = evaluate
        self.key = key
        self.limit = whole("memory", limit, 0)
        self.evaluations = 0
        self._known: dict[bytes, float] = {}

    def judge(self, individuals: Sequence[Individual]) -> list[Judged]:
        """The costs of individuals, in their order."""
        if self.key is None:
            return [Judged(cost, True) for cost in self._evaluate(individuals)]
        keys = [self.key(individual) for individual in individuals]
        first: dict[bytes, int] = {}
        for place, key in enumerate(keys):
            if key not in self._known:
                first.setdefault(key, place)
        costs = self._evaluate([individuals[place] for place in first.values()])
        found = dict(zip(first, costs, strict=True))
        judged = [
            Judged(found[key] if key in found else self._known[key], first.get(key) == place)
            for place, key in enumerate(keys)
        ]
        for key, (cost, _) in zip(keys, judged, strict=True):
            self._remember(key, cost)
        return judged

    def save(self) -> State:
        """What is remembered, those met last at the end."""
        return {
            "evaluations": self.evaluations,
            "keys": np.frombuffer(b"".join(self._known), np.uint8),
            "lengths": np.array([len(key) for key in self._known], np.int64),
            "costs": np.array([*self._known.values()], np.float64),
        }

    def load(self, state: State) -> None:
        """Remember what another one has remembered."""
        kept = cast("dict[str, Any]", state)
        self.evaluations = whole("evaluations", kept["evaluations"], 0)
        keys = kept["keys"].tobytes()
        ends = np.cumsum(integers("lengths", kept["lengths"], (-1,), 0, len(keys))).tolist()
        if ends and ends[-1] != len(keys):
            raise ValueError("the keys are not as long as they say")
        known = [keys[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        self._known = dict(zip(known, _kept_costs(kept["costs"], len(known)), strict=True))

    def _remember(self, key: bytes, cost: float) -> None:
        self._known.pop(key, None)  # a dictionary keeps the order of entry: the one met last goes to the end
        self._known[key] = cost
        if len(self._known) > self.limit:
            del self._known[next(iter(self._known))]

    def _evaluate(self, individuals: Sequence[Individual]) -> list[float]:
        if not individuals:
            return []
        costs = [float(cost) for cost in self.evaluate(individuals)]
        if len(costs) != len(individuals):
            raise ValueError(f"evaluate gave {len(costs)} costs for {len(individuals)} individuals")
        if any(math.isnan(cost) for cost in costs):
            raise ValueError("evaluate gave a cost that is NaN; an individual that is not allowed costs infinity")
        self.evaluations += len(costs)
        return costs


@dataclass(frozen=True)
class Birth:
    """A child was born and judged.

    Parameters
    ----------
    generation : int
        The generation it was born in; the first children belong to generation 1.
    operator : str
        Name of the operator that made it.
    child : int
        Its number; no two individuals of a process have the same.
    cost : float
        Its cost.
    parents : tuple of int
        Numbers of its parents.
    parent_costs : tuple of float
        What they cost.
    computed : bool
        Whether its cost had to be computed; a clone's is remembered.
    """

    generation: int
    operator: str
    child: int
    cost: float
    parents: tuple[int, ...]
    parent_costs: tuple[float, ...]
    computed: bool = True

    @property
    def parent_cost(self) -> float:
        """What the parents cost on average."""
        return math.fsum(self.parent_costs) / len(self.parent_costs)


@dataclass(frozen=True)
class Survival:
    """A generation is over.

    Parameters
    ----------
    generation : int
        The generation.
    alive : tuple of int
        Numbers of those who live on.
    """

    generation: int
    alive: tuple[int, ...]


Listener = Callable[[Birth | Survival], None]


# Costs, how many, and a random generator in; positions of the parents out.
Select = Callable[[Floats, int, np.random.Generator], Ints]


class Options(TypedDict, Generic[Individual], total=False):
    """What every genetic process can be told, by name.

    Parameters
    ----------
    generations : int
        After how many generations the process is finished; never without.
    key : callable
        Bytes that are the same for individuals that mean the same, so that clones are not evaluated again.
    memory : int
        How many keys are remembered, 100,000 without.
    listeners : iterable of callables
        Told each birth and each survival.
    admit : callable
        Whether an individual that comes from a file, of the type and shape of the others, is one.
    """

    generations: int | None
    key: Callable[[Individual], bytes] | None
    memory: int
    listeners: Iterable[Listener]
    admit: Callable[[Individual], bool] | None


@dataclass(frozen=True)
class Member(Generic[Individual]):
    """An individual with its number and its cost."""

    number: int
    individual: Individual
    cost: float


class Population(Search[Individual], Generic[Individual]):
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
    generations, key, memory, listeners, admit
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
        listeners: Iterable[Listener] = (),
        admit: Callable[[Individual], bool] | None = None,
    ) -> None:
        self._admit = admit
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

    def _epochs(self) -> Iterator[None]:
        """Judge the initial individuals, then do one generation after the other."""
        if self.generation < 0:
            judged = self._memory.judge([member.individual for member in self.members])
            pairs = zip(self.members, judged, strict=True)
            self.members = [Member(member.number, member.individual, cost) for member, (cost, _) in pairs]
            self._best = min(self.members, key=lambda member: member.cost)
            self.generation = 0
            self._tell_survivors()
            yield
        while not self.finished:
            self.generation += 1
            self._succeed()
            self._tell_survivors()
            yield

    @abstractmethod
    def _succeed(self) -> None:
        """Do one generation."""

    def answer(self) -> Individual:
        """The best individual there ever was."""
        return self._best.individual

    def _state(self) -> State:
        """All that the next generations depend on."""
        kept = [*self.members, self._best]
        state: State = {
            "individuals": np.array([member.individual for member in kept]),  # all of one type and shape
            "numbers": np.array([member.number for member in kept], np.int64),
            "costs": np.array([member.cost for member in kept], np.float64),
            "generation": self.generation,
            "born": self._born,
            "random": randomness.to_text(self._rng),
        }
        return state | inside("memory", self._memory.save())

    def _restore(self, state: State) -> None:
        """Take over a state."""
        kept = cast("dict[str, Any]", state)
        own, individuals = np.asarray(self.members[0].individual), np.array(kept["individuals"])
        if individuals.dtype.kind != own.dtype.kind or individuals.shape[1:] != own.shape or len(individuals) < 2:
            raise ValueError("the individuals are of another kind or shape")
        individuals = individuals.astype(own.dtype)
        if self._admit is not None and not all(self._admit(one) for one in individuals):
            raise ValueError("an individual is none")
        self._born = whole("born", kept["born"], 0)
        numbers = integers("numbers", kept["numbers"], (len(individuals),), 0, self._born - 1).tolist()
        costs = _kept_costs(kept["costs"], len(individuals))
        *self.members, self._best = [Member(*triple) for triple in zip(numbers, individuals, costs, strict=True)]
        self.generation = whole("generation", kept["generation"], -1)
        randomness.from_text(self._rng, kept["random"])
        self._memory.load(part("memory", state))

    def _costs(self) -> Floats:
        return np.array([member.cost for member in self.members], np.float64)

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

    def _tell_survivors(self) -> None:
        self._tell(Survival(self.generation, tuple(member.number for member in self.members)))

    def _tell(self, event: Birth | Survival) -> None:
        for listener in self._listeners:
            listener(event)


def _kept_costs(value: object, count: int) -> list[float]:
    """Costs that come from a file: any that can be added up, or infinite."""
    costs = floats("costs", value, (count,), infinite=True)
    if not np.isfinite(np.abs(costs[np.isfinite(costs)]).sum()):
        raise ValueError("the costs cannot be added up")
    found: list[float] = costs.tolist()
    return found
