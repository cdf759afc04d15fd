"""Proven lower bounds of the SSE of all k-partitions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.space.lists import near_sums
from discreet.microdata.method import Labels, Points, Run
from discreet.microdata.set_partitioning.exact import Exact
from discreet.microdata.set_partitioning.pricing import nearest_bound

# Column generation is tried up to these sizes; its rounds grow with both, and for larger k they take too long.
MOST_RECORDS = 5_000
MOST_K = 5
# Epochs of column generation at most, whether it has converged or not: about a minute for a thousand records.
MOST_EPOCHS = 150


@dataclass(frozen=True)
class Bound:
    """A lower bound of the SSE of all k-partitions, and the method that proves it."""

    value: float
    method: str


def lower_bound(points: Points, k: int, *, labels: Labels) -> Bound:
    """Prove a lower bound of the SSE.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    labels : array of n ints
        The best partition known; the bound never exceeds its SSE.

    Returns
    -------
    Bound
        By "column generation", the linear relaxation of set partitioning, where it converges within a fixed amount of
        work; by "Lagrangian" relaxation, where it does not; by "nearest neighbours" for large data and large k.
    """
    cost = float(within_sse(points, labels)) if points.shape[1] else 0.0
    if len(points) < 2 * k or cost == 0.0:
        return Bound(cost, "no choice" if cost else "no loss")
    nearest = min(nearest_bound(near_sums(points, k - 1, lambda _fraction: None), k), cost)
    if len(points) > MOST_RECORDS or k > MOST_K:
        return Bound(nearest, "nearest neighbours")
    search = Exact().search(points, k, Run(start=labels))
    for _ in islice(search.epochs(), MOST_EPOCHS):
        pass
    if search.bound <= nearest:
        return Bound(nearest, "nearest neighbours")
    return Bound(min(search.bound, cost), "column generation" if search.converged else "Lagrangian")
