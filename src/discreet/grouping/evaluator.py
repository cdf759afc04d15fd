"""Information loss and disclosure risk of groupings of attributes.

Each group of attributes is protected and measured once; the figures of a grouping are put together of those of its
groups. Loss and interval disclosure are sums over the groups. Distance linkage is not: a table of the distances within
a group, searching records × clusters, is kept and serves every grouping that has this group. Where such tables would
not fit into the memory, or where the intruder is asked for in another way than the tables know, the records of each
release are searched for.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.evolution.process import mapped
from discreet.grouping.candidates import Group, Labels, groups
from discreet.grouping.parts import Inner, Part, protect_group
from discreet.grouping.space import Space
from discreet.kernels.space.group_linkage import chances, fill_distances, nearest_records
from discreet.measures.choices import Choices
from discreet.measures.interval import RECORD_WISE, WIDTHS
from discreet.measures.linkage import distance_linkage, draw_sample, subset_linkage

# The share of the memory that is for clusters; the rest is for tables of distances.
FOR_PARTS = 0.25


@dataclass(frozen=True)
class Figures:
    """The measures of a grouping, in percent.

    Parameters
    ----------
    il : float
        Information loss; infinite where the grouping cannot be protected, as are the others.
    dld : float
        Distance linkage.
    id : float or None
        Interval disclosure; None where no attribute is numeric.
    """

    il: float
    dld: float
    id: float | None

    @property
    def dr(self) -> float:
        """Disclosure risk: the mean of linkage and interval disclosure, or linkage alone."""
        return self.dld if self.id is None else (self.dld + self.id) / 2


NOT_POSSIBLE = Figures(math.inf, math.inf, math.inf)


class Evaluator:
    """Measures groupings of one data set at one k.

    Parameters
    ----------
    space : Space
        The data.
    k : int
        Least size of a cluster.
    inner : Inner
        The partition method.
    choices : Choices
        How risk is measured.
    memory : int
        Bytes for what is kept of groups; 0 keeps nothing beyond one call.
    threads : int
        Threads to use; the figures do not depend on it.
    """

    def __init__(
        self,
        space: Space,
        k: int,
        inner: Inner,
        choices: Choices,
        *,
        memory: int = 1_000_000_000,
        threads: int = 1,
    ) -> None:
        self.space, self.k, self.inner, self.choices, self.threads = space, k, inner, choices, threads
        self.protected = 0  # how often a group was protected
        self.refusal: InputError | None = None  # why a grouping was not possible
        self._parts: Cache[Group, Part | InputError] = Cache(int(FOR_PARTS * memory))
        self._linker = linker(space, k, choices, int((1.0 - FOR_PARTS) * memory), threads)
        numeric = [a for a, attribute in enumerate(space.attributes) if attribute.kind == "numeric"]
        present = ~np.isnan(space.values[:, numeric])
        self._widths = len(WIDTHS[choices.interval]) if choices.width is None else 1
        self._record_wise = RECORD_WISE[choices.interval] if choices.records is None else choices.records
        self._present = int(np.count_nonzero(present))
        self._taking_part = present.any(axis=1)

    def figures(self, groupings: Sequence[Labels]) -> list[Figures]:
        """The measures of groupings, in their order."""
        found: list[Figures] = []
        waiting = [groups(labels) for labels in groupings]
        while waiting:
            # As many as the linker can take at once.
            several: set[Group] = set()
            size = 0
            for one in waiting:
                several.update(one)
                if size and len(several) > self._linker.capacity:
                    break
                size += 1
            found += self._together(waiting[:size])
            waiting = waiting[size:]
        return found

    def _together(self, groupings: Sequence[list[Group]]) -> list[Figures]:
        wanted = list(dict.fromkeys(group for grouping in groupings for group in grouping))
        kept = {group: self._parts.get(group) for group in wanted}
        missing = [group for group in wanted if kept[group] is None]
        for group, part in zip(missing, mapped(self._protect, missing, self.threads), strict=True):
            kept[group] = part
            self._parts.put(group, part, part.size if isinstance(part, Part) else 0)
        self.protected += len(missing)
        releases: list[list[Part]] = []
        for grouping in groupings:
            parts = [kept[group] for group in grouping]
            refused = next((part for part in parts if isinstance(part, InputError)), None)
            self.refusal = refused or self.refusal
            releases.append([] if refused else [part for part in parts if isinstance(part, Part)])
        rates = iter(self._linker.rates([release for release in releases if release]))
        return [
            Figures(self._loss(release), next(rates), self._interval(release)) if release else NOT_POSSIBLE
            for release in releases
        ]

    def _protect(self, group: Group) -> Part | InputError:
        try:
            return protect_group(self.space, group, self.k, self.inner, self.choices)
        except InputError as error:  # too few records with a missing pattern, say; other groups may do
            return error

    def _loss(self, release: Sequence[Part]) -> float:
        variation = self.space.variation
        return 100.0 * math.fsum(part.loss for part in release) / variation if variation > 0 else 0.0

    def _interval(self, release: Sequence[Part]) -> float | None:
        if not self._present:
            return None
        if not self._record_wise:
            return 100.0 * sum(part.hits for part in release) / (self._widths * self._present)
        every = [part.disclosed[:, self._taking_part] for part in release if part.disclosed is not None]
        disclosed = np.stack(every).all(axis=0)
        return 100.0 * int(np.count_nonzero(disclosed)) / disclosed.size


# How many of its neighbours are looked at first: in most releases one of them is nearer than the own.
NEIGHBOURS = 16
# Tables that are kept at most: more than a search of the paper's size meets groups.
MOST_TABLES = 20_000


class Linker(Protocol):
    """Distance linkage of releases that are put together of protected groups."""

    capacity: int  # how many different groups one call may have

    def rates(self, releases: Sequence[Sequence[Part]]) -> list[float]:
        """The linkage rate of each release, in percent."""
        ...


def linker(space: Space, k: int, choices: Choices, memory: int, threads: int) -> Linker:
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
    """
    slots = min(memory // (8 * len(_queries(space.records, choices)) * (space.records // k)), MOST_TABLES)
    plain = choices.direction == "original" and not choices.known and choices.choose is None
    if plain and slots >= len(space.attributes):
        return Tables(space, k, choices, slots, threads)
    return Searches(space, choices, threads)


class Tables:
    """Distance linkage by adding up tables of distances.

    Parameters
    ----------
    space, k, choices, threads
        As for `linker`.
    slots : int
        How many tables there is room for, at least one per attribute.
    """

    def __init__(self, space: Space, k: int, choices: Choices, slots: int, threads: int) -> None:
        n = space.records
        self.capacity = slots
        self._nearest, self._threads = choices.nearest, threads
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

    def _fill(self, part: Part) -> None:
        fill_distances(self._points, part.columns, part.places, self._tables[self._slots[part.group]])

    def _rate(self, release: Sequence[Part]) -> float:
        # The group with the most coordinates first: it tells records apart best.
        parts = sorted(release, key=lambda part: -len(part.columns))
        slots = np.array([self._slots[part.group] for part in parts])
        rows = np.stack([part.rows for part in parts])
        members = np.argsort(rows[0], kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows[0]))])
        found = chances(self._tables, slots, rows, members, starts, self._near, self._queries, self._nearest)
        return 100.0 * float(found.mean())


class Searches:
    """Distance linkage by searching for each record in each release, as the measures do.

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


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps values of given sizes within a limit; those not asked for longest go first.

    Parameters
    ----------
    limit : int
        What the sizes may add up to.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def items(self) -> list[tuple[Key, Value]]:
        """All that is kept; what was not asked for longest comes first."""
        return [(key, value) for key, (value, _) in self._kept.items()]

    def get(self, key: Key) -> Value | None:
        """What is kept under a key, if it is."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value; what is larger than all there is room for is not kept."""
        if key in self._kept or size > self.limit:
            return
        self._kept[key] = (value, size)
        self.size += size
        while self.size > self.limit:
            _, (_, freed) = self._kept.popitem(last=False)
            self.size -= freed
