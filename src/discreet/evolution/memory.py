"""What individuals cost; clones are not evaluated twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from discreet.evolution.checks import whole
from discreet.evolution.process import State

Individual = TypeVar("Individual")

Evaluate = Callable[[Sequence[Individual]], Sequence[float]]


class Judged(NamedTuple):
    """The cost of an individual, and whether it had to be computed."""

    cost: float
    computed: bool


class Memory(Generic[Individual]):
    """Evaluates individuals, each only once as long as it is remembered.

    Parameters
    ----------
    evaluate : callable
        Costs of a list of individuals, which depend on nothing else; infinite for one that is not allowed.
    key : callable, optional
        Bytes that are the same for individuals that mean the same; without it all are evaluated.
    limit : int
        How many keys are remembered; those not met for longest are forgotten.
    """

    def __init__(
        self,
        evaluate: Evaluate[Individual],
        key: Callable[[Individual], bytes] | None = None,
        limit: int = 100_000,
    ) -> None:
        self.evaluate = evaluate
        self.key = key
        self.limit = whole("memory", limit, 0)
        self.evaluations = 0
        self._known: dict[bytes, float] = {}

    def judge(self, individuals: Sequence[Individual]) -> list[Judged]:
        """The costs of individuals, in their order."""
        if self.key is None:
            return [Judged(cost, True) for cost in self._evaluate(individuals)]
        keys = [self.key(individual) for individual in individuals]
        first: dict[bytes, int] = {}
        for place, key in enumerate(keys):
            if key not in self._known:
                first.setdefault(key, place)
        costs = self._evaluate([individuals[place] for place in first.values()])
        found = dict(zip(first, costs, strict=True))
        judged = [
            Judged(found[key] if key in found else self._known[key], first.get(key) == place)
            for place, key in enumerate(keys)
        ]
        for key, (cost, _) in zip(keys, judged, strict=True):
            self._remember(key, cost)
        return judged

    def save(self) -> State:
        """What is remembered, those met last at the end."""
        return {
            "evaluations": self.evaluations,
            "keys": np.frombuffer(b"".join(self._known), np.uint8),
            "lengths": np.array([len(key) for key in self._known], np.int64),
            "costs": np.array([*self._known.values()], np.float64),
        }

    def load(self, state: State) -> None:
        """Remember what another one has remembered."""
        kept = cast("dict[str, Any]", state)
        self.evaluations = int(kept["evaluations"])
        keys = kept["keys"].tobytes()
        ends = np.cumsum(kept["lengths"]).tolist()
        known = [keys[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        self._known = dict(zip(known, kept["costs"].tolist(), strict=True))

    def _remember(self, key: bytes, cost: float) -> None:
        self._known.pop(key, None)  # a dictionary keeps the order of entry: the one met last goes to the end
        self._known[key] = cost
        if len(self._known) > self.limit:
            del self._known[next(iter(self._known))]

    def _evaluate(self, individuals: Sequence[Individual]) -> list[float]:
        if not individuals:
            return []
        costs = [float(cost) for cost in self.evaluate(individuals)]
        if len(costs) != len(individuals):
            raise ValueError(f"evaluate gave {len(costs)} costs for {len(individuals)} individuals")
        if any(math.isnan(cost) for cost in costs):
            raise ValueError("evaluate gave a cost that is NaN; an individual that is not allowed costs infinity")
        self.evaluations += len(costs)
        return costs
