"""Inequalities that every pattern which protects a problem satisfies, and how they are made stronger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.checks import floats, integers
from discreet.evolution.process import State
from discreet.solvers.tolerances import VIOLATION

# Coefficients below this part of what is asked for are left out, which weakens a cut by no more than they amount to.
SMALL = 1e-9
# Rounding needs a fraction that is not itself the result of rounding.
FRACTION = 1e-4
# Coefficients that a cut is divided by, at most.
DIVISORS = 12


class Cut(NamedTuple):
    """The coefficients of some columns, with a sum over those suppressed that is at least so much."""

    columns: Ints
    coefficients: Floats
    least: float
    capacity: bool = False  # whether it adds up capacities, and may be rounded

    def lacks(self, share: Floats) -> float:
        """By how much shares of the columns fall short of it."""
        return self.least - float(self.coefficients @ share[self.columns])

    @property
    def key(self) -> bytes:
        """The same for equal cuts only, but for rounding."""
        return self.columns.tobytes() + np.round(np.append(self.coefficients, self.least), 9).tobytes()


def capacity_cut(columns: Ints, capacities: Floats, level: float, primary: Bools) -> Cut | None:
    """The suppressed among the columns must have this capacity together; None if the primary ones have it.

    Parameters
    ----------
    columns : array of int
        The columns of a cut, ascending.
    capacities : array of float
        What each may contribute at most; may be infinite.
    level : float
        What is needed.
    primary : array of bool
        Which of all columns are suppressed in any case.
    """
    given = primary[columns]
    rest = level - float(capacities[given].sum())
    if not rest > SMALL * level:
        return None
    columns, capacities = columns[~given], capacities[~given]
    tiny = capacities <= SMALL * rest
    rest -= float(capacities[tiny].sum())
    if not rest > SMALL * level:
        return None
    columns, capacities = columns[~tiny], capacities[~tiny]
    # One column alone never needs to count for more than what is asked for.
    return Cut(columns, np.minimum(capacities / rest, 1.0), 1.0, capacity=True)


def rounded(cut: Cut, share: Floats) -> Cut | None:
    """The mixed-integer rounding of a capacity cut that the shares violate most, covers among them; None if none.

    See G. Nemhauser, L. Wolsey, A recursive procedure to generate all cuts for 0-1 mixed integer programs,
    Mathematical Programming 46 (1990) 379-390.
    """
    c, x = cut.coefficients, share[cut.columns]
    if (c >= 1.0).all():
        return None
    best: Cut | None = None
    most = VIOLATION
    # Columns with a high share are taken as published or not instead of suppressed or not.
    for border in (2.0, 0.999, 0.5):
        turned = x > border
        if border < 1.0 and not turned.any():
            continue
        rest = cut.least - float(c[turned].sum())
        if rest <= SMALL:
            continue
        a = np.where(turned, -c, c)
        z = np.where(turned, 1.0 - x, x)
        for divisor in _divisors(c, x, turned):
            b = rest / divisor
            f = b - np.floor(b)
            if f < FRACTION:
                continue
            scaled = a / divisor
            whole = np.floor(scaled)
            coefficients = whole + np.minimum((scaled - whole) / f, 1.0)
            lacking = np.ceil(b) - float(coefficients @ z)
            size = float(np.sqrt(coefficients @ coefficients))
            if lacking > most * size:
                most = lacking / size
                back = np.where(turned, -coefficients, coefficients)
                kept = back != 0
                best = Cut(cut.columns[kept], back[kept], float(np.ceil(b) - coefficients[turned].sum()))
    return best


def _divisors(c: Floats, x: Floats, turned: Bools) -> list[float]:
    """Coefficients to divide by: those of columns that are used, the largest first."""
    used = np.unique(np.round(c[(x > 0) & ~turned], 12))[::-1]
    return [float(d) for d in used[:DIVISORS] if d > VIOLATION]


class Pool:
    """All cuts found, each once."""

    def __init__(self) -> None:
        self.cuts: list[Cut] = []
        self._keys: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.cuts)

    def add(self, cuts: Iterable[Cut]) -> list[int]:
        """Take cuts; give the numbers under which they are kept, each once."""
        found: dict[int, None] = {}
        for cut in cuts:
            key = cut.key
            if key not in self._keys:
                self._keys[key] = len(self.cuts)
                self.cuts.append(cut)
            found[self._keys[key]] = None
        return list(found)


def save_cuts(cuts: list[Cut]) -> State:
    """Cuts as a state."""
    return {
        "sizes": np.array([len(cut.columns) for cut in cuts], dtype=np.int64),
        "columns": np.concatenate([np.zeros(0, np.int64), *(cut.columns for cut in cuts)]),
        "coefficients": np.concatenate([np.zeros(0), *(cut.coefficients for cut in cuts)]),
        "least": np.array([cut.least for cut in cuts]),
        "capacity": np.array([cut.capacity for cut in cuts], dtype=np.bool_),
    }


def load_cuts(state: State, columns: int) -> list[Cut]:
    """The cuts of a state, of a problem with so many columns."""
    held: dict[str, Any] = dict(state)
    sizes = integers("sizes", held["sizes"], (-1,), 0, columns)
    places = integers("columns", held["columns"], (int(sizes.sum()),), 0, columns - 1)
    factors = floats("coefficients", held["coefficients"], places.shape)
    least = floats("least", held["least"], sizes.shape).tolist()
    capacity = integers("capacity", held["capacity"], sizes.shape, 0, 1).astype(np.bool_).tolist()
    ends = np.cumsum(sizes)
    parts = zip(np.split(places, ends)[:-1], np.split(factors, ends)[:-1], least, capacity, strict=True)
    return [Cut(*one) for one in parts]
