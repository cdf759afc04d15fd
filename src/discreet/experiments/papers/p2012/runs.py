"""The runs of the 2012 paper: which generated tables, which methods, how many calls or seconds; all audited."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from discreet.attack.system import Bools
from discreet.examples.contributors import contributors
from discreet.experiments.papers.paper import Budget
from discreet.experiments.runs import Flat
from discreet.methods import make
from discreet.tables.primary import primary
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import Problem, problem_of
from discreet.tables.tabulate import tabulate
from discreet.tabular.table import SECONDARY, Table
from discreet.verification.audit import audit

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
def generate(kind: Kind, draw: int) -> Table:
    """A table of the generator with its unsafe cells."""
    frame, hierarchies = contributors(kind.sizes, sensitive=kind.sensitive, zeros=kind.zeros, seed=draw)
    by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
    return primary(tabulate(frame, by=by, value="value", complete=True), p=P)


def suppress_and_attack(settings: Flat) -> dict[str, Any]:
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
    pattern, trace, calls, bound = _search(problem, method, seed, params, None if limit is None else float(limit))
    spent = time.process_time() - start
    return {
        "cells": len(problem.table),
        "unsafe": len(problem.table.primary),
        "hopeless": hopeless,
        "cost": problem.cost(pattern),
        "secondary": int((pattern & ~problem.primary).sum()),
        "failed": len(find_exposed(problem, pattern)) - hopeless,
        "bound": bound,
        "calls": calls,
        "spent": round(spent, 4),
        "trace": json.dumps(trace),
    }


def find_exposed(problem: Problem, pattern: Bools) -> list[int]:
    """The unsafe cells that a pattern over the columns does not protect, as the audit finds them."""
    status = problem.table.status.copy()
    status[problem.system.cells[pattern & ~problem.primary]] = SECONDARY
    found: list[int] = audit(problem.table.but(status=status)).failed.tolist()
    return found


@lru_cache(maxsize=4)
def _problem(kind: Kind, draw: int) -> tuple[Problem, int]:
    """The problem of a table, without the unsafe cells that nothing protects, and how many these are."""
    problem = problem_of(generate(kind, draw))
    lost = find_exposed(problem, np.ones(len(problem), dtype=np.bool_))
    return problem.without(np.array(lost, dtype=np.int64)), len(lost)


def _search(
    problem: Problem, method: str, seed: int, params: Flat, limit: float | None
) -> tuple[Bools, list[tuple[float, int, float]], int, float | None]:
    """A pattern, when the cost fell, the calls of the fitness function, and a bound if there is one."""
    start = time.process_time()
    if method == WEIGHT:
        pattern = pattern_of(problem)
        weight = problem.table.cost[problem.system.cells[problem.cell]]
        pattern.protect(np.argsort(-weight, kind="stable").astype(np.int64))
        return pattern.suppressed, [(round(time.process_time() - start, 4), 1, pattern.cost)], 1, None
    process = Components(make(method, params, "suppression"), problem, seed)
    epochs = process.epochs()
    trace: list[tuple[float, int, float]] = []
    steps, spent = 0, 0.0
    # A method that has no pattern yet must go on.
    while not process.finished and (limit is None or spent < limit or not math.isfinite(process.cost)):
        next(epochs)
        steps += 1
        spent = time.process_time() - start
        if process.cost < (trace[-1][2] if trace else math.inf):
            trace.append((round(spent, 4), _evaluations(process, steps), process.cost))
    bound = process.bound if process.bound is not None and math.isfinite(process.bound) else None
    return process.pattern(), trace, _evaluations(process, steps), bound


def _evaluations(process: Components, steps: int) -> int:
    """The calls of the fitness function; a method that has none is counted by its steps."""
    return sum(getattr(one, "evaluations", steps) for one in process.processes)


def _rehearse(method: str, kind: Kind, params: Flat) -> None:
    """Suppress a tiny table of as many dimensions once in each process, so that loading compiled code is in no run."""
    shape = "x".join("4h" if part.endswith("h") else "4" for part in kind.sizes.split("x"))
    if f"{method} {shape}" in _rehearsed:
        return
    _rehearsed.add(f"{method} {shape}")
    problem, _ = _problem(Kind(shape, 0.1, 0.1), 1)
    _search(problem, method, 1, {**params, "evaluations": 3} if "evaluations" in params else params, 0.05)


OPERATORS = ("swap", "insert", "invert")
LOCAL = tuple(f"ls-{name}" for name in OPERATORS)
GENETIC = tuple(f"ga-{name}" for name in OPERATORS)
SETS = ("ga-one-p", "ga-one-k", "ga-group-k")
ONCE = ("hypercube", "marginal")
OWN = ("search", "exact")


@dataclass(frozen=True)
class Test:
    """A class of tables and what is done with them.

    Parameters
    ----------
    kind : Kind
        The class.
    draws : int
        How many tables are drawn.
    calls : int
        Calls of the fitness function of each search of Table III.
    limit : float
        Seconds of the processor after which such a search ends before.
    seconds : float
        Seconds of the processor of each method that is compared at equal time.
    operators : tuple of str
        The mutations of the searches of Table III.
    proven : int
        On how many of the tables `exact` is among the methods compared.
    """

    kind: Kind
    draws: int
    calls: int
    limit: float
    seconds: float
    operators: tuple[str, ...] = OPERATORS
    proven: int = 5


# The paper has 5 tables of each class, 10,000 calls at most within 3 hours, and 12 hours for the methods compared. On
# 4000x10 with 10 % unsafe cells `exact` is tried on 3: on the next two, each with one very large contribution, it takes
# minutes to clean up its first pattern, and cannot be stopped meanwhile.
TESTS = (
    Test(Kind("200x5", 0.02, 0.05), 5, 2_000, 300.0, 1.0),
    Test(Kind("200x5", 0.10, 0.25), 5, 2_000, 300.0, 1.0),
    Test(Kind("200x50", 0.02, 0.05), 5, 500, 300.0, 3.0),
    Test(Kind("200x50", 0.10, 0.25), 5, 500, 300.0, 3.0),
    Test(Kind("4000x10", 0.02, 0.05), 5, 100, 600.0, 8.0),
    Test(Kind("4000x10", 0.10, 0.25), 5, 100, 600.0, 8.0, proven=3),
)
QUICK = (
    Test(Kind("12x5", 0.10, 0.10), 2, 12, 2.0, 0.02),
    Test(Kind("10x8", 0.10, 0.25), 2, 12, 2.0, 0.02, ("invert",)),
)

# Table VII at its own size; a hierarchical dimension has the number of codes at the bottom that comes nearest to it.
LARGE_KINDS = (
    Kind("99x26x17", 0.30, 0.49),
    Kind("99x20x23", 0.21, 0.12),
    Kind("99x4x80h", 0.17, 0.41),
    Kind("99x83hx3", 0.08, 0.54),
    Kind("99x6x82", 0.20, 0.43),
    Kind("99x19x30", 0.21, 0.13),
    Kind("99x5x83h", 0.03, 0.51),
    Kind("99x19x35", 0.21, 0.13),
    Kind("99x75x9", 0.18, 0.26),
    Kind("99x3x166h", 0.21, 0.46),
    Kind("99x10x68h", 0.19, 0.47),
    Kind("49x49x39", 0.22, 0.13),
    Kind("99x120hx8", 0.20, 0.50),
    Kind("99x90x22", 0.08, 0.36),
)
# Table VIII on tables of the same shares and shapes whose linear programs take milliseconds.
SMALLER = (
    Kind("12x6x5", 0.30, 0.49),
    Kind("12x5x8h", 0.17, 0.41),
    Kind("10x8x4", 0.18, 0.26),
    Kind("9x8x8", 0.22, 0.13),
)
QUICK_LARGE = (Kind("9x5x4", 0.2, 0.2), Kind("9x4x8h", 0.1, 0.3))
GROUPS = 20
LARGE_SECONDS = 2.0
# Of `search` on the tables of Table VII.
FULL_SECONDS = 2.0


def tests(budget: Budget) -> tuple[Test, ...]:
    """The tests that the budget allows."""
    return QUICK if budget.quick else TESTS


def improvement_runs(budget: Budget) -> pl.DataFrame:
    """The runs of Table III: `gain` over the order by weight, in percent, of the six searches with fixed operators.

    No search ends before its calls are made, unlike the paper's, so that all have the same number.
    """
    settings = [
        {
            **test.kind.said(_draw(budget, draw)),
            "method": method,
            "seed": budget.seed,
            "seconds": test.limit,
            "evaluations": test.calls,
            "patience": test.calls,
            "convergence": 0,
        }
        for test in tests(budget)
        for draw in range(test.draws)
        for kind in ("ls", "ga")
        for method in (f"{kind}-{name}" for name in test.operators)
    ]
    runs = _run("fixed", settings, budget)
    weights = weight_runs(budget).select("kind", "sensitive", "draw", weight="cost")
    joined = runs.join(weights, on=["kind", "sensitive", "draw"], maintain_order="left")
    return joined.with_columns(gain=100 * (1 - pl.col("cost") / pl.col("weight")), table=_table())


def weight_runs(budget: Budget) -> pl.DataFrame:
    """One pass in the order of falling weight on every table."""
    settings = [
        {**test.kind.said(_draw(budget, draw)), "method": WEIGHT, "seed": budget.seed}
        for test in tests(budget)
        for draw in range(test.draws)
    ]
    return _run("weight", settings, budget)


def timed_runs(budget: Budget) -> pl.DataFrame:
    """The runs at equal time: the three sets of the paper, the baselines, and our own methods."""
    settings = [
        {
            **test.kind.said(_draw(budget, draw)),
            "method": method,
            "seed": budget.seed,
            "seconds": None if method in ONCE else test.seconds,
        }
        for test in tests(budget)
        for draw in range(test.draws)
        for method in (*SETS, *ONCE, *OWN)
        if method != "exact" or draw < test.proven
    ]
    return _run("timed", settings, budget).with_columns(table=_table())


def smaller(budget: Budget) -> pl.DataFrame:
    """Tables of three dimensions: the paper's algorithm for large tables, and our search, at equal time."""
    seconds = 0.05 if budget.quick else LARGE_SECONDS
    surrogate = {"groups": GROUPS, "surrogate": True}
    settings: list[dict[str, Any]] = [
        {**kind.said(_draw(budget, 0)), "method": method, "seed": budget.seed, "seconds": seconds, **params}
        for kind in (QUICK_LARGE[:1] if budget.quick else SMALLER)
        for method, params in (("ga-group-k", surrogate), ("search", {}))
    ]
    return _run("large", settings, budget).with_columns(table=_table())


def full_size(budget: Budget) -> pl.DataFrame:
    """The tables of Table VII at their own size, by our search."""
    kinds, seconds = (QUICK_LARGE, 0.05) if budget.quick else (LARGE_KINDS, FULL_SECONDS)
    settings: list[dict[str, Any]] = [
        {**kind.said(_draw(budget, 0)), "method": "search", "seed": budget.seed, "seconds": seconds} for kind in kinds
    ]
    return _run("full-size", settings, budget).with_columns(table=_table())


def of_kind(runs: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    """The runs on tables of a class."""
    return runs.filter((pl.col("kind") == kind.sizes) & (pl.col("sensitive") == kind.sensitive))


def _draw(budget: Budget, draw: int) -> int:
    return budget.seed + draw


def _table() -> pl.Expr:
    return pl.format("{} {} {}", "kind", "sensitive", "draw")


def _run(name: str, settings: Sequence[Flat], budget: Budget) -> pl.DataFrame:
    return budget.run(f"2012-{name}", suppress_and_attack, settings, {"paper": "2012"}, stage=name, cost="spent")
