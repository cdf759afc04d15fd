"""Disclosure risk by classes of equal quasi-identifiers: k-anonymity, l-diversity, t-closeness, risk of each record,
and what a class gives away of confidential columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import hyp2f1

from discreet.errors import InputError
from discreet.verification.distributions import measure_spread

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

# One chance in 2, 5, 10, 20: the class sizes that rules of statistical offices ask for.
THRESHOLDS = (0.5, 0.2, 0.1, 0.05)
# Records of a class up to which scipy's hypergeometric function is taken, and terms of the series that is taken above.
LARGEST_FOR_SCIPY, SERIES_TERMS = 30, 100
# Where the bins of the histogram of class sizes begin.
BINS = (1, 2, 3, 4, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class Closeness:
    """The worst class of a release, for one confidential attribute.

    Parameters
    ----------
    k : int
        Records in the smallest class.
    classes : int
        Number of classes.
    distinct : int
        Distinct l-diversity: the smallest number of distinct values in a class.
    entropy : float
        Entropy l-diversity: exp of the smallest entropy of a class.
    t : float
        t-closeness in percent: the largest distance between the distribution in a class and in the whole file.
    ordered : bool
        Whether t is the ordered earth mover's distance, or the total variation.
    unknown : int
        Classes in which no confidential value is present.
    """

    k: int
    classes: int
    distinct: int
    entropy: float
    t: float
    ordered: bool
    unknown: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dict(vars(self))


def class_ids(columns: Sequence[Numbers]) -> Integers:
    """The class of each record: records with the same number are equal in all columns.

    A missing value equals a missing value and nothing else. The numbers do not depend on the order of rows.

    Parameters
    ----------
    columns : sequence of arrays of n
        Released values or codes of the quasi-identifiers; NaN where missing.
    """
    if not len(columns) or not len(columns[0]):
        raise InputError("there are no classes: no record or no quasi-identifier")
    if len({len(column) for column in columns}) > 1:
        raise InputError("the columns have different numbers of records")
    # Sorting puts NaN last whatever its bits, so that equal records lie side by side.
    order = np.lexsort(columns)
    starts = np.zeros(len(order), dtype=bool)
    for column in columns:
        ranked = np.asarray(column)[order]
        missing = np.isnan(ranked)
        differs = (ranked[1:] != ranked[:-1]) & ~(missing[1:] & missing[:-1])
        starts[1:] |= differs
    ids = np.empty(len(order), dtype=np.int64)
    ids[order] = np.cumsum(starts)
    return ids


def closeness(classes: Integers, values: Numbers, *, ordered: bool) -> Closeness:
    """k-anonymity, l-diversity and t-closeness of one confidential attribute.

    l-diversity: A. Machanavajjhala, J. Gehrke, D. Kifer and M. Venkitasubramaniam, l-diversity: privacy beyond
    k-anonymity, ICDE 2006. t-closeness: see `discreet.verification.distributions`. A missing confidential value is one
    more value, as in the promises of a release; in order it stands below the lowest.

    Parameters
    ----------
    classes : array of int
        The class of each record.
    values : array of float
        The confidential values: numbers, or codes of categories (in their order, if they have one); NaN where missing.
    ordered : bool
        Whether the values have an order: numbers, dates and ordinals have, nominal ones have not.
    """
    classes, values = np.asarray(classes), np.asarray(values, dtype=np.float64)
    if not len(classes) or classes.shape != values.shape:
        raise InputError("classes and confidential values must be two lists of the same length, not empty")
    _, label, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    present = ~np.isnan(values)
    if not present.any():
        raise InputError("the confidential column has no value: its diversity cannot be measured")

    distinct, code = np.unique(values, return_inverse=True)
    # Sorting puts the missing value last, and its place is before all others.
    code = code.ravel() if present.all() else (code.ravel() + 1) % len(distinct)
    spread = measure_spread(label, code, ordered=ordered)
    return Closeness(
        k=int(sizes.min()),
        classes=len(sizes),
        distinct=int(spread.distinct.min()),
        entropy=float(np.exp(spread.entropy.min())),
        t=100.0 * float(spread.distance.max()),
        ordered=ordered,
        unknown=len(sizes) - len(np.unique(label[present])),
    )


def attribute_disclosure(known: pl.DataFrame, confidential: pl.DataFrame) -> dict[str, dict[str, float]]:
    """How many records are in classes in which a confidential column has one value only, for each such column.

    Whoever finds the class of such a record knows its value, though not which record it is. For each column: the
    `records`, their `share` of all records in percent, and for comparison `commonest`, the share of all records, in
    percent, that have the commonest value of the column: of so many the value can be guessed without any release. A
    missing value takes no part: neither does it make a class diverse, nor is it disclosed.

    Parameters
    ----------
    known : frame
        What makes the classes: the released quasi-identifiers and strata.
    confidential : frame
        The confidential columns, in the same order of rows.
    """
    # Of lists and the like nobody can say which is the least.
    confidential = confidential.select(column for column in confidential if not column.dtype.is_nested())
    if not confidential.width:
        return {}
    held = [series.fill_nan(None) if series.dtype.is_float() else series for series in confidential]
    frame = pl.DataFrame([series.alias(f"{side}{place}") for side, columns in (("known", list(known)), ("held", held))
                          for place, series in enumerate(columns)])  # fmt: skip
    keys, names = frame.columns[: known.width], frame.columns[known.width :]
    # One value only where the least is the largest; texts and numbers, and far quicker than counting distinct values.
    alone = [pl.col(name).count().filter(pl.col(name).min() == pl.col(name).max()).sum() for name in names]
    counts = frame.lazy().group_by(keys).agg(alone).select(pl.col(names).sum()).collect().row(0)
    told = {}
    for name, place, records in zip(confidential.columns, names, counts, strict=True):
        commonest = frame[place].drop_nulls().value_counts(name="times")["times"].max() or 0
        told[name] = {
            "records": int(records),
            "share": 100.0 * records / known.height,
            "commonest": 100.0 * int(commonest) / known.height,  # type: ignore[arg-type]
        }
    return told


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


def record_risk(classes: Integers, credit: Numbers | None = None) -> Risk:
    """Risk per record: 1/class size, and that of a linkage if its credit is given.

    Parameters
    ----------
    classes : array of int
        The class of each record; see `class_ids`. A missing value in a released column is a value like any
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


