"""A safe pattern of a large table of three dimensions by flows: slices in pairs, one moving against the other.

Hold one flat axis. The slices of two of its codes, moved by the same amounts against each other (alike, if one is the
total), leave every sum along that axis as it was; within a slice the two other axes form a network. So a flow in which
each arc is a pair of cells protects what is in either slice, and parts where a box would ask one cell for everything.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.attack.system import Bools, Floats, Ints, networks, system_of
from discreet.tables.suppression.boxes import Boxes, Branches
from discreet.tables.suppression.certificates import Certificates
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import NOTHING, Problem

# With how many slices of other parts a part is paired, the costliest first, before the total.
PARTNERS = 3
# What a pair of cells costs at least that are suppressed already.
LEAST_WEIGHT = 1e-3


class PairedSlices:
    """A pattern of a problem by pairs of slices, made pair by pair.

    Parameters
    ----------
    problem : Problem
        The problem.

    Attributes
    ----------
    usable
        Whether the table has three dimensions, a flat one to hold among them, and two that form a network.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        dimensions = problem.table.dimensions
        flat = [axis for axis, one in enumerate(dimensions) if one.is_flat]
        self.usable = len(dimensions) == 3 and len(flat) >= 2 and len(problem.table.parts) == 1
        self.usable &= all(len(one.hierarchies) == 1 for one in dimensions) and bool(problem.outside.all())
        if not self.usable:
            return
        held = min(flat, key=lambda axis: len(dimensions[axis].codes))
        first, second = sorted(set(range(3)) - {held}, key=lambda axis: dimensions[axis].is_flat)
        codes = problem.table.codes[problem.system.cells].astype(np.int64)
        self._code = codes[:, held]
        self._place = codes[:, first] * len(dimensions[second].codes) + codes[:, second]
        self._is_flat = len(flat) == 3
        self._total = int(np.flatnonzero(~dimensions[held].base)[0])
        hidden = np.zeros(len(problem.table), dtype=np.bool_)
        hidden[problem.system.cells] = True
        whole = system_of(problem.table, hidden, implied=True)
        rows = np.repeat(np.arange(len(whole.relations)), np.diff(whole.starts))
        of_entries = codes[whole.columns]
        low, high = (one.reduceat(of_entries, whole.starts[:-1], axis=0) for one in (np.minimum, np.maximum))
        # Where the code on the first axis is a sum, relations along the second follow from those below.
        kept = (low[:, first] != high[:, first]) | (
            (low[:, second] != high[:, second]) & (dimensions[first].base[low[:, first]] | dimensions[first].is_flat)
        )
        self._system = whole.only(rows, kept[rows])
        self._up, self._down = problem.requirements_by_column()
        self._begin(problem.weight, is_rising=False)

    def _begin(self, weight: Floats, *, is_rising: bool) -> None:
        self._weight, self._is_rising = weight, is_rising
        self._suppressed = self._problem.primary.copy()
        self._certificates = Certificates(len(self._problem), self._problem.requirements)

    def protect(
        self,
        weight: Floats | None = None,
        *,
        is_rising: bool = False,
        begun: tuple[Bools, Ints] | None = None,
    ) -> Iterator[None]:
        """Protect everything anew, slice after slice, a pair at a time.

        Parameters
        ----------
        weight : array of float, optional
            What each column counts meanwhile, if not what it costs.
        is_rising : bool
            Whether small levels come first.
        begun : array of bool, array of int, optional
            What is suppressed already, and the requirements that it protects.
        """
        self._begin(self._problem.weight if weight is None else weight, is_rising=is_rising)
        if begun is not None:
            self._suppressed |= begun[0]
            self._certificates.add(np.flatnonzero(begun[0] & ~self._problem.primary), begun[1])
        weights = np.bincount(self._code, self._problem.weight)
        order = np.argsort(-weights, kind="stable").tolist()
        for code in order:
            is_shared = code == self._total and not self._is_flat
            partners = [one for one in order if one not in (code, self._total)]
            # With a hierarchy sums are costly: every part rests on what the total shares with others already.
            for partner in partners if is_shared else [*partners[:PARTNERS], *{self._total} - {code}]:
                looked_at = (code, partner) if is_shared else (code,)
                if (self._certificates.number[np.isin(self._code[self._problem.cell], looked_at)] < 0).any():
                    self._protect_pair(code, partner)
                    yield

    def complete(self) -> Bools | None:
        """The pattern, with boxes for what flows have left open; None where these do not suffice."""
        for boxing in (Branches(self._problem), Boxes(self._problem)):
            boxing.protect(
                self._suppressed, self._certificates, self._open[np.argsort(-self._problem.level[self._open])]
            )
        if len(self._open):
            return None
        return self._problem.primary | self._certificates.needed()

    @property
    def _open(self) -> Ints:
        return np.flatnonzero(self._certificates.number < 0)

    def _protect_pair(self, code: int, partner: int) -> None:
        """Protect what is open in two slices by flows of both."""
        problem = self._problem
        one, other = (np.flatnonzero(self._code == at) for at in (code, partner))
        _, mine, its = np.intersect1d(self._place[one], self._place[other], return_indices=True)
        # Columns of a part of a system stand in their order.
        rank = np.argsort(one[mine])
        one, other = one[mine][rank], other[its][rank]
        turn = 1 if self._total in (code, partner) else -1
        low, high = (problem.system.lo, problem.system.hi) if turn > 0 else (-problem.system.hi, -problem.system.lo)
        lo = np.maximum(problem.system.lo[one], low[other])
        hi = np.minimum(problem.system.hi[one], high[other])
        system = self._system.part(np.isin(np.arange(len(problem)), one)).within(lo, hi)
        requirement, cell, side = self._list_open(one, other, turn, lo, hi)
        if not len(requirement) or not networks(system)[0].all():
            return
        level = problem.level[requirement]
        given = self._suppressed[one] & self._suppressed[other]
        given[cell] = True
        weight = np.where(self._suppressed[one], 0.0, self._weight[one])
        weight += np.where(self._suppressed[other], 0.0, self._weight[other])
        # Of two requirements of a pair of cells to the same side the larger counts.
        order = np.lexsort((-level, side, cell))
        asked = order[np.append(True, (np.diff(cell[order]) != 0) | (np.diff(side[order]) != 0))]
        pattern = NetworkPattern(
            Problem(
                problem.table,
                system,
                given,
                np.where(given, 0.0, np.maximum(weight, LEAST_WEIGHT)),
                cell[asked],
                side[asked],
                level[asked],
                problem.scale,
                level[asked],
                NOTHING,
                np.empty(0),
                np.full(len(asked), -1, dtype=np.int64),
            )
        )
        pattern.protect(pattern.problem.by_level()[:: -1 if self._is_rising else 1])
        lost = np.zeros((len(one), 2), dtype=np.bool_)
        open_ones = asked[pattern.open]
        lost[cell[open_ones], (side[open_ones] > 0).astype(np.int64)] = True
        found = pattern.suppressed
        cells = np.concatenate([one[found], other[found]])
        self._suppressed[cells] = True
        safe = ~lost[cell, (side > 0).astype(np.int64)]
        if safe.any():
            self._certificates.add(cells[~problem.primary[cells]], requirement[safe])

    def _list_open(self, one: Ints, other: Ints, turn: int, lo: Floats, hi: Floats) -> tuple[Ints, Ints, Ints]:
        """The open requirements of both slices that a pair has room for: each, its pair of cells and the side."""
        found: list[tuple[Ints, Ints, Ints]] = []
        for columns, way in ((one, 1), (other, turn)):
            for index, side in ((self._up, way), (self._down, -way)):
                requirement = index[columns]
                room = hi if side > 0 else -lo
                fits = (requirement >= 0) & (self._certificates.number[requirement] < 0)
                fits &= room >= self._problem.level[requirement]
                at = np.flatnonzero(fits)
                found.append((requirement[at], at, np.full(len(at), side, dtype=np.int64)))
        requirements, cells, sides = (np.concatenate(column) for column in zip(*found, strict=True))
        return requirements, cells, sides
