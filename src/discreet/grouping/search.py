"""A search for groupings from its beginning to its end, and what comes out of it as plain records.

What the evidence says of a grouping.

Compiling before the clock starts: it is no part of the search, nor can it be interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, cast

import numpy as np

from discreet.data.attributes import Attribute
from discreet.data.dataset import Dataset
from discreet.data.roles import Declarations
from discreet.evolution.loop import Outcome, evolve
from discreet.evolution.population import Evaluate
from discreet.evolution.process import Advancing, Process, State
from discreet.evolution.statistics import Row, Statistics
from discreet.evolution.stops import MaxSeconds, MaxSteps
from discreet.grouping.candidates import Candidate, Labels, bell, candidate, candidate_key, every_grouping, named
from discreet.grouping.gomm import Gomm
from discreet.grouping.objective import Objective, Weights
from discreet.grouping.pareto import Pareto
from discreet.grouping.parts import Inner
from discreet.grouping.result import Point
from discreet.grouping.space import Space
from discreet.kernels.compiling import uninterrupted
from discreet.kernels.partitions.group_release import cluster_means, lost, pinned
from discreet.kernels.space.group_linkage import chances, fill_distances, nearest_records
from discreet.measures.choices import Choices
from discreet.microdata.options import Settings
from discreet.microdata.protection import parameters
from discreet.microdata.solving import warm_up
from discreet.release.evidence import describe_input, evidence


@dataclass(frozen=True, eq=False)
class Found:
    """What came of a search.

    Parameters
    ----------
    best : Point
        The grouping of the lowest score.
    front : list of Point
        What no other beats in both loss and risk.
    rivals : dict of str to Point
        The ad-hoc groupings that can be protected.
    operators : list of dict
        What the operators did.
    outcome : Outcome
        Steps, seconds, why it stopped, and the trace.
    enumerated : bool
        Whether all groupings were judged.
    """

    best: Point
    front: list[Point]
    rivals: dict[str, Point]
    operators: list[dict[str, Any]]
    outcome: Outcome
    enumerated: bool


def search(
    method: Gomm,
    objective: Objective,
    rivals: Mapping[str, Labels],
    names: Sequence[str],
    settings: Settings,
    tell: Callable[[float], None],
) -> Found:
    """Search until the method is finished, the time is over, or the steps are done.

    Parameters
    ----------
    method : Gomm
        The method.
    objective : Objective
        What is to be small.
    rivals : mapping of str to groupings
        The ad-hoc groupings.
    names : sequence of str
        The attributes.
    settings : Settings
        Time, steps and seed.
    tell : callable
        Told how far along the search is, in [0, 1].
    """
    ks = [evaluator.k for evaluator in objective.evaluators]
    statistics = Statistics()
    enumerated = bell(len(names)) * len(ks) <= method.enumeration
    process: Process[Candidate]
    if enumerated:
        process = Enumeration(
            lambda: _every(rivals.values(), len(names), len(ks)),
            objective.evaluate,
            (lambda: 100.0 - objective.front.hypervolume) if isinstance(method, Pareto) else None,
        )
    else:
        rng = np.random.default_rng(settings.seed)
        initial = method.initial(rivals.values(), len(names), len(ks), rng)
        process = method.process(objective, initial, rng, [statistics])
    stop = MaxSeconds(settings.time) if settings.steps is None else MaxSteps(settings.steps)
    outcome = evolve(process, stop, listeners=[lambda _moment, fraction: tell(fraction)])

    def points(candidates: Sequence[Candidate]) -> list[Point]:
        figures = objective.figures(candidates)
        return [
            Point(ks[one[0]], objective.weights.score(f), f.il, f.dr, f.dld, f.id, named(one[1:], names))
            for one, f in zip(candidates, figures, strict=True)
        ]

    (best,) = points([process.answer()])
    if math.isinf(best.score):
        refusal = next(evaluator.refusal for evaluator in objective.evaluators if evaluator.refusal is not None)
        raise refusal
    told = {
        name if len(ks) == 1 else f"{name}, k = {k}": candidate(labels, place)
        for place, k in enumerate(ks)
        for name, labels in rivals.items()
    }
    return Found(
        best,
        points([trade.what for trade in objective.front.trades]),
        {
            name: point
            for name, point in zip(told, points(list(told.values())), strict=True)
            if math.isfinite(point.score)
        },
        [_record(row) for row in statistics.rows()],
        outcome,
        enumerated,
    )


# Candidates judged in an epoch.
EPOCH = 50


class Enumeration(Advancing):
    """Judges all candidates of a list, so many in an epoch.

    Parameters
    ----------
    candidates : callable
        Gives all of them, always in the same order; the ones likely to be good first.
    evaluate : callable
        Their costs.
    cost : callable, optional
        The cost of what was found so far; that of the best candidate by default.
    """

    def __init__(
        self,
        candidates: Callable[[], Iterable[Candidate]],
        evaluate: Evaluate[Candidate],
        cost: Callable[[], float] | None = None,
    ) -> None:
        self._candidates, self._evaluate, self._cost = candidates, evaluate, cost
        self._left = iter(candidates())
        self._next: list[Candidate] = list(islice(self._left, EPOCH))
        self._done = 0
        self._best, self._lowest = self._next[0], math.inf

    @property
    def cost(self) -> float:
        """Cost of what was found so far."""
        return self._lowest if self._cost is None else self._cost()

    @property
    def finished(self) -> bool:
        """Whether all were judged."""
        return not self._next

    def advance(self) -> None:
        """Judge the next ones."""
        for one, cost in zip(self._next, self._evaluate(self._next), strict=True):
            if cost < self._lowest:
                self._best, self._lowest = one, cost
        self._done += len(self._next)
        self._next = list(islice(self._left, EPOCH))

    def answer(self) -> Candidate:
        """The best candidate so far."""
        return self._best

    def save(self) -> State:
        """How many were judged, and the best of them."""
        return {"done": self._done, "best": self._best.copy(), "lowest": self._lowest}

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._done = int(cast("int", state["done"]))
        self._best = np.asarray(state["best"], np.int16)
        self._lowest = float(cast("float", state["lowest"]))
        self._left = islice(self._candidates(), self._done, None)
        self._next = list(islice(self._left, EPOCH))


def _every(rivals: Iterable[Labels], attributes: int, ks: int) -> Iterator[Candidate]:
    """All candidates, each once: those likely to be good first, in case there is no time for all."""
    first = [candidate(labels, place) for place in range(ks) for labels in rivals]
    yield from first
    known = {candidate_key(one) for one in first}
    for labels in every_grouping(attributes):
        for place in range(ks):
            one = candidate(labels, place)
            if candidate_key(one) not in known:
                yield one


def _record(row: Row) -> dict[str, Any]:
    """What an operator did in a generation, in the words of the paper; None for what cannot be said."""
    said = {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in asdict(row).items()}
    return {
        "generation": said["generation"],
        "operator": said["operator"],
        "born": said["children"],
        "clones": row.children - row.computed,
        "unused": said["utilisation"],
        "lifetime": said["life_time"],
        "improved": said["improved"],
        "worsened": said["worsened"],
        "efficiency": said["efficiency"],
        "best": said["highest"],
        "worst": said["lowest"],
        "improvement": said["improvement"],
        "worsening": said["worsening"],
    }


def account(
    dataset: Dataset,
    declarations: Declarations,
    attributes: list[Attribute],
    settings: Settings,
    ks: Sequence[int],
    name: str,
    method: Gomm,
    inner: Inner,
    weights: Weights,
    choices: Choices,
    objective: Objective,
    found: Found,
    notes: Sequence[str],
) -> dict[str, Any]:
    """All that was asked for, how the search went, and what it found; internal."""
    best = found.best
    return evidence(
        "grouping",
        parameters=parameters(settings, declarations, attributes, best.groups)
        | {
            "k": list(ks),
            "method": name,
            "params": asdict(method),
            "inner": {
                "method": inner.name,
                "params": asdict(inner.method),
                "steps": inner.steps if inner.searches else None,
            },
            "loss_weight": weights.loss,
            "risk_weight": weights.risk,
            "choices": asdict(choices),
        },
        search={
            "method": name,
            "params": asdict(method) | {"enumerated": found.enumerated},
            "seed": settings.seed,
            "steps": found.outcome.steps,
            "seconds": round(found.outcome.seconds, 3),
            "stopped": found.outcome.stopped,
            "trace": [[step, round(moment, 3), cost] for step, moment, cost in found.outcome.trace],
        },
        measures={
            **{key: value for key, value in best.as_dict().items() if key != "groups"},
            "groups": len(best.groups),
            "grouping": best.groups,
            "evaluations": objective.evaluations,
            "hypervolume": objective.front.hypervolume,
            "front": [point.as_dict() for point in found.front],
            "rivals": {key: rival.as_dict() for key, rival in found.rivals.items()},
        },
        given=describe_input(dataset.source, dataset.frame.height, dataset.frame.width),
        notes=notes,
    )


def compile_kernels(space: Space, inner: Inner, k: int) -> None:
    """Run all that is compiled on a small case."""
    warm_up(inner.method, space.points.shape[1], k, {space.records})
    pair, first, rows = np.array([[0.0], [1.0]]), np.zeros(1, np.int64), np.array([0, 1], np.int32)
    two = np.arange(2)
    with uninterrupted():
        cluster_means(pair, first, rows, 2)
        lost(pair, first, np.ones(1), np.zeros((0, 1), bool), pair, rows)
        pinned(pair, first, pair, rows, 0.1, 0.0)
        tables = np.zeros((1, 2, 2))
        fill_distances(pair, first, np.ascontiguousarray(pair.T), tables[0])
        chances(tables, first, rows[None], two, np.arange(3), nearest_records(pair, two, 1), two, 1)
