"""Information loss: `il`, the share of the variance that is lost, and `gil`, the mean of five relative changes.

`gil` is the general information loss of the 2021 paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.ancestry import distances
from discreet.data.attributes import Attribute, Values
from discreet.data.embedding import embed
from discreet.measures.change import Moments, align, both_moments
from discreet.recoding.extremes import as_it_came


def information_loss(
    attributes: Sequence[Attribute], released: Sequence[Values], *, by_hierarchy: bool = False
) -> tuple[float, dict[str, float]]:
    """`il` = 100·SSE/SST in the original's embedding: in total, and per attribute.

    A value that was missing in the original takes no part. A value that is missing in the release only stands at its
    attribute's mean: all that it told is lost. In the total an attribute counts by its weight; its own loss does not
    depend on it. A mode in place of categories can lose more than the mean would, and so more than 100 %. Numbers that
    were rounded, or whose extremes were coded, are measured against those that came in.

    Parameters
    ----------
    attributes : sequence of Attribute
        The original.
    released : sequence of arrays
        The released values of each attribute.
    by_hierarchy : bool
        Whether to count codes of a hierarchy by their distance in it, where one was given; else any two are alike far.
    """
    sse_all, sst_all = 0.0, 0.0
    parts: dict[str, float] = {}
    attributes = [as_it_came(attribute) for attribute in attributes]
    plain = {"weight": 1.0} if by_hierarchy else {"weight": 1.0, "ancestry": ()}
    embedding, _ = embed([replace(attribute, **plain) for attribute in attributes])
    for axis, attribute, after in zip(embedding.axes, attributes, released, strict=True):
        known = ~np.isnan(attribute.values)
        if attribute.fine is not None:
            sse, sst = _coarse_sums(attribute, attribute.fine, after)
            parts[axis.name] = 100.0 * sse / sst if sst > 0 else 0.0
            sse_all, sst_all = sse_all + attribute.weight * sse, sst_all + attribute.weight * sst
            continue
        sse, sst = axis.sums(attribute.values[known], after[known])
        parts[axis.name] = 100.0 * sse / sst if sst > 0 else 0.0
        sse_all, sst_all = sse_all + attribute.weight * sse, sst_all + attribute.weight * sst
    return (100.0 * sse_all / sst_all if sst_all > 0 else 0.0), parts


def weighted_loss(attributes: Sequence[Attribute], released: Sequence[Values], weights: Values) -> float:
    """`il` with each record counted by its sampling weight: 100·Σw·|x − y|² / Σw·|x − mean|², the mean weighted too.

    Attributes that were coarsened take no part.

    Parameters
    ----------
    attributes : sequence of Attribute
        The original.
    released : sequence of arrays
        The released values of each attribute.
    weights : array of float
        The sampling weight of each record.
    """
    lost, there = 0.0, 0.0
    embedding, _ = embed([replace(attribute, weight=1.0, ancestry=()) for attribute in attributes])
    for axis, attribute, after in zip(embedding.axes, attributes, released, strict=True):
        known = ~np.isnan(attribute.values)
        if attribute.fine is not None or not axis.width or not known.any():
            continue
        w, x, y = weights[known] / weights[known].sum(), attribute.values[known], after[known]
        gone = np.isnan(y)
        if axis.nominal:
            shares = np.bincount(x.astype(np.int64), w)
            apart = np.where(gone, 1.0 - 2.0 * shares[x.astype(np.int64)] + np.sum(shares**2), 2.0 * (x != y))
            spread = 1.0 - float(np.sum(shares**2))
        else:
            places = np.zeros((2, len(x), 1))
            axis.place(x, places[0])
            axis.place(y, places[1])
            before, behind = places[0, :, 0], places[1, :, 0]
            mean = float(np.sum(w * before))
            apart = (before - np.where(gone, mean, behind)) ** 2
            spread = float(np.sum(w * (before - mean) ** 2))
        lost += attribute.weight * float(np.sum(w * apart)) / spread
        there += attribute.weight
    return 100.0 * lost / there if there > 0 else 0.0


def share_changed(attributes: Sequence[Attribute], released: Sequence[Values]) -> dict[str, float]:
    """Of each nominal attribute the share of its values, in percent, that are another in the release, or gone.

    A value that was missing in the original takes no part. Of an attribute that was made coarser, the coarse values are
    compared.
    """
    shares = {}
    for attribute, after in zip(attributes, released, strict=True):
        if attribute.kind == "nominal":
            known = ~np.isnan(attribute.values)
            shares[attribute.name] = 100.0 * float(np.mean(attribute.values[known] != after[known]))
    return shares


def hierarchical_loss(attributes: Sequence[Attribute], released: Sequence[Values]) -> dict[str, Any]:
    """The loss by distances in hierarchies, where any were given: in total, and the mean distance of each attribute.

    The total is as `il`, but a code counts by how far it is from the one released, and not only whether it is another.
    The mean distance is in percent; 100 where nothing of any code was left.
    """
    apart = {}
    for attribute, after in zip(attributes, released, strict=True):
        if attribute.ancestry:
            known = ~np.isnan(attribute.values)
            apart[attribute.name] = 100.0 * float(
                distances(attribute.ancestry, attribute.values[known], after[known]).mean()
            )
    if not apart:
        return {}
    return {
        "hierarchical_il": information_loss(attributes, released, by_hierarchy=True)[0],
        "distance_per_attribute": apart,
    }


def _coarse_sums(attribute: Attribute, fine: Attribute, after: Values) -> tuple[float, float]:
    """SSE and SST of coarse values against the values as they came in.

    A coarse value stands at the mean of the records that have it in the original. A category that is none of theirs is
    as far away as one of its own.
    """
    known = ~np.isnan(attribute.values)
    own, released, x = attribute.values[known].astype(np.int64), after[known], fine.values[known]
    gone = np.isnan(released)
    coarse = np.where(gone, 0, released).astype(np.int64)
    sizes = np.bincount(own, minlength=int(max(own.max(), coarse.max())) + 1)
    if fine.categories is None:
        spread = float(np.var(x))
        if spread == 0:
            return 0.0, 0.0
        means = np.bincount(own, weights=x, minlength=len(sizes)) / np.maximum(sizes, 1)
        at = np.where(gone | (sizes[coarse] == 0), x.mean(), means[coarse])
        return float(np.sum((x - at) ** 2)) / spread, float(len(x))
    codes = x.astype(np.int64)
    counts = np.bincount(codes)
    shares = counts / len(codes)
    rest = 1.0 - float(np.sum(shares**2))
    if rest <= 0:
        return 0.0, 0.0
    # Of each coarse category the squared length of its mean: the sum of the squared shares within it.
    home = np.zeros(len(counts), np.int64)
    home[codes] = own
    within = np.bincount(home, weights=counts.astype(float) ** 2, minlength=len(sizes))
    lengths = np.where(sizes > 0, within / np.maximum(sizes, 1.0) ** 2, 1.0)
    share = np.where(coarse == own, counts[codes] / np.maximum(sizes[coarse], 1.0), 0.0)
    distances = np.where(gone, 1.0 - 2.0 * shares[codes] + (1.0 - rest), 1.0 - 2.0 * share + lengths[coarse])
    return float(distances.sum()) / rest, float(len(codes))


Numbers = NDArray[np.float64]

# The parts by our names and by the formula's.
PARTS = {"values": "il1", "means": "il2", "covariances": "il3", "variances": "il4", "correlations": "il5"}


@dataclass(frozen=True)
class GeneralLoss:
    """Information loss in five statistics, in percent. It has no upper end: a mean near 0 can change by any factor.

    Parameters
    ----------
    gil : float
        Mean of the parts that have a term; NaN if none has.
    values : float
        IL1 (IL1s): mean over values of |x−y|/(√2·s_j).
    means : float
        IL2: mean over attributes of |x̄−ȳ|/|x̄|.
    covariances : float
        IL3: mean over pairs of |v_jl−v'_jl|/|v_jl|.
    variances : float
        IL4: mean over attributes of |v_jj−v'_jj|/v_jj.
    correlations : float
        IL5: mean over pairs of |r_jl−r'_jl|.
    left_out : dict of str to int
        Per part, terms left out because their denominator, or the original's statistic, is 0 or undefined.
    without_terms : tuple of str
        Parts in which no term is left (those of pairs, if there is one attribute): NaN, and not in the mean.
    attributes : tuple of str
        The attributes measured.
    """

    gil: float
    values: float
    means: float
    covariances: float
    variances: float
    correlations: float
    left_out: dict[str, int]
    without_terms: tuple[str, ...]
    attributes: tuple[str, ...]

    @property
    def il1(self) -> float:
        """`values`, by its name in the formula."""
        return self.values

    @property
    def il2(self) -> float:
        """`means`, by its name in the formula."""
        return self.means

    @property
    def il3(self) -> float:
        """`covariances`, by its name in the formula."""
        return self.covariances

    @property
    def il4(self) -> float:
        """`variances`, by its name in the formula."""
        return self.variances

    @property
    def il5(self) -> float:
        """`correlations`, by its name in the formula."""
        return self.correlations

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; None where a part has no terms."""
        plain = {part: getattr(self, part) for part in ("gil", *PARTS)}
        return {part: None if value != value else value for part, value in plain.items()} | {
            "left_out": dict(self.left_out),
            "without_terms": list(self.without_terms),
            "attributes": list(self.attributes),
        }


