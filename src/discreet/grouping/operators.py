"""Crossover and the five mutations of groupings: plain functions of parents and chance.

The stored text of the paper breaks off in the middle of some definitions; what is left open there is chosen so that
its remarks on the operators hold (which of them make clones, and when).

References
----------
The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, section 3.3; the crossover after
E. Falkenauer, Genetic Algorithms and Grouping Problems, Wiley (1998).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.grouping.canonical import Labels, canonical, count


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
    """A new group of attributes drawn at random, one to all of them; they leave the groups they were in.

    Parameters
    ----------
    parents : sequence of one grouping
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
    child = parents[0].copy()
    size = rng.integers(1, len(child), endpoint=True)
    child[rng.choice(len(child), size, replace=False)] = count(child)
    return canonical(child)


def eliminate_group(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """A group is dissolved, each of its attributes goes to any of the others; of a single group comes a clone.

    Parameters
    ----------
    parents : sequence of one grouping
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
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
    """A group of at least two attributes falls into two; where all stand alone comes a clone.

    Parameters
    ----------
    parents : sequence of one grouping
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
    child = parents[0].copy()
    large = np.flatnonzero(np.bincount(child) > 1)
    if not len(large):
        return child
    members = np.flatnonzero(child == rng.choice(large))
    leave = rng.choice(members, rng.integers(1, len(members)), replace=False)
    child[leave] = count(child)
    return canonical(child)


def swap_elements(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """Two attributes drawn at random take each other's place; in the same group that makes a clone.

    Parameters
    ----------
    parents : sequence of one grouping
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
    child = parents[0].copy()
    if len(child) == 1:
        return child
    pair = rng.choice(len(child), 2, replace=False)
    child[pair] = child[pair[::-1]]
    return canonical(child)


def move_element(parents: Sequence[Labels], rng: np.random.Generator) -> Labels:
    """An attribute goes to another group; of a single group comes a clone.

    Parameters
    ----------
    parents : sequence of one grouping
        In canonical form.
    rng : numpy.random.Generator
        Source of randomness.
    """
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
