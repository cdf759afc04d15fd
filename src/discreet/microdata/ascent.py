"""Dual ascent: a good lower bound, and duals to start from, without a linear program.

Duals that no group undercuts are raised by some percent; what groups then lack is taken from the duals of their records
(`group_pricing.py`), and the rest remains. When that gains little any more, the percentage is halved. It begins with
the nearest neighbours' share, which no group undercuts, and usually ends one to three percent below the linear
relaxation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.microdata.columns import Columns, Floats
from discreet.microdata.group_pricing import GroupPricer
from discreet.microdata.odd_sets import no_sets

if TYPE_CHECKING:
    from discreet.evolution.process import State

FIRST_STEP = 0.1
LAST_STEP = 2e-3
# A step must gain this part of itself.
GAIN = 0.1


class Ascent:
    """Duals that rise step by step.

    Parameters
    ----------
    pricer : GroupPricer
        Prices all groups.
    columns : Columns
        Groups to which those that stopped a dual are added.
    """

    def __init__(self, pricer: GroupPricer, columns: Columns) -> None:
        self.columns = columns
        self.duals: Floats = pricer.near[:, pricer.k - 1] * ((1 - 1e-12) / (2 * pricer.k))
        self._pricer, self._step = pricer, FIRST_STEP

    @property
    def bound(self) -> float:
        """No partition costs less."""
        return float(self.duals.sum())

    @property
    def finished(self) -> bool:
        """Whether further steps would gain little."""
        return self._step < LAST_STEP

    def advance(self) -> None:
        """Take a step."""
        priced = self._pricer(self.duals * (1 + self._step), no_sets(), np.zeros(0))
        self.columns = self.columns.joined(priced.columns).distinct()
        if priced.duals.sum() > self.bound * (1 + GAIN * self._step):
            self.duals = priced.duals
        else:
            self._step /= 2

    def save(self) -> State:
        """All that the next steps depend on."""
        held: State = {"members": self.columns.members.copy(), "starts": self.columns.starts.copy()}
        return held | {"costs": self.columns.costs.copy(), "duals": self.duals.copy(), "step": self._step}

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: dict[str, Any] = dict(state)
        self.columns = Columns(held["members"], held["starts"], held["costs"])
        self.duals, self._step = held["duals"], float(held["step"])
