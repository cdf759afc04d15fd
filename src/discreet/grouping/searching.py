"""A search for groupings from its beginning to its end, and what comes out of it as plain records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evolution.loop import Outcome, evolve
from discreet.evolution.operators import Row, Statistics
from discreet.evolution.stops import MaxSeconds, MaxSteps
from discreet.grouping.candidate import Candidate, candidate, key
from discreet.grouping.canonical import Labels, named
from discreet.grouping.enumerated import Enumeration
from discreet.grouping.enumeration import bell, every_grouping
from discreet.grouping.pareto import Pareto
from discreet.grouping.result import Point

if TYPE_CHECKING:
    from discreet.evolution.process import Process
    from discreet.grouping.gomm import Gomm
    from discreet.grouping.objective import Objective
    from discreet.microdata.settings import Settings


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


def _every(rivals: Iterable[Labels], attributes: int, ks: int) -> Iterator[Candidate]:
    """All candidates, each once: those likely to be good first, in case there is no time for all."""
    first = [candidate(labels, place) for place in range(ks) for labels in rivals]
    yield from first
    known = {key(one) for one in first}
    for labels in every_grouping(attributes):
        for place in range(ks):
            one = candidate(labels, place)
            if key(one) not in known:
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
