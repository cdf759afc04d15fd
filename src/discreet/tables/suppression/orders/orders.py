"""The searches of Smith and others (2012): in which order to protect the primary cells, one by one or in groups."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attack.system import Bools, Ints
from discreet.errors import InputError, whole
from discreet.evolution.checks import floats, integers
from discreet.evolution.genetic import SteadyState
from discreet.evolution.process import Search, State, inside, part
from discreet.evolution.variation import Operator, Vary
from discreet.tables.suppression.orders.agenda import Follower, agenda_of
from discreet.tables.suppression.pattern import Pattern, pattern_of
from discreet.tables.suppression.problem import Problem

Mutate = Callable[[Ints, np.random.Generator], Ints]


def swap(order: Ints, rng: np.random.Generator) -> Ints:
    """Swap two elements.

    Parameters
    ----------
    order : array of int
        A permutation; it stays as it is.
    rng : numpy.random.Generator
        Source of randomness.
    """
    first, second = _two(len(order), rng)
    changed = order.copy()
    changed[first], changed[second] = order[second], order[first]
    return changed


def insert(order: Ints, rng: np.random.Generator) -> Ints:
    """Move one element to just behind another.

    Parameters
    ----------
    order : array of int
        A permutation; it stays as it is.
    rng : numpy.random.Generator
        Source of randomness.
    """
    first, second = _two(len(order), rng)
    changed = order.copy()
    if second > first:
        changed[first + 2 : second + 1] = order[first + 1 : second]
        changed[first + 1] = order[second]
    else:
        changed[second:first] = order[second + 1 : first + 1]
        changed[first] = order[second]
    return changed


def invert(order: Ints, rng: np.random.Generator) -> Ints:
    """Turn the elements between two places, these included, the other way round.

    Parameters
    ----------
    order : array of int
        A permutation; it stays as it is.
    rng : numpy.random.Generator
        Source of randomness.
    """
    first, last = sorted(_two(len(order), rng))
    changed = order.copy()
    changed[first : last + 1] = order[first : last + 1][::-1]
    return changed


def cross(one: Ints, other: Ints, rng: np.random.Generator) -> Ints:
    """Order-based crossover: a stretch of one parent, and around it what is missing as the other parent has it.

    The missing elements are taken and put down from the end of the stretch on, round the end of the list.

    Parameters
    ----------
    one, other : arrays of int
        Two permutations of the same elements 0, 1, …; they stay as they are.
    rng : numpy.random.Generator
        Source of randomness.

    References
    ----------
    L. Davis, Handbook of Genetic Algorithms, Van Nostrand Reinhold (1991).
    """
    size = len(one)
    first, last = np.sort(rng.integers(0, size + 1, 2)).tolist()
    missing = np.ones(size, dtype=np.bool_)
    missing[one[first:last]] = False
    turned = np.roll(other, -last)
    child = np.roll(one, -last)
    child[: size - (last - first)] = turned[missing[turned]]
    return np.roll(child, last)


OPERATORS: dict[str, Mutate] = {"swap": swap, "insert": insert, "invert": invert}


def _two(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two different places among at least two."""
    first, second = int(rng.integers(size)), int(rng.integers(size - 1))
    return first, second + (second >= first)


FIXED = tuple(f"{kind}-{name}" for kind in ("ls", "ga") for name in OPERATORS)
VARIANTS = (*FIXED, "ga-one-p", "ga-one-k", "ga-group-k")

# What the gene of the mutation probability stands for, in parts of 1/length; the third is the paper's fixed one.
RATES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
USUAL = RATES.index(1.0)
# The probability that a gene of the operator or of the rate changes.
ADAPT = 0.1
# How near the mean cost of a population that has converged is to the best.
ALIKE = 0.01
# Requirements times columns handled by flows in an epoch: some 10 to 50 ms. Where linear programs are solved an epoch
# is one order.
EPOCH = 2_000_000


