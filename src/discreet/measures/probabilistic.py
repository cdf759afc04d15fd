"""`pil`: how probable it is that sampling alone changed a statistic less than the release did.

J. M. Mateo-Sanz, J. Domingo-Ferrer and F. Sebé, Probabilistic information loss measures in confidentiality protection
of continuous microdata, Data Mining and Knowledge Discovery 11 (2005) 181-193.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, ndtri

from discreet.measures.change import LAST_PLACES, ROUNDING, Moments, align, both_moments

Numbers = NDArray[np.float64]

# 5, 10, …, 95 %.
QUANTILES = tuple(step / 20 for step in range(1, 20))
KINDS = ("quantiles", "means", "variances", "covariances", "correlations")


@dataclass(frozen=True)
class ProbabilisticLoss:
    """Information loss as a probability, in percent: 0 for no change, 100 for one that sampling never makes.

    Parameters
    ----------
    pil : float
        Mean over all statistics, each counting once; NaN if there is none.
    quantiles, means, variances, covariances, correlations : float
        Mean over the statistics of one kind; NaN if there is none.
    terms : dict of str to int
        Statistics per kind.
    left_out : dict of str to int
        Statistics per kind that the original does not have: the correlation of a constant, the variance of one value.
    without_variance : dict of str to int
        Statistics per kind whose sampling variance is 0: they count 0 if unchanged and 100 if changed.
    attributes : tuple of str
        The attributes measured.
    """

    pil: float
    quantiles: float
    means: float
    variances: float
    covariances: float
    correlations: float
    terms: dict[str, int]
    left_out: dict[str, int]
    without_variance: dict[str, int]
    attributes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; None where there is no statistic."""
        plain = {kind: getattr(self, kind) for kind in ("pil", *KINDS)}
        return {kind: None if value != value else value for kind, value in plain.items()} | {
            "terms": dict(self.terms),
            "left_out": dict(self.left_out),
            "without_variance": dict(self.without_variance),
            "attributes": list(self.attributes),
        }


@dataclass(frozen=True, eq=False)
class _Changes:
    """Of the statistics of one kind: |θ'−θ|, √Var θ', and what counts as no change where the variance is 0."""

    gap: Numbers
    deviation: Numbers
    nothing: Numbers


def probabilistic_loss(X: Numbers, Y: Numbers, names: Sequence[str]) -> ProbabilisticLoss:
    """`pil`: the mean of 200·P(0 ≤ Z ≤ |θ'−θ|/√Var θ') over quantiles, means, variances, covariances, correlations.

    θ is the original's statistic, θ' the release's, Z standard normal. Var is the asymptotic sampling variance,
    estimated from the original (M. G. Kendall and A. Stuart, The Advanced Theory of Statistics 1, chapter 10):
    mean s²/n; variance (μ4−μ2²)/n; covariance (μ22−μ11²)/n; correlation by the delta method with fourth moments;
    quantile p(1−p)/(n·f²), where 1/f = (Q(p+h)−Q(p−h))/(2h) with the bandwidth of Hall and Sheather. Variances and
    covariances have ddof 1, quantiles are interpolated linearly between order statistics.

    Missing values: quantiles, means and variances are those of each file's own values present, covariances and
    correlations those of the records where both attributes are present in that file; n is the number of those in the
    original. A variance, covariance or correlation that the original has and the release has not counts as 0 there.

    Parameters
    ----------
    X, Y : arrays of n×d
        Original and released values of the numeric attributes; NaN where missing.
    names : sequence of str
        The attributes.
    """
    X, Y = align(X, Y, names)
    before, after = both_moments(X, Y, names)
    found: dict[str, _Changes] = {"quantiles": _quantiles(X, Y, before)}
    found |= _single(X, before, after) | _measure_pairs(X, before, after)
    losses: dict[str, Numbers] = {}
    left_out, without_variance = {}, {}
    for kind in KINDS:
        change = found[kind]
        known = ~np.isnan(change.gap) & ~np.isnan(change.deviation)
        gap, deviation, nothing = change.gap[known], change.deviation[known], change.nothing[known]
        losses[kind] = _loss(gap, deviation, nothing)
        left_out[kind] = len(known) - len(gap)
        without_variance[kind] = int(np.count_nonzero(deviation == 0))
    return ProbabilisticLoss(
        pil=_mean(np.concatenate([losses[kind] for kind in KINDS])),
        **{kind: _mean(losses[kind]) for kind in KINDS},
        terms={kind: len(losses[kind]) for kind in KINDS},
        left_out=left_out,
        without_variance=without_variance,
        attributes=tuple(names),
    )


