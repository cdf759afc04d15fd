"""Random numbers that stay the same from one version of the libraries to the next.

The samplers of numpy may change between its versions. So only uniform numbers are drawn, and everything else is made
of them by an inverse distribution function; the examples round what they show, which hides the last bits in which
processors differ.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from discreet.errors import InputError

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

MOST_RECORDS = 10_000_000


class Draws:
    """A stream of columns of n random numbers each.

    Parameters
    ----------
    n : int
        Records, from 1 to 10,000,000.
    seed : int
        Where the stream starts; the same seed gives the same columns.
    """

    def __init__(self, n: int, seed: int) -> None:
        if not 1 <= n <= MOST_RECORDS:
            raise InputError(f"n must be between 1 and {MOST_RECORDS}, not {n}")
        if seed < 0:
            raise InputError(f"seed must be at least 0, not {seed}")
        self.n = n
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, n: int | None = None) -> Numbers:
        """Numbers above 0 and below 1, as many as there are records unless told."""
        drawn = self._generator.random(self.n if n is None else n)
        # 0 itself can be drawn, and its normal quantile is not finite.
        return np.maximum(drawn, 2.0**-54)

    def normal(self) -> Numbers:
        """Standard normal numbers."""
        quantiles: Numbers = ndtri(self.uniform())
        return quantiles

    def exponential(self) -> Numbers:
        """Exponential numbers of mean 1; the exponential of b times them is Pareto with index 1/b."""
        return -np.log(self.uniform())

    def choose(self, odds: ArrayLike, rows: Codes | None = None) -> Codes:
        """A category for each record.

        Parameters
        ----------
        odds : array_like
            What the categories weigh; with `rows`, one such row for each kind of record.
        rows : array, optional
            The kind of each record.
        """
        edges = np.cumsum(np.atleast_2d(np.asarray(odds, dtype=np.float64)), axis=1)
        edges /= edges[:, -1:]
        drawn = self.uniform()
        codes = np.zeros(self.n, dtype=np.int64)
        # One category at a time: a matrix of records by categories would not fit for the largest n.
        for edge in edges[:, :-1].T:
            codes += drawn > (edge[0] if rows is None else edge[rows])
        return codes


def label(codes: Codes, labels: list[str]) -> pl.Series:
    """The labels of the codes."""
    return pl.Series(labels, dtype=pl.String).gather(codes)


def number(prefix: str, numbers: Codes, width: int) -> pl.Series:
    """A prefix and a number, filled up with zeros to a width."""
    filled = pl.Series(numbers).cast(pl.String).str.zfill(width)
    return pl.select(pl.lit(prefix) + filled).to_series()


def dates(days: Codes) -> pl.Series:
    """Days since 1970 as dates."""
    return pl.Series(days).cast(pl.Int32).cast(pl.Date)
