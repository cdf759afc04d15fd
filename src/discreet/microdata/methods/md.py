"""The method `md`: MD, groups round the two records farthest apart."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.kernels.partitions.md import md
from discreet.microdata.method import Construction, Labels, Points, Run


@dataclass(frozen=True)
class Md(Construction):
    """Groups of fixed size round the two most distant records (maximum distance method, MD).

    While at least 2k records remain: take the two most distant of them and form a group of each with its k−1 nearest.
    The rest are a group if they are k or more; otherwise each joins the group of the nearest record. Ties go to the
    record that comes first. All groups have from k to 2k−1 records.

    References
    ----------
    J. Domingo-Ferrer, J. M. Mateo-Sanz, Practical data-oriented microaggregation for statistical disclosure control,
    IEEE Transactions on Knowledge and Data Engineering 14 (2002) 189-201.
    """

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group."""
        return md(points, k, run.progress)