def _quantiles(X: Numbers, Y: Numbers, before: Moments) -> _Changes:
    """Changes of the quantiles of every attribute."""
    levels = np.array(QUANTILES)
    gaps, deviations = np.zeros((2, X.shape[1], len(levels)))
    for j in range(X.shape[1]):
        x, y = (np.sort(column[~np.isnan(column)]) for column in (X[:, j], Y[:, j]))
        h = bandwidth(levels, len(x))
        spacing = _quantile(x, levels + h) - _quantile(x, levels - h)
        # No spacing between the neighbours (ties) is an infinite density, and no variance.
        spacing[spacing <= LAST_PLACES * before.largest[j]] = 0.0
        deviations[j] = np.sqrt(levels * (1 - levels) / len(x)) * spacing / (2 * h)
        gaps[j] = np.abs(_quantile(x, levels) - _quantile(y, levels))
    nothing = np.repeat(_same_place(before), len(levels))
    return _Changes(gaps.ravel(), deviations.ravel(), nothing)


def bandwidth(levels: Numbers, n: int, alpha: float = 0.05) -> Numbers:
    """Half the width, on the scale of probability, of the spacing that estimates the density at a quantile.

    P. Hall and S. J. Sheather, On the distribution of a studentized quantile, Journal of the Royal Statistical Society
    B 50 (1988) 381-391: h = n^(−1/3)·z^(2/3)·(1.5·φ(q)²/(2q²+1))^(1/3), with q = Φ⁻¹(p) and z = Φ⁻¹(1−α/2). It makes
    the studentised quantile, our |θ'−θ|/√Var θ', as normal as can be; Bofinger's makes the density itself most
    accurate. Near the ends it is cut so that p−h ≥ 0 and p+h ≤ 1.
    """
    q = ndtri(levels)
    density = np.exp(-(q**2) / 2) / np.sqrt(2 * np.pi)
    h = n ** (-1 / 3) * ndtri(1 - alpha / 2) ** (2 / 3) * np.cbrt(1.5 * density**2 / (2 * q**2 + 1))
    cut: Numbers = np.minimum(h, np.minimum(levels, 1 - levels))
    return cut


def _quantile(ordered: Numbers, levels: Numbers) -> Numbers:
    """Quantiles of sorted values, linear between order statistics (type 7); equal neighbours give their very value."""
    place = np.clip(levels, 0, 1) * (len(ordered) - 1)
    below = np.minimum(place.astype(np.int64), max(len(ordered) - 2, 0))
    above = np.minimum(below + 1, len(ordered) - 1)
    result: Numbers = ordered[below] + (ordered[above] - ordered[below]) * (place - below)
    return result


def _single(X: Numbers, before: Moments, after: Moments) -> dict[str, _Changes]:
    """Changes of means and variances."""
    spread = np.sqrt(before.variance)
    of_variance = np.full(len(spread), np.nan)
    for j in range(len(spread)):
        if before.count[j] > 1:
            x = X[~np.isnan(X[:, j]), j]
            # In units of the standard deviation, so that a fourth power stays within the numbers.
            z = (x - before.mean[j]) / (spread[j] if spread[j] > 0 else 1.0)
            of_variance[j] = before.variance[j] * _deviation(z * z - np.mean(z * z))
    return {
        "means": _Changes(np.abs(after.mean - before.mean), spread / np.sqrt(before.count), _same_place(before)),
        "variances": _Changes(
            np.abs(np.nan_to_num(after.variance) - before.variance), of_variance, ROUNDING * before.variance
        ),
    }


