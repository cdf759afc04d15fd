"""Plain insiders of tables, which the tests compare the project's own with: from the records, one by one.

Nothing of what a table says of its contributors is used: who contributes to a cell, who is alone in one and what the
rules ask for the others are counted from the records, and every interval is two linear programs of scipy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import discreet
from discreet.tabular.table import PRIMARY, Table
from plain_attacker import extremes

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


def tabulated(frame: pl.DataFrame, rule: dict[str, Any], *, holdings: bool, top: int = 4) -> Table:
    """The table of records with its unsafe cells; the holding is said where there is more than one record of any."""
    axes = [name for name in frame.columns if name.startswith("d")]
    held = discreet.tabulate(frame, by=axes, value="sales", top=top, holding="who" if holdings else None)
    return discreet.primary(held, **rule)


def contributions(table: Table, frame: pl.DataFrame) -> list[dict[int, float]]:
    """Who contributes to each cell, and how much."""
    rows = frame.to_dicts()
    found: list[dict[int, float]] = []
    for cell in range(len(table)):
        codes = [(one.name, one.codes[table.codes[cell, axis]]) for axis, one in enumerate(table.dimensions)]
        mine: dict[int, float] = {}
        for row in rows:
            if all(code in ("Total", row[name]) for name, code in codes):
                mine[row["who"]] = mine.get(row["who"], 0.0) + row["sales"]
        found.append(mine)
    return found


def level(amounts: list[float], rule: dict[str, Any]) -> float:
    """The upper protection level that rules ask for contributions; 0 if they are safe."""
    sizes, total = sorted(amounts, reverse=True), sum(amounts)
    found = 0.0
    if not sizes:
        return found
    if len(sizes) < rule.get("threshold", 0):
        found = max(found, 0.3 * total, 1.0)
    if "dominance" in rule:
        n, k = rule["dominance"]
        if sum(sizes[:n]) > k / 100 * total + 1e-9:
            found = max(found, 100 / k * sum(sizes[:n]) - total, 1.0)
    if "p" in rule:
        rest = total - sum(sizes[: 1 + rule.get("coalition", 1)])
        if rest < rule["p"] / 100 * sizes[0] - 1e-9:
            found = max(found, rule["p"] / 100 * sizes[0] - rest, 1.0)
    return found


class PlainInsiders:
    """The insiders of a table of records."""

    def __init__(self, table: Table, frame: pl.DataFrame, rule: dict[str, Any]) -> None:
        self.table = table
        brought = contributions(table, frame)
        self.known: dict[int, list[int]] = {}
        for cell, mine in enumerate(brought):
            if len(mine) == 1:
                self.known.setdefault(next(iter(mine)), []).append(cell)
        # For each insider the cells of which something is asked in his eyes: how far down and up.
        self.asked: dict[int, dict[int, tuple[float, float]]] = {}
        for who in self.known:
            self.asked[who] = {}
            for cell in np.flatnonzero(table.status == PRIMARY).tolist():
                others = [amount for one, amount in brought[cell].items() if one != who]
                up = level(others, rule)
                if up > 0:
                    room = table.upper[cell] - table.value[cell]
                    self.asked[who][cell] = min(up, sum(others)), min(up, room)

    def exposed(self, hidden: Bools, *, first: bool = False) -> set[tuple[tuple[int, ...], int]]:
        """What insiders can work out too closely, each by the cells he is alone in; only the first found, if asked."""
        found: set[tuple[tuple[int, ...], int]] = set()
        for who, asked in self.asked.items():
            rest = hidden.copy()
            rest[self.known[who]] = False
            cells = np.array(sorted(asked), dtype=np.int64)
            if not len(cells):
                continue
            down, up = extremes(self.table, rest, cells)
            for at, cell in enumerate(cells.tolist()):
                slack = 1e-7 * max(1.0, abs(self.table.value[cell]))
                if down[at] < asked[cell][0] - slack or up[at] < asked[cell][1] - slack:
                    found.add((tuple(self.known[who]), cell))
                    if first:
                        return found
        return found

    def is_safe(self, hidden: Bools) -> bool:
        """Whether a pattern protects every unsafe cell against outsiders and insiders."""
        table, cells = self.table, np.flatnonzero(self.table.status == PRIMARY)
        down, up = extremes(table, hidden, cells)
        slack = 1e-7 * np.maximum(1.0, np.abs(table.value[cells]))
        enough = (down >= table.lpl[cells] - slack) & (up >= table.upl[cells] - slack)
        return bool(enough.all()) and not self.exposed(hidden, first=True)
