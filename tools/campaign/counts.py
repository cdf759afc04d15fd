"""Random tables of counts through `tabulate`, `primary` and `suppress`, attacked by integer programs.

The attackers know the published file, the hierarchies, the rule, and what everybody knows of counts: that they are
whole, which combinations have a row and which cannot be, that a code is listed where somebody has it. Who is alone in a
cell also knows himself. No bound is taken from discreet; programs are scipy's.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import discreet
from campaign.attackers import Floats
from campaign.found import Found
from campaign.tables import Axis, Cell, draw_axis, hierarchy_file, list_sums, read_public

KNOWN = "no unsafe count of a published table is known exactly"
NARROWED = "no unsafe count of a published table can be narrowed down below its level by whole tables"
INSIDE = "no sole contributor can narrow down how many others are in an unsafe cell below what the rule asks for"
PUBLISHED = "what is published of a table of counts is true, complete, and no unsafe count is published"
REFUSED = "a table of counts that cannot be protected is refused"


@dataclass
class Drawn:
    """A table of counts as it was drawn.

    Attributes
    ----------
    axes
        Its dimensions.
    listed
        For each whether its codes come from a list.
    parts
        The axes of each linked table; one of all axes for a single table.
    records
        The codes of each person.
    impossible
        Combinations of base codes of all axes that nobody can have.
    is_completed
        Whether cells with nobody in them have a row.
    threshold
        Fewer are unsafe.
    """

    axes: list[Axis]
    listed: list[bool]
    parts: list[tuple[int, ...]]
    records: list[Cell]
    impossible: list[Cell]
    is_completed: bool
    threshold: int


def run(seed: int, folder: Path) -> Found:
    """Publish one random table of counts and attack it."""
    rng = np.random.default_rng([seed, 11])
    found = Found()
    drawn = _draw(rng)
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*(axis.name for axis in drawn.axes), "id"])
        out.writerows([*record, at] for at, record in enumerate(drawn.records))
    names = [axis.name for axis in drawn.axes]
    by = [
        f"{axis.name}@{hierarchy_file(folder, axis)}" if listed else axis.name
        for axis, listed in zip(drawn.axes, drawn.listed, strict=True)
    ]
    structural = [dict(zip(names, cell, strict=True)) for cell in drawn.impossible]
    try:
        table = discreet.tabulate(
            folder / "data.csv",
            by=by,
            existing_only=not drawn.is_completed,
            structural=structural or None,
            parts=None if len(drawn.parts) == 1 else [[names[at] for at in part] for part in drawn.parts],
        )
        flagged = discreet.primary(table, threshold=drawn.threshold)
        kept = discreet.suppress(flagged, steps=int(rng.integers(1, 6)), seed=seed)
        kept.write(folder / "public.csv")
    except discreet.PromiseNotKept:
        found.hold(REFUSED, not (folder / "public.csv").exists(), "refused, and a file is left behind")
        return found
    _attack(found, drawn, read_public(folder / "public.csv", drawn.axes))
    return found


def _draw(rng: np.random.Generator) -> Drawn:
    sizes = [int(rng.integers(2, 5)) for _ in range(int(rng.choice([2, 2, 3])))]
    axes = [draw_axis(rng, name, size) for name, size in zip("ABC", sizes, strict=False)]
    listed = [not axis.is_flat or bool(rng.random() < 0.5) for axis in axes]
    every: list[Cell] = [()]
    for axis in axes:
        every = [(*cell, code) for cell in every for code in axis.leaves]
    number = rng.poisson(rng.choice([1.0, 2.5, 5.0]), len(every))
    number[rng.random(len(every)) < rng.choice([0.0, 0.3, 0.6])] = 0
    number[0] += not number.any()
    is_completed, impossible = bool(rng.random() < 0.6), []
    parts: list[tuple[int, ...]] = [tuple(range(len(axes)))]
    if len(axes) == 3 and rng.random() < 0.4:
        pairs = list(combinations(range(3), 2))
        parts = [*pairs[: int(rng.integers(2, 4))]]
    elif is_completed and rng.random() < 0.3:
        impossible = [every[at] for at in np.flatnonzero(number == 0)[:2].tolist()]
    records = [cell for cell, times in zip(every, number.tolist(), strict=True) for _ in range(times)]
    # What nobody has is no code where codes come from those who have them.
    axes = [axis if listed[at] else axis.only({record[at] for record in records}) for at, axis in enumerate(axes)]
    codes = [set(axis.leaves) for axis in axes]
    impossible = [cell for cell in impossible if all(code in held for code, held in zip(cell, codes, strict=True))]
    return Drawn(axes, listed, parts, records, impossible, is_completed, int(rng.choice([2, 3, 5])))


def _attack(found: Found, drawn: Drawn, public: dict[Cell, float | None]) -> None:
    brought: dict[Cell, list[int]] = {}
    for who, record in enumerate(drawn.records):
        for sums in list_sums(drawn.axes, record):
            brought.setdefault(sums, []).append(who)
    truth = {cell: len(brought.get(cell, [])) for cell in public}
    unsafe = [cell for cell, number in truth.items() if 0 < number < drawn.threshold]
    expected = _expected(drawn, brought)
    is_true = all(number is None or number == truth[cell] for cell, number in public.items())
    is_hidden = all(public[cell] is None for cell in unsafe)
    found.hold(PUBLISHED, is_true and is_hidden and set(public) == expected, "a cell is wrong, missing or unsafe")
    if not unsafe or not is_hidden:
        return
    cells = [cell for cell, number in public.items() if number is None]
    at = {cell: place for place, cell in enumerate(cells)}
    value = np.array([truth[cell] for cell in cells], dtype=np.float64)
    low = np.array([_least(drawn, cell) for cell in cells], dtype=np.float64)
    most = max(2.5 * max(truth.values()), 10.0)
    attacker = Whole(_relations(drawn, public, at), value, low, most)
    for cell in unsafe:
        place = at[cell]
        down, up = _levels(truth[cell], truth[cell] - low[place])
        reached = attacker.reach(place, down, up)
        found.hold(KNOWN, sum(reached) > 0, "known exactly")
        found.hold(NARROWED, reached[0] >= down and reached[1] >= up, f"{reached} where {down, up} is asked")
    alone: dict[int, list[int]] = {}
    for cell in cells:
        if truth[cell] == 1:
            alone.setdefault(brought[cell][0], []).append(at[cell])
    for who, known in alone.items():
        for cell in unsafe:
            others = truth[cell] - (who in brought[cell])
            if at[cell] in known or not 0 < others < drawn.threshold:
                continue
            # Who is in a cell himself does not think it empty of others because he is there.
            least = others if who in brought[cell] else truth[cell] - low[at[cell]]
            down, up = _levels(others, least)
            reached = attacker.reach(at[cell], down, up, known)
            found.hold(INSIDE, reached[0] >= down and reached[1] >= up, f"{reached} where {down, up} is asked, inside")


def _levels(number: int, room: float) -> tuple[int, int]:
    """How far down and up a count must be uncertain: 30 percent, rounded up; what is not below is above."""
    level = -(-3 * number // 10)
    down = int(min(level, room))
    return down, 2 * level - down


def _least(drawn: Drawn, cell: Cell) -> int:
    """What everybody knows to be the least in a cell that has a row."""
    if not drawn.is_completed:
        return 1
    beyond = [at for at, code in enumerate(cell) if code != "Total"]
    return int(len(beyond) == 1 and not drawn.listed[beyond[0]])


def _expected(drawn: Drawn, brought: dict[Cell, list[int]]) -> set[Cell]:
    """The rows that the published table must have."""
    found = set()
    for part in drawn.parts:
        outside = [at for at in range(len(drawn.axes)) if at not in part]
        inside = [axis.leaves for axis in drawn.axes]
        for at in outside:
            inside[at] = ["Total"]
        bases: list[Cell] = [()]
        for codes in inside:
            bases = [(*cell, code) for cell in bases for code in codes]
        if not drawn.is_completed:
            bases = [cell for cell in bases if cell in brought]
        elif not outside:
            bases = [cell for cell in bases if cell not in drawn.impossible]
        for cell in bases:
            found |= set(list_sums(drawn.axes, cell))
    return found


def _relations(drawn: Drawn, public: dict[Cell, float | None], at: dict[Cell, int]) -> Floats:
    """Sum = parts, along every axis, in deviations of the suppressed cells; combinations without a row are nothing."""
    rows = []
    for part in drawn.parts:
        inside = [
            cell for cell in public if all(cell[axis] == "Total" for axis in range(len(cell)) if axis not in part)
        ]
        for axis in part:
            for total, below in drawn.axes[axis].below().items():
                for cell in inside:
                    if cell[axis] != total:
                        continue
                    row = np.zeros(len(at))
                    for code, sign in [(total, -1.0), *((code, 1.0) for code in below)]:
                        other = (*cell[:axis], code, *cell[axis + 1 :])
                        if other in at:
                            row[at[other]] += sign
                    if row.any():
                        rows.append(row)
    return np.array(rows).reshape(-1, len(at))


class Whole:
    """An attacker by integer programs: how far one cell goes in a whole table that looks the same."""

    def __init__(self, relations: Floats, value: Floats, low: Floats, most: float) -> None:
        self._relations, self._value, self._low, self._most = relations, value, low, most
        self._tables = [np.zeros(len(value))]

    def reach(self, cell: int, down: int, up: int, known: list[int] | None = None) -> tuple[int, int]:
        """How far a cell goes down and up, as far as that is asked, for somebody who knows some cells."""
        fixed: NDArray[np.bool_] = np.zeros(len(self._value), dtype=np.bool_)
        fixed[known or []] = True
        found = []
        for side, far in ((-1.0, down), (1.0, up)):
            best = max(side * move[cell] for move in self._tables if not move[fixed].any())
            if best < far:
                move = self._solve(cell, side, far, fixed)
                self._tables.append(move)
                best = side * move[cell]
            found.append(int(best))
        return found[0], found[1]

    def _solve(self, cell: int, side: float, far: int, fixed: NDArray[np.bool_]) -> Floats:
        low = np.where(fixed, 0.0, self._low - self._value)
        high = np.where(fixed, 0.0, self._most - self._value)
        if side > 0:
            high[cell] = min(high[cell], far)
        else:
            low[cell] = max(low[cell], -far)
        cost = np.zeros(len(low))
        cost[cell] = -side
        rows = LinearConstraint(self._relations, 0.0, 0.0) if len(self._relations) else ()
        solved = milp(cost, bounds=Bounds(low, high), constraints=rows, integrality=np.ones(len(low)))
        if solved.status != 0:
            raise AssertionError(f"the integer program of an attacker failed: {solved.message}")
        return np.asarray(np.rint(solved.x), dtype=np.float64)
