"""Whole tables: how far counts can go where a linear program would cut persons into parts.

In networks the ends of the relaxation are whole. Elsewhere they need not be: a table of halves shows nothing of counts.
Few moves at a time, and no more than it takes, are mostly whole as they come out of a linear program; what is not is
rounded by a small integer program over the parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from discreet.attack.program import Tell
from discreet.attack.proofs import Proofs
from discreet.attack.system import Bools, Floats, Ints, System
from discreet.solvers.highs import LinearProgram, Matrix, Status

# Cells that are moved at once: at first, at least and at most; and how often one is tried so. More at a time move by
# parts, which takes long: half as many are moved then, and half as many more where all came out whole.
BATCH, FEWEST, MOST, TRIES = 8, 4, 30, 3
# What the move of any cell by one costs, in parts of what a side is worth; each a little less or more than another's.
STEP, SPREAD = 0.01, 0.01
# Columns that an integer program rounds at most: beyond, fewer cells are moved at once.
MOST_LOOSE = 1_500
# Nodes of the search tree of one integer program, and of all those of one component together.
NODES, ALL_NODES = 200, 5_000
# What a part of one is, and not what a solver leaves of a whole number.
PART = 1e-6


class WholeMoves:
    """Whole deviations of a system: of many columns at once, or of one as far as it can go.

    Parameters
    ----------
    system : System
        The system; one component of it is solved fastest.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        # Nodes of integer programs of single columns so far; and how many columns are to be moved at once.
        self.nodes, self.size = 0, BATCH

    @cached_property
    def _matrix(self) -> csr_array:
        shape = len(self.system.relations), len(self.system)
        return csr_array((self.system.coefficients, self.system.columns, self.system.starts), shape=shape)

    @cached_property
    def _sparse(self) -> LinearProgram:
        return _split(self.system, are_whole=False)

    @cached_property
    def _single(self) -> LinearProgram:
        return _split(self.system, are_whole=True, mip_max_nodes=NODES)

    def together(self, gain: Floats, step: Floats, lo: Floats, hi: Floats) -> list[tuple[Ints, Floats]]:
        """Whole deviations of the largest gain, less what each step costs, in parts that have no relation in common.

        Parameters
        ----------
        gain, step : arrays of float
            What a column gains by a move of one up, and what a move of one costs to either side.
        lo, hi : arrays of float
            Bounds of the deviations.
        """
        n = len(self.system)
        self._sparse.change_bounds(np.zeros(2 * n), np.concatenate([hi, -lo]))
        self._sparse.change_costs(np.concatenate([step - gain, step + gain]))
        self._sparse.restart()
        if self._sparse.run() is not Status.OPTIMAL:
            return []
        found = self._sparse.values[:n] - self._sparse.values[n:]
        whole = self._round(found, gain, lo, hi)
        return [] if whole is None else list(self._parts(whole))

    def _round(self, found: Floats, gain: Floats, lo: Floats, hi: Floats) -> Floats | None:
        """Whole deviations beside others: of what moves by parts, and of what shares a relation with it."""
        near = np.rint(found)
        loose = np.abs(found - near) > PART
        if not loose.any():
            self.size = min(MOST, self.size + self.size // 2)
            return near
        matrix = abs(self._matrix)
        loose = (matrix.T @ (matrix @ loose.astype(np.float64) > 0).astype(np.float64)) > 0
        if loose.sum() > MOST_LOOSE:
            self.size = max(FEWEST, self.size // 2)
            return None
        near[loose] = 0.0
        part = self.system.part(loose)
        missing = -(self._matrix @ near)[np.searchsorted(self.system.relations, part.relations)]
        program = LinearProgram(
            cost=-gain[loose],
            lower=np.maximum(np.floor(found[loose]) - 1.0, lo[loose]),
            upper=np.minimum(np.ceil(found[loose]) + 1.0, hi[loose]),
            row_lower=missing,
            row_upper=missing,
            matrix=Matrix(part.starts, part.columns, part.coefficients, by_rows=True),
            are_whole=True,
            mip_max_nodes=NODES,
            mip_rel_gap=0.1,
        )
        program.run()
        if not program.has_solution:
            return None
        near[loose] = np.rint(program.values)
        return near

    def _parts(self, whole: Floats) -> Iterator[tuple[Ints, Floats]]:
        """Deviations in parts that have no relation in common, each a solution of its own; nothing if they are none."""
        if np.abs(self._matrix @ whole).max(initial=0.0) > 0:
            return
        moved = np.flatnonzero(whole)
        inside = self._matrix[:, moved]
        count, label = connected_components(inside.T @ inside, directed=False)
        for one in range(count if len(moved) else 0):
            columns = moved[label == one]
            yield columns.astype(np.int64), whole[columns]

    def find(self, column: int, amount: float) -> tuple[Floats | None, bool]:
        """Whole deviations in which a column moves by an amount, negative for down; or whether there are none."""
        # Any will do, the sparser the better.
        self._single.set(mip_max_improving_sols=1)
        ends = max(amount, 0.0), max(-amount, 0.0)
        found, status = self._run(column, ends, ends)
        return found, status is Status.INFEASIBLE

    def furthest(self, column: int, side: int, limit: float) -> tuple[Floats | None, bool]:
        """Whole deviations that bring a column as far as can be, up to a limit; and whether that is proven."""
        n = len(self.system)
        self._single.set(mip_max_improving_sols=2**31 - 1)
        cost = np.zeros(2 * n)
        cost[column if side > 0 else n + column] = -1.0
        self._single.change_costs(cost)
        found, status = self._run(column, (0.0, 0.0), (limit, 0.0) if side > 0 else (0.0, limit))
        self._single.change_costs(np.ones(2 * n))
        return found, status is Status.OPTIMAL

    def _run(self, column: int, lower: tuple[float, float], upper: tuple[float, float]) -> tuple[Floats | None, Status]:
        n = len(self.system)
        places, room = (column, n + column), (float(self.system.hi[column]), -float(self.system.lo[column]))
        for place, low, high in zip(places, lower, upper, strict=True):
            self._single.change_bound(place, low, high)
        self._single.restart()
        status = self._single.run()
        self.nodes += 1 + self._single.nodes
        # Any change makes the solver forget it.
        found = self._found
        for place, far in zip(places, room, strict=True):
            self._single.change_bound(place, 0.0, far)
        return found, status

    @property
    def _found(self) -> Floats | None:
        if not self._single.has_solution:
            return None
        n, values = len(self.system), self._single.values
        whole: Floats = np.rint(values[:n] - values[n:])
        return whole if np.abs(self._matrix @ whole).max(initial=0.0) == 0 else None


def _split(system: System, **more: bool | int) -> LinearProgram:
    """A program of the least moves: of each column up, and of each down."""
    n, m = len(system), len(system.relations)
    return LinearProgram(
        cost=np.ones(2 * n),
        lower=np.zeros(2 * n),
        upper=np.concatenate([system.hi, -system.lo]),
        row_lower=np.zeros(m),
        row_upper=np.zeros(m),
        matrix=Matrix(
            np.concatenate([system.by_starts[:-1], system.by_starts[-1] + system.by_starts]),
            np.concatenate([system.by_rows, system.by_rows]),
            np.concatenate([system.by_coefficients, -system.by_coefficients]),
        ),
        **more,  # type: ignore[arg-type]
    )


def move_in_batches(program: WholeMoves, mine: Ints, bounds: tuple[Floats, Floats], proofs: Proofs) -> None:
    """Move the columns that are still open by whole numbers, some of them at a time.

    Bounds as narrow upwards as downwards at first: a table and its mirror image then prove both sides.

    Parameters
    ----------
    program : WholeMoves
        The programs of a component.
    mine : array of int
        Its columns, as the proofs number them.
    bounds : two arrays of float
        How far each of them can go down and up at most, as single relations tell.
    proofs : Proofs
        What is proven so far.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    least, most = bounds
    narrow = np.minimum(-least, most)
    step = draw_steps(len(mine), generator)
    tries = np.zeros(len(mine), dtype=np.int64)
    while True:
        up, down = proofs.open_up[mine], proofs.open_down[mine]
        wanted = np.where(up, proofs.wanted_up[mine], 0.0), np.where(down, proofs.wanted_down[mine], 0.0)
        is_mirrored = (up | down) & (tries == 0) & (np.maximum(*wanted) <= narrow)
        open_still = is_mirrored if is_mirrored.any() else (up | down) & (tries <= TRIES)
        if not open_still.any():
            return
        chosen = _draw(open_still, program.size, generator)
        tries[chosen] += 1
        side = np.where(up[chosen] & down[chosen], generator.choice([-1.0, 1.0], len(chosen)), 1.0)
        side = np.where(down[chosen] & ~up[chosen], -1.0, side)
        if is_mirrored.any():
            lo, hi, far = -narrow, narrow.copy(), np.maximum(*wanted)[chosen]
        else:
            lo, hi, far = least.copy(), most.copy(), np.where(side > 0, wanted[0][chosen], wanted[1][chosen])
        gain = np.zeros(len(mine))
        gain[chosen] = side / far
        lo[chosen], hi[chosen] = np.maximum(lo[chosen], -far), np.minimum(hi[chosen], far)
        for columns, deviations in program.together(gain, step, lo, hi):
            proofs.learn(mine[columns], deviations)


def draw_steps(number: int, generator: np.random.Generator) -> Floats:
    """What the move of each of some columns by one costs."""
    return STEP * (1.0 + SPREAD * generator.random(number))


def _draw(some: Bools, size: int, generator: np.random.Generator) -> Ints:
    places = np.flatnonzero(some)
    return places if len(places) <= size else np.sort(generator.choice(places, size, replace=False))


def move_wholly(program: WholeMoves, mine: Ints, proofs: Proofs, *, exact: bool, tell: Tell) -> None:
    """Move each column to each side that is still open by whole numbers; what no work limit allows stays open.

    Parameters
    ----------
    program : WholeMoves
        The programs of a component.
    mine : array of int
        Its columns, as the proofs number them.
    proofs : Proofs
        What is proven so far, by whole tables only; and how far a column goes at most.
    exact : bool
        Whether the true extremes are wanted.
    tell : callable
        Listens to how much of the work is done.
    """
    ways = (
        (1, proofs.up, proofs.wanted_up, proofs.enough_up, proofs.most_up),
        (-1, proofs.down, proofs.wanted_down, proofs.enough_down, proofs.most_down),
    )
    for at, column in enumerate(mine.tolist()):
        tell(at / len(mine))
        for side, reached, wanted, enough, most in ways:
            limit = min(float(wanted[column]), float(np.floor(most[column] + PART)))
            if reached[column] >= min(enough[column], limit) or program.nodes > ALL_NODES:
                continue
            is_less = exact
            if not exact:
                found, is_less = program.find(at, side * limit)
                if found is not None:
                    proofs.learn(mine, found)
            if is_less and reached[column] < limit:
                found, is_proven = program.furthest(at, side, limit)
                if found is not None:
                    proofs.learn(mine, found)
                    if is_proven:
                        most[column] = reached[column]
