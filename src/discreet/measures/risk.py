"""Risk of each record, and how it is spread over the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Numbers = NDArray[np.float64]

# One chance in 2, 5, 10, 20: the class sizes that rules of statistical offices ask for.
THRESHOLDS = (0.5, 0.2, 0.1, 0.05)
# Where the bins of the histogram of class sizes begin.
BINS = (1, 2, 3, 4, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Distribution:
    """Risks of the records of a file, in percent.

    Parameters
    ----------
    mean, largest : float
        Risk of a record.
    above : dict of float to float
        Share of records whose risk is above 0.5, 0.2, 0.1 and 0.05.
    expected : float
        Expected number of records re-identified: the sum of the probabilities.
    """

    mean: float
    largest: float
    above: dict[float, float]
    expected: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return vars(self) | {"above": {str(threshold): share for threshold, share in self.above.items()}}


@dataclass(frozen=True, eq=False)
class Risk:
    """Risk of each record and its distribution.

    Parameters
    ----------
    by_class : array of n
        Probability 1/(size of the record's class). Internal, like `by_linkage`: it tells who is at risk.
    classes : Distribution
        Of `by_class`.
    sizes : list of dict
        Histogram of class sizes: `least`, `most` (None in the last bin), `classes`, `records`.
    by_linkage : array of n, optional
        Probability that the linkage finds the record.
    linkage : Distribution, optional
        Of `by_linkage`.
    """

    by_class: Numbers
    classes: Distribution
    sizes: list[dict[str, int | None]]
    by_linkage: Numbers | None = None
    linkage: Distribution | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without those of single records."""
        return {
            "classes": self.classes.as_dict(),
            "sizes": self.sizes,
            "linkage": None if self.linkage is None else self.linkage.as_dict(),
        }


def record_risk(classes: NDArray[np.int64], credit: Numbers | None = None) -> Risk:
    """Risk per record: 1/class size, and that of a linkage if its credit is given.

    Parameters
    ----------
    classes : array of int
        The class of each record; see `closeness.class_ids`. A missing value in a released column is a value like any
        other there.
    credit : array of float, optional
        Per record the probability that a linkage names it: 1/t if it is among the t candidates at the least distance,
        0 if it is not. NaN for a record that was not tried (a sample): it is left out of the distribution, and the
        expected number is raised to the whole file.
    """
    classes = np.asarray(classes)
    if classes.ndim != 1 or not len(classes):
        raise InputError("there is no record whose risk could be measured")
    _, label, counts = np.unique(classes, return_inverse=True, return_counts=True)
    by_class = 1.0 / counts[label]
    found = Risk(by_class, distribution(by_class), _histogram(counts))
    if credit is None:
        return found
    credit = np.asarray(credit, dtype=np.float64)
    if credit.shape != classes.shape:
        raise InputError("there must be one credit of the linkage per record")
    tried = credit[~np.isnan(credit)]
    if not len(tried) or tried.min() < 0 or tried.max() > 1:
        raise InputError("the credit of a linkage is a probability, from 0 to 1, of at least one record")
    return Risk(by_class, found.classes, found.sizes, credit, distribution(credit))


def distribution(risks: Numbers) -> Distribution:
    """Mean, largest, shares above the thresholds and expected number of re-identifications.

    Parameters
    ----------
    risks : array of float
        Probability per record; NaN where unknown.
    """
    # Sorted, so that the sum does not depend on the order of rows.
    known = np.sort(risks[~np.isnan(risks)])
    mean = float(known.mean())
    return Distribution(
        mean=100.0 * mean,
        largest=100.0 * float(known[-1]),
        above={threshold: 100.0 * float(np.mean(known > threshold)) for threshold in THRESHOLDS},
        expected=mean * len(risks),
    )


def _histogram(counts: NDArray[np.int64]) -> list[dict[str, int | None]]:
    """Classes and their records by size, in bins that a steward reads: each size up to 4, then wider ones."""
    place = np.searchsorted(BINS, counts, side="right") - 1
    number = np.bincount(place, minlength=len(BINS))
    records = np.zeros(len(BINS), dtype=np.int64)
    np.add.at(records, place, counts)
    ends = [*(start - 1 for start in BINS[1:]), None]
    return [
        {"least": least, "most": most, "classes": int(number[i]), "records": int(records[i])}
        for i, (least, most) in enumerate(zip(BINS, ends, strict=True))
        if number[i]
    ]
