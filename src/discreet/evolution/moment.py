"""What stops and listeners are told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """Where a run stands, after an epoch or before the first.

    Parameters
    ----------
    steps : int
        Epochs done, those before a resumption included.
    seconds : float
        Seconds since this sitting began; a resumed run starts anew.
    cost : float
        Cost of the best found so far.
    improved : int
        The step at which that cost was last lowered.
    """

    steps: int
    seconds: float
    cost: float
    improved: int

    def after(self, seconds: float, cost: float) -> Moment:
        """The moment one step later."""
        steps = self.steps + 1
        if cost < self.cost:
            return Moment(steps, seconds, cost, steps)
        return Moment(steps, seconds, self.cost, self.improved)
