"""EGMAT: groups of k exchange records, first within domes of records that are near each other, then all of them.

The records are kept in a row in which every dome is a stretch, and so is every group: k places each, the last group
those that are left over as well.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress, Words
from discreet.kernels.chunks import drive, part
from discreet.kernels.jit import helper, kernel
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.partitions.recursive import average, swap
from discreet.kernels.random import below


class Rates(NamedTuple):
    """What rules the genetic steps."""

    crossover: float  # share of the genes of two chromosomes that cross
    mutation: float  # share of the genes that mutate in an epoch
    epochs: int  # at most
    patience: int  # epochs without a change after which the fitness is stable


class State(NamedTuple):
    """What a run keeps between chunks."""

    row: Ints  # the records
    stages: Ints  # first and end of the groups of each dome, and at last of all groups
    counts: Ints  # stages done; epochs of the next one; how many of them since the last change
    groups: Ints  # in the random order in which they were last paired
    centroids: Floats  # of the groups
    random: Words


def domes(points: Floats, k: int, number: int, rates: Rates, random: Words, progress: Progress) -> Ints:
    """Partition by EGMAT.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered, n at least 2k.
    k : int
        Size of the groups.
    number : int
        Number of domes, as near as domes of a multiple of k records can come to it.
    rates : Rates
        What rules the genetic steps.
    random : array of 4 words
        State of the random numbers.
    progress : callable
        Told the fraction done.

    Returns
    -------
    array of n ints
        The group of each record.
    """
    n, d = points.shape
    groups = n // k
    size = k * min(max(1, round(groups / number)), groups)
    homes = mdav(points, size, False, part(progress, 0.0, 0.1))
    sizes = np.bincount(homes)
    ends = np.cumsum(sizes) // k
    whole = [[0, groups]] if len(sizes) > 1 else []
    state = State(
        row=np.argsort(homes, kind="stable"),
        stages=np.array([*zip(ends - sizes // k, ends, strict=True), *whole]),
        counts=np.zeros(3, np.int64),
        groups=np.arange(groups),
        centroids=np.zeros((groups, d)),
        random=random,
    )
    form(points, k, np.cumsum(sizes), state)
    drive(lambda work: evolve(points, k, rates, work, state), part(progress, 0.1, 1.0))
    labels = np.empty(n, np.int64)
    labels[state.row] = np.minimum(np.arange(n) // k, groups - 1)
    return labels


@kernel
def form(points: Floats, k: int, ends: Ints, state: State) -> None:
    """Form groups at random in each dome; the domes are given by where they end in the row."""
    start = 0
    for end in ends:
        _shuffle(state.row[start:end], state.random)
        start = end
    for group in range(state.groups.size):
        average(points, state.row[group * k : _end(group, k, state.row.size)], state.centroids[group])


@kernel
def evolve(points: Floats, k: int, rates: Rates, work: int, state: State) -> float:
    """Do so many epochs, each a round of crossovers and one of mutations; tell the fraction done."""
    counts, stages = state.counts, state.stages
    for _ in range(work):
        if counts[0] == stages.shape[0]:
            break
        first, end = stages[counts[0]]
        changed = cross(points, k, first, end, rates.crossover, state)
        changed |= mutate(points, k, first, end, rates.mutation, state)
        counts[1] += 1
        counts[2] = 0 if changed else counts[2] + 1
        if counts[1] >= rates.epochs or counts[2] == rates.patience:
            counts[0] += 1
            counts[1] = counts[2] = 0
    # Of the time, the refinement of the whole takes the most.
    done = 0.5 * counts[0] / stages.shape[0] + (0.5 if counts[0] == stages.shape[0] else 0.0)
    return float(done)


@helper
def cross(points: Floats, k: int, first: int, end: int, share: float, state: State) -> bool:
    """Pair the groups from first to end at random; swap records of a pair, each time if the SSE falls; tell if any."""
    row, centroids, random = state.row, state.centroids, state.random
    pairs = state.groups[first:end]
    _shuffle(pairs, random)
    changed = False
    for i in range(0, pairs.size - 1, 2):
        one, two = pairs[i], pairs[i + 1]
        size_one, size_two = _end(one, k, row.size) - one * k, _end(two, k, row.size) - two * k
        for j in range(int(np.ceil(share * k))):
            a, b = one * k + j, two * k + j
            other = a + below(random, size_one - j)
            row[a], row[other] = row[other], row[a]
            other = b + below(random, size_two - j)
            row[b], row[other] = row[other], row[b]
            changed |= swap(points, row, a, b, centroids[one], size_one, centroids[two], size_two)
    return changed


@helper
def mutate(points: Floats, k: int, first: int, end: int, share: float, state: State) -> bool:
    """Swap records drawn at random with others drawn at random, each time if the SSE falls; tell if any was."""
    row, centroids = state.row, state.centroids
    groups = row.size // k
    start, count = first * k, _end(end - 1, k, row.size) - first * k
    changed = False
    for _ in range(int(np.ceil(share * count))):
        a, b = start + below(state.random, count), start + below(state.random, count)
        one, two = min(a // k, groups - 1), min(b // k, groups - 1)
        if one != two:
            size_one, size_two = _end(one, k, row.size) - one * k, _end(two, k, row.size) - two * k
            changed |= swap(points, row, a, b, centroids[one], size_one, centroids[two], size_two)
    return changed


@helper
def _end(group: int, k: int, n: int) -> int:
    """Where a group ends in the row: the last one with the row."""
    return n if group == n // k - 1 else (group + 1) * k


@helper
def _shuffle(items: Ints, random: Words) -> None:
    for i in range(items.size):
        other = i + below(random, items.size - i)
        items[i], items[other] = items[other], items[i]
