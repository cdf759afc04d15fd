"""A search for groupings from its beginning to its end: which search, what is recorded on the way, what comes out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from discreet.data.roles import Declarations
from discreet.evolution.checks import integers, whole
from discreet.evolution.loop import Outcome
from discreet.evolution.process import Search, State, inside, part
from discreet.evolution.statistics import Row, Statistics
from discreet.grouping.candidates import Candidate, Labels, bell, candidate, clone_key, every_grouping, name_groups
from discreet.grouping.evaluator import Evaluator
from discreet.grouping.gomm import Gomm
from discreet.grouping.objective import Objective, Weights
from discreet.grouping.parts import Inner
from discreet.grouping.result import Point
from discreet.grouping.rivals import rivals
from discreet.grouping.space import Space
from discreet.kernels.compiling import uninterrupted
from discreet.kernels.partitions.group_release import cluster_means, lost, pinned
from discreet.kernels.space.group_linkage import chances, fill_distances, nearest_records
from discreet.measures.choices import Choices
from discreet.microdata.options import Settings
from discreet.microdata.protection import parameters
from discreet.microdata.solving import warm_up
from discreet.release.evidence import describe_input, evidence
from discreet.running import CheckpointFile, describe_search, run, sign

# Candidates that an enumeration evaluates in an epoch.
ENUMERATED_AT_ONCE = 50


class Enumeration(Search[Candidate]):
    """Evaluates all candidates, one after the other.

    Parameters
    ----------
    objective : Objective
        What is to be small.
    rivals : iterable of groupings
        Those likely to be good: they come first, in case there is no time for all.
    seeks_front : bool
        Whether its cost is what the front does not dominate, and not the best score.
    """

    def __init__(self, objective: Objective, rivals: Iterable[Labels], *, seeks_front: bool = False) -> None:
        self._objective, self._seeks_front = objective, seeks_front
        self._first = [candidate(labels, place) for place in range(len(objective.ks)) for labels in rivals]
        self._count, self._done = bell(objective.attributes) * len(objective.ks), 0
        self._best, self._lowest = next(self._candidates()), math.inf

    def _candidates(self) -> Iterator[Candidate]:
        """All of them, the rivals first and not again."""
        yield from self._first
        known = {clone_key(one) for one in self._first}
        for labels in every_grouping(self._objective.attributes):
            for place in range(len(self._objective.ks)):
                one = candidate(labels, place)
                if clone_key(one) not in known:
                    yield one

    @property
    def cost(self) -> float:
        """The lowest score so far, or what the front does not dominate."""
        return self._objective.undominated if self._seeks_front else self._lowest

    @property
    def finished(self) -> bool:
        """Whether all were evaluated."""
        return self._done >= self._count

    def _epochs(self) -> Iterator[None]:
        left = islice(self._candidates(), self._done, None)
        while several := list(islice(left, ENUMERATED_AT_ONCE)):
            for one, cost in zip(several, self._objective.evaluate(several), strict=True):
                if cost < self._lowest:
                    self._best, self._lowest = one, cost
            self._done += len(several)
            yield

    def answer(self) -> Candidate:
        """The best candidate so far."""
        return self._best

    def _state(self) -> State:
        return {"done": self._done, "best": self._best, "lowest": self._lowest}

    def _restore(self, state: State) -> None:
        self._done, self._lowest = whole("done", state["done"], 0), float(cast("float", state["lowest"]))
        self._best = integers("best", state["best"], self._best.shape, 0, len(self._best)).astype(np.int16)
        if not self._objective.admits(self._best) or math.isnan(self._lowest):
            raise ValueError("best is no grouping")


class Recorded:
    """A search together with what it records on the way: the front of loss and risk, and what the operators did.

    Parameters
    ----------
    method : Gomm
        The method. Where there are few candidates, all of them are evaluated instead.
    objective : Objective
        What is to be small.
    rivals : sequence of groupings
        The ad-hoc groupings.
    seed : int
        Seed of every random choice.
    """

    bound = None

    def __init__(self, method: Gomm, objective: Objective, rivals: Sequence[Labels], seed: int) -> None:
        self.objective = objective
        self.statistics = Statistics()
        self.enumerates = bell(objective.attributes) * len(objective.ks) <= method.enumeration
        self._search: Search[Candidate] = (
            Enumeration(objective, rivals, seeks_front=method.seeks_front)
            if self.enumerates
            else method.search(objective, rivals, seed, [self.statistics])
        )

    @property
    def cost(self) -> float:
        """The lowest score so far, or the share of loss and risk that the front does not dominate."""
        return self._search.cost

    @property
    def finished(self) -> bool:
        """Whether all generations are done, or all candidates evaluated."""
        return self._search.finished

    def epochs(self) -> Iterator[None]:
        """Generations, or so many candidates at once."""
        return self._search.epochs()

    def answer(self) -> Candidate:
        """The candidate of the lowest score so far."""
        return self._search.answer()

    def save(self) -> State:
        """The search, the front with all figures, and what the operators did."""
        return (
            inside("search", self._search.save())
            | inside("objective", self.objective.save())
            | inside("statistics", self.statistics.save())
        )

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self.objective.load(part("objective", state))
        self.statistics.load(part("statistics", state))
        self._search.load(part("search", state))


@dataclass(frozen=True, eq=False)
class Plan:
    """What is searched for, and how.

    Parameters
    ----------
    space : Space
        The data.
    ks : list of int
        The values of k allowed, in ascending order.
    name : str
        Name of the method.
    method : Gomm
        The method.
    inner : Inner
        The partition method that protects each group of attributes.
    weights : Weights
        How much loss and risk count.
    choices : Choices
        How risk is measured.
    settings : Settings
        Time or steps, seed and threads.
    """

    space: Space
    ks: list[int]
    name: str
    method: Gomm
    inner: Inner
    weights: Weights
    choices: Choices
    settings: Settings

    def objective(self, memory: int) -> Objective:
        """What is to be small; `memory` is how many bytes may be kept of groups of attributes."""
        room, threads = memory // len(self.ks), self.settings.threads
        return Objective(
            [Evaluator(self.space, k, self.inner, self.choices, memory=room, threads=threads) for k in self.ks],
            self.weights,
        )

    def as_dict(self) -> dict[str, Any]:
        """The plan without the data and the settings, ready for JSON."""
        return {
            "k": list(self.ks),
            "method": self.name,
            "params": asdict(self.method),
            "inner": {
                "method": self.inner.name,
                "params": asdict(self.inner.method),
                "steps": self.inner.steps if self.inner.searches else None,
            },
            "loss_weight": self.weights.loss,
            "risk_weight": self.weights.risk,
            "choices": asdict(self.choices),
        }

    def checkpoint(self, path: Path) -> CheckpointFile:
        """Where the search is kept, signed with all that its groupings and their figures depend on."""
        facts = self.as_dict()
        settings: dict[str, str | int | float] = {
            "k": ", ".join(map(str, self.ks)),
            "seed": self.settings.seed,
            "inner": self.inner.name,
            **{f"inner.{name}": str(value) for name, value in facts["inner"]["params"].items()},
            "inner_steps": str(facts["inner"]["steps"]),
            "loss_weight": float(self.weights.loss),
            "risk_weight": float(self.weights.risk),
            **{name: str(value) for name, value in facts["choices"].items() if name != "seed"},
        }
        signature = sign(self.name, facts["params"], settings, {"data": self._digest()})
        return CheckpointFile(path, signature, {"data": "was made from other data, or with other columns or weights"})

    def _digest(self) -> str:
        """What tells the data, and how its columns are read, from other data."""
        digest = hashlib.sha256()
        for attribute in self.space.attributes:
            read_as = (attribute.name, attribute.kind, str(attribute.dtype), attribute.integral)
            treated_as = (attribute.weight, attribute.aggregate, attribute.missing, attribute.digits)
            digest.update(repr(read_as + treated_as).encode() + attribute.values.tobytes())
        for rows in self.space.strata(self.ks[0]).rows:
            digest.update(len(rows).to_bytes(8, "little") + rows.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Found:
    """What came of a search.

    Parameters
    ----------
    best : Point
        The grouping of the lowest score.
    front : list of Point
        What no other beats in both loss and risk.
    hypervolume : float
        Share of all combinations of loss and risk that the front dominates, in percent.
    rivals : dict of str to Point
        The ad-hoc groupings that can be protected.
    operators : list of dict
        What the operators did.
    evaluations : int
        How many groupings were measured.
    outcome : Outcome
        Steps, seconds, why it stopped, and the trace.
    enumerated : bool
        Whether all groupings were evaluated instead of a search.
    """

    best: Point
    front: list[Point]
    hypervolume: float
    rivals: dict[str, Point]
    operators: list[dict[str, Any]]
    evaluations: int
    outcome: Outcome
    enumerated: bool


def search(plan: Plan, memory: int, tell: Callable[[float], None], checkpoint: Path | None = None) -> Found:
    """Search until the method is finished, the time is over, or the steps are done.

    Parameters
    ----------
    plan : Plan
        What is searched for, and how.
    memory : int
        Bytes that may be kept of groups of attributes; the result does not depend on it.
    tell : callable
        Told how far along the search is, in [0, 1].
    checkpoint : Path, optional
        Where the search is kept, and goes on from.
    """
    objective, ad_hoc = plan.objective(memory), rivals(plan.space)
    process = Recorded(plan.method, objective, list(ad_hoc.values()), plan.settings.seed)
    file = None if checkpoint is None else plan.checkpoint(checkpoint)
    outcome = run(process, plan.settings, tell=tell, checkpoint=file)
    best = process.answer()
    (point,) = _points(objective, [best])
    if math.isinf(point.score):
        raise objective.refusal(best)
    front = _points(objective, [trade.what for trade in objective.front.trades])
    everywhere = {
        name if len(plan.ks) == 1 else f"{name}, k = {k}": candidate(labels, place)
        for place, k in enumerate(plan.ks)
        for name, labels in ad_hoc.items()
    }
    measured = zip(everywhere, _points(objective, list(everywhere.values())), strict=True)
    return Found(
        best=point,
        front=front,
        hypervolume=objective.front.hypervolume,
        rivals={name: rival for name, rival in measured if math.isfinite(rival.score)},
        operators=[_record(row) for row in process.statistics.rows()],
        evaluations=objective.evaluations,
        outcome=outcome,
        enumerated=process.enumerates,
    )


def _points(objective: Objective, candidates: Sequence[Candidate]) -> list[Point]:
    """Candidates with their measures."""
    names, figures = objective.evaluators[0].space.names, objective.figures(candidates)
    return [
        Point(objective.ks[one[0]], objective.weights.score(f), f.il, f.dr, f.dld, f.id, name_groups(one[1:], names))
        for one, f in zip(candidates, figures, strict=True)
    ]


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


def account(plan: Plan, declarations: Declarations, found: Found, notes: Sequence[str]) -> dict[str, Any]:
    """All that was asked for, how the search went, and what it found; internal."""
    best, dataset = found.best, plan.space.dataset
    return evidence(
        "grouping",
        parameters=parameters(plan.settings, declarations, list(plan.space.attributes), best.groups) | plan.as_dict(),
        search=describe_search(
            found.outcome, plan.name, asdict(plan.method) | {"enumerated": found.enumerated}, plan.settings.seed
        ),
        measures={
            **{key: value for key, value in best.as_dict().items() if key != "groups"},
            "groups": len(best.groups),
            "grouping": best.groups,
            "evaluations": found.evaluations,
            "hypervolume": found.hypervolume,
            "front": [point.as_dict() for point in found.front],
            "rivals": {key: rival.as_dict() for key, rival in found.rivals.items()},
        },
        given=describe_input(dataset.source, dataset.frame.height, dataset.frame.width),
        notes=notes,
    )


def compile_kernels(space: Space, inner: Inner, k: int) -> None:
    """Run all that is compiled on a small case: compiling is no part of the search, nor can it be interrupted."""
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
