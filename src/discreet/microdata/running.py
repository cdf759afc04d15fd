"""The partition of a whole file: each class of records on its own, and for each group of attributes anew.

How a method is run: constructions to their end, searches until there is a reason to stop.
"""

from __future__ import annotations

import hashlib
import math
import time as clock
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet._version import __version__
from discreet.errors import InputError
from discreet.evolution.checkpoint import Checkpoint, CheckpointDamaged, CheckpointMismatch
from discreet.evolution.loop import Outcome, evolve
from discreet.evolution.process import Process, Together
from discreet.evolution.stops import MaxSeconds, MaxSteps, Stop
from discreet.kernels.compiling import uninterrupted
from discreet.microdata.classes import Classes
from discreet.microdata.method import Labels, Method, Points, Run, begin
from discreet.microdata.options import Settings
from discreet.microdata.set_partitioning.bound import lower_bound

if TYPE_CHECKING:
    from discreet.microdata.partition import Partition


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

    from discreet.microdata.partition import choose, partition_of

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

    from discreet.microdata.partition import partition_of

    small = np.random.default_rng(0).normal(size=(max(2 * k, min(8 * k, 2_000)), width))
    with uninterrupted():
        if width and hasattr(method, "rehearse"):
            method.rehearse(small[:50], sizes)
            return
        process = begin(method, small, k, Run())
        if not process.finished:
            next(process.epochs())
        partition_of(small, process.answer(), k)


def _own(labels: Labels) -> Labels:
    """Labels 0 to g−1 within a class."""

    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _joined(classes: Classes, found: Iterator[Labels]) -> Labels:
    """The groups of all classes under numbers of their own."""

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


# The shortest time for which a search goes on when its start has used up the time.
INSTANT = 1e-3


@dataclass(frozen=True, eq=False)
class Found:
    """What came of a run: the groups of each part, what the evidence says of the search, and the bound it proves.

    Parameters
    ----------
    labels : list of arrays
        The groups of each part of the data.
    search : dict
        Method, parameters, seed, steps, seconds, why it stopped, and the trace.
    bound : float, optional
        A lower bound of the SSE, where the method proves one.
    """

    labels: list[Labels]
    search: dict[str, Any]
    bound: float | None


def solve(
    name: str,
    method: Method,
    parts: Sequence[Points],
    settings: Settings,
    tell: Callable[[float], None],
    *,
    starts: Sequence[Labels | None] | None = None,
    checkpoint: Path | None = None,
    signature: Mapping[str, str | int | float] | None = None,
) -> Found:
    """Run a method on each part of the data, on all parts side by side.

    Parameters
    ----------
    name : str
        Name of the method.
    method : Method
        The method.
    parts : sequence of arrays
        The points of each part.
    settings : Settings
        k, time or steps, seed, threads.
    tell : callable
        Told how far along the run is, in [0, 1].
    starts : sequence of arrays
        A k-partition of each part to start from.
    checkpoint : Path
        Where the search is kept, and goes on from.
    signature : mapping
        What makes this run different from others, for the checkpoint.
    """

    start = clock.perf_counter()
    processes = _begun(method, parts, settings, tell, starts)
    whole = Together(processes, settings.threads if _many(parts) else 1)
    used = clock.perf_counter() - start
    keep = None
    if checkpoint is not None and hasattr(method, "search"):
        keep = Checkpoint(checkpoint, signature or {})
    outcome = _guarded(
        lambda: evolve(whole, _stop(settings, used), listeners=[lambda _moment, share: tell(share)], checkpoint=keep),
        checkpoint,
    )
    labels = whole.answer()
    tell(1.0)
    seconds = clock.perf_counter() - start
    return Found(labels, _told(name, method, settings, outcome, seconds), _bound(processes))


def _begun(
    method: Method,
    parts: Sequence[Points],
    settings: Settings,
    tell: Callable[[float], None],
    starts: Sequence[Labels | None] | None,
) -> list[Process[Labels]]:

    constructive = not hasattr(method, "search")
    total = sum(map(len, parts))
    processes, done = [], 0
    for number, points in enumerate(parts):

        def heard(fraction: float, done: int = done, size: int = len(points)) -> None:
            if constructive:
                tell((done + size * fraction) / total)

        run = Run(
            settings.seed,
            settings.time,
            settings.steps,
            1 if _many(parts) else settings.threads,
            heard,
            None if starts is None else starts[number],
        )
        processes.append(begin(method, points, settings.k, run))
        done += len(points)
        heard(1.0, done - len(points))
    return processes


def _many(parts: Sequence[Points]) -> bool:
    """Whether the parts keep several threads busy; if one has most of the records, its own search does that better."""
    return 2 * max(map(len, parts)) <= sum(map(len, parts))


def _stop(settings: Settings, used: float) -> Stop:

    if settings.steps is not None:
        return MaxSteps(settings.steps)
    return MaxSeconds(max(settings.time - used, INSTANT))


def _told(name: str, method: Method, settings: Settings, outcome: Outcome, seconds: float) -> dict[str, Any]:
    return {
        "method": name,
        "params": asdict(method),
        "seed": settings.seed,
        "steps": outcome.steps,
        "seconds": round(seconds, 3),
        "stopped": outcome.stopped,
        "trace": [[step, round(moment, 3), cost] for step, moment, cost in outcome.trace],
    }


def _bound(processes: Sequence[Process[Labels]]) -> float | None:
    """The sum of the bounds, where all processes prove one."""
    bounds: list[Any] = [getattr(process, "bound", None) for process in processes]
    return None if None in bounds else math.fsum(bounds)


def _guarded(run: Callable[[], Outcome], checkpoint: Path | None) -> Outcome:
    """Say what is wrong with a checkpoint in the words of the user."""
    if checkpoint is None:
        return run()

    try:
        return run()
    except CheckpointMismatch as error:
        if error.key == "data":
            what = "was made from other data, or with other columns or weights"
        elif error.key == "start":
            what = "is of a search that started from other groups"
        else:
            what = f"was made with {error.key} = {error.kept}, this run has {error.key} = {error.expected}"
        raise InputError(
            f"{checkpoint}: the checkpoint {what}; give the same data and settings, or another file"
        ) from None
    except CheckpointDamaged:
        raise InputError(f"{checkpoint}: the file is damaged or no checkpoint; give another file") from None
    except FileNotFoundError:
        raise InputError(f"{checkpoint}: the folder of the checkpoint does not exist") from None
    except OSError as error:
        raise InputError(f"{checkpoint}: the checkpoint cannot be kept ({error.strerror})") from None
