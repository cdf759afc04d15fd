"""What a partition method is, and what it is given besides the points.

Partitions as a search sees them: one that is settled at once, one to start from, one that is begun.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.process import Finished, Process
from discreet.kernels.partitions.groups import within_sse

Points = NDArray[np.float64]
Labels = NDArray[np.int64]


def _ignore(_fraction: float) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class Run:
    """The conditions of one run: where chance comes from, what it may cost, who listens.

    Parameters
    ----------
    seed : int
        Seed of every random choice.
    time : float
        Seconds of search; a method that is no search runs to its end.
    steps : int, optional
        Steps of search instead of a time.
    threads : int
        Threads a method may use; the result does not depend on it.
    progress : callable
        Told how far along the run is, in [0, 1].
    start : array of int, optional
        A k-partition to start from, labels 0 to g−1; a search gives nothing worse.
    """

    seed: int = 0
    time: float = 10.0
    steps: int | None = None
    threads: int = 1
    progress: Callable[[float], None] = _ignore
    start: Labels | None = None


class Parameters(Protocol):
    """What all methods are: frozen dataclasses of their parameters."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


class Construction(Parameters, Protocol):
    """A way to partition points into groups of at least k that runs to its end."""

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group; n ≥ 2k points, finite, as rows of a C-ordered matrix."""
        ...


class Search(Parameters, Protocol):
    """A way to partition points that can be stopped at any time, and goes on finding better ones."""

    def search(self, points: Points, k: int, run: Run) -> Process[Labels]:
        """Begin the search; n ≥ 2k points of at least one attribute, as for a construction."""
        ...


Method = Construction | Search


def begin(method: Method, points: Points, k: int, run: Run) -> Process[Labels]:
    """Begin the search of a method; a method that is none is done at once, and so is a case without a choice."""

    count, width = points.shape
    if width == 0:  # all records are alike
        return Finished((np.arange(count) // k).clip(max=count // k - 1), 0.0, 0.0)
    if count < 2 * k:
        labels = np.zeros(count, np.int64)
        cost = float(within_sse(points, labels))
        return Finished(labels, cost, cost)
    if hasattr(method, "search"):
        process: Process[Labels] = method.search(points, k, run)
        return process
    labels = method.assign(points, k, run)
    return Finished(labels, float(within_sse(points, labels)))


def fitted(labels: Labels, k: int) -> Labels:
    """A k-partition with its groups of 2k and more cut into several, which never raises the SSE."""

    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # of a record in its group
    begins = (place % k == 0) & (place // k < np.repeat(sizes // k, sizes))
    cut = np.empty(len(labels), np.int64)
    cut[order] = np.cumsum(begins) - 1
    return cut
