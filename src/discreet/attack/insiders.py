"""Insiders: who is the only contributor to a cell knows its value, and his own part of every other.

An insider is judged by what he learns of the others. With o the sum of his own contributions to a cell of value a, the
interval that is left to him for a − o must reach what the rules ask for the cell without his contributions. Nothing is
asked where nobody else contributes, or where what is left is safe by the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from discreet.attack.attacker import Attacker
from discreet.attack.integers import WholeMoves, draw_steps
from discreet.attack.levels import PROTECTED, levels_of, verdicts
from discreet.attack.program import LARGE
from discreet.attack.proofs import UNSEEN
from discreet.attack.system import Bools, Floats, Ints, System
from discreet.solvers.highs import LinearProgram, Matrix, Status, Way
from discreet.solvers.tolerances import LEVEL, LP, MOVED, ROUNDING
from discreet.tabular.contributors import others_of, sole_contributors
from discreet.tabular.others import Others
from discreet.tabular.rules import rules_of
from discreet.tabular.table import PRIMARY, RULES, Table

# Rules whose levels were given cell by cell: what is left of a cell is asked for the same.
GIVEN = 1 << RULES.index("manual") | 1 << RULES.index("given")
# Fewer contributors, weighted perhaps, are none.
NOBODY = 1e-9
# Pairs of an insider and a cell that are looked at together: what is shown of them takes some bytes each.
MOST_PAIRS = 20_000_000
# Linear programs that move many cells at once: how many at most, and after how many in a row that have each left more
# than such a part of the doubts they end; few doubts are left to programs of their own.
MOST_SPREADS, PATIENCE, SLOW, FEW_DOUBTS = 200, 6, 0.98, 20
# The same of programs that move some cells by whole numbers, which show less and take less.
MOST_WHOLE, PATIENCE_OF_WHOLE = 1_000, 30
# What part of the cells each of them is to move, what it is worth to draw what an insider knows to a side, in times of
# what it is to move a cell by its level; and how far anything moves, in times of what is wanted.
DRAWN, PULL, REACH = 0.6, 0.5, 1e3
# Iterations after which such a program is left, of interior points; a hundred times as many of the simplex method.
MOST_ITERATIONS = 100


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


class Shown:
    """A witness of attacks: of which unsafe cells their solutions have shown enough in the eyes of each insider.

    A solution in which nothing moves that an insider knows shows it to him as well. Two that move it to opposite sides
    do so together: a mixture of both leaves it where it is, and moves every other cell as far as the one that moves it
    less. So solutions that move all cells at once, to random sides, show most of it within few linear programs.

    Parameters
    ----------
    insiders : Insiders
        The insiders.
    hidden : array of bool
        Which cells are not published.
    cells : array of int
        Unsafe cells of which an insider might know more than an outsider; those in which he has a part are looked at
        in any case.
    strict : bool
        Whether levels must be exceeded.
    some : slice
        Which insiders.
    """

    def __init__(self, insiders: Insiders, hidden: Bools, cells: Ints, *, strict: bool, some: slice) -> None:
        table = insiders.table
        self.insiders, self.some, self._strict = insiders, range(len(insiders))[some], strict
        self.attacker = Attacker(table, hidden, whole=table.integral)
        levels = levels_of(table, secondaries=False, strict=strict)
        begin, end = insiders.starts[self.some.start], insiders.starts[self.some.stop]
        parts = insiders.parts.only(slice(begin, end))
        who = np.repeat(np.arange(len(self.some)), np.diff(insiders.starts[self.some.start : self.some.stop + 1]))
        self.cells = np.intersect1d(cells[hidden[cells]], np.flatnonzero(levels.judged))
        self._looked_at = self.cells
        seek = np.stack([levels.seek_up[self.cells], levels.seek_down[self.cells]])
        slack = np.stack([levels.slack_up[self.cells], levels.slack_down[self.cells]])
        self._enough = np.maximum(seek - slack / 2, 0.0)
        self.seek = seek
        # Side (up, down), cell, insider: what is asked; and whether it was shown with his own cells moved up, and down.
        self._asked = np.repeat((seek > 0)[:, :, None], len(self.some), axis=2)
        place = np.full(len(table), -1, dtype=np.int64)
        place[self.cells] = np.arange(len(self.cells))
        own = insiders.owner[self.cells] - self.some.start
        mine = (own >= 0) & (own < len(self.some))
        self._asked[:, np.flatnonzero(mine), own[mine]] = False
        there = place[parts.cells] >= 0
        self._asked[:, place[parts.cells[there]], who[there]] = False
        self._with = np.zeros((2, *self._asked.shape), dtype=np.bool_)
        # In a cell in which he has a part something else is asked: insider, cell, side and how far.
        at = np.flatnonzero(hidden[parts.cells] & (insiders.owner[parts.cells] != who + self.some.start))
        own_levels = levels_of(_of(table, parts.only(at)), secondaries=False, strict=strict)
        self._part_who, self._part_cell = np.tile(who[at], 2), np.tile(parts.cells[at], 2)
        self._part_side = np.repeat(np.array([0, 1]), len(at))
        self.part_seek = np.concatenate([own_levels.seek_up, own_levels.seek_down])
        own_slack = np.concatenate([own_levels.slack_up, own_levels.slack_down])
        self._part_enough = np.maximum(self.part_seek - own_slack / 2, 0.0)
        nothing = np.tile(parts.down[at] + parts.up[at] + parts.width[at] == 0, 2)
        self._part_asked = (self.part_seek > 0) & ~nothing
        self._part_with = np.zeros((2, len(self._part_who)), dtype=np.bool_)
        self._ratio, self._is_simple = self._find_ratios()

    def _find_ratios(self) -> tuple[Floats, Bools]:
        """How each cell that an insider knows moves when his first one does; and of whom all move together."""
        system, free = self.attacker.full, self.attacker.free
        rows = np.repeat(np.arange(len(system.relations)), np.diff(system.starts))
        inside = free[system.columns]
        two = np.flatnonzero(np.bincount(rows[inside], minlength=len(system.relations)) == 2)
        kept = inside & np.isin(rows, two)
        ends = system.columns[kept].reshape(-1, 2)
        factors = system.coefficients[kept].reshape(-1, 2)
        n = len(system)
        near: dict[int, list[tuple[int, float]]] = {}
        for (one, other), (first, second) in zip(ends.tolist(), factors.tolist(), strict=True):
            near.setdefault(one, []).append((other, -first / second))
            near.setdefault(other, []).append((one, -second / first))
        ratio, of = np.zeros(n), np.full(n, -1, dtype=np.int64)
        of_cell, is_simple = np.zeros(len(self.insiders.table)), np.ones(len(self.some), dtype=np.bool_)
        for at, insider in enumerate(self.some):
            columns = np.searchsorted(system.cells, self.insiders.known[insider])
            inner = columns < n
            inner[inner] = system.cells[columns[inner]] == self.insiders.known[insider][inner]
            mine = columns[inner][free[columns[inner]]]
            if not len(mine):
                continue
            first, waiting = int(mine[0]), [int(mine[0])]
            ratio[first], of[first] = 1.0, at
            while len(mine) > 1 and waiting:
                one = waiting.pop()
                for other, turn in near.get(one, ()):
                    if of[other] != at:
                        ratio[other], of[other] = ratio[one] * turn, at
                        waiting.append(other)
            is_simple[at] = bool((of[mine] == at).all())
            of_cell[system.cells[mine]] = np.where(of[mine] == at, ratio[mine], 1.0)
        return of_cell, is_simple

    def show(self, starts: Ints, cells: Ints, deviations: Floats, scale: float) -> None:
        """See some solutions: where each begins, the cells of the table that move, how far, in units of 1/scale."""
        bounds, amounts = starts.tolist(), deviations / scale
        for begin, end in pairwise(bounds):
            self._learn(cells[begin:end], amounts[begin:end])

    def _learn(self, cells: Ints, amounts: Floats) -> None:
        moves = np.zeros(len(self.insiders.table))
        moves[cells] = amounts
        owner = self.insiders.owner[cells] - self.some.start
        known = (owner >= 0) & (owner < len(self.some)) & (np.abs(amounts) > MOVED * np.abs(amounts).max(initial=0.0))
        # Whether what an insider knows moves up (1) or down (−1), in terms of his first cell; 2 if there is no telling.
        turn = np.zeros(len(self.some), dtype=np.int64)
        turn[owner[known]] = np.where(
            self._is_simple[owner[known]], np.sign(amounts[known] * self._ratio[cells[known]]), 2
        )
        ways: list[Bools] = [np.isin(turn, (0, 1)), np.isin(turn, (0, -1))]
        for side, sign in ((0, 1.0), (1, -1.0)):
            far = sign * moves[self.cells]
            proven = np.flatnonzero((self.seek[side] > 0) & (far >= self._enough[side]) & (far > 0))
            for shown, way in zip(self._with, ways, strict=True):
                shown[side, proven] |= way
        far = np.where(self._part_side == 0, 1.0, -1.0) * moves[self._part_cell]
        proven = np.flatnonzero(self._part_asked & (far >= self._part_enough) & (far > 0))
        for shown, way in zip(self._part_with, ways, strict=True):
            shown[proven] |= way[self._part_who[proven]]

    @property
    def open(self) -> Bools:
        """Side, cell, insider: what is asked and not shown."""
        found: Bools = self._asked & ~(self._with[0] & self._with[1])
        return found

    @property
    def open_parts(self) -> Bools:
        """The same of the cells in which an insider has a part."""
        found: Bools = self._part_asked & ~(self._part_with[0] & self._part_with[1])
        return found

    def restrict(self, cells: Ints) -> None:
        """Look no more at other cells than some, and those in which an insider has a part."""
        self._asked[:, ~np.isin(self.cells, cells)] = False
        self._looked_at = np.intersect1d(self.cells, cells)

    def settle(self, insider: int, cells: Ints) -> None:
        """Look no more at some cells in the eyes of an insider: it is known what he knows of them."""
        at = insider - self.some.start
        self._asked[:, np.isin(self.cells, cells), at] = False
        self._part_asked[(self._part_who == at) & np.isin(self._part_cell, cells)] = False

    def doubtful(self) -> list[Ints]:
        """For each insider the cells of which he may know more than he must: nothing has shown otherwise."""
        is_open: Bools = np.any(self.open, axis=0)
        parts = self.open_parts
        order = np.argsort(self._part_who[parts], kind="stable")
        by = np.searchsorted(self._part_who[parts][order], np.arange(len(self.some) + 1))
        cells = self._part_cell[parts][order]
        return [np.union1d(self.cells[is_open[:, at]], cells[by[at] : by[at + 1]]) for at in range(len(self.some))]

    def spread(self) -> Iterator[None]:
        """Move cells, a linear program at a time, while that shows enough of them."""
        return self._spread_whole() if self.attacker.integral else self._spread_all()

    def _spread_whole(self) -> Iterator[None]:
        """Move some cells at a time by whole numbers, and as few others as it takes.

        A mixture of two tables is not whole, so that a solution shows nothing to whom it moves a cell that he knows.
        What a random half of the insiders know is held where it is each time.
        """
        attacker, random = self.attacker, np.random.Generator(np.random.PCG64(0))
        columns = np.flatnonzero(attacker.free)
        if not len(columns):
            return
        program, step = WholeMoves(attacker.system), draw_steps(len(columns), random)
        number = np.full(len(self.insiders.table), -1, dtype=np.int64)
        number[attacker.cells[columns]] = np.arange(len(columns))
        least, most = attacker.least[columns], attacker.most[columns]
        owner = self.insiders.owner[attacker.cells[columns]] - self.some.start
        owner[(owner < 0) | (owner >= len(self.some))] = -1
        left, idle = self._count_open(), 0
        for _ in range(MOST_WHOLE):
            cells, side, far = self._draw_some(number, program.size, random)
            if left == 0 or idle >= PATIENCE_OF_WHOLE or not len(cells):
                return
            targets = number[cells]
            held = (random.random(len(self.some) + 1) < 0.5) & (np.arange(len(self.some) + 1) < len(self.some))
            lo, hi = np.where(held[owner], 0.0, least), np.where(held[owner], 0.0, most)
            narrow = np.minimum(-lo, hi)
            # What goes as far up as down shows both, by itself and its mirror image.
            if idle % 2 == 0:
                lo, hi = -narrow, narrow.copy()
            lo[targets], hi[targets] = np.maximum(least[targets], -far), np.minimum(most[targets], far)
            gain = np.zeros(len(columns))
            gain[targets] = side / far
            for moved, amounts in program.together(gain, step, lo, hi):
                for direction in (amounts, -amounts):
                    if (direction >= least[moved]).all() and (direction <= most[moved]).all():
                        self._learn(attacker.cells[columns[moved]], direction)
            yield
            before, left = left, self._count_open()
            idle = idle + 1 if left > SLOW * before else 0

    def _draw_some(self, number: Ints, size: int, random: np.random.Generator) -> tuple[Ints, Floats, Floats]:
        """Cells to move at once: those rather of which much is open, with the side and how far."""
        count, n = self.open.sum(axis=2), len(self.insiders.table)
        open_of, far = np.zeros((2, n)), np.zeros((2, n))
        open_of[:, self.cells], far[:, self.cells] = count, np.where(count > 0, self.seek, 0.0)
        parts = np.flatnonzero(self.open_parts)
        np.add.at(open_of, (self._part_side[parts], self._part_cell[parts]), 1.0)
        np.maximum.at(far, (self._part_side[parts], self._part_cell[parts]), self.part_seek[parts])
        open_of[:, number < 0] = 0.0
        some = np.flatnonzero(open_of.any(axis=0))
        if len(some) > size:
            share = np.sqrt(open_of[:, some].sum(axis=0))
            some = np.sort(random.choice(some, size, replace=False, p=share / share.sum()))
        both = open_of[:, some]
        is_up = (both[0] > both[1]) | ((both[0] == both[1]) & (random.random(len(some)) < 0.5))
        return some, np.where(is_up, 1.0, -1.0), np.where(is_up, far[0, some], far[1, some])

    def _spread_all(self) -> Iterator[None]:
        """Move as many cells as possible at once, a linear program at a time, while that shows enough of them.

        Which cells are to move to which side is drawn anew each time, those first of which most is open; the cells
        that insiders know are drawn to the side that is lacking.
        """
        attacker, random = self.attacker, np.random.Generator(np.random.PCG64(0))
        system, columns = attacker.system, np.flatnonzero(attacker.free)
        if not len(columns):
            return
        number = np.full(len(self.insiders.table), -1, dtype=np.int64)
        number[attacker.cells[columns]] = np.arange(len(columns))
        program, method = _program_of(system), "ipm" if len(columns) >= LARGE else "simplex"
        least, most = attacker.least[columns], attacker.most[columns]
        narrow = np.minimum(-least, most)
        first = np.full(len(self.some), -1, dtype=np.int64)
        for at, insider in enumerate(self.some):
            there = number[self.insiders.known[insider]]
            first[at] = there[there >= 0][0] if (there >= 0).any() else -1
        shape = len(system.relations), len(system)
        matrix = csr_array((system.coefficients, system.columns, system.starts), shape=shape)
        left, idle = self._count_open(), 0
        for number_of in range(MOST_SPREADS):
            if left <= FEW_DOUBTS or idle >= PATIENCE:
                return
            goal = self._draw_goal(number, first, len(columns), random)
            wanted = np.abs(goal.far)
            # What goes as far up as down shows both by itself and its mirror image; some cells cannot go so far.
            is_mirrored = (wanted <= narrow * (1 + LEVEL)).all() or number_of % 3 < 2
            widest = REACH * max(1.0, float(wanted.max(initial=0.0)))
            low, high = (-narrow, narrow) if is_mirrored else (least, most)
            targeted = (wanted > 0) & (np.where(goal.far > 0, high, -low) >= wanted * (1 - LEVEL))
            low = np.where(targeted & (goal.far < 0), np.maximum(low, -wanted), np.maximum(low, -widest))
            high = np.where(targeted & (goal.far > 0), np.minimum(high, wanted), np.minimum(high, widest))
            program.change_bounds(low, high)
            program.change_costs(np.where(targeted, goal.weight, 0.0) + goal.pull)
            # One that takes long is left: the next one is another.
            status = program.solve((Way(method, "off", LP),), {Status.OPTIMAL})
            found = program.values if status is Status.OPTIMAL else np.zeros(len(columns))
            yield
            size, missed = float(np.abs(found).max(initial=0.0)), float(np.abs(matrix @ found).max(initial=0.0))
            if size > 0 and missed <= max(UNSEEN, ROUNDING * size):
                moved = np.flatnonzero(np.abs(found) > MOVED * size)
                for direction in (1.0, -1.0):
                    moves = direction * found[moved]
                    if (moves >= least[moved] - UNSEEN).all() and (moves <= most[moved] + UNSEEN).all():
                        self._learn(attacker.cells[columns[moved]], moves / attacker.scale)
            before, left = left, self._count_open()
            idle = idle + 1 if left > SLOW * before else 0

    def _count_open(self) -> int:
        """How many solutions are lacking: two for each doubt at most."""
        lacking = [int((self._asked & ~shown).sum()) for shown in self._with]
        return sum(lacking) + sum(int((self._part_asked & ~shown).sum()) for shown in self._part_with)

    def _draw_goal(self, number: Ints, first: Ints, n: int, random: np.random.Generator) -> _Goal:
        """Where a solution is to move cells, given the column of each cell and of what each insider knows first."""
        columns, scale = number[self.cells], self.attacker.scale
        able = columns >= 0
        is_open, parts = self.open, np.flatnonzero(self.open_parts & (number[self._part_cell] >= 0))
        side = np.where(random.random(len(self.cells)) < 0.5, 0, 1)
        # What is open on one side alone is moved there, unless the mirror image shows as much.
        counts = is_open.sum(axis=2)
        side = np.where((counts[0] == 0) != (counts[1] == 0), np.where(counts[0] == 0, 1, 0), side)
        count = counts.sum(axis=0)
        drawn = able & (count > 0) & (random.random(len(self.cells)) < DRAWN)
        turn = np.where(side == 0, 1.0, -1.0)
        far, heavy, pull = np.zeros(n), np.zeros(n), np.zeros(n)
        at = np.flatnonzero(drawn)
        far[columns[at]] = turn[at] * np.maximum(self.seek[side[at], at], self.seek[1 - side[at], at]) * scale
        heavy[columns[at]] = count[at]
        lacks = [is_open & ~shown for shown in self._with]
        wants = np.zeros(len(self.some))
        for which, sign in ((0, 1.0), (1, -1.0)):
            # What lacks a solution with the insider's cell up wants it up where the cell moves as it is to.
            along = np.where(turn == sign, 1.0, -1.0) * drawn
            wants += along @ lacks[0][which].astype(np.float64) - along @ lacks[1][which].astype(np.float64)
        if len(parts):
            chosen = parts[random.random(len(parts)) < DRAWN]
            places, signs = number[self._part_cell[chosen]], np.where(self._part_side[chosen] == 0, 1.0, -1.0)
            fresh = far[places] == 0
            far[places[fresh]] = signs[fresh] * self.part_seek[chosen[fresh]] * scale
            wider = np.abs(far[places]) < self.part_seek[chosen] * scale
            far[places[wider]] = np.sign(far[places[wider]]) * self.part_seek[chosen[wider]] * scale
            np.add.at(heavy, places, 1.0)
            along = np.sign(far[places]) * signs
            for shown, sign in zip(self._part_with, (1.0, -1.0), strict=True):
                np.add.at(wants, self._part_who[chosen], sign * along * ~shown[chosen])
        known = np.flatnonzero(first >= 0)
        sizes = np.full(n, np.median(np.abs(far[far != 0])) if (far != 0).any() else 1.0)
        sizes[columns[able]] = np.maximum(self.seek.max(axis=0)[able] * scale, np.finfo(np.float64).tiny)
        pull[first[known]] = np.sign(wants[known]) * PULL / sizes[first[known]]
        weight = np.zeros(n)
        targets = np.flatnonzero(far)
        typical = float(heavy[targets].mean()) if len(targets) else 1.0
        weight[targets] = np.sqrt(heavy[targets] / typical) / far[targets]
        return _Goal(far, weight, pull)

    def find_certain(self, at: int) -> Asked:
        """What the insider of a place knows for certain too closely, by what single relations tell him."""
        insider, table = self.some[at], self.insiders.table
        asked = self._all_asked(insider)
        if not len(asked.cells):
            return asked
        least, most = self.attacker.bounds_knowing(self.insiders.known[insider])
        columns = np.searchsorted(self.attacker.cells, asked.cells)
        own = _of(table, asked)
        levels = levels_of(own, secondaries=False, strict=self._strict)
        down, up = -least[columns] / self.attacker.scale, most[columns] / self.attacker.scale
        return asked.only(verdicts(own, levels, np.arange(len(columns)), down, up) != PROTECTED)

    def _all_asked(self, insider: int) -> Asked:
        cells = np.union1d(self._looked_at, self.insiders.taking_part(insider)).astype(np.int64)
        return self.insiders.asked(insider, cells[self.attacker.hidden[cells]])


class _Goal(NamedTuple):
    """What a solution is to move: how far each column, what a unit of that is worth, and of what is only drawn."""

    far: Floats
    weight: Floats
    pull: Floats


def _program_of(system: System) -> LinearProgram:
    """The deviations of a system as a linear program that ends soon, solved or not."""
    still = np.zeros(len(system.relations))
    return LinearProgram(
        cost=np.zeros(len(system)),
        lower=system.lo,
        upper=system.hi,
        row_lower=still,
        row_upper=still,
        matrix=Matrix(system.starts, system.columns, system.coefficients, by_rows=True),
        maximise=True,
        run_crossover="off",
        ipm_iteration_limit=MOST_ITERATIONS,
        # After interior points the simplex method may take what they have missed.
        simplex_iteration_limit=MOST_ITERATIONS if len(system) >= LARGE else 100 * MOST_ITERATIONS,
    )


def find_exposed(
    insiders: Insiders,
    hidden: Bools,
    cells: Ints,
    *,
    strict: bool,
    witness: Shown | None = None,
    is_brief: bool = False,
    most: int | None = None,
) -> Iterator[tuple[int, Asked] | None]:
    """Attack as all insiders: of each who can work out cells too closely these, with what is asked of them.

    What single relations tell an insider is found first. Of the rest solutions show most at once (`Shown`), and what is
    left gets linear programs of its own. In between None is given, after each piece of work.

    Parameters
    ----------
    insiders : Insiders
        The insiders.
    hidden : array of bool
        Which cells are not published.
    cells : array of int
        Unsafe cells of which an insider might know more than an outsider; those in which he has a part are looked at
        in any case.
    strict : bool
        Whether levels must be exceeded.
    witness : Shown, optional
        What was seen of the attack of an outsider; it begins with the first insiders.
    is_brief : bool
        Whether to leave it at what single relations tell.
    most : int, optional
        For how many insiders to solve linear programs of their own; what is in doubt of the others counts as exposed.
    """
    size, singles = _block(cells), 0
    for begin in range(0, len(insiders), size):
        some = slice(begin, begin + size)
        is_witnessed = witness is not None and begin == 0
        shown = witness if witness and is_witnessed else Shown(insiders, hidden, cells, strict=strict, some=some)
        shown.restrict(cells)
        found: list[Asked] = []
        for at, insider in enumerate(shown.some):
            found.append(shown.find_certain(at))
            shown.settle(insider, found[-1].cells)
            yield None
        if not is_brief:
            for _ in shown.spread():
                yield None
        for at, doubtful in enumerate([] if is_brief else shown.doubtful()):
            insider = shown.some[at]
            asked = insiders.asked(insider, doubtful)
            if len(asked.cells) and (most is None or singles < most):
                singles += 1
                asked = asked.only(find_short(insiders, insider, asked, hidden, strict=strict)[0])
                yield None
            if len(asked.cells):
                found[at] = insiders.asked(insider, np.union1d(found[at].cells, asked.cells))
        for at, asked in enumerate(found):
            if len(asked.cells):
                yield shown.some[at], asked


def shown_of(insiders: Insiders, hidden: Bools, cells: Ints, *, strict: bool) -> Shown:
    """A witness for the attack of an outsider, of the insiders that `find_exposed` begins with."""
    return Shown(insiders, hidden, cells, strict=strict, some=slice(0, _block(cells)))


def _block(cells: Ints) -> int:
    """How many insiders are looked at together."""
    return max(1, MOST_PAIRS // max(1, len(cells)))


def find_short(
    insiders: Insiders, insider: int, asked: Asked, hidden: Bools, *, strict: bool
) -> tuple[Bools, Floats, Floats]:
    """Which cells an insider knows too closely, and how far down and up each can go in his eyes, as far as sought."""
    table = insiders.table
    rest = hidden.copy()
    rest[insiders.known[insider]] = False
    attacker = Attacker(table, rest, whole=table.integral)
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
