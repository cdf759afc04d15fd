"""The methods `gomm` and `d-gomm`: genetic algorithms on groupings of attributes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from discreet.errors import InputError, one_of, whole
from discreet.evolution.genetic import Generational
from discreet.evolution.population import Birth, Listener, Member
from discreet.evolution.process import Search
from discreet.evolution.variation import Operator
from discreet.grouping.candidates import (
    MUTATIONS,
    Candidate,
    Labels,
    candidate,
    change_k,
    clone_key,
    cross,
    random_grouping,
)
from discreet.grouping.objective import Objective


@dataclass(frozen=True)
class Gomm:
    """A genetic algorithm on groupings, in which nobody gives way to a worse one (GOMM).

    Parameters
    ----------
    population : int
        How many groupings live at a time.
    generations : int
        After how many generations the search is finished.
    crossovers : int
        Crossovers in a generation; each has two children.
    mutations : int
        How often each of the five mutations is applied in a generation.
    start : {"rivals", "random"}
        Begin with the ad-hoc groupings among random ones, so that the result is never worse than they are; or with
        random ones only, as in the paper.
    copies : int
        How many clones of one grouping may live beside others; 0 for any number, as in the paper. Without a limit the
        population soon is full of clones of the best and the search gets stuck, with none it never gets to the point.
    enumeration : int
        Judge all groupings, instead of a search, where there are no more than so many; 0 for never.

    References
    ----------
    The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, section 3.
    """

    population: int = 200
    generations: int = 100
    crossovers: int = 25
    mutations: int = 10
    start: Literal["rivals", "random"] = "rivals"
    copies: int = 20
    enumeration: int = 5_000

    def __post_init__(self) -> None:
        least = {"population": 2, "generations": 1, "crossovers": 0, "mutations": 0, "copies": 0, "enumeration": 0}
        for name in least:
            whole(name, getattr(self, name), least[name])
        if not self.crossovers + self.mutations:
            raise InputError("crossovers and mutations are both 0; nothing would ever change")
        one_of("start", self.start, ("rivals", "random"))

    @property
    def idle_limit(self) -> int | None:
        """Generations without a better child after which an operator is applied no more; None for never."""
        return None

    @property
    def seeks_front(self) -> bool:
        """Whether the whole front of loss and risk is sought, not the best score."""
        return False

    def search(
        self, objective: Objective, rivals: Iterable[Labels], seed: int, listeners: Iterable[Listener] = ()
    ) -> Search[Candidate]:
        """Begin the search.

        Parameters
        ----------
        objective : Objective
            What is to be small.
        rivals : iterable of groupings
            The ad-hoc groupings.
        seed : int
            Seed of every random choice.
        listeners : iterable of callables
            Told each birth and each survival.
        """
        rng = np.random.default_rng(seed)
        return Streams(
            self.draw_initial(objective, rivals, rng),
            objective.evaluate,
            self.operators(),
            rng=rng,
            patience=self.idle_limit,
            generations=self.generations,
            key=clone_key,
            admit=objective.admits,
            copies=self.copies,
            listeners=listeners,
        )

    def draw_initial(self, objective: Objective, rivals: Iterable[Labels], rng: np.random.Generator) -> list[Candidate]:
        """The candidates to begin with: the rivals at each k unless all are to be random, and random ones."""
        attributes, ks = objective.attributes, len(objective.ks)
        known = [] if self.start == "random" else [candidate(labels, k) for k in range(ks) for labels in rivals]
        missing = max(self.population - len(known), 0)
        return known + [candidate(random_grouping(attributes, rng), int(rng.integers(ks))) for _ in range(missing)]

    def operators(self, ks: int = 1) -> list[Operator[Candidate]]:
        """Crossover, the mutations, and where there are several k one that changes it."""
        made: list[Operator[Candidate]] = []
        if self.crossovers:
            made.append(Operator("crossover", cross, parents=2, children=2, times=self.crossovers))
        if self.mutations:
            made += [Operator(name, vary, times=self.mutations) for name, vary in MUTATIONS.items()]
        if ks > 1:
            made.append(Operator("change of k", change_k(ks), times=max(self.mutations, 1)))
        return made


@dataclass(frozen=True)
class DGomm(Gomm):
    """GOMM that applies an operator no more once it has done useless work for several generations (D-GOMM).

    Parameters
    ----------
    population, generations, crossovers, mutations, start, copies, enumeration
        As for `gomm`.
    patience : int
        After how many generations without a child that is better than its parents an operator stops. With 20 it reached
        what `gomm` does in nearly all of our runs, with shorter patience in fewer.

    References
    ----------
    The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, section 4.3.
    """

    patience: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("patience", self.patience, 1)

    @property
    def idle_limit(self) -> int | None:
        """Generations without a better child after which an operator is applied no more."""
        return self.patience


Members = list[Member[Candidate]]


def split_clones(members: Iterable[Member[Candidate]], copies: int) -> tuple[Members, Members]:
    """Members without too many clones, and those that are too many.

    Parameters
    ----------
    members : iterable of Member
        In the order of preference.
    copies : int
        How many there may be of each grouping; 0 for any number.
    """
    seen: Counter[bytes] = Counter()
    first: Members = []
    others: Members = []
    for member in members:
        name = clone_key(member.individual)
        seen[name] += 1
        (others if copies and seen[name] > copies else first).append(member)
    return first, others


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
        first, others = split_clones(members, self._copies)
        return first + others

    def _breed(self, operators: Iterable[Operator[Candidate]]) -> list[tuple[Member[Candidate], Birth]]:
        children = []
        numbers = {operator.name: number for number, operator in enumerate(self.operators)}
        for name, alike in groupby(operators, key=lambda operator: operator.name):
            self._rng = np.random.default_rng([self._seed, self.generation, numbers[name]])
            children += super()._breed(alike)
        return children
