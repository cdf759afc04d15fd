"""What is proven of each suppressed cell: how far up and down some table that fits the published cells lets it go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.solvers.tolerances import MOVED, ROUNDING

# Solutions are shrunk to simple fractions only: denominators stay small.
LARGEST = 60
# What a sum may be off by, in units of the last decimal, without proving less.
UNSEEN = 1e-7
# How many times that a deviation must be to be one.
CLEAR = 1e3
# A coordinate of a solution in whole numbers is off by no more than a solver's tolerance.
NEARLY_WHOLE = 1e-6
# Listens to solutions as they are found: where each begins, the columns that move, and how far.
Show = Callable[[Ints, Ints, Floats], None]


@dataclass(frozen=True, eq=False)
class Solution:
    """Deviations that a table which fits the published cells may have: some columns, and how far each is moved."""

    columns: Ints
    deviations: Floats


class Proofs:
    """The best that was found for each column of a system, on both sides.

    One feasible table proves something of every cell it moves: whatever is found for one counts for all.

    Parameters
    ----------
    lo, hi : arrays of float
        Bounds of the deviations.
    down, up : arrays of float
        How far each column is wanted to go; nothing more is looked for then.
    slack_down, slack_up : arrays of float
        By how much of that each may be missed.
    keep : bool
        Whether to keep the solutions themselves, for a certificate.
    whole : bool
        Whether to stretch a solution by whole numbers only, so that its coordinates stay whole or simple fractions.
    integral : bool
        Whether only solutions in whole numbers prove anything.
    show : callable, optional
        Is shown every solution that brings a column further.
    """

    def __init__(
        self,
        lo: Floats,
        hi: Floats,
        down: Floats,
        up: Floats,
        slack_down: Floats,
        slack_up: Floats,
        *,
        keep: bool = False,
        whole: bool = False,
        integral: bool = False,
        show: Show | None = None,
    ) -> None:
        self.show, self.integral = show, integral
        self.lo, self.hi, self.whole = lo, hi, whole
        self.wanted_down, self.wanted_up = down, up
        self.enough_down, self.enough_up = down - slack_down, up - slack_up
        self.down, self.up = np.zeros(len(lo)), np.zeros(len(lo))
        # How far each column is proven not to exceed, whatever was rounded.
        self.most_down, self.most_up = np.full(len(lo), np.inf), np.full(len(lo), np.inf)
        self.solutions: list[Solution] | None = [] if keep else None
        self.down_by = np.full(len(lo), -1, dtype=np.int64)
        self.up_by = np.full(len(lo), -1, dtype=np.int64)

    @property
    def open_up(self) -> Bools:
        """Columns that are not proven to go up as far as wanted."""
        return self.up < self.enough_up

    @property
    def open_down(self) -> Bools:
        """Columns that are not proven to go down as far as wanted."""
        return self.down < self.enough_down

    def learn(self, columns: Ints, deviations: Floats, missed: float = 0.0) -> None:
        """Learn from a direction that obeys all relations: go along it, and against it, as far as the bounds allow.

        Parameters
        ----------
        columns, deviations : arrays
            The direction.
        missed : float
            By how much it misses a relation after all; on a way so long that this shows it proves nothing.
        """
        size = np.abs(deviations).max(initial=0.0)
        if size == 0.0:
            return
        moved = np.abs(deviations) > MOVED * size
        columns, deviations = columns[moved], deviations[moved]
        if self.integral:
            deviations = _primitive(deviations)
            if not len(deviations):
                return
            # Whole numbers miss a relation by a whole number, and these by less than half.
            missed = 0.0
        for direction in (deviations, -deviations):
            room = np.where(direction > 0, self.hi[columns], self.lo[columns])
            longest = float((room / direction).min())
            if self.whole and 0 < longest < np.inf:
                longest = _simple(longest, float(np.abs(direction).max()))
                longest = np.floor(longest) if self.integral else longest
            if longest == np.inf:
                enough = max(1.0, self._farthest(columns)) / float(np.abs(direction).min())
                longest = float(np.ceil(enough)) if self.whole else enough
            if longest > 0 and missed * longest <= max(UNSEEN, ROUNDING * size * longest):
                self._keep(columns, direction * longest, missed * longest)

    def _farthest(self, columns: Ints) -> float:
        wanted = np.concatenate([self.wanted_up[columns], self.wanted_down[columns]])
        return float(wanted[np.isfinite(wanted)].max(initial=0.0))

    def _keep(self, columns: Ints, deviations: Floats, missed: float) -> None:
        # What is no larger than what relations are missed by may be just that.
        clear = np.abs(deviations) > CLEAR * missed
        up, down = clear & (deviations > self.up[columns]), clear & (-deviations > self.down[columns])
        if self.show is not None and (up.any() or down.any()):
            self.show(np.array([0, len(columns)]), columns, deviations)
        if self.solutions is not None:
            # A solution is kept for those it brings further while they are still open.
            up &= self.open_up[columns]
            down &= self.open_down[columns]
            if not (up.any() or down.any()):
                return
            self.up_by[columns[up]] = len(self.solutions)
            self.down_by[columns[down]] = len(self.solutions)
            self.solutions.append(Solution(columns, deviations))
        self.up[columns[up]] = deviations[up]
        self.down[columns[down]] = -deviations[down]


def _primitive(direction: Floats) -> Floats:
    """The shortest whole numbers in the direction of some; none if their denominators are large."""
    for times in range(1, LARGEST + 1):
        near = np.rint(direction * times)
        if (np.abs(direction * times - near) <= NEARLY_WHOLE / np.sqrt(len(direction))).all() and near.all():
            return near / float(np.gcd.reduce(near.astype(np.int64)))
    return direction[:0]


def _simple(stretch: float, size: float) -> float:
    """The largest whole number up to a stretch of a direction of some size, or the largest 1/m; 0 if m is large."""
    # This makes up for the rounding of solutions, and must stay far below a unit however long the way is.
    near = stretch + min(1e-7 * stretch, 1e-4 / size)
    if near >= 1:
        return float(np.floor(near))
    return 1.0 / float(np.ceil(1.0 / near)) if near * LARGEST >= 1 else 0.0
