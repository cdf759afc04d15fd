"""The method `mdav`: MDAV, groups of fixed size round far records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from discreet.errors import one_of
from discreet.kernels.partitions.mdav import mdav
from discreet.microdata.method import Construction, Labels, Points, Run


@dataclass(frozen=True)
class Mdav(Construction):
    """Groups of fixed size round the records farthest from the average record (MDAV).

    While at least 3k records remain: take the record r farthest from their centroid and the record s farthest from r,
    and form a group of each with the k−1 records nearest to it. From 2k to 3k−1 records make two groups, fewer make
    one. Ties go to the record that comes first. All groups have from k to 2k−1 records.

    Parameters
    ----------
    ending : {"generic", "chapter"}
        How the last records are grouped. "generic" is MDAV-generic: two groups of 2k to 3k−1
        records, one of fewer. "chapter" is the 2008 chapter's
        Algorithm 1: pairs of groups while at least 2k records remain, then one group of the rest if they are k or more,
        otherwise each of them joins the group with the nearest centroid.

    References
    ----------
    J. Domingo-Ferrer, V. Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data Mining
    and Knowledge Discovery 11 (2005) 195-212; A. Solanas, Privacy protection with genetic algorithms, in Success in
    Evolutionary Computation, Springer (2008) 215-237, section 2.1.
    """

    ending: Literal["generic", "chapter"] = "generic"

    def __post_init__(self) -> None:
        one_of("ending", self.ending, ("generic", "chapter"))

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        return mdav(points, k, self.ending == "chapter", run.progress)
