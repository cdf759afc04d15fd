"""One group of attributes, protected on its own by a partition method, and what that loses and discloses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute
from discreet.errors import whole
from discreet.grouping.candidates import Group
from discreet.grouping.space import Space
from discreet.kernels.partitions.group_release import cluster_means, lost, pinned
from discreet.measures.change import LAST_PLACES
from discreet.measures.choices import Choices
from discreet.measures.interval import RECORD_WISE, RELATIVE, WIDTHS, interval_disclosure
from discreet.microdata.aggregate import aggregate
from discreet.microdata.method import Method, Run, begin
from discreet.microdata.solving import choose

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """What a group of attributes adds to every release in which it is protected on its own.

    Parameters
    ----------
    group : tuple of int
        The attributes.
    rows : array of n int32
        The cluster of each record.
    written : array of shape (clusters, attributes)
        The values that are released for each cluster.
    places : array of shape (columns, clusters)
        The same as coordinates in the measured space.
    columns : array of int
        Which coordinates these are.
    loss : float
        Weighted sum of squared errors.
    hits : int
        How many values are disclosed, over all widths of the interval.
    disclosed : array of shape (widths, n), or None
        Where whole records are to be disclosed: those of which all values in the group are.
    """

    group: Group
    rows: NDArray[np.int32]
    written: Floats
    places: Floats
    columns: NDArray[np.int64]
    loss: float
    hits: int
    disclosed: NDArray[np.bool_] | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        arrays = (self.rows, self.written, self.places, self.columns, self.disclosed)
        return sum(array.nbytes for array in arrays if array is not None)


def protect_group(space: Space, group: Group, k: int, inner: Inner, choices: Choices) -> Part:
    """Protect a group of attributes on its own, and measure what that adds.

    Parameters
    ----------
    space : Space
        The data.
    group : tuple of int
        The attributes.
    k : int
        Least size of a cluster.
    inner : Inner
        The partition method.
    choices : Choices
        How disclosure is measured.
    """
    classes = space.classes(group, k)
    kept = space.kept(group, classes)
    labels = inner.assign(space.to_partition(group, kept), classes.rows, k)
    rows = labels.astype(np.int32)
    written = _release_values(space, group, kept, labels, rows)
    columns = space.columns(group)
    places = np.zeros((len(written), len(columns)))
    start = 0
    for place, attribute in enumerate(group):
        axis = space.measured.axes[attribute]
        axis.place(written[:, place], places[:, start : start + axis.width])
        start += axis.width
    loss = lost(space.points, columns, space.weights[columns], space.gaps, places, rows)
    hits, disclosed = _disclosure(space, group, written, rows, choices)
    return Part(group, rows, written, np.ascontiguousarray(places.T), columns, loss, hits, disclosed)


def _release_values(
    space: Space, group: Group, kept: Sequence[Attribute], labels: NDArray[np.int64], rows: NDArray[np.int32]
) -> Floats:
    """The values released for each cluster, by each attribute's own aggregate, as they will be written."""
    clusters = int(rows.max()) + 1
    plain = [a for a in group if space.attributes[a].aggregate == "mean" and not space.lacking[a]]
    means = cluster_means(space.values, np.array(plain, np.int64), rows, clusters)
    someone = np.empty(clusters, np.int64)
    someone[rows] = np.arange(len(rows))
    written = np.empty((clusters, len(group)))
    for place, (number, attribute) in enumerate(zip(group, kept, strict=True)):
        found = means[:, plain.index(number)] if number in plain else aggregate(attribute, labels)[someone]
        written[:, place] = attribute.round_values(found)
    return written


def _disclosure(
    space: Space, group: Group, written: Floats, rows: NDArray[np.int32], choices: Choices
) -> tuple[int, NDArray[np.bool_] | None]:
    """How many numeric values are within their intervals; and, if records count, which records are wholly."""
    places = [place for place, a in enumerate(group) if space.attributes[a].kind == "numeric"]
    numeric = np.array([group[place] for place in places], np.int64)
    widths = WIDTHS[choices.interval] if choices.width is None else (choices.width,)
    record_wise = RECORD_WISE[choices.interval] if choices.records is None else choices.records
    if not len(numeric):
        return 0, np.ones((len(widths), len(rows)), bool) if record_wise else None
    if choices.interval == RELATIVE and not record_wise:
        released = np.ascontiguousarray(written[:, places])
        return int(pinned(space.values, numeric, released, rows, widths[0] / 100.0, LAST_PLACES)), None
    X, Y = space.values[:, numeric], written[rows][:, places]
    names = [space.attributes[a].name for a in numeric]
    if not record_wise:
        rate = interval_disclosure(X, Y, names, choices.interval, False, widths).rate
        return round(rate / 100.0 * len(widths) * int(np.count_nonzero(~np.isnan(X)))), None
    found = [interval_disclosure(X, Y, names, choices.interval, True, width).records for width in widths]
    # A record without a value in this group is for the others to decide.
    return 0, np.array(found) != 0.0


Ints = NDArray[np.int64]
# A search inside goes so far: it is run thousands of times, and must give the same groups each time.
STEPS = 10


@dataclass(frozen=True)
class Inner:
    """A partition method with all that its groups depend on.

    Parameters
    ----------
    name : str
        Its name.
    method : Method
        The method.
    steps : int
        Steps of a search; a method that is none runs to its end.
    seed : int
        Seed of its random choices.
    """

    name: str
    method: Method
    steps: int = STEPS
    seed: int = 0

    def __post_init__(self) -> None:
        whole("inner_steps", self.steps, 1)

    @classmethod
    def named(cls, name: str, params: Mapping[str, Any], steps: int | None = None, seed: int = 0) -> Inner:
        """The method of a name; "auto" is the best there is."""
        name, method = choose(name, params)
        return cls(name, method, STEPS if steps is None else steps, seed)

    @property
    def searches(self) -> bool:
        """Whether it is a search, whose groups depend on steps and seed."""
        return self.method.searches

    def assign(self, points: NDArray[np.float64], classes: Sequence[Ints], k: int) -> Ints:
        """The cluster of each record; the clusters of all classes are numbered through."""
        labels = np.empty(len(points), np.int64)
        clusters = 0
        run = Run(seed=self.seed)
        for rows in classes:
            process = begin(self.method, np.ascontiguousarray(points[rows]), k, run)
            for _ in islice(process.epochs(), self.steps):
                pass
            own = process.answer()
            labels[rows] = own + clusters
            clusters += int(own.max()) + 1
        return labels
