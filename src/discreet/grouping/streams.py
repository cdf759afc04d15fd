"""Generations in which each operator has a stream of chance of its own, and clones have limited room."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np

from discreet.evolution.events import Birth
from discreet.evolution.generational import Generational
from discreet.evolution.population import Member
from discreet.evolution.variation import Operator
from discreet.grouping.candidate import Candidate
from discreet.grouping.clones import told_apart


class Streams(Generational[Candidate]):
    """Generations whose chance depends on seed, generation and operator, and on nothing that happened before.

    So an operator that is dropped changes nothing for the others: as long as its children would not have lived on, the
    search goes the same way without them. That is what lets D-GOMM reach what GOMM does with the same seed.

    Parameters
    ----------
    *arguments, **options
        As for `Generational`.
    copies : int
        How many clones of one grouping may live beside others; 0 for any number.
    """

    def __init__(self, *arguments: Any, copies: int = 0, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._copies = copies
        self._seed = int(self._rng.integers(2**63))

    def _clones_last(self, members: list[Member[Candidate]]) -> list[Member[Candidate]]:
        first, others = told_apart(members, self._copies)
        return first + others

    def _breed(self, operators: Iterable[Operator[Candidate]]) -> list[tuple[Member[Candidate], Birth]]:
        children = []
        numbers = {operator.name: number for number, operator in enumerate(self.operators)}
        for name, alike in groupby(operators, key=lambda operator: operator.name):
            self._rng = np.random.default_rng([self._seed, self.generation, numbers[name]])
            children += super()._breed(alike)
        return children
