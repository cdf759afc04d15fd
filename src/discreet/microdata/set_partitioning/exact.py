"""The method `exact`, branch and price for the optimal partition; and lower bounds of the SSE of all k-partitions."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import at_least
from discreet.evolution.process import Process, Search, State, inside, part
from discreet.kernels.partitions.groups import within_sse
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.space.lists import near_sums
from discreet.microdata.method import Labels, Method, Points, Run, kept_partition, split_large
from discreet.microdata.methods.exhaustive import prove_promised
from discreet.microdata.promises import Constraints
from discreet.microdata.records import Records
from discreet.microdata.set_partitioning.branching import TOLERANCE, Cover, DualBound, dive, restore_cover
from discreet.microdata.set_partitioning.columns import Floats, Ints, columns_of, labels_of, share_costs
from discreet.microdata.set_partitioning.pricing import GroupPricer, nearest_bound
from discreet.microdata.set_partitioning.relaxation import Relaxation, Steps, complete

# Column generation is tried up to these sizes; its rounds grow with both, and for larger k they take too long.
BOUND_RECORDS = 5_000
BOUND_K = 5
# Steps of column generation at most, whether it has converged or not: about a minute for a thousand records.
BOUND_STEPS = 150


@dataclass(frozen=True)
class Exact(Method):
    """The optimal partition, or the best found with a proven lower bound (set partitioning by column generation).

    Every group of k to 2k−1 records is a column of a set partitioning problem. Its linear relaxation is solved by
    column generation: groups that would lower it are found exactly, by branch and bound over near records; odd set
    inequalities tighten it. Its bound is valid at any time. A dive into the relaxation gives a partition. All groups
    that a better one could contain are then listed, and a tree that branches on two records being together or apart
    (Ryan and Foster) proves the optimum over them, if they are not too many; HiGHS solves the linear program of each
    node. With k = 3 this takes less than a second for 100 records and seconds for 200; for a thousand
    records the gap between partition and bound is usually a fraction of a percent after some seconds. With promises of
    l, t or persons it is `exhaustive`, for a few records.

    Parameters
    ----------
    groups : int
        List up to so many groups for the proof; above that the best partition and the bound stay unproven.
    nodes : int
        Nodes of branch and bound at most.

    References
    ----------
    P. Hansen, B. Jaumard, Cluster analysis and mathematical programming, Mathematical Programming 79 (1997) 191-215;
    M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, Subset-row inequalities applied to the vehicle-routing problem
    with time windows, Operations Research 56 (2008) 497-511.
    """

    groups: int = 300_000
    nodes: int = 100_000

    def __post_init__(self) -> None:
        at_least("groups", self.groups, 1)
        at_least("nodes", self.nodes, 1)

    def search(self, points: Points, k: int, run: Run) -> ExactSearch:
        """Begin the search; its `bound` is a lower bound for the SSE at any time."""
        return ExactSearch(points, k, run.start, self.groups, self.nodes)

    def search_promised(self, records: Records, constraints: Constraints, run: Run) -> Process[Labels]:
        """Find the optimum among groups that keep more than their size, of a few records."""
        return prove_promised(records, constraints)

    def rehearse_promised(self, records: Records, constraints: Constraints) -> None:
        """Nothing: of a few records it takes no longer than compiling."""


class ExactSearch(Search[Ints]):
    """The search under way: a partition and a lower bound that come closer until they meet.

    Parameters
    ----------
    points : array of float, n × d
        The points.
    k : int
        Least size of a group; n is at least 2k.
    start : array of int, optional
        A partition that the answer is not worse than.
    most_groups : int
        Groups listed for a proof at most.
    most_nodes : int
        Nodes of branch and bound at most.
    """

    def __init__(self, points: Floats, k: int, start: Ints | None, most_groups: int, most_nodes: int) -> None:
        self._given, self._k, self._most_groups, self._most_nodes = points, k, most_groups, most_nodes
        self._labels = mdav(points, k, False, lambda _: None)
        self._cost = float(within_sse(points, self._labels))
        if start is not None:
            self.offer(split_large(start, k))
        # A power of two scales without rounding; the tolerances of the linear program want costs of about 1 per record.
        self._scale = 2.0 ** round(0.5 * np.log2(len(points) / self._cost)) if self._cost > 0 else 1.0
        self._points = points * self._scale
        self._pricer = GroupPricer(self._points, k)
        groups = columns_of(self._points, self._labels)
        self._relaxation = Relaxation(groups, share_costs(groups, self._labels), self._pricer)
        self._cover: Cover | None = None
        self._listed = False  # whether the cover has all groups that a better partition may have
        self._bound, self._nodes = 0.0, 0
        self._stage = "relax"
        self._raise(nearest_bound(self._pricer.near, k))

    @property
    def cost(self) -> float:
        """SSE of the best partition found so far."""
        return self._cost

    @property
    def bound(self) -> float:
        """No partition has a lower SSE."""
        return min(self._bound, self._cost)

    @property
    def is_relaxation_solved(self) -> bool:
        """Whether the bound is that of the linear relaxation, or better."""
        return self._stage != "relax"

    @property
    def finished(self) -> bool:
        """Whether the best partition is proven to be optimal, or the limits are reached."""
        return self._stage == "done"

    def answer(self) -> Ints:
        """The best partition found so far."""
        return self._labels.copy()

    def _epochs(self) -> Iterator[None]:
        """One step after the other; what they do can be resumed between them."""
        while True:
            self._begin_phase()
            yield from self.advancing()
            self._end_phase()
            yield

    def advancing(self) -> Steps:
        """Take a step, with interruptions: generate columns and cuts, dive, generate more, then branch; see `_raise`.

        Partitions may be offered between steps alone, so that a search that is resumed goes the same way again.
        """
        if self._stage == "relax":
            yield from self._relax("dive")
        elif self._stage == "dive":
            self.offer((yield from dive(self._points, self._k, self._relaxation)))
            self._stage = "tighten"  # closer to the optimum, more rounds are worth while
            self._raise(self._relaxation.bound)
            self._relaxation.resume()
        elif self._stage == "tighten":
            yield from self._relax("branch")
        elif self._stage == "branch":
            yield from self._branch()

    def _relax(self, next_stage: str) -> Steps:
        """Do a round of column or cut generation."""
        yield from self._relaxation.advancing(self._cost * self._scale**2)
        if self._relaxation.finished:
            self._stage = next_stage
        self._raise(self._relaxation.bound)

    def _state(self) -> State:
        held: State = {"labels": self._labels, "bound": self._bound, "stage": self._stage}
        held |= {"listed": int(self._listed), "nodes": self._nodes}
        held |= inside("relaxation", self._relaxation.save())
        if self._cover is not None:
            held |= inside("cover", self._cover.save())
        return held

    def _restore(self, state: State) -> None:
        held: dict[str, Any] = dict(state)
        self._labels = kept_partition("labels", held["labels"], len(self._points), self._k)
        self._cost = float(within_sse(self._given, self._labels))
        self._bound, self._stage = float(held["bound"]), str(held["stage"])
        self._listed, self._nodes = bool(held["listed"]), int(held["nodes"])
        self._relaxation.load(part("relaxation", state))
        cover = part("cover", state)
        self._cover = restore_cover(cover, len(self._points)) if cover else None

    def _branch(self) -> Steps:
        """Do a node of branch and bound; where it ends without a proof, list the groups again if that may help."""
        if self._cover is None:
            self._cover = yield from self._list()
            yield
        cover, before = self._cover, self._cover.cost
        yield from cover.advancing()
        self._nodes += 1
        if cover.cost < before:
            self.offer(labels_of(self._cover.columns, cover.best, len(self._points)))
        if self._listed:
            self._raise(cover.bound)
        elif cover.cost < before:
            self._cover = None  # fewer groups may matter now
        elif cover.finished:
            self._stage = "done"
        if self._nodes >= self._most_nodes:
            self._stage = "done"

    def _list(self) -> Generator[None, None, Cover]:
        """Branch and bound over all groups that a better partition may have, or over those known if these are many."""
        relaxation, n = self._relaxation, len(self._points)
        duals, sets, weights = relaxation.inner_duals, relaxation.sets, relaxation.inner_weights
        gap = self._cost * self._scale**2 * (1 + 2 * TOLERANCE) - relaxation.bound
        columns = yield from self._pricer.below(duals, sets, weights, gap, self._most_groups)
        self._listed = columns is not None
        columns = relaxation.columns if columns is None else columns
        own = columns_of(self._points, self._labels)
        place = {key: at for at, key in enumerate(columns.keys())}
        incumbent = np.array([place.get(key, -1) for key in own.keys()])  # noqa: SIM118 - no dict
        missing = np.flatnonzero(incumbent < 0)
        incumbent[missing] = len(columns) + np.arange(len(missing))
        columns = columns.join(own.take(missing))
        reduced = columns.reduced_costs(duals) + sets.weigh(columns, weights, n)
        binding = sets.take(np.flatnonzero(weights > 0))
        return Cover(columns, n, DualBound(relaxation.bound, reduced, binding), np.sort(incumbent))

    def offer(self, labels: Ints) -> None:
        """Take a partition if it is better."""
        cost = float(within_sse(self._given, labels))
        if cost < self._cost:
            self._labels, self._cost = labels, cost

    def _raise(self, bound: float) -> None:
        """Take a bound, of the scaled points, if it is better; where it meets the cost, the search is done."""
        self._bound = max(self._bound, bound / self._scale**2)
        if self._cost - self._bound <= TOLERANCE * self._cost:
            self._stage = "done"


@dataclass(frozen=True)
class Bound:
    """A lower bound of the SSE of all k-partitions, and the method that proves it."""

    value: float
    method: str


def lower_bound(points: Points, k: int, *, labels: Labels) -> Bound:
    """Prove a lower bound of the SSE.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    labels : array of n ints
        The best partition known; the bound never exceeds its SSE.

    Returns
    -------
    Bound
        By "column generation", the linear relaxation of set partitioning, where it converges within a fixed amount of
        work; by "Lagrangian" relaxation, where it does not; by "nearest neighbours" for large data and large k.
    """
    cost = float(within_sse(points, labels)) if points.shape[1] else 0.0
    if len(points) < 2 * k or cost == 0.0:
        return Bound(cost, "no choice" if cost else "no loss")
    nearest = min(nearest_bound(near_sums(points, k - 1, lambda _fraction: None), k), cost)
    if len(points) > BOUND_RECORDS or k > BOUND_K:
        return Bound(nearest, "nearest neighbours")
    search = Exact().search(points, k, Run(start=labels))
    for _ in range(BOUND_STEPS):
        complete(search.advancing())
    if search.bound <= nearest:
        return Bound(nearest, "nearest neighbours")
    return Bound(min(search.bound, cost), "column generation" if search.is_relaxation_solved else "Lagrangian")
