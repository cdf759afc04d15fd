"""`id`: interval disclosure, the share of original values or records that a release pins down to an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.measures.change import LAST_PLACES, align

Numbers = NDArray[np.float64]
Inside = Callable[[float], NDArray[np.bool_]]

# Widths and whether whole records count, as the sources have them.
RELATIVE, RANK, SD, SCALE = "relative", "rank", "sd", "scale"
WIDTHS: dict[str, tuple[float, ...]] = {
    RELATIVE: (10.0,),
    RANK: tuple(float(p) for p in range(1, 11)),
    SD: (0.1,),
    SCALE: (10.0,),
}
RECORD_WISE = {RELATIVE: False, RANK: True, SD: True, SCALE: False}
# The zero of numbers whose mean is more than so many standard deviations from it is no part of their scale: 10 % of the
# mean either way is then longer than a standard deviation, and holds a good third of all records anyway.
FAR_FROM_ZERO = 5.0


@dataclass(frozen=True, eq=False)
class IntervalDisclosure:
    """How much a release pins down, in percent, as the mean over the widths.

    Parameters
    ----------
    rate : float
        Share of the records disclosed (record-wise) or of the values disclosed (value-wise).
    attributes : dict of str to float
        Share of the values of each attribute that are disclosed; NaN for an attribute with no value in the original.
    records : array of n
        Per record: whether it is disclosed, 0 or 100 (record-wise), or the share of its values that are (value-wise);
        a mean where there are several widths, NaN for a record with no value in the original. Internal: it tells who
        is at risk.
    kind : str
        relative, rank, sd or scale.
    by_sd : tuple of str
        Of scale, the attributes that are measured in standard deviations.
    record_wise : bool
        Whether a record counts only if all of its values are disclosed.
    widths : tuple of float
        The widths averaged.
    """

    rate: float
    attributes: dict[str, float]
    records: Numbers
    kind: str
    record_wise: bool
    widths: tuple[float, ...]
    by_sd: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, without those of single records; None for an attribute without values."""
        return {
            "rate": self.rate,
            "attributes": {name: None if rate != rate else rate for name, rate in self.attributes.items()},
            "kind": self.kind,
            "record_wise": self.record_wise,
            "widths": list(self.widths),
            "by_sd": list(self.by_sd),
        }


def interval_disclosure(
    X: Numbers,
    Y: Numbers,
    names: Sequence[str],
    kind: str = RELATIVE,
    records: bool | None = None,
    width: float | Sequence[float] | None = None,
    true_zeros: Sequence[bool] | None = None,
) -> IntervalDisclosure:
    """Share of the original values, or of the records, that lie in the interval a release draws round them.

    `relative` (2013)
        |y−x| ≤ width/100·|x|: an original of 0 is disclosed by a released 0 only.
    `rank` (2021)
        Each released column is sorted on its own. The interval reaches from the released value width % of the ranks
        below y's own rank to the one as far above it, and stops at the ends of the column. Equal values share the mean
        of their ranks; a bound between two ranks goes to the inner one.
    `sd`
        |y−x| ≤ width·sd(Y_j), ddof 1 (J. M. Mateo-Sanz, F. Sebé and J. Domingo-Ferrer, Outlier protection in
        continuous microdata masking, PSD 2004: SDID). The standard deviation of a single value is taken as 0.
    `scale`
        `relative` where an attribute has a true zero. A share of the value says nothing of a year or a place: elsewhere
        |y−x| ≤ width/100·sd(Y_j).

    The ends belong to the interval, and a value that lies on one but for rounding is inside.

    Missing values: a value missing in the original takes no part (a record is disclosed if all the others are); a
    value present in the original and missing in the release is not disclosed. The rank is among the released values
    present, and width a percentage of their number.

    Parameters
    ----------
    X, Y : arrays of n×d
        Original and released values of the numeric attributes; NaN where missing.
    names : sequence of str
        The attributes.
    kind : str
        relative, rank, sd or scale.
    records : bool, optional
        Whether to count records all of whose values are disclosed (the default of rank and sd), or values (the default
        of relative and scale).
    width : float or sequence of float, optional
        By default 10 (percent) for relative and scale, the mean over 1, 2, …, 10 (percent) for rank, 0.1 for sd. The
        result is the mean over a sequence.
    true_zeros : sequence of bool, optional
        For scale, whether each attribute has a true zero; by default what its values tell.
    """
    if kind not in WIDTHS:
        raise InputError(f"kind must be one of {', '.join(WIDTHS)}, not '{kind}'")
    widths = WIDTHS[kind] if width is None else (width,) if isinstance(width, int | float) else tuple(width)
    if not widths or not all(np.isfinite(w) and w >= 0 for w in widths):
        raise InputError("width must be a number not below 0, or several of them")
    record_wise = RECORD_WISE[kind] if records is None else records

    X, Y = align(X, Y, names)
    n, d = X.shape
    known = np.zeros(n, dtype=np.int64)
    hits = np.zeros(n, dtype=np.int64)
    whole = np.ones((len(widths), n), dtype=bool)
    attributes: dict[str, float] = {}
    by_sd = []
    for j in range(d):
        x, y = np.ascontiguousarray(X[:, j]), np.ascontiguousarray(Y[:, j])
        present = ~np.isnan(x)
        known += present
        own = kind
        if kind == SCALE:
            own = RELATIVE if (has_true_zero(x) if true_zeros is None else true_zeros[j]) else SD
        share = kind == SCALE and own == SD
        by_sd += [names[j]] if share else []
        inside = {RELATIVE: _relative, RANK: _rank, SD: _sd}[own](x, y)
        found = 0
        for at, w in enumerate(widths):
            disclosed = inside(w / 100.0 if share else w)
            hits += disclosed
            whole[at] &= disclosed | ~present
            found += int(np.count_nonzero(disclosed))
        cells = int(np.count_nonzero(present)) * len(widths)
        attributes[names[j]] = 100.0 * found / cells if cells else float("nan")

    taking_part = known > 0
    if not taking_part.any():
        raise InputError("the original has no value in any of the numeric columns: there is nothing to disclose")
    shares = np.full(n, np.nan)
    if record_wise:
        times = np.count_nonzero(whole, axis=0)
        shares[taking_part] = 100.0 * times[taking_part] / len(widths)
        rate = 100.0 * int(times[taking_part].sum()) / (len(widths) * int(np.count_nonzero(taking_part)))
    else:
        shares[taking_part] = 100.0 * hits[taking_part] / (len(widths) * known[taking_part])
        rate = 100.0 * int(hits.sum()) / (len(widths) * int(known.sum()))
    return IntervalDisclosure(rate, attributes, shares, kind, record_wise, widths, tuple(by_sd))


