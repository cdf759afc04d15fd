"""The front of trade-offs: what loses less than everything that risks no more."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

What = TypeVar("What")
# The corner that areas are measured from: everything lost, everybody found.
WORST = 100.0


class Trade(NamedTuple, Generic[What]):
    """What loses and risks so much."""

    il: float
    dr: float
    what: What


class Front(Generic[What]):
    """Keeps all that is not dominated by another: no other loses no more and risks no more. Of equals the first stays.

    The trades are in the order of rising loss, and so of falling risk.
    """

    def __init__(self) -> None:
        self.trades: list[Trade[What]] = []

    def offer(self, il: float, dr: float, what: What) -> bool:
        """Take something up unless it is dominated, and drop what it dominates; tell whether it was taken."""
        if not (math.isfinite(il) and math.isfinite(dr)):
            return False
        after = bisect_right(self.trades, il, key=lambda trade: trade.il)
        if after and self.trades[after - 1].dr <= dr:  # of those that lose no more the one that risks least
            return False
        first = bisect_left(self.trades, il, key=lambda trade: trade.il)
        last = first
        while last < len(self.trades) and self.trades[last].dr >= dr:
            last += 1
        self.trades[first:last] = [Trade(il, dr, what)]
        return True

    @property
    def hypervolume(self) -> float:
        """Share, in percent, of all combinations of loss and risk from 0 to 100 that the front dominates."""
        return hypervolume((trade.il, trade.dr) for trade in self.trades)


def hypervolume(points: Iterable[tuple[float, float]]) -> float:
    """The share of the square from (0, 0) to (100, 100), in percent, that lies above and right of some points.

    Parameters
    ----------
    points : iterable of pairs of float
        What is to be small, in any order; dominated points add nothing.
    """
    area, lowest = 0.0, WORST
    # From left to right, each point adds the strip between the risk reached so far and its own.
    for il, dr in sorted(points):
        if il < WORST and dr < lowest:
            area += (WORST - il) * (lowest - dr)
            lowest = dr
    return 100.0 * area / WORST**2
