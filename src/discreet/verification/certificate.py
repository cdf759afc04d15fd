"""Certificates: for each cell that is protected two tables that fit everything published, one low and one high.

A certificate lists moves away from the true table. Whoever holds the table can check it by additions alone: the moves
of each relation add up to nothing, no published cell moves, every cell stays within its bounds, and the cell that is
proven comes far enough. No solver is trusted. Moves are whole numbers of a small unit wherever the values are decimal,
so that the additions are exact. Where they are not, sums may miss nothing by a small part of the level of the cell that
is proven: no more than that would have to be moved elsewhere.

What leaves its bounds by rounding is no exception: the whole move, made a little shorter, is within, and counts so.

Every audit checks the moves of its attacker so, as they are made, whatever the size of the table (`Certifier`); they
are kept, as a `Certificate`, only if asked for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from discreet.attack.attacker import Reach
from discreet.attack.levels import Levels, levels_of, slack_of
from discreet.attack.proofs import Proofs
from discreet.attack.system import Bools, Floats, Ints
from discreet.data.checks import check_readable
from discreet.errors import InputError, PromiseNotKept
from discreet.tabular.files.formats import table_from
from discreet.tabular.table import PRIMARY, Table
from discreet.verification.exact_moves import common_denominator, make_exact
from discreet.verification.pattern import apply_pattern

SCHEMA = "discreet/certificate/1"
INTERNAL = "holds confidential differences; not for publication"
# The vertices of these systems mostly have coordinates with small denominators.
DENOMINATORS = (*range(1, 65), 2520)
# How far from a whole number what stands for one may be: whether it adds up is seen in any case.
NEARLY_WHOLE = 1e-4
# Whole numbers up to here are exact as doubles, and a decimal of so many digits is the only one its double stands for.
LARGEST_WHOLE, LARGEST_DECIMAL = 2.0**50, 1e15
# Parts of a unit in which it is counted how far cells go: vertices mostly lie at one. So many of the largest whole
# number are one of 64 bits.
FINE = 2520
# More than the rounding of a product of two doubles.
LAST_PLACES = 2.0**-50
# By what part a move has to be shortened at most to be within bounds: one that leaves them by more is wrong. Of moves
# that are added up as they are made it is less, and what they prove is taken to be shorter by as much.
SHORTENED, STRETCHED = Fraction(1, 10**9), 1e-12
# What a move that is not exact may miss relations by in all, in parts of the level that it proves.
UNBALANCED = Fraction(1, 10**6)


@dataclass(frozen=True, eq=False)
class Move:
    """A way to get from the true table to another one that looks the same to the public.

    Attributes
    ----------
    cells
        The cells that move.
    amounts
        How far, in parts of `unit`: whole numbers, unless the table is not decimal.
    unit
        Parts in one unit of the table; None for amounts in units of the table that are not exact.
    """

    cells: Ints
    amounts: list[int] | list[float]
    unit: int | None

    def by(self, cell: int) -> Fraction:
        """How far a cell moves, in units of the table."""
        at = np.flatnonzero(self.cells == cell)
        return Fraction(self.amounts[int(at[0])]) / (self.unit or 1) if len(at) else Fraction(0)


@dataclass(frozen=True, eq=False)
class Certificate:
    """Moves, and for each primary cell the two that protect it (−1 where nothing had to be shown)."""

    moves: list[Move]
    cells: Ints
    down: Ints
    up: Ints

    @property
    def exact(self) -> bool:
        """Whether every addition is exact."""
        return all(move.unit is not None for move in self.moves)

    @property
    def exactly(self) -> Ints:
        """The cells whose moves are exact."""
        is_exact = np.array([move.unit is not None for move in self.moves] + [True])
        cells: Ints = self.cells[is_exact[self.down] & is_exact[self.up]]
        return cells

    def joined(self, other: Certificate) -> Certificate:
        """This certificate with what another one shows, of cells of this one too."""
        kept = ~np.isin(self.cells, other.cells)
        cells = np.concatenate([self.cells[kept], other.cells])
        order = np.argsort(cells)
        later = [np.where(way >= 0, way + len(self.moves), -1) for way in (other.down, other.up)]
        down, up = np.concatenate([self.down[kept], later[0]]), np.concatenate([self.up[kept], later[1]])
        return _without_idle(Certificate([*self.moves, *other.moves], cells[order], down[order], up[order]))

    def as_dict(self) -> dict[str, Any]:
        """The certificate as it is written."""
        return {
            "internal": INTERNAL,
            "schema": SCHEMA,
            "moves": [
                {"unit": move.unit, "cells": move.cells.tolist(), "amounts": list(move.amounts)} for move in self.moves
            ],
            "proofs": [
                {"cell": cell, "down": down, "up": up}
                for cell, down, up in zip(self.cells.tolist(), self.down.tolist(), self.up.tolist(), strict=True)
            ],
        }

    def text(self) -> str:
        """The certificate as JSON."""
        return json.dumps(self.as_dict(), separators=(",", ":")) + "\n"


def read_certificate(content: Mapping[str, Any]) -> Certificate:
    """A certificate from what was written."""
    try:
        if content["schema"] != SCHEMA:
            raise ValueError
        moves = [_read_move(move["cells"], move["amounts"], move["unit"]) for move in content["moves"]]
        proofs = np.array([[p["cell"], p["down"], p["up"]] for p in content["proofs"]], np.int64).reshape(-1, 3)
        if ((proofs[:, 1:] < -1) | (proofs[:, 1:] >= len(moves))).any():
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"this is no certificate ({SCHEMA}); audit the table with --certificate to make one") from None
    return Certificate(moves, proofs[:, 0], proofs[:, 1], proofs[:, 2])


def _read_move(cells: list[Any], amounts: list[Any], unit: Any) -> Move:
    whole = all(type(amount) is int for amount in amounts)
    if len(cells) != len(amounts) or any(type(cell) is not int for cell in cells):
        raise ValueError
    if unit is None and not (whole or all(np.isfinite(float(amount)) for amount in amounts)):
        raise ValueError
    if unit is not None and not (whole and type(unit) is int and unit > 0):
        raise ValueError
    return Move(np.array(cells, np.int64), list(amounts), unit)


def recheck(
    table: Any, certificate: str | Path, *, pattern: Any = None, meta: Any = None, strict: bool = False
) -> tuple[int, list[str]]:
    """Check a certificate file against a table, by additions alone.

    Parameters
    ----------
    table, pattern, meta, strict
        As given to discreet.audit when the certificate was made.
    certificate : path
        The certificate.

    Returns
    -------
    cells : int
        How many primary cells there are.
    wrong : list of str
        What is wrong; empty if every primary cell is proven to be protected.
    """

    held, bare, _ = apply_pattern(table_from(table, meta), None if pattern is None else Path(pattern))
    held.check()
    if np.isnan(held.value).any():
        raise InputError(f"{held.source} does not hold the suppressed values, so no certificate can be checked")
    path = Path(certificate)
    check_readable(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError(f"{path.name} is no JSON file; audit the table with --certificate to make one") from None
    proof = read_certificate(content)
    wrong = [f"{held.name(int(cell))} is unsafe and published" for cell in np.flatnonzero(bare)]
    return len(held.primary), wrong + find_flaws(held, held.suppressed, proof, strict=strict)


def certificate_of(table: Table, reach: Reach, judged: Bools) -> Certificate:
    """Turn the solutions that an attacker was left with into moves.

    In a table of decimals they are exact; a cell whose solutions cannot be made so is left out.
    """
    proofs = reach.proofs
    if proofs.solutions is None:
        raise ValueError("the solutions were not kept")
    places = np.flatnonzero(judged)
    wanted = np.unique(np.concatenate([proofs.down_by[places], proofs.up_by[places]]))
    wanted = wanted[wanted >= 0]
    additions = Additions(table, table.suppressed)
    moves: list[Move] = []
    number: dict[int, int] = {}
    for solution in wanted.tolist():
        found = proofs.solutions[solution]
        move = _move(additions, reach.cells[found.columns], found.deviations, reach.scale)
        if move.unit is not None or not additions.is_exact:
            number[solution] = len(moves)
            moves.append(move)
    number[-1] = -1
    places = places[[down in number and up in number for down, up in _solutions(proofs, places)]]
    held = np.array([(number[down], number[up]) for down, up in _solutions(proofs, places)], np.int64).reshape(-1, 2)
    return Certificate(moves, reach.cells[places], held[:, 0], held[:, 1])


def _solutions(proofs: Proofs, places: Ints) -> list[tuple[int, int]]:
    """The solutions that bring each of some columns down, and up."""
    return list(zip(proofs.down_by[places].tolist(), proofs.up_by[places].tolist(), strict=True))


def _move(additions: Additions, cells: Ints, deviations: Floats, scale: float) -> Move:
    """Deviations in units of the last decimal as exact whole numbers of a part of it, if they are that."""
    found = additions.make_whole(cells, deviations)
    if found is not None:
        near, denominator = found
        kept = near != 0
        return Move(cells[kept], near[kept].tolist(), int(scale) * denominator)
    exact = make_exact(additions.table, cells, deviations, scale)
    if exact is None:
        return Move(cells, (deviations / scale).tolist(), None)
    common = math.lcm(*(move.denominator for move in exact))
    kept = np.array([move != 0 for move in exact])
    return Move(cells[kept], [int(move * common) for move in exact if move], int(scale) * common)


class Additions:
    """Sums of whole moves over the relations of a table, exact.

    Parameters
    ----------
    table : Table
        The table, with its values and bounds.
    hidden : array of bool
        Which cells are not published.
    """

    def __init__(self, table: Table, hidden: Bools) -> None:
        self.table = table
        relations = table.relations
        self._place = np.full(len(table), -1, dtype=np.int64)
        self.cells = np.flatnonzero(hidden)
        self._place[self.cells] = np.arange(len(self.cells))
        inside = hidden[relations.cells]
        coefficients = relations.coefficients[inside]
        whole = np.rint(coefficients)
        self.is_exact = table.decimals is not None and bool((whole == coefficients).all())
        self._largest = float(np.abs(whole).max(initial=1.0))
        entries = whole.astype(np.int64), (self._place[relations.cells[inside]], relations.rows[inside])
        self._relations = csr_array(entries, shape=(len(self.cells), len(relations)))

    def balance(self, starts: Ints, cells: Ints, amounts: Ints) -> Bools | None:
        """Which of some moves name hidden cells only, each once, and add up to nothing in every relation.

        None if that cannot be added up in whole numbers of 64 bits.
        """
        size = float(np.abs(amounts).max(initial=0)) * self._largest * float(np.diff(starts).max(initial=0))
        if not self.is_exact or size >= 2.0**62:
            return None
        count = len(starts) - 1
        places = self._place[cells]
        number = _owners(starts)
        fits = np.ones(count, dtype=np.bool_)
        fits[number[places < 0]] = False
        once = np.sort(number * len(self.table) + cells)
        fits[once[1:][once[1:] == once[:-1]] // len(self.table)] = False
        moves = csr_array((amounts, np.maximum(places, 0), starts), shape=(count, len(self.cells)))
        sums = moves @ self._relations
        fits[_owners(sums.indptr)[sums.data != 0]] = False
        return fits

    def make_whole(self, cells: Ints, deviations: Floats) -> tuple[Ints, int] | None:
        """Deviations as whole numbers of a part of a unit in which they add up to nothing, if there is one."""
        if not self.is_exact:
            return None
        for denominator in (*DENOMINATORS, common_denominator(deviations)):
            scaled = deviations * denominator
            near = np.rint(scaled)
            if np.abs(scaled - near).max(initial=0.0) > NEARLY_WHOLE or np.abs(near).max(initial=0.0) > LARGEST_WHOLE:
                continue
            amounts = near.astype(np.int64)
            fits = self.balance(np.array([0, len(cells)]), cells, amounts)
            if fits is not None and fits[0]:
                return amounts, denominator
        return None

    def room(self, scale: float, stretched: float = 0.0) -> tuple[Floats, Floats]:
        """By how many whole units of 1/scale each hidden cell may move down and up; nowhere if its value is not whole.

        What rounding leaves open is not used.

        Parameters
        ----------
        scale : float
            Parts in one unit of the table.
        stretched : float
            By what part of it a move may be too long.
        """
        table, cells = self.table, self.cells
        units, is_whole = _in_units(table.value[cells], scale)
        ends = [
            _ceil(bound, scale, stretched * _distance(bound * scale, side * units))
            for side, bound in ((1, table.lower[cells]), (-1, -table.upper[cells]))
        ]
        down, up = units - ends[0], -ends[1] - units
        return np.where(is_whole, np.maximum(down, 0.0), 0.0), np.where(is_whole, np.maximum(up, 0.0), 0.0)


def _distance(bound: Floats, value: Floats) -> Floats:
    return np.where(np.isfinite(bound), np.abs(np.where(np.isfinite(bound), bound, 0.0) - value), 0.0)


def _owners(starts: Ints) -> Ints:
    """The move to which each entry belongs."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _in_units(numbers: Floats, scale: float) -> tuple[Floats, Bools]:
    """Decimals in units of 1/scale, and which of them are whole numbers of it, exactly."""
    near = np.rint(numbers * scale)
    is_whole = (near / scale == numbers) & (np.abs(near) < LARGEST_DECIMAL)
    return near, is_whole


