"""The methods `gomm` and `d-gomm`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from discreet.errors import InputError, whole
from discreet.microdata.checks import one_of

if TYPE_CHECKING:
    import numpy as np

    from discreet.evolution.events import Listener
    from discreet.evolution.process import Process
    from discreet.evolution.variation import Operator
    from discreet.grouping.candidate import Candidate
    from discreet.grouping.canonical import Labels
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
    def waits(self) -> int | None:
        """Generations without success after which an operator is applied no more; None for never."""
        return None

    def initial(self, rivals: Iterable[Labels], attributes: int, ks: int, rng: np.random.Generator) -> list[Candidate]:
        """The candidates to begin with: the rivals at each k unless all are to be random, and random ones."""
        from discreet.grouping.candidate import candidate
        from discreet.grouping.operators import random_grouping

        known = [] if self.start == "random" else [candidate(labels, k) for k in range(ks) for labels in rivals]
        missing = max(self.population - len(known), 0)
        return known + [candidate(random_grouping(attributes, rng), int(rng.integers(ks))) for _ in range(missing)]

    def operators(self, ks: int = 1) -> list[Operator[Candidate]]:
        """Crossover, the mutations, and where there are several k one that changes it."""
        from discreet.evolution.variation import Operator
        from discreet.grouping.candidate import MUTATIONS, change_k, cross

        made: list[Operator[Candidate]] = []
        if self.crossovers:
            made.append(Operator("crossover", cross, parents=2, children=2, times=self.crossovers))
        if self.mutations:
            made += [Operator(name, vary, times=self.mutations) for name, vary in MUTATIONS.items()]
        if ks > 1:
            made.append(Operator("change of k", change_k(ks), times=max(self.mutations, 1)))
        return made

    def process(
        self,
        objective: Objective,
        initial: Sequence[Candidate],
        rng: np.random.Generator,
        listeners: Iterable[Listener] = (),
        *,
        remember: bool = True,
    ) -> Process[Candidate]:
        """Begin the search; `remember` tells whether clones are recognised."""
        from discreet.grouping.candidate import key
        from discreet.grouping.streams import Streams

        return Streams(
            initial,
            objective.evaluate,
            self.operators(),
            rng=rng,
            patience=self.waits,
            generations=self.generations,
            key=key if remember else None,
            copies=self.copies,
            listeners=listeners,
        )


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
    def waits(self) -> int | None:
        """Generations without success after which an operator is applied no more."""
        return self.patience
