"""k-partitions of a whole file: each class of records on its own, for each group of attributes anew."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.evolution.loop import Outcome
from discreet.evolution.process import Together
from discreet.kernels.compiling import compiling, search_clock
from discreet.methods import make
from discreet.microdata.classes import Classes
from discreet.microdata.given import LABELS
from discreet.microdata.method import Labels, Method, Run, begin_records, renumber
from discreet.microdata.options import Settings
from discreet.microdata.promises import Constraints
from discreet.microdata.records import Records, records_at
from discreet.microdata.set_partitioning.exact import lower_bound
from discreet.plugins import name_of
from discreet.release.notebooks import draw_sizes, show
from discreet.running import CheckpointFile, describe_search, run, sign
from discreet.text import entry

BEST_METHOD = "memetic"
# How a checkpoint that differs in a digest is described to its user.
CHECKPOINT_REASONS = {
    "data": "was made from other data, or with other columns or weights",
    "start": "is of a search that started from other groups",
}


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

    def summary(self) -> str:
        """The partition in words."""
        search, bound = self.search, self.bound
        lines = [f"{self}", ""]
        if search:
            lines += entry("Method", f"{search['method']}, {search['steps']:,} steps in {search['seconds']:.1f} s")
        if bound:
            lines += entry("Bound", f"no partition loses less than {bound['value']:.4g} % ({bound['method']})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return show(self.summary(), lambda: draw_sizes(self.sizes[self.labels]))

    def __repr__(self) -> str:
        sizes = self.sizes
        return (
            f"Partition of {len(self.labels):,} records into {len(sizes):,} groups of {sizes.min()} to {sizes.max()} "
            f"(k = {self.k}), IL {self.il:.4f} %"
        )


def partition_of(records: Records, labels: NDArray[np.int64], k: int) -> Partition:
    """The partition that labels make of records, with its cost."""
    return Partition(labels, k, records.sse(labels), records.sst())


@dataclass(frozen=True, eq=False)
class View:
    """All records as one group of attributes shows them, the classes to be partitioned, and what groups must keep."""

    records: Records
    classes: Classes
    constraints: Constraints | None = None


@dataclass(frozen=True, eq=False)
class Solution:
    """A partition for each view, how they were found, and what is proven.

    Parameters
    ----------
    partitions : list of Partition
        The groups of records, view by view.
    search : dict
        How they were found, for the evidence.
    bound : dict, optional
        The lower bound, its gap and its method, where asked for or proven by the method.
    start : list of Partition, optional
        The groups that the search started from, if it did from any.
    start_keeps : bool
        Whether these keep all they must.
    """

    partitions: list[Partition]
    search: dict[str, Any]
    bound: dict[str, Any] | None
    start: list[Partition] | None = None
    start_keeps: bool = False

    @property
    def il(self) -> float:
        """Information loss in percent: 100·SSE/SST, both summed over the views."""
        sse, sst = _sums(self.partitions)
        return 100.0 * sse / sst if sst > 0 else 0.0

    def stay(self) -> Solution:
        """The same search with what it started from as its answer: what is proven holds, the gap is new."""
        assert self.start is not None
        other = replace(self, partitions=self.start)
        if self.bound is None:
            return other
        return replace(other, bound=self.bound | {"gap": _gap(other.il, self.bound["value"])})


def choose(method: str | Callable[..., Any], params: Mapping[str, Any]) -> tuple[str, Method]:
    """The method of a name, or of a function; "auto" is the best there is."""
    method = BEST_METHOD if method == "auto" else method
    return name_of(method), make(method, params)


def adopt(
    views: Sequence[View], labels: Sequence[Labels], settings: Settings, tell: Callable[[str, float], None]
) -> Solution:
    """The partitions that labels from elsewhere make of the views, as if a method had found them."""
    _check_bound(settings.bound, [view.records.take(rows) for view in views for rows in view.classes.rows])
    partitions = [partition_of(view.records, own, settings.k) for view, own in zip(views, labels, strict=True)]
    search = describe_search(Outcome(0, 0.0, "finished", ()), LABELS, {}, settings.seed)
    return Solution(partitions, search, find_bound(views, partitions, settings, tell) if settings.bound else None)


def solve(
    views: Sequence[View],
    settings: Settings,
    tell: Callable[[str, float], None],
    *,
    start: Sequence[Labels] | None = None,
    checkpoint: Path | None = None,
    bound: bool = False,
    say: Callable[[float], float] | None = None,
) -> Solution:
    """Partition the classes of every view, all side by side.

    Parameters
    ----------
    views : sequence of View
        The records, once for each group of attributes; every class as a whole keeps what groups must.
    settings : Settings
        k, method, time or steps, seed, threads.
    tell : callable
        Told the stage and how far along it is, in [0, 1].
    start : sequence of arrays of int, optional
        Groups to start from, each within its class, for every view.
    checkpoint : Path, optional
        Where a search is kept, and goes on from.
    bound : bool
        Whether to prove a lower bound.
    say : callable, optional
        Turns the cost into the loss in percent that those who listen are told; by default that of these records.
    """
    name, method = choose(settings.method, settings.params)
    exact = _check_bound(bound, [view.records.take(rows) for view in views for rows in view.classes.rows])
    warm_up_views(method, views, settings, tell)
    began = search_clock()
    process = begin_views(method, views, settings, tell, split_labels(views, start))
    outcome = run(
        process,
        settings,
        tell=lambda fraction: tell("grouping", fraction),
        checkpoint=keep_in(checkpoint, name, method, views, settings, start),
        began=began,
        say=say or say_loss(views),
    )
    labels = join_answers(views, process.answer())
    tell("grouping", 1.0)
    partitions = [partition_of(view.records, own, settings.k) for view, own in zip(views, labels, strict=True)]
    search = describe_search(outcome, name, method.parameters(), settings.seed)
    # Of points that stand for categories only about, nothing is proven.
    proven = process.bound if exact else None
    told = None
    if proven is not None:
        by = "column generation" if views[0].constraints is None else "all groups looked at"
        told = _describe_bound(partitions, proven, by)
    elif bound:
        told = find_bound(views, partitions, settings, tell)
    if start is None:
        return Solution(partitions, search, told)
    return Solution(partitions, search, told, *start_of(views, start, settings.k))


def say_loss(views: Sequence[View]) -> Callable[[float], float]:
    """What a cost is in percent of the variance of all records; that is added up when it is first asked for."""
    whole = cache(lambda: sum(view.records.sst() for view in views))
    return lambda cost: 100.0 * cost / whole() if whole() > 0 else 0.0


def start_of(views: Sequence[View], start: Sequence[Labels], k: int) -> tuple[list[Partition], bool]:
    """The partitions that a search starts from, and whether they keep all they must."""
    given = [partition_of(view.records, own, k) for view, own in zip(views, start, strict=True)]
    keep = all(
        view.constraints is None or view.constraints.keep(own.labels) for view, own in zip(views, given, strict=True)
    )
    return given, keep


def warm_up_views(
    method: Method, views: Sequence[View], settings: Settings, tell: Callable[[str, float], None]
) -> None:
    """Compile all that the search of these views needs."""
    tell("compiling", 0.0)
    for width, categories in sorted({(view.records.width, view.records.has_categories) for view in views}):
        alike = [view for view in views if (view.records.width, view.records.has_categories) == (width, categories)]
        sizes = {len(rows) for view in alike for rows in view.classes.rows}
        warm_up(method, width, settings.k, sizes, alike[0].records if categories else None, alike[0].constraints)


def begin_views(
    method: Method,
    views: Sequence[View],
    settings: Settings,
    tell: Callable[[str, float], None],
    starts: Sequence[Labels | None],
    of: Sequence[int] | None = None,
) -> Together[Labels]:
    """Begin the search of a method on each class of every view, or on some of these; a construction is done then."""
    classes = [(view, rows) for view in views for rows in view.classes.rows]
    classes = [classes[number] for number in range(len(classes)) if of is None or number in of]
    parts = [view.records.take(rows) for view, rows in classes]
    kept = [None if view.constraints is None else view.constraints.take(rows) for view, rows in classes]
    return begin_parts(method, parts, settings, lambda fraction: tell("grouping", fraction), starts, kept)


def split_labels(views: Sequence[View], labels: Sequence[Labels] | None) -> list[Labels | None]:
    """The groups within each class of every view, labels 0 to g−1; of none, none for each."""
    if labels is None:
        return [None for view in views for _ in view.classes.rows]
    return [renumber(own[rows]) for view, own in zip(views, labels, strict=True) for rows in view.classes.rows]


def join_answers(views: Sequence[View], answers: Sequence[Labels]) -> list[Labels]:
    """The groups of the classes of every view, under numbers of their own in each view."""
    found = iter(answers)
    return [_join(view.classes, found) for view in views]


def keep_in(
    checkpoint: Path | None,
    name: str,
    method: Method,
    views: Sequence[View],
    settings: Settings,
    start: Sequence[Labels] | None,
) -> CheckpointFile | None:
    """Where the search of these views is kept; a construction is not."""
    if checkpoint is None or not method.searches:
        return None
    return CheckpointFile(checkpoint, _signature(name, method, views, settings, start), CHECKPOINT_REASONS)


def begin_parts(
    method: Method,
    parts: Sequence[Records],
    settings: Settings,
    tell: Callable[[float], None],
    starts: Sequence[Labels | None],
    constraints: Sequence[Constraints | None] | None = None,
) -> Together[Labels]:
    """Begin the search of a method on each part of the data; a construction is done then."""
    constraints = [None] * len(parts) if constraints is None else constraints
    total = sum(map(len, parts))
    # If one part has most of the records, its own search keeps several threads busy better than the parts do.
    together = 2 * max(map(len, parts)) <= total
    processes, done = [], 0
    for records, start, kept in zip(parts, starts, constraints, strict=True):

        def heard(fraction: float, done: int = done, size: int = len(records)) -> None:
            if not method.searches:
                tell((done + size * fraction) / total)

        threads = 1 if together else settings.threads
        run_of_part = Run(settings.seed, threads, heard, start, kept)
        processes.append(begin_records(method, records, settings.k, run_of_part))
        heard(1.0)
        done += len(records)
    return Together(processes, settings.threads if together else 1)


def warm_up(
    method: Method,
    width: int,
    k: int,
    sizes: Collection[int],
    like: Records | None = None,
    constraints: Constraints | None = None,
) -> None:
    """Run the method on a small case: compiling is no part of the search, nor can it be interrupted.

    Where some attributes are categories, `like` is records that have them.
    """
    count = max(2 * k, min(8 * k, 2_000))
    rng = np.random.default_rng(0)
    small = records_at(rng.normal(size=(count, width)))
    with compiling():
        if like is not None:
            numbers = rng.normal(size=(count, like.numbers.shape[1]))
            codes = rng.integers(0, 2, (count, like.codes.shape[1]), np.int32)
            small = replace(like, numbers=numbers, codes=codes)
        if constraints is not None:
            rows = np.arange(min(count, len(constraints)))
            method.rehearse_promised(small.take(rows), constraints.take(rows).loosen())
        elif like is not None:
            method.rehearse_records(small, k, sizes)
        elif width:
            method.rehearse(small.numbers, k, sizes)
        partition_of(small, np.zeros(count, np.int64), k)


def _join(classes: Classes, found: Iterator[Labels]) -> Labels:
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
    name: str,
    method: Method,
    views: Sequence[View],
    settings: Settings,
    start: Sequence[Labels] | None,
) -> Mapping[str, str | int | float]:
    """What a checkpoint must have in common with the run that goes on from it."""
    digest = hashlib.sha256()
    for view in views:
        records = view.records
        for values in (records.numbers, records.codes)[: 1 + records.has_categories]:
            digest.update(str(values.shape).encode() + values.tobytes())
        for rows in view.classes.rows:
            digest.update(len(rows).to_bytes(8, "little") + rows.tobytes())
        for array in () if view.constraints is None else view.constraints.promised:
            digest.update(np.asarray(array).tobytes())
    started = "none" if start is None else hashlib.sha256(b"".join(own.tobytes() for own in start)).hexdigest()
    given = {"k": settings.k, "seed": settings.seed}
    return sign(name, method.parameters(), given, {"data": digest.hexdigest(), "start": started})


def _check_bound(asked: bool, parts: Sequence[Records]) -> bool:
    """Whether something can be proven of these records; refuse where that is asked for and cannot be."""
    exact = all(part.exact for part in parts)
    if asked and not exact:
        raise InputError("there are too many categories for a bound; leave it out, or coarsen the nominal columns")
    return exact


def _gap(loss: float, least: float) -> float:
    """How many percent a loss is above the least that is possible."""
    return max(100.0 * (loss - least) / least, 0.0) if least > 0 else 0.0


def find_bound(
    views: Sequence[View], partitions: Sequence[Partition], settings: Settings, tell: Callable[[str, float], None]
) -> dict[str, Any] | None:
    """Prove a lower bound of the loss, class by class; what groups must keep besides their size is left out of it."""
    parts = [
        (view.records, partition.labels, rows)
        for view, partition in zip(views, partitions, strict=True)
        for rows in view.classes.rows
    ]
    proven, words = 0.0, set()
    for number, (records, labels, rows) in enumerate(parts):
        tell("bounding", number / len(parts))
        own = lower_bound(records.take(rows).points(), settings.k, labels=renumber(labels[rows]))
        proven += own.value
        words.add(own.method)
    method = ", ".join(sorted(words))
    if any(view.constraints is not None for view in views):
        method += "; of groups that need keep nothing but their size"
    return _describe_bound(partitions, proven, method)


def _describe_bound(partitions: Sequence[Partition], proven: float, method: str) -> dict[str, Any] | None:
    """The lower bound of the loss in percent, how far above it the partitions may be, and where it comes from."""
    sse, sst = _sums(partitions)
    if proven <= 0.0 < sse:
        return None  # that no loss is below 0 says nothing of how far above the optimum this one is
    value = 100.0 * proven / sst if sst > 0 else 0.0
    return {"value": value, "gap": _gap(sse, proven), "method": method}