def _ceil(numbers: Floats, scale: float, slack: Floats) -> Floats:
    """The least whole number of units of 1/scale that decimals do not exceed by more than a slack, or the next one."""
    near, is_whole = _in_units(numbers, scale)
    scaled = numbers * scale
    safe = np.ceil(scaled - slack + LAST_PLACES * np.abs(np.where(np.isfinite(scaled), scaled, 0.0)))
    return np.where(is_whole, np.minimum(near, safe), safe)


class Certifier:
    """Adds up moves as an attacker makes them, and notes which cells they prove to be protected; keeps none.

    Parameters
    ----------
    table : Table
        The table, with its values and bounds.
    hidden : array of bool
        Which cells are not published.
    levels : Levels
        What is asked of each cell.
    """

    def __init__(self, table: Table, hidden: Bools, levels: Levels) -> None:
        self._additions = Additions(table, hidden)
        self._levels = levels
        self._judged = levels.judged & hidden
        self._scale: float | None = None
        # How far each cell is proven to go, in whole parts of units of 1/scale.
        self._down, self._up = np.zeros(len(table)), np.zeros(len(table))

    def show(self, starts: Ints, cells: Ints, deviations: Floats, scale: float) -> None:
        """See some moves; see `Witness`."""
        if self._scale is None:
            self._prepare(scale)
        if scale != self._scale:
            return
        useful = self._judged[cells] & (
            ((deviations > 0) & (self._up[cells] < self._aim_up[cells]))
            | ((deviations < 0) & (self._down[cells] < self._aim_down[cells]))
        )
        if not useful.any():
            return
        if len(starts) == 2:
            found = self._additions.make_whole(cells, deviations)
            if found is not None:
                self._learn(starts, cells, *found, np.ones(1, dtype=np.bool_))
            return
        amounts = np.where(np.abs(deviations) <= LARGEST_WHOLE, deviations, 0.0).astype(np.int64)
        fits = self._additions.balance(starts, cells, amounts)
        if fits is None:
            return
        is_whole = np.ones(len(fits), dtype=np.bool_)
        is_whole[_owners(starts)[amounts != deviations]] = False
        if (is_whole & ~fits).any():
            # Whole moves that do not add up are no rounding.
            source = self._additions.table.source
            raise PromiseNotKept(f"{source}: the attacker's moves do not stand their check, so they are refused")
        self._learn(starts, cells, amounts, 1, fits & is_whole)

    def is_open(self, cell: int, side: int) -> bool:
        """Whether a cell was not shown yet to go as far to a side as is asked; see `Certifying`."""
        if self._scale is None:
            return True
        far, aim = (self._up, self._aim_up) if side > 0 else (self._down, self._aim_down)
        return bool(far[cell] < aim[cell])

    def _prepare(self, scale: float) -> None:
        self._scale = scale
        table, levels = self._additions.table, self._levels
        self._room_down, self._room_up = np.zeros(len(table)), np.zeros(len(table))
        hidden = self._additions.cells
        # Where a level must be exceeded, be it by nothing, every little counts.
        stretched = 0.0 if levels.strict else STRETCHED
        self._room_down[hidden], self._room_up[hidden] = self._additions.room(scale, stretched)
        self._least_down, self._least_up, self._least_width = (
            np.maximum(_ceil((1 + stretched) * level, scale * FINE, 0.9 * slack * scale * FINE), 0.0)
            for level, slack in (
                (levels.down, levels.slack_down),
                (levels.up, levels.slack_up),
                (levels.width, levels.slack_width),
            )
        )
        if levels.strict:
            # The next part above the level; where none is asked, nothing is.
            asked = levels.down + levels.up > 0
            self._least_down, self._least_up = (
                np.where(asked, _ceil(level, scale * FINE, 0.0 * level) + _in_units(level, scale * FINE)[1], 0.0)
                for level in (levels.down, levels.up)
            )
        wide = self._least_width > self._least_down + self._least_up
        self._aim_down, self._aim_up = (
            np.where(wide, np.maximum(least, self._least_width), least) for least in (self._least_down, self._least_up)
        )

    def _learn(self, starts: Ints, cells: Ints, amounts: Ints, denominator: int, fits: Bools) -> None:
        """Note how far moves that add up bring their cells, if all of these stay within their bounds."""
        owner = _owners(starts)
        beyond = (amounts > self._room_up[cells] * denominator) | (-amounts > self._room_down[cells] * denominator)
        fits[owner[beyond]] = False
        kept = fits[owner]
        np.maximum.at(self._up, cells[kept], amounts[kept] * FINE // denominator)
        np.maximum.at(self._down, cells[kept], -amounts[kept] * FINE // denominator)

    @property
    def certified(self) -> Bools:
        """Which cells of the table are proven to be protected."""
        if self._scale is None:
            return np.zeros(len(self._judged), dtype=np.bool_)
        enough = (self._down >= self._least_down) & (self._up >= self._least_up)
        return self._judged & enough & (self._down + self._up >= self._least_width)


def find_flaws(
    table: Table, hidden: Bools, certificate: Certificate, *, cells: Ints | None = None, strict: bool = False
) -> list[str]:
    """Check a certificate by additions alone, and say what is wrong with it; an empty list if nothing is.

    Parameters
    ----------
    table : Table
        The table, with its levels and bounds.
    hidden : array of bool
        Which cells are not published.
    certificate : Certificate
        The certificate.
    cells : array of int, optional
        The cells that must be shown to be protected; every primary cell by default.
    strict : bool
        Whether a level must be exceeded, and not just reached.
    """
    demanded = np.flatnonzero(table.status == PRIMARY) if cells is None else cells
    moves, proofs = _find_flaws(table, hidden, certificate, demanded, strict=strict)
    return [f"move {number}: {why}" for number, why in moves.items()] + [
        f"{table.name(cell)}: {why}" for cell, why in proofs
    ]


def keep_proven(table: Table, hidden: Bools, certificate: Certificate, *, strict: bool = False) -> Certificate:
    """The certificate without the cells that it does not prove; refused if an exact move is none.

    Parameters
    ----------
    table, hidden, certificate, strict
        As in `find_flaws`.
    """
    moves, proofs = _find_flaws(table, hidden, certificate, certificate.cells, strict=strict)
    for number, why in moves.items():
        if certificate.moves[number].unit is not None:
            raise PromiseNotKept(f"{table.source}: the certificate does not stand its check, so it is refused: {why}")
    kept = ~np.isin(certificate.cells, [cell for cell, _ in proofs])
    return _without_idle(
        Certificate(certificate.moves, certificate.cells[kept], certificate.down[kept], certificate.up[kept])
    )


def _without_idle(certificate: Certificate) -> Certificate:
    """The certificate without moves that prove nothing."""
    used = np.unique(np.concatenate([certificate.down, certificate.up]))
    used = used[used >= 0]
    number = np.full(len(certificate.moves) + 1, -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    moves = [certificate.moves[at] for at in used.tolist()]
    return Certificate(moves, certificate.cells, number[certificate.down], number[certificate.up])


def _find_flaws(
    table: Table, hidden: Bools, certificate: Certificate, cells: Ints, *, strict: bool
) -> tuple[dict[int, str], list[tuple[int, str]]]:
    """What is wrong with moves, and with what they are to prove of cells."""
    moves: dict[int, str] = {}
    # What part of each move is within bounds, and by how much it misses the relations.
    part, missed = [Fraction(1)] * len(certificate.moves), [Fraction(0)] * len(certificate.moves)
    additions = Additions(table, hidden)
    for number in np.flatnonzero(~_stand(additions, certificate.moves)).tolist():
        why, part[number], missed[number] = _weigh(additions, hidden, certificate.moves[number])
        if why:
            moves[number] = why

    width = levels_of(table, secondaries=False, strict=strict).width
    shown = dict(zip(certificate.cells.tolist(), range(len(certificate.cells)), strict=True))
    proofs: list[tuple[int, str]] = []
    for cell in cells.tolist():
        if cell not in shown:
            proofs.append((cell, "nothing is shown"))
            continue
        down, up = int(certificate.down[shown[cell]]), int(certificate.up[shown[cell]])
        low, high = (
            Fraction(0) if number < 0 else part[number] * certificate.moves[number].by(cell) for number in (down, up)
        )
        off_low, off_high = (Fraction(0) if number < 0 else missed[number] for number in (down, up))
        for words, far, off, asked in (
            ("down", -low, off_low, table.lpl[cell]),
            ("up", high, off_high, table.upl[cell]),
            ("in all", high - low, off_low + off_high, width[cell]),
        ):
            level = _exact(asked)
            # In exact arithmetic a strict level leaves no tolerance, on either side; where none is asked, none is.
            exceeded = strict and words != "in all" and table.lpl[cell] + table.upl[cell] > 0
            slack = Fraction(float(slack_of(table.value[[cell]], np.array([asked]), table.decimals)[0]))
            if level > 0 and off > UNBALANCED * level:
                proofs.append((cell, f"what moves it {words} does not add up"))
            elif (exceeded and far - off <= level) or far - off < level - slack:
                proofs.append((cell, f"does not come far enough {words}"))
    return moves, proofs


def _stand(additions: Additions, moves: list[Move]) -> Bools:
    """Which moves are surely right: exact, balanced and within bounds; the others have to be looked at one by one."""
    table = additions.table
    found = np.zeros(len(moves), dtype=np.bool_)
    by_unit: dict[int, list[int]] = {}
    for number, move in enumerate(moves):
        inside = ((move.cells >= 0) & (move.cells < len(table))).all()
        if move.unit is not None and inside and max(map(abs, move.amounts), default=0) <= LARGEST_WHOLE:
            by_unit.setdefault(move.unit, []).append(number)
    for unit, numbers in by_unit.items():
        starts = np.concatenate([[0], np.cumsum([len(moves[number].cells) for number in numbers])])
        cells = np.concatenate([moves[number].cells for number in numbers])
        amounts = np.concatenate([np.array(moves[number].amounts, dtype=np.int64) for number in numbers])
        fits = additions.balance(starts, cells, amounts)
        if fits is None:
            continue
        down, up = (np.zeros(len(table)) for _ in range(2))
        down[additions.cells], up[additions.cells] = additions.room(float(unit))
        fits[_owners(starts)[(amounts > up[cells]) | (-amounts > down[cells])]] = False
        found[numbers] = fits
    return found


def _exact(number: float) -> Fraction:
    """A number as the decimal that it stands for."""
    return Fraction(repr(float(number)))


def _weigh(additions: Additions, hidden: Bools, move: Move) -> tuple[str, Fraction, Fraction]:
    """What is wrong with a move, what part of it is within bounds, and by how much it misses the relations in all."""
    table = additions.table
    starts, relations, coefficients = table.relations.by_cell
    cells = move.cells.tolist()
    part, nothing = Fraction(1), Fraction(0)
    if len(set(cells)) < len(cells) or any(not 0 <= cell < len(table) for cell in cells):
        return "it names a cell twice, or one that is not there", nothing, nothing
    if move.unit is None and additions.is_exact:
        return "it is not in whole parts of a unit, as moves of a table of decimals must be", nothing, nothing
    sums: dict[int, Fraction] = {}
    for cell, amount in zip(cells, move.amounts, strict=True):
        if amount == 0:
            continue
        if not hidden[cell]:
            return f"{table.name(cell)} is published, and cannot move", nothing, nothing
        exact = Fraction(amount) / (move.unit or 1)
        bound = float((table.upper if exact > 0 else table.lower)[cell])
        if np.isfinite(bound):
            room = max(nothing, (1 if exact > 0 else -1) * (_exact(bound) - _exact(table.value[cell])))
            part = min(part, room / abs(exact))
        if part < 1 - SHORTENED:
            return f"{table.name(cell)} leaves its bounds", nothing, nothing
        for entry in range(starts[cell], starts[cell + 1]):
            row = int(relations[entry])
            sums[row] = sums.get(row, nothing) + Fraction(coefficients[entry]) * exact
    if move.unit is not None:
        for row, total in sums.items():
            if total != 0:
                return f"{table.relation_name(row)} does not add up", nothing, nothing
    return "", part, sum((abs(total) for total in sums.values()), nothing)
