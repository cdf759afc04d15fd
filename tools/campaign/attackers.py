"""Attackers of published tables: outsiders, and insiders who know their own part of it.

Nothing of discreet is used: rules are applied to contributions as handbooks write them, cells are moved by scipy's
linear programs, and what follows by adding and subtracting is found by exact elimination. The tests use these attackers
too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]
Asked = dict[int, tuple[float, float]]  # of each cell: how far down and up it must be able to go

PRIME = 2**31 - 1
SLACK = 1e-6  # of a cell's value: what linear programs may be off by


def level(amounts: Sequence[float], rule: Mapping[str, Any], unit: float = 1.0) -> float:
    """The upper protection level that rules ask for contributions; 0 if they are safe."""
    sizes, total = sorted(amounts, reverse=True), sum(amounts)
    found = [0.0]
    if not sizes:
        return 0.0
    dust = 1e-9 * max(1.0, total)
    if len(sizes) < rule.get("threshold", 0):
        found.append(max(0.3 * total, unit))
    if "dominance" in rule:
        n, share = rule["dominance"]
        if sum(sizes[:n]) > share / 100 * total + dust:
            found.append(max(100 / share * sum(sizes[:n]) - total, unit))
    if "p" in rule:
        rest = total - sum(sizes[: 1 + rule.get("coalition", 1)])
        if rest < rule["p"] / 100 * sizes[0] - dust:
            found.append(max(rule["p"] / 100 * sizes[0] - rest, unit))
    return max(found)


@dataclass
class Insider:
    """A sole contributor: the cells that he is alone in, and what is asked of the others' part of unsafe cells."""

    known: list[int] = field(default_factory=list)
    asked: Asked = field(default_factory=dict)


def find_insiders(
    brought: Sequence[Mapping[Hashable, float]],
    unsafe: Collection[int],
    rule: Mapping[str, Any],
    room: Floats,
    unit: float = 1.0,
) -> dict[Hashable, Insider]:
    """Everybody who is alone in a cell.

    Parameters
    ----------
    brought : sequence of mappings
        Who contributes to each cell, and how much.
    unsafe : collection of int
        The cells that need protection.
    rule : mapping
        The parameters of the rules.
    room : array of float
        How far each cell is below what anybody thinks possible.
    unit : float
        The least that is asked for.
    """
    found: dict[Hashable, Insider] = {}
    for cell, mine in enumerate(brought):
        if len(mine) == 1:
            found.setdefault(next(iter(mine)), Insider()).known.append(cell)
    for who, insider in found.items():
        for cell in unsafe:
            others = [amount for one, amount in brought[cell].items() if one != who]
            up = level(others, rule, unit)
            if up > 0:
                insider.asked[cell] = min(up, sum(others)), min(up, float(room[cell]))
    return found


