"""Who becomes a parent, and who stays: plain functions on costs. Low costs are good, and ties go to the first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.evolution.checks import whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def roulette(fitness: ArrayLike, count: int, rng: np.random.Generator) -> Ints:
    """Draw with probabilities proportional to fitness; all alike if all fitness is zero.

    Parameters
    ----------
    fitness : array of float
        Finite, at least 0, high is good; zero is never drawn beside another.
    count : int
        How many to draw; the same one can be drawn again.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    array of int
        Positions of those drawn.

    References
    ----------
    D. E. Goldberg, Genetic Algorithms in Search, Optimization, and Machine Learning, Addison-Wesley (1989).
    """
    values = _checked("fitness", fitness)
    if not np.isfinite(values).all() or values.min() < 0:
        raise ValueError("fitness must be finite and at least 0")
    if values.max() == 0:
        return rng.integers(len(values), size=whole("count", count, 0))
    wheel = np.cumsum(values / values.max())  # scaled, so that the sum cannot overflow
    # From the right, so that a share of nothing holds no point; a number below 1 never rounds up to the whole wheel.
    drawn: Ints = np.searchsorted(wheel, rng.random(whole("count", count, 0)) * wheel[-1], side="right")
    return drawn


def tournament(costs: ArrayLike, count: int, size: int, rng: np.random.Generator) -> Ints:
    """Draw some at random, with repetition, and take the cheapest of them.

    Parameters
    ----------
    costs : array of float
        Low is good; infinite costs lose against all others.
    count : int
        How many tournaments to hold.
    size : int
        How many take part in each, at least 1; the larger, the harder for the dear ones.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    array of int
        Positions of the winners.
    """
    values = _checked("costs", costs)
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
    size = len(_checked("costs", costs))
    return rng.choice(size, whole("count", count, 0), replace=count > size)


def elite(costs: ArrayLike, count: int) -> Ints:
    """Positions of the cheapest, the cheapest first.

    Parameters
    ----------
    costs : array of float
        Low is good.
    count : int
        How many; all if there are fewer.
    """
    values = _checked("costs", costs)
    return np.argsort(values, kind="stable")[: whole("count", count, 0)]


def replace_worst(costs: ArrayLike, newcomer_cost: float) -> int | None:
    """Position of the dearest, if the newcomer is cheaper; otherwise None.

    Parameters
    ----------
    costs : array of float
        Costs of those who are there.
    newcomer_cost : float
        Cost of the one who wants a place.
    """
    values = _checked("costs", costs)
    worst = int(np.argmax(values))
    return worst if newcomer_cost < values[worst] else None


def _checked(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a list of at least one number")
    if np.isnan(array).any():
        raise ValueError(f"{name} must not contain NaN")
    return array
