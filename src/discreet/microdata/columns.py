"""Columns of a set partitioning problem: groups of records, each with its cost, in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.group_costs import group_costs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Columns:
    """Groups of records, one after the other.

    Parameters
    ----------
    members : array of int
        The records of all groups: those of group j from `starts[j]` to `starts[j+1]`−1.
    starts : array of int
        One more than there are groups.
    costs : array of float
        The cost of each group.
    """

    members: Ints
    starts: Ints
    costs: Floats

    def __len__(self) -> int:
        return len(self.costs)

    @property
    def sizes(self) -> Ints:
        """Number of records in each group."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Ints:
        """The group to which each place in `members` belongs."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def take(self, chosen: Ints) -> Columns:
        """Keep the chosen groups, in the given order."""
        sizes = self.sizes[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], sizes)
        return Columns(self.members[places], starts, self.costs[chosen])

    def joined(self, *others: Columns) -> Columns:
        """These groups and others."""
        every = (self, *others)
        sizes = np.concatenate([columns.sizes for columns in every])
        return Columns(
            np.concatenate([columns.members for columns in every]),
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([columns.costs for columns in every]),
        )

    def keys(self) -> list[bytes]:
        """A key for each group, the same for the same records in the same order."""
        return [self.members[a:b].tobytes() for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def within(self, records: Ints, n: int) -> Columns:
        """The groups that consist of the given records alone, which are renumbered 0, 1, … in the given order."""
        number = np.full(n, -1)
        number[records] = np.arange(len(records))
        members = number[self.members]
        inside = np.minimum.reduceat(members, self.starts[:-1]) >= 0
        return Columns(members, self.starts, self.costs).take(np.flatnonzero(inside))

    def reduced_costs(self, duals: Floats) -> Floats:
        """What each group costs beyond the duals of its records."""
        if not len(self):
            return np.zeros(0)
        reduced: Floats = self.costs - np.add.reduceat(duals[self.members], self.starts[:-1])
        return reduced

    def best_per_record(self, keys: Floats, n: int, width: int) -> Ints:
        """The groups that are among the `width` of lowest key of at least one of their records, ascending."""
        order = np.argsort(keys, kind="stable")
        by_key = self.take(order)
        places = np.argsort(by_key.members, kind="stable")  # of each record, by key
        counts = np.bincount(by_key.members, minlength=n)
        rank = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(order[np.unique(by_key.owners[places[rank < width]])])


def columns_of(points: Floats, labels: Ints) -> Columns:
    """The groups of a partition of points, labels 0 to g−1."""
    members = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    return Columns(members, starts, group_costs(points, members, starts))


def shares(columns: Columns, labels: Ints) -> Floats:
    """What each record bears of the cost of its group: duals to start from."""
    share: Floats = (columns.costs / columns.sizes)[labels]
    return share


def labels_of(columns: Columns, chosen: Ints) -> Ints:
    """The partition that the chosen groups make."""
    groups = columns.take(chosen)
    labels = np.empty(len(groups.members), np.int64)
    labels[groups.members] = groups.owners
    return labels
