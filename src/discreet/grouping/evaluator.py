"""What a grouping loses and risks, put together of what its groups do: each group is protected and measured once.

Things kept as long as there is room for them; those not asked for longest go first.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from discreet.errors import InputError
from discreet.evolution.parallel import mapped
from discreet.grouping.candidates import Group, Labels, groups
from discreet.grouping.linkage import linker
from discreet.grouping.parts import Inner, Part, part_of
from discreet.grouping.space import Space
from discreet.measures.choices import Choices
from discreet.measures.interval import RECORD_WISE, WIDTHS

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps values of given sizes within a limit.

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


@dataclass(frozen=True)
class Savings:
    """What makes judging quick; each can be switched off to see what it gives. No figure depends on it.

    Parameters
    ----------
    groups : bool
        Keep what was computed of a group of attributes.
    tables : bool
        Add up tables of distances instead of searching for records.
    short_cuts : bool
        Look at the neighbours first, and pass over clusters out of reach.
    """

    groups: bool = True
    tables: bool = True
    short_cuts: bool = True


ALL_SAVINGS = Savings()
NOT_POSSIBLE = Figures(math.inf, math.inf, math.inf)


class Evaluator:
    """Judges groupings of one data set at one k.

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
    savings : Savings
        What makes it quick.
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
        savings: Savings = ALL_SAVINGS,
    ) -> None:
        self.space, self.k, self.inner, self.choices, self.threads = space, k, inner, choices, threads
        self.protected = 0  # how often a group was protected
        self.refusal: InputError | None = None  # why a grouping was not possible
        self._savings = savings
        self._parts: Cache[Group, Part | InputError] = Cache(int(FOR_PARTS * memory) if savings.groups else 0)
        room = int((1.0 - FOR_PARTS) * memory) if savings.tables else 0
        self._linker = linker(space, k, choices, room, threads, scan=not savings.short_cuts)
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
        if not self._savings.groups:
            self._linker.forget()
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
            return part_of(self.space, group, self.k, self.inner, self.choices)
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
