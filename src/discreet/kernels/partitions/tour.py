"""Nearest point next: a tour that goes from each record to the nearest one not yet visited.

Records may be bound together in groups; a group that is entered is visited to its end before the tour goes on.

The order of records along a Hilbert curve through the space of their principal components.

One 64-bit key holds the place on the curve, so the bits per axis shrink as axes are added. Measured at k = 5 on the
reference data and on generated data of 2 to 30 attributes: the principal components on one common scale lose less than
the attributes themselves where these are correlated (all reference data), about the same on independent normal data,
and more on independent skewed data. All components with longer keys gained 3 % at most, and lost as often.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress, Words
from discreet.kernels.chunks import drive, part, sweep
from discreet.kernels.jit import helper, kernel
from discreet.kernels.space.kdtree import Tree, farthest, grow, nearest, remove


class Groups(NamedTuple):
    """Records by group: group g has members[starts[g] : starts[g + 1]]."""

    labels: Ints
    members: Ints
    starts: Ints


def chain(points: Floats, labels: Ints, progress: Progress) -> Ints:
    """Order the records nearest next from the record farthest from the centroid, the records of a group together.

    Parameters
    ----------
    points : array of shape (n, d)
        Finite, C-ordered.
    labels : array of n ints
        The group of each record; all different where none are bound together.
    progress : callable
        Told the fraction done.

    Returns
    -------
    array of n ints
        The records in the order of the tour.
    """
    n = points.shape[0]
    starts = np.zeros(labels.max() + 2, np.int64)
    np.cumsum(np.bincount(labels), out=starts[1:])
    groups = Groups(labels, np.argsort(labels, kind="stable"), starts)
    tree = grow(points)
    order = np.full(n, -1)
    entry, _ = farthest(tree, points.mean(axis=0))
    visited = 0

    def advance(visits: int) -> float:
        nonlocal visited, entry
        visited, entry = _visit(points, groups, visits, tree, order, visited, entry)
        return float(visited / n)

    drive(advance, progress)
    return order


@kernel
def _visit(
    points: Floats, groups: Groups, visits: int, tree: Tree, order: Ints, visited: int, entry: int
) -> tuple[int, int]:
    """Visit so many groups, the first by its given record; tell how many records are visited and where to go on."""
    for _ in range(visits):
        if entry < 0:
            break
        group = groups.labels[entry]
        first, end = groups.starts[group], groups.starts[group + 1]
        for i in range(first, end):
            remove(tree, groups.members[i])
        # The members not yet visited stand at the end of the group's stretch.
        here = entry
        for position in range(first, end):
            at = _nearest_of(points, groups.members, position, end, here)
            here = groups.members[at]
            groups.members[at] = groups.members[position]
            groups.members[position] = here
            order[visited] = here
            visited += 1
        entry = nearest(tree, points[here])[0]
    return visited, entry


@helper
def _nearest_of(points: Floats, members: Ints, first: int, end: int, record: int) -> int:
    """Find the place of the member nearest to a record, itself before any that coincides with it, then the lowest."""
    found, least = first, np.inf
    for i in range(first, end):
        if members[i] == record:
            return i
        distance = 0.0
        for j in range(points.shape[1]):
            difference = points[members[i], j] - points[record, j]
            distance += difference * difference
        if distance < least or (distance == least and members[i] < members[found]):
            found, least = i, distance
    return found


COMPONENTS = 10
# The axes are estimated from no more records than this, evenly spaced: the cost stays linear in n for any d.
SAMPLE = 65_536


def curve_order(points: Floats, progress: Progress) -> Ints:
    """Order the records along the curve; records on the same place keep their order."""
    n = points.shape[0]
    axes = _principal_axes(points)
    m = axes.shape[0]
    bits = min(64 // m, 50)
    low, high = np.full(m, np.inf), np.full(m, -np.inf)
    sweep(lambda start, end: _span(points[start:end], axes, low, high), n, part(progress, 0.0, 0.3))
    width = float((high - low).max())
    scale = 2.0**bits / width if width > 0.0 else 0.0
    keys = np.zeros(n, np.uint64)
    sweep(
        lambda start, end: _locate(points[start:end], axes, low, scale, bits, keys[start:end]),
        n,
        part(progress, 0.3, 1.0),
    )
    return np.argsort(keys, kind="stable")


def _principal_axes(points: Floats) -> Floats:
    """Find the leading principal axes, as rows, each with its largest coefficient positive."""
    n = points.shape[0]
    sample = np.ascontiguousarray(points[:: -(-n // SAMPLE)])
    _, axes = np.linalg.eigh(_scatter(sample))
    axes = axes.T[::-1][:COMPONENTS]
    largest = np.abs(axes).argmax(axis=1)
    return np.ascontiguousarray(axes * np.sign(axes[np.arange(axes.shape[0]), largest])[:, None])


@kernel
def _scatter(points: Floats) -> Floats:
    """Sum the products of the attributes about their means."""
    n, d = points.shape
    mean = np.zeros(d)
    for i in range(n):
        for j in range(d):
            mean[j] += points[i, j] / n
    scatter = np.zeros((d, d))
    for i in range(n):
        for j in range(d):
            x = points[i, j] - mean[j]
            for other in range(d):
                scatter[j, other] += x * (points[i, other] - mean[other])
    return scatter


@helper
def _project(point: Floats, axis: Floats) -> float:
    total = 0.0
    for j in range(point.size):
        total += point[j] * axis[j]
    return total


@kernel
def _span(points: Floats, axes: Floats, low: Floats, high: Floats) -> None:
    """Widen the ranges of the components to take in these points."""
    for i in range(points.shape[0]):
        for axis in range(axes.shape[0]):
            x = _project(points[i], axes[axis])
            low[axis] = min(low[axis], x)
            high[axis] = max(high[axis], x)


@kernel
def _locate(points: Floats, axes: Floats, low: Floats, scale: float, bits: int, keys: Words) -> None:
    """Give each point its place on the curve, on a grid of 2^bits cells along each axis."""
    m = axes.shape[0]
    cell = np.zeros(m, np.uint64)
    top = 2.0**bits - 1.0
    one = np.uint64(1)
    for i in range(points.shape[0]):
        for axis in range(m):
            cell[axis] = np.uint64(min((_project(points[i], axes[axis]) - low[axis]) * scale, top))
        _transpose(cell, bits)
        key = np.uint64(0)
        for bit in range(bits - 1, -1, -1):
            for axis in range(m):
                key = (key << one) | ((cell[axis] >> np.uint64(bit)) & one)
        keys[i] = key


@helper
def _transpose(cell: Words, bits: int) -> None:
    """Turn coordinates into the Hilbert index, its bits dealt out over the axes.

    J. Skilling, Programming the Hilbert curve, AIP Conference Proceedings 707 (2004) 381-387.
    """
    m = cell.size
    one = np.uint64(1)
    bit = one << np.uint64(bits - 1)
    while bit > one:
        lower = bit - one
        for axis in range(m):
            if cell[axis] & bit:
                cell[0] ^= lower
            else:
                swap = (cell[0] ^ cell[axis]) & lower
                cell[0] ^= swap
                cell[axis] ^= swap
        bit >>= one
    for axis in range(1, m):
        cell[axis] ^= cell[axis - 1]
    flip = np.uint64(0)
    bit = one << np.uint64(bits - 1)
    while bit > one:
        if cell[m - 1] & bit:
            flip ^= bit - one
        bit >>= one
    for axis in range(m):
        cell[axis] ^= flip
