"""Cuts of single requirements, from linear programs in which every cell has a share for either way that it may go.

What goes up in a relation must come down in it. In a linear relaxation one cell that may go far up makes up for many
small ones that come down, and a small share of it is enough: the cells that go up cost next to nothing. Of whole shares
more is true. Where a cell j moves by d_j in a relation, each i of the others matches a part of that, which is no more
than what i moves against it, d_i, and no more than what both may move at most, c_ij, if both are suppressed. So
whichever of R, S and T each i is put into,

    d_j <= x_j (sum of c_ij over R) + (sum of c_ij x_i over S) + (sum of d_i over T).

Shares x are told apart by direction for that: what goes up for one requirement may come down for another, and the share
of a cell is at least that of both ways together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array, hstack, vstack

from discreet.attack.system import Bools, Floats, Ints, System
from discreet.evolution.checks import floats, integers
from discreet.evolution.process import State
from discreet.solvers.highs import LinearProgram, Matrix
from discreet.tables.suppression.exact.cuts import SMALL, Cut
from discreet.tables.suppression.problem import Problem

# By how much an inequality is violated at least to become a row, in parts of the level; after how many programs in
# which it does not bind it goes again.
LEAST_VIOLATION, PATIENCE = 1e-2, 3
# The solver comes this near; whatever its answer, the cut is worked out from the weights that it finds.
NEAR = 1e-4
# Rounds in which what others may move limits what each may.
LIMITING_ROUNDS = 50
# What a column costs at least, in parts of the median, so that none is taken for nothing.
LEAST_WEIGHT = 1e-2


class Inequality(NamedTuple):
    """A directed move that is at most so much of its own share, of some other moves, and of shares of some others."""

    move: int
    own: float
    others: Ints  # moves, then, numbered on, shares of moves
    factors: Floats


def has_directions(problem: Problem) -> bool:
    """Whether relations are plain sums of cells none of which can move without end."""
    system = problem.system
    are_plain = bool((np.abs(system.coefficients) == 1.0).all())
    return are_plain and bool(np.isfinite(system.lo).all() and np.isfinite(system.hi).all())


class DirectedCuts:
    """Cuts of one requirement.

    Moves are in parts of its level, and numbered: up those of all columns, then down; up is where its cell must go.

    Parameters
    ----------
    problem : Problem
        The problem; see `has_directions`.
    requirement : int
        The requirement, in the eyes of somebody outside.
    able : array of bool
        Which columns may be suppressed; the cuts hold for patterns of these.

    Attributes
    ----------
    lacking
        What it cost lately to complete the shares; infinite before the first program.
    """

    def __init__(self, problem: Problem, requirement: int, able: Bools) -> None:
        self._problem, self._able, self.lacking = problem, able, np.inf
        self._cell, level = int(problem.cell[requirement]), float(problem.level[requirement])
        system = problem.system
        up, down = (system.hi, -system.lo) if problem.side[requirement] > 0 else (-system.lo, system.hi)
        most = np.concatenate([np.where(able, up, 0.0), np.where(able, down, 0.0)]) / level
        count, many = len(system), len(system.relations)
        # It goes as far as it must, and not back.
        most[self._cell], most[count + self._cell] = 1.0, 0.0
        rows = np.repeat(np.arange(many), np.diff(system.starts))
        self._relations = csr_array((system.coefficients, (rows, system.columns)), shape=(many, count))
        # Which directed moves go with and against the direction of each relation, entry by entry.
        is_plus = system.coefficients > 0
        along = system.columns + np.where(is_plus, 0, count), system.columns + np.where(is_plus, count, 0)
        self._ways = (along, along[::-1])
        self._most = _limit(system, along, most)
        weight = problem.weight
        self._unit = float(np.median(weight[weight > 0])) if (weight > 0).any() else 1.0
        self._inequalities: list[Inequality] = []
        self._idle: list[int] = []
        self._linear = self._program()

    def _program(self) -> LinearProgram:
        """What completing shares costs: its columns are what shares lack, the moves, and the shares of these."""
        count, many = len(self._problem), len(self._problem.system.relations)
        one, both = eye_array(count, format="csr"), eye_array(2 * count, format="csr")
        lacks, moves, shares = (
            vstack([csr_array((many + 2 * count, count)), -one]),
            vstack([hstack([self._relations, -self._relations]), both, csr_array((count, 2 * count))]),
            vstack([csr_array((many, 2 * count)), -diags_array(self._most), hstack([one, one])]),
        )
        matrix = hstack([lacks, moves, shares], format="csc")
        self._fixed_rows = many + 3 * count
        lower = np.zeros(5 * count)
        upper = np.concatenate([self._able.astype(np.float64), self._most, np.ones(2 * count)])
        lower[[count + self._cell, 3 * count + self._cell]] = 1.0
        upper[[count + self._cell, 3 * count + self._cell]] = 1.0
        upper[4 * count + self._cell] = 0.0
        weight = np.maximum(self._problem.weight / self._unit, LEAST_WEIGHT)
        return LinearProgram(
            cost=np.concatenate([weight, np.zeros(4 * count)]),
            lower=lower,
            upper=upper,
            row_lower=np.concatenate([np.zeros(many), np.full(3 * count, -np.inf)]),
            row_upper=np.zeros(self._fixed_rows),
            matrix=Matrix(matrix.indptr, matrix.indices, matrix.data),
            solver="ipm",
            run_crossover="off",
            ipm_optimality_tolerance=NEAR,
        )

    def cut(self, share: Floats) -> Cut | None:
        """The cut by which shares are cheapest to complete; None if they are complete or there is no answer."""
        count = len(self._problem)
        first = self._fixed_rows - count
        self._linear.change_row_bounds(np.full(count, -np.inf), share, np.arange(first, self._fixed_rows))
        self._linear.restart()
        self._linear.run()
        values, duals = self._linear.values, -self._linear.duals
        if len(duals) != self._fixed_rows + len(self._inequalities) or not np.isfinite(duals).all():
            return None
        self.lacking = self._linear.objective * self._unit
        found = self._cut_of(duals)
        binding = duals[self._fixed_rows :] > SMALL
        self._idle = [0 if binds else idle + 1 for idle, binds in zip(self._idle, binding.tolist(), strict=True)]
        self._forget()
        self._require(self._violated(values[count : 3 * count], values[3 * count :]))
        return found

    def _cut_of(self, weights: Floats) -> Cut | None:
        """The cut that holds whatever the weights of the relations and of the inequalities are.

        Weighted, all add up to no more than 0; the requirement's cell gives what it gives, and each column at least
        what its coefficient takes off.
        """
        count, most = len(self._problem), self._most
        along = self._relations.T @ weights[: len(self._problem.system.relations)]
        both = np.concatenate([along, -along, np.zeros(2 * count)])
        for one, weight in zip(self._inequalities, weights[self._fixed_rows :].tolist(), strict=True):
            if weight > 0.0:
                both[one.move] += weight
                both[2 * count + one.move] -= weight * one.own
                both[one.others] -= weight * one.factors
        moves, shares = both[: 2 * count], both[2 * count :]
        needed = moves[self._cell] + shares[self._cell]
        takes = np.maximum(-shares - np.minimum(moves, 0.0) * most, 0.0).reshape(2, count).max(axis=0)
        takes[self._cell] = 0.0
        primary = self._problem.primary
        rest = needed - float(takes[primary].sum())
        if not rest > SMALL:
            return None
        columns = np.flatnonzero((takes > SMALL * rest) & self._able & ~primary)
        # What is left out as too small counts as if it were taken.
        rest -= float(takes[(takes <= SMALL * rest) & self._able & ~primary].sum())
        return Cut(columns, np.minimum(takes[columns] / rest, 1.0), 1.0, capacity=True) if rest > SMALL else None

    def _violated(self, moves: Floats, shares: Floats) -> list[Inequality]:
        """For every move in every relation the inequality that it violates most, if by enough."""
        starts, found = self._problem.system.starts, []
        for with_it, against in self._ways:
            moving = np.add.reduceat(moves[with_it] > LEAST_VIOLATION, starts[:-1])
            for line in np.flatnonzero(moving).tolist():
                mine, others = (one[starts[line] : starts[line + 1]] for one in (with_it, against))
                matched = np.minimum.outer(self._most[mine], self._most[others])
                np.fill_diagonal(matched, 0.0)
                # Three ways to say how much each of the others matches at most, for each that moves.
                by_own, by_other = matched * shares[mine][:, None], matched * shares[others]
                by_move = np.broadcast_to(moves[others], matched.shape).copy()
                np.fill_diagonal(by_move, 0.0)
                least = np.minimum(np.minimum(by_own, by_other), by_move)
                lacks = moves[mine] - least.sum(axis=1)
                for at in np.flatnonzero(lacks > LEAST_VIOLATION).tolist():
                    is_own = by_own[at] <= least[at]
                    is_moved = ~is_own & (by_move[at] <= least[at])
                    is_shared = ~is_own & ~is_moved & (matched[at] > 0.0)
                    places = np.concatenate([others[is_moved], 2 * len(self._problem) + others[is_shared]])
                    factors = np.concatenate([np.ones(is_moved.sum()), matched[at, is_shared]])
                    found.append(Inequality(int(mine[at]), float(matched[at, is_own].sum()), places, factors))
        return found

    def _require(self, found: list[Inequality]) -> None:
        """Make inequalities rows."""
        if not found:
            return
        count = len(self._problem)
        sizes = [len(one.others) + 2 for one in found]
        # Columns are what shares lack, then the moves, then their shares.
        places = [count + np.concatenate([[one.move, 2 * count + one.move], one.others]) for one in found]
        factors = [np.concatenate([[1.0, -one.own], -one.factors]) for one in found]
        starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
        matrix = Matrix(starts, np.concatenate(places), np.concatenate(factors), by_rows=True)
        self._linear.add_rows(np.full(len(found), -np.inf), np.zeros(len(found)), matrix)
        self._inequalities += found
        self._idle += [0] * len(found)

    def _forget(self) -> None:
        """Let go of the rows that have not been of use lately."""
        loose = np.flatnonzero(np.array(self._idle) >= PATIENCE)
        if len(loose):
            self._linear.delete_rows(self._fixed_rows + loose)
            gone = set(loose.tolist())
            self._inequalities = [one for at, one in enumerate(self._inequalities) if at not in gone]
            self._idle = [idle for at, idle in enumerate(self._idle) if at not in gone]

    def save(self) -> State:
        """All that the next cuts depend on."""
        held = self._inequalities
        return {
            "lacking": self.lacking,
            "moves": np.array([one.move for one in held], dtype=np.int64),
            "own": np.array([one.own for one in held]),
            "sizes": np.array([len(one.others) for one in held], dtype=np.int64),
            "others": np.concatenate([np.zeros(0, np.int64), *(one.others for one in held)]),
            "factors": np.concatenate([np.zeros(0), *(one.factors for one in held)]),
            "idle": np.array(self._idle, dtype=np.int64),
        }

    def load(self, state: State) -> None:
        """Go on from a saved state, with inequalities that hold."""
        held: dict[str, Any] = dict(state)
        last = 2 * len(self._problem) - 1
        moves = integers("moves", held["moves"], (-1,), 0, last)
        own = floats("own", held["own"], moves.shape)
        sizes = integers("sizes", held["sizes"], moves.shape, 0, last)
        others = integers("others", held["others"], (int(sizes.sum()),), 0, 2 * last + 1)
        factors = floats("factors", held["factors"], others.shape)
        ends = np.cumsum(sizes)[:-1]
        parts = zip(moves.tolist(), own.tolist(), np.split(others, ends), np.split(factors, ends), strict=False)
        self.lacking = float(floats("lacking", held["lacking"], (), infinite=True))
        self._linear = self._program()
        self._inequalities, self._idle = [], []
        self._require([Inequality(*one) for one in parts] if len(moves) else [])
        self._idle = integers("idle", held["idle"], moves.shape, 0, PATIENCE).tolist()


def _limit(system: System, along: tuple[Ints, Ints], most: Floats) -> Floats:
    """What directed moves are at most: no more in any relation than what the others may move against them."""
    many = len(system.relations)
    rows = np.repeat(np.arange(many), np.diff(system.starts))
    for _ in range(LIMITING_ROUNDS):
        limited = most.copy()
        for mine, others in (along, along[::-1]):
            against = np.bincount(rows, most[others], many)[rows] - most[others]
            # By subtraction a little less may come out than there is.
            np.minimum.at(limited, mine, against * (1.0 + SMALL) + SMALL)
        if (limited >= most * (1.0 - SMALL) - SMALL).all():
            break
        most = limited
    return most
