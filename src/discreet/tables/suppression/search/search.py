"""Our own search: protect, clean up, then take apart and repair for as long as there is time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from discreet.attack.system import Bools, Ints
from discreet.errors import InputError, whole
from discreet.evolution import checkpoint as randomness
from discreet.evolution.cycles import Cycles
from discreet.evolution.process import Advancing, State
from discreet.kernels.arrays import Words
from discreet.kernels.random import seeded
from discreet.tables.suppression.exact.branch_and_cut import Exact
from discreet.tables.suppression.network_pattern import Flows
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.program_pattern import Linear, Sweep
from discreet.tables.suppression.protectors import Protector
from discreet.tables.suppression.search.rebuilding import Turns

CYCLES = Cycles(40, 1.5)
# Rounds of an epoch: more where a round is short.
WORK = 10_000
# With fewer tasks a start is cleaned up at once; otherwise so many cells times tasks in an epoch.
FEW = 1_000
CLEANED = 100_000
# What cells of a previous pattern cost in the first build, in parts of their weight.
KEPT = 0.7


@dataclass(frozen=True)
class Search:
    """Iterated destroy and repair with clean-up.

    Several orders of the incremental attacker are tried first, each cleaned up. Then dear secondary cells are taken
    away, what that lays open is protected again at the least cost, and all that has become needless is published; what
    is cheaper is kept. In cycles a pattern that is a little dearer may be kept too, less and less so.

    Parameters
    ----------
    starts : int
        How many orders to begin with: by falling and rising level, by falling and rising weight, then random ones.
    most : int
        How many cells are taken away at once at most.
    heat : float
        How much dearer a pattern may be, as a share of the cost, at the beginning of a cycle.
    proofs : bool
        Whether to let `exact` go on beside it where the relations form a network: its linear relaxation leads to
        patterns that no repair finds, and it proves how good they are.

    References
    ----------
    Ours, by the principle of G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization
    results using the ruin and recreate principle, Journal of Computational Physics 159 (2000) 139-171.
    """

    starts: int = 6
    most: int = 4
    heat: float = 0.01
    proofs: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", whole("starts", self.starts, 1))
        object.__setattr__(self, "most", whole("most", self.most, 1))
        if not 0 <= self.heat <= 1:
            raise InputError(f"heat must be between 0 and 1, not {self.heat!r}")

    def begin(self, problem: Problem, protector: Protector, seed: int, previous: Bools | None = None) -> Searching:
        """The search as a process."""
        return Searching(self, problem, protector, seed, previous)


class Searching(Advancing):
    """A running search.

    Parameters
    ----------
    method : Search
        Its parameters.
    problem : Problem
        The problem.
    protector : Protector
        How it is protected.
    seed : int
        Seed of the random numbers.
    previous : array of bool, optional
        A pattern over the columns to begin with as well.
    """

    def __init__(
        self, method: Search, problem: Problem, protector: Protector, seed: int, previous: Bools | None
    ) -> None:
        self.method, self.problem, self.protector = method, problem, protector
        self.previous = previous
        self._state = seeded(seed, 0)
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self._epoch, self._begun = 0, 0
        # Cells of the pattern at hand that are still to be cleaned up.
        self._unclean = np.empty(0, dtype=np.int64)
        self._best: Bools | None = None
        self._cost = np.inf
        self.failed = np.empty(0, dtype=np.int64)
        quick = isinstance(protector, Flows)
        self._rounds = max(1, WORK // (problem.tasks + len(problem) // 4 + 1)) if quick else 1
        self._exact: Exact | None = None
        self._built, self._swept, self._due = False, 0, 0
        self._order_of_sweep = np.empty(0, dtype=np.int64)
        self._turns = Turns(protector) if isinstance(protector, Linear) else None

    @property
    def cost(self) -> float:
        """Cost of the best pattern so far."""
        return self._cost

    @property
    def finished(self) -> bool:
        """Whether nothing can be gained: no secondary cell is needed, or the pattern is proven to be the cheapest."""
        proven = self._exact is not None and self._exact.finished
        return self._best is not None and (self._cost == 0.0 or proven)

    @property
    def bound(self) -> float | None:
        """No pattern costs less; None where nothing is proven."""
        return None if self._exact is None else self._exact.bound

    @property
    def _starts(self) -> int:
        # Where every step is a linear program, one start takes as long as many repairs, and is built up by itself.
        return self.method.starts + (self.previous is not None) if not isinstance(self.protector, Linear) else 0

    def advance(self) -> None:
        """Try one more start, or take apart and repair some times."""
        if isinstance(self.protector, Linear) and not self._built:
            self._build(self.protector)
        elif len(self._unclean):
            self._clean()
        elif self._begun < self._starts:
            self._begin(self._begun)
        elif self._is_to_prove:
            self._prove()
        else:
            self._improve((self._epoch if self._turns is None else self._turns.repairs) // 2)
        self._epoch += 1

    @property
    def _is_to_prove(self) -> bool:
        """Whether the next epoch is one of proof: every second one, where flows make it worth while."""
        return self.method.proofs and isinstance(self.protector, Flows) and self._epoch % 2 == 1

    def _prove(self) -> None:
        assert self._best is not None
        assert isinstance(self.protector, Flows)
        if self._exact is None:
            # It has a protector of its own: what it makes must not disturb the pattern at hand.
            nothing = np.empty(0, dtype=np.int64)
            self._exact = Exact(self.problem, self.protector.twin(), self._best, nothing)
        self._exact.offer(self._best)
        self._exact.advance()
        if self._exact.cost < self._cost:
            self._cost, self._best = self._exact.cost, self._exact.answer()
            self._return()

    def _build(self, protector: Linear) -> None:
        """Where every step is a linear program: a safe pattern at once, then cheap ones, a program at a time.

        What the cheap one has not protected yet rests on the one before, so that the search can be stopped at any time.
        """
        if self._epoch == 0:
            protector.start(self.previous)
            protector.sketch(self.problem.by_level())
            self.failed = protector.open
            self._note()
            self._sweep(protector)
            return
        waiting = protector.waiting(self._order_of_sweep)
        waiting = waiting[~np.isin(waiting, self.failed)]
        if len(waiting):
            if protector.protect(waiting, 1):
                # Rounding stands in the way of what boxes could do: go on from their pattern.
                self._built = True
                self._return()
            else:
                self._note(protector.pattern)
                self._complete(protector)
            return
        protector.end_sweep()
        self._swept += 1
        self._note()
        self._sweep(protector)

    def _complete(self, protector: Linear) -> None:
        """Now and then in the first build: what there is, made safe at once."""
        if self._swept == 0 and protector.solved >= self._due:
            self._due = protector.solved + max(3, protector.solved // 4)
            found = protector.completed()
            if found is not None:
                self._note(found)

    def _sweep(self, protector: Linear) -> None:
        """Begin the next sweep, the first of them with any cells; after the last, improve the best pattern."""
        build = Sweep(rising=False, known=1.0 if self.previous is None else KEPT)
        sweeps = (build, *protector.sweeps)
        if self._swept < len(sweeps):
            self._order_of_sweep = protector.begin_sweep(sweeps[self._swept])
        else:
            self._built = True
            self._return()

    def _begin(self, number: int) -> None:
        given = self.previous is not None
        self.protector.start(self.previous if given and number == 0 else None)
        self.protector.protect(self._order(number - given))
        self.failed = self.protector.open
        self._begun += 1
        self._note()
        if isinstance(self.protector, Flows):
            self._unclean = self.protector.dearest_first
        if not len(self._unclean) or self.problem.tasks < FEW:
            self._clean()

    def _clean(self) -> None:
        """Clean up some cells of a start: all of them would take minutes where moves are of a thousand cells."""
        if isinstance(self.protector, Flows):
            some = CLEANED // (self.problem.tasks + 1) + 5
            now, self._unclean = self._unclean[:some], self._unclean[some:]
            self.protector.clean(now)
        else:
            self.protector.clean()
        self._note()
        if not len(self._unclean) and self._begun == self._starts:
            self._return()

    def _order(self, number: int) -> Ints:
        """The order of tasks of a start: by level, by weight of the primary cells, at random."""
        weight = self.problem.table.cost[self.problem.system.cells[self.problem.cell]]
        keys = (-self.problem.level, self.problem.level, -weight, weight)
        if number < len(keys):
            return np.argsort(keys[max(number, 0)], kind="stable").astype(np.int64)
        return self._generator.permutation(self.problem.tasks).astype(np.int64)

    def _improve(self, epoch: int) -> None:
        place = CYCLES.place(epoch)
        heat = self.method.heat * (1.0 - place.fraction) if place.cycle % 2 else 0.0
        if self._turns is None:
            self.protector.improve(self._state, self._rounds, self.method.most, heat)
        else:
            self._turns.advance(self._state, self.method.most, heat)
        if not self._is_building:
            self._note()
            if place.last:
                self._return()

    @property
    def _is_building(self) -> bool:
        return self._turns is not None and (not self._built or self._turns.busy)

    def _note(self, pattern: Bools | None = None) -> None:
        pattern = self.protector.suppressed if pattern is None else pattern
        cost = self.problem.cost(pattern)
        if cost < self._cost:
            self._cost, self._best = cost, pattern

    def _return(self) -> None:
        """Go on from the best pattern."""
        if self._best is not None and (self.protector.cost > self._cost or len(self.protector.open) > len(self.failed)):
            self.protector.start(self._best)
            self.protector.protect(self.problem.by_level())
            if isinstance(self.protector, Flows):
                self.protector.clean()

    def answer(self) -> Bools:
        """The best pattern over the columns."""
        return self.problem.primary.copy() if self._best is None else self._best.copy()

    def save(self) -> State:
        """The patterns and the random state; certificates and proofs are not kept."""
        return {
            "epoch": self._epoch,
            "cost": self._cost,
            "best": self.answer(),
            "pattern": self.answer() if self._is_building else self.protector.suppressed,
            "failed": self.failed.copy(),
            "built": int(self._built),
            "begun": self._begun,
            "unclean": self._unclean.copy(),
            "swept": self._swept,
            "words": self._state.copy(),
            "generator": randomness.to_text(self._generator),
        }

    def load(self, state: State) -> None:
        """Go on from a saved pattern, with certificates made anew: as good a search, but not step by step the same."""
        self._epoch, self._swept = int(cast("int", state["epoch"])), int(cast("int", state["swept"]))
        self._cost, self._built = float(cast("float", state["cost"])), bool(state["built"])
        self._begun, self._unclean = int(cast("int", state["begun"])), np.array(state["unclean"], dtype=np.int64)
        self._best = np.array(state["best"], dtype=np.bool_) if np.isfinite(self._cost) else None
        self.failed = np.array(state["failed"], dtype=np.int64)
        self._state[:] = cast("Words", state["words"])
        randomness.from_text(self._generator, str(state["generator"]))
        self._exact = None
        self.protector.start(np.array(state["pattern"], dtype=np.bool_))
        if isinstance(self.protector, Linear) and not self._built:
            # Boxes find certificates of what is suppressed soonest.
            self.protector.sketch(self.problem.by_level())
            self._sweep(self.protector)
        else:
            self.protector.protect(self.problem.by_level())