@dataclass(frozen=True, eq=False)
class PopulationRisk:
    """Risk in the population of which the file is a sample.

    Parameters
    ----------
    by_record : array of n
        Individual risk of each record. Internal: it tells who is at risk.
    individual : Distribution
        Of `by_record`.
    smallest : float
        The estimated size in the population of the smallest class: the sum of the sampling weights of its records.
    """

    by_record: Numbers
    individual: Distribution
    smallest: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without those of single records."""
        return {"smallest": self.smallest, "individual": self.individual.as_dict()}


def population_risk(classes: Integers, weights: Numbers) -> PopulationRisk:
    """Risk of records of a sample: how likely a record is that of the person that an intruder looks for.

    R. Benedetti and L. Franconi, Statistical and technological solutions for controlled data dissemination, 1998; the
    individual risk of µ-ARGUS and sdcMicro.

    Parameters
    ----------
    classes : array of int
        The class of each record; see `class_ids`.
    weights : array of float
        The sampling weight of each record, above 0.
    """
    _, label, counts = np.unique(classes, return_inverse=True, return_counts=True)
    label = label.ravel()
    estimated = np.bincount(label, weights).astype(np.float64)
    risks = individual_risk(counts, estimated)[label]
    return PopulationRisk(risks, distribution(risks), float(estimated.min()))


def individual_risk(records: Integers | Numbers, population: Numbers) -> Numbers:
    """Individual risk of classes of so many records that stand for so many of the population.

    With p = f/F and q = 1 − p it is p^f/f · ₂F₁(f, f; f+1; q), by Euler's transformation p/f · ₂F₁(1, 1; f+1; q),
    which neither overflows nor vanishes in large classes. Where weights add up to no more than the records, the sample
    is the population, and it is 1/f.
    """
    f = np.asarray(records, np.float64)
    p = np.minimum(f / np.asarray(population, np.float64), 1.0)
    # Of larger classes scipy finds no number, and there the series itself ends soon: its terms are n!·q^n/(f+1)…(f+n).
    small = f <= LARGEST_FOR_SCIPY
    values = np.ones(len(f))
    values[small] = hyp2f1(1.0, 1.0, f[small] + 1.0, 1.0 - p[small])
    large, q = f[~small], 1.0 - p[~small]
    term = np.ones(len(large))
    for n in range(1, SERIES_TERMS):
        term *= n * q / (large + n)
        values[~small] += term
    risks: Numbers = p / f * values
    return risks


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


def _histogram(counts: Integers) -> list[dict[str, int | None]]:
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
