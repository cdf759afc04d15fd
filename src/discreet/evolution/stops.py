"""When a run is over: small callables that also say how far along it is.

The engine itself stops a run that is finished or interrupted; these are the other reasons.

What stops and listeners are told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from discreet.evolution.checks import finite, whole


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


class Stop(Protocol):
    """A reason to end a run."""

    def __call__(self, moment: Moment) -> str | None:
        """The reason in a word or two, or None to go on."""
        ...

    def progress(self, moment: Moment) -> float:
        """How far along the run is, in [0, 1]."""
        ...


@dataclass(frozen=True)
class MaxSeconds:
    """Stop when the time is over.

    Time is looked at between epochs only, so a run takes up to an epoch longer.

    Parameters
    ----------
    seconds : float
        Seconds on the clock, above 0.
    reserve : float
        Seconds of these that are kept for what comes after the last epoch.
    """

    seconds: float
    reserve: float = 0.0

    def __post_init__(self) -> None:
        finite("seconds", self.seconds, "above 0", least=math.ulp(0.0))
        finite("reserve", self.reserve, "of at least 0 and below seconds", least=0.0)
        if self.reserve >= self.seconds:
            raise ValueError(f"reserve is {self.reserve!r}; it must be at least 0 and below seconds, {self.seconds!r}")

    def __call__(self, moment: Moment) -> str | None:
        return "time" if moment.seconds >= self.seconds - self.reserve else None

    def progress(self, moment: Moment) -> float:
        """Share of the time that is over."""
        return min(moment.seconds / (self.seconds - self.reserve), 1.0)


@dataclass(frozen=True)
class MaxSteps:
    """Stop after a number of epochs, those before a resumption included.

    Parameters
    ----------
    steps : int
        Epochs, at least 1.
    """

    steps: int

    def __post_init__(self) -> None:
        whole("steps", self.steps, 1)

    def __call__(self, moment: Moment) -> str | None:
        return "steps" if moment.steps >= self.steps else None

    def progress(self, moment: Moment) -> float:
        """Share of the steps that are done."""
        return min(moment.steps / self.steps, 1.0)


@dataclass(frozen=True)
class NoImprovement:
    """Stop when the best has stayed the same for a number of epochs.

    Parameters
    ----------
    steps : int
        Epochs without a better cost, at least 1.
    """

    steps: int

    def __post_init__(self) -> None:
        whole("steps", self.steps, 1)

    def __call__(self, moment: Moment) -> str | None:
        return "no improvement" if moment.steps - moment.improved >= self.steps else None

    def progress(self, moment: Moment) -> float:
        """Share of the idle steps that are done; it falls back when the best improves."""
        return min((moment.steps - moment.improved) / self.steps, 1.0)


@dataclass(frozen=True)
class Target:
    """Stop when the best costs no more than a given cost.

    Parameters
    ----------
    cost : float
        The cost to reach.
    """

    cost: float

    def __post_init__(self) -> None:
        finite("cost", self.cost)

    def __call__(self, moment: Moment) -> str | None:
        return "target" if moment.cost <= self.cost else None

    def progress(self, moment: Moment) -> float:
        """1 once the cost is reached; nobody knows how far it is before."""
        return 1.0 if moment.cost <= self.cost else 0.0


@dataclass(frozen=True)
class FirstOf:
    """Stop as soon as one of several stops says so; see `first_of`."""

    stops: tuple[Stop, ...]

    def __post_init__(self) -> None:
        if not self.stops:
            raise ValueError("first_of needs at least one stop")

    def __call__(self, moment: Moment) -> str | None:
        return next((reason for stop in self.stops if (reason := stop(moment)) is not None), None)

    def progress(self, moment: Moment) -> float:
        """Progress of the stop that is farthest along."""
        return max(stop.progress(moment) for stop in self.stops)


def first_of(*stops: Stop) -> FirstOf:
    """Stop with the first of several reasons; where two come at once, with the one named first.

    Parameters
    ----------
    *stops : Stop
        At least one.
    """
    return FirstOf(stops)
