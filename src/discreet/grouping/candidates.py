"""Groupings of attributes, the operators that vary them, and how many there are.

A grouping is an array: the group of each attribute, in the order of the attributes; groups are numbered 0, 1, … as
they first appear, so that all clones have one form. In the words of the paper this is the object part; the group part
follows from it. A candidate of a search is a grouping and which of the k allowed it is protected with, in one array.

Crossover and the five mutations are plain functions of the parents, two or one of them in canonical form, and of a
source of randomness. The stored text of the paper breaks off in
the middle of some definitions; what is left open there is chosen so that its remarks on the operators hold (which of
them make clones, and when).

References
----------
The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, section 3.3; the crossover after
E. Falkenauer, Genetic Algorithms and Grouping Problems, Wiley (1998).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Labels = NDArray[np.int16]
# The place of its k in the list of those allowed, then the labels of the grouping.
Candidate = NDArray[np.int16]
Group = tuple[int, ...]
Name = TypeVar("Name")


def canonical(labels: ArrayLike) -> Labels:
    """Renumber the groups in order of first appearance.

    Parameters
    ----------
    labels : array of int
        The group of each attribute, under any numbers.
    """
    given = np.asarray(labels)
    _, first, inverse = np.unique(given, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int16)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int16)
    renumbered: Labels = rank[inverse.reshape(given.shape)]
    return renumbered


def is_candidate(one: Candidate, attributes: int, ks: int) -> bool:
    """Whether numbers, such as a file holds, are a candidate: one of so many k, and a grouping in canonical form."""
    return len(one) == attributes + 1 and 0 <= one[0] < ks and np.array_equal(canonical(one[1:]), one[1:])


def clone_key(one: Labels | Candidate) -> bytes:
    """Bytes that are the same for clones, and for them only."""
    return one.tobytes()


def count(labels: Labels) -> int:
    """The number of groups."""
    return int(labels.max()) + 1


def groups(labels: Labels) -> list[Group]:
    """The attributes of each group, as ascending positions."""
    members: list[list[int]] = [[] for _ in range(count(labels))]
    for attribute, group in enumerate(labels.tolist()):
        members[group].append(attribute)
    return [tuple(group) for group in members]


def name_groups(labels: Labels, names: Sequence[Name]) -> list[list[Name]]:
    """The names of the attributes of each group."""
    return [[names[attribute] for attribute in group] for group in groups(labels)]


def crossover(parents: Sequence[Labels], rng: np.random.Generator) -> list[Labels]:
    """Two children: each is one parent with some groups of the other put in.

    A crossing site is drawn in the group part of each parent: groups that follow each other. Those of the one are put
    into the other, whose own groups lose the attributes in them; a group that loses all is gone.

    Parameters
    ----------
    parents : sequence of two groupings
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
    first, second = parents
    return [_inject(first, second, rng), _inject(second, first, rng)]


def create_group(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """A new group of attributes drawn at random, one to all of them; they leave the groups they were in."""
    child = parents[0].copy()
    size = rng.integers(1, len(child), endpoint=True)
    child[rng.choice(len(child), size, replace=False)] = count(child)
    return canonical(child)


def eliminate_group(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """A group is dissolved, each of its attributes goes to any of the others; of a single group comes a clone."""
    child = parents[0].copy()
    there = count(child)
    if there == 1:
        return child
    gone = int(rng.integers(there))
    members = np.flatnonzero(child == gone)
    others = np.delete(np.arange(there), gone)
    child[members] = rng.choice(others, len(members))
    return canonical(child)


def split_group(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """A group of at least two attributes falls into two; where all stand alone comes a clone."""
    child = parents[0].copy()
    large = np.flatnonzero(np.bincount(child) > 1)
    if not len(large):
        return child
    members = np.flatnonzero(child == rng.choice(large))
    leave = rng.choice(members, rng.integers(1, len(members)), replace=False)
    child[leave] = count(child)
    return canonical(child)


def swap_elements(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """Two attributes drawn at random take each other's place; in the same group that makes a clone."""
    child = parents[0].copy()
    if len(child) == 1:
        return child
    pair = rng.choice(len(child), 2, replace=False)
    child[pair] = child[pair[::-1]]
    return canonical(child)


def move_element(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """An attribute goes to another group; of a single group comes a clone."""
    child = parents[0].copy()
    there = count(child)
    if there == 1:
        return child
    attribute = rng.integers(len(child))
    # One of the others: a number below the last, which stands for itself unless it is the attribute's own group.
    to = rng.integers(there - 1)
    child[attribute] = there - 1 if to == child[attribute] else to
    return canonical(child)


def random_grouping(size: int, rng: np.random.Generator) -> Labels:
    """A number of groups from 1 to all is drawn, then a group for each attribute; those that stay empty are gone.

    Parameters
    ----------
    size : int
        The number of attributes.
    rng : numpy.random.Generator
        Source of randomness.
    """
    return canonical(rng.integers(rng.integers(1, size, endpoint=True), size=size))


def _inject(giver: Labels, taker: Labels, rng: np.random.Generator) -> Labels:
    """The taker with the groups of a crossing site of the giver."""
    start, end = np.sort(rng.choice(count(giver) + 1, 2, replace=False))
    given = (giver >= start) & (giver < end)
    return canonical(np.where(given, giver + count(taker), taker))


Vary = Callable[[Sequence[Candidate], np.random.Generator], Candidate]


def candidate(labels: Labels, place: int = 0) -> Candidate:
    """A grouping with the k at a place in the list."""
    return np.concatenate([np.array([place], np.int16), labels])


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


def bell(size: int) -> int:
    """The number of groupings of so many attributes (the Bell number).

    Parameters
    ----------
    size : int
        The number of attributes.
    """
    row = [1]  # the triangle of Aitken: each row begins with the end of the one before
    for _ in range(size - 1):
        following = [row[-1]]
        for number in row:
            following.append(following[-1] + number)
        row = following
    return row[-1]


def every_grouping(size: int) -> Iterator[Labels]:
    """All groupings of so many attributes in canonical form, from all together to each alone.

    Parameters
    ----------
    size : int
        The number of attributes.
    """
    labels = np.zeros(size, np.int16)
    while True:
        yield labels.copy()
        # The last attribute that can go one group further; those after it start anew.
        highest = np.maximum.accumulate(labels)
        may = np.flatnonzero(labels[1:] <= highest[:-1]) + 1
        if not len(may):
            return
        place = may[-1]
        labels[place] += 1
        labels[place + 1 :] = 0
