"""Probabilistic record linkage after Fellegi and Sunter (`pld`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.kernels.arrays import Progress
from discreet.kernels.chunks import part, sweep
from discreet.kernels.space.fellegi import best, expect, patterns, weigh
from discreet.kernels.space.linkage import distinct
from discreet.measures.linkage import Linkage, draw_sample, owners, summarize

# Pairs of distinct records compared at most; beyond, a sample of the originals searches.
MOST_PAIRS = 200_000_000
# One bit of a word per attribute, and one word to spare as a mark.
MOST_ATTRIBUTES = 62
MOST_ITERATIONS = 1_000
CONVERGED_CHANGE = 1e-10
LEAST_CHANCE = 1e-6
TIE_TOLERANCE = 1e-9
# Chances of agreement that EM starts from: little was changed, or most was.
FIRST_M = (0.9, 0.3)


@dataclass(frozen=True, eq=False)
class ProbabilisticLinkage(Linkage):
    """Share of records that are linked to their own, and the model that linked them.

    Parameters
    ----------
    rate, credits, standard_error, queries
        As in `Linkage`.
    m : array of float
        For each attribute, the chance that a record agrees with its own.
    u : array of float
        For each attribute, the chance that it agrees with another.
    p : float
        Share of all pairs that are of a record and its own.
    iterations : int
        Steps that EM took.
    """

    m: NDArray[np.float64]
    u: NDArray[np.float64]
    p: float
    iterations: int


def decile_bins(original: Any, released: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Code the values of one numeric attribute by the deciles of the original.

    Edges are the nine deciles of the original's known values, interpolated linearly, equal ones once; an edge belongs
    to the bin below it, so that a value that many records have is apart from all greater ones. A value above an edge by
    no more than 1e-12 of it is on it, because a mean of equal numbers may differ from them in its last bit.
    Missing values have a bin of their own, the last.

    Parameters
    ----------
    original, released : arrays of float
        Values of the attribute; NaN is missing.

    Returns
    -------
    tuple
        Codes of the original's and the released values.
    """
    before, after = np.asarray(original, np.float64), np.asarray(released, np.float64)
    known = before[~np.isnan(before)]
    edges = np.unique(np.quantile(known, np.arange(1, 10) / 10)) if known.size else np.zeros(0)
    edges += 1e-12 * np.abs(edges)

    def code(values: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.where(np.isnan(values), edges.size + 1, np.searchsorted(edges, values)).astype(np.int64)

    return code(before), code(after)


def probabilistic_linkage(
    original: Any, released: Any, own: Any = None, *, seed: int = 0, progress: Progress | None = None
) -> ProbabilisticLinkage:
    """Link each original to the released record that is most likely the same, and tell how often it is its own.

    Two records agree on an attribute if they have the same code (`decile_bins`, or the category). The chances of
    agreement m (of a record with its own) and u (with another) are estimated by EM from the patterns of agreement of
    all pairs, attributes being taken as independent given whether the pair is one record. EM starts at m = 0.9, then at
    m = 0.3, and u = the observed rate of agreement over all pairs; both are kept within 1e-6 and 1 − 1e-6; it ends when
    none changes by more than 1e-10, or after 1,000 iterations. Of the two ends the likelier one counts. The share p of
    own pairs is not estimated but known: one in as many as there are released records. Left free it finds a hundred own
    records for each, because attributes do depend on each other, and links fewer.

    A pair weighs Σ log(m/u) over the attributes on which it agrees plus Σ log((1−m)/(1−u)) over the others. Each
    original links to the released record of highest weight; if t records weigh as much as the highest (within 1e-9)
    and its own is one of them, it counts 1/t.

    If distinct originals times distinct released records are more than 200,000,000, a random sample of the originals is
    used for both the model and the links, and the standard error is that of the sample.

    Parameters
    ----------
    original : array of int, n × A
        Codes of the original's attributes, at most 62.
    released : array of int, m × A
        Codes of the released attributes.
    own : array of int
        For each original, its released record; by default the one in the same row.
    seed : int
        Seed of the sample.
    progress : callable
        Told the fraction done.

    Returns
    -------
    ProbabilisticLinkage
        The rate and the credit of each original, with m, u and p.

    References
    ----------
    I. P. Fellegi, A. B. Sunter, A theory for record linkage, Journal of the American Statistical Association 64 (1969)
    1183-1210. M. A. Jaro, Advances in record-linkage methodology as applied to matching the 1985 census of Tampa,
    Florida, Journal of the American Statistical Association 84 (1989) 414-420.
    """
    x, y = _codes(original, "original"), _codes(released, "released")
    if x.shape[1] != y.shape[1]:
        raise InputError(f"original has {x.shape[1]} attributes and released {y.shape[1]}; they must be the same")
    mine = owners(own, len(x), len(y))
    told = progress or (lambda fraction: None)

    places, _, copies = distinct(y.view(np.uint64))
    first, entry, weights = distinct(x.view(np.uint64))
    rows = np.arange(len(x))
    if first.size * places.size > MOST_PAIRS:
        rows = draw_sample(len(x), max(1, MOST_PAIRS // places.size), seed)
        first, entry, weights = distinct(np.ascontiguousarray(x[rows]).view(np.uint64))
    found = np.ascontiguousarray(y[places].T)
    seekers = np.ascontiguousarray(x[rows[first]].T)

    words, counts = patterns(seekers, weights, found, copies, part(told, 0.0, 0.4))
    p = 1.0 / len(y)
    m, u, iterations = estimate(words, counts, x.shape[1], p)
    agree, differ = np.log(m / u), np.log((1.0 - m) / (1.0 - u))

    tops, ties = np.zeros(first.size), np.zeros(first.size)

    def step(start: int, end: int) -> None:
        best(seekers[:, start:end], found, copies, agree, differ, TIE_TOLERANCE, tops[start:end], ties[start:end])

    sweep(step, first.size, part(told, 0.6, 1.0))
    reached = np.zeros(rows.size)
    weigh(np.ascontiguousarray(x[rows].T), np.ascontiguousarray(y[mine[rows]].T), agree, differ, reached)
    result = summarize(np.where(reached >= tops[entry] - TIE_TOLERANCE, 1.0 / ties[entry], 0.0), rows, len(x))
    return ProbabilisticLinkage(result.rate, result.credits, result.standard_error, rows, m, u, p, iterations)


def estimate(
    words: NDArray[np.uint64], counts: NDArray[np.float64], attributes: int, share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Estimate m and u by EM from counts of patterns, as `probabilistic_linkage` says; and count the iterations.

    Parameters
    ----------
    words : array of uint64
        Patterns; bit a is agreement on attribute a.
    counts : array of float
        How many pairs have each.
    attributes : int
        Number of attributes.
    share : float
        The share p of pairs that are one record.
    """
    agrees = (words[:, None] >> np.arange(attributes, dtype=np.uint64)) & np.uint64(1) == 1
    ends = [_maximize(words, counts, counts @ agrees, share, first) for first in FIRST_M]
    return max(ends, key=lambda end: _log_likelihood(agrees, counts, share, end[0], end[1]))


def _maximize(
    words: NDArray[np.uint64], counts: NDArray[np.float64], agreeing: NDArray[np.float64], share: float, first: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Run EM from one start: m, u and the iterations; `agreeing` is how many pairs agree on each attribute."""
    attributes, pairs = len(agreeing), counts.sum()
    prior = float(np.log(_clamp(share) / (1.0 - _clamp(share))))
    # m and u in one array: they are kept within their limits and compared alike.
    now = _clamp(np.concatenate([np.full(attributes, first), agreeing / pairs]))
    sums = np.zeros(attributes + 1)
    steps = 0
    while steps < MOST_ITERATIONS:
        steps += 1
        m, u = now[:attributes], now[attributes:]
        expect(words, counts, np.log(m / u), np.log((1.0 - m) / (1.0 - u)), prior, sums)
        matched, matches = sums[:-1], sums[-1]
        # Where all pairs, or none, look like matches, the other side's chances have nothing to be estimated from.
        others = pairs - matches
        new_m = matched / matches if matches > 0.0 else m
        new_u = (agreeing - matched) / others if others > 0.0 else u
        before, now = now, _clamp(np.concatenate([new_m, new_u]))
        if np.abs(now - before).max() <= CONVERGED_CHANGE:
            break
    return now[:attributes].copy(), now[attributes:].copy(), steps


def _log_likelihood(
    agrees: NDArray[np.bool_],
    counts: NDArray[np.float64],
    share: float,
    m: NDArray[np.float64],
    u: NDArray[np.float64],
) -> float:
    """How likely the counts of patterns are."""
    own = np.log(_clamp(share)) + np.where(agrees, np.log(m), np.log(1.0 - m)).sum(axis=1)
    other = np.log(1.0 - _clamp(share)) + np.where(agrees, np.log(u), np.log(1.0 - u)).sum(axis=1)
    return float(counts @ np.logaddexp(own, other))


def _clamp(chances: Any) -> NDArray[np.float64]:
    return np.clip(np.asarray(chances, np.float64), LEAST_CHANCE, 1.0 - LEAST_CHANCE)


def _codes(values: Any, name: str) -> NDArray[np.int64]:
    codes = np.asarray(values)
    if codes.ndim != 2 or codes.size == 0 or not np.issubdtype(codes.dtype, np.integer):
        raise InputError(f"{name} must be a matrix of codes, whole numbers, of at least one record and attribute")
    if codes.shape[1] > MOST_ATTRIBUTES:
        raise InputError(f"probabilistic linkage takes at most {MOST_ATTRIBUTES} attributes, not {codes.shape[1]}")
    return np.ascontiguousarray(codes, dtype=np.int64)
