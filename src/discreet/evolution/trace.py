"""How the best cost fell during a run."""

from __future__ import annotations

import math

LIMIT = 200
Point = tuple[int, float, float]


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
        if len(points) > LIMIT:
            self.stride *= 2
            points = (*points[:-1:2], points[-1])
        self.points = points
        self.count += 1
