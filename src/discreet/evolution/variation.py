"""Operators, which make children, and selection: who becomes a parent, and who gives way.

Selection is made of plain functions on costs. Low costs are good, and ties go to the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.evolution.checks import finite, whole

Individual = TypeVar("Individual")

# Parents and a random generator in, a child out. The parents live on: a function never changes them.
Vary = Callable[[Sequence[Individual], np.random.Generator], Individual]


@dataclass(frozen=True)
class Operator(Generic[Individual]):
    """A way to make children.

    Parameters
    ----------
    name : str
        Under which it appears in the statistics.
    function : callable
        `(parents, rng) -> child`, or a sequence of children if it makes several. It leaves the parents as they are.
    parents : int
        How many parents it takes.
    children : int
        How many children it makes of them.
    times : float
        How often it is applied in a generation; where operators are drawn at random, how often in proportion to the
        others.
    """

    name: str
    function: Callable[[Sequence[Individual], np.random.Generator], Individual | Sequence[Individual]]
    parents: int = 1
    children: int = 1
    times: float = 1

    def __post_init__(self) -> None:
        whole("parents", self.parents, 1)
        whole("children", self.children, 1)
        finite("times", self.times, "of at least 0", least=0.0)

    def apply(self, parents: Sequence[Individual], rng: np.random.Generator) -> list[Individual]:
        """Make the children of some parents."""
        made = self.function(parents, rng)
        if self.children == 1:
            return [cast(Individual, made)]
        made = list(cast("Sequence[Individual]", made))
        if len(made) != self.children:
            raise ValueError(f"the operator {self.name} made {len(made)} children instead of {self.children}")
        return made


def proportions(weights: Sequence[float]) -> list[float]:
    """Weights as probabilities that add up to 1.

    Parameters
    ----------
    weights : sequence of float
        Finite, at least 0, one of them above 0.
    """
    values = [finite("a weight", weight, "of at least 0", least=0.0) for weight in weights]
    total = math.fsum(values)
    if not total > 0:
        raise ValueError("at least one weight must be above 0")
    return [value / total for value in values]


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def tournament(costs: ArrayLike, count: int, rng: np.random.Generator, size: int = 2) -> Ints:
    """Draw some at random, with repetition, and take the cheapest of them.

    Parameters
    ----------
    costs : array of float
        Low is good; infinite costs lose against all others.
    count : int
        How many tournaments to hold.
    rng : numpy.random.Generator
        Source of randomness.
    size : int
        How many take part in each, at least 1; the larger, the harder for the costly ones.

    Returns
    -------
    array of int
        Positions of the winners.
    """
    values = _check_costs(costs)
    drawn: Ints = rng.integers(len(values), size=(whole("count", count, 0), whole("size", size, 1)))
    winners: Ints = drawn[np.arange(len(drawn)), np.argmin(values[drawn], axis=1)]
    return winners


def uniform(costs: ArrayLike, count: int, rng: np.random.Generator) -> Ints:
    """Draw at random whatever the cost; different ones as long as there are enough.

    Parameters
    ----------
    costs : array of float
        Only their number counts.
    count : int
        How many to draw.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    array of int
        Positions of those drawn.
    """
    size = len(_check_costs(costs))
    return rng.choice(size, whole("count", count, 0), replace=count > size)


def replace_worst(costs: ArrayLike, newcomer_cost: float) -> int | None:
    """Position of the costliest, if the newcomer is cheaper; otherwise None.

    Parameters
    ----------
    costs : array of float
        Costs of those who are there.
    newcomer_cost : float
        Cost of the one who wants a place.
    """
    values = _check_costs(costs)
    worst = int(np.argmax(values))
    return worst if newcomer_cost < values[worst] else None


def _check_costs(values: ArrayLike) -> Floats:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError("costs must be a list of at least one number")
    if np.isnan(array).any():
        raise ValueError("costs must not contain NaN")
    return array
