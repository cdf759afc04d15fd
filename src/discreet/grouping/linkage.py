"""Distance linkage of releases that are put together of parts: by tables of distances, or by searching.

A table of the distances within a group, searching records × clusters, is kept and serves every grouping that has this
group. Where such tables would not fit into the memory, or where the intruder is asked for in another way than the
tables know, the records of each release are searched for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.parallel import mapped
from discreet.grouping.candidates import Group
from discreet.grouping.parts import Part
from discreet.grouping.space import Space
from discreet.kernels.space.group_linkage import all_chances, chances, fill_distances, nearest_records
from discreet.measures.choices import Choices
from discreet.measures.linkage import distance_linkage, draw_sample, subset_linkage

# How many of its neighbours are looked at first: in most releases one of them is nearer than the own.
NEIGHBOURS = 16
# Tables that are kept at most: more than a search of the paper's size meets groups.
MOST = 20_000


class Linker(Protocol):
    """A way to link releases."""

    capacity: int  # how many different groups one call may have

    def rates(self, releases: Sequence[Sequence[Part]]) -> list[float]:
        """The linkage rate of each release, in percent."""
        ...

    def forget(self) -> None:
        """Keep nothing of the calls before."""
        ...


def linker(space: Space, k: int, choices: Choices, memory: int, threads: int, *, scan: bool = False) -> Linker:
    """Tables where they fit and know the answer, otherwise searches.

    Parameters
    ----------
    space : Space
        The data.
    k : int
        Least size of a cluster: so there are at most n/k.
    choices : Choices
        How linkage is measured.
    memory : int
        Bytes that tables may take.
    threads : int
        Threads to use.
    scan : bool
        Add up all distances, without short cuts; to see what these give.
    """
    slots = min(memory // (8 * len(_queries(space.records, choices)) * (space.records // k)), MOST)
    plain = choices.direction == "original" and not choices.known and choices.choose is None
    if plain and slots >= len(space.attributes):
        return Tables(space, k, choices, slots, threads, scan=scan)
    return Searches(space, choices, threads)


class Tables:
    """Linkage by adding up tables.

    Parameters
    ----------
    space, k, choices, threads, scan
        As for `linker`.
    slots : int
        How many tables there is room for, at least one per attribute.
    """

    def __init__(self, space: Space, k: int, choices: Choices, slots: int, threads: int, *, scan: bool = False) -> None:
        n = space.records
        self.capacity = slots
        self._nearest, self._threads, self._scan = choices.nearest, threads, scan
        self._queries = _queries(n, choices)
        self._points = np.ascontiguousarray(space.points[self._queries])
        width = min(NEIGHBOURS, n) if space.points.shape[1] else 0
        self._near = (
            nearest_records(space.points, self._queries, width)
            if width
            else np.empty((len(self._queries), 0), np.int64)
        )
        # Reserved as a whole; most systems give memory only where it is written to.
        self._tables = np.empty((slots, len(self._queries), n // k))
        self._slots: OrderedDict[Group, int] = OrderedDict()

    def rates(self, releases: Sequence[Sequence[Part]]) -> list[float]:
        """The linkage rate of each release, in percent."""
        parts = {part.group: part for release in releases for part in release}
        for group in parts:
            if group in self._slots:
                self._slots.move_to_end(group)  # so that no table of this call makes room for another
        missing = [part for group, part in parts.items() if group not in self._slots]
        for part in missing:
            full = len(self._slots) == self.capacity
            self._slots[part.group] = self._slots.popitem(last=False)[1] if full else len(self._slots)
        mapped(self._fill, missing, self._threads)
        return mapped(self._rate, releases, self._threads)

    def forget(self) -> None:
        """Keep nothing of the calls before."""
        self._slots.clear()

    def _fill(self, part: Part) -> None:
        fill_distances(self._points, part.columns, part.places, self._tables[self._slots[part.group]])

    def _rate(self, release: Sequence[Part]) -> float:
        # The group with the most coordinates first: it tells records apart best.
        parts = sorted(release, key=lambda part: -len(part.columns))
        slots = np.array([self._slots[part.group] for part in parts])
        rows = np.stack([part.rows for part in parts])
        if self._scan:
            return 100.0 * float(all_chances(self._tables, slots, rows, self._queries, self._nearest).mean())
        members = np.argsort(rows[0], kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows[0]))])
        found = chances(self._tables, slots, rows, members, starts, self._near, self._queries, self._nearest)
        return 100.0 * float(found.mean())


class Searches:
    """Linkage by searching for each record in each release, as the measures do.

    Parameters
    ----------
    space, choices, threads
        As for `linker`.
    """

    capacity = 256

    def __init__(self, space: Space, choices: Choices, threads: int) -> None:
        self._space, self._choices, self._threads = space, choices, threads
        self._queries = _queries(space.records, choices)

    def rates(self, releases: Sequence[Sequence[Part]]) -> list[float]:
        """The linkage rate of each release, in percent."""
        return mapped(self._rate, releases, self._threads)

    def forget(self) -> None:
        """There is nothing to forget."""

    def _rate(self, release: Sequence[Part]) -> float:
        original, choices = self._space.points, self._choices
        released = np.zeros_like(original)
        for part in release:
            released[:, part.columns] = part.places.T[part.rows]
        points, candidates = (original, released) if choices.direction == "original" else (released, original)
        if choices.choose is None and not choices.known:
            return distance_linkage(points, candidates, nearest=choices.nearest, queries=self._queries).rate
        names = self._space.names
        known = [names.index(name) for name in choices.known] or list(range(len(names)))
        return subset_linkage(
            points,
            candidates,
            [self._space.spans[attribute] for attribute in known],
            choices.choose or len(known),
            nearest=choices.nearest,
            queries=self._queries,
        ).rate


def _queries(records: int, choices: Choices) -> NDArray[np.int64]:
    """The records that search: a fixed sample, so that the figures of different groupings compare."""
    return np.arange(records) if choices.sample is None else draw_sample(records, choices.sample, choices.seed)
