"""One look at the data of a release, column by column: all that both reports draw or count of it.

Columns are read one after the other, so that no more of a large file is in memory than has to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Values
from discreet.measures.change import moments
from discreet.measures.inspection import SIZES
from discreet.measures.linkage import draw_sample
from discreet.measures.risk import closeness
from discreet.measures.uniqueness import Marks, count_below, join_marks, mark, risk_by_column
from discreet.release.charts import warm_up
from discreet.release.reports.distributions import Distribution, distribute
from discreet.release.reports.subject import Column, Subject

# Columns that are drawn, numeric ones in a matrix of correlations, and records that these are of.
MOST_DRAWN, MOST_CORRELATED, MOST_SAMPLED = 24, 20, 50_000
# Up to so many records diversity and closeness are measured for the report where the evidence has none.
MOST_FOR_CLOSENESS = 200_000


@dataclass(frozen=True, eq=False)
class Correlations:
    """Correlations of numeric quasi-identifiers before and after, of a sample of large files."""

    names: list[str]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    records: int


@dataclass(frozen=True, eq=False)
class Before:
    """The risk of the original.

    Parameters
    ----------
    sizes : array of int
        For each record how many share its combination of quasi-identifiers in the original.
    below : dict of int to int
        For each k the records in combinations that fewer than k share.
    by_column : dict
        For each quasi-identifier the same by it alone, and by all the others without it.
    closeness : dict
        For confidential columns what `measures.risk.closeness` says of the classes of the original.
    """

    sizes: NDArray[np.int64]
    below: Mapping[int, int]
    by_column: Mapping[str, Mapping[str, Mapping[int, int]]]
    closeness: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Look:
    """What was found.

    Parameters
    ----------
    kinds : dict of str to str
        The type of each released column, "" where it has no values that can be told apart.
    released : dict of str to Distribution
        The released values of the columns that can be drawn.
    overlays : dict of str to Distribution
        Original and released values of quasi-identifiers, in the same bars.
    sizes : array of int
        For each record how many share its combination of quasi-identifiers in the release.
    promised : array of int
        The same as it is promised: within strata, and of several groups of columns in the one in which fewest do.
    closeness : dict
        For confidential columns what `measures.risk.closeness` says of the classes of the release.
    before : Before, optional
        The risk of the original.
    correlations : Correlations, optional
        Of two or more numeric quasi-identifiers, where the original is at hand.
    strata : array of int
        Records of each stratum.
    gaps : dict of tuple of str to int
        Sets of quasi-identifiers that are missing together → in how many records; the last, of `None`, of rare sets.
    left_undrawn : int
        Columns that are not drawn because there are too many.
    """

    kinds: Mapping[str, str]
    released: Mapping[str, Distribution]
    overlays: Mapping[str, Distribution]
    sizes: NDArray[np.int64]
    promised: NDArray[np.int64]
    closeness: Mapping[str, Mapping[str, float]]
    before: Before | None
    correlations: Correlations | None
    strata: NDArray[np.int64]
    gaps: Mapping[tuple[str, ...] | None, int]
    left_undrawn: int


def look(subject: Subject, tell: Callable[[str, float], None]) -> Look:
    """Look at every released column once."""
    names = subject.names("quasi", "by", "confidential")
    drawn = choose_drawn(subject)
    eyes = _Eyes(subject)
    # While one column is drawn the next is read: both are mostly work that threads do side by side.
    with ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(warm_up)
        for place, name in enumerate(names):
            tell("reporting", place / len(names))
            column = subject.read(name)
            eyes.kinds[name] = "" if column is None else column.attribute.kind
            if column is None:
                continue
            drawing.result()
            if name in drawn:
                drawing = pool.submit(eyes.draw, name, column)
            if subject.declared[name].role == "quasi":
                eyes.compare(name, column)
            elif subject.declared[name].role == "by":
                eyes.strata[name] = mark(column.after, place)
        drawing.result()
    tell("reporting", 1.0)
    sizes = count_alike(join_marks(eyes.after))
    before = eyes.judge_original()
    return Look(
        eyes.kinds,
        eyes.released,
        eyes.overlays,
        sizes,
        sizes if subject.promise is None else eyes.count_promised(sizes, subject.promise.groups),
        _spread(subject, join_marks(eyes.after)),
        before,
        eyes.correlate(),
        np.unique(join_marks(eyes.strata), return_counts=True)[1] if eyes.strata else np.array([subject.records]),
        eyes.count_gaps(),
        len(names) - len(drawn),
    )


def choose_drawn(subject: Subject) -> list[str]:
    """The columns to draw: all, or of many those that lost most and the first confidential ones."""
    lost = subject.measures.get("il_per_attribute", {})
    quasi = sorted(subject.names("quasi"), key=lambda name: -lost.get(name, 0.0))
    held = subject.names("by", "confidential")
    room = max(MOST_DRAWN - len(quasi), MOST_DRAWN // 3)
    chosen = {*quasi[: max(MOST_DRAWN - min(room, len(held)), 1)], *held[:room]}
    return [name for name in subject.names("quasi", "by", "confidential") if name in chosen]


def count_alike(marks: Marks) -> NDArray[np.int64]:
    """For each record how many have the same mark."""
    _, place, counts = np.unique(marks, return_inverse=True, return_counts=True)
    alike: NDArray[np.int64] = counts[place.ravel()]
    return alike


class _Eyes:
    """What was seen so far."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.kinds: dict[str, str] = {}
        self.released: dict[str, Distribution] = {}
        self.overlays: dict[str, Distribution] = {}
        self.before: dict[str, Marks] = {}
        self.after: dict[str, Marks] = {}
        self.strata: dict[str, Marks] = {}
        self.gaps: dict[str, NDArray[np.bool_]] = {}
        self.numbers: dict[str, tuple[Values, Values]] = {}
        n = subject.records if subject.original is None else subject.original.frame.height
        self.sample = np.arange(n) if n <= MOST_SAMPLED else draw_sample(n, MOST_SAMPLED, 0)

    def draw(self, name: str, column: Column) -> None:
        least = self.subject.least
        # The public report tells of the release alone, also whether its numbers are whole.
        whole = bool((column.after == np.round(column.after))[~np.isnan(column.after)].all())
        found = distribute(replace(column.attribute, integral=whole), [column.after], least, column.before)
        if found is not None:
            self.released[name] = found
        if column.before is not None and (both := distribute(column.attribute, [column.before, column.after], least)):
            self.overlays[name] = both

    def compare(self, name: str, column: Column) -> None:
        place = len(self.after)
        self.after[name] = mark(column.after, place)
        seen = column.after if column.before is None else column.before
        missing = np.isnan(seen)
        if missing.any():
            self.gaps[name] = missing
        if column.before is None:
            return
        self.before[name] = mark(column.before, place)
        if column.attribute.kind == "numeric" and len(self.numbers) < MOST_CORRELATED:
            self.numbers[name] = column.before[self.sample], column.after[self.sample]

    def count_promised(self, sizes: NDArray[np.int64], groups: Sequence[Sequence[str]]) -> NDArray[np.int64]:
        """For each record the size of the smallest class that it is in, of those that the promise is of."""
        if len(groups) == 1 and not self.strata:
            return sizes
        found = None
        for group in groups:
            own = {name: self.after[name] for name in group if name in self.after}
            alike = count_alike(join_marks(own | self.strata)) if own else sizes
            found = alike if found is None else np.minimum(found, alike)
        return sizes if found is None else found

    def judge_original(self) -> Before | None:
        if not self.before:
            return None
        whole = join_marks(self.before)
        sizes = sorted({*SIZES, self.subject.least})
        return Before(
            count_alike(whole),
            count_below(whole, sizes),
            risk_by_column(self.before, sizes),
            _spread(self.subject, whole),
        )

    def correlate(self) -> Correlations | None:
        known = {name: pair for name, pair in self.numbers.items() if not any(np.isnan(one).all() for one in pair)}
        if len(known) < 2:
            return None
        names = list(known)
        before, after = (moments(np.column_stack([known[name][side] for name in names]), names) for side in (0, 1))
        return Correlations(names, before.correlation, after.correlation, len(self.sample))

    def count_gaps(self) -> dict[tuple[str, ...] | None, int]:
        """Sets of quasi-identifiers missing together, of at least as many records as may be told of."""
        if not self.gaps:
            return {}
        names = list(self.gaps)
        marks = {name: mark(gone.astype(np.float64), place) for place, (name, gone) in enumerate(self.gaps.items())}
        _, rows, counts = np.unique(join_marks(marks), return_index=True, return_counts=True)
        found: dict[tuple[str, ...] | None, int] = {}
        rare = 0
        for row, number in sorted(zip(rows, counts, strict=True), key=lambda one: -int(one[1])):
            if number >= self.subject.least and len(found) < MOST_DRAWN:
                found[tuple(name for name in names if self.gaps[name][row])] = int(number)
            else:
                rare += int(number)
        return found | ({None: rare} if rare >= self.subject.least else {})


def _spread(subject: Subject, marks: Marks) -> dict[str, dict[str, float]]:
    """Diversity and closeness of confidential columns in the classes of given marks."""
    if subject.records > MOST_FOR_CLOSENESS or not len(marks):
        return {}
    found = {}
    for name in subject.names("confidential")[:MOST_DRAWN]:
        column = subject.read(name)
        if column is not None:
            told = closeness(marks.view(np.int64), column.after, ordered=column.attribute.kind != "nominal")
            found[name] = {"distinct": told.distinct, "entropy": told.entropy, "t": told.t}
    return found
