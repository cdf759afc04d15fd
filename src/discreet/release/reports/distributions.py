"""Distributions that give nobody away: bars of at least so many records, between rounded numbers, open at both ends.

Neither the least nor the largest value stands anywhere, nor a category that few records have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values
from discreet.text import printable

Counts = NDArray[np.int64]
# Bars of a chart at most, and letters of a label.
MOST_BARS, LONGEST_LABEL = 12, 26
# Where the largest are so many times the least, edges lie farther and farther apart.
WIDE = 30.0
OTHERS, MISSING = "all others", "missing"
# What lies beyond these shares of the records is in the bars at the ends.
ENDS = 0.02
# Months from the year 0 to 1970, the steps between dates in months, and the days of dates that are told by the day.
YEAR_0, MONTHS, FEW_DAYS = 1970 * 12, (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000), 150


@dataclass(frozen=True, eq=False)
class Distribution:
    """How records are spread over the values of one column.

    Parameters
    ----------
    labels : list of str
        What the bars stand for.
    counts : tuple of arrays of int
        How many records of each file are in each bar: of the first at least as many as were asked for.
    """

    labels: list[str]
    counts: tuple[Counts, ...]

    def shares(self) -> list[list[float]]:
        """The shares of each file in percent."""
        return [[100.0 * float(n) / max(int(counts.sum()), 1) for n in counts] for counts in self.counts]


def distribute(
    attribute: Attribute, files: Sequence[Values], least: int, original: Values | None = None
) -> Distribution | None:
    """Count the values of one or more files in the same bars; None where too few would be in any two.

    Parameters
    ----------
    attribute : Attribute
        What the values are.
    files : sequence of arrays
        The values of each file; the first is the one that bars are made for, the original if it is there.
    least : int
        How many records of the first file every bar has at least.
    original : array, optional
        The values of the original, where bars are of the release alone: a category must be as common in it too. (The
        mode of a group may be rare in the original.)
    """
    if attribute.categories is None:
        found = _count_between(attribute, files, least)
    else:
        found = _count_categories(attribute, files, least, original)
    if found is None:
        return None
    labels, counts = found
    missing = [int(np.isnan(values).sum()) for values in files]
    if missing[0] >= least:
        labels, counts = [*labels, MISSING], [np.append(n, gone) for n, gone in zip(counts, missing, strict=True)]
    if len(labels) < 2:
        return None
    return Distribution(shorten(labels), tuple(n.astype(np.int64) for n in counts))


def _count_categories(
    attribute: Attribute, files: Sequence[Values], least: int, original: Values | None
) -> tuple[list[str], list[Counts]] | None:
    """Categories that enough records have, the commonest of them; all others are one bar."""
    assert attribute.categories is not None
    names = attribute.categories.cast(str, strict=False).fill_null("").to_list()
    given = files if original is None else [*files, original]
    every = [np.bincount(values[~np.isnan(values)].astype(np.int64), minlength=len(names)) for values in given]
    counts = every[: len(files)]
    common = counts[0] >= least if original is None else (counts[0] >= least) & (every[-1] >= least)
    ranked = np.argsort(-counts[0], kind="stable")
    shown = [int(place) for place in ranked if common[place]][: MOST_BARS - 1]
    # The others must be as many as well: if they are too few, the rarest that is shown joins them.
    while shown and 0 < int(counts[0].sum() - counts[0][shown].sum()) < least:
        shown.pop()
    if not shown and counts[0].sum() < least:
        return None
    if attribute.kind == "ordinal":
        shown.sort()
    labels, bars = [names[place] for place in shown], [n[shown] for n in counts]
    rest = [int(n.sum() - own.sum()) for n, own in zip(counts, bars, strict=True)]
    if rest[0]:
        labels, bars = [*labels, OTHERS], [np.append(own, other) for own, other in zip(bars, rest, strict=True)]
    return labels, bars


def _count_between(attribute: Attribute, files: Sequence[Values], least: int) -> tuple[list[str], list[Counts]] | None:
    """Numbers or dates between rounded edges; the bars at the ends are open."""
    scale = _Scale(1.0 if attribute.integral else 0.0, _write_number)
    numbers = [values[~np.isnan(values)] for values in files]
    if attribute.form is not None:
        numbers, scale = _read_dates(numbers, attribute.form.unit, least)
    edges, step = _place_edges(numbers[0], least, scale)
    counts = [
        np.bincount(np.searchsorted(edges, own, side="right"), minlength=len(edges) + 1).astype(np.int64)
        for own in numbers
    ]
    # An edge goes where the bar before it, or what is left at the end, would have too few records.
    kept: list[int] = []
    begun = 0
    for place in range(len(edges)):
        begun += int(counts[0][place])
        if begun >= least:
            kept.append(place)
            begun = 0
    while kept and int(counts[0][kept[-1] + 1 :].sum()) < least:
        kept.pop()
    if not kept:
        return None
    bars = [np.add.reduceat(own, [0, *(place + 1 for place in kept)]) for own in counts]
    at = [float(edges[place]) for place in kept]
    labels = [f"below {scale.write(at[0], step)}"]
    for low, high in pairwise(at):
        # Of whole numbers and dates the last one that is in the bar is named.
        first, last = (
            scale.write(low, step),
            scale.write(high - (12 if scale.steps and step >= 12 else scale.least), step),
        )
        labels.append(first if first == last else f"{first} to {last}")
    return [*labels, f"{scale.write(at[-1], step)} and above"], bars


@dataclass(frozen=True)
class _Scale:
    """How finely values are written (0 for any fraction), how edges are, and the steps there are between dates."""

    least: float
    write: Callable[[float, float], str]
    steps: Sequence[float] = ()


def _read_dates(numbers: Sequence[Values], unit: str, least: int) -> tuple[list[Values], _Scale]:
    """Dates as months since the year 0, so that edges are round years; or as days, where they span a few months."""
    if unit == "month":
        return [own + YEAR_0 for own in numbers], _Scale(1.0, _write_month, MONTHS)
    days = [own / 86_400_000_000 if unit == "microsecond" else own for own in numbers]
    beyond = max(least, int(ENDS * len(days[0])))
    if len(days[0]) > 2 * beyond:
        low, high = _take_ends(days[0], beyond)
        if high - low < FEW_DAYS:
            return days, _Scale(1.0, _write_day)
    months = []
    for own in days:
        whole = np.floor(own).astype("datetime64[D]")
        month = whole.astype("datetime64[M]")
        months.append(month.astype(np.float64) + YEAR_0 + (whole - month).astype(np.float64) / 31)
    return months, _Scale(1.0, _write_month, MONTHS)


def _take_ends(values: Values, beyond: int) -> tuple[float, float]:
    """The value at or below which so many are, and the one at or above which so many are."""
    parted = np.partition(values, (beyond - 1, len(values) - beyond))
    return float(parted[beyond - 1]), float(parted[-beyond])


def _place_edges(values: Values, least: int, scale: _Scale) -> tuple[Values, float]:
    """Multiples of a rounded step, from where enough records are below to where enough are above."""
    n = len(values)
    for share in (ENDS, 0.0) if n >= 2 * least else ():
        beyond = max(least, int(share * n))
        low, high = _take_ends(values, beyond)
        if low < high:
            above = values[values > 0] if not scale.steps and low >= 0 else values[:0]
            if len(above) > 2 * beyond and high / (start := _take_ends(above, beyond)[0]) > WIDE:
                return _place_powers(start, high), 1.0
            step = _round_step((high - low) / (MOST_BARS - 2), scale)
            multiples: Values = np.arange(np.floor(low / step) + 1, np.floor(high / step) + 1) * step
            # All records that are to be below the first edge are at or below `low`.
            return multiples[(multiples > low) & (multiples <= high)], step
    return np.empty(0), 1.0


def _place_powers(low: float, high: float) -> Values:
    """Edges 1, 2, 5, 10, 20, … or, over many powers of ten, 1, 10, 100, …: of columns whose values are of all sizes."""
    powers = range(int(np.floor(np.log10(low))), int(np.floor(np.log10(high))) + 1)
    for leading in ((1, 2, 5), (1, 3), (1,)):
        edges = np.array([one * 10.0**power for power in powers for one in leading])
        edges = edges[(edges > low) & (edges <= high)]
        if len(edges) < MOST_BARS:
            break
    return edges


def _round_step(width: float, scale: _Scale) -> float:
    """The next of 1, 2, 5, 10, 20, 50, … that is no smaller; of dates months and years."""
    if scale.steps:
        return next((float(one) for one in scale.steps if one >= width), float(scale.steps[-1]))
    power = 10.0 ** np.floor(np.log10(width))
    step = float(next(power * one for one in (1, 2, 5, 10) if power * one >= width * (1 - 1e-9)))
    return max(step, scale.least)


def _write_number(number: float, step: float) -> str:
    digits = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    if abs(number) >= 1e15 or digits > 6 or 0 < abs(number) < step:
        return f"{number:.3g}"
    return f"{number:,.{digits}f}"


def _write_month(months: float, step: float) -> str:
    """A month since the year 0: its year, or its year and month."""
    year, month = divmod(round(months), 12)
    return f"{year}" if step >= 12 else f"{year}-{month + 1:02}"


def _write_day(days: float, _step: float) -> str:
    return str(np.datetime64(round(days), "D"))


def shorten(names: Sequence[str], longest: int = LONGEST_LABEL) -> list[str]:
    """Names that fit beside a chart and stay different from each other; whatever a screen would obey is written out."""
    told: list[str] = []
    for name in names:
        plain = " ".join(printable(name).split()) or "(blank)"
        short = plain if len(plain) <= longest else plain[: longest - 1] + "…"
        again = sum(one == short or one.startswith(f"{short} (") for one in told)
        told.append(f"{short} ({again + 1})" if again else short)
    return told
