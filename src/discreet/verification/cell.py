"""One cell of a table: why it is suppressed, how closely an attacker can know it, and what relies on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from discreet.attack.attacker import Attacker
from discreet.attack.insiders import insiders_of
from discreet.attack.system import Bools
from discreet.tabular.table import PRIMARY, SAFE, Table
from discreet.text import count, entry
from discreet.verification.audit import audit
from discreet.verification.pattern import centre_of

STATUSES = ("safe", "unsafe", "suppressed to protect others", "empty or fixed")
# So many names of cells are told.
MOST_NAMES = 8

Interval = tuple[float, float]


@dataclass(frozen=True)
class CellAccount:
    """All that is known of a cell; internal.

    Attributes
    ----------
    name
        Its codes.
    value, contributors
        What would be published, and of how many it is made; None if that is not known.
    status
        Safe, unsafe, suppressed to protect others, or empty or fixed.
    rules
        The rules that found it unsafe.
    required
        The interval that an attacker must think possible; None if nothing is asked.
    required_width
        Over what range in all; 0 if nothing is asked.
    feasible
        The interval that an attacker must think possible, as things are; None of a cell that is published.
    protects
        The unsafe cells that would no longer be protected if this one were published: their protection relies on it.
    """

    name: str
    value: float | None
    contributors: float | None
    status: str
    rules: tuple[str, ...]
    required: Interval | None
    required_width: float
    feasible: Interval | None = None
    protects: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All of it, for a program; an end that is not there is None."""
        feasible = None if self.feasible is None else [end if np.isfinite(end) else None for end in self.feasible]
        return asdict(self) | {"feasible": feasible}

    def summary(self) -> str:
        """All of it in words."""
        who = "" if self.contributors is None else f" of {count(round(self.contributors), 'contributor')}"
        value = "not known" if self.value is None else f"{self.value:,.10g}"
        lines = [*entry("Cell", f"{self.name}: {value}{who}, {self.status}")]
        if self.rules:
            lines += entry("Found by", ", ".join(self.rules))
        if self.required is not None:
            lines += entry("Required", f"{self.required[0]:,.10g} to {self.required[1]:,.10g}")
        if self.required_width:
            lines += entry("Required", f"a range of {self.required_width:,.10g}")
        if self.feasible is not None:
            lines += entry("Attacker", f"{self.feasible[0]:,.10g} to {self.feasible[1]:,.10g}")
            lines += entry("Protects", self.describe_protected())
        return "\n".join(lines)

    def describe_protected(self) -> str:
        """What relies on it, in words."""
        if not self.protects:
            return "no other unsafe cell relies on this one alone"
        more = len(self.protects) - MOST_NAMES
        return "; ".join(self.protects[:MOST_NAMES]) + (f"; and {more:,} more" if more > 0 else "")


def describe_cell(table: Table, cell: int) -> CellAccount:
    """What a table says of a cell, without an attack.

    Parameters
    ----------
    table : Table
        The table, with its unsafe and its secondary cells.
    cell : int
        The number of the cell.
    """
    value, words = table.value[cell], table.rule_words()[cell]
    asked = table.lpl[cell] > 0 or table.upl[cell] > 0
    return CellAccount(
        table.name(cell),
        None if np.isnan(value) else float(value),
        None if table.count is None else float(table.count[cell]),
        STATUSES[int(table.status[cell])],
        tuple(str(words).split("+")) if words else (),
        (float(value - table.lpl[cell]), float(value + table.upl[cell])) if asked else None,
        float(table.spl[cell]),
    )


def explain_cell(table: Table, cell: int, *, strict: bool = False, singletons: bool | None = None) -> CellAccount:
    """Tell of a cell what a table says, what an attacker can work out, and which unsafe cells rely on it.

    Parameters
    ----------
    table : Table
        The table, with its unsafe and its secondary cells.
    cell : int
        The number of the cell.
    strict : bool
        Whether levels must be exceeded, and not just reached.
    singletons : bool, optional
        Whether sole contributors attack too; by default where the table says who they are.
    """
    known = describe_cell(table, cell)
    if not table.suppressed[cell]:
        return known
    attacker = Attacker(table, table.suppressed, centre_of(table))
    mine = _beside(attacker, cell)
    reliant: tuple[str, ...] = ()
    if not np.isnan(table.value[mine]).any():
        if singletons is None:
            singletons = insiders_of(table) is not None
        reliant = _find_reliant(table, cell, mine, strict=strict, singletons=singletons)
    return replace(known, feasible=_attack(attacker, cell), protects=reliant)


def _attack(attacker: Attacker, cell: int) -> Interval:
    """The least and the largest value of a suppressed cell that fit what is published."""
    wanted = np.where(attacker.cells == cell, np.inf, 0.0)
    reach = attacker.reach(wanted, wanted)
    at = int(np.searchsorted(attacker.cells, cell))
    centre = float(attacker.centre[cell])
    return centre - float(reach.down[at]), centre + float(reach.up[at])


def _beside(attacker: Attacker, cell: int) -> Bools:
    """The suppressed cells that can move together with a cell; those that cannot, its publication does not touch."""
    inside = np.zeros(len(attacker.table), dtype=np.bool_)
    inside[cell] = True
    cells = attacker.system.cells
    if cell in cells:
        _, part = attacker.system.components
        inside[cells[part == part[np.searchsorted(cells, cell)]]] = True
    return inside


def _find_reliant(table: Table, cell: int, mine: Bools, *, strict: bool, singletons: bool) -> tuple[str, ...]:
    """The unsafe cells whose requirements break if a cell is published, of those it can move together with."""
    alone = np.where(table.suppressed & ~mine, SAFE, table.status).astype(np.uint8)
    opened = alone.copy()
    opened[cell] = SAFE
    if not (opened == PRIMARY).any():
        return ()
    broken = _find_broken(table.but(status=opened), strict=strict, singletons=singletons)
    if broken:
        broken -= _find_broken(table.but(status=alone), strict=strict, singletons=singletons)
    return tuple(table.name(one) for one in sorted(broken))


def _find_broken(table: Table, *, strict: bool, singletons: bool) -> set[int]:
    """The unsafe cells that somebody can work out too closely."""
    found = audit(table, strict=strict, singletons=singletons)
    inside = (cells.tolist() for _, cells in found.insiders or ())
    return set(found.failed.tolist()).union(*inside)