@dataclass(frozen=True)
class OrderSearch:
    """The paper of 2012: search for the order of the primary cells that leads to the cheapest pattern.

    Each primary cell in its turn is protected upwards and then downwards, at the least additional cost; what this costs
    in the end depends on the order. A local search (`ls-…`) changes one order and keeps what is better. A genetic
    algorithm (`ga-…`) has a population of orders, begun with those of rising and of falling weight; tournaments of two
    choose the parents, Davis's order-based crossover and a mutation make the child, and it replaces the worst if it is
    better. `swap`, `insert` and `invert` are mutations with a probability of 1/length for each place. In the other
    variants the kind and the probability of the mutation are two further genes, each of which changes with probability
    0.1: `ga-one-p` orders all primary cells, `ga-one-k` those that primary cells alone do not protect, and `ga-group-k`
    groups of these, by weight, all cells of a group being moved by their levels at once. A group for which this is
    impossible is halved.

    The paper leaves open between which probabilities the gene chooses (here ¼ to 8 over the length), and protects
    requirements again that are protected already (here they are passed over). A local search always changes something.

    Parameters
    ----------
    variant : str
        One of `ls-swap`, `ls-insert`, `ls-invert`, `ga-swap`, `ga-insert`, `ga-invert`, `ga-one-p`, `ga-one-k`,
        `ga-group-k`.
    clean : bool
        Whether cells that nothing needs are published again before the cost is taken.
    population : int
        Orders in the population of a genetic algorithm, at least 2.
    crossover : float
        The share of children that have two parents, from 0 to 1.
    groups : int
        How many groups `ga-group-k` makes, at least 1; 20 in the paper's large tables.
    surrogate : bool
        Whether `ga-one-k` and `ga-group-k` order only what elimination exposes, and protect all others as one group at
        the end; for large tables. The cost while searching is then that of the first part alone.
    evaluations : int
        How many orders are tried, at least 1.
    patience : int
        After how many orders without a better one the search is over, at least 1.
    convergence : int
        After how many children in a row with the mean cost of the population within 1 % of the best `ga-swap`,
        `ga-insert` and `ga-invert` are over; 0: they go on.

    References
    ----------
    J. E. Smith, A. R. Clark, A. T. Staggemeier, M. C. Serpell, A genetic approach to statistical disclosure control,
    IEEE Transactions on Evolutionary Computation (2012), doi 10.1109/TEVC.2011.2159271.
    """

    variant: str = "ga-group-k"
    clean: bool = False
    population: int = 10
    crossover: float = 0.7
    groups: int = 40
    surrogate: bool = False
    evaluations: int = 10_000
    patience: int = 1_000
    convergence: int = 100

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise InputError(f"variant is {self.variant!r}; it must be one of {', '.join(VARIANTS)}")
        whole("population", self.population, 2)
        whole("groups", self.groups, 1)
        whole("evaluations", self.evaluations, 1)
        whole("patience", self.patience, 1)
        whole("convergence", self.convergence, 0)
        share = self.crossover
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 <= share <= 1.0:
            raise InputError(f"crossover is {share!r}; it must be a number from 0 to 1")
        for name, value in (("clean", self.clean), ("surrogate", self.surrogate)):
            if not isinstance(value, bool):
                raise InputError(f"{name} is {value!r}; it must be True or False")
        if self.surrogate and not self.variant.endswith("-k"):
            raise InputError(f"surrogate is for ga-one-k and ga-group-k, not for {self.variant}")

    @property
    def is_local(self) -> bool:
        """Whether it is a local search."""
        return self.variant.startswith("ls-")

    @property
    def is_adaptive(self) -> bool:
        """Whether the kind and the probability of the mutation are genes that change."""
        return self.variant not in FIXED

    def search(self, problem: Problem, seed: int, previous: Bools | None = None) -> Orders:
        """The search of one component of a problem; a previous pattern has no order, so it is not looked at."""
        return Orders(self, pattern_of(problem), seed)


