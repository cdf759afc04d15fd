"""The tests of the 2012 paper on generated tables: which tables, which methods, how many calls or seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.experiments.papers.paper import Budget
from discreet.experiments.papers.table_runs import WEIGHT, Kind, suppressed
from discreet.experiments.runs import run_all

if TYPE_CHECKING:
    import polars as pl

LOCAL = ("ls-swap", "ls-insert", "ls-invert")
GENETIC = ("ga-swap", "ga-insert", "ga-invert")
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
        How many tables are drawn for Table III; 0: the class is left out there.
    calls : int
        Calls of the fitness function of each search of Table III, at most.
    timed : int
        How many tables the methods are compared on at equal time.
    seconds : float
        Seconds of the processor of each of these.
    """

    kind: Kind
    draws: int
    calls: int
    timed: int
    seconds: float


# The paper has 5 tables of each class, 10,000 calls at most within 3 hours, and 12 hours for the searches compared.
TESTS = (
    Test(Kind("200x5", 0.02, 0.05), 3, 300, 3, 0.5),
    Test(Kind("200x5", 0.10, 0.25), 3, 300, 3, 0.5),
    Test(Kind("200x50", 0.02, 0.05), 3, 40, 2, 1.5),
    Test(Kind("200x50", 0.10, 0.25), 2, 14, 1, 2.0),
    Test(Kind("4000x10", 0.02, 0.05), 0, 0, 1, 12.0),
)
# Seconds of the processor of a search of Table III, at most: tables with one very large contribution are slow.
LIMIT = 2.0
QUICK = (
    Test(Kind("12x5", 0.10, 0.10), 2, 12, 2, 0.02),
    Test(Kind("10x8", 0.10, 0.25), 2, 12, 2, 0.02),
)

# Table VII at its own size; a hierarchical dimension has the number of codes at the bottom that comes nearest to it.
LARGE = (
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


def tests(budget: Budget) -> tuple[Test, ...]:
    """The tests that the budget allows."""
    return QUICK if budget.quick else TESTS


def improved(budget: Budget) -> pl.DataFrame:
    """The runs of Table III: `gain` over the order by weight, in percent, of the six searches with fixed operators."""
    import polars as pl

    settings = [
        {
            **test.kind.said(_draw(budget, draw)),
            "method": method,
            "seed": budget.seed,
            "seconds": LIMIT,
            "evaluations": test.calls,
        }
        for test in tests(budget)
        for draw in range(test.draws)
        for method in (*LOCAL, *GENETIC)
    ]
    runs = _run("fixed", tuple(map(_frozen, settings)), budget)
    weights = by_weight(budget).select("kind", "sensitive", "draw", weight="cost")
    joined = runs.join(weights, on=["kind", "sensitive", "draw"], maintain_order="left")
    return joined.with_columns(gain=100 * (1 - pl.col("cost") / pl.col("weight")), table=_table())


def by_weight(budget: Budget) -> pl.DataFrame:
    """One pass in the order of falling weight on every table."""
    settings = [
        {**test.kind.said(_draw(budget, draw)), "method": WEIGHT, "seed": budget.seed}
        for test in tests(budget)
        for draw in range(max(test.draws, test.timed))
    ]
    return _run("weight", tuple(map(_frozen, settings)), budget)


def timed(budget: Budget) -> pl.DataFrame:
    """The runs at equal time: the three sets of the paper, the baselines, and our own methods."""
    settings = [
        {
            **test.kind.said(_draw(budget, draw)),
            "method": method,
            "seed": budget.seed,
            "seconds": None if method in ONCE else test.seconds,
        }
        for test in tests(budget)
        for draw in range(test.timed)
        for method in (*SETS, *ONCE, *OWN)
    ]
    return _run("timed", tuple(map(_frozen, settings)), budget).with_columns(table=_table())


def smaller(budget: Budget) -> pl.DataFrame:
    """Tables of three dimensions: the paper's algorithm for large tables, and our search, at equal time."""
    seconds = 0.05 if budget.quick else LARGE_SECONDS
    surrogate = {"groups": GROUPS, "surrogate": True}
    settings: list[dict[str, Any]] = [
        {**kind.said(_draw(budget, 0)), "method": method, "seed": budget.seed, "seconds": seconds, **params}
        for kind in (QUICK_LARGE[:1] if budget.quick else SMALLER)
        for method, params in (("ga-group-k", surrogate), ("search", {}))
    ]
    return _run("large", tuple(map(_frozen, settings)), budget).with_columns(table=_table())


def _draw(budget: Budget, draw: int) -> int:
    return budget.seed + draw


def _table() -> pl.Expr:
    import polars as pl

    return pl.format("{} {} {}", "kind", "sensitive", "draw")


def _frozen(settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(settings.items())


def _run(name: str, settings: tuple[tuple[tuple[str, Any], ...], ...], budget: Budget) -> pl.DataFrame:
    """The runs; what they have cost is noted however often they are asked for."""
    runs = _runs(name, settings, budget)
    budget.work[f"2012 {name}"] = float(runs["spent"].sum())
    return runs


@lru_cache(maxsize=16)
def _runs(name: str, settings: tuple[tuple[tuple[str, Any], ...], ...], budget: Budget) -> pl.DataFrame:
    from discreet._version import __version__

    folder = f"2012-{name}{'-quick' if budget.quick else ''}-{budget.seed}"
    return run_all(
        suppressed,
        [dict(each) for each in settings],
        store=None if budget.store is None else budget.store / folder,
        about={"paper": "2012", "version": __version__},
        threads=budget.threads,
        progress=lambda fraction, _left: budget.tell(name, fraction),
    )
