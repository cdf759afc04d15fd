"""The partition of a whole file: each class of records on its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.microdata.classes import Classes
    from discreet.microdata.method import Labels, Method
    from discreet.microdata.partition import Partition
    from discreet.microdata.settings import Settings


def group(
    points: NDArray[np.float64],
    classes: Classes,
    settings: Settings,
    tell: Callable[[str, float], None],
    *,
    start: Labels | None = None,
    checkpoint: Path | None = None,
    bound: bool = False,
) -> tuple[Partition, dict[str, Any], dict[str, Any] | None]:
    """Partition each class on its own; the groups of all classes make one partition.

    Returns
    -------
    partition : Partition
        The groups.
    search : dict
        How they were found, for the evidence.
    bound : dict or None
        The lower bound, its gap and its method, where asked for or proven by the method.
    """
    import numpy as np

    from discreet.microdata.partition import choose, partition_of
    from discreet.microdata.searching import solve

    name, method = choose(settings.method, settings.params)
    tell("compiling", 0.0)
    warm_up(method, points.shape[1], settings.k, {len(rows) for rows in classes.rows})
    found = solve(
        name,
        method,
        [np.ascontiguousarray(points[rows]) for rows in classes.rows],
        settings,
        lambda fraction: tell("grouping", fraction),
        starts=None if start is None else [_own(start[rows]) for rows in classes.rows],
        checkpoint=checkpoint,
        signature=None if checkpoint is None else _signature(name, method, points, classes, settings, start),
    )
    labels = np.empty(len(points), np.int64)
    groups = 0
    for rows, own in zip(classes.rows, found.labels, strict=True):
        labels[rows] = own + groups
        groups += int(own.max()) + 1
    partition = partition_of(points, labels, settings.k)
    return partition, found.search, _bounded(points, classes, partition, found.bound, settings, bound, tell)


def warm_up(method: Method, width: int, k: int, sizes: Collection[int]) -> None:
    """Run the method on a small case: compiling is no part of the search, nor can it be interrupted."""
    import numpy as np

    from discreet.kernels.compiling import uninterrupted
    from discreet.microdata.method import Run
    from discreet.microdata.partition import partition_of
    from discreet.microdata.settled import begin

    small = np.random.default_rng(0).normal(size=(max(2 * k, min(8 * k, 2_000)), width))
    with uninterrupted():
        if width and hasattr(method, "rehearse"):
            method.rehearse(small[:50], sizes)
            return
        process = begin(method, small, k, Run())
        if not process.finished:
            process.advance()
        partition_of(small, process.answer(), k)


def _own(labels: Labels) -> Labels:
    """Labels 0 to g−1 within a class."""
    import numpy as np

    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _signature(
    name: str,
    method: Method,
    points: NDArray[np.float64],
    classes: Classes,
    settings: Settings,
    start: Labels | None,
) -> dict[str, str | int | float]:
    """What a checkpoint must have in common with the run that goes on from it."""
    import hashlib

    from discreet._version import __version__

    digest = hashlib.sha256(str(points.shape).encode() + points.tobytes())
    for rows in classes.rows:
        digest.update(len(rows).to_bytes(8, "little") + rows.tobytes())
    params = {f"params.{key}": str(value) for key, value in asdict(method).items()}
    return {
        "version": __version__,
        "method": name,
        "k": settings.k,
        "seed": settings.seed,
        "data": digest.hexdigest(),
        "start": "none" if start is None else hashlib.sha256(start.tobytes()).hexdigest(),
        **params,
    }


def _bounded(
    points: NDArray[np.float64],
    classes: Classes,
    partition: Partition,
    proven: float | None,
    settings: Settings,
    asked: bool,
    tell: Callable[[str, float], None],
) -> dict[str, Any] | None:
    """The lower bound of the loss in percent, how far above it the partition may be, and where it comes from."""
    if proven is None and not asked:
        return None
    method = "column generation"
    if proven is None:
        from discreet.microdata.bound import lower_bound

        proven, words = 0.0, set()
        for number, rows in enumerate(classes.rows):
            tell("bounding", number / len(classes.rows))
            own = lower_bound(points[rows], settings.k, labels=_own(partition.labels[rows]))
            proven += own.value
            words.add(own.method)
        method = ", ".join(sorted(words))
    if proven <= 0.0 < partition.sse:
        return None  # that no loss is below 0 says nothing of how far above the optimum this one is
    value = 100.0 * proven / partition.sst if partition.sst > 0 else 0.0
    gap = 100.0 * (partition.sse - proven) / proven if proven > 0 else 0.0
    return {"value": value, "gap": max(gap, 0.0), "method": method}
