"""What the classes of equal quasi-identifiers give away: k-anonymity, l-diversity, t-closeness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


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
        Classes in which no confidential value is present; they count for k only.
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
    k-anonymity, ICDE 2006. t-closeness: N. Li, T. Li and S. Venkatasubramanian, t-closeness: privacy beyond
    k-anonymity and l-diversity, ICDE 2007. There the ordered distance over m distinct values is Σ|P_i − Q_i|/(m−1),
    with P and Q the cumulative distributions in the class and in the file: it counts ranks, not amounts.

    Missing values: a missing confidential value takes no part. Counting it as one more value would let a class pass for
    diverse in which all that is known is the same.

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

    # The classes×values table is never made: its cells that are not 0, by class and then by value, are at most n.
    distinct, code = np.unique(values[present], return_inverse=True)
    m = len(distinct)
    cells, counts = np.unique(label[present] * m + code, return_counts=True)
    owner, code = cells // m, cells % m
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    lengths = np.diff(np.append(starts, len(owner)))
    totals = np.add.reduceat(counts, starts)
    shares = counts / np.repeat(totals, lengths)
    # Entropy −Σ p·ln p; a class of one value has exactly 0, and no class less.
    entropies = np.maximum(np.add.reduceat(-shares * np.log(shares), starts), 0.0)
    everywhere = np.bincount(code, weights=counts, minlength=m).astype(np.float64)
    if ordered:
        distances = _measure_ordered(counts, totals, code, starts, lengths, everywhere)
    else:
        distances = _nominal(shares, code, starts, everywhere)
    return Closeness(
        k=int(sizes.min()),
        classes=len(sizes),
        distinct=int(lengths.min()),
        entropy=float(np.exp(entropies.min())),
        t=100.0 * float(np.clip(distances.max(), 0.0, 1.0)),
        ordered=ordered,
        unknown=len(sizes) - len(starts),
    )


def _nominal(shares: Numbers, code: Integers, starts: Integers, everywhere: Numbers) -> Numbers:
    """Total variation ½·Σ|p − q|; the values a class does not have add up to 1 less the q of those it has."""
    q = everywhere[code] / everywhere.sum()
    distances: Numbers = (1.0 + np.add.reduceat(np.abs(shares - q) - q, starts)) / 2.0
    return distances


def _measure_ordered(
    counts: Integers, totals: Integers, code: Integers, starts: Integers, lengths: Integers, everywhere: Numbers
) -> Numbers:
    """Ordered earth mover's distance of each class to the whole.

    The cumulative distribution of a class is a step of constant height from each of its values up to the next. That
    of the whole rises, so it crosses a step once: below the crossing the differences have one sign, above it the
    other, and both sums are differences of prefix sums.
    """
    m = len(everywhere)
    if m == 1:
        return np.zeros(len(starts))
    rising = np.cumsum(everywhere) / everywhere.sum()
    prefix = np.concatenate([[0.0], np.cumsum(rising)])
    running = np.cumsum(counts)
    before = np.repeat(running[starts] - counts[starts], lengths)
    height = (running - before) / np.repeat(totals, lengths)
    end = np.append(code[1:], m)
    end[starts[1:] - 1] = m
    crossing = np.clip(np.searchsorted(rising, height), code, end)
    steps = (
        height * (crossing - code)
        - (prefix[crossing] - prefix[code])
        + (prefix[end] - prefix[crossing])
        - height * (end - crossing)
    )
    # Up to its first value the class has nothing, and the whole its prefix sum.
    distances: Numbers = (np.add.reduceat(steps, starts) + prefix[code[starts]]) / (m - 1)
    return distances
