"""A k-partition of records: groups of at least k, and what they cost; and the public verb that makes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.kernels.partitions.groups import total_sse, within_sse
from discreet.methods import make
from discreet.microdata.classes import Classes
from discreet.microdata.method import Method
from discreet.microdata.options import Settings


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of at least k records; one with a smaller group cannot be made.

    Parameters
    ----------
    labels : array of int
        The group of each record. Groups are renumbered 0, 1, … in order of first appearance.
    k : int
        Least size of a group.
    sse : float
        Sum of squared distances of records to the centroid of their group.
    sst : float
        The same to the overall centroid.
    search : dict
        How it was found: method, parameters, seed, steps, seconds, why the search stopped, and the trace.
    bound : dict, optional
        A lower bound of the loss in percent, how far above it this partition may be at most, in percent, and its
        method.
    """

    labels: NDArray[np.int64]
    k: int
    sse: float
    sst: float
    search: Mapping[str, Any] = field(default_factory=dict, repr=False)
    bound: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:

        labels = np.asarray(self.labels)
        if labels.ndim != 1 or labels.size == 0:
            raise InputError("a partition needs one label per record and at least one record")
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(len(first))
        labels = rank[inverse]
        smallest = int(np.bincount(labels).min())
        if smallest < self.k:
            raise InputError(f"a k-partition needs groups of at least k = {self.k} records; one has {smallest}")
        labels.setflags(write=False)
        object.__setattr__(self, "labels", labels)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records in each group."""

        return np.bincount(self.labels)

    @property
    def il(self) -> float:
        """Information loss in percent: 100·SSE/SST; 0 where all records are equal."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0

    def __repr__(self) -> str:
        sizes = self.sizes
        return (
            f"Partition of {len(self.labels):,} records into {len(sizes):,} groups of {sizes.min()} to {sizes.max()} "
            f"(k = {self.k}), IL {self.il:.4f} %"
        )


def partition_of(points: NDArray[np.float64], labels: NDArray[np.int64], k: int) -> Partition:
    """The partition that labels make of points, with its cost."""

    return Partition(labels, k, float(within_sse(points, labels)), float(total_sse(points)))


def partition(
    X: Any,
    *,
    k: int,
    method: str = "auto",
    params: Mapping[str, Any] | None = None,
    time: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    start: Any = None,
    bound: bool = False,
    checkpoint: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Partition:
    """Partition points into groups of at least k that are alike.

    Parameters
    ----------
    X : array of float, n × d
        The points, already in the space in which they are to be compared (standardised, say).
    k : int
        Least size of a group.
    method : str
        The method; `discreet methods` lists them.
    params : mapping
        Parameters of the method.
    time : float
        Seconds of search, 10 by default; methods that are no search run to their end.
    steps : int
        Steps of search instead of a time.
    seed : int
        Seed of every random choice.
    threads : int
        Threads to use, by default one per processor; the result does not depend on it.
    start : array of int
        The group of each record in a partition to start from; the result of a search is never worse.
    bound : bool
        Whether to prove how far from the best possible partition this one can be at most.
    checkpoint : path
        A file in which a search is kept; if it exists already, the search goes on from it.
    progress : callable
        Told the stage and how far along it is, in [0, 1].

    Returns
    -------
    Partition
        `labels`, `sizes`, `sse`, `il`, `search` and `bound`.

    Examples
    --------
    >>> import discreet
    >>> part = discreet.partition([[1.0], [2.0], [3.0], [11.0], [12.0], [13.0]], k=3, method="univariate")
    >>> part.labels.tolist(), part.sse
    ([0, 0, 0, 1, 1, 1], 4.0)
    """

    from discreet.microdata.running import group

    given: dict[str, Any] = {name: value for name, value in (("time", time), ("threads", threads)) if value is not None}
    settings = Settings(k, method=method, params=params or {}, steps=steps, seed=seed, **given)
    points = _checked(X, k)
    whole = Classes([np.arange(len(points))], np.zeros((len(points), 0), bool))
    found, search, bounded = group(
        points,
        whole,
        settings,
        progress or _silent,
        start=None if start is None else _checked_start(start, len(points), k),
        checkpoint=None if checkpoint is None else Path(checkpoint),
        bound=bound,
    )
    return replace(found, search=search, bound=bounded)


def choose(name: str, params: Mapping[str, Any]) -> tuple[str, Method]:
    """The method of a name; "auto" is the best there is."""
    name = "memetic" if name == "auto" else name
    return name, make(name, params)


def _silent(_stage: str, _fraction: float) -> None:
    """Listen to nothing."""


def _checked_start(start: Any, count: int, k: int) -> NDArray[np.int64]:

    labels = np.asarray(start)
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise InputError(f"start must be a group number, a whole number, for each of the {count} records")
    return Partition(labels, k, 0.0, 0.0).labels


def _checked(X: Any, k: int) -> NDArray[np.float64]:

    try:
        points = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("X must be a matrix of numbers") from None
    if points.ndim != 2:
        raise InputError(f"X must be a matrix of n records by d attributes, not an array of {points.ndim} dimensions")
    if points.size == 0:
        raise InputError("X has no values")
    if not np.isfinite(points).all():
        raise InputError("X has missing or infinite values; fill or remove them first")
    if np.abs(points).max() > 1e150:
        raise InputError("X has numbers too large to be squared; rescale it first")
    if len(points) < k:
        raise InputError(f"k = {k} is more than the {len(points)} records there are; choose a smaller k")
    return points
