"""Which column to branch on: the one whose two values raise the bound most, as far as experience tells."""

from __future__ import annotations

import numpy as np

from discreet.tables.suppression.master import Master
from discreet.verification.attack.system import Floats, Ints

# So often is a column tried before its averages are trusted.
TRUSTED = 2
TRIES = 6
ITERATIONS = 20
LEAST = 1e-6


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
        columns = np.flatnonzero((share > LEAST) & (share < 1 - LEAST))
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
    score: Floats = np.maximum(low, LEAST) * np.maximum(high, LEAST)
    return score


def fractional(share: Floats) -> Ints:
    """The columns whose share is neither 0 nor 1."""
    return np.flatnonzero((share > LEAST) & (share < 1 - LEAST))
