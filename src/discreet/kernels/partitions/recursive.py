"""RGMAT: domes of records are divided in two, and in two again, down to groups of k to 2k−1.

The records are kept in a row in which every dome is a stretch; dividing a dome is a rearrangement of its stretch.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress, Words
from discreet.kernels.chunks import drive, part
from discreet.kernels.jit import helper, kernel
from discreet.kernels.random import below
from discreet.kernels.space.kdtree import part_at

# A dome is at least halved, or nearly, on the way down, so that few are ever waiting.
_WAITING = 256


class Rates(NamedTuple):
    """What rules the crossover in a dome."""

    share: float  # of the smaller sub-dome that is chosen in an epoch
    epochs: int  # at most
    patience: int  # epochs without a change after which it has converged


class State(NamedTuple):
    """What a run keeps between chunks."""

    row: Ints  # the records
    cuts: Ints  # where the leaves begin
    waiting: Ints  # start and end of the domes that are not leaves yet, a stack
    counts: Ints  # leaves; height of the stack; steps in the dome on top; how many of them since the last change
    centroids: Floats  # of the two sub-domes of the dome on top
    random: Words


def recursive(points: Floats, k: int, rates: Rates, mutation: float, random: Words, progress: Progress) -> Ints:
    """Partition by RGMAT.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered, n at least k.
    k : int
        Least size of a group.
    rates : Rates
        What rules the crossover.
    mutation : float
        Share of the records, counted from the right, that may migrate.
    random : array of 4 words
        State of the random numbers.
    progress : callable
        Told the fraction done.

    Returns
    -------
    array of n ints
        The group of each record, from the leftmost leaf to the rightmost.
    """
    n, d = points.shape
    state = State(
        row=np.arange(n),
        cuts=np.zeros(n // k + 1, np.int64),
        waiting=np.zeros((_WAITING, 2), np.int64),
        counts=np.array([0, 1, 0, 0]),
        centroids=np.zeros((2, d)),
        random=random,
    )
    state.waiting[0] = 0, n
    drive(lambda work: divide(points, k, rates, work, state), part(progress, 0.0, 0.9))
    labels = np.empty(n, np.int64)
    labels[state.row] = np.repeat(np.arange(state.counts[0]), np.diff(state.cuts[: state.counts[0] + 1]))
    chosen = state.row[n - int(np.ceil(mutation * n)) :]
    migrate(points, k, chosen, labels, random)
    progress(1.0)
    return labels


@helper
def left_size(size: int, k: int) -> int:
    """Size of the left sub-dome: the largest multiple of 2k in half of the dome, below 4k records of k.

    As printed (divisible by 2 and by k), it could be 0 for odd k below 4k records, and is no multiple of 2k for even k.
    """
    unit = 2 * k if size >= 4 * k else k
    return size // 2 // unit * unit


@kernel
def divide(points: Floats, k: int, rates: Rates, work: int, state: State) -> float:
    """Do so many steps (Algorithm 2): divide a dome, or let its sub-domes cross once; tell the fraction done."""
    row, counts, waiting = state.row, state.counts, state.waiting
    for _ in range(work):
        if counts[1] == 0:
            break
        start, end = waiting[counts[1] - 1]
        middle = start + left_size(end - start, k)
        if end - start < 2 * k:
            counts[0] += 1
            counts[1] -= 1
            state.cuts[counts[0]] = end
        elif counts[2] == 0:
            split(points, row, start, middle, end, state.centroids)
            counts[2] = 1
        elif counts[2] > rates.epochs or counts[3] == rates.patience:
            waiting[counts[1] - 1] = middle, end
            waiting[counts[1]] = start, middle
            counts[1] += 1
            counts[2] = counts[3] = 0
        else:
            changed = cross(points, row, start, middle, end, rates.share, state.centroids, state.random)
            counts[2] += 1
            counts[3] = 0 if changed else counts[3] + 1
    return float(state.cuts[counts[0]] / row.size) if counts[1] else 1.0


@helper
def split(points: Floats, row: Ints, start: int, middle: int, end: int, centroids: Floats) -> None:
    """Put the record farthest from the dome's centroid and those nearest to it before the middle."""
    average(points, row[start:end], centroids[0])
    outer = start + _farthest(points, row[start:end], centroids[0])
    row[start], row[outer] = row[outer], row[start]
    keys = np.empty(end - start)
    for i in range(start, end):
        keys[i - start] = _apart(points[row[i]], points[row[start]])
    places = np.arange(end - start)
    part_at(keys, places, 1, middle - start, end - start)
    row[start:end] = row[start:end][places]
    average(points, row[start:middle], centroids[0])
    average(points, row[middle:end], centroids[1])