def general_loss(X: Numbers, Y: Numbers, names: Sequence[str]) -> GeneralLoss:
    """`gil` = 100·(IL1+IL2+IL3+IL4+IL5)/5 on raw values, with ddof 1.

    Missing values: means and variances are those of each file's own values present, covariances and correlations
    those of the records where both attributes are present in that file, IL1 takes the values present in both files. A
    variance, covariance or correlation that the original has and the release has not (a constant column, fewer than
    two records) counts as 0 in the release: what it told is lost.

    A denominator is 0 if it is 0 up to rounding, beside the size of the numbers it is made of.

    Parameters
    ----------
    X, Y : arrays of n×d
        Original and released values of the numeric attributes; NaN where missing.
    names : sequence of str
        The attributes.
    """
    X, Y = align(X, Y, names)
    before, after = both_moments(X, Y, names)
    pairs = np.triu_indices(len(names), 1)
    cov, r = before.covariance[pairs], before.correlation[pairs]
    kept_cov, kept_r = np.nan_to_num(after.covariance[pairs]), np.nan_to_num(after.correlation[pairs])
    values, without_spread = _values(X, Y, before)
    found = {
        "values": (values, without_spread),
        "means": _relative(before.mean, after.mean),
        "covariances": _relative(cov, kept_cov),
        "variances": _relative(before.variance, np.nan_to_num(after.variance)),
        "correlations": _mean(np.abs(r - kept_r)[~np.isnan(r)], len(r)),
    }
    parts = {part: 100.0 * loss for part, (loss, _) in found.items()}
    without = tuple(part for part, loss in parts.items() if np.isnan(loss))
    counted = [loss for part, loss in parts.items() if part not in without]
    return GeneralLoss(
        gil=sum(counted) / len(counted) if counted else float("nan"),
        **parts,
        left_out={part: left_out for part, (_, left_out) in found.items()},
        without_terms=without,
        attributes=tuple(names),
    )


def _values(X: Numbers, Y: Numbers, before: Moments) -> tuple[float, int]:
    """IL1s and the number of values of attributes without spread."""
    total, terms, left_out = 0.0, 0, 0
    for j, variance in enumerate(before.variance):
        gaps = np.abs(X[:, j] - Y[:, j])
        gaps = gaps[~np.isnan(gaps)]
        if variance > 0:
            total += float(gaps.sum() / np.sqrt(2.0 * variance))
            terms += len(gaps)
        else:
            left_out += len(gaps)
    return (total / terms if terms else float("nan")), left_out


def _relative(before: Numbers, after: Numbers) -> tuple[float, int]:
    """Mean of |before − after|/|before|, and how many terms have no denominator."""
    usable = ~np.isnan(before) & (before != 0)
    return _mean(np.abs(before[usable] - after[usable]) / np.abs(before[usable]), len(before))


def _mean(terms: Numbers, possible: int) -> tuple[float, int]:
    return (float(terms.mean()) if len(terms) else float("nan")), possible - len(terms)
