"""The method `exhaustive`: the optimum of a few records by dynamic programming."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.evolution.process import Finished, Process
from discreet.kernels.partitions.subsets import best_partition, best_promised
from discreet.microdata.method import Construction, Labels, Points, Run
from discreet.microdata.promises import Constraints
from discreet.microdata.records import Records

# The time grows threefold with each record: a second or two for so many.
MOST_RECORDS = 18


@dataclass(frozen=True)
class Exhaustive(Construction):
    """The optimum of at most 18 records, found by looking at everything.

    All subsets of the records are candidates for groups, and the best way to put groups of k to 2k−1 together is found
    by dynamic programming over them; groups that must keep more than their size may be larger. It is there to check
    other methods against; `exact` finds the same optimum, and that of some hundred records too.

    References
    ----------
    A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
    algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70, section III.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        if len(points) > MOST_RECORDS:
            raise InputError(
                f"exhaustive looks at all subsets of at most {MOST_RECORDS} records, and there are {len(points):,}; "
                "use the method exact"
            )
        return best_partition(points, k)

    def search_promised(self, records: Records, constraints: Constraints, run: Run) -> Process[Labels]:
        """Find the optimum among groups that keep more than their size."""
        return prove_promised(records, constraints)

    def rehearse_promised(self, records: Records, constraints: Constraints) -> None:
        """Nothing: of a few records it takes no longer than compiling."""

    def rehearse(self, points: Points, k: int, sizes: Collection[int]) -> None:
        """Partition a few points, so that it is compiled."""
        best_partition(points[:4], 2)


def prove_promised(records: Records, constraints: Constraints) -> Process[Labels]:
    """The optimum of a few records among groups that keep more than their size, by looking at everything."""
    if len(records) > MOST_RECORDS:
        raise InputError(
            f"with promises of l, t or persons the optimum is proven of at most {MOST_RECORDS} records in a class, and "
            f"there are {len(records):,}; use the method memetic"
        )
    labels = best_promised(records.mixed, constraints.promised)
    cost = records.loss(labels)
    # What means and modes lose bounds the squared distances only where there are no modes.
    return Finished(labels, cost, None if records.has_categories else cost)
