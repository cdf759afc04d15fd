"""How the means, variances and correlations of a release differ from the original's; `gil` and `pil` build on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

Numbers = NDArray[np.float64]

# A sum of n numbers in pairs is off by about log2(n) units in the last place, and the difference of two equal sums is
# not always 0: a mean or covariance this small beside what it is made of is 0.
ROUNDING = 1e-12
# Values that differ by a few units in the last place are one value: the mean of ten times 0.1 is not 0.1.
LAST_PLACES = 8 * 2.0**-52


@dataclass(frozen=True, eq=False)
class Moments:
    """Statistics of one file (ddof 1), of the values present; NaN where undefined, exactly 0 where 0 up to rounding.

    Parameters
    ----------
    count : array of d
        Values present.
    largest : array of d
        Largest absolute value.
    mean, variance : arrays of d
        Of the values present; the variance of a single value is undefined.
    covariance, correlation : arrays of d×d
        Of each pair of attributes, over the records where both are present. A constant has covariance 0 with
        everything and a correlation with nothing. Nothing is said on the diagonal.
    """

    count: NDArray[np.int64]
    largest: Numbers
    mean: Numbers
    variance: Numbers
    covariance: Numbers
    correlation: Numbers


def align(X: Numbers, Y: Numbers, names: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Original and release as float64, or an error that says why they cannot be compared."""
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if X.ndim != 2 or X.shape != Y.shape:
        raise InputError("original and release must be tables with the same number of records and attributes")
    if not X.size:
        raise InputError("there is nothing to measure: no record or no numeric attribute")
    if len(names) != X.shape[1]:
        raise InputError(f"{len(names)} names were given for {X.shape[1]} attributes")
    for values, file in ((X, "original"), (Y, "release")):
        for name, column in zip(names, values.T, strict=True):
            if np.isinf(column).any():
                raise InputError(f"column '{name}' of the {file} has an infinite value; make it a missing value")
    return X, Y


def both_moments(X: Numbers, Y: Numbers, names: Sequence[str]) -> tuple[Moments, Moments]:
    """Statistics of original and release, or an error if an attribute has no value left in one of them."""
    before, after = moments(X, names), moments(Y, names)
    for name, original, released in zip(names, before.count, after.count, strict=True):
        if not original or not released:
            file = "release" if original else "original"
            raise InputError(f"column '{name}' has no value in the {file}: its loss cannot be measured, leave it out")
    return before, after


def moments(X: Numbers, names: Sequence[str]) -> Moments:
    """Means, variances, covariances and correlations of the values present in one file.

    Parameters
    ----------
    X : array of n×d
        Values; NaN where missing.
    names : sequence of str
        The attributes, for messages.
    """
    d = X.shape[1]
    present, centred = [], []
    count = np.zeros(d, dtype=np.int64)
    largest, mean, variance = np.full(d, np.nan), np.full(d, np.nan), np.full(d, np.nan)
    for j in range(d):
        known = ~np.isnan(X[:, j])
        x = X[known, j]
        deviations = np.full(len(known), np.nan)
        count[j] = len(x)
        if len(x):
            largest[j] = np.abs(x).max()
            mean[j], deviations[known] = _centre(x)
            variance[j] = _product(deviations[known], deviations[known], largest[j], largest[j])
            _computable(x, mean[j], variance[j], names[j])
        present.append(known)
        centred.append(deviations)

    covariance, correlation = np.full((d, d), np.nan), np.full((d, d), np.nan)
    for j in range(d):
        for k in range(j):
            both = present[j] & present[k]
            if both.all():
                cov = _product(centred[j], centred[k], largest[j], largest[k])
                spread = math.sqrt(variance[j] * variance[k])
            else:
                a, b = _centre(centred[j][both])[1], _centre(centred[k][both])[1]
                cov = _product(a, b, largest[j], largest[k])
                spread = math.sqrt(_product(a, a, largest[j], largest[j]) * _product(b, b, largest[k], largest[k]))
            cov = 0.0 if abs(cov) <= ROUNDING * spread else cov
            covariance[j, k] = covariance[k, j] = cov
            if spread > 0:
                correlation[j, k] = correlation[k, j] = min(1.0, max(-1.0, cov / spread))
    return Moments(count, largest, mean, variance, covariance, correlation)


