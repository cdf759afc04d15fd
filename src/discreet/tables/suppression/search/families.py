"""Families of patterns that are crossed, and the champions of all: what the search breeds where a build takes a second.

A family begins with patterns that are not related but for what leads them. Its best are crossed two by two until they
gain no more: by then they are much alike. Its best then cross with those of families before.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from discreet.attack.system import Bools
from discreet.evolution.checks import whole
from discreet.evolution.process import State, inside, part
from discreet.kernels.arrays import Words
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.search.elites import Elites

# How many patterns a family begins with, and how many of the best are kept to cross.
MEMBERS, ELITES = 16, 12
# How often two are crossed at most, members or champions, and how often in vain until no more are.
CROSSINGS, MERGINGS, IDLE_CROSSINGS = 70, 30, 12
# How many champions a family gives.
CHAMPIONS = 4


class Stage(IntEnum):
    """What comes next: nothing, another member, a crossing of members, or one of champions."""

    RESTING = 0
    GROWING = 1
    CROSSING = 2
    MERGING = 3


CROSSES = (Stage.CROSSING, Stage.MERGING)


class Families:
    """The family that is bred, and the champions of those before.

    Parameters
    ----------
    problem : Problem
        The problem of the patterns.

    Attributes
    ----------
    begun
        How many families were begun.
    builds
        How many patterns were built for all of them.
    stage
        What comes next.
    """

    def __init__(self, problem: Problem) -> None:
        self.begun, self.builds, self.stage = 0, 0, Stage.RESTING
        self._problem = problem
        self._elites, self._champions = Elites(problem, ELITES), Elites(problem, ELITES)
        # Builds of this stage, and how many lately brought none of the elites.
        self._done, self._in_vain = 0, 0

    @property
    def most(self) -> float:
        """What the costliest of the elites costs."""
        return max(self._problem.cost(one) for one in self._elites.patterns)

    def begin(self) -> None:
        """Begin another family."""
        self.begun += 1
        self._elites = Elites(self._problem, ELITES)
        self._enter(Stage.GROWING)

    def pair(self, random: Words) -> tuple[Bools, Bools]:
        """Two to be crossed."""
        return self._elites.pair(random)

    def take(self, pattern: Bools | None) -> None:
        """Take what was built for the family, if it is a whole pattern."""
        self.builds += 1
        self._done += 1
        is_better = pattern is not None and self._elites.add(pattern)
        self._in_vain = 0 if is_better else self._in_vain + 1
        if self.stage == Stage.GROWING:
            if self._done >= MEMBERS:
                self._enter(Stage.CROSSING)
        elif self._done >= (MERGINGS if self.stage == Stage.MERGING else CROSSINGS) or self._in_vain >= IDLE_CROSSINGS:
            self._end_crossings()
        if self.stage in CROSSES and len(self._elites) < 2:
            self._end_crossings()

    def _enter(self, stage: Stage) -> None:
        self.stage, self._done, self._in_vain = stage, 0, 0

    def _end_crossings(self) -> None:
        best = self._elites.patterns[:CHAMPIONS]
        if self.stage == Stage.CROSSING and len(self._champions):
            self._elites, self._champions = self._champions, Elites(self._problem, ELITES)
            for one in best:
                self._elites.add(one)
            self._enter(Stage.MERGING)
        else:
            for one in best:
                self._champions.add(one)
            self._enter(Stage.RESTING)

    def save(self) -> State:
        """All that what comes next depends on."""
        counts = {"begun": self.begun, "builds": self.builds, "done": self._done, "in_vain": self._in_vain}
        elites, champions = inside("elites", self._elites.save()), inside("champions", self._champions.save())
        return {"stage": int(self.stage)} | counts | elites | champions

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: Mapping[str, Any] = state
        self.stage = Stage(whole("stage", held["stage"], 0))
        self.begun, self.builds, self._done, self._in_vain = (
            whole(name, held[name], 0) for name in ("begun", "builds", "done", "in_vain")
        )
        for name, elites in (("elites", self._elites), ("champions", self._champions)):
            elites.load(part(name, state))
        if self.stage in CROSSES and len(self._elites) < 2:
            raise ValueError(f"elites are {len(self._elites)}; a crossing needs two")
