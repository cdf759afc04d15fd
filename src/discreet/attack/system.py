"""What an attacker faces: the suppressed cells, the relations that are left between them, and how far each may move.

What follows by elimination alone needs no solver: a sum with one unknown gives it away. Systems in which every cell is
an arc between two relations are networks: how far a cell moves is a maximum flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from discreet.kernels.flows.circulation import adjacency, circulation, orient, widest
from discreet.kernels.propagation import unpick as eliminate
from discreet.solvers.tolerances import ROUNDING, WHOLE
from discreet.tabular.relations import Relations, build_relations
from discreet.tabular.table import PRIMARY, Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class System:
    """Deviations d of suppressed cells from a table that fits everything published: M d = 0, lo ≤ d ≤ hi.

    Columns are suppressed cells, rows the relations that name any of them.

    Attributes
    ----------
    cells
        The cell of the table that each column is.
    relations
        The relation of the table that each row is.
    starts, columns, coefficients
        The entries of each row.
    by_starts, by_rows, by_coefficients
        The entries of each column.
    lo, hi
        How far each may move; lo ≤ 0 ≤ hi.
    """

    cells: Ints
    relations: Ints
    starts: Ints
    columns: Ints
    coefficients: Floats
    by_starts: Ints
    by_rows: Ints
    by_coefficients: Floats
    lo: Floats
    hi: Floats

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def widest(self) -> float:
        """How far a column may move at most, of those that may not move for ever."""
        room = np.concatenate([-self.lo, self.hi])
        return float(room[np.isfinite(room)].max(initial=0.0))

    @cached_property
    def components(self) -> tuple[int, Ints]:
        """How many parts the system falls into, and the part of each column."""

        n, m = len(self.cells), len(self.relations)
        rows = np.repeat(np.arange(m), np.diff(self.starts))
        graph = coo_array((np.ones(len(rows), np.int8), (rows + n, self.columns)), shape=(n + m, n + m))
        count, labels = connected_components(graph, directed=False)
        return count, labels[:n].astype(np.int64)

    def part(self, keep: Bools) -> System:
        """The system of some of the columns, the others staying where they are."""
        number = np.cumsum(keep) - 1
        rows = np.repeat(np.arange(len(self.relations)), np.diff(self.starts))
        inside = keep[self.columns]
        return _system(
            rows[inside],
            number[self.columns[inside]],
            self.coefficients[inside],
            self.relations,
            self.cells[keep],
            self.lo[keep],
            self.hi[keep],
        )

    def only(self, rows: Ints, entries: Bools) -> System:
        """The system with some of the entries, given the row of each; rows without any go."""
        kept = rows[entries], self.columns[entries], self.coefficients[entries]
        return _system(*kept, self.relations, self.cells, self.lo, self.hi)

    def within(self, lo: Floats, hi: Floats) -> System:
        """The same system with other bounds."""
        return System(
            self.cells,
            self.relations,
            self.starts,
            self.columns,
            self.coefficients,
            self.by_starts,
            self.by_rows,
            self.by_coefficients,
            lo,
            hi,
        )


def system_of(table: Table, hidden: Bools, centre: Floats | None = None, *, implied: bool = False) -> System:
    """The system that is left where only some cells of a table are hidden.

    Parameters
    ----------
    table : Table
        The table.
    hidden : array of bool
        Which cells are not published.
    centre : array of float, optional
        A table that fits what is published, from which deviations count; the true values by default.
    implied : bool
        Whether to keep relations that follow from others: they help to eliminate, and hinder a solver.
    """
    value = table.value if centre is None else centre
    cells = np.flatnonzero(hidden)
    number = np.full(len(table), -1, dtype=np.int64)
    number[cells] = np.arange(len(cells))
    relations: Relations = table.relations
    # What counts nothing in a relation is not in it.
    inside = hidden[relations.cells] & (relations.coefficients != 0)
    if not implied and relations.implied is not None:
        inside &= ~relations.implied[relations.rows]
    # A value may lie outside its bounds by the last bit.
    lo = np.minimum(table.lower[cells] - value[cells], 0.0)
    hi = np.maximum(table.upper[cells] - value[cells], 0.0)
    return _system(
        relations.rows[inside].astype(np.int64),
        number[relations.cells[inside]],
        relations.coefficients[inside],
        np.arange(len(relations), dtype=np.int64),
        cells,
        lo,
        hi,
    )


def to_units(amounts: Floats, scale: float) -> Floats:
    """Amounts in units of the last decimal; those that are whole numbers of them but for rounding, exactly."""
    scaled = amounts * scale
    finite = np.isfinite(scaled)
    near = np.where(finite, np.rint(scaled), 0.0)
    return np.where(finite & (np.abs(scaled - near) <= WHOLE * np.maximum(1.0, np.abs(scaled))), near, scaled)


def _system(
    rows: Ints, columns: Ints, coefficients: Floats, relations: Ints, cells: Ints, lo: Floats, hi: Floats
) -> System:
    """A system from entries sorted by row; rows without entries go."""
    counts = np.bincount(rows, minlength=len(relations))
    used = np.flatnonzero(counts)
    renumbered = np.cumsum(counts > 0) - 1
    rows = renumbered[rows]
    starts = np.concatenate([[0], np.cumsum(counts[used])]).astype(np.int64)
    order = np.argsort(columns, kind="stable")
    by_starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=len(cells)))]).astype(np.int64)
    return System(
        cells,
        relations[used],
        starts,
        np.ascontiguousarray(columns),
        np.ascontiguousarray(coefficients),
        by_starts,
        rows[order],
        coefficients[order],
        lo,
        hi,
    )


def unpick(table: Table, hidden: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Find the suppressed cells that anybody can work out by subtraction, without a solver.

    Parameters
    ----------
    table : Table
        The table.
    hidden : array of bool, optional
        Which cells are not published; the suppressed ones of the table by default.

    Returns
    -------
    array of int
        The cells, in the order in which they follow from each other.
    """
    suppressed = table.suppressed if hidden is None else np.ascontiguousarray(hidden, dtype=np.bool_)
    held = table.relations
    if not held.coefficients.all():
        # A cell that counts for nothing in a relation is not part of it.
        counting = held.coefficients != 0
        held = build_relations(held.rows[counting], held.cells[counting], held.coefficients[counting], held.rhs, held.n)
    starts, relations, _ = held.by_cell
    return eliminate(held.starts, held.cells, starts, relations, suppressed)