class Attacker:
    """Who works out suppressed cells: from the relations between them, and from what anybody thinks possible.

    Parameters
    ----------
    relations : array of float, relations by cells
        What adds up to 0, whatever the suppressed cells are.
    value : array of float
        The true values of the suppressed cells.
    lower, upper : array of float
        What anybody thinks possible.
    """

    def __init__(self, relations: Floats, value: Floats, lower: Floats, upper: Floats) -> None:
        self._relations = relations[np.abs(relations).sum(axis=1) > 0]
        self._slack = SLACK * np.maximum(1.0, np.abs(value))
        self._low, self._high = np.minimum(lower - value, 0.0), np.maximum(upper - value, 0.0)
        # Moves that were found: they answer for other cells too, and for whoever knows none of the cells they move.
        self._moves = np.zeros((1, len(value)))

    def find_short(self, asked: Asked, known: Collection[int] = (), *, first: bool = False) -> list[int]:
        """The cells that cannot go as far as asked, in the eyes of somebody who knows some cells."""
        mine = np.zeros(len(self._slack), dtype=bool)
        mine[list(known)] = True
        ways = {
            (cell, side): amount
            for cell, both in asked.items()
            for side, amount in zip((-1.0, 1.0), both, strict=True)
            if not mine[cell] and amount > 0
        }
        found = {cell for cell in asked if mine[cell] and max(asked[cell]) > 0}
        for side in (-1.0, 1.0):
            together = {cell: amount for (cell, way), amount in ways.items() if way == side}
            left = self._unproven(together, side, mine)
            if len(left) > 1:
                self._move({cell: together[cell] for cell in left}, side, mine)
                left = self._unproven(together, side, mine)
            for cell in left:
                if self._unproven({cell: together[cell]}, side, mine):
                    self._move({cell: together[cell]}, side, mine)
                    if self._unproven({cell: together[cell]}, side, mine):
                        found.add(cell)
                        if first:
                            return sorted(found)
        return sorted(found)

    def _unproven(self, ways: Mapping[int, float], side: float, mine: NDArray[np.bool_]) -> list[int]:
        """Which cells no move goes far enough for, of those that leave alone what is known."""
        moves = self._moves[(self._moves[:, mine] == 0).all(axis=1)]
        return [cell for cell, amount in ways.items() if (side * moves[:, cell]).max() < amount - self._slack[cell]]

    def _move(self, ways: Mapping[int, float], side: float, mine: NDArray[np.bool_]) -> None:
        """Move cells, all of them as far as asked if that can be, and keep the move."""
        free = np.flatnonzero(~mine)
        low, high, goal = self._low.copy(), self._high.copy(), np.zeros(len(mine))
        # Solvers take small costs and small amounts for nothing.
        scale = max(ways.values())
        for cell, amount in ways.items():
            goal[cell] = -side * min(scale / amount, 1e3)
            # Once it is far enough a cell need not go on.
            if side > 0:
                high[cell] = min(high[cell], amount)
            else:
                low[cell] = max(low[cell], -amount)
        bounds = np.column_stack([low, high])[free] / scale
        rows = self._relations[:, free]
        rows = rows[np.abs(rows).sum(axis=1) > 0]
        some = {"A_eq": rows, "b_eq": np.zeros(len(rows))} if len(rows) else {}
        for options in ({"presolve": False}, {}, {"primal_feasibility_tolerance": 1e-10}):
            solved = linprog(goal[free], bounds=bounds, method="highs-ds", options=options, **some)
            if solved.status == 0:
                move = np.zeros(len(mine))
                move[free] = scale * solved.x
                self._moves = np.vstack([self._moves, move])
                return
        # Moving nothing is always possible.
        raise AssertionError(f"the linear program of an attacker failed: {solved.message}")

    def find_determined(self, known: Collection[int] = ()) -> NDArray[np.bool_]:
        """Which cells follow from the relations alone, for somebody who knows some."""
        mine = np.zeros(self._relations.shape[1], dtype=bool)
        mine[list(known)] = True
        found = mine.copy()
        found[~mine] = determined(self._relations[:, ~mine])
        return found


def determined(relations: Floats) -> NDArray[np.bool_]:
    """Which unknowns whole-numbered relations fix: alone in a row of the reduced echelon form, modulo a large prime."""
    rows = np.mod(relations.astype(np.int64), PRIME)
    fixed, at = np.zeros(rows.shape[1], dtype=bool), 0
    pivots = []
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[at:, column])
        if not len(below):
            continue
        rows[[at, at + below[0]]] = rows[[at + below[0], at]]
        rows[at] = rows[at] * pow(int(rows[at, column]), -1, PRIME) % PRIME
        factors = rows[:, column].copy()
        factors[at] = 0
        rows = np.mod(rows - np.mod(np.outer(factors, rows[at]), PRIME), PRIME)
        pivots.append(column)
        at += 1
    for row, column in enumerate(pivots):
        fixed[column] = np.count_nonzero(rows[row]) == 1
    return fixed
