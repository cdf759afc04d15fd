"""What a partition method is, what it is given besides the points, and how its search begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import floats, integers, offsets, whole
from discreet.evolution.process import Finished, Process
from discreet.kernels.partitions.groups import within_sse
from discreet.microdata.promises import Constraints, repair
from discreet.microdata.records import Labels as Labels
from discreet.microdata.records import Points as Points
from discreet.microdata.records import Records
from discreet.microdata.records import renumber as renumber
from discreet.text import silent


@dataclass(frozen=True)
class Run:
    """The conditions of one run of a method: where chance comes from, how many threads, who listens, where to start.

    Parameters
    ----------
    seed : int
        Seed of every random choice.
    threads : int
        Threads a method may use; the result does not depend on it.
    progress : callable
        Told how far along a construction is, in [0, 1].
    start : array of int, optional
        A k-partition to start from, labels 0 to g−1; a search gives nothing worse.
    constraints : Constraints, optional
        What groups must keep besides their size.
    """

    seed: int = 0
    threads: int = 1
    progress: Callable[[float], None] = silent
    start: Labels | None = None
    constraints: Constraints | None = None


class Method(ABC):
    """A way to partition points into groups of at least k: a frozen dataclass whose fields are its parameters."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    # Whether it goes on finding better partitions, and can start from a given one.
    searches: ClassVar[bool] = True

    @abstractmethod
    def search(self, points: Points, k: int, run: Run) -> Process[Labels]:
        """Begin the search; n ≥ 2k points of at least one attribute, finite, as rows of a C-ordered matrix."""

    def parameters(self) -> dict[str, Any]:
        """Its parameters, as the evidence has them."""
        return asdict(self)

    def search_records(self, records: Records, k: int, run: Run) -> Process[Labels]:
        """Begin the search on records with categories; unless a method knows better, on their points."""
        return self.search(records.points(), k, run)

    def search_promised(self, records: Records, constraints: Constraints, run: Run) -> Process[Labels]:
        """Begin the search for groups that keep more than their size; unless a method knows better, they are repaired.

        All records together keep it.
        """
        plain = begin_records(self, records, constraints.k, replace(run, constraints=None))
        return Repaired(plain, records, constraints)

    def rehearse(self, points: Points, k: int, sizes: Collection[int]) -> None:
        """Do on a few points all that a search of parts of these sizes does, so that it is compiled."""
        process = begin(self, points, k, Run())
        next(process.epochs(), None)
        process.answer()

    def rehearse_records(self, records: Records, k: int, sizes: Collection[int]) -> None:
        """The same on a few records with categories."""
        self.rehearse(records.points(), k, sizes)

    def rehearse_promised(self, records: Records, constraints: Constraints) -> None:
        """The same on a few records whose groups must keep more than their size."""
        process = begin_records(self, records, constraints.k, Run(constraints=constraints))
        next(process.epochs(), None)
        process.answer()


class Construction(Method):
    """A method that runs to its end: its search is finished when it begins."""

    searches = False

    @abstractmethod
    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""

    def search(self, points: Points, k: int, run: Run) -> Process[Labels]:
        """Construct the partition."""
        labels = self.assign(points, k, run)
        return Finished(labels, float(within_sse(points, labels)))


class Repaired:
    """A search for groups of a least size, whose answer is repaired so that groups keep all else they must.

    Parameters
    ----------
    process : Process
        The search.
    records : Records
        The records.
    constraints : Constraints
        What groups must keep; all records together do.
    """

    def __init__(self, process: Process[Labels], records: Records, constraints: Constraints) -> None:
        self._process, self._records, self._constraints = process, records, constraints
        self.epochs, self.save, self.load = process.epochs, process.save, process.load
        self._repaired = np.nan, np.nan

    @property
    def cost(self) -> float:
        """What is lost after the repair."""
        found, cost = self._repaired
        if found != self._process.cost:
            cost = self._records.loss(self.answer())
            self._repaired = self._process.cost, cost
        return cost

    @property
    def bound(self) -> float | None:
        """A lower bound of what groups of the least size cost bounds these too."""
        return self._process.bound

    @property
    def finished(self) -> bool:
        """Whether the search is."""
        return self._process.finished

    def answer(self) -> Labels:
        """The best found so far, repaired."""
        return repair(self._records, self._constraints, self._process.answer())


