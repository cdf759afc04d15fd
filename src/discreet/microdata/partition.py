"""The public verb `partition`: groups of at least k points that are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.listening import shows_progress
from discreet.microdata.classes import Classes
from discreet.microdata.options import Settings
from discreet.microdata.records import records_at
from discreet.microdata.solving import Partition, View, solve
from discreet.text import silent

# Above this the square of a distance may be no finite number.
LARGEST_COORDINATE = 1e150


@shows_progress
def partition(
    X: Any,
    *,
    k: int,
    method: str | Callable[..., Any] = "auto",
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
    method : str or callable
        The method; `discreet methods` lists them. Or a function that is given the points and k, and returns the group
        of each point.
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
    given: dict[str, Any] = {name: value for name, value in (("time", time), ("threads", threads)) if value is not None}
    settings = Settings(k, method=method, params=params or {}, steps=steps, seed=seed, **given)
    points = _check_points(X, k)
    whole = Classes([np.arange(len(points))], np.zeros((len(points), 0), bool))
    found = solve(
        [View(records_at(points), whole)],
        settings,
        progress or silent,
        start=None if start is None else [_check_start(start, len(points), k)],
        checkpoint=None if checkpoint is None else Path(checkpoint),
        bound=bound,
    )
    return replace(found.partitions[0], search=found.search, bound=found.bound)


def _check_start(start: Any, count: int, k: int) -> NDArray[np.int64]:
    labels = np.asarray(start)
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise InputError(f"start must be a group number, a whole number, for each of the {count} records")
    return Partition(labels, k, 0.0, 0.0).labels


def _check_points(X: Any, k: int) -> NDArray[np.float64]:
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
    if np.abs(points).max() > LARGEST_COORDINATE:
        raise InputError("X has numbers too large to be squared; rescale it first")
    if len(points) < k:
        raise InputError(f"k = {k} is more than the {len(points)} records there are; choose a smaller k")
    return points