def changes(X: Numbers, Y: Numbers, names: Sequence[str], most: int = 10) -> dict[str, Any]:
    """Change of mean and variance per attribute, and of the correlations: plain values, ready for JSON.

    Means and variances (ddof 1) are those of each file's own values present; correlations those of the records where
    both attributes are present in that file. What is undefined is None, and so is a relative change from 0.

    Parameters
    ----------
    X, Y : arrays of n×d
        Original and released values; NaN where missing.
    names : sequence of str
        The attributes.
    most : int
        How many pairs of attributes to list, those whose correlation changed most first.

    Returns
    -------
    dict
        `attributes`: per attribute `name`, and for `mean` and `variance` each `original`, `released` and `change` in
        percent of the original. `correlations`: `pairs` (defined in both files), `undefined` (in either),
        `mean_absolute_difference`, and `largest`: `attributes`, `original`, `released`, `difference`.
    """
    X, Y = align(X, Y, names)
    before, after = moments(X, names), moments(Y, names)
    attributes = [
        {
            "name": name,
            "mean": _change(before.mean[j], after.mean[j]),
            "variance": _change(before.variance[j], after.variance[j]),
        }
        for j, name in enumerate(names)
    ]
    first, second = np.triu_indices(len(names), 1)
    old, new = before.correlation[first, second], after.correlation[first, second]
    differences = np.abs(new - old)
    defined = np.flatnonzero(~np.isnan(differences))
    # A stable sort, so that equal changes are listed in the order of the attributes.
    listed = defined[np.argsort(-differences[defined], kind="stable")][:most]
    return {
        "attributes": attributes,
        "correlations": {
            "pairs": len(defined),
            "undefined": len(differences) - len(defined),
            "mean_absolute_difference": float(differences[defined].mean()) if len(defined) else None,
            "largest": [
                {
                    "attributes": [names[first[i]], names[second[i]]],
                    "original": float(old[i]),
                    "released": float(new[i]),
                    "difference": float(new[i] - old[i]),
                }
                for i in listed
            ],
        },
    }


def _centre(x: Numbers) -> tuple[float, Numbers]:
    """Mean, and deviations from it; the mean of what is left is taken off again, it is the first one's rounding."""
    if not len(x):
        return math.nan, x
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(x.mean())
        deviations = x - mean
        rest = float(deviations.mean())
        size = float(np.abs(x).mean())
    mean += rest
    return (0.0 if abs(mean) <= ROUNDING * size else mean), deviations - rest


def _product(a: Numbers, b: Numbers, size_a: float, size_b: float) -> float:
    """Covariance (ddof 1) of deviations; exactly 0 if one of them is constant up to rounding.

    No `@` or `dot`: there the order of the sum, and with it the last digits, would depend on the number of threads.
    """
    if len(a) < 2:
        return math.nan
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for values, size in ((a, size_a), (b, size_b)):
            if values.max() - values.min() <= LAST_PLACES * size:
                return 0.0
        return float((a * b).sum() / (len(a) - 1))


def _computable(x: Numbers, mean: float, variance: float, name: str) -> None:
    # Halves, because the range of numbers this large may be out of range itself.
    varies = len(x) > 1 and x.max() / 2 - x.min() / 2 > LAST_PLACES * abs(x).max()
    if not math.isfinite(mean) or (varies and not 0 < variance < math.inf):
        raise InputError(f"column '{name}' has numbers too large or too close together to compute with; rescale it")


def _change(before: float, after: float) -> dict[str, float | None]:
    known = not math.isnan(before) and not math.isnan(after)
    return {
        "original": None if math.isnan(before) else float(before),
        "released": None if math.isnan(after) else float(after),
        "change": float(100.0 * (after - before) / abs(before)) if known and before != 0 else None,
    }
