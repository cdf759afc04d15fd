"""Insiders: who is the only contributor to a cell knows its value, and his own part of every other.

An insider is judged by what he learns of the others. With o the sum of his own contributions to a cell of value a, the
interval that is left to him for a − o must reach what the rules ask for the cell without his contributions. Nothing is
asked where nobody else contributes, or where what is left is safe by the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.attack.attacker import Attacker
from discreet.attack.levels import PROTECTED, Levels, levels_of, verdicts
from discreet.attack.system import Bools, Floats, Ints
from discreet.tabular.contributors import others_of, sole_contributors
from discreet.tabular.others import Others
from discreet.tabular.rules import rules_of
from discreet.tabular.table import PRIMARY, RULES, Table

# Rules whose levels were given cell by cell: what is left of a cell is asked for the same.
GIVEN = 1 << RULES.index("manual") | 1 << RULES.index("given")
# Fewer contributors, weighted perhaps, are none.
NOBODY = 1e-9


class Asked(NamedTuple):
    """What is asked of cells in the eyes of one insider: how far below, above, and over what range in all."""

    cells: Ints
    down: Floats
    up: Floats
    width: Floats

    def only(self, kept: Bools | Ints | slice) -> Asked:
        """What is asked of some of the cells."""
        return Asked(self.cells[kept], self.down[kept], self.up[kept], self.width[kept])


@dataclass(frozen=True, eq=False)
class Insiders:
    """The sole contributors of a table.

    Attributes
    ----------
    table
        The table.
    owner
        For each cell the number of the insider who is alone in it; −1 if nobody is.
    known
        For each insider the cells in which he is alone.
    starts, parts
        What is asked of unsafe cells to which an insider and others contribute: those of insider i are
        `starts[i]` to `starts[i + 1]`.
    """

    table: Table
    owner: Ints
    known: list[Ints]
    starts: Ints
    parts: Asked

    def __len__(self) -> int:
        return len(self.known)

    def asked(self, insider: int, cells: Ints) -> Asked:
        """What is asked of some unsafe cells in the eyes of an insider; cells of which nothing is asked are left out.

        Parameters
        ----------
        insider : int
            The insider.
        cells : array of int
            The cells, in rising order.
        """
        table = self.table
        found = Asked(cells, table.lpl[cells], table.upl[cells], table.spl[cells])
        begin, end = self.starts[insider : insider + 2]
        mine = self.parts.only(slice(begin, end))
        at = np.searchsorted(mine.cells, cells)
        is_part = np.zeros(len(cells), dtype=np.bool_)
        inside = at < len(mine.cells)
        is_part[inside] = mine.cells[at[inside]] == cells[inside]
        for held, special in zip(found[1:], mine[1:], strict=True):
            held[is_part] = special[at[is_part]]
        nothing = is_part & (found.down + found.up + found.width == 0)
        return found.only(~nothing & (self.owner[cells] != insider))

    def taking_part(self, insider: int) -> Ints:
        """The unsafe cells of whose other contributors an insider might learn too much."""
        return self.parts.cells[self.starts[insider] : self.starts[insider + 1]]


def insiders_of(table: Table) -> Insiders | None:
    """The insiders of a table, with what is asked in their eyes; None where contributors are not known."""
    sole = sole_contributors(table)
    if sole is None:
        return None
    cells = np.flatnonzero(sole >= 0)
    cells = cells[np.argsort(sole[cells], kind="stable")]
    names, first = np.unique(sole[cells], return_index=True)
    known = np.split(cells, first[1:]) if len(cells) else []
    owner = np.full(len(table), -1, dtype=np.int64)
    owner[cells] = np.searchsorted(names, sole[cells])
    unsafe = (table.status == PRIMARY) & ~np.isnan(table.value)
    others = others_of(table, unsafe) if len(cells) else None
    who, parts = _judge(table, others, names)
    order = np.lexsort([parts.cells, who])
    starts = np.searchsorted(who[order], np.arange(len(names) + 1)).astype(np.int64)
    return Insiders(table, owner, known, starts, parts.only(order))


def _judge(table: Table, others: Others | None, names: Ints) -> tuple[Ints, Asked]:
    """What the rules ask for cells without the contributions of an insider."""
    if others is None:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, Asked(nothing, *(np.empty(0) for _ in range(3)))
    cell, rest = others.cell, others.value
    unit = 10.0 ** -(table.decimals if table.decimals is not None else 6)
    rules = rules_of(table.rules.get("parameters", {}))
    left = table.but(value=rest, count=others.count, tops=others.tops, asked=others.asked, codes=table.codes[cell])
    up, given = np.zeros(len(cell)), (table.rule[cell] & GIVEN > 0) | (not rules)
    for rule in rules:
        unsafe, level = rule.judge(left)
        up = np.maximum(up, np.where(unsafe, np.maximum(level, unit), 0.0))
    down = np.maximum(up, np.where(given, table.lpl[cell], 0.0))
    up = np.maximum(up, np.where(given, table.upl[cell], 0.0))
    width = np.where(given, table.spl[cell], 0.0)
    width[given & (down + up + width == 0)] = unit
    # Nobody is below zero where nothing is; and what is known beforehand is not given away.
    floor = np.where(table.lower[cell] >= 0, np.maximum(rest, 0.0), np.inf)
    asked = down
    down = np.minimum(down, np.minimum(floor, np.maximum(table.value[cell] - table.lower[cell], 0.0)))
    if table.counts is not None:
        # As for everybody: what a count cannot be below is asked for above.
        up = np.where(given | (up == 0), up, up + asked - down)
    up = np.minimum(up, np.maximum(table.upper[cell] - table.value[cell], 0.0))
    alone = others.count <= NOBODY
    down[alone], up[alone], width[alone] = 0.0, 0.0, 0.0
    return np.searchsorted(names, others.who), Asked(cell, down, up, width)


class Touched:
    """A witness of the attack of an outsider: whose cells had to move to show what was shown of each cell.

    What was shown of a cell without moving one that an insider knows, he cannot refute either.

    Parameters
    ----------
    insiders : Insiders
        The insiders.
    levels : Levels
        What is asked of the cells.
    """

    def __init__(self, insiders: Insiders, levels: Levels) -> None:
        n = len(insiders.table)
        self._insiders, self._levels = insiders, levels
        # For each cell and side, up and down: whether anything was shown, and the insiders that moved then.
        self._shown = np.zeros((2, n), dtype=np.bool_)
        self._free = np.zeros((2, n), dtype=np.bool_)
        self._moved: dict[tuple[int, int], set[int]] = {}

    def show(self, starts: Ints, cells: Ints, deviations: Floats, scale: float) -> None:
        """See some solutions: where each begins, the cells of the table that move, how far, in units of 1/scale."""
        levels, amounts = self._levels, deviations / scale
        owner = self._insiders.owner[cells]
        solution = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        touched = np.bincount(solution[owner >= 0], minlength=len(starts) - 1) > 0
        for side, sought in ((0, levels.seek_up), (1, levels.seek_down)):
            moves = amounts if side == 0 else -amounts
            wanted = sought[cells]
            proven = levels.judged[cells] & (moves > 0) & (moves >= wanted * (1 - 1e-9))
            self._free[side, cells[proven & ~touched[solution]]] = True
            self._shown[side, cells[proven]] = True
            for at in np.flatnonzero(proven & touched[solution]).tolist():
                cell = int(cells[at])
                if not self._free[side, cell]:
                    begin, end = starts[solution[at]], starts[solution[at] + 1]
                    movers = set(owner[begin:end][owner[begin:end] >= 0].tolist())
                    before = self._moved.get((side, cell))
                    # Any one of the solutions is enough: the one that fewest can refute.
                    if before is None or len(movers) < len(before):
                        self._moved[side, cell] = movers

    def doubtful(self, cells: Ints) -> dict[int, list[int]]:
        """For each insider the cells, of some that are protected against outsiders, of which he may know more."""
        found: dict[int, set[int]] = {}
        levels = self._levels
        for side, sought in ((0, levels.seek_up), (1, levels.seek_down)):
            for cell in cells[(sought[cells] > 0) & ~self._free[side, cells]].tolist():
                movers = self._moved.get((side, cell))
                # What was shown without a solution, as where there is no end to it, everybody may doubt.
                for insider in range(len(self._insiders)) if movers is None else movers:
                    found.setdefault(insider, set()).add(cell)
        return {insider: sorted(held) for insider, held in found.items()}


def find_exposed(
    insiders: Insiders, hidden: Bools, doubtful: dict[int, list[int]], *, strict: bool
) -> Iterator[tuple[int, Asked]]:
    """Attack as one insider after the other: the cells that he can work out too closely, with what is asked of them.

    Parameters
    ----------
    insiders : Insiders
        The insiders.
    hidden : array of bool
        Which cells are not published.
    doubtful : mapping
        For each insider the cells of which he might know more than an outsider; those in which he has a part are
        looked at in any case.
    strict : bool
        Whether levels must be exceeded.
    """
    for insider in range(len(insiders)):
        cells = np.union1d(doubtful.get(insider, ()), insiders.taking_part(insider)).astype(np.int64)
        asked = insiders.asked(insider, cells[hidden[cells]])
        if len(asked.cells):
            asked = asked.only(find_short(insiders, insider, asked, hidden, strict=strict)[0])
        yield insider, asked


def find_short(
    insiders: Insiders, insider: int, asked: Asked, hidden: Bools, *, strict: bool
) -> tuple[Bools, Floats, Floats]:
    """Which cells an insider knows too closely, and how far down and up each can go in his eyes, as far as sought."""
    table = insiders.table
    rest = hidden.copy()
    rest[insiders.known[insider]] = False
    attacker = Attacker(table, rest)
    at = np.searchsorted(attacker.cells, asked.cells)
    own = _of(table, asked)
    levels = levels_of(own, secondaries=False, strict=strict)
    down, up = np.zeros(len(attacker.cells)), np.zeros(len(attacker.cells))
    down[at], up[at] = levels.seek_down, levels.seek_up
    reach = attacker.reach(down, up)
    every = np.arange(len(asked.cells))
    verdict = verdicts(own, levels, every, reach.down[at], reach.up[at])
    return verdict != PROTECTED, reach.down[at], reach.up[at]


def _of(table: Table, asked: Asked) -> Table:
    """Some unsafe cells as a table of their own, with other levels: for what is said of single cells only."""
    return table.but(
        value=table.value[asked.cells],
        status=np.full(len(asked.cells), PRIMARY, dtype=np.uint8),
        lpl=asked.down,
        upl=asked.up,
        spl=asked.width,
        lower=table.lower[asked.cells],
        upper=table.upper[asked.cells],
    )
