"""Where a run stands, how its cost fell, and when it is over: moments, traces and stops.

A stop is a small callable that also says how far along the run is. The engine itself stops a run that is finished or
interrupted; stops are the other reasons. A search that may be stopped at any time shares out its epochs in
cycles that grow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from discreet.evolution.checks import finite, whole

# A trace has at most so many points.
MOST_POINTS = 200
Point = tuple[int, float, float]


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
    """

    steps: int
    seconds: float
    cost: float

    def after(self, seconds: float, cost: float) -> Moment:
        """The moment one step later."""
        return Moment(self.steps + 1, seconds, min(cost, self.cost))


class Trace:
    """Step, seconds and cost each time the best cost falls: the first, the last, and evenly spaced ones between.

    Parameters
    ----------
    points : iterable of (step, seconds, cost)
        What another trace has kept so far.
    count : int
        How many points that trace was told.
    stride : int
        Every how many of them it kept.
    earlier : float
        Seconds of the sittings before this one, on which the seconds of this one go on.

    Notes
    -----
    When there are more than 200 points every other one goes, and from then on only every other one is kept (every
    fourth after the next time, and so on), so that early and late parts of a run stay equally fine.
    """

    def __init__(self, points: tuple[Point, ...] = (), count: int = 0, stride: int = 1, earlier: float = 0.0) -> None:
        self.points = points
        self.count = count
        self.stride = stride
        self.earlier = earlier

    def note(self, step: int, seconds: float, cost: float) -> None:
        """Take note of the cost at a step of this sitting, if it is the lowest so far."""
        if not cost < (self.points[-1][2] if self.points else math.inf):
            return
        points = self.points
        if self.count and (self.count - 1) % self.stride:
            points = points[:-1]  # kept only while it was the last
        points = (*points, (step, self.earlier + seconds, cost))
        if len(points) > MOST_POINTS:
            self.stride *= 2
            points = (*points[:-1:2], points[-1])
        self.points = points
        self.count += 1


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
    """

    seconds: float

    def __post_init__(self) -> None:
        finite("seconds", self.seconds, "above 0", least=math.ulp(0.0))

    def __call__(self, moment: Moment) -> str | None:
        return "time" if moment.seconds >= self.seconds else None

    def progress(self, moment: Moment) -> float:
        """Share of the time that is over."""
        return min(moment.seconds / self.seconds, 1.0)


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
class Place:
    """Where an epoch stands: the number of its cycle, its place in the cycle, and the cycle's length."""

    cycle: int
    epoch: int
    length: int

    @property
    def fraction(self) -> float:
        """How much of the cycle is over when the epoch begins; 1 in the last epoch."""
        return self.epoch / (self.length - 1) if self.length > 1 else 1.0

    @property
    def last(self) -> bool:
        """Whether the cycle ends with this epoch."""
        return self.epoch == self.length - 1


@dataclass(frozen=True)
class Cycles:
    """Cycles of epochs, each longer than the one before by the same factor.

    An annealing that cools once needs to know how long it may last. In cycles it needs not: where an epoch stands
    follows from its number alone, so a run of N epochs is the beginning of every longer one.

    Parameters
    ----------
    first : int
        Epochs of the first cycle, at least 1.
    growth : float
        How much longer each cycle is than the one before, at least 1.
    """

    first: int
    growth: float

    def length(self, cycle: int) -> int:
        """Epochs of the cycle of a number, from 0 on."""
        return int(self.first * self.growth**cycle)

    def places(self, cycle: int) -> Iterator[Place]:
        """The places of a cycle, in their order."""
        length = self.length(cycle)
        return (Place(cycle, epoch, length) for epoch in range(length))

    def place(self, epoch: int) -> Place:
        """Where the epoch of a number, from 0 on, stands."""
        cycle = 0
        while epoch >= self.length(cycle):
            epoch -= self.length(cycle)
            cycle += 1
        return Place(cycle, epoch, self.length(cycle))
