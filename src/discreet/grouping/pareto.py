"""The method `pareto`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.grouping.gomm import Gomm

if TYPE_CHECKING:
    import numpy as np

    from discreet.evolution.events import Listener
    from discreet.evolution.process import Process
    from discreet.grouping.candidate import Candidate
    from discreet.grouping.objective import Objective


@dataclass(frozen=True)
class Pareto(Gomm):
    """A genetic algorithm for the whole front of trade-offs between loss and risk (NSGA-II with GOMM's operators).

    Parents are those of the better front, then those with more room round them; so are those who live on. All that was
    ever judged and is dominated by nothing makes the result.

    Parameters
    ----------
    population, generations, crossovers, mutations, start, enumeration
        As for `gomm`.
    copies : int
        As for `gomm`; here the population is the front, and clones would only make it thinner.

    References
    ----------
    K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist multiobjective genetic algorithm: NSGA-II, IEEE
    Transactions on Evolutionary Computation 6 (2002) 182-197; the operators of the paper of 2013 on GOMM.
    """

    copies: int = 1

    def process(
        self,
        objective: Objective,
        initial: Sequence[Candidate],
        rng: np.random.Generator,
        listeners: Iterable[Listener] = (),
        *,
        remember: bool = True,
    ) -> Process[Candidate]:
        """Begin the search."""
        from discreet.grouping.candidate import key
        from discreet.grouping.nondominated import NonDominated

        return NonDominated(
            initial,
            objective,
            self.operators(len(objective.evaluators)),
            rng=rng,
            generations=self.generations,
            key=key if remember else None,
            copies=self.copies,
            listeners=listeners,
        )