def exposed_primaries(table: Table) -> NDArray[np.int64]:
    """The primary cells that follow by elimination where nothing but primary cells is suppressed.

    This is K_u of Smith and others (2012, section VII): a stand-in, found without a solver, for the primary cells that
    need secondary ones.
    """

    return np.sort(unpick(table, table.status == PRIMARY))


class Network:
    """The columns of a system of which every component is a network.

    Parameters
    ----------
    system : System
        The system.
    signs : array of int
        1 or −1 for each row, which make every column leave one row and enter another.
    """

    def __init__(self, system: System, signs: Ints) -> None:
        self.system = system
        self._signs = signs
        self._ends = ends_of(system, signs)
        self._around = adjacency(*self._ends, len(system.relations) + 1)
        room = np.concatenate([system.hi, -system.lo])
        self._tolerance = ROUNDING * float(room[np.isfinite(room)].max(initial=1.0))
        whole = (np.rint(room) == room) | np.isinf(room)
        if whole.all():
            self._tolerance = 0.0

    def reach(
        self, columns: Ints, side: int, limits: Floats, *, listed: bool = False
    ) -> tuple[Floats, Ints, Ints, Floats]:
        """How far each of some columns can go to one side, as far as its limit; listed, the deviations that show it."""
        tail, head = self._ends
        lo, hi = self.system.lo, self.system.hi
        return widest(tail, head, lo, hi, *self._around, columns, side, limits, self._tolerance, listed)

    def solution(self, column: int, side: int, limit: float) -> Floats:
        """Deviations of all columns that bring one as far as it can go, or as its limit."""
        tail, head = self._ends
        lo, hi = self.system.lo, self.system.hi
        return circulation(tail, head, lo, hi, *self._around, column, side, limit, self._tolerance)

    def cut(self, column: int, side: int, limit: float) -> Floats:
        """A price for each relation that shows why a column goes no further: of those behind a least cut."""
        tail, head = self._ends
        moved = self.solution(column, side, limit)
        onward, back = moved < self.system.hi, moved > self.system.lo
        onward[column] = back[column] = False
        size = len(self.system.relations) + 1
        starts, ends = np.concatenate([tail[onward], head[back]]), np.concatenate([head[onward], tail[back]])
        graph = coo_array((np.ones(len(starts), np.int8), (starts, ends)), shape=(size, size)).tocsr()
        begin = int((head if side > 0 else tail)[column])
        behind = np.zeros(size)
        behind[breadth_first_order(graph, begin, return_predecessors=False)] = 1.0
        # The ground, which no relation is, has no price.
        prices: Floats = (behind - behind[-1])[:-1] * self._signs
        return prices


def ends_of(system: System, signs: Ints) -> tuple[Ints, Ints]:
    """The relation that each column leaves and the one it enters; one more than there are stands for none."""
    ground = len(system.relations)
    turned = system.by_coefficients * signs[system.by_rows]
    columns = np.repeat(np.arange(len(system)), np.diff(system.by_starts))
    tail, head = np.full(len(system), ground), np.full(len(system), ground)
    tail[columns[turned < 0]] = system.by_rows[turned < 0]
    head[columns[turned > 0]] = system.by_rows[turned > 0]
    return tail, head


def networks(system: System) -> tuple[Bools, Ints]:
    """Which columns belong to a component that is a network, and the signs of rows that make it one."""
    count, component = system.components
    signs, found = orient(
        system.starts, system.columns, system.by_starts, system.by_rows, system.by_coefficients, component, count
    )
    return found[component], signs
