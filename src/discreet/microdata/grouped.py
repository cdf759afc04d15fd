"""The partition of a whole file: each class of records on its own."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.microdata.classes import Classes
    from discreet.microdata.method import Method
    from discreet.microdata.partition import Partition
    from discreet.microdata.settings import Settings


def group(
    points: NDArray[np.float64], classes: Classes, settings: Settings, tell: Callable[[str, float], None]
) -> tuple[Partition, dict[str, Any]]:
    """Partition each class on its own; the groups of all classes make one partition."""
    import numpy as np

    from discreet.microdata.method import Run
    from discreet.microdata.partition import assign, choose, partition_of

    name, method = choose(settings.method, settings.params, len(points))
    tell("compiling", 0.0)
    _compile(method, points.shape[1], settings.k)
    labels = np.empty(len(points), np.int64)
    groups, done, start = 0, 0, clock.perf_counter()
    for rows in classes.rows:
        share = len(rows) / len(points)

        def heard(fraction: float, done: int = done, share: float = share) -> None:
            tell("grouping", done / len(points) + share * fraction)

        run = Run(settings.seed, settings.time * share, settings.steps, settings.threads, heard)
        own = assign(method, np.ascontiguousarray(points[rows]), settings.k, run)
        labels[rows] = own + groups
        groups += int(own.max()) + 1
        done += len(rows)
        tell("grouping", done / len(points))
    seconds = clock.perf_counter() - start
    search = {
        "method": name,
        "params": asdict(method),
        "seed": settings.seed,
        "steps": 1,
        "seconds": round(seconds, 3),
        "stopped": "finished",
        "trace": [],
    }
    return partition_of(points, labels, settings.k), search


def _compile(method: Method, width: int, k: int) -> None:
    """Run the method on a small case: compiling is no part of the search, nor can it be interrupted."""
    import numpy as np

    from discreet.kernels.compiling import uninterrupted
    from discreet.microdata.method import Run
    from discreet.microdata.partition import assign, partition_of

    small = np.random.default_rng(0).normal(size=(max(2 * k, min(8 * k, 2_000)), width))
    with uninterrupted():
        partition_of(small, assign(method, small, k, Run()), k)
