"""The method `mst`: cut the minimum spanning tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.kernels.chunks import part
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.partitions.mst import forest
from discreet.microdata.method import Construction, Labels, Points, Run


@dataclass(frozen=True)
class Mst(Construction):
    """Trees of the minimum spanning tree, cut at its longest edges (MSTP).

    Build the minimum spanning tree of the records (Prim), visit its edges from the longest to the shortest and delete
    each whose removal leaves at least k records on both sides. Trees of more than 2k−1 records are subdivided by
    `mdav`, so that all groups have from k to 2k−1 records. Strong where the data are clustered, weak where they are
    scattered.

    References
    ----------
    M. Laszlo, S. Mukherjee, Minimum spanning tree partitioning algorithm for microaggregation, IEEE Transactions on
    Knowledge and Data Engineering 17 (2005) 902-911.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        trees = forest(points, k, part(run.progress, 0.0, 0.9))
        labels = np.empty_like(trees)
        groups, done = 0, 0
        for members in np.split(np.argsort(trees, kind="stable"), np.cumsum(np.bincount(trees))[:-1]):
            end = done + members.size
            if members.size < 2 * k:
                inner = np.zeros_like(members)
            else:
                progress = part(run.progress, 0.9 + 0.1 * done / trees.size, 0.9 + 0.1 * end / trees.size)
                inner = mdav(points[members], k, False, progress)
            labels[members] = groups + inner
            groups += int(inner.max()) + 1
            done = end
        run.progress(1.0)
        return labels
