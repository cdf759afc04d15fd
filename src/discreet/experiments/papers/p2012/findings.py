"""Which findings of the 2012 paper hold on our tables, in words made from the figures."""

from __future__ import annotations

import json
import statistics
from collections import Counter

import polars as pl

from discreet.experiments.page import Section, Table, Text
from discreet.experiments.papers.p2012.duels import FAILS, HOLDS, PART, Duel, against, duel
from discreet.experiments.papers.p2012.orders import describe_audit, rooms
from discreet.experiments.papers.p2012.published import CONFIDENCE_4
from discreet.experiments.papers.p2012.runs import (
    GENETIC,
    LOCAL,
    SETS,
    full_size,
    improvement_runs,
    smaller,
    tests,
    timed_runs,
)
from discreet.experiments.papers.paper import Budget, spread

# A finding of the paper, what we find, and whether it holds.
Finding = tuple[str, str, str]


def findings(budget: Budget) -> Section:
    """The findings, one by one."""
    fixed, timed = improvement_runs(budget), timed_runs(budget)
    small, full = smaller(budget), full_size(budget)
    every = pl.concat(runs.select("failed", "hopeless") for runs in (fixed, timed, small, full))
    found = [
        find_gains(fixed, statistics.median(rooms(budget)["room"].to_list())),
        find_sizes(fixed),
        *((f"GA better than LS by {name}", *_told(fixed, f"ga-{name}", f"ls-{name}")) for name in CONFIDENCE_4),
        find_best(fixed),
        *find_sets(timed, tests(budget)[-1].kind.sizes),
        ("GA-group-K costs less than Hypercube", *_told(timed, "ga-group-k", "hypercube")),
        ("GA-group-K costs less than Marginal", *_told(timed, "ga-group-k", "marginal")),
        find_surrogate(small),
        find_protected(full),
    ]
    return Section(
        "Which of the paper's findings hold",
        [
            Text(
                f"{count_verdicts(found)} Better, worse and equal count tables; gains are means over them (the least "
                "to the largest), in percent of the cost of the other. One method is the better one if the sign test "
                "says so at the level 0.05, which no fewer than six tables on which the two differ can reach. "
                f"{describe_audit(every)}"
            ),
            Table(("the paper finds", "ours", "verdict"), found),
            Text(f"Beyond the paper: {tell_search(fixed, timed)}"),
        ],
    )


def find_gains(fixed: pl.DataFrame, room: float) -> Finding:
    """Whether searches over orders gain on the order by weight; `room` is what could be gained at most, in percent."""
    best = fixed.group_by("table", maintain_order=True).agg(pl.col("gain").max())["gain"].to_list()
    gained = Duel(best)
    ours = (
        f"on {gained.wins} of {len(best)} tables, by {spread(best, 'z.2f', ' %')}; never worse; no pattern at all "
        f"could gain more than {room:.1f} % (median)"
    )
    verdict = HOLDS if gained.wins == len(best) else PART if gained.wins else FAILS
    return "a search over orders costs less than the order by weight", ours, verdict


def find_sizes(fixed: pl.DataFrame) -> Finding:
    """Whether the gain is largest on the smallest tables."""
    sized = fixed.group_by("cells").agg(pl.col("kind").first(), pl.col("gain").mean()).group_by("kind")
    rows = sized.agg(pl.col("cells").min(), pl.col("gain").mean()).sort("cells").rows()
    gains = [gain for _, _, gain in rows]
    ours = ", ".join(f"{kind.replace('x', '×')} {gain:z.2f} %" for kind, _, gain in rows)
    return "the gain is largest on the smallest tables", ours, HOLDS if gains[0] > max(gains[1:]) else FAILS


def find_best(fixed: pl.DataFrame) -> Finding:
    """On how many tables the best of all searches is a genetic algorithm."""
    costs = [
        fixed.filter(pl.col("method").is_in(names)).group_by("table").agg(pl.col("cost").min())
        for names in (GENETIC, LOCAL)
    ]
    found = against(*costs)
    return "the best of all searches is a GA (30 of 38 tables; an LS on 10)", found.words, found.verdict


def find_sets(timed: pl.DataFrame, largest: str) -> list[Finding]:
    """One cell at a time against groups, on the largest tables and on the others; and K against P."""
    large = pl.col("kind") == largest
    return [
        (f"{one} better than {other}, {where}", *_told(timed.filter(tables), one, other))
        for one, other, where, tables in (
            ("ga-one-k", "ga-one-p", "all sizes", pl.lit(value=True)),
            ("ga-group-k", "ga-one-p", "all sizes", pl.lit(value=True)),
            ("ga-group-k", "ga-one-p", "40,000 cells", large),
            ("ga-group-k", "ga-one-k", "40,000 cells", large),
        )
    ]


def find_surrogate(runs: pl.DataFrame) -> Finding:
    """Whether the surrogate improves on the groups by falling weight."""
    surrogate = runs.filter(pl.col("method") == "ga-group-k")
    traces = [[cost for _, _, cost in json.loads(trace)] for trace in surrogate["trace"]]
    gains = Duel([100 * (1 - trace[-1] / trace[0]) if trace[0] else 0.0 for trace in traces])
    ours = f"on {gains.wins} of {surrogate.height}, by {spread(gains.gains, 'z.2f', ' %')}, all of them protected"
    name = "GA-group-K with the surrogate protects tables of three dimensions, and gains on half of them (7 of 14)"
    return name, ours, HOLDS if 2 * gains.wins >= surrogate.height and not (runs["failed"] > 0).any() else FAILS


def find_protected(full: pl.DataFrame) -> Finding:
    """Whether the large tables can be protected."""
    begun = [json.loads(trace)[0][0] for trace in full["trace"]]
    safe = int((full["failed"] == 0).sum())
    ours = (
        f"by `search` {safe} of {full.height}, of up to {max(full['cells'].to_list()):,} cells; the first safe pattern "
        f"after {spread(begun, '.1f', ' s')}"
    )
    name = "the fourteen large tables of Table VII can be protected (up to 209,300 cells, up to 24 hours each)"
    return name, ours, HOLDS if safe == full.height else FAILS


def tell_search(fixed: pl.DataFrame, timed: pl.DataFrame) -> str:
    """What `search` reaches against the best of the paper's searches, in the same seconds or fewer."""
    ours = timed.filter(pl.col("method") == "search")
    equal = against(ours, _least(timed.filter(pl.col("method").is_in(SETS))))
    longer = against(ours, _least(fixed))
    spent = fixed.select("table", searched="spent").join(ours.select("table", "spent"), on="table")
    times = float((spent["searched"] / spent["spent"]).median())  # type: ignore[arg-type]
    return (
        "[`search`](../suppression.md), which takes patterns apart and repairs them, against the best of ga-one-p, "
        f"ga-one-k and ga-group-k on each table with the same seconds of the processor: {equal.words}. Against the "
        f"best of all searches of Table III, each of which had {times:.2g} times the seconds of `search` (median): "
        f"{longer.words}."
    )


def count_verdicts(found: list[Finding]) -> str:
    """How many of the findings have which verdict."""
    counts = Counter(verdict for *_, verdict in found)
    told = "; ".join(f"{verdict} ({count})" for verdict, count in counts.most_common())
    return f"The verdicts on {len(found)} findings: {told}."


def _least(runs: pl.DataFrame) -> pl.DataFrame:
    return runs.group_by("table").agg(pl.col("cost").min())


def _told(runs: pl.DataFrame, one: str, other: str) -> tuple[str, str]:
    found = duel(runs, one, other)
    return found.words, found.verdict
