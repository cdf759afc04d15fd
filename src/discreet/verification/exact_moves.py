"""Moves that a solver has found, as fractions that obey every relation exactly.

A vertex of such a system has some cells at their bounds, which are decimals; all others follow from them. What is whole
or at a bound but for rounding is taken to be just that. Where the relations are then missed, the rest is worked out in
fractions, by elimination: those cells first that are neither whole nor at a bound.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.attack.system import Floats, Ints
from discreet.tabular.table import Table

# What a solver leaves of a number, in units of the last decimal, or in parts of it.
NEAR = 1e-6
# Fractions of so small a denominator are taken to be meant; others are rounded to a fine grid.
DENOMINATOR, GRID = 1_000, 2**40
# The largest denominator that moves may have in common: beyond it a double does not tell whole numbers.
LARGEST = 10**5
# In so many cells and relations elimination is quick.
MOST_ENTRIES = 600

Row = dict[int, Fraction]


def common_denominator(numbers: Floats) -> int:
    """A denominator that some numbers, of which rounding is left, may have in common; 1 if it would be large."""
    denominator = 1
    while denominator <= LARGEST:
        scaled = numbers * denominator
        off = np.abs(scaled - np.rint(scaled))
        worst = int(np.argmax(off)) if len(off) else 0
        if not len(off) or off[worst] <= NEAR * denominator:
            return denominator
        factor = Fraction(float(scaled[worst])).limit_denominator(DENOMINATOR).denominator
        if factor == 1:
            # Too far from a whole number for rounding, too near to one for a fraction: there is none in common.
            return 1
        denominator *= factor
    return 1


def make_exact(table: Table, cells: Ints, deviations: Floats, scale: float) -> list[Fraction] | None:
    """Find moves near some deviations that add up to nothing in every relation; None if they are not found.

    Parameters
    ----------
    table : Table
        The table.
    cells, deviations : arrays
        The cells that move, and how far, in units of 1/scale.
    scale : float
        Parts in one unit of the table.
    """
    starts, relations, coefficients = table.relations.by_cell
    if sum(int(starts[cell + 1] - starts[cell]) for cell in cells.tolist()) > MOST_ENTRIES:
        return None
    moves, fixed = [], []
    for cell, deviation in zip(cells.tolist(), deviations.tolist(), strict=True):
        move, is_fixed = _meant(table, cell, deviation, scale)
        moves.append(move)
        fixed.append(is_fixed)
    rows: dict[int, Row] = {}
    for at, cell in enumerate(cells.tolist()):
        for entry in range(starts[cell], starts[cell + 1]):
            rows.setdefault(int(relations[entry]), {})[at] = Fraction(coefficients[entry])
    missed = {number: -sum((part * moves[at] for at, part in row.items()), Fraction(0)) for number, row in rows.items()}
    if not any(missed.values()):
        return moves
    changes = _solve([(rows[number], missed[number]) for number in rows], fixed)
    return None if changes is None else [move + changes.get(at, 0) for at, move in enumerate(moves)]


def _meant(table: Table, cell: int, deviation: float, scale: float) -> tuple[Fraction, bool]:
    """The number that a deviation stands for, and whether it is whole or at the bound of its cell."""
    whole = round(deviation)
    if abs(deviation - whole) <= NEAR:
        return Fraction(whole), True
    bound = float((table.upper if deviation > 0 else table.lower)[cell])
    if np.isfinite(bound):
        room = (Fraction(repr(bound)) - Fraction(repr(float(table.value[cell])))) * Fraction(scale)
        if abs(float(room) - deviation) <= NEAR * max(1.0, abs(deviation)):
            return room, True
    simple = Fraction(deviation).limit_denominator(DENOMINATOR)
    if abs(float(simple) - deviation) <= NEAR / DENOMINATOR:
        return simple, False
    return Fraction(round(deviation * GRID), GRID), False


def _solve(equations: list[tuple[Row, Fraction]], fixed: list[bool]) -> Row | None:
    """Changes of columns that meet the equations, of those that are not fixed if that is enough; None if none do."""
    pivots: list[tuple[int, Row, Fraction]] = []
    place: dict[int, int] = {}
    waiting: list[tuple[Row, Fraction]] = []
    for later in (False, True):
        for row, right in waiting if later else equations:
            left, rest = _reduce(row, right, pivots, place)
            able = [at for at in left if later or not fixed[at]]
            if able:
                place[able[0]] = len(pivots)
                pivots.append((able[0], left, rest))
            elif later:
                if rest:
                    return None
            elif left or rest:
                waiting.append((left, rest))
        if not later and not any(rest for _, rest in waiting):
            # What is fixed may stay as it is.
            break
    found: Row = {}
    for at, row, right in reversed(pivots):
        known = sum((part * found[other] for other, part in row.items() if other in found), Fraction(0))
        found[at] = (right - known) / row[at]
    return found


def _reduce(
    row: Row, right: Fraction, pivots: list[tuple[int, Row, Fraction]], place: dict[int, int]
) -> tuple[Row, Fraction]:
    """An equation without the columns that others are solved for."""
    row = dict(row)
    while True:
        solved = min((place[at] for at in row if at in place), default=-1)
        if solved < 0:
            return row, right
        at, other, value = pivots[solved]
        factor = row[at] / other[at]
        for column, part in other.items():
            left = row.get(column, Fraction(0)) - factor * part
            if left:
                row[column] = left
            else:
                row.pop(column, None)
        right -= factor * value
