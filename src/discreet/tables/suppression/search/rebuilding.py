"""Patterns built anew by linear programs, led by the one there is.

A program pays for the moves of cells, not for cells; what a build takes early is dear in hindsight. Built again with
the cells of the best pattern at a discount, in another order, and then once more with the cells taken only, patterns
get cheaper at nearly every round, and by more than cell by cell.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.arrays import Words
from discreet.kernels.random import uniform
from discreet.tables.suppression.program_pattern import Linear, Sweep

# Up to so many columns both orders are tried at once. Beyond, a round takes minutes, longest with small levels first.
SMALL = 5_000
# Below so many columns a program is quick, and repairs have many: they take what is dearer first, to come out cheaper.
TINY, LONG = 1_000, 500
# So often the better of the two ways goes on before the other has a chance again.
FAVOUR = 3
# Between these is what cells of the pattern cost in a build, in parts of their weight.
LEAST, MOST = 0.5, 0.9


class Turns:
    """Takes turns between building anew and repairs cell by cell: that goes on which saved more per program lately.

    Parameters
    ----------
    protector : Linear
        Has the pattern, whole.

    Attributes
    ----------
    repairs
        How many repairs were made.
    """

    def __init__(self, protector: Linear) -> None:
        self._protector = protector
        self._round: Round | None = None
        self._rounds, self._is_small = 0, len(protector.problem) <= SMALL
        self._is_tiny = len(protector.problem) < TINY
        # In a tiny table repairs get further from a pattern that is not yet lean.
        self._rounds_first = 2 if self._is_small and not self._is_tiny else 0
        # Of rounds and of repairs: what a program saved last time, and how often it was the other's turn since.
        self._rate, self._waited = [0.0, np.inf], [0, 0]
        self.repairs = 0
        # The repairs at hand: the cost before them, the programs they took and may take.
        self._is_repairing, self._cost, self._spent, self._most = False, np.inf, 0, 0

    @property
    def busy(self) -> bool:
        """Whether a pattern is being built, so that the protector has none that is whole."""
        return self._round is not None

    def advance(self, state: Words, most: int, heat: float) -> None:
        """Solve one more program of a build, or make one more repair; see `Linear.improve`."""
        protector = self._protector
        if self._round is not None:
            self._round.advance()
            if self._round.finished:
                self._done(0, self._round.gain, self._round.programs)
                self._most, self._round = self._round.programs, None
        elif self._is_repairing:
            before = protector.solved
            protector.improve(state, 1, most, heat)
            self.repairs += 1
            # A repair that finds nothing to solve counts as well.
            self._spent += max(protector.solved - before, 1)
            if self._spent >= self._most:
                self._done(1, self._cost - protector.cost, self._spent)
                self._is_repairing = False
        elif self._is_for_rounds:
            self._round = Round(protector, state, rising=self._is_small and self._rounds % 2 == 0)
            self._rounds += 1
        else:
            self._is_repairing, self._cost, self._spent = True, protector.cost, 0
            # As many as a round took, or all that was done before the first one.
            self._most = max(self._most or protector.solved, LONG if self._is_tiny else 0)

    @property
    def _is_for_rounds(self) -> bool:
        if self._rounds < self._rounds_first:
            return True
        if max(self._waited) >= FAVOUR:
            return self._waited[0] >= FAVOUR
        return self._rate[0] > self._rate[1]

    def _done(self, which: int, gain: float, programs: int) -> None:
        self._rate[which] = gain / max(programs, 1)
        self._waited[which] = 0
        self._waited[1 - which] += 1


class Round:
    """A pattern that is built anew, one program at a time.

    Parameters
    ----------
    protector : Linear
        Has the pattern to begin with, whole; has the better of the two at the end.
    state : array of uint64
        State of the random numbers.
    rising : bool
        Whether small levels come first in the build, and large ones in the sweep after it, or the other way round.
    """

    def __init__(self, protector: Linear, state: Words, *, rising: bool) -> None:
        self._protector = protector
        self._mark, self._cost, self._begun = protector.mark, protector.cost, protector.solved
        self._after: Sweep | None = Sweep(rising=not rising)
        known = LEAST + (MOST - LEAST) * uniform(state)
        self._order = protector.begin_sweep(Sweep(rising=rising, known=known))
        self.finished = False

    @property
    def programs(self) -> int:
        """How many programs it took so far."""
        return self._protector.solved - self._begun

    @property
    def gain(self) -> float:
        """What it saved, once it is finished."""
        return self._cost - self._protector.cost

    def advance(self) -> None:
        """Solve one more program."""
        protector = self._protector
        waiting = protector.waiting(self._order)
        if len(waiting) and not protector.protect(waiting, 1):
            return
        if self._after is None or len(waiting):
            protector.end_sweep(self._cost)
            if protector.cost > self._cost:
                protector.return_to(self._mark)
            self.finished = True
            return
        # Dearer or not, its cells are what the sweep chooses from.
        protector.end_sweep(np.inf)
        self._order = protector.begin_sweep(self._after)
        self._after = None
