"""The method `two-step`: a heuristic, then an optimiser on macro-groups, of 2008."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.errors import InputError, one_of, whole
from discreet.evolution.checks import floats, integers
from discreet.evolution.process import Process, Search, State, Together
from discreet.kernels.partitions.groups import within_sse
from discreet.methods import make
from discreet.microdata.method import Construction, Labels, Method, Points, Run, begin, kept_partition, renumber

# Macro-groups searched at a time, whatever the number of threads.
WINDOW_MACRO_GROUPS = 8


@dataclass(frozen=True)
class TwoStep(Method):
    """A fixed-size heuristic, then an optimiser on each few of its groups: for files too large for `genetic`.

    Partition the records into groups of k by the heuristic; partition the centroids of these groups, by the same
    heuristic, into macro-groups of K/k; put the records in the place of the centroids; and in each macro-group of about
    K records search for the best k-partition, with the one that the heuristic has made as one of the initial solutions.
    So the SSE never exceeds that of the heuristic alone (Lemma 1 of the chapter).

    Parameters
    ----------
    heuristic : {"mdav", "md", "domes"}
        The heuristic, at its own defaults.
    K : int
        Size of a macro-group, a multiple of k from 2k on; 0 for 6k.
    inner : {"genetic", "memetic", "exact", "exhaustive"}
        What searches in a macro-group, "genetic" being the chapter's.
    generations : int
        Generations of "genetic" in a macro-group, at least 1.
    steps : int
        Most steps of another inner method in a macro-group, at least 1; "memetic" needs 32 for its first cycle.

    References
    ----------
    A. Solanas, Privacy protection with genetic algorithms, in Success in Evolutionary Computation, Springer (2008)
    215-237, section 4.
    """

    heuristic: Literal["mdav", "md", "domes"] = "mdav"
    K: int = 0
    inner: Literal["genetic", "memetic", "exact", "exhaustive"] = "genetic"
    generations: int = 10_000
    steps: int = 40

    def __post_init__(self) -> None:
        one_of("heuristic", self.heuristic, ("mdav", "md", "domes"))
        whole("K", self.K, 0)
        one_of("inner", self.inner, ("genetic", "memetic", "exact", "exhaustive"))
        whole("generations", self.generations, 1)
        whole("steps", self.steps, 1)

    def search(self, points: Points, k: int, run: Run) -> Process[Labels]:
        """Partition by the heuristic and begin the search in the macro-groups."""
        size = self.K or 6 * k
        if size % k or size < 2 * k:
            raise InputError(f"K is {size}; it must be a multiple of k = {k} from {2 * k} on, or 0 for 6k")
        return MacroGroups(self, points, k, size // k, run)


class MacroGroups(Search[Labels]):
    """The second step under way; an epoch is one of the inner method in each of the next few macro-groups.

    Parameters
    ----------
    method : TwoStep
        The parameters.
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    width : int
        Groups in a macro-group.
    run : Run
        The seed and the threads; and a partition to start from, if it is better than that of the heuristic.
    """

    def __init__(self, method: TwoStep, points: Points, k: int, width: int, run: Run) -> None:
        self._method, self._points, self._k, self._run = method, points, k, run
        labels = first_step(method.heuristic, points, k, run)
        self._members = macro_groups(method.heuristic, points, labels, width, run)
        self._labels = [renumber(labels[members]) for members in self._members]
        self._costs = np.array([within_sse(points[m], own) for m, own in zip(self._members, self._labels, strict=True)])
        self._done = 0  # macro-groups in which the search is over
        self._window = self._open()

    @property
    def cost(self) -> float:
        """SSE of the groups so far."""
        active = [min(process.cost, self._costs[i]) for i, process in self._under_way()]
        return math.fsum([*self._costs[: self._done], *active, *self._costs[self._done + len(active) :]])

    @property
    def finished(self) -> bool:
        """Whether the search is over in all macro-groups."""
        return self._done == len(self._members)

    def _epochs(self) -> Iterator[None]:
        """Search the next few macro-groups side by side, for an epoch each, until they are done; then the next."""
        most = self._method.steps if self._method.inner != "genetic" else math.inf
        while not self.finished:
            self._begin_phase()
            epochs, steps = self._window.epochs(), 0
            while True:
                next(epochs, None)
                steps += 1
                if self._window.finished or steps >= most:
                    break
                yield
            self._labels = self._current()
            for i, process in self._under_way():
                self._costs[i] = min(process.cost, self._costs[i])
            self._done += len(self._window.processes)
            self._window = self._open()
            yield

    def answer(self) -> Labels:
        """The groups, those of the heuristic where the search has not found better ones."""
        labels = np.empty(len(self._points), np.int64)
        count = 0
        for members, own in zip(self._members, self._current(), strict=True):
            labels[members] = count + own
            count += int(own.max()) + 1
        return labels

    def _state(self) -> State:
        """The groups found before the macro-groups under way."""
        return {"done": self._done, "costs": self._costs.copy(), "labels": np.concatenate(self._labels)}

    def _restore(self, state: State) -> None:
        kept: dict[str, Any] = dict(state)
        self._done = whole("done", kept["done"], 0)
        self._costs[:] = floats("costs", kept["costs"], self._costs.shape)
        ends = np.cumsum([len(members) for members in self._members])
        parts = np.split(integers("labels", kept["labels"], (ends[-1],), 0, int(ends[-1])), ends[:-1])
        self._labels = [kept_partition("labels", labels, len(labels), self._k) for labels in parts]
        self._window = self._open()

    def _under_way(self) -> Iterator[tuple[int, Process[Labels]]]:
        """The searches under way, each with the number of its macro-group."""
        return enumerate(self._window.processes, self._done)

    def _current(self) -> list[Labels]:
        """The groups of each macro-group as they are now."""
        labels = list(self._labels)
        for i, process in self._under_way():
            if process.cost < self._costs[i]:
                labels[i] = process.answer()
        return labels

    def _open(self) -> Together[Labels]:
        """Begin the search in the next macro-groups."""
        end = min(self._done + WINDOW_MACRO_GROUPS, len(self._members))
        return Together([self._begin(i) for i in range(self._done, end)], self._run.threads)

    def _begin(self, i: int) -> Process[Labels]:
        points, start = self._points[self._members[i]], self._labels[i]
        # A seed of its own, so that neither the order nor the threads matter.
        seed = int(np.random.SeedSequence((self._run.seed, i)).generate_state(1)[0])
        params = {"generations": self._method.generations} if self._method.inner == "genetic" else {}
        return begin(make(self._method.inner, params), points, self._k, Run(seed=seed, start=start))


def first_step(heuristic: str, points: Points, k: int, run: Run) -> Labels:
    """The groups of the heuristic, or those to start from if they are better."""
    labels = _construct(heuristic, points, k, run)
    if run.start is not None and within_sse(points, run.start) < within_sse(points, labels):
        return run.start
    return labels


def macro_groups(heuristic: str, points: Points, labels: Labels, width: int, run: Run) -> list[Labels]:
    """The records of each macro-group: the heuristic puts so many groups together by their centroids."""
    sizes = np.bincount(labels)
    sums = np.zeros((len(sizes), points.shape[1]))
    np.add.at(sums, labels, points)
    homes = np.zeros(len(sizes), np.int64)
    if len(sizes) >= 2 * width:
        homes = _construct(heuristic, sums / sizes[:, None], width, run)
    order = np.argsort(homes[labels], kind="stable")
    return np.split(order, np.cumsum(np.bincount(homes[labels]))[:-1])


def _construct(heuristic: str, points: Points, k: int, run: Run) -> Labels:
    method: Construction = make(heuristic, {})
    return method.assign(points, k, Run(seed=run.seed))
