"""One method of the 2012 paper against another, table by table: how often it is better, by how much, how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from scipy import stats

from discreet.experiments.papers.paper import spread
from discreet.experiments.statistics import ALPHA

# Costs that differ by less, in percent, are equal but for rounding.
EQUAL = 1e-7
HOLDS, PART, FAILS, OPEN = "holds", "holds on a part of the tables", "does not hold", "cannot be told"
FOR, AGAINST = "more for than against, may be chance", "more against than for, may be chance"


@dataclass(frozen=True)
class Duel:
    """By how many percent one method is cheaper than another, table by table.

    Parameters
    ----------
    gains : sequence of float
        A gain for each table; below 0 the other one is cheaper.
    """

    gains: Sequence[float]

    @property
    def wins(self) -> int:
        """Tables on which the one is cheaper."""
        return sum(gain > EQUAL for gain in self.gains)

    @property
    def losses(self) -> int:
        """Tables on which the other is cheaper."""
        return sum(gain < -EQUAL for gain in self.gains)

    @property
    def sign(self) -> float:
        """The p-value of the sign test, two-sided; equal tables are left out."""
        decided = self.wins + self.losses
        return float(stats.binomtest(self.wins, decided).pvalue) if decided else 1.0

    @property
    def wilcoxon(self) -> float:
        """The p-value of Wilcoxon's signed-rank test."""
        return float(stats.wilcoxon(self.gains).pvalue) if any(self.gains) else 1.0

    @property
    def verdict(self) -> str:
        """Whether the one is the better one, by the sign test."""
        if self.sign < ALPHA:
            return HOLDS if self.wins > self.losses else FAILS
        if self.wins == self.losses:
            return OPEN
        return FOR if self.wins > self.losses else AGAINST

    @property
    def score(self) -> str:
        """Tables won, lost and equal."""
        return f"better on {self.wins}, worse on {self.losses}, equal on {len(self.gains) - self.wins - self.losses}"

    @property
    def words(self) -> str:
        """All of it in words."""
        return f"{self.score}; cheaper by {spread(self.gains, 'z.2f', ' %')}; sign test *p* = {self.sign:.2g}"

    @property
    def confidence(self) -> str:
        """How sure Wilcoxon's test is that the two differ, and which way."""
        return f"{100 * (1 - self.wilcoxon):.1f} % ({self.score})"


def duel(runs: pl.DataFrame, one: str, other: str) -> Duel:
    """Two methods on the tables that both were run on; `runs` has `method`, `table` and `cost`."""
    costs, rival = (runs.filter(pl.col("method") == name).select("table", "cost") for name in (one, other))
    return against(costs, rival)


def against(one: pl.DataFrame, other: pl.DataFrame) -> Duel:
    """The `cost` of one against another by `table`, on those that both have."""
    both = one.join(other, on="table", suffix="_other", maintain_order="left")
    return Duel([_gain(cost, rival) for cost, rival in both.select("cost", "cost_other").rows()])


def _gain(cost: float, rival: float) -> float:
    return 100.0 * (rival - cost) / rival if rival else 0.0
