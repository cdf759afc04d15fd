"""How the values of a confidential column are spread over classes of records: different values, entropy, distance.

The distances are the earth mover's, to the distribution of all records: N. Li, T. Li and S. Venkatasubramanian,
t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007. Missing is one more value, and in a column that has
an order it stands below the lowest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from discreet.data.dates import PIVOT, find_form, read_dates
from discreet.data.values import read_numbers
from discreet.errors import InputError
from discreet.verification.confidential import Scale

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Spread:
    """The values of one column in each of some classes.

    Parameters
    ----------
    distinct : array of int
        How many different values there are.
    entropy : array of float
        Their entropy, in natural units.
    distance : array of float
        How far their distribution is from that of all records, from 0 to 1.
    """

    distinct: Integers
    entropy: Numbers
    distance: Numbers


def measure_spread(
    classes: Integers,
    codes: Integers,
    votes: Numbers | None = None,
    *,
    ordered: bool,
    everywhere: Numbers | None = None,
) -> Spread:
    """The spread of a column in each class.

    The table of classes and values is never made: its cells that are not 0, by class and then by value, are no more
    than the records.

    Parameters
    ----------
    classes : array of int
        The class of each record, 0 and up, none left out.
    codes : array of int
        The value of each record, 0 and up, none left out; in its order, if the column has one.
    votes : array of float, optional
        How much each record counts, above 0; 1 if not given.
    ordered : bool
        Whether the distance is that of ordered values, or all are equally far from each other.
    everywhere : array of float, optional
        How often each value stands in the whole file, if these records are a part of it; by default they are all.
    """
    m = int(codes.max()) + 1 if everywhere is None else len(everywhere)
    cells, place, counts = np.unique(classes * m + codes, return_inverse=True, return_counts=True)
    held = counts if votes is None else np.bincount(place.ravel(), votes)
    owner, code = cells // m, cells % m
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    lengths = np.diff(np.append(starts, len(owner)))
    totals = np.add.reduceat(held, starts)
    shares = held / np.repeat(totals, lengths)
    # Entropy −Σ p·ln p; a class of one value has exactly 0, and no class less.
    entropy = np.maximum(np.add.reduceat(-shares * np.log(shares), starts), 0.0)
    if everywhere is None:
        everywhere = np.bincount(code, weights=held, minlength=m).astype(np.float64)
    if ordered:
        distance = _ordered_distance(held, totals, code, starts, lengths, everywhere)
    else:
        distance = _equal_distance(shares, code, starts, everywhere)
    return Spread(lengths.astype(np.int64), entropy, np.clip(distance, 0.0, 1.0))


def _equal_distance(shares: Numbers, code: Integers, starts: Integers, everywhere: Numbers) -> Numbers:
    """½·Σ|p − q|; the values a class does not have add up to 1 less the q of those it has."""
    q = everywhere[code] / everywhere.sum()
    distances: Numbers = (1.0 + np.add.reduceat(np.abs(shares - q) - q, starts)) / 2.0
    return distances


def _ordered_distance(
    held: NDArray[np.float64] | Integers,
    totals: NDArray[np.float64] | Integers,
    code: Integers,
    starts: Integers,
    lengths: Integers,
    everywhere: Numbers,
) -> Numbers:
    """Σ|P_i − Q_i|/(m−1), with P and Q the cumulative distributions in the class and in the file: ranks, not amounts.

    The cumulative distribution of a class is a step of constant height from each of its values up to the next. That
    of the whole rises, so it crosses a step once: below the crossing the differences have one sign, above it the
    other, and both sums are differences of prefix sums.
    """
    m = len(everywhere)
    if m == 1:
        return np.zeros(len(starts))
    rising = np.cumsum(everywhere) / everywhere.sum()
    prefix = np.concatenate([[0.0], np.cumsum(rising)])
    running = np.cumsum(held)
    before = np.repeat(running[starts] - held[starts], lengths)
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


def count_represented(classes: Integers, codes: Integers, persons: Integers) -> Integers:
    """For each class the most persons of whom each can show a value that none of the others shows.

    Where everybody has one record these are the different values. Somebody with several records has several values to
    show, and shows one: three diagnoses of one person are no diversity.
    """
    if len(np.unique(classes * (int(persons.max()) + 1) + persons)) == len(classes):
        seen = np.unique(classes * (int(codes.max()) + 1) + codes) // (int(codes.max()) + 1)
        return np.bincount(seen).astype(np.int64)
    # Classes share no node, so that one matching of the whole file is one of each class.
    people, person = np.unique(classes * (int(persons.max()) + 1) + persons, return_inverse=True)
    values, value = np.unique(classes * (int(codes.max()) + 1) + codes, return_inverse=True)
    edges = csr_matrix(
        (np.ones(len(classes), np.int8), (person.ravel(), value.ravel())), shape=(len(people), len(values))
    )
    matched = maximum_bipartite_matching(edges, perm_type="column") >= 0
    owner = people // (int(persons.max()) + 1)
    return np.bincount(owner[matched], minlength=int(classes.max()) + 1).astype(np.int64)


def read_codes(
    column: pl.Series, scale: Scale, decimal: str = ".", known: pl.DataFrame | None = None
) -> tuple[Integers, str]:
    """The values of a column of a release as codes, in their order if they have one, and what tells their distribution.

    The second is the SHA-256 of the sorted list of values with how often each occurs. Of a part of a file both are by
    the values that are known of all of it, as `count_values` gives them.
    """
    if known is None:
        values = _read_values(column, scale, decimal)
        ranks = values.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
        return (ranks - int(ranks.min())).astype(np.int64), digest(count_values(column, scale, decimal))
    numbered = known.select("value").with_row_index("code")
    values = _read_values(column, scale, decimal).alias("value")
    codes = values.to_frame().join(numbered, on="value", how="left", nulls_equal=True, maintain_order="left")["code"]
    if codes.null_count():
        raise InputError(f"column '{column.name}' has values that the whole file has not")
    return codes.to_numpy().astype(np.int64), digest(known)


def count_values(column: pl.Series, scale: Scale, decimal: str = ".", votes: Numbers | None = None) -> pl.DataFrame:
    """The values of a column in their order, missing first, how many records have each, and with how many votes."""
    values = _read_values(column, scale, decimal).alias("value")
    votes = np.ones(len(values)) if votes is None else votes
    return add_counts(
        [pl.DataFrame([values, pl.Series("records", np.ones(len(values), np.int64)), pl.Series("votes", votes)])]
    )


def add_counts(counts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """What was counted in parts of a file, together: added up in their order, the same to the last bit."""
    rows = pl.concat(counts).sort("value", nulls_last=False, maintain_order=True)
    new = rows["value"].ne_missing(rows["value"].shift(1)).to_numpy().copy()
    new[:1] = True
    starts = np.flatnonzero(new)
    sums = [pl.Series(name, np.add.reduceat(rows[name].to_numpy(), starts)) for name in ("records", "votes")]
    return pl.DataFrame([rows["value"].gather(starts), *sums]) if rows.height else rows


def digest(counts: pl.DataFrame) -> str:
    """The SHA-256 of the sorted list of values with how often each occurs."""
    lines = counts.select(
        pl.concat_str(pl.col("records"), pl.lit(" "), pl.col("value").cast(pl.String), ignore_nulls=True)
    ).to_series()
    return hashlib.sha256("\n".join(lines.to_list()).encode()).hexdigest()


def _read_values(column: pl.Series, scale: Scale, decimal: str) -> pl.Series:
    """Numbers, or the texts of categories without an order; null where missing."""
    column = _blank(column.fill_nan(None) if column.dtype.is_float() else column, scale.na)
    if scale.kind == "numeric":
        numbers = _read_numbers(column, decimal)
    elif scale.kind == "date":
        form = find_form(column, scale.form or None, PIVOT if scale.pivot is None else scale.pivot)
        if form is None:
            raise InputError(f"column '{column.name}' of the promise has no dates that can be read in one form")
        numbers = pl.Series(column.name, read_dates(column, form), nan_to_null=True)
    elif scale.kind == "ordinal":
        texts = _write_texts(column)
        numbers = texts.replace_strict(
            list(scale.order), [float(place) for place in range(len(scale.order))], default=None
        ).cast(pl.Float64)
    else:
        return _write_texts(column)
    lost = numbers.null_count() - column.null_count()
    if lost > 0 and not (column.dtype == pl.String and scale.kind == "numeric"):
        raise InputError(f"column '{column.name}' of the promise has {lost:,} values that are not {scale.words()}")
    return numbers + 0.0  # minus zero is zero


def _read_numbers(column: pl.Series, decimal: str) -> pl.Series:
    if column.dtype != pl.String:
        return column.cast(pl.Float64)
    numbers, wrong = read_numbers(column, decimal)
    if len(wrong):
        raise InputError(f"column '{column.name}' of the promise has {len(wrong):,} values that are not numbers")
    return numbers


def _write_texts(column: pl.Series) -> pl.Series:
    """Categories as texts; a whole number is the same whether it is stored as an integer or as a float."""
    seen = column.drop_nulls()
    if column.dtype.is_float() and ((seen == seen.round()) & (seen.abs() < 2.0**63)).all():
        column = column.cast(pl.Int64)
    return column.cast(pl.String)


def _blank(column: pl.Series, na: tuple[str, ...]) -> pl.Series:
    """The column without the words that stand for missing values."""
    if not na:
        return column
    if column.dtype.is_numeric():
        numbers = pl.Series(na).cast(pl.Float64, strict=False).drop_nulls()
        absent = column.cast(pl.Float64).is_in(numbers.implode())
    else:
        words = [word.strip().lower() for word in na]
        absent = column.cast(pl.String).str.strip_chars().str.to_lowercase().is_in(words)
    return column.set(absent.fill_null(False), None)
