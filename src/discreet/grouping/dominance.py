"""Who dominates whom among points of loss and risk, and how crowded it is round them: plain functions on arrays.

References
----------
K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE
Transactions on Evolutionary Computation 6 (2002) 182-197.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def ranks(points: Floats) -> Ints:
    """0 for points that no other dominates, 1 for those that only these dominate, and so on.

    Parameters
    ----------
    points : array of shape (n, 2)
        What is to be small; infinite for what is not allowed.
    """
    n = len(points)
    no_more = (points[:, None, :] <= points[None, :, :]).all(axis=2)
    less = (points[:, None, :] < points[None, :, :]).any(axis=2)
    dominates = np.logical_and(no_more, less)
    found = np.full(n, -1)
    level = 0
    while (found < 0).any():
        left = found < 0
        found[left & ~dominates[left].any(axis=0)] = level
        level += 1
    return found


def crowding(points: Floats, rank: Ints) -> Floats:
    """How far apart the neighbours of a point in its front are; infinite at the ends. Far apart is good.

    Parameters
    ----------
    points : array of shape (n, 2)
        What is to be small.
    rank : array of int
        The front of each point.
    """
    room = np.zeros(len(points))
    for level in np.unique(rank):
        members = np.flatnonzero(rank == level)
        for column in range(points.shape[1]):
            order = members[np.argsort(points[members, column], kind="stable")]
            values = points[order, column]
            room[order[[0, -1]]] = np.inf
            if values[0] < values[-1] < np.inf:
                room[order[1:-1]] += (values[2:] - values[:-2]) / (values[-1] - values[0])
    return room
