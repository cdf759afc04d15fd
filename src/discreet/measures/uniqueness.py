"""Which columns make records unique: how many share their values in one column, in all, and in all but one.

Every value gets a mark of 64 bits that looks like chance, and a record the sum of its marks: without a column the sum
lacks one term. That two different combinations of a million have the same sum has a chance of one in ten million.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

Marks = NDArray[np.uint64]
# Of splitmix64: G. L. Steele, D. Lea and C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mark(values: NDArray[np.float64], place: int) -> Marks:
    """The marks of the values of a column: equal where values are; missing values are equal to each other.

    Parameters
    ----------
    values : array of float
        Numbers or codes; NaN where missing.
    place : int
        The number of the column, so that equal values in two columns have different marks.
    """
    # Adding zero makes one of both zeros.
    marks: Marks = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    marks += np.uint64(STEP * (place + 1) % 2**64)
    for shift, factor in ((30, FIRST), (27, SECOND)):
        marks ^= marks >> np.uint64(shift)
        marks *= factor
    marks ^= marks >> np.uint64(31)
    return marks


def count_below(marks: Marks, sizes: Sequence[int]) -> dict[int, int]:
    """For each k how many records have marks that fewer than k share."""
    counts = np.unique(marks, return_counts=True)[1]
    return {k: int(counts[counts < k].sum()) for k in sizes}


def risk_by_column(marks: Mapping[str, Marks], sizes: Sequence[int]) -> dict[str, dict[str, dict[int, int]]]:
    """For each column and each k the records that fewer than k share it with: by it alone, and by all the others.

    Parameters
    ----------
    marks : mapping of str to arrays
        The marks of each column; see `mark`.
    sizes : sequence of int
        Values of k.
    """
    whole = join_marks(marks)

    def judge(own: Marks) -> dict[str, dict[int, int]]:
        return {"alone": count_below(own, sizes), "without": count_below(whole - own, sizes)}

    # Nearly all of it is sorting, which threads do side by side.
    with ThreadPoolExecutor() as pool:
        return dict(zip(marks, pool.map(judge, marks.values()), strict=True))


def join_marks(marks: Mapping[str, Marks]) -> Marks:
    """The marks of all columns together."""
    whole: Marks = np.zeros(len(next(iter(marks.values()))) if marks else 0, np.uint64)
    for own in marks.values():
        whole += own
    return whole
