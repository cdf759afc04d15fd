"""What each operator contributes to a run, generation by generation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.evolution.checks import floats, integers
from discreet.evolution.population import Birth, Survival
from discreet.evolution.process import State


@dataclass(frozen=True)
class Row:
    """The children that an operator made in a generation, as a row of a tidy table.

    Parents are compared by their average cost. What cannot be said (a mean of nothing) is NaN.

    Parameters
    ----------
    generation : int
        The generation the children were born in.
    operator : str
        Name of the operator.
    children : int
        How many there were.
    computed : int
        How many of them had to be evaluated; clones that are remembered had not.
    utilisation : float
        Percentage of them that were discarded before they became a parent. High means useless work.
    life_time : float
        Generations they survived on average, so far; 0 if none passed the selection after its birth.
    improved, worsened : int
        How many cost less and more than their parents; a clone does neither.
    efficacy : float
        Percentage of them that cost less than their parents.
    efficiency : float
        100·(F(parents) − F(child))/F(parents) on average: how much cheaper they are, in percent. Left out are children
        of parents that cost nothing, and infinite costs.
    improvement, worsening : float
        The same for those improved and those worsened only.
    highest, lowest : float
        The extremes of the efficiency.
    """

    generation: int
    operator: str
    children: int
    computed: int
    utilisation: float
    life_time: float
    improved: int
    worsened: int
    efficacy: float
    efficiency: float
    improvement: float
    worsening: float
    highest: float
    lowest: float


class Statistics:
    """A listener of a genetic process that keeps account of its operators.

    It keeps sums and what it needs to know of those alive, so that a long run does not fill the memory.

    References
    ----------
    The paper of 2013 on GOMM, the genetic optimizer for multivariate microaggregation, section 4.1: utilisation, life
    time, efficacy, and efficiency by equation (7) for mutations and (8) and (9) for crossovers; figures 5 to 7.
    """

    def __init__(self) -> None:
        self._tallies: dict[tuple[int, str], _Tally] = {}
        self._alive: dict[int, _Tally] = {}
        self._used: set[int] = set()

    def __call__(self, event: Birth | Survival) -> None:
        if isinstance(event, Birth):
            self._bear(event)
        else:
            self._survive(event)

    def rows(self) -> list[Row]:
        """A row for each generation and operator that made children, in the order of their births."""
        return [tally.row(generation, operator) for (generation, operator), tally in self._tallies.items()]

    def save(self) -> State:
        """All that it knows."""
        tallies = list(self._tallies.values())
        places = {id(tally): place for place, tally in enumerate(tallies)}
        return {
            "generations": np.array([generation for generation, _ in self._tallies], np.int64),
            "operators": np.array([operator for _, operator in self._tallies], np.str_),
            "counts": np.array([[getattr(tally, name) for name in COUNTS] for tally in tallies], np.int64),
            "sums": np.array([[getattr(tally, name) for name in SUMS] for tally in tallies], np.float64),
            "alive": np.array([(number, places[id(tally)]) for number, tally in self._alive.items()], np.int64),
            "used": np.array(sorted(self._used), np.int64),
        }

    def load(self, state: State) -> None:
        """Take over what another one has saved."""
        generations = integers("generations", state["generations"], (-1,), 0, MOST).tolist()
        tallies = [_Tally() for _ in generations]
        counts, sums = (
            np.reshape(state[name], (len(tallies), len(names))) for name, names in (("counts", COUNTS), ("sums", SUMS))
        )
        counts, sums = integers("counts", counts, (-1, -1), 0, MOST), floats("sums", sums, (-1, -1), infinite=True)
        if (counts[:, 0] < 1).any():
            raise ValueError("an operator without children has no row")
        for tally, whole, real in zip(tallies, counts.tolist(), sums.tolist(), strict=True):
            for name, value in zip((*COUNTS, *SUMS), [*whole, *real], strict=True):
                setattr(tally, name, value)
        operators = [str(name) for name in np.asarray(state["operators"]).tolist()]
        self._tallies = dict(zip(zip(generations, operators, strict=True), tallies, strict=True))
        alive = integers("alive", np.reshape(state["alive"], (-1, 2)), (-1, 2), 0, MOST)
        self._alive = {number: tallies[place] for number, place in alive.tolist()}
        self._used = set(integers("used", state["used"], (-1,), 0, MOST).tolist())

    def _bear(self, birth: Birth) -> None:
        tally = self._tallies.setdefault((birth.generation, birth.operator), _Tally())
        tally.count(birth)
        self._alive[birth.child] = tally
        self._used.update(parent for parent in birth.parents if parent in self._alive)

    def _survive(self, survival: Survival) -> None:
        alive = set(survival.alive)
        for number, tally in self._alive.items():
            if number in alive:
                tally.survived += 1
            elif number not in self._used:
                tally.unused += 1
        self._alive = {number: tally for number, tally in self._alive.items() if number in alive}
        self._used &= alive


# No count is higher.
MOST = 2**62
# What a tally holds.
COUNTS = ("children", "computed", "unused", "survived", "improved", "worsened", "gains", "losses", "measured")
SUMS = ("gain", "loss", "highest", "lowest")


class _Tally:
    """Sums over the children of one operator in one generation."""

    def __init__(self) -> None:
        self.children = self.computed = self.unused = self.survived = self.improved = self.worsened = 0
        self.gains = self.losses = self.measured = 0
        self.gain = self.loss = 0.0
        self.highest, self.lowest = -math.inf, math.inf

    def count(self, birth: Birth) -> None:
        before, after = birth.parent_cost, birth.cost
        self.children += 1
        self.computed += birth.computed
        self.improved += after < before
        self.worsened += after > before
        if before == 0 or not math.isfinite(before) or not math.isfinite(after):
            return
        # Where costs are below zero their size is the measure, so that cheaper stays positive.
        percent = 100.0 * (before - after) / abs(before)
        self.measured += 1
        self.gains += percent > 0
        self.losses += percent < 0
        self.gain += max(percent, 0.0)
        self.loss += min(percent, 0.0)
        self.highest = max(self.highest, percent)
        self.lowest = min(self.lowest, percent)

    def row(self, generation: int, operator: str) -> Row:
        return Row(
            generation,
            operator,
            self.children,
            self.computed,
            utilisation=100.0 * self.unused / self.children,
            life_time=self.survived / self.children,
            improved=self.improved,
            worsened=self.worsened,
            efficacy=100.0 * self.improved / self.children,
            efficiency=_mean(self.gain + self.loss, self.measured),
            improvement=_mean(self.gain, self.gains),
            worsening=_mean(self.loss, self.losses),
            highest=self.highest if self.measured else math.nan,
            lowest=self.lowest if self.measured else math.nan,
        )


def _mean(total: float, count: int) -> float:
    return total / count if count else math.nan
