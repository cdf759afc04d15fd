"""Partitions as a search sees them: one that is settled at once, one to start from, one that is begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.evolution.process import Process, State
    from discreet.microdata.method import Labels, Method, Points, Run


class Settled:
    """A search that was over before it began."""

    finished = True

    def __init__(self, labels: Labels, cost: float, bound: float | None = None) -> None:
        self.labels, self.cost, self.bound = labels, cost, bound

    def advance(self) -> None:
        """Do nothing."""

    def answer(self) -> Labels:
        """The only groups there are."""
        return self.labels

    def save(self) -> State:
        """Nothing."""
        return {}

    def load(self, state: State) -> None:
        """Stay as it is."""


def begin(method: Method, points: Points, k: int, run: Run) -> Process[Labels]:
    """Begin the search of a method; a method that is none is done at once, and so is a case without a choice."""
    import numpy as np

    from discreet.kernels.sse import within_sse

    count, width = points.shape
    if width == 0:  # all records are alike
        return Settled((np.arange(count) // k).clip(max=count // k - 1), 0.0, 0.0)
    if count < 2 * k:
        labels = np.zeros(count, np.int64)
        cost = float(within_sse(points, labels))
        return Settled(labels, cost, cost)
    if hasattr(method, "search"):
        process: Process[Labels] = method.search(points, k, run)
        return process
    labels = method.assign(points, k, run)
    return Settled(labels, float(within_sse(points, labels)))


def fitted(labels: Labels, k: int) -> Labels:
    """A k-partition with its groups of 2k and more cut into several, which never raises the SSE."""
    import numpy as np

    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # of a record in its group
    begins = (place % k == 0) & (place // k < np.repeat(sizes // k, sizes))
    cut = np.empty(len(labels), np.int64)
    cut[order] = np.cumsum(begins) - 1
    return cut
