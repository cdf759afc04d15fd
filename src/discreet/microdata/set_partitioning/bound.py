"""How little any partition can lose: proven lower bounds of the SSE."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.space.lists import near_sums
from discreet.microdata.method import Labels, Points, Run
from discreet.microdata.set_partitioning.exact import Exact

# Column generation is tried up to these sizes; its rounds grow with both, and for larger k they take too long.
RECORDS = 5_000
GROUP = 5
# Epochs of column generation at most, whether it has converged or not: about a minute for a thousand records.
EPOCHS = 150


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
    nearest = min(_nearest_neighbours(points, k), cost)
    if len(points) > RECORDS or k > GROUP:
        return Bound(nearest, "nearest neighbours")

    proving = Exact().search(points, k, Run(start=labels))
    for _ in range(EPOCHS):
        if proving.finished:
            break
        proving.advance()
    if proving.bound <= nearest:
        return Bound(nearest, "nearest neighbours")
    return Bound(min(proving.bound, cost), "column generation" if proving.converged else "Lagrangian")


def _nearest_neighbours(points: Points, k: int) -> float:
    """Sum over all records 1/(2k) of the squared distances to their k−1 nearest others.

    The SSE of a group of s is the sum over its records of 1/(2s) of their squared distances to the s−1 others, which
    are no less than those to the s−1 nearest of all. The sum of the s−1 least distances over s grows with s, since the
    next distance is no less than the mean of those before it; so s = k gives the least.
    """

    sums = near_sums(points, k - 1, lambda _fraction: None)
    # Rounding: 1e-12 of the sum is more than the errors of the additions can come to.
    return float(sums[:, k - 1].sum() / (2 * k)) * (1.0 - 1e-12)
