"""Compiling before the clock starts: it is no part of the search, nor can it be interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.kernels.compiling import uninterrupted
from discreet.kernels.group_linkage import chances, fill_distances, nearest_records
from discreet.kernels.group_release import cluster_means, lost, pinned
from discreet.microdata.grouped import warm_up

if TYPE_CHECKING:
    from discreet.grouping.inner import Inner
    from discreet.grouping.space import Space


def compile_kernels(space: Space, inner: Inner, k: int) -> None:
    """Run all that is compiled on a small case."""
    warm_up(inner.method, space.points.shape[1], k, {space.records})
    pair, first, rows = np.array([[0.0], [1.0]]), np.zeros(1, np.int64), np.array([0, 1], np.int32)
    two = np.arange(2)
    with uninterrupted():
        cluster_means(pair, first, rows, 2)
        lost(pair, first, np.ones(1), np.zeros((0, 1), bool), pair, rows)
        pinned(pair, first, pair, rows, 0.1, 0.0)
        tables = np.zeros((1, 2, 2))
        fill_distances(pair, first, np.ascontiguousarray(pair.T), tables[0])
        chances(tables, first, rows[None], two, np.arange(3), nearest_records(pair, two, 1), two, 1)
