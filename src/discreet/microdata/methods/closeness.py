"""The methods `t-merging`, `k-first` and `t-first`: t-closeness through microaggregation, as it was published."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.evolution.process import Process
from discreet.kernels.partitions.mdav import mdav
from discreet.kernels.promised.closeness import exchange_first, merge_far, one_from_each
from discreet.microdata.method import Construction, Labels, Points, Run
from discreet.microdata.promises import Constraints
from discreet.microdata.records import Records


class _Closeness(Construction):
    """A construction that keeps promises of l and t, or of persons, by itself; without any it is `mdav`."""

    def search_promised(self, records: Records, constraints: Constraints, run: Run) -> Process[Labels]:
        """Construct the partition."""
        return self.search_records(records, constraints.k, run)


@dataclass(frozen=True)
class TMerging(_Closeness):
    """Classes of `mdav`, merged with their nearest until all keep what is promised.

    While a class is farther than t from all records, or breaks another promise, the one that is farthest from it is
    merged with the class of the nearest centroid. Without such promises it is `mdav`.

    References
    ----------
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez, S. Martínez, t-closeness through microaggregation: strict privacy
    with enhanced utility preservation, IEEE Transactions on Knowledge and Data Engineering 27 (2015) 3098-3110,
    Algorithm 1.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        return _merge(points, mdav(points, k, False, run.progress), run)


@dataclass(frozen=True)
class KFirst(_Closeness):
    """Classes as in `mdav`, whose members are exchanged until the class keeps what is promised (k-anonymity first).

    A class of k that is farther than t from all records takes, in order of nearness, further free records, each in
    exchange for the member whose replacement lowers the distance most, if any does. Classes that are still too far are
    merged with their nearest. Without promises of l, t or persons it is `mdav`.

    References
    ----------
    Algorithm 2 of the article that `t-merging` names.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        if run.constraints is None:
            return mdav(points, k, False, run.progress)
        return _merge(points, exchange_first(points, run.constraints.promised, k), run)


@dataclass(frozen=True)
class TFirst(_Closeness):
    """Classes of one record from each of as many equal parts of the confidential column as t asks for.

    With n records in the order of the column, one from each of k' = max(k, ⌈n/(2(n−1)t+1)⌉) parts are within t of all.
    As in `mdav`, but each class takes from every part the free record that is nearest to its seed. Records that are
    over join the nearest class that stays within t. Classes that break another promise are merged with their nearest.
    Without a promise of t on an ordered column it is `t-merging`.

    References
    ----------
    Algorithm 3 of the article that `t-merging` names.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        constraints = run.constraints
        if constraints is None or constraints.closest is None:
            return _merge(points, mdav(points, k, False, run.progress), run)
        return _merge(points, one_of_each_part(points, constraints), run)


def _merge(points: Points, labels: Labels, run: Run) -> Labels:
    """Merge classes that do not keep what is promised with their nearest."""
    return labels if run.constraints is None else merge_far(points, run.constraints.promised, labels)


def one_of_each_part(points: Points, constraints: Constraints) -> Labels:
    """Classes of one record from each of as many parts as the closest promise asks for; not all need keep it."""
    closest, n = constraints.closest, len(points)
    assert closest is not None
    size = min(n, max(constraints.k, math.ceil(n / (2 * (n - 1) * closest.limit + 1))))
    ranks = np.empty(n, np.int64)
    ranks[np.argsort(constraints.middles(closest), kind="stable")] = np.arange(n)
    return one_from_each(points, constraints.promised, ranks, size)
