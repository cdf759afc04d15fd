"""The method `exact`: the cheapest pattern, proven by branch and cut on the model of Fischetti and Salazar.

It branches on the column whose two values raise the bound most, as far as experience tells.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.checks import finite, floats, integers
from discreet.evolution.process import Search, State, inside, part
from discreet.kernels.random import seeded
from discreet.solvers.tolerances import LEVEL, WHOLE
from discreet.tables.suppression.exact.master import Master, Relaxation, Round, scale_for
from discreet.tables.suppression.exact.parts import solve_parts
from discreet.tables.suppression.exact.range_cuts import narrow
from discreet.tables.suppression.exact.separation import separator_of
from discreet.tables.suppression.pattern import Pattern, pattern_of
from discreet.tables.suppression.problem import Problem

# So often is a column tried before its averages are trusted.
TRUSTED = 2
TRIES = 6
ITERATIONS = 20
# A share this near to 0 or 1 is meant to be that; gains below this count as this.
FRACTIONAL = 1e-6


class Branching:
    """Average gains per unit of share that columns have brought, downwards and upwards.

    Parameters
    ----------
    columns : int
        How many columns there are.
    """

    def __init__(self, columns: int) -> None:
        self.gain = np.zeros((columns, 2))
        self.count = np.zeros((columns, 2))

    def choose(self, master: Master, share: Floats, bound: float, room: float) -> int:
        """The column to branch on.

        Parameters
        ----------
        master : Master
            The linear program, solved.
        share : array of float
            Its solution.
        bound : float
            Its cost.
        room : float
            Up to the cost that is of no interest any more; higher gains count as this.
        """
        columns = np.flatnonzero((share > FRACTIONAL) & (share < 1 - FRACTIONAL))
        part = np.stack([share[columns], 1 - share[columns]], axis=1)
        known = self.count[columns]
        average = (self.gain.sum(axis=0) + master.weight.mean()) / (self.count.sum(axis=0) + 1)
        expected = np.where(known > 0, self.gain[columns] / np.maximum(known, 1), average) * part
        score = _score(np.minimum(expected, room))
        best, highest = -1, -1.0
        tries = 0
        for at in np.argsort(-score, kind="stable"):
            column = int(columns[at])
            value = float(score[at])
            if known[at].min() < TRUSTED and tries < TRIES:
                tries += 1
                found = np.maximum(np.array(master.probe(column, ITERATIONS)) - bound, 0.0)
                finite = np.isfinite(found)
                self.gain[column] += np.where(finite, np.where(finite, found, 0.0) / part[at], 0.0)
                self.count[column] += finite
                value = float(_score(np.minimum(found, room)))
            if value > highest:
                best, highest = column, value
        return best


def _score(gains: Floats) -> Floats:
    low, high = gains.min(axis=-1), gains.max(axis=-1)
    score: Floats = np.maximum(low, FRACTIONAL) * np.maximum(high, FRACTIONAL)
    return score


def fractional(share: Floats) -> Ints:
    """The columns whose share is neither 0 nor 1."""
    return np.flatnonzero((share > FRACTIONAL) & (share < 1 - FRACTIONAL))


# Rounds without a gain of this part of the gap before branching, and rounds in a node.
GAIN, PATIENCE, ROUNDS = 0.005, 20, 8
# A pattern is made from every so many nodes' shares.
OFTEN = 20
# Rounds of improvement of such a pattern at most, and requirements and columns that they handle: at least one round.
TOUCHES, WORK_OF_TOUCHES = 20, 20_000
BORDERS = (0.99, 0.5, 0.05)
# Parts are tried again once so many columns are left of those at the last try.
FEWER = 0.9
# From so many epochs to the next a search can be resumed.
EPOCHS_OF_A_PHASE = 25
# From so many columns on it takes too long to find out, by a linear program each, which requirements primaries protect.
MANY_COLUMNS = 3_000


class Exact(Search[Bools]):
    """A pattern and a lower bound that come closer until they meet.

    A column is suppressed or not. Whether a pattern protects a requirement is the attacker's linear program; its dual
    says which sums of suppressed columns are too small. A range is asked of both sides together, however the problem
    splits it: the optimum is that of all splits. The relaxation with these cuts is solved first at the root, round by
    round, then in the nodes of a tree, best bound first.

    Parameters
    ----------
    problem : Problem
        The problem.
    protector : Pattern
        Makes patterns from shares; what it holds is lost.
    incumbent : array of bool, optional
        A pattern over the columns that protects what can be protected.
    hopeless : array of int, optional
        The requirements that no pattern protects; found out if not given, which takes a linear program each where the
        problem is no network.

    References
    ----------
    M. Fischetti, J. J. Salazar González, Solving the cell suppression problem on tabular data with linear constraints,
    Management Science 47 (2001) 1008-1027.
    """

    def __init__(
        self,
        problem: Problem,
        protector: Pattern,
        incumbent: Bools | None = None,
        hopeless: Ints | None = None,
    ) -> None:
        self._protector = protector
        self._order = problem.by_level()
        self.problem, self._hopeless = _possible(problem, hopeless)
        self._pattern = problem.primary.copy()
        self._cost = np.inf
        if incumbent is None:
            self._repair(problem.primary)
        else:
            self._pattern = incumbent | problem.primary
            self._cost = problem.cost(self._pattern)
        start = self._cost if np.isfinite(self._cost) else float(problem.weight.sum())
        self._kept = np.arange(len(problem))  # columns of the problem that the relaxation has
        self._relaxation = Relaxation(self.problem, scale_for(start))
        self._branching = Branching(len(problem))
        self._step = _step(problem)
        self._bound = 0.0
        self._stage = "root"
        self._idle, self._count, self._epoch = 0, 0, 0
        self._root: tuple[float, Floats] = (0.0, problem.weight.copy())
        self._lower, self._upper = problem.primary.astype(np.float64), np.ones(len(problem))
        self._nodes: list[tuple[float, int, tuple[int, ...]]] = []
        self._next: tuple[float, int, tuple[int, ...]] | None = None
        self._made = 0
        # Shares that patterns are made from, and by how many borders they are still to be.
        self._shares, self._borders = np.zeros(len(problem)), 0
        # With fewer free columns than this, parts are tried.
        self._due = len(problem) + 1
        if not self.problem.requirements and not len(self.problem.ranged):
            # The primary columns protect each other, whatever a split of a range asks for.
            self.offer(problem.primary)
        self._close()

    @property
    def cost(self) -> float:
        """Cost of the best pattern found so far; infinite before there is any."""
        return self._cost

    @property
    def bound(self) -> float:
        """No pattern that protects all that can be protected costs less."""
        if self._stage == "done":
            return self._cost
        bound = self._bound
        if self._stage == "tree":
            ends = [node[0] for node in self._nodes[:1]] + ([self._next[0]] if self._next else [])
            bound = max(bound, min(ends, default=self._cost))
        if self._step > 0:
            bound = np.ceil(bound / self._step - 1e-4) * self._step
        return float(min(bound, self._cost))

    @property
    def bound_method(self) -> str:  # type: ignore[override]
        """How the bound was found, in words."""
        return "Benders cuts" if self._relaxation.pool.cuts else "branch and bound"

    @property
    def finished(self) -> bool:
        """Whether the best pattern is proven to be the cheapest."""
        return self._stage == "done"

    def answer(self) -> Bools:
        """The best pattern found so far, over the columns."""
        return self._pattern.copy()

    def offer(self, pattern: Bools) -> None:
        """Take a pattern that protects all that can be protected, if it is cheaper."""
        cost = self.problem.cost(pattern)
        if cost < self._cost:
            self._pattern, self._cost = pattern | self.problem.primary, cost
            self._fix()
            self._close()

    def _epochs(self) -> Iterator[None]:
        """Rounds of cuts at the root until they bring little, then the nodes of the tree, best bound first.

        Before the first node, and whenever fewer columns are left to decide on, parts of the problem are tried.
        """
        while self._stage != "done":
            self._begin_epoch()
            if self._borders:
                self._repair_shares()
            elif self._stage == "root":
                self._cut_root()
            elif self._free < self._due:
                self._solve_parts()
            else:
                self._solve_node()
            self._close()
            yield

    def _begin_epoch(self) -> None:
        if self._epoch % EPOCHS_OF_A_PHASE == 0:
            self.settle()
            self._begin_phase()
        self._relaxation.master.keep_basis_only()
        self._epoch += 1

    def settle(self) -> State:
        """Make everything anew from the state, which is given: the solver holds more than its basis tells."""
        state = self._state()
        if self._epoch:
            self._restore(state)
        return state

    def _cut_root(self) -> None:
        """Do a round of cuts at the root; begin the tree if that brings little."""
        before = self._bound
        found = self._relaxation.round(self._cutoff)
        if found.bound > self._root[0]:
            self._root = found.bound, found.reduced
            self._fix()
        self._bound = max(self._bound, found.bound)
        if self._bound > self._cutoff:
            self._stage = "done"
            return
        self._take(found)
        self._idle = 0 if self._bound - before > GAIN * (self._cutoff - before) else self._idle + 1
        if not found.added or (self._idle >= PATIENCE and len(fractional(found.share))):
            self._keep_shares(found.share)
            self._shrink()
            self._stage = "tree"
            self._next = (self._bound, 0, ())

    @property
    def _free(self) -> int:
        """How many columns a better pattern may suppress or not."""
        return int((self._lower < self._upper).sum())

    def _solve_parts(self) -> None:
        """Solve what the fixed columns leave part by part, and cut off what that leaves unprotected."""
        found = solve_parts(self._relaxation, self._lower, self._upper, self._step)
        self._bound = max(self._bound, min(found.bound, self._cost))
        cuts = self._relaxation.separator.cuts(found.share) if found.is_whole else []
        if self._bound > self._cutoff:
            self._stage = "done"
        elif found.is_whole and not cuts:
            # The best of a relaxation that protects everything.
            self.offer(self._whole(found.share > 0.5))
            self._stage = "done"
        elif not self._relaxation.require(cuts):
            self._due = int(FEWER * self._free)

    def _solve_node(self) -> None:
        """Solve the relaxation of the next node with a few rounds of cuts, and branch."""
        node = self._next or heapq.heappop(self._nodes)
        self._next = None
        bound, _, fixed = node
        if bound > self._cutoff:
            return
        lower, upper = self._lower.copy(), self._upper.copy()
        for mark in fixed:
            (lower if mark > 0 else upper)[abs(mark) - 1] = float(mark > 0)
        if (lower > upper).any():
            return
        relaxation = self._relaxation
        relaxation.master.within(lower, upper)
        self._count += 1
        rounds = 0
        while True:
            found = relaxation.round(self._cutoff)
            rounds += 1
            last, bound = bound, max(bound, found.bound)
            if bound > self._cutoff or self._take(found):
                return
            stalled = bound - last <= 2 * GAIN * (self._cutoff - bound)
            if not found.added or ((rounds >= ROUNDS or (rounds > 1 and stalled)) and len(fractional(found.share))):
                break
        if found.added:
            relaxation.master.solve()
            bound = max(bound, relaxation.master.bound()[0] / relaxation.scale)
            if bound > self._cutoff:
                return
        share = relaxation.master.share
        if self._count % OFTEN == 0:
            self._keep_shares(share)
        if not len(fractional(share)):
            self._push(bound, fixed)
            return
        room = max(self._cutoff - bound, 0.0) * relaxation.scale
        column = self._branching.choose(relaxation.master, share, relaxation.master.objective, room)
        self._push(bound, (*fixed, -column - 1))
        self._push(bound, (*fixed, column + 1))
        # Go down into the child that the shares point to: its linear program is nearly solved.
        self._next = heapq.heappop(self._nodes)

    def _push(self, bound: float, fixed: tuple[int, ...]) -> None:
        self._made += 1
        heapq.heappush(self._nodes, (bound, -self._made, fixed))

    def _take(self, found: Round) -> bool:
        """Take shares that are a pattern and violate nothing; tell whether they are one."""
        if found.violated or not np.isfinite(found.bound) or len(fractional(found.share)):
            return False
        self.offer(self._whole(found.share > 0.5))
        return True

    def _whole(self, pattern: Bools) -> Bools:
        """A pattern of the columns that the relaxation has as one of all."""
        whole = np.zeros(len(self.problem), dtype=np.bool_)
        whole[self._kept] = pattern
        return whole

    def _shrink(self) -> None:
        """Leave out the columns that no better pattern suppresses."""
        keep = self._upper > 0
        self._relaxation = self._relaxation.part(keep)
        self._kept = self._kept[keep]
        self._root = self._root[0], self._root[1][keep]
        self._lower, self._upper = self._lower[keep], self._upper[keep]
        self._branching = Branching(len(self._kept))

    def _keep_shares(self, share: Floats) -> None:
        """Keep shares that patterns are to be made from, one in an epoch."""
        self._shares[:] = 0.0
        self._shares[self._kept] = share
        self._borders = len(BORDERS)

    def _repair_shares(self) -> None:
        """Make a pattern from what has a high share in those kept, then from what has a lower one."""
        self._repair(self._shares > BORDERS[-self._borders])
        self._borders -= 1

    def _repair(self, pattern: Bools) -> None:
        """Make a pattern protect everything, and publish what it does not need."""
        protector = self._protector
        protector.start(pattern)
        protector.protect(self._order)
        protector.clean()
        if len(protector.open) == self._hopeless and np.isfinite(self._cost):
            # The state depends on nothing but the node: there is none to be kept.
            rounds = WORK_OF_TOUCHES // (self.problem.requirements + len(self.problem) // 4 + 1)
            protector.improve(seeded(0, self._count), min(TOUCHES, max(1, rounds)), 3, 0.0)
        if len(protector.open) == self._hopeless:
            found = protector.suppressed
            if not np.isfinite(self._cost):
                self._pattern, self._cost = found, self.problem.cost(found)
            else:
                self.offer(found)

    @property
    def _cutoff(self) -> float:
        """A bound above this leaves no room for a better pattern."""
        if self._step > 0:
            return self._cost - self._step * (1 - 1e-3)
        return self._cost * (1 - LEVEL)

    def _fix(self) -> None:
        """Columns that no better pattern suppresses, or publishes, by their reduced costs at the root."""
        bound, reduced = self._root
        free = self._lower < self._upper
        out = free & (bound + reduced > self._cutoff)
        must = free & (bound - reduced > self._cutoff)
        self._upper[out] = 0.0
        self._lower[must & ~out] = 1.0

    def _close(self) -> None:
        """See whether anything is left to do."""
        if self._cost <= 0:
            self._stage = "done"
        elif self._stage == "tree":
            if self._nodes and self._nodes[0][0] > self._cutoff:
                self._nodes.clear()
            if not self._nodes and self._next is None:
                self._stage = "done"
        elif self._bound > self._cutoff or not (self.problem.requirements or len(self.problem.ranged)):
            self._stage = "done"

    def _state(self) -> State:
        """All that the next epochs depend on."""
        nodes = self._nodes + ([self._next] if self._next else [])
        held: State = {
            "pattern": self._pattern.copy(),
            "kept": self._kept.copy(),
            "cost": self._cost,
            "bound": self._bound,
            "stage": self._stage,
            "numbers": np.array(
                [self._idle, self._count, self._made, self._epoch, int(self._next is not None)], dtype=np.int64
            ),
            "tried": np.array([self._due, self._borders], dtype=np.int64),
            "shares": self._shares.copy(),
            "root.bound": self._root[0],
            "root.reduced": self._root[1].copy(),
            "lower": self._lower.copy(),
            "upper": self._upper.copy(),
            "branching.gain": self._branching.gain.copy(),
            "branching.count": self._branching.count.copy(),
            "nodes.bound": np.array([node[0] for node in nodes]),
            "nodes.number": np.array([node[1] for node in nodes], dtype=np.int64),
            "nodes.size": np.array([len(node[2]) for node in nodes], dtype=np.int64),
            "nodes.fixed": np.array([mark for node in nodes for mark in node[2]], dtype=np.int64),
        }
        return held | inside("relaxation", self._relaxation.save()) | inside("repaired", self._protector.save())

    def _restore(self, state: State) -> None:
        """Go on from a saved state."""
        held: dict[str, Any] = dict(state)
        n = len(self.problem)
        self._pattern = integers("pattern", held["pattern"], (n,), 0, 1).astype(np.bool_)
        # What a pattern costs is worked out, not believed; before there is any it costs infinitely much.
        self._cost = self.problem.cost(self._pattern) if np.isfinite(float(held["cost"])) else np.inf
        self._bound, self._stage = finite("bound", held["bound"], least=0.0), str(held["stage"])
        if self._stage not in ("root", "tree", "done"):
            raise ValueError("stage is none of those there are")
        self._kept = integers("kept", held["kept"], (-1,), 0, n - 1)
        if (np.diff(self._kept) <= 0).any():
            raise ValueError("kept must rise")
        columns = len(self._kept)
        every = self._whole(np.ones(len(self._kept), dtype=np.bool_))
        self._relaxation = Relaxation(self.problem, self._relaxation.scale).part(every)
        numbers = integers("numbers", held["numbers"], (5,), 0, 2**62).tolist()
        self._idle, self._count, self._made, self._epoch, ahead = numbers
        if "tried" in held:
            self._due, borders = integers("tried", held["tried"], (2,), 0, 2**62).tolist()
            self._borders, self._shares = min(borders, len(BORDERS)), floats("shares", held["shares"], (n,))
        self._branching = Branching(columns)
        self._root = finite("root.bound", held["root.bound"]), floats("reduced", held["root.reduced"], (columns,))
        self._lower, self._upper = (
            np.clip(floats(name, held[name], (columns,)), 0.0, 1.0) for name in ("lower", "upper")
        )
        self._branching.gain = floats("branching.gain", held["branching.gain"], (columns, 2))
        self._branching.count = floats("branching.count", held["branching.count"], (columns, 2))
        marks = integers("nodes.fixed", held["nodes.fixed"], (-1,), -columns, columns)
        sizes = integers("nodes.size", held["nodes.size"], (-1,), 0, len(marks))
        if sizes.sum() != len(marks) or (marks == 0).any():
            raise ValueError("the nodes do not fix as many columns as they say")
        fixed = [tuple(some.tolist()) for some in np.split(marks, np.cumsum(sizes)[:-1])] if len(sizes) else []
        bounds = floats("nodes.bound", held["nodes.bound"], (len(sizes),)).tolist()
        ranks = integers("nodes.number", held["nodes.number"], (len(sizes),), -(2**62), 2**62).tolist()
        nodes = list(zip(bounds, ranks, fixed, strict=True))
        self._next = nodes.pop() if ahead else None
        self._nodes = nodes
        self._relaxation.load(part("relaxation", state))
        self._protector.load(part("repaired", state))


def _possible(problem: Problem, hopeless: Ints | None) -> tuple[Problem, int]:
    """The problem of any split with what depends on the pattern, and how many requirements no pattern protects."""
    if hopeless is None:
        room = np.where(problem.side > 0, problem.system.hi[problem.cell], -problem.system.lo[problem.cell])
        lost = separator_of(problem).lacking(np.ones(len(problem))) > 0
        lost |= room < problem.level * (1 - LEVEL)
    else:
        lost = np.isin(np.arange(problem.requirements), hopeless)
    # The range of a cell with a requirement that is lost might be had by another split: left out, no bound is too high.
    rest = problem.only(~lost, ~np.isin(problem.ranged, problem.cell[lost])).any_split()
    if len(problem) < MANY_COLUMNS or rest.is_network:
        primary = problem.primary.astype(np.float64)
        rest = rest.only(separator_of(rest).lacking(primary) > 0, narrow(rest, primary))
    return rest, int(lost.sum())


def _step(problem: Problem) -> float:
    """What costs are whole multiples of; 0 if they are of nothing."""
    units = problem.weight[~problem.primary] * problem.scale
    whole = np.rint(units)
    if (np.abs(units - whole) > WHOLE * np.maximum(1.0, units)).any() or whole.max(initial=0.0) > 2**50:
        return 0.0
    numbers: Ints = whole.astype(np.int64)
    return gcd(*numbers.tolist()) / problem.scale


@dataclass(frozen=True)
class Proof:
    """The cheapest pattern, with a proof: the model of Fischetti and Salazar by Benders cuts in a tree.

    References
    ----------
    M. Fischetti, J. J. Salazar González, Solving the cell suppression problem on tabular data with linear constraints,
    Management Science 47 (2001) 1008-1027.
    """

    def search(self, problem: Problem, seed: int, previous: Bools | None = None) -> Exact:
        """The search of one component of a problem."""
        protector = pattern_of(problem)
        protector.start(previous)
        protector.protect(problem.by_level())
        protector.clean()
        nothing = np.empty(0, dtype=np.int64)
        return Exact(problem, protector, protector.suppressed, nothing)
