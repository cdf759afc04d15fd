"""One suppression of a generated table, audited: the task of the 2012 paper's experiments."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.experiments.store import Flat

if TYPE_CHECKING:
    from discreet.data.tabular.table import Table
    from discreet.tables.suppression.problem import Problem
    from discreet.verification.attack.system import Bools

# The order by falling weight, one pass: what the paper measures improvements against.
WEIGHT = "weight"
# The rule by which the generated sensitive cells are unsafe.
P = 15
# What is said about a run besides the table; everything else is a parameter of the method.
SAID = ("kind", "sensitive", "zeros", "draw", "method", "seed", "seconds")

_rehearsed: set[str] = set()


@dataclass(frozen=True)
class Kind:
    """A class of generated tables (the paper's III.A and VII.A).

    Parameters
    ----------
    sizes : str
        Codes of each dimension, without totals; h for a hierarchical one.
    sensitive, zeros : float
        Shares of the inner cells that are unsafe and empty.
    """

    sizes: str
    sensitive: float
    zeros: float

    @property
    def name(self) -> str:
        """What it is called on a page."""
        return f"{self.sizes.replace('x', '×')}, {100 * self.sensitive:g} % unsafe"

    def said(self, draw: int) -> dict[str, Any]:
        """The settings of a run on one of its tables."""
        return {"kind": self.sizes, "sensitive": self.sensitive, "zeros": self.zeros, "draw": draw}


@lru_cache(maxsize=4)
def generated(kind: Kind, draw: int) -> Table:
    """A table of the generator with its unsafe cells."""
    from discreet.data.examples.contributors import contributors
    from discreet.tables.primary import primary
    from discreet.tables.tabulate import tabulate

    frame, hierarchies = contributors(kind.sizes, sensitive=kind.sensitive, zeros=kind.zeros, seed=draw)
    by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
    return primary(tabulate(frame, by=by, value="value", complete=True), p=P)


def suppressed(settings: Flat) -> dict[str, Any]:
    """Suppress a generated table by a method, and attack the pattern.

    Parameters
    ----------
    settings : mapping
        The table (`kind`, `sensitive`, `zeros`, `draw`), the `method` and its `seed`, `seconds` of the processor at
        most (a first pattern is always made), and parameters of the method.

    Returns
    -------
    dict
        `cells`, `unsafe` and `hopeless` (unsafe cells that nothing protects) of the table; `cost` of the pattern and
        `secondary`, its further cells; `failed`, unsafe cells that the audit finds exposed; `bound`, what no pattern is
        below, if known; `calls` of the fitness function; `spent`, seconds of the processor; `trace`, as text: seconds,
        calls and cost whenever it fell.
    """
    kind = Kind(str(settings["kind"]), float(settings["sensitive"] or 0), float(settings["zeros"] or 0))
    problem, hopeless = _problem(kind, int(settings["draw"] or 0))
    method, seed = str(settings["method"]), int(settings["seed"] or 0)
    params = {name: value for name, value in settings.items() if name not in SAID}
    _rehearse(method, kind, params)
    start = time.process_time()
    limit = settings.get("seconds")
    pattern, trace, calls, bound = _made(problem, method, seed, params, None if limit is None else float(limit))
    spent = time.process_time() - start
    return {
        "cells": len(problem.table),
        "unsafe": len(problem.table.primary),
        "hopeless": hopeless,
        "cost": problem.cost(pattern),
        "secondary": int((pattern & ~problem.primary).sum()),
        "failed": len(exposed(problem, pattern)) - hopeless,
        "bound": bound,
        "calls": calls,
        "spent": round(spent, 4),
        "trace": json.dumps(trace),
    }


def exposed(problem: Problem, pattern: Bools) -> list[int]:
    """The unsafe cells that a pattern over the columns does not protect, as the audit finds them."""
    from discreet.data.tabular.table import SECONDARY
    from discreet.verification.audit import audit

    status = problem.table.status.copy()
    status[problem.system.cells[pattern & ~problem.primary]] = SECONDARY
    found: list[int] = audit(problem.table.but(status=status)).failed.tolist()
    return found


@lru_cache(maxsize=4)
def _problem(kind: Kind, draw: int) -> tuple[Problem, int]:
    """The problem of a table, without the unsafe cells that nothing protects, and how many these are."""
    import numpy as np

    from discreet.tables.suppression.problem import problem_of

    problem = problem_of(generated(kind, draw))
    lost = exposed(problem, np.ones(len(problem), dtype=np.bool_))
    return problem.without(np.array(lost, dtype=np.int64)), len(lost)


def _made(
    problem: Problem, method: str, seed: int, params: Flat, limit: float | None
) -> tuple[Bools, list[tuple[float, int, float]], int, float | None]:
    """A pattern, when the cost fell, the calls of the fitness function, and a bound if there is one."""
    import math

    import numpy as np

    from discreet.tables.suppression.protectors import protector_of
    from discreet.tables.suppression.registry import make

    start = time.process_time()
    protector = protector_of(problem)
    if method == WEIGHT:
        protector.start()
        weight = problem.table.cost[problem.system.cells[problem.cell]]
        protector.protect(np.argsort(-weight, kind="stable").astype(np.int64))
        return protector.suppressed, [(round(time.process_time() - start, 4), 1, protector.cost)], 1, None
    process = make(method, params).begin(problem, protector, seed, None)
    trace: list[tuple[float, int, float]] = []
    steps, spent = 0, 0.0
    # A method that has no pattern yet must go on.
    while not process.finished and (limit is None or spent < limit or not math.isfinite(process.cost)):
        process.advance()
        steps += 1
        spent = time.process_time() - start
        if process.cost < (trace[-1][2] if trace else math.inf):
            trace.append((round(spent, 4), getattr(process, "evaluations", steps), process.cost))
    bound = getattr(process, "bound", None)
    return (
        process.answer(),
        trace,
        getattr(process, "evaluations", steps),
        bound if bound is not None and math.isfinite(bound) else None,
    )


def _rehearse(method: str, kind: Kind, params: Flat) -> None:
    """Suppress a tiny table of as many dimensions once in each process, so that loading compiled code is in no run."""
    shape = "x".join("4h" if part.endswith("h") else "4" for part in kind.sizes.split("x"))
    if f"{method} {shape}" in _rehearsed:
        return
    _rehearsed.add(f"{method} {shape}")
    problem, _ = _problem(Kind(shape, 0.1, 0.1), 1)
    _made(problem, method, 1, {**params, "evaluations": 3} if "evaluations" in params else params, 0.05)
