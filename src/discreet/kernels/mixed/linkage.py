"""Whether each record finds its own among candidates with numbers and categories; see `space.linkage` for points.

Candidates that are equal are looked at once. Attribute by attribute and tile by tile, so that a few wide instructions
compare many of them, until enough are nearer.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import helper, kernel
from discreet.kernels.mixed.groups import Codes, find_equal
from discreet.kernels.space.linkage import ABSOLUTE, RELATIVE

# Candidates whose distances stay in the first-level cache.
TILE = 1024


class Scale(NamedTuple):
    """How far categories are from each other."""

    prices: Floats  # attribute: the squared distance between two categories
    lengths: Floats  # attribute, code: from a category to a missing value, 0 for a missing value
    missing: Codes  # attribute: the code of a missing value


def link_mixed(
    points: tuple[Floats, Codes],
    candidates: tuple[Floats, Codes],
    scale: Scale,
    rows: Ints,
    nearest: int,
    progress: Progress,
) -> Floats:
    """Compute the chance of each of the given rows that a random order of ties puts its own among the nearest.

    Parameters
    ----------
    points, candidates : numbers and codes
        Those who search, and those who are found; the own of a record is in the same row.
    scale : Scale
        How far categories are from each other.
    rows : array of int
        The points that search.
    nearest : int
        How many of the nearest count.
    progress : callable
        Told the fraction done.
    """
    first, entry, weights = find_equal(*candidates)
    numbers, codes = np.ascontiguousarray(candidates[0][first].T), np.ascontiguousarray(candidates[1][first].T)
    counts = np.zeros((rows.size, 2))

    def search(start: int, end: int) -> None:
        to = rows[start:end]
        _count(points[0][to], points[1][to], numbers, codes, scale, weights, entry[to], nearest, counts[start:end])

    sweep(search, rows.size, progress)
    # A search that was left early may have met no tie; it has no chance anyway.
    chances: Floats = np.clip((nearest - counts[:, 0]) / np.maximum(counts[:, 1], 1.0), 0.0, 1.0)
    return chances


@kernel
def _count(
    points: Floats,
    marks: Codes,
    numbers: Floats,
    codes: Codes,
    scale: Scale,
    weights: Floats,
    own: Ints,
    nearest: int,
    counts: Floats,
) -> None:
    """Count the nearer and the tied of each query, until `nearest` are nearer; candidates are columns."""
    distances = np.zeros(TILE)
    for i in range(own.size):
        _measure(points[i], marks[i], numbers, codes, scale, own[i], own[i] + 1, distances)
        radius = distances[0]
        slack = RELATIVE * radius + ABSOLUTE
        for start in range(0, weights.size, TILE):
            end = min(start + TILE, weights.size)
            _measure(points[i], marks[i], numbers, codes, scale, start, end, distances)
            for other in range(start, end):
                distance = distances[other - start]
                if distance <= radius + slack:
                    counts[i, int(distance >= radius - slack)] += weights[other]
            if counts[i, 0] >= nearest:
                break


@helper
def _measure(
    x: Floats, marks: Codes, numbers: Floats, codes: Codes, scale: Scale, start: int, end: int, distances: Floats
) -> None:
    """Compute the squared distances of a record to the candidates of a tile."""
    count = end - start
    for at in range(count):
        distances[at] = 0.0
    for j in range(x.size):
        row, own = numbers[j], x[j]
        for at in range(count):
            difference = row[start + at] - own
            distances[at] += difference * difference
    for j in range(marks.size):
        line, mark, price, missing = codes[j], marks[j], scale.prices[j], scale.missing[j]
        if mark == missing:
            for at in range(count):
                distances[at] += scale.lengths[j, line[start + at]]
            continue
        lacking = 0
        for at in range(count):
            code = line[start + at]
            distances[at] += price if code != mark else 0.0
            lacking += code == missing
        if lacking:
            for at in range(count):
                if line[start + at] == missing:
                    distances[at] += scale.lengths[j, mark] - price
