"""The partition of a whole file: each class of records on its own, and for each group of attributes anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.microdata.classes import Classes
    from discreet.microdata.method import Labels, Method
    from discreet.microdata.partition import Partition
    from discreet.microdata.settings import Settings


@dataclass(frozen=True, eq=False)
class View:
    """All records as one group of attributes shows them: their points, and the classes to be partitioned."""

    points: NDArray[np.float64]
    classes: Classes


@dataclass(frozen=True, eq=False)
class Grouped:
    """A partition for each view, how they were found, and what is proven.

    Parameters
    ----------
    partitions : list of Partition
        The groups of records, view by view.
    search : dict
        How they were found, for the evidence.
    bound : dict, optional
        The lower bound, its gap and its method, where asked for or proven by the method.
    """

    partitions: list[Partition]
    search: dict[str, Any]
    bound: dict[str, Any] | None

    @property
    def il(self) -> float:
        """Information loss in percent: 100·SSE/SST, both summed over the views."""
        sse, sst = _sums(self.partitions)
        return 100.0 * sse / sst if sst > 0 else 0.0


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
    found = group_views([View(points, classes)], settings, tell, start=start, checkpoint=checkpoint, bound=bound)
    return found.partitions[0], found.search, found.bound


def group_views(
    views: Sequence[View],
    settings: Settings,
    tell: Callable[[str, float], None],
    *,
    start: Labels | None = None,
    checkpoint: Path | None = None,
    bound: bool = False,
) -> Grouped:
    """Partition the classes of every view, all side by side; a start is one of a single view."""
    import numpy as np

    from discreet.microdata.partition import choose, partition_of
    from discreet.microdata.searching import solve

    name, method = choose(settings.method, settings.params)
    tell("compiling", 0.0)
    for width in sorted({view.points.shape[1] for view in views}):
        sizes = {len(rows) for view in views if view.points.shape[1] == width for rows in view.classes.rows}
        warm_up(method, width, settings.k, sizes)
    found = solve(
        name,
        method,
        [np.ascontiguousarray(view.points[rows]) for view in views for rows in view.classes.rows],
        settings,
        lambda fraction: tell("grouping", fraction),
        starts=None if start is None else [_own(start[rows]) for rows in views[0].classes.rows],
        checkpoint=checkpoint,
        signature=None if checkpoint is None else _signature(name, method, views, settings, start),
    )
    labels = iter(found.labels)
    partitions = [partition_of(view.points, _joined(view.classes, labels), settings.k) for view in views]
    return Grouped(partitions, found.search, _bounded(views, partitions, found.bound, settings, bound, tell))


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


def _joined(classes: Classes, found: Iterator[Labels]) -> Labels:
    """The groups of all classes under numbers of their own."""
    import numpy as np

    labels = np.empty(len(classes.blank), np.int64)
    groups = 0
    for rows in classes.rows:
        own = next(found)
        labels[rows] = own + groups
        groups += int(own.max()) + 1
    return labels


def _sums(partitions: Sequence[Partition]) -> tuple[float, float]:
    """SSE and SST: both add up over groups of attributes."""
    return sum(partition.sse for partition in partitions), sum(partition.sst for partition in partitions)


def _signature(
    name: str, method: Method, views: Sequence[View], settings: Settings, start: Labels | None
) -> dict[str, str | int | float]:
    """What a checkpoint must have in common with the run that goes on from it."""
    import hashlib

    from discreet._version import __version__

    digest = hashlib.sha256()
    for view in views:
        digest.update(str(view.points.shape).encode() + view.points.tobytes())
        for rows in view.classes.rows:
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
    views: Sequence[View],
    partitions: Sequence[Partition],
    proven: float | None,
    settings: Settings,
    asked: bool,
    tell: Callable[[str, float], None],
) -> dict[str, Any] | None:
    """The lower bound of the loss in percent, how far above it the partitions may be, and where it comes from."""
    if proven is None and not asked:
        return None
    method = "column generation"
    if proven is None:
        from discreet.microdata.bound import lower_bound

        parts = [
            (view.points, partition.labels, rows)
            for view, partition in zip(views, partitions, strict=True)
            for rows in view.classes.rows
        ]
        proven, words = 0.0, set()
        for number, (points, labels, rows) in enumerate(parts):
            tell("bounding", number / len(parts))
            own = lower_bound(points[rows], settings.k, labels=_own(labels[rows]))
            proven += own.value
            words.add(own.method)
        method = ", ".join(sorted(words))
    sse, sst = _sums(partitions)
    if proven <= 0.0 < sse:
        return None  # that no loss is below 0 says nothing of how far above the optimum this one is
    value = 100.0 * proven / sst if sst > 0 else 0.0
    gap = 100.0 * (sse - proven) / proven if proven > 0 else 0.0
    return {"value": value, "gap": max(gap, 0.0), "method": method}
