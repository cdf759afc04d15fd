"""Distance-based record linkage: how many records an intruder finds by looking for the nearest (`dld`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import LARGEST_NUMBER, Values
from discreet.data.embedding import Embedding
from discreet.errors import InputError
from discreet.kernels.arrays import Progress
from discreet.kernels.chunks import part
from discreet.kernels.mixed.linkage import Scale, link_mixed
from discreet.kernels.space.linkage import link
from discreet.text import silent

# Up to here every record searches; above it, a sample of this many.
MOST_SEARCHED_FULLY = 1_000_000
SAMPLE_SIZE = 100_000
MOST_SUBSETS = 5_000


@dataclass(frozen=True, eq=False)
class Linkage:
    """Share of records that are linked to their own.

    Parameters
    ----------
    rate : float
        Mean of the credits, in percent.
    credits : array of float
        For each query, the chance (0 to 1) that its own is found.
    standard_error : float or None
        Of the rate, in percent; None where all records were queries and nothing was estimated.
    queries : array of int
        The records that searched.
    """

    rate: float
    credits: NDArray[np.float64]
    standard_error: float | None
    queries: NDArray[np.int64]


def distance_linkage(
    points: Any,
    candidates: Any,
    own: Any = None,
    *,
    nearest: int = 1,
    queries: Any = None,
    progress: Progress | None = None,
) -> Linkage:
    """Link each point to the candidates nearest to it, and tell how often its own is among them.

    With `a` candidates nearer than the own and `t` as near as it (itself included), a record counts
    (`nearest` − a)/t, cut to 0 to 1: the chance that a random order of ties puts the own among the first `nearest`. In
    a microaggregated file every record ties with its whole group, and a rule that pairs equals off in the order of the
    file would report several times the true rate.

    Two squared distances tie when they differ by no more than 1e-9 of the own's, or 1e-18: means computed in another
    order differ in their last bits.

    Original to released is points = original, candidates = released; swap them for the other direction.

    Parameters
    ----------
    points : array of float, n × D
        The records that search, in the space in which they are compared.
    candidates : array of float, m × D
        The records that are found.
    own : array of int
        For each point, the candidate that belongs to it; by default the one in the same row.
    nearest : int
        1, or 2 to count the second nearest too.
    queries : array of int
        The points that search, each once; by default all. With fewer than all (see `sampled`) the rate is an estimate.
    progress : callable
        Told the fraction done.

    Returns
    -------
    Linkage
        The rate, and the credit of each query.

    Examples
    --------
    >>> from discreet.measures.linkage import distance_linkage
    >>> distance_linkage([[0.0], [2.0], [9.0]], [[1.0], [1.0], [9.0]]).credits.tolist()
    [0.5, 0.5, 1.0]
    """
    x, y = _matrix(points, "points"), _matrix(candidates, "candidates")
    if x.shape[1] != y.shape[1]:
        raise InputError(f"points have {x.shape[1]} columns and candidates {y.shape[1]}; they must be the same")
    if nearest not in (1, 2):
        raise InputError(f"nearest must be 1 or 2, not {nearest}")
    mine = owners(own, len(x), len(y))
    rows = _rows(queries, len(x))
    return summarize(link(x, y, mine, rows, nearest, progress or silent), rows, len(x))


def subset_linkage(
    points: Any,
    candidates: Any,
    spans: Sequence[slice],
    choose: int,
    own: Any = None,
    *,
    nearest: int = 1,
    queries: Any = None,
    progress: Progress | None = None,
) -> Linkage:
    """Link by every choice of some of the key attributes: what an intruder finds who knows so many, on average.

    Parameters
    ----------
    points, candidates : arrays of float, n × D and m × D
        As for `distance_linkage`.
    spans : sequence of slices
        The columns of each key attribute.
    choose : int
        How many attributes the intruder knows. All subsets of this size count alike; no more than 5,000 are allowed.
    own, nearest, queries, progress
        As for `distance_linkage`.

    Returns
    -------
    Linkage
        The mean over all subsets, of the rate and of each query's credit.
    """
    count = _count_subsets(len(spans), choose)
    x, y = _matrix(points, "points"), _matrix(candidates, "candidates")
    rows = _rows(queries, len(x))
    total = np.zeros(rows.size)
    for number, chosen in enumerate(combinations(spans, choose)):
        told = part(progress or silent, number / count, (number + 1) / count)
        some, others = (np.concatenate([side[:, span] for span in chosen], axis=1) for side in (x, y))
        total += distance_linkage(some, others, own, nearest=nearest, queries=rows, progress=told).credits
    return summarize(total / count, rows, len(x))


def mixed_linkage(
    embedding: Embedding,
    points: Sequence[Values],
    candidates: Sequence[Values],
    known: Sequence[int],
    choose: int,
    *,
    nearest: int = 1,
    queries: Any = None,
    progress: Progress | None = None,
) -> Linkage:
    """Link records some of whose attributes are categories: as by their points, but without a matrix of indicators.

    Parameters
    ----------
    embedding : Embedding
        Where the values lie.
    points, candidates : sequences of arrays
        The values of each attribute, of those who search and of those who are found, row by row.
    known : sequence of int
        The attributes an intruder may know.
    choose : int
        How many of them he knows: the mean over all subsets of this size.
    nearest, queries, progress
        As for `distance_linkage`.
    """
    count = _count_subsets(len(known), choose)
    rows = _rows(queries, len(points[0]))
    total = np.zeros(rows.size)
    for number, chosen in enumerate(combinations(known, choose)):
        space = Embedding(tuple(embedding.axes[at] for at in chosen))
        nominal = [axis for axis in space.axes if axis.nominal]
        lengths = np.zeros((len(nominal), 1 + max((axis.width for axis in nominal), default=0)))
        for row, axis in zip(lengths, nominal, strict=True):
            row[: axis.width] = axis.lengths
        scale = Scale(
            np.array([axis.price for axis in nominal]), lengths, np.array([axis.width for axis in nominal], np.int32)
        )
        x, y = (space.split([side[at] for at in chosen]) for side in (points, candidates))
        told = part(progress or silent, number / count, (number + 1) / count)
        total += link_mixed(x, y, scale, rows, nearest, told)
    return summarize(total / count, rows, len(points[0]))


def draw_sample(n: int, size: int = SAMPLE_SIZE, seed: int = 0) -> NDArray[np.int64]:
    """Choose records at random, each at most once, in ascending order; all if there are no more than `size`."""
    if size < 1:
        raise InputError(f"a sample needs at least 1 record, not {size}")
    if size >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def summarize(chances: NDArray[np.float64], queries: NDArray[np.int64], population: int) -> Linkage:
    """The linkage that chances of being found make, with the standard error of their mean if they are a sample.

    It is s·√((1 − m/n)/m) for m of n records with standard deviation s (ddof 1), drawn without replacement, and at
    least 2/m times the same correction: a sample that happens to find nobody has no spread, but three times that is
    what e^−6 of all samples miss. One record tells nothing of the spread; its s is the largest that numbers from 0 to 1
    can have.
    """
    m = chances.size
    error = None
    if m < population:
        spread = float(chances.std(ddof=1)) if m > 1 else 0.5
        error = 100.0 * max(spread / m**0.5, 2.0 / m) * (1.0 - m / population) ** 0.5
    return Linkage(100.0 * float(chances.mean()), chances, error, queries)


def owners(own: Any, points: int, candidates: int) -> NDArray[np.int64]:
    """Check which candidate belongs to each point; the same row unless told otherwise."""
    if own is None:
        if points != candidates:
            raise InputError(f"there are {points} points and {candidates} candidates; tell which belong together")
        return np.arange(points)
    mine = np.asarray(own)
    if mine.shape != (points,) or not np.issubdtype(mine.dtype, np.integer):
        raise InputError("own must be one whole number per point")
    if mine.min() < 0 or mine.max() >= candidates:
        raise InputError(f"own must be rows of the candidates, 0 to {candidates - 1}")
    return mine.astype(np.int64)


def _count_subsets(attributes: int, choose: int) -> int:
    """How many subsets of so many attributes there are, or an error."""
    if not 1 <= choose <= attributes:
        raise InputError(f"the attributes known must be 1 to {attributes}, the number of key attributes, not {choose}")
    count = comb(attributes, choose)
    if count > MOST_SUBSETS:
        raise InputError(
            f"{attributes} key attributes have {count:,} subsets of {choose}, more than {MOST_SUBSETS:,}; name fewer "
            "key attributes or another number of attributes known"
        )
    return count


def _rows(queries: Any, n: int) -> NDArray[np.int64]:
    if queries is None:
        return np.arange(n)
    rows = np.asarray(queries)
    if rows.ndim != 1 or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise InputError("queries must be a list of whole numbers, at least one")
    if rows.min() < 0 or rows.max() >= n:
        raise InputError(f"queries must be rows of the points, 0 to {n - 1}")
    if np.unique(rows).size < rows.size:
        raise InputError("queries must be different records")
    return rows.astype(np.int64)


def _matrix(values: Any, name: str) -> NDArray[np.float64]:
    matrix = np.ascontiguousarray(values, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) == 0:
        raise InputError(f"{name} must be a matrix of at least one record")
    if matrix.shape[1] == 0:  # all records are alike
        return np.zeros((len(matrix), 1))
    if not np.abs(matrix).max() <= LARGEST_NUMBER:
        raise InputError(f"{name} have missing, infinite or enormous values; embed them first")
    return matrix