@helper
def cross(
    points: Floats, row: Ints, start: int, middle: int, end: int, share: float, centroids: Floats, random: Words
) -> bool:
    """Choose records of both sub-domes at random, pair by pair, and swap a pair if the SSE falls; tell if any was."""
    changed = False
    left, right = middle - start, end - middle
    for i in range(int(np.ceil(share * left))):
        a, b = start + i, middle + i
        other = a + below(random, left - i)
        row[a], row[other] = row[other], row[a]
        other = b + below(random, right - i)
        row[b], row[other] = row[other], row[b]
        changed |= swap(points, row, a, b, centroids[0], left, centroids[1], right)
    return changed


@helper
def swap(
    points: Floats, row: Ints, a: int, b: int, centroid_a: Floats, size_a: int, centroid_b: Floats, size_b: int
) -> bool:
    """Let two records of two groups change places if the SSE falls by more than rounding; tell if they did."""
    first, second = points[row[a]], points[row[b]]
    square, dot = 0.0, 0.0
    for j in range(first.size):
        difference = second[j] - first[j]
        square += difference * difference
        dot += difference * (centroid_a[j] - centroid_b[j])
    square *= 1.0 / size_a + 1.0 / size_b
    if not square + 2.0 * dot > 1e-12 * square:
        return False
    for j in range(first.size):
        difference = second[j] - first[j]
        centroid_a[j] += difference / size_a
        centroid_b[j] -= difference / size_b
    row[a], row[b] = row[b], row[a]
    return True


@kernel
def migrate(points: Floats, k: int, chosen: Ints, labels: Ints, random: Words) -> None:
    """Let chosen records, in random order, go to the group that lowers the SSE most, as far as sizes allow."""
    d = points.shape[1]
    groups = labels.max() + 1
    sizes = np.zeros(groups, np.int64)
    centroids = np.zeros((groups, d))
    for i in range(labels.size):
        sizes[labels[i]] += 1
        centroids[labels[i]] += (points[i] - centroids[labels[i]]) / sizes[labels[i]]
    for i in range(chosen.size):
        other = i + below(random, chosen.size - i)
        chosen[i], chosen[other] = chosen[other], chosen[i]
        point, own = points[chosen[i]], labels[chosen[i]]
        if sizes[own] == k:
            continue
        target = own
        least = _apart(point, centroids[own]) * sizes[own] / (sizes[own] - 1) * (1.0 - 1e-12)
        for group in range(groups):
            if group != own and sizes[group] < 2 * k - 1:
                rise = _apart(point, centroids[group]) * sizes[group] / (sizes[group] + 1)
                if rise < least:
                    target, least = group, rise
        if target != own:
            sizes[own] -= 1
            sizes[target] += 1
            centroids[own] -= (point - centroids[own]) / sizes[own]
            centroids[target] += (point - centroids[target]) / sizes[target]
            labels[chosen[i]] = target


@helper
def average(points: Floats, records: Ints, centroid: Floats) -> None:
    """The centroid of some records, relative to the first of them so that a large offset costs no accuracy."""
    base = points[records[0]]
    centroid[:] = 0.0
    for record in records:
        for j in range(centroid.size):
            centroid[j] += points[record, j] - base[j]
    for j in range(centroid.size):
        centroid[j] = base[j] + centroid[j] / records.size


@helper
def _farthest(points: Floats, records: Ints, query: Floats) -> int:
    """Place of the record farthest from a query, ties by lowest place."""
    found, most = 0, -1.0
    for i in range(records.size):
        distance = _apart(points[records[i]], query)
        if distance > most:
            found, most = i, distance
    return found


@helper
def _apart(a: Floats, b: Floats) -> float:
    """Squared distance."""
    distance = 0.0
    for j in range(a.size):
        difference = a[j] - b[j]
        distance += difference * difference
    return distance