def describe_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as an account has them: what is no plain value by its type."""
    plain = (str, int, float, bool, type(None))
    return {name: value if isinstance(value, plain) else type(value).__name__ for name, value in params.items()}


def begin(method: Method, points: Points, k: int, run: Run) -> Process[Labels]:
    """Begin the search of a method; a case without a choice is finished at once."""
    count, width = points.shape
    if width == 0:  # all records are alike
        return Finished((np.arange(count) // k).clip(max=count // k - 1), 0.0, 0.0)
    if count < 2 * k:
        labels = np.zeros(count, np.int64)
        cost = float(within_sse(points, labels))
        return Finished(labels, cost, cost)
    return method.search(points, k, run)


def begin_records(method: Method, records: Records, k: int, run: Run) -> Process[Labels]:
    """Begin the search of a method on records, with categories or without."""
    if run.constraints is not None:
        if len(records) < 2 * k:
            labels = np.zeros(len(records), np.int64)
            return Finished(labels, records.loss(labels), records.sse(labels))
        return method.search_promised(records, run.constraints, run)
    if not records.has_categories:
        return begin(method, records.numbers, k, run)
    if len(records) < 2 * k:
        labels = np.zeros(len(records), np.int64)
        return Finished(labels, records.loss(labels), records.sse(labels))
    return method.search_records(records, k, run)


def kept_partition(name: str, labels: object, n: int, k: int) -> Labels:
    """A k-partition that comes from a file: a label for each record, 0 to g−1, and each at least k times."""
    kept = integers(name, labels, (n,), 0, n // k - 1)
    if np.bincount(kept).min() < k:
        raise ValueError(f"{name} has a group of fewer than {k} records")
    return kept


# The random numbers of a pass are drawn from a stream of its own, and there are no more of these.
MOST_PASSES = 2**20


def kept_order(state: Mapping[str, Any], n: int, k: int) -> tuple[Labels, Labels]:
    """A k-partition that comes from a file: records in an order, and marks at the first of each group; or none yet."""
    records = n if np.size(state["order"]) else 0
    order = integers("order", state["order"], (records,), 0, n - 1)
    heads = integers("heads", state["heads"], (records,), 0, 1)
    if records:
        sizes = np.diff(np.append(np.flatnonzero(heads), n))
        if (np.sort(order) != np.arange(n)).any() or not heads[0] or sizes.min() < k:
            raise ValueError("the groups kept are no k-partition")
    return order, heads


def kept_blocks(state: Mapping[str, Any], heads: Labels, end: int) -> tuple[Labels, NDArray[np.float64], int]:
    """Blocks of groups that come from a file: where they start, what they cost, and which is next; or none yet."""
    is_begun = end > 0 and np.size(state["starts"]) > 1
    starts = offsets("starts", state["starts"], end) if is_begun else np.zeros(1, np.int64)
    if (np.diff(starts) <= 0).any() or not heads[starts[:-1]].all():
        raise ValueError("a block is empty, or begins within a group")
    costs, at = floats("costs", state["costs"], (len(starts) - 1,)), whole("next", state["next"], 0)
    if at > len(starts) - 1:
        raise ValueError("the pass is further than there are blocks")
    return starts, costs, at


def split_large(labels: Labels, k: int) -> Labels:
    """Cut the groups of 2k and more of a k-partition into several, which never raises the SSE."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    place = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # of a record in its group
    begins = (place % k == 0) & (place // k < np.repeat(sizes // k, sizes))
    cut = np.empty(len(labels), np.int64)
    cut[order] = np.cumsum(begins) - 1
    return cut
