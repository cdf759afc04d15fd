"""The objective of a grouping search: the score of a candidate, a weighted mean of loss and risk, and the Pareto front.

A candidate is on the front if no other that was met loses no more and risks no more.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.evolution.checks import floats, integers, whole
from discreet.evolution.process import State
from discreet.grouping.candidates import Candidate, clone_key, is_candidate
from discreet.grouping.evaluator import Cache, Evaluator, Figures

What = TypeVar("What")
# The corner that areas are measured from: everything lost, everybody found.
WORST = 100.0


class Trade(NamedTuple, Generic[What]):
    """What loses and risks so much."""

    il: float
    dr: float
    what: What


class Front(Generic[What]):
    """Keeps all that is not dominated by another: no other loses no more and risks no more. Of equals the first stays.

    The trades are in the order of rising loss, and so of falling risk.
    """

    def __init__(self) -> None:
        self.trades: list[Trade[What]] = []

    def offer(self, il: float, dr: float, what: What) -> bool:
        """Take something up unless it is dominated, and drop what it dominates; tell whether it was taken."""
        if not (math.isfinite(il) and math.isfinite(dr)):
            return False
        after = bisect_right(self.trades, il, key=lambda trade: trade.il)
        if after and self.trades[after - 1].dr <= dr:  # of those that lose no more the one that risks least
            return False
        first = bisect_left(self.trades, il, key=lambda trade: trade.il)
        last = first
        while last < len(self.trades) and self.trades[last].dr >= dr:
            last += 1
        self.trades[first:last] = [Trade(il, dr, what)]
        return True

    @property
    def hypervolume(self) -> float:
        """Share, in percent, of all combinations of loss and risk from 0 to 100 that the front dominates."""
        return hypervolume((trade.il, trade.dr) for trade in self.trades)


def hypervolume(points: Iterable[tuple[float, float]]) -> float:
    """The share of the square from (0, 0) to (100, 100), in percent, that lies above and right of some points.

    Parameters
    ----------
    points : iterable of pairs of float
        What is to be small, in any order; dominated points add nothing.
    """
    area, lowest = 0.0, WORST
    # From left to right, each point adds the strip between the risk reached so far and its own.
    for il, dr in sorted(points):
        if il < WORST and dr < lowest:
            area += (WORST - il) * (lowest - dr)
            lowest = dr
    return 100.0 * area / WORST**2


# How many candidates are remembered.
REMEMBERED = 100_000


@dataclass(frozen=True)
class Weights:
    """How much loss and risk count in the score; equally by default, as in the paper.

    Parameters
    ----------
    loss : float
        Weight of the information loss.
    risk : float
        Weight of the disclosure risk.
    """

    loss: float = 1.0
    risk: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("loss_weight", self.loss), ("risk_weight", self.risk)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise InputError(f"{name} must be a number of at least 0, not {value!r}")
        if self.loss + self.risk == 0:
            raise InputError("loss_weight and risk_weight are both 0; one of them must be above")

    def score(self, figures: Figures) -> float:
        """The weighted mean of loss and risk, in percent."""
        if math.isinf(figures.il):
            return math.inf
        return (self.loss * figures.il + self.risk * figures.dr) / (self.loss + self.risk)


class Objective:
    """Scores candidates and records the Pareto front.

    Parameters
    ----------
    evaluators : sequence of Evaluator
        One for each k allowed, in ascending order.
    weights : Weights
        What counts how much.
    """

    def __init__(self, evaluators: Sequence[Evaluator], weights: Weights) -> None:
        self.evaluators, self.weights = tuple(evaluators), weights
        self.front: Front[Candidate] = Front()
        self.evaluations = 0
        self._known: Cache[bytes, Figures] = Cache(REMEMBERED)

    @property
    def attributes(self) -> int:
        """How many attributes are grouped."""
        return len(self.evaluators[0].space.attributes)

    @property
    def ks(self) -> list[int]:
        """The values of k allowed."""
        return [evaluator.k for evaluator in self.evaluators]

    @property
    def undominated(self) -> float:
        """The share of all combinations of loss and risk, in percent, that the front does not dominate."""
        return 100.0 - self.front.hypervolume

    def evaluate(self, candidates: Sequence[Candidate]) -> list[float]:
        """The scores of candidates, infinite for those that cannot be protected; the front takes note of all."""
        figures = self.figures(candidates)
        for one, found in zip(candidates, figures, strict=True):
            self.front.offer(found.il, found.dr, one)
        return [self.weights.score(found) for found in figures]

    def figures(self, candidates: Sequence[Candidate]) -> list[Figures]:
        """The measures of candidates; of clones they are computed once."""
        keys = [clone_key(one) for one in candidates]
        found = {name: self._known.get(name) for name in keys}
        for place, evaluator in enumerate(self.evaluators):
            fresh = {name: one for name, one in zip(keys, candidates, strict=True) if one[0] == place}
            fresh = {name: one for name, one in fresh.items() if found[name] is None}
            measured = evaluator.figures([one[1:] for one in fresh.values()])
            self.evaluations += len(fresh)
            for name, own in zip(fresh, measured, strict=True):
                found[name] = own
                self._known.put(name, own, 1)
        return [figures for name in keys if (figures := found[name]) is not None]

    def refusal(self, one: Candidate) -> InputError:
        """Why a candidate cannot be protected."""
        evaluator = self.evaluators[int(one[0])]
        evaluator.figures([one[1:]])
        assert evaluator.refusal is not None  # its score is infinite
        return evaluator.refusal

    def save(self) -> State:
        """The front, and the figures of all candidates remembered."""
        known, trades = self._known.items(), self.front.trades
        keys = np.frombuffer(b"".join(name for name, _ in known), np.int16)
        return {
            "evaluations": self.evaluations,
            "known": keys.reshape(len(known), self.attributes + 1),
            "figures": np.array([_numbers(found) for _, found in known], np.float64),
            "front": np.array([trade.what for trade in trades], np.int16),
            "trades": np.array([(trade.il, trade.dr) for trade in trades], np.float64),
        }

    def load(self, state: State) -> None:
        """Take over what another one with the same evaluators has saved."""
        kept = cast("dict[str, Any]", state)
        self.evaluations = whole("evaluations", kept["evaluations"], 0)
        self._known = Cache(REMEMBERED)
        known, front = self._kept("known", kept["known"]), self._kept("front", kept["front"])
        figures = np.reshape(kept["figures"], (len(known), 3))
        floats("figures", figures[:, :2], (len(known), 2), infinite=True)
        for one, (il, dld, interval) in zip(known, figures.tolist(), strict=True):
            self._known.put(clone_key(one), Figures(il, dld, None if math.isnan(interval) else interval), 1)
        trades = floats("trades", np.reshape(kept["trades"], (len(front), 2)), (len(front), 2))
        self.front.trades = [Trade(il, dr, one) for one, (il, dr) in zip(front, trades.tolist(), strict=True)]

    def admits(self, one: Candidate) -> bool:
        """Whether numbers that come from a file are a candidate."""
        return is_candidate(one, self.attributes, len(self.evaluators))

    def _kept(self, name: str, value: NDArray[Any]) -> NDArray[np.int16]:
        """Candidates that come from a file."""
        if not np.size(value):
            return np.empty((0, self.attributes + 1), np.int16)
        most = max(self.attributes, len(self.evaluators))
        found: NDArray[np.int16] = integers(name, value, (-1, self.attributes + 1), 0, most).astype(np.int16)
        if not all(self.admits(one) for one in found):
            raise ValueError(f"{name} has a candidate that is none")
        return found


def _numbers(found: Figures) -> tuple[float, float, float]:
    return found.il, found.dld, math.nan if found.id is None else found.id
