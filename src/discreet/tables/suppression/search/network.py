"""The search where relations form a network: constructions, then ruin and repair in turn with a proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from discreet.attack.system import Bools, Ints
from discreet.evolution import checkpoint as randomness
from discreet.evolution.checks import integers, whole
from discreet.evolution.process import State, inside, part
from discreet.tables.suppression.exact.branch_and_cut import Exact
from discreet.tables.suppression.network_pattern import NetworkPattern
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.search.incumbent import CYCLES, PatternSearch

# Requirements and columns handled by the repairs of an epoch: more repairs where one is short.
WORK_OF_AN_EPOCH = 10_000
# With fewer requirements a construction is cleaned up at once; otherwise so many cells times requirements in an epoch.
FEW_REQUIREMENTS = 1_000
CLEANED_IN_AN_EPOCH = 100_000
# Steps of branch and cut after each construction, up to so many columns times those of the longest relation: beyond,
# such a step takes as long as a construction.
PROOFS_PER_CONSTRUCTION, QUICKLY_PROVEN = 8, 10_000_000
# From so many epochs of repair to the next a search can be resumed.
EPOCHS_OF_A_PHASE = 50


class NetworkSearch(PatternSearch):
    """Several constructions, each cleaned up; then repairs, and every other epoch a step of branch and cut.

    Parameters
    ----------
    problem : Problem
        The problem, a network.
    seed : int
        Seed of the random numbers.
    previous : array of bool, optional
        A pattern over the columns to begin with as well.
    starts, most, heat, proofs : int, int, float, bool
        See `Search`.
    """

    pattern: NetworkPattern

    def __init__(
        self,
        problem: Problem,
        seed: int,
        previous: Bools | None = None,
        *,
        starts: int,
        most: int,
        heat: float,
        proofs: bool,
    ) -> None:
        super().__init__(NetworkPattern(problem), seed, previous, heat)
        self._most, self._is_proving = most, proofs
        self._permutations = np.random.Generator(np.random.PCG64(seed))
        self._repairs = max(1, WORK_OF_AN_EPOCH // (problem.requirements + len(problem) // 4 + 1))
        self._constructions = starts + (previous is not None)
        self._constructed, self._epoch = 0, 0
        longest = int(np.diff(problem.system.starts).max(initial=0))
        self._is_proof_quick = len(problem) * longest <= QUICKLY_PROVEN
        # Branch and cut beside the repairs, the pattern it was begun with, and its state when the phase began.
        self._exact: Exact | None = None
        self._exact_from: Bools | None = None
        self._exact_state: State | None = None

    @property
    def bound(self) -> float | None:
        """No pattern costs less; None where nothing is proven."""
        return None if self._exact is None else self._exact.bound

    @property
    def bound_method(self) -> str:  # type: ignore[override]
        """How the bound was found, in words."""
        return "" if self._exact is None else self._exact.bound_method

    @property
    def finished(self) -> bool:
        """Whether nothing can be gained: no secondary cell is needed, or the pattern is proven to be the cheapest."""
        return super().finished or (self._exact is not None and self._exact.finished)

    def _epochs(self) -> Iterator[None]:
        while self._constructed < self._constructions:
            self._begin_phase_of_both()
            for _ in self._construct(self._constructed):
                self._epoch += 1
                yield
            self._constructed += 1
            if self._is_proving and self._is_proof_quick:
                # What the relaxation takes often makes a better pattern than any construction, and sooner.
                for _ in range(PROOFS_PER_CONSTRUCTION):
                    self._prove()
                    self._epoch += 1
                    yield
        while True:
            if self._epoch % EPOCHS_OF_A_PHASE == 0:
                self._begin_phase_of_both()
            if self._is_proving and self._epoch % 2 == 1:
                self._prove()
            else:
                self._repair()
            self._epoch += 1
            yield

    def _begin_phase_of_both(self) -> None:
        self._exact_state = None if self._exact is None else self._exact.settle()
        self._begin_phase()

    def _construct(self, number: int) -> Iterator[None]:
        """Protect the requirements in an order, and publish what is not needed: in parts, for that may take minutes."""
        given = self._previous is not None
        self.pattern.start(self._previous if given and number == 0 else None)
        self.pattern.protect(self._order(number - given))
        self._unprotectable = len(self.pattern.open)
        self._keep(self.pattern.suppressed)
        cells = self.pattern.costliest_first
        if len(cells) and self.problem.requirements >= FEW_REQUIREMENTS:
            yield
        some = CLEANED_IN_AN_EPOCH // (self.problem.requirements + 1) + 5
        while True:
            self.pattern.clean(cells[:some])
            self._keep(self.pattern.suppressed)
            cells = cells[some:]
            if not len(cells):
                break
            yield
        if number + 1 == self._constructions:
            self._return_to_best()
        yield

    def _order(self, number: int) -> Ints:
        """The order of requirements of a construction: by level, by weight of the primary cells, at random."""
        weight = self.problem.table.cost[self.problem.system.cells[self.problem.cell]]
        keys = (-self.problem.level, self.problem.level, -weight, weight)
        if number < len(keys):
            return np.argsort(keys[max(number, 0)], kind="stable").astype(np.int64)
        return self._permutations.permutation(self.problem.requirements).astype(np.int64)

    def _repair(self) -> None:
        """Take apart and repair some times; at the end of a cycle go back to the best."""
        place = CYCLES.place(self._epoch // 2)
        self.pattern.improve(self._random, self._repairs, self._most, self._heat_at(place))
        self._keep(self.pattern.suppressed)
        if place.last:
            self._return_to_best()

    def _prove(self) -> None:
        """A step of branch and cut, which may find a better pattern as well."""
        assert self._best is not None
        if self._exact is None:
            self._exact_from = self._best
            self._exact = self._begin_proof(self._best)
        self._exact.offer(self._best)
        next(self._exact.epochs(), None)
        if self._exact.cost < self._cost:
            self._cost, self._best = self._exact.cost, self._exact.answer()
            self._return_to_best()

    def _begin_proof(self, incumbent: Bools) -> Exact:
        # It has a pattern of its own: what it makes must not disturb the one at hand.
        return Exact(self.problem, self.pattern.twin(), incumbent, np.empty(0, dtype=np.int64))

    def _tidy_up(self) -> None:
        self.pattern.clean()

    def _state(self) -> State:
        state = super()._state() | inside("pattern", self.pattern.save())
        state |= {"constructed": self._constructed, "epoch": self._epoch}
        state |= {"permutations": randomness.to_text(self._permutations)}
        if self._exact_state is not None and self._exact_from is not None:
            state |= inside("exact", self._exact_state) | {"exact_from": self._exact_from}
        return state

    def _restore(self, state: State) -> None:
        super()._restore(state)
        held: Mapping[str, Any] = state
        self.pattern.load(part("pattern", state))
        self._constructed, self._epoch = (whole(name, held[name], 0) for name in ("constructed", "epoch"))
        randomness.from_text(self._permutations, str(held["permutations"]))
        self._exact = self._exact_from = self._exact_state = None
        if "exact_from" in held:
            begun = integers("exact_from", held["exact_from"], (len(self.problem),), 0, 1)
            self._exact_from = begun.astype(np.bool_)
            self._exact = self._begin_proof(self._exact_from)
            self._exact_state = part("exact", state)
            self._exact.load(inside("phase", self._exact_state) | {"since": 0})