def has_true_zero(values: Numbers) -> bool:
    """Whether a share of a number means something: none is negative, and they do not lie close together far from 0.

    Years, latitudes and day numbers lie so: their mean is more than 5 standard deviations from 0.

    Parameters
    ----------
    values : array of float
        The numbers; NaN where missing.
    """
    seen = values[~np.isnan(values)]
    if not len(seen) or float(seen.max()) <= 0.0 <= float(seen.min()):
        return True
    largest = float(np.abs(seen).max())
    # In units of the largest, whose square may be out of the range of numbers.
    spread = float((seen / largest).std())
    return float(seen.min()) >= 0.0 and (spread == 0.0 or float((seen / largest).mean()) <= FAR_FROM_ZERO * spread)


def _gap(x: Numbers, y: Numbers) -> Numbers:
    with np.errstate(over="ignore"):
        gap: Numbers = np.abs(y - x)
    return gap


def _slack(x: Numbers, y: Numbers) -> Numbers:
    """What rounding may take from a value that lies on the end of its interval."""
    slack: Numbers = LAST_PLACES * np.maximum(np.abs(x), np.abs(y))
    return slack


def _relative(x: Numbers, y: Numbers) -> Inside:
    # A missing value makes the comparison false.
    gap, slack = _gap(x, y), _slack(x, y)
    return lambda width: gap <= width / 100.0 * np.abs(x) + slack


def _sd(x: Numbers, y: Numbers) -> Inside:
    # Sorted, so that the sum and with it the verdict on a value at the edge does not depend on the order of rows.
    released = np.sort(y[~np.isnan(y)])
    # In units of the largest, whose square may be out of the range of numbers.
    largest = float(np.abs(released[[0, -1]]).max()) if len(released) else 0.0
    deviation = largest * float((released / largest).std(ddof=1)) if len(released) > 1 and largest > 0 else 0.0
    gap, slack = _gap(x, y), _slack(x, y)
    return lambda width: gap <= width * deviation + slack


def _rank(x: Numbers, y: Numbers) -> Inside:
    present = np.flatnonzero(~np.isnan(y))
    order = present[np.argsort(y[present])]
    ranked, original = y[order], x[order]
    m = len(ranked)
    slack = LAST_PLACES * np.abs(original)
    # Ranks from 0, of the first released value not below the original and of the last not above it.
    first = np.searchsorted(ranked, original - slack, side="left")
    last = first - 1
    # Few originals equal a released value, and only for those is a second search needed.
    equal = np.flatnonzero(np.append(ranked, np.inf)[first] <= original + slack)
    last[equal] = np.searchsorted(ranked, (original + slack)[equal], side="right") - 1
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if m else np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.append(starts, m))
    own = np.repeat(starts + (sizes - 1) / 2.0, sizes)
    # With bounds at the inner whole ranks, own − reach ≤ last is: the lower bound is not above the original; and
    # first ≤ own + reach: the upper one is not below it.
    needed = np.full(len(x), np.inf)
    needed[order] = np.where(
        np.isnan(original) | (first == m) | (last < 0), np.inf, np.maximum(own - last, first - own)
    )
    return lambda width: needed <= width * m / 100.0