def _measure_pairs(X: Numbers, before: Moments, after: Moments) -> dict[str, _Changes]:
    """Changes of covariances and correlations."""
    first, second = np.triu_indices(X.shape[1], 1)
    spread = np.sqrt(np.nan_to_num(before.variance))
    of_covariance, of_correlation = np.full(len(first), np.nan), np.full(len(first), np.nan)
    scaled = [(X[:, j] - before.mean[j]) / (spread[j] if spread[j] > 0 else 1.0) for j in range(X.shape[1])]
    present = [~np.isnan(z) for z in scaled]
    for pair, (j, k) in enumerate(zip(first, second, strict=True)):
        if np.isnan(before.covariance[j, k]):
            continue
        a, b = scaled[j], scaled[k]
        both = present[j] & present[k]
        if not both.all():
            a, b = a[both], b[both]
            a, b = a - a.mean(), b - b.mean()
        if np.isnan(before.correlation[j, k]):
            # One of the two is constant: its covariances are 0 in every sample, its correlations undefined.
            of_covariance[pair] = 0.0
            continue
        ab = a * b
        # The delta method gives Var r = (r²/n)·(μ22/μ11² + (μ40/μ20² + μ04/μ02² + 2μ22/(μ20·μ02))/4 − μ31/(μ11·μ20)
        # − μ13/(μ11·μ02)), which is the mean square of uv − r(u²+v²)/2 over n, u and v standardised: this form is
        # never negative and needs no μ11 ≠ 0. Computed in place: fresh arrays would take most of the time.
        influence, square = a * a, b * b
        s, t = float(influence.mean()), float(square.mean())
        influence *= before.correlation[j, k] / (2 * s)
        square *= before.correlation[j, k] / (2 * t)
        influence += square
        influence -= np.multiply(ab, 1 / np.sqrt(s * t), out=square)
        of_correlation[pair] = _deviation(influence)
        ab -= ab.mean()
        of_covariance[pair] = spread[j] * spread[k] * _deviation(ab)
    covariance, correlation = before.covariance[first, second], before.correlation[first, second]
    return {
        "covariances": _Changes(
            np.abs(np.nan_to_num(after.covariance[first, second]) - covariance),
            of_covariance,
            ROUNDING * spread[first] * spread[second],
        ),
        "correlations": _Changes(
            np.abs(np.nan_to_num(after.correlation[first, second]) - correlation),
            of_correlation,
            np.full(len(first), ROUNDING),
        ),
    }


def _deviation(influences: Numbers) -> float:
    """Standard deviation of a statistic from each record's influence on it, of mean 0; exactly 0 if all are 0."""
    root = float(np.sqrt(np.mean(influences * influences)))
    return 0.0 if root <= ROUNDING else root / float(np.sqrt(len(influences)))


def _same_place(before: Moments) -> Numbers:
    """Per attribute, a change of place that is only rounding."""
    nothing: Numbers = ROUNDING * np.sqrt(np.nan_to_num(before.variance)) + LAST_PLACES * before.largest
    return nothing


def _loss(gap: Numbers, deviation: Numbers, nothing: Numbers) -> Numbers:
    """200·P(0 ≤ Z ≤ gap/deviation) = 100·erf(gap/(√2·deviation))."""
    ratio = np.divide(gap, np.sqrt(2) * deviation, out=np.zeros_like(gap), where=deviation > 0)
    loss: Numbers = np.where(deviation > 0, 100.0 * erf(ratio), np.where(gap <= nothing, 0.0, 100.0))
    return loss


def _mean(losses: Numbers) -> float:
    return float(losses.mean()) if len(losses) else float("nan")
