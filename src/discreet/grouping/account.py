"""What the evidence says of a grouping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from discreet.microdata.account import parameters
from discreet.release.evidence import described, evidence

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute
    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations
    from discreet.grouping.gomm import Gomm
    from discreet.grouping.inner import Inner
    from discreet.grouping.objective import Objective, Weights
    from discreet.grouping.searching import Found
    from discreet.measures.choices import Choices
    from discreet.microdata.settings import Settings


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
        given=described(dataset.source, dataset.frame.height, dataset.frame.width),
        notes=notes,
    )
