"""The attacker: how far each suppressed cell can be from its value, given all that is published.

What follows by elimination is found first, then what single relations imply. Components that are networks go to a
maximum flow; in the others the cheapest proof comes first: boxes of cells, then linear programs that move many cells
at once, then one for each cell that is left. Every table found on the way proves something of all cells it moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from discreet.attack.grid import grid_of, list_boxes
from discreet.attack.integers import WholeMoves, move_in_batches, move_wholly
from discreet.attack.levels import slack_of
from discreet.attack.program import LeastMoves, Program, Tell, add_up, limited, move_singly, move_together
from discreet.attack.proofs import Proofs
from discreet.attack.system import Bools, Floats, Ints, Network, System, networks, system_of, to_units
from discreet.kernels.boxes import Cells, furthest_boxes
from discreet.kernels.propagation import propagate, unpick
from discreet.solvers.tolerances import LEVEL, WHOLE
from discreet.tabular.table import Table

# Rounds in which the bounds of single relations are passed on, and partners that are tried for the boxes of a cell.
PROPAGATIONS = 50
PARTNERS = 2_000
# Flows that are listed at a time.
FLOWS = 4_096
# Of so few columns each gets a linear program of its own.
FEW_COLUMNS = 12
# Bounds are mostly whole, halves or percentages of the values.
PARTS = (1, 2, 5, 10, 20, 100, 1_000)


@dataclass(frozen=True, eq=False)
class Reach:
    """How far each hidden cell can go.

    Attributes
    ----------
    cells
        The hidden cells of the table.
    down, up
        How far each is proven to go, in the units of the table; as far as was wanted, if less is not said.
    exact
        Whether both are the true extremes, and not just as much as was wanted.
    proofs
        The solutions, in units of the last decimal where the table is decimal; columns are places in `cells`.
    scale
        Those units in one unit of the table.
    """

    cells: Ints
    down: Floats
    up: Floats
    exact: Bools
    proofs: Proofs
    scale: float


class Witness(Protocol):
    """Looks at solutions as they are found."""

    def show(self, starts: Ints, cells: Ints, deviations: Floats, scale: float) -> None:
        """See some solutions: where each begins, the cells of the table that move, how far, in units of 1/scale."""
        ...


class Certifying(Witness, Protocol):
    """A witness that adds up what it sees."""

    def is_open(self, cell: int, side: int) -> bool:
        """Whether a cell was not shown yet, by what adds up, to go as far to a side as is asked."""
        ...


@dataclass(frozen=True)
class Witnesses:
    """Several witnesses, which all see every solution."""

    every: list[Witness]

    def show(self, starts: Ints, cells: Ints, deviations: Floats, scale: float) -> None:
        """Show some solutions to all of them."""
        for one in self.every:
            one.show(starts, cells, deviations, scale)


class Attacker:
    """An attacker who knows the published cells, the relations and the bounds.

    Parameters
    ----------
    table : Table
        The table.
    hidden : array of bool
        Which cells are not published.
    centre : array of float, optional
        A table that fits what is published, where the true values are not known.
    whole : bool
        Whether to round bounds to whole units of the last decimal, inwards, or to parts of it if that would cut
        something off: what is found is then exact in decimals.
    """

    def __init__(self, table: Table, hidden: Bools, centre: Floats | None = None, *, whole: bool = False) -> None:
        self.table, self.hidden = table, hidden
        self.centre = table.value if centre is None else centre
        full = system_of(table, hidden, self.centre, implied=True)
        self.cells = full.cells
        self.scale = _scale(table)
        lo, hi = to_units(full.lo, self.scale), to_units(full.hi, self.scale)
        given = unpick(full.starts, full.columns, full.by_starts, full.by_rows, np.ones(len(full), np.bool_))
        lo[given], hi[given] = 0.0, 0.0
        # Bounds that nothing can exceed: what is proven to reach them needs no solver.
        least, most = propagate(
            full.starts, full.columns, full.coefficients, full.by_starts, full.by_rows, lo, hi, PROPAGATIONS
        )
        self._limits = least, most
        # Of counts everybody knows that they are whole: bounds between whole numbers are none.
        self.integral = whole and table.integral and not (self.centre % 1).any()
        parts = (1 if self.integral else _parts(lo, hi, least, most)) if whole else None
        self.whole, self.is_rounded = parts is not None, False
        self._bounds = lo, hi
        if parts is not None:
            self.scale *= parts
            finer = to_units(lo, parts), to_units(hi, parts)
            self._bounds = finer
            least, most = least * parts, most * parts
            self._limits = least, most
            lo, hi = np.ceil(finer[0]), np.floor(finer[1])
            self.is_rounded = not self.integral and bool((lo != finer[0]).any() or (hi != finer[1]).any())
            least, most = np.maximum(least, lo), np.minimum(most, hi)
            if self.integral:
                least, most = np.ceil(least - WHOLE), np.floor(most + WHOLE)
                self._bounds, self._limits = (lo, hi), (least, most)
        self.lo, self.hi, self.least, self.most = lo, hi, least, most
        self.free = (self.most > 0) | (self.least < 0)
        self.full = full

    @cached_property
    def system(self) -> System:
        """The columns that can move at all, with the relations that do not follow from others."""
        lean = system_of(self.table, self.hidden, self.centre)
        return lean.within(self.lo, self.hi).part(self.free)

    def bounds_knowing(self, cells: Ints) -> tuple[Floats, Floats]:
        """How far each hidden cell can go at most, as single relations tell somebody who knows some cells."""
        full, least, most = self.full, self.least.copy(), self.most.copy()
        known = np.isin(self.cells, cells)
        least[known], most[known] = 0.0, 0.0
        return propagate(
            full.starts, full.columns, full.coefficients, full.by_starts, full.by_rows, least, most, PROPAGATIONS
        )

    @property
    def given_away(self) -> Ints:
        """Hidden cells that cannot be anything but what they are."""
        return self.cells[~self.free]

    def reach(
        self,
        down: Floats,
        up: Floats,
        *,
        exact: bool = False,
        keep: bool = False,
        witness: Witness | None = None,
        tell: Tell = lambda _part: None,
    ) -> Reach:
        """Find how far the hidden cells can go.

        Parameters
        ----------
        down, up : arrays of float
            How far each hidden cell is wanted to go, in units of the table; 0 where it does not matter.
        exact : bool
            Whether to find the true extremes of every hidden cell, however far that is.
        keep : bool
            Whether to keep solutions that prove it.
        witness : Witness, optional
            Is shown the solutions as they are found; not with exact extremes.
        tell : callable
            Listens to how much of the work is done.
        """
        n = len(self.cells)
        wanted_down = np.full(n, np.inf) if exact else to_units(down, self.scale)
        wanted_up = np.full(n, np.inf) if exact else to_units(up, self.scale)
        if self.whole:
            wanted_down, wanted_up = _round_up(wanted_down), _round_up(wanted_up)
        # More than the single relations allow is not to be had: what is wanted ends there, and is then known exactly.
        capped_down, capped_up = np.minimum(wanted_down, -self.least), np.minimum(wanted_up, self.most)
        sizes = np.abs(self.centre[self.cells]) * self.scale
        show = None if witness is None else partial(self._show, witness)
        slack = (self._slack(np.minimum(sizes, capped), capped) for capped in (capped_down, capped_up))
        bounds = self.lo, self.hi
        proofs = Proofs(
            *bounds, capped_down, capped_up, *slack, keep=keep, whole=self.whole, integral=self.integral, show=show
        )
        final = ~self.free
        columns = np.flatnonzero(self.free)
        if len(columns):
            flat, signs = networks(self.system)
            if flat.any():
                self._flow(columns[flat], signs, flat, proofs, exact=exact)
            if (~flat).any():
                levels = to_units(down, self.scale), to_units(up, self.scale)
                self._solve(columns, flat, proofs, levels, exact=exact, tell=tell)
        stuck_up = (proofs.up < wanted_up - self._slack(sizes, wanted_up)) | exact
        stuck_down = (proofs.down < wanted_down - self._slack(sizes, wanted_down)) | exact
        final |= stuck_up & stuck_down
        return Reach(self.cells, proofs.down / self.scale, proofs.up / self.scale, final, proofs, self.scale)

    def limit(self, reach: Reach) -> tuple[Floats, Floats]:
        """How far each hidden cell can go at most, down and up, where no bound is rounded; proven in exact arithmetic.

        What single relations imply, and where that does not tell why something was not reached, the prices of the
        linear program that did not reach it, or the cut of the flow.
        """
        least, most = self._limits
        proofs = reach.proofs
        self._cut(proofs)
        return np.minimum(proofs.most_down, -least) / self.scale, np.minimum(proofs.most_up, most) / self.scale

    def _cut(self, proofs: Proofs) -> None:
        """Bound what flows have not reached by least cuts, whose relations pay for all that could flow around them."""
        if not self.free.any():
            return
        columns, (flat, signs) = np.flatnonzero(self.free), networks(self.system)
        still = {1: proofs.open_up, -1: proofs.open_down}
        if not flat.any() or not (still[1] | still[-1])[columns[flat]].any():
            return
        part, rows = _rows(self.system, flat)
        network, mine = Network(part, signs[rows]), columns[flat]
        lo, hi = self._bounds[0][mine], self._bounds[1][mine]
        for side, wanted, most in (
            (1, proofs.wanted_up, proofs.most_up),
            (-1, proofs.wanted_down, proofs.most_down),
        ):
            for at in np.flatnonzero(still[side][mine]).tolist():
                limit = float(wanted[mine[at]])
                prices = network.cut(at, side, limit)
                most[mine[at]] = add_up(part, at, side, prices, *limited(lo, hi, at, side, limit))

    def reach_simply(
        self,
        down: Floats,
        up: Floats,
        reached: Reach,
        *,
        witness: Certifying | None = None,
        most: int | None = None,
    ) -> Reach:
        """Bring each hidden cell so far, by the least moves: few cells move then, by simple fractions.

        Parameters
        ----------
        down, up : arrays of float
            How far each hidden cell is wanted to go, in units of the table; 0 where it does not matter.
        reached : Reach
            How far it is known to go.
        witness : Certifying, optional
            Is shown the solutions as they are found, and says which cells are still open.
        most : int, optional
            How much work to do at most, in columns of the linear programs that are solved.
        """
        far_down = self._within(to_units(down, self.scale), reached.proofs.down)
        far_up = self._within(to_units(up, self.scale), reached.proofs.up)
        nothing = np.zeros(len(self.cells))
        show = None if witness is None else partial(self._show, witness)
        bounds, slack = (self.lo, self.hi), (nothing, nothing)
        proofs = Proofs(
            *bounds, far_down, far_up, *slack, keep=True, whole=self.whole, integral=self.integral, show=show
        )
        columns = np.flatnonzero(self.free)
        _, component = self.system.components
        work = 0
        for part in np.unique(component[(far_down + far_up)[columns] > 0]).tolist():
            inside = component == part
            program, mine = LeastMoves(self.system.part(inside)), columns[inside]
            for at, column in enumerate(mine.tolist()):
                for side, far, so_far in ((1, far_up[column], proofs.up), (-1, -far_down[column], proofs.down)):
                    is_open = so_far[column] < abs(far)
                    if witness is not None:
                        is_open = far != 0 and witness.is_open(int(self.cells[column]), side)
                    if is_open and (most is None or work < most):
                        work += len(mine)
                        found = program.find(at, float(far))
                        if found is not None:
                            proofs.learn(mine, found)
        final = np.zeros(len(self.cells), dtype=np.bool_)
        return Reach(self.cells, proofs.down / self.scale, proofs.up / self.scale, final, proofs, self.scale)

    def _within(self, wanted: Floats, reached: Floats) -> Floats:
        """What is wanted, rounded up to whole units where these are reached; less where it is not reached."""
        rounded = _round_up(wanted) if self.whole else wanted
        return np.where(rounded <= reached, rounded, np.minimum(wanted, reached))

    def _slack(self, sizes: Floats, wanted: Floats) -> Floats:
        """By how much what is wanted of cells may be missed, in units as they are."""
        return slack_of(sizes, wanted, None if self.table.decimals is None else 0)

    def _show(self, witness: Witness, starts: Ints, columns: Ints, deviations: Floats) -> None:
        witness.show(starts, self.cells[columns], deviations, self.scale)

    def _flow(self, columns: Ints, signs: Ints, flat: Bools, proofs: Proofs, *, exact: bool) -> None:
        """Maximum flows for the components that are networks."""
        system = self.system
        part, rows = _rows(system, flat)
        network = Network(part, signs[rows])
        local = np.arange(len(columns))
        if proofs.solutions is not None and not exact:
            for side, still in ((1, "open_up"), (-1, "open_down")):
                wanted = proofs.wanted_up if side > 0 else proofs.wanted_down
                for at in np.flatnonzero(getattr(proofs, still)[columns]).tolist():
                    column = columns[at]
                    reached = proofs.up[column] if side > 0 else proofs.down[column]
                    if reached < wanted[column]:
                        found = network.solution(at, side, float(wanted[column]))
                        proofs.learn(columns[found != 0], found[found != 0])
            return
        for side in (1, -1):
            wanted = proofs.wanted_up[columns] if side > 0 else proofs.wanted_down[columns]
            reached = proofs.up if side > 0 else proofs.down
            every = local[wanted > 0]
            for begin in range(0, len(every), FLOWS):
                asked = every[begin : begin + FLOWS]
                listed = proofs.show is not None
                amounts, starts, moved, deviations = network.reach(asked, side, wanted[asked], listed=listed)
                reached[columns[asked]] = np.maximum(reached[columns[asked]], amounts)
                if proofs.show is not None:
                    proofs.show(starts, columns[moved], deviations)

    def _solve(
        self, columns: Ints, flat: Bools, proofs: Proofs, levels: tuple[Floats, Floats], *, exact: bool, tell: Tell
    ) -> None:
        """Boxes and linear programs for the other components."""

        if not exact:
            self._boxes(columns[~flat], proofs)
        _, component = self.system.components
        places = np.argsort(component, kind="stable")
        groups = np.split(places, np.flatnonzero(np.diff(component[places])) + 1)
        groups = [group for group in groups if not flat[group[0]]]
        done, every = 0, sum(len(group) for group in groups)
        for group in groups:
            inside = np.zeros(len(self.system), dtype=np.bool_)
            inside[group] = True
            mine = columns[np.flatnonzero(inside)]
            if not (proofs.open_up[mine] | proofs.open_down[mine]).any():
                done += len(group)
                continue
            part = self.system.part(inside)
            wholly = WholeMoves(part) if self.integral else None
            if wholly is not None and not exact:
                move_in_batches(wholly, mine, (self.least[mine], self.most[mine]), proofs)
            program = Program(part, vertices=proofs.solutions is not None)
            if len(mine) > FEW_COLUMNS and wholly is None:
                move_together(program, mine, (self.least[mine], self.most[mine]), proofs, exact=exact)
            share = _share(tell, done / every, len(group) / every)
            bounds = self._bounds[0][mine], self._bounds[1][mine]
            move_singly(program, mine, proofs, levels, bounds, exact=exact, tell=share)
            if wholly is not None:
                move_wholly(wholly, mine, proofs, exact=exact, tell=share)
            done += len(group)

    def _boxes(self, columns: Ints, proofs: Proofs) -> None:
        grid = grid_of(self.table)
        targets = columns[proofs.open_up[columns] | proofs.open_down[columns]]
        if grid is None or not len(targets):
            return
        n = len(self.table)
        free, lo, hi = np.zeros(n, dtype=np.bool_), np.zeros(n), np.zeros(n)
        free[self.cells[self.free]] = True
        lo[self.cells], hi[self.cells] = self.lo, self.hi
        wanted_up, wanted_down = proofs.wanted_up[targets], proofs.wanted_down[targets]
        up, down, partners = furthest_boxes(
            grid, Cells(lo, hi, free), self.cells[targets], wanted_up, wanted_down, PARTNERS
        )
        if proofs.solutions is None:
            proofs.up[targets] = np.maximum(proofs.up[targets], up)
            proofs.down[targets] = np.maximum(proofs.down[targets], down)
            if proofs.show is not None:
                for side, amounts in ((0, up), (1, -down)):
                    there = np.flatnonzero(partners[:, side, 0] >= 0)
                    cells, signs = list_boxes(grid, self.cells[targets[there]], partners[there, side])
                    moves = (signs * amounts[there, None]).ravel()
                    starts = np.arange(len(there) + 1) * cells.shape[1]
                    proofs.show(starts, np.searchsorted(self.cells, cells.ravel()), moves)
            return
        for at, column in enumerate(targets.tolist()):
            for side in range(2):
                still = proofs.up[column] < up[at] if side == 0 else proofs.down[column] < down[at]
                if still and partners[at, side, 0] >= 0:
                    cells, signs = list_boxes(grid, self.cells[[column]], partners[at, side][None])
                    proofs.learn(np.searchsorted(self.cells, cells[0]), signs[0].astype(np.float64))


def _share(tell: Tell, start: float, part: float) -> Tell:
    """Tell how much of a part of the work is done as how much of the whole."""
    return lambda done: tell(start + part * done)


def _scale(table: Table) -> float:
    """Units of the last decimal in one unit of the table, where every value is a whole number of them."""
    if table.decimals is None:
        return 1.0
    return 10.0**table.decimals


def _parts(lo: Floats, hi: Floats, least: Floats, most: Floats) -> int | None:
    """The fewest parts of a unit in which bounds can be rounded inwards and cut off nothing that can be reached."""
    for parts in PARTS:
        low, high = np.ceil(to_units(lo, parts)), np.floor(to_units(hi, parts))
        slack = LEVEL * np.maximum(1.0, np.where(np.isfinite(lo), -lo, 0.0) + np.where(np.isfinite(hi), hi, 0.0))
        if (low <= least * parts + slack).all() and (high >= most * parts - slack).all():
            return parts
    return None


def _round_up(wanted: Floats) -> Floats:
    """The next whole number, unless it is one but for rounding."""
    finite = np.where(np.isfinite(wanted), wanted, 0.0)
    return np.where(np.isfinite(wanted), np.ceil(finite - slack_of(finite, finite, 0)), wanted)


def _rows(system: System, keep: Bools) -> tuple[System, Ints]:
    """The system of some columns, and which of the rows it has."""
    part = system.part(keep)
    return part, np.searchsorted(system.relations, part.relations)
