"""The method `two-step`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.errors import InputError, one_of, whole
from discreet.evolution.process import Advancing, Process, State, Together
from discreet.kernels.partitions.groups import within_sse
from discreet.methods import make
from discreet.microdata.method import Construction, Labels, Points, Run, begin

# Macro-groups under way at a time, whatever the number of threads.
WINDOW = 8


@dataclass(frozen=True)
class TwoStep:
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


class MacroGroups(Advancing):
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
        self._labels = [np.unique(labels[members], return_inverse=True)[1] for members in self._members]
        self._costs = np.array([within_sse(points[m], own) for m, own in zip(self._members, self._labels, strict=True)])
        self._settled, self._steps = 0, 0
        self._window = self._open()

    @property
    def cost(self) -> float:
        """SSE of the groups so far."""
        active = [min(process.cost, self._costs[i]) for i, process in self._under_way()]
        return math.fsum([*self._costs[: self._settled], *active, *self._costs[self._settled + len(active) :]])

    @property
    def finished(self) -> bool:
        """Whether the search is over in all macro-groups."""
        return self._settled == len(self._members)

    def advance(self) -> None:
        """Do one epoch of the inner method in each macro-group under way; when they are done, go on to the next."""
        next(self._window.epochs(), None)
        self._steps += 1
        limited = self._method.inner != "genetic" and self._steps == self._method.steps
        if limited or self._window.finished:
            self._labels = self._current()
            for i, process in self._under_way():
                self._costs[i] = min(process.cost, self._costs[i])
            self._settled += len(self._window.processes)
            self._steps = 0
            self._window = self._open()

    def answer(self) -> Labels:
        """The groups, those of the heuristic where the search has not found better ones."""

        labels = np.empty(len(self._points), np.int64)
        count = 0
        for members, own in zip(self._members, self._current(), strict=True):
            labels[members] = count + own
            count += int(own.max()) + 1
        return labels

    def save(self) -> State:
        """The groups found, and the searches under way."""

        settled: State = {"settled": self._settled, "steps": self._steps, "costs": self._costs.copy()}
        return {**settled, "labels": np.concatenate(self._labels), **self._window.save()}

    def load(self, state: State) -> None:
        """Go on from a saved state."""

        kept = dict(state)
        self._settled, self._steps = int(kept.pop("settled")), int(kept.pop("steps"))
        self._costs[:] = kept.pop("costs")
        ends = np.cumsum([len(members) for members in self._members])
        self._labels = np.split(np.asarray(kept.pop("labels")), ends[:-1])
        self._window = self._open()
        self._window.load(kept)

    def _under_way(self) -> Iterator[tuple[int, Process[Labels]]]:
        """The searches under way, each with the number of its macro-group."""
        return enumerate(self._window.processes, self._settled)

    def _current(self) -> list[Labels]:
        """The groups of each macro-group as they are now."""
        labels = list(self._labels)
        for i, process in self._under_way():
            if process.cost < self._costs[i]:
                labels[i] = process.answer()
        return labels

    def _open(self) -> Together[Labels]:
        """Begin the search in the next macro-groups."""
        end = min(self._settled + WINDOW, len(self._members))
        return Together([self._begin(i) for i in range(self._settled, end)], self._run.threads)

    def _begin(self, i: int) -> Process[Labels]:

        points, start = self._points[self._members[i]], self._labels[i]
        # A seed of its own, so that neither the order nor the threads matter.
        seed = int(np.random.SeedSequence((self._run.seed, i)).generate_state(1)[0])
        params = {"generations": self._method.generations} if self._method.inner == "genetic" else {}
        return begin(make(self._method.inner, params), points, self._k, Run(seed=seed, start=start))


def first_step(heuristic: str, points: Points, k: int, run: Run) -> Labels:
    """The groups of the heuristic, or those to start from if they are better."""

    labels = _constructed(heuristic, points, k, run)
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
        homes = _constructed(heuristic, sums / sizes[:, None], width, run)
    order = np.argsort(homes[labels], kind="stable")
    return np.split(order, np.cumsum(np.bincount(homes[labels]))[:-1])


def _constructed(heuristic: str, points: Points, k: int, run: Run) -> Labels:
    method: Construction = make(heuristic, {})
    return method.assign(points, k, Run(seed=run.seed))
