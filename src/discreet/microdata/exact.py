"""The method `exact`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.microdata.checks import at_least

if TYPE_CHECKING:
    from discreet.microdata.method import Points, Run
    from discreet.microdata.proving import Proving


@dataclass(frozen=True)
class Exact:
    """The optimal partition, or the best found with a proven lower bound (set partitioning by column generation).

    Every group of k to 2k−1 records is a column of a set partitioning problem. Its linear relaxation is solved by
    column generation: groups that would lower it are found exactly, by branch and bound over near records; odd set
    inequalities tighten it. Its bound is valid at any time. A dive into the relaxation gives a partition; all groups
    that a better one could contain are then listed and handed to the solver HiGHS, which proves the optimum if they
    are not too many. With k = 3 this takes less than a second for 100 records and seconds for 200; for a thousand
    records the gap between partition and bound is usually a fraction of a percent after some seconds.

    Parameters
    ----------
    groups : int
        List up to so many groups for the proof; above that the best partition and the bound stay unproven.
    nodes : int
        Nodes of branch and bound at most.

    References
    ----------
    P. Hansen, B. Jaumard, Cluster analysis and mathematical programming, Mathematical Programming 79 (1997) 191-215;
    M. Jepsen, B. Petersen, S. Spoorendonk, D. Pisinger, Subset-row inequalities applied to the vehicle-routing problem
    with time windows, Operations Research 56 (2008) 497-511.
    """

    groups: int = 300_000
    nodes: int = 100_000

    def __post_init__(self) -> None:
        at_least("groups", self.groups, 1)
        at_least("nodes", self.nodes, 1)

    def search(self, points: Points, k: int, run: Run) -> Proving:
        """Start the search; its `bound` is a lower bound for the SSE at any time."""
        from discreet.microdata.proving import Limits, Proving

        return Proving(points, k, getattr(run, "start", None), Limits(self.groups, self.nodes))