class Orders(Search[Bools]):
    """A search for orders; an epoch is a number of orders that depends on the problem alone.

    Parameters
    ----------
    method : OrderSearch
        The parameters.
    pattern : Pattern
        What makes the patterns; nobody else may use it meanwhile.
    seed : int
        Seed of every random choice.
    hopeless : array of int, optional
        Requirements that cannot be protected whatever is suppressed.
    """

    def __init__(self, method: OrderSearch, pattern: Pattern, seed: int, hopeless: Ints | None = None) -> None:
        self._method, self._pattern = method, pattern
        exposed = method.variant.endswith("-k")
        self._agenda = agenda_of(
            pattern.problem,
            exposed=exposed,
            unpicked=exposed and method.surrogate,
            groups=method.groups if method.variant == "ga-group-k" else 0,
            hopeless=hopeless,
        )
        self._follower = Follower(self._agenda, pattern)
        size = len(self._agenda)
        rng = np.random.default_rng(seed)
        name = method.variant.removeprefix("ls-").removeprefix("ga-")
        kind = 0 if method.is_adaptive else list(OPERATORS).index(name)
        # Lighter ones come first in an agenda; of the two orders by weight a local search keeps the better.
        orders = [np.arange(size)[::-1], np.arange(size)]
        if not method.is_local:
            orders += [rng.permutation(size) for _ in range(method.population - 2)]
        self._initial = [self._individual(order, kind, rng) for order in orders]
        self._first: list[float] = []
        self._search = SteadyState(
            self._initial,
            self._costs,
            [Operator("child", vary(method), parents=2)],
            rng=rng,
            key=_key,
            admit=self._admit,
        )
        self._births = self._improved = self._alike = 0
        problem = pattern.problem
        work = problem.requirements * len(problem) if pattern.is_compiled else EPOCH
        self._orders_of_an_epoch = max(1, min(50, EPOCH // max(1, work)))

    def _individual(self, order: Ints, kind: int, rng: np.random.Generator) -> Ints:
        """An order with its genes of operator and rate."""
        rate = USUAL
        if self._method.is_adaptive:
            kind, rate = int(rng.integers(len(OPERATORS))), int(rng.integers(len(RATES)))
        return np.concatenate([order, [kind, rate]]).astype(np.int64)

    def _admit(self, individual: Ints) -> bool:
        """Whether numbers are an order and its genes."""
        order, (kind, rate) = individual[:-2], individual[-2:]
        is_order = np.array_equal(np.sort(order), np.arange(len(self._agenda)))
        return is_order and 0 <= kind < len(OPERATORS) and 0 <= rate < len(RATES)

    @property
    def cost(self) -> float:
        """What the secondary cells of the best order cost; infinite before the first epoch."""
        return min(self._first, default=math.inf) if self._search.generation < 0 else self._search.cost

    @property
    def evaluations(self) -> int:
        """How many orders were tried; those tried before are counted again, though not protected again."""
        return self._births

    @property
    def finished(self) -> bool:
        """Whether one of the paper's reasons to stop is met, or there is but one order."""
        if self._births == 0:
            return False
        if len(self._agenda) < 2 or self._births >= self._method.evaluations:
            return True
        if self._births - self._improved >= self._method.patience:
            return True
        # Later in the paper, for the self-adaptive variants, this reason is given up.
        if self._method.is_local or self._method.is_adaptive or not self._method.convergence:
            return False
        return self._alike >= self._method.convergence

    def _epochs(self) -> Iterator[None]:
        while not self.finished:
            for _ in range(self._orders_of_an_epoch):
                if not self.finished:
                    self._try_next()
            yield

    def _try_next(self) -> None:
        """Judge one more of the orders to begin with, or one child."""
        before = self.cost
        if self._search.generation < 0:
            self._judge_next()
        else:
            next(self._search.epochs(), None)
            mean = float(np.mean([member.cost for member in self._search.members]))
            self._alike = self._alike + 1 if mean <= (1.0 + ALIKE) * self.cost else 0
        self._births += 1
        if self.cost < before:
            self._improved = self._births

    def _judge_next(self) -> None:
        """Judge one more of the orders to begin with, since all together take long in a large table."""
        self._first += self._made([self._initial[len(self._first)]])
        if len(self._first) == len(self._initial):
            next(self._search.epochs(), None)
            if self._method.is_local:
                self._search.members = [min(self._search.members, key=lambda member: member.cost)]

    def _best(self) -> Ints:
        """The best order so far."""
        if self._search.generation < 0:
            return self._initial[int(np.argmin([*self._first, math.inf]))][:-2]
        return self._search.answer()[:-2]

    def answer(self) -> Bools:
        """The pattern of the best order, over the columns, with all requirements protected that can be."""
        self._make(self._best(), complete=True)
        return self._pattern.suppressed

    def order(self) -> Ints:
        """The requirements in the best order, to begin another search with."""
        groups = self._agenda.groups
        columns = [groups[number] for number in self._best().tolist()]
        listed = [side[group] for group in columns for side in (self._agenda.up, self._agenda.down)]
        requirements = np.concatenate([*listed, np.empty(0, np.int64)])
        return requirements[requirements >= 0]

    def _state(self) -> State:
        counts = np.array([self._births, self._improved, self._alike], dtype=np.int64)
        first = np.array(self._first, dtype=np.float64)
        parts = inside("search", self._search.save()) | inside("pattern", self._pattern.save())
        return parts | {"counts": counts, "first": first}

    def _restore(self, state: State) -> None:
        self._search.load(part("search", state))
        self._pattern.load(part("pattern", state))
        self._births, self._improved, self._alike = integers("counts", state["counts"], (3,), 0, 2**62).tolist()
        self._first = floats("first", state["first"], (-1,), infinite=True).tolist()
        # Either some of the orders to begin with are still to be judged, or all of them are.
        if len(self._first) - (self._search.generation >= 0) >= len(self._initial):
            raise ValueError("first has more costs than there are orders to begin with")
        if self._search.generation >= 0 and len(self._first) != len(self._initial):
            raise ValueError("first has fewer costs than there are orders to begin with")

    def _costs(self, individuals: Sequence[Ints]) -> list[float]:
        if self._search.generation < 0:
            known = dict(zip(map(_key, self._initial), self._first, strict=True))
            return [known[_key(individual)] for individual in individuals]
        return self._made(individuals)

    def _made(self, individuals: Sequence[Ints]) -> list[float]:
        """What the patterns of some orders cost."""
        found = []
        for individual in individuals:
            self._make(individual[:-2], complete=False)
            found.append(self._pattern.cost)
        return found

    def _make(self, order: Ints, *, complete: bool) -> None:
        """Make the pattern of an order."""
        self._follower.follow(order)
        # Without a surrogate what is left are cells that primary ones protect, at no cost; but for insiders.
        if complete or not self._pattern.problem.outside.all():
            self._agenda.complete(self._pattern)
        if self._method.clean:
            self._pattern.clean()


def vary(method: OrderSearch) -> Vary[Ints]:
    """How two parents have a child: an order and behind it the genes of operator and rate."""
    operators = list(OPERATORS.values())

    def child(parents: Sequence[Ints], rng: np.random.Generator) -> Ints:
        order, (kind, rate) = parents[0][:-2], parents[0][-2:].tolist()
        if rng.random() < method.crossover:
            order = cross(order, parents[1][:-2], rng)
        if method.is_adaptive:
            kind = int(rng.integers(len(operators))) if rng.random() < ADAPT else kind
            rate = int(rng.integers(len(RATES))) if rng.random() < ADAPT else rate
        if len(order) > 1:
            times = int(rng.binomial(len(order), min(1.0, RATES[rate] / len(order))))
            for _ in range(max(times, int(method.is_local))):
                order = operators[kind](order, rng)
        return np.concatenate([order, [kind, rate]]).astype(np.int64)

    return child


def _key(individual: Ints) -> bytes:
    """What is the same for the same order; its other genes make no difference to the cost."""
    return hashlib.blake2b(individual[:-2].tobytes(), digest_size=16).digest()
