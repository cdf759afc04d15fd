"""Who knows the method: of all whole tables that fit what is published, those that give the same pattern.

Nothing is promised against him; what he learns of unsafe counts is measured on tables so small that all that fit can be
listed. Without a secret he repeats the suppression of each. With one he cannot, and takes the tables that give the
pattern under any of some secrets of his own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import discreet
from campaign.found import Found

REPEATED = "the same table and secret give the same publication"

UNSAFE = "unsafe counts of small tables"
ALONE = "{}, known exactly from the published cells alone"
KNOWN = "{}, known exactly by who knows the method"
WRONG = "{}, taken for known by who knows the method, and wrong"
NARROWED = "{}, narrowed by who knows the method"

THRESHOLD, STEPS = 3, 1
# Tables that fit, at most; secrets that the attacker tries.
MOST, GUESSES = 40, 4
Counts = NDArray[np.int64]
Cell = tuple[str, str]
Published = dict[Cell, int | None]


def run(seed: int, folder: Path) -> Found:
    """Publish one small table of counts, without and with a secret, and attack both."""
    rng = np.random.default_rng([seed, 7])
    found = Found()
    counts = _draw(rng)
    office, *guesses = [_write_secret(folder / f"secret{at}", f"{seed} {at}") for at in range(GUESSES + 1)]
    unsafe = list(zip(*np.nonzero((counts > 0) & (counts < THRESHOLD)), strict=True))
    ways: list[tuple[str, Path | None, list[Path | None]]]
    ways = [("without a secret", None, [None]), ("with a secret", office, [*guesses])]
    published = [publish(counts, secret) for _, secret, _ in ways]
    fitting = [[] if public is None else list(_fit(public, counts.shape, MOST + 1)) for public in published]
    if not unsafe or any(not 0 < len(tables) <= MOST for tables in fitting):
        return found
    found.measured[UNSAFE] += len(unsafe)
    for (name, secret, tried), public, tables in zip(ways, published, fitting, strict=True):
        found.hold(REPEATED, publish(counts, secret) == public, "another pattern, or other values")
        kept = [table for table in tables if any(publish(table, one) == public for one in tried)]
        for at in unsafe:
            possible, left = ({int(table[at]) for table in some} for some in (tables, kept))
            known = len(left) == 1 < len(possible)
            found.measured[ALONE.format(name)] += len(possible) == 1
            found.measured[KNOWN.format(name)] += known and left == {int(counts[at])}
            found.measured[WRONG.format(name)] += known and left != {int(counts[at])}
            found.measured[NARROWED.format(name)] += 0 < len(left) < len(possible)
    return found


def _draw(rng: np.random.Generator) -> Counts:
    """Counts of which one in six is unsafe, and some are zero."""
    shape = tuple(int(n) for n in rng.integers(3, 5, 2))
    kind = rng.random(shape)
    large = rng.integers(THRESHOLD, 13, shape)
    return np.where(kind < 1 / 6, rng.integers(1, THRESHOLD, shape), np.where(kind < 1 / 4, 0, large)).astype(np.int64)


def _write_secret(path: Path, what: str) -> Path:
    """A secret that the seed says all about."""
    path.write_text(hashlib.sha256(what.encode()).hexdigest(), encoding="utf-8")
    path.chmod(0o600)
    return path


def publish(counts: Counts, secret: Path | None) -> Published | None:
    """What is published of records by their counts; None where that is refused."""
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    frame = pl.DataFrame(
        {"A": [f"a{at}" for at in np.repeat(rows, times)], "B": [f"b{at}" for at in np.repeat(columns, times)]}
    )
    try:
        flagged = discreet.primary(discreet.tabulate(frame, by=["A", "B"]), threshold=THRESHOLD)
        kept = discreet.suppress(flagged, steps=STEPS, threads=1, no_rules=True, secret=secret)
    except discreet.DiscreetError:
        return None
    return {(a, b): None if value == "x" else int(value) for a, b, value in kept.public("x").rows()}


def _fit(public: Published, shape: tuple[int, ...], most: int) -> Iterator[Counts]:
    """The whole tables that fit what is published, up to a number of them.

    A cell that has no row is zero. One that has a row may be zero only where zeros have rows: the manual says which.
    """
    names = [[f"{sign}{at}" for at in range(n)] for sign, n in zip("ab", shape, strict=True)]
    totals = [[public.get((name, "Total")) for name in names[0]], [public.get(("Total", name)) for name in names[1]]]
    whole = public.get(("Total", "Total"))
    least = 0 if _zeros_have_rows() else 1
    order = list(product(range(shape[0]), range(shape[1])))
    table = np.zeros(shape, np.int64)
    found = 0

    def place(at: int, sums: tuple[list[int], list[int]], total: int) -> Iterator[Counts]:
        nonlocal found
        if at == len(order):
            if whole is None or total == whole:
                found += 1
                yield table.copy()
            return
        row, column = order[at]
        # What is left of both lines and of the whole; the last of a line takes all of it.
        lines = ((totals[0][row], sums[0][row], column == shape[1] - 1), (totals[1][column], sums[1][column],
                 row == shape[0] - 1), (whole, total, at == len(order) - 1))  # fmt: skip
        room = [said - used for said, used, _ in lines if said is not None]
        ends = [said - used for said, used, is_last in lines if said is not None and is_last]
        value = public.get((names[0][row], names[1][column]), 0)
        low, high = (least, min(room)) if value is None else (value, value)
        for one in range(max([low, *ends]), min([high, *ends, *room]) + 1):
            if found >= most:
                return
            table[row, column] = one
            sums[0][row] += one
            sums[1][column] += one
            yield from place(at + 1, sums, total + one)
            sums[0][row] -= one
            sums[1][column] -= one
        table[row, column] = 0

    yield from place(0, ([0] * shape[0], [0] * shape[1]), 0)


def _zeros_have_rows() -> bool:
    """Whether tables of counts have rows for combinations without records."""
    return len(discreet.tabulate(pl.DataFrame({"A": ["a", "b"], "B": ["a", "b"]}), by=["A", "B"])) == 9
