"""The certificate of an audit: for each primary cell two tables that fit everything published, one low and one high.

A certificate lists moves away from the true table. Whoever holds the table can check it by additions alone: the moves
of each relation add up to nothing, no published cell moves, every cell stays within its bounds, and the primary cell
comes far enough. No solver is trusted. Moves are whole numbers of a small unit wherever the values are decimal, so that
the additions are exact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attack.attacker import Reach
from discreet.attack.levels import levels_of
from discreet.attack.system import Bools, Floats, Ints
from discreet.data.checks import check_readable
from discreet.errors import InputError
from discreet.tabular.files.formats import table_from
from discreet.tabular.table import PRIMARY, Table
from discreet.verification.pattern import patterned

SCHEMA = "discreet/certificate/1"
INTERNAL = "holds confidential differences; not for publication"
# The corners of these systems have coordinates with small denominators; one that has not is certified approximately.
DENOMINATORS = (*range(1, 65), 2520)
TOLERANCE = 1e-9


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

    held, bare, _ = patterned(table_from(table, meta), None if pattern is None else Path(pattern))
    held.check()
    if np.isnan(held.value).any():
        raise InputError(f"{held.source} does not hold the suppressed values, so no certificate can be checked")
    path = Path(certificate)
    check_readable(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(f"{path.name} is no JSON file; audit the table with --certificate to make one") from None
    proof = read_certificate(content)
    wrong = [f"{held.name(int(cell))} is unsafe and published" for cell in np.flatnonzero(bare)]
    return len(held.primary), wrong + refuted(held, held.suppressed, proof, strict=strict)


def certificate_of(table: Table, reach: Reach, judged: Bools) -> Certificate:
    """Turn the solutions that an attacker was left with into moves, exact where that can be."""
    proofs = reach.proofs
    if proofs.solutions is None:
        raise ValueError("the solutions were not kept")
    places = np.flatnonzero(judged)
    wanted = np.unique(np.concatenate([proofs.down_by[places], proofs.up_by[places]]))
    wanted = wanted[wanted >= 0]
    moves: list[Move] = []
    number: dict[int, int] = {}
    for solution in wanted.tolist():
        found = proofs.solutions[solution]
        number[solution] = len(moves)
        moves.append(_move(table, reach.cells[found.columns], found.deviations, reach.scale))
    number[-1] = -1
    down = np.array([number[s] for s in proofs.down_by[places].tolist()], np.int64)
    up = np.array([number[s] for s in proofs.up_by[places].tolist()], np.int64)
    return Certificate(moves, reach.cells[places], down, up)


def _move(table: Table, cells: Ints, deviations: Floats, scale: float) -> Move:
    """Deviations in units of the last decimal as exact whole numbers of a part of it, if they are that."""
    if table.decimals is not None:
        for denominator in DENOMINATORS:
            scaled = deviations * denominator
            near = np.rint(scaled)
            if np.abs(scaled - near).max(initial=0.0) > 1e-4 or np.abs(near).max(initial=0.0) > 2.0**50:
                continue
            if _balanced(table, cells, near):
                kept = near != 0
                return Move(cells[kept], [int(x) for x in near[kept].tolist()], int(scale) * denominator)
    return Move(cells, (deviations / scale).tolist(), None)


def _balanced(table: Table, cells: Ints, amounts: Floats) -> bool:
    """Whether whole numbers add up to nothing in every relation; doubles hold them exactly."""
    sums: dict[int, float] = {}
    starts, relations, coefficients = table.relations.by_cell
    for cell, amount in zip(cells.tolist(), amounts.tolist(), strict=True):
        for entry in range(starts[cell], starts[cell + 1]):
            row = int(relations[entry])
            sums[row] = sums.get(row, 0.0) + coefficients[entry] * amount
    return not any(sums.values())


def refuted(
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
    wrong = []
    for number, move in enumerate(certificate.moves):
        why = _wrong_move(table, hidden, move)
        if why:
            wrong.append(f"move {number}: {why}")

    width = levels_of(table, secondaries=False, strict=strict).width
    shown = dict(zip(certificate.cells.tolist(), range(len(certificate.cells)), strict=True))
    demanded = np.flatnonzero(table.status == PRIMARY) if cells is None else cells
    for cell in demanded.tolist():
        if cell not in shown:
            wrong.append(f"{table.name(cell)}: nothing is shown")
            continue
        at = shown[cell]
        low = _moved(certificate, int(certificate.down[at]), cell)
        high = _moved(certificate, int(certificate.up[at]), cell)
        slack = Fraction(TOLERANCE) * max(Fraction(1), abs(_exact(table.value[cell])))
        for words, far, level in (
            ("down", -low, _exact(table.lpl[cell])),
            ("up", high, _exact(table.upl[cell])),
            ("in all", high - low, _exact(width[cell])),
        ):
            # In exact arithmetic a strict level leaves no tolerance, on either side; where none is asked, none is.
            exceeded = strict and words != "in all" and table.lpl[cell] + table.upl[cell] > 0
            if (exceeded and far <= level) or far < level - slack:
                wrong.append(f"{table.name(cell)}: does not come far enough {words}")
    return wrong


def _exact(number: float) -> Fraction:
    """A number as the decimal that it stands for."""
    return Fraction(repr(float(number)))


def _moved(certificate: Certificate, number: int, cell: int) -> Fraction:
    return Fraction(0) if number < 0 else certificate.moves[number].by(cell)


def _wrong_move(table: Table, hidden: Bools, move: Move) -> str:
    starts, relations, coefficients = table.relations.by_cell
    cells = move.cells.tolist()
    if len(set(cells)) < len(cells) or any(not 0 <= cell < len(table) for cell in cells):
        return "it names a cell twice, or one that is not there"
    sums: dict[int, Fraction] = {}
    size: dict[int, float] = {}
    for cell, amount in zip(cells, move.amounts, strict=True):
        if amount == 0:
            continue
        if not hidden[cell]:
            return f"{table.name(cell)} is published, and cannot move"
        exact = Fraction(amount) / (move.unit or 1)
        value = _exact(table.value[cell])
        slack = Fraction(TOLERANCE) * max(Fraction(1), abs(value))
        lower, upper = float(table.lower[cell]), float(table.upper[cell])
        if (lower > -np.inf and value + exact < _exact(lower) - slack) or (
            upper < np.inf and value + exact > _exact(upper) + slack
        ):
            return f"{table.name(cell)} leaves its bounds"
        for entry in range(starts[cell], starts[cell + 1]):
            row = int(relations[entry])
            sums[row] = sums.get(row, Fraction(0)) + Fraction(coefficients[entry]) * Fraction(amount)
            size[row] = max(size.get(row, 0.0), abs(amount))
    for row, total in sums.items():
        if total != 0 and (move.unit is not None or abs(total) > 1e-7 * max(1.0, size[row])):
            return f"{table.relation_name(row)} does not add up"
    return ""
