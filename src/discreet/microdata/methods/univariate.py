"""The method `univariate`: the optimum of a single attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.errors import InputError
from discreet.kernels.partitions.path import cut_order
from discreet.microdata.method import Construction, Labels, Points, Run


@dataclass(frozen=True)
class Univariate(Construction):
    """The optimal partition of a single attribute (Hansen-Mukherjee shortest path).

    An optimal partition of one attribute consists of runs of k to 2k−1 neighbours in ascending order; the best cut into
    such runs is a shortest path, found in O(kn) after sorting.

    References
    ----------
    S. L. Hansen, S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE Transactions on
    Knowledge and Data Engineering 15 (2003) 1043-1044.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        if points.shape[1] != 1:
            raise InputError(
                f"the method univariate needs one attribute, these records have {points.shape[1]}; "
                "use tour, which cuts any order of multivariate records in the same way"
            )
        return cut_order(points, np.argsort(points[:, 0], kind="stable"), k, run.progress)
