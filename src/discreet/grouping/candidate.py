"""What is searched for: a grouping, and which k of those allowed it is protected with, in one array."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.grouping.canonical import Labels
from discreet.grouping.operators import (
    create_group,
    crossover,
    eliminate_group,
    move_element,
    split_group,
    swap_elements,
)

# The place of its k in the list of those allowed, then the labels of the grouping.
Candidate = NDArray[np.int16]
Vary = Callable[[Sequence[Candidate], np.random.Generator], Candidate]


def candidate(labels: Labels, place: int = 0) -> Candidate:
    """A grouping with the k at a place in the list."""
    return np.concatenate([np.array([place], np.int16), labels])


def key(candidate: Candidate) -> bytes:
    """Bytes that only clones have in common."""
    return candidate.tobytes()


def cross(parents: Sequence[Candidate], rng: np.random.Generator) -> list[Candidate]:
    """Cross the groupings; each child has the k of the parent that it has the other groups of.

    Parameters
    ----------
    parents : sequence of two candidates
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
    children = crossover([parent[1:] for parent in parents], rng)
    return [candidate(child, taker[0]) for child, taker in zip(children, reversed(parents), strict=True)]


def on_grouping(mutation: Callable[[Sequence[Labels], np.random.Generator], Labels]) -> Vary:
    """A mutation of the grouping that leaves k as it is."""

    def vary(parents: Sequence[Candidate], rng: np.random.Generator) -> Candidate:
        parent = parents[0]
        return candidate(mutation([parent[1:]], rng), parent[0])

    return vary


def change_k(count: int) -> Vary:
    """A mutation that goes to the next k above or below, and leaves the grouping as it is.

    Parameters
    ----------
    count : int
        How many k are allowed, at least two, in ascending order.
    """

    def vary(parents: Sequence[Candidate], rng: np.random.Generator) -> Candidate:
        child = parents[0].copy()
        step = 1 if rng.integers(2) else -1
        if not 0 <= child[0] + step < count:
            step = -step
        child[0] += step
        return child

    return vary


MUTATIONS: dict[str, Vary] = {
    "group create": on_grouping(create_group),
    "group eliminate": on_grouping(eliminate_group),
    "group split": on_grouping(split_group),
    "element swap": on_grouping(swap_elements),
    "element move": on_grouping(move_element),
}
