"""Columns of a set partitioning problem, which are groups of records with their costs, and odd set inequalities.

For a set C of m records, m odd, the groups of a partition satisfy Σ ⌊|S ∩ C|/2⌋ ≤ (m−1)/2: at most (m−1)/2 pairs are
together. With three records these are the subset row inequalities of Jepsen, Petersen, Spoorendonk and Pisinger (2008):
at most one group has two or more of them. They cut off the half groups with which the linear relaxation shares out a
few outlying records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.evolution.checks import floats, integers, offsets
from discreet.kernels.partitions.groups import group_costs
from discreet.kernels.pricing.odd_cycles import odd_cycles, triangles

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

    def join(self, *others: Columns) -> Columns:
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


def share_costs(columns: Columns, labels: Ints) -> Floats:
    """What each record bears of the cost of its group: duals to start from."""
    share: Floats = (columns.costs / columns.sizes)[labels]
    return share


def labels_of(columns: Columns, chosen: Ints, n: int) -> Ints:
    """The partition that the chosen groups make; records in none of them have -1."""
    groups = columns.take(chosen)
    labels = np.full(n, -1)
    labels[groups.members] = groups.owners
    return labels


# A violation counts from here on; a record takes part in so many new inequalities at a time.
LEAST_VIOLATION = 1e-3
NEW_SETS_PER_RECORD = 5


@dataclass(frozen=True, eq=False)
class OddSets:
    """Sets of an odd number of records, one after the other.

    Parameters
    ----------
    members : array of int
        The records of all sets: those of set c from `starts[c]` to `starts[c+1]`−1, ascending.
    starts : array of int
        One more than there are sets.
    """

    members: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """Number of records in each set."""
        return np.diff(self.starts)

    @property
    def limits(self) -> Floats:
        """The right-hand sides (m−1)/2."""
        return ((self.sizes - 1) // 2).astype(np.float64)

    def by_record(self, n: int) -> tuple[Ints, Ints]:
        """Where the sets of each record begin, and the sets."""
        order = np.argsort(self.members, kind="stable")
        sets = np.repeat(np.arange(len(self)), self.sizes)[order]
        return np.concatenate([[0], np.cumsum(np.bincount(self.members, minlength=n))]), sets

    def coefficients(self, columns: Columns, n: int) -> tuple[Ints, Ints, Floats]:
        """The coefficients ⌊|S ∩ C|/2⌋ that are not zero: group, set, coefficient; ordered by group, then set."""
        starts, sets = self.by_record(n)
        counts = np.diff(starts)[columns.members]
        offsets = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(starts[columns.members] - offsets, counts)
        keys = np.repeat(columns.owners, counts) * max(len(self), 1) + sets[places]
        pairs, common = np.unique(keys, return_counts=True)
        pairs, common = pairs[common >= 2], common[common >= 2]
        return pairs // max(len(self), 1), pairs % max(len(self), 1), (common // 2).astype(np.float64)

    def take(self, chosen: Ints) -> OddSets:
        """Keep the chosen sets."""
        inner = Columns(self.members, self.starts, np.zeros(len(self))).take(chosen)
        return OddSets(inner.members, inner.starts)

    def join(self, *others: OddSets) -> OddSets:
        """These sets and others."""
        every = (self, *others)
        sizes = np.concatenate([sets.sizes for sets in every])
        return OddSets(np.concatenate([sets.members for sets in every]), np.concatenate([[0], np.cumsum(sizes)]))

    def weigh(self, columns: Columns, weights: Floats, n: int) -> Floats:
        """What the sets, with their weights, add to the reduced cost of each group."""
        used = np.flatnonzero(weights > 0)
        group, which, coefficient = self.take(used).coefficients(columns, n)
        added: Floats = np.bincount(group, coefficient * weights[used][which], len(columns)).astype(np.float64)
        return added


def no_sets() -> OddSets:
    """No inequality."""
    return OddSets(np.zeros(0, np.int64), np.zeros(1, np.int64))


def find_violated(columns: Columns, values: Floats, n: int) -> OddSets:
    """Find odd sets whose inequality a fractional solution violates, the most violated first."""
    partial = np.flatnonzero((values > 1e-7) & (values < 1 - 1e-7))
    shared = columns.take(partial)
    shares = values[partial]
    listed = sorted(_triples(shared, shares, n) | _cycles(shared, shares, n))
    if not listed:
        return no_sets()
    sets = OddSets(np.concatenate([np.array(c) for c in listed]), np.cumsum([0, *map(len, listed)]))
    group, which, coefficient = sets.coefficients(shared, n)
    excess = np.bincount(which, coefficient * shares[group], len(sets)) - sets.limits
    taken = np.zeros(n, np.int64)
    chosen = []
    for c in np.argsort(-excess, kind="stable"):
        records = sets.members[sets.starts[c] : sets.starts[c + 1]]
        if excess[c] < LEAST_VIOLATION:
            break
        if taken[records].max() < NEW_SETS_PER_RECORD:
            taken[records] += 1
            chosen.append(c)
    return sets.take(np.array(chosen, np.int64))


def pair_shares(columns: Columns, values: Floats, n: int) -> tuple[Ints, Ints, Floats]:
    """How much two records are together: one, other, share; every pair in both directions, ordered."""
    keys, shares = [np.zeros(0, np.int64)], [np.zeros(0)]
    for size in np.unique(columns.sizes):
        chosen = np.flatnonzero(columns.sizes == size)
        groups = columns.take(chosen).members.reshape(-1, size)
        for a in range(size):
            for b in range(size):
                if a != b:
                    keys.append(groups[:, a] * n + groups[:, b])
                    shares.append(values[chosen])
    pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    totals: Floats = np.bincount(inverse, np.concatenate(shares), len(pairs)).astype(np.float64)
    return pairs // n, pairs % n, totals


def _triples(columns: Columns, values: Floats, n: int) -> set[tuple[int, ...]]:
    """Triples of records that are together, two by two, in more than one whole group."""
    one, other, share = pair_shares(columns, values, n)
    starts = np.concatenate([[0], np.cumsum(np.bincount(one, minlength=n))])
    return {tuple(triple) for triple in triangles(starts, other, share, 1.0 + LEAST_VIOLATION).tolist()}


def _cycles(columns: Columns, values: Floats, n: int) -> set[tuple[int, ...]]:
    """The records that neighbours share in short odd cycles of groups."""
    incidence = csr_array((np.ones(len(columns.members), np.int64), columns.members, columns.starts), (len(columns), n))
    excludes = (incidence @ incidence.T).tocoo()
    apart = excludes.row != excludes.col
    row, col = excludes.row[apart].astype(np.int64), excludes.col[apart].astype(np.int64)
    order = np.lexsort((col, row))
    row, col = row[order], col[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(columns)))])
    lengths = np.maximum(1.0 - values[row] - values[col], 0.0)
    groups, ends = odd_cycles(starts, col, lengths, 1.0 - LEAST_VIOLATION)
    found = set()
    for a, b in pairwise(ends):
        cycle = [set(columns.members[columns.starts[g] : columns.starts[g + 1]].tolist()) for g in groups[a:b]]
        records: list[int] = []
        for one, other in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            free = sorted((one & other) - set(records))
            if free:
                records.append(free[0])
        if len(records) == len(cycle):
            found.add(tuple(sorted(records)))
    return found


def kept_columns(state: Mapping[str, Any], n: int) -> Columns:
    """Groups of n records that come from a file."""
    members = integers("members", state["members"], (-1,), 0, n - 1)
    starts = offsets("starts", state["starts"], len(members))
    return Columns(members, starts, floats("costs", state["costs"], (len(starts) - 1,)))


def kept_sets(state: Mapping[str, Any], n: int) -> OddSets:
    """Sets of n records that come from a file."""
    members = integers("set_members", state["set_members"], (-1,), 0, n - 1)
    return OddSets(members, offsets("set_starts", state["set_starts"], len(members)))
