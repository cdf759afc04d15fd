"""Plain insiders of tables, which the tests compare the project's own with: from the records, one by one.

Nothing of what a table says of its contributors is used: who contributes to a cell, who is alone in one and what the
rules ask for the others are counted from the records; the attackers are those of the campaign, which use scipy alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import discreet
from campaign.attackers import Attacker, find_insiders
from discreet.tabular.table import PRIMARY, Table
from plain_attacker import lines

Bools = NDArray[np.bool_]
RULES: tuple[dict[str, Any], ...] = (
    {"p": 15},
    {"threshold": 3},
    {"dominance": (1, 75)},
    {"p": 10, "threshold": 3},
    {"p": 20, "coalition": 2, "dominance": (2, 90)},
)


def records(rng: np.random.Generator, shape: tuple[int, ...], *, mean: float, holdings: bool) -> pl.DataFrame:
    """Contributions to the cells of a table; holdings have some of them, each record is its own holding otherwise."""
    number = np.maximum(rng.poisson(mean, shape), rng.random(shape) < 0.9)
    places = np.argwhere(number).repeat(number[number > 0], axis=0)
    n = len(places)
    who = rng.integers(0, max(2, int(0.7 * n)), n) if holdings else np.arange(n)
    columns: dict[str, Any] = {f"d{axis}": [f"{code}" for code in places[:, axis]] for axis in range(len(shape))}
    return pl.DataFrame(columns | {"who": who, "sales": np.ceil(rng.lognormal(3.0, 1.0, n))})


def tabulated(frame: pl.DataFrame, rule: dict[str, Any], *, holdings: bool, top: int = 4, parts: Any = None) -> Table:
    """The table of records with its unsafe cells; the holding is said where there is more than one record of any."""
    axes = [name for name in frame.columns if name.startswith("d")]
    held = discreet.tabulate(frame, by=axes, value="sales", top=top, holding="who" if holdings else None, parts=parts)
    return discreet.primary(held, **rule)


def contributions(table: Table, frame: pl.DataFrame) -> list[dict[Hashable, float]]:
    """Who contributes to each cell, and how much."""
    rows = frame.to_dicts()
    found: list[dict[Hashable, float]] = []
    for cell in range(len(table)):
        codes = [(one.name, one.codes[table.codes[cell, axis]]) for axis, one in enumerate(table.dimensions)]
        mine: dict[Hashable, float] = {}
        for row in rows:
            if all(code in ("Total", row[name]) for name, code in codes):
                mine[row["who"]] = mine.get(row["who"], 0.0) + row["sales"]
        found.append(mine)
    return found


class PlainInsiders:
    """The insiders of a table of records."""

    def __init__(self, table: Table, frame: pl.DataFrame, rule: dict[str, Any]) -> None:
        self.table = table
        self.unsafe = np.flatnonzero(table.status == PRIMARY).tolist()
        self.insiders = find_insiders(
            contributions(table, frame), self.unsafe, rule, np.asarray(table.upper - table.value)
        ).values()

    def exposed(self, hidden: Bools, *, first: bool = False) -> set[tuple[tuple[int, ...], int]]:
        """What insiders can work out too closely, each by the cells he is alone in; only the first found, if asked."""
        attacker = self._attacker(hidden)
        found: set[tuple[tuple[int, ...], int]] = set()
        for insider in self.insiders:
            if not first or not found:
                short = attacker.find_short(insider.asked, insider.known, first=first)
                found |= {(tuple(insider.known), cell) for cell in short}
        return found

    def is_safe(self, hidden: Bools) -> bool:
        """Whether a pattern protects every unsafe cell against outsiders and insiders."""
        asked = {cell: (float(self.table.lpl[cell]), float(self.table.upl[cell])) for cell in self.unsafe}
        return not self._attacker(hidden).find_short(asked, first=True) and not self.exposed(hidden, first=True)

    def _attacker(self, hidden: Bools) -> Attacker:
        # Of all cells: what is published cannot move.
        table = self.table
        lower, upper = (np.where(hidden, bound, table.value) for bound in (table.lower, table.upper))
        return Attacker(lines(table), table.value, lower, upper)
