"""Orders and how they vary: the operators of Smith and others (2012, III.B), plain functions on permutations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.verification.attack.system import Ints

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
