"""Cost and speed of secondary suppression: `python -m benchmarks.suppression`.

Parts: `peers` (the reference tables against τ-ARGUS's results), `wide` (4000×10), `optimum` (10×10 and 20×20 against
the proven optimum), `rivals` (search against the paper's genetic algorithms at equal time), `table3` (the paper's Table
III: gains over the order by weight, with Friedman's and Wilcoxon's tests), `classes` (the paper's 30 generated tables
and its 14 large ones), `small` (small hierarchical tables and tables of four dimensions against one pass of linear
programs), `crossed` (two hierarchies and a flat dimension, 40 % unsafe, against the hypercube), `lattice` (full tables
of three dimensions, the smaller ones against such a pass too) and `million` (a first pattern of 1,010,000 cells). Every
pattern is audited. One thread; costs stand beside the times. In the last five parts a second is one of the processor,
and `--only` picks tables by name, so that they can be run piece by piece. A bar that is not reached is printed as
missed.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.common import ROOT, clocked
from benchmarks.searched import Searched, full_lp, judged, searched
from benchmarks.tables import generated

import discreet
from discreet.methods import make
from discreet.tables.primary import primary
from discreet.tables.suppression.baselines import hypercube
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import problem_of
from discreet.tables.tabulate import tabulate
from discreet.tabular.files import jj
from discreet.tabular.table import Table

PARTS = ("peers", "wide", "optimum", "rivals", "table3", "classes", "small", "crossed", "lattice", "million")
# Sizes without totals of the 14 large tables of the paper's Table VII; h for a hierarchical dimension.
LARGE = (
    ("99x26x17", 0.30, 0.49),
    ("99x20x23", 0.21, 0.12),
    ("99x4x90h", 0.17, 0.41),
    ("99x96h", 0.08, 0.54),
    ("99x6x82", 0.20, 0.43),
    ("99x19x30", 0.21, 0.13),
    ("99x5x96h", 0.03, 0.51),
    ("99x19x35", 0.21, 0.13),
    ("99x75x9", 0.18, 0.26),
    ("99x3x180h", 0.21, 0.46),
    ("99x10x76h", 0.19, 0.47),
    ("49x49x39", 0.22, 0.13),
    ("99x134hx8", 0.20, 0.50),
    ("99x90x22", 0.08, 0.36),
)
# Small tables in which every step is a linear program: hierarchical ones, and ones of four dimensions.
SMALL = ("10hx10h", "12x4x8h", "20x5x12h", "4x4x4x4", "6x6x6x6", "8x8x5x4")
# Up to so many cells one pass of full linear programs takes seconds.
MOST_FULL = 5_000


def tables() -> Path:
    """Where the reference tables are."""
    return Path(os.environ.get("DISCREET_REFERENCE_DATA", ROOT.parent / "shared" / "data")) / "tables"


def met(value: float, bar: float) -> str:
    """Whether a value is at most the bar."""
    return "met" if value <= bar else "missed"


def report_peers() -> None:
    """The tables that τ-ARGUS's engine has solved."""
    print("reference tables: cost = value")
    print(
        f"{'table':<26}{'cells':>7}{'unsafe':>8}{'second.':>8}{'value':>14}{'peer':>14}  {'':<8}{'wall s':>7}{'bar':>5}"
    )
    folder = tables()
    if not folder.exists():
        print("skipped: the reference data is not here")
        return
    week = folder / "tau_testW"

    def from_week(by: list[str], **rules: float) -> Table:
        made = tabulate(week / "tau_testW.asc", by=by, value="Var2", meta=week / "Tau_TestW.rda")
        return primary(made, **rules)  # type: ignore[arg-type]

    cases: list[tuple[str, Callable[[], Table], float, float]] = [
        ("t200x5", lambda: jj.read(folder / "jj" / "t200x5.jj"), 17_349, 10),
        ("t200x50", lambda: jj.read(folder / "jj" / "t200x50.jj"), 18_115, 30),
        ("tau Size×Region", lambda: from_week(["Size", "Region"], p=15), 521_926, 5),
        ("tau Industry×Size", lambda: from_week(["IndustryCode", "Size"], p=15, threshold=3), 4_835_141, 60),
        ("tau Industry×Region", lambda: from_week(["IndustryCode", "Region"], p=15, threshold=3), float("inf"), 60),
    ]
    for name, load, bar, seconds in cases:
        table = load()
        with clocked() as spent:
            # The peers mind no insiders here.
            found = discreet.suppress(table, time=seconds / 2, seed=1, singletons=False)
        value = float(found.table.value[found.secondary].sum())
        print(
            f"{name:<26}{len(table):>7,}{len(table.primary):>8,}{len(found.secondary):>8,}{value:>14,.0f}"
            f"{bar:>14,.0f}  {met(value, bar):<8}{spent.wall:>7.1f}{seconds:>5g}",
            flush=True,
        )


def report_wide() -> None:
    """4000×10: protected, cleaned up and audited, without insiders."""
    print("4000×10, protected and cleaned up once, then audited; without insiders")
    for sensitive, zeros, bar in ((0.02, 0.05, 10.0), (0.10, 0.25, 90.0)):
        table = generated("4000x10", sensitive=sensitive, zeros=zeros)
        discreet.suppress(generated("5x5", sensitive=0.1, zeros=0.1), steps=2, singletons=False)
        with clocked() as spent:
            found = discreet.suppress(table, steps=1, seed=1, singletons=False)
        print(
            f"  {sensitive:.0%} unsafe ({len(table.primary):,}): {len(found.secondary):,} secondary, "
            f"cost {found.cost:,.0f}, {spent.cpu:.1f} CPU s, bar {bar:g}  {met(spent.cpu, bar)}",
            flush=True,
        )


def report_optimum(seeds: int, seconds: float) -> None:
    """Search against the proven optimum."""
    print(f"search in {seconds:g} s against the optimum that `exact` proves; excess in percent")
    for kind in ("10x10", "20x20"):
        excess = []
        for seed in range(seeds):
            table = sample(kind, seed, sensitive=0.1, zeros=0.25)
            proven = discreet.suppress(table, method="exact", time=60, seed=1)
            if not proven.bound or proven.bound["gap"] > 0:
                continue
            found = discreet.suppress(table, time=seconds, seed=seed)
            excess.append(100 * (found.cost / proven.cost - 1) if proven.cost else 0.0)
        if excess:
            worst, median = max(excess), float(np.median(excess))
            judged = met(median, 1)
            print(f"  {kind}: {len(excess)} of {seeds} proven, median {median:.3f}, worst {worst:.3f}, bar 1  {judged}")
        else:
            print(f"  {kind}: none proven within the time")


def sample(kind: str, seed: int, *, sensitive: float, zeros: float) -> Table:
    """A generated table of a seed."""
    from discreet.examples import contributors

    frame, hierarchies = contributors(kind, sensitive=sensitive, zeros=zeros, seed=seed)
    by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
    return primary(tabulate(frame, by=by, value="value", complete=True), p=15)


def report_rivals(seeds: int, seconds: float) -> None:
    """Search against the paper's genetic algorithms at equal time."""
    print(f"search against the genetic algorithms over orders, {seconds:g} s each, median of {seeds} seeds")
    print(f"{'table':<16}{'search':>10}{'ga-one-p':>10}{'below %':>9}{'bar':>5}  {'':<8}{'cleaned':>10}{'below %':>9}")
    for kind, sensitive, zeros in (("50x50", 0.04, 0.1), ("200x50", 0.02, 0.05)):
        table = sample(kind, 1, sensitive=sensitive, zeros=zeros)

        def median(method: str, table: Table = table, **params: object) -> float:
            costs = [
                discreet.suppress(table, method=method, time=seconds, seed=s, params=params).cost for s in range(seeds)
            ]
            return float(np.median(costs))

        ours, plain, cleaned = median("search"), median("ga-one-p"), median("ga-one-p", clean=True)
        gain, gain_clean = 100 * (1 - ours / plain), 100 * (1 - ours / cleaned)
        print(
            f"{kind:<16}{ours:>10,.0f}{plain:>10,.0f}{gain:>9.1f}{10:>5}  {met(-gain, -10):<8}{cleaned:>10,.0f}"
            f"{gain_clean:>9.1f}",
            flush=True,
        )


def report_table3(seconds: float) -> None:
    """Gains over the order by weight, as the paper's Table III, with its tests."""
    from scipy.stats import friedmanchisquare, wilcoxon

    methods = ("ls-swap", "ls-insert", "ls-invert", "ga-swap", "ga-insert", "ga-invert")
    print(f"gain over the order by weight in percent, {seconds:g} s each (the paper's Table III)")
    print(f"{'table':<26}" + "".join(f"{name:>11}" for name in (*methods, "search")))
    rows = []
    for kind, sensitive, zeros in (("200x5", 0.02, 0.05), ("200x5", 0.1, 0.25), ("200x50", 0.02, 0.05)):
        for seed in (1, 2):
            table = sample(kind, seed, sensitive=sensitive, zeros=zeros)
            problem = problem_of(table)
            pattern = pattern_of(problem)
            weight = table.cost[problem.system.cells[problem.cell]]
            pattern.protect(np.argsort(-weight, kind="stable").astype(np.int64))
            start = pattern.cost
            gains = [
                100 * (1 - discreet.suppress(table, method=name, time=seconds, seed=1).cost / start)
                for name in (*methods, "search")
            ]
            rows.append(gains)
            told = f"{kind} {sensitive:.0%} seed {seed}"
            print(f"{told:<26}" + "".join(f"{gain:>11.2f}" for gain in gains), flush=True)
    matrix = np.array(rows)
    statistic, p = friedmanchisquare(*matrix[:, : len(methods)].T)
    print(f"Friedman over the six of the paper: {statistic:.2f}, p = {p:.3g}")
    for genetic, local in (("ga-swap", "ls-swap"), ("ga-insert", "ls-insert"), ("ga-invert", "ls-invert")):
        one, other = matrix[:, methods.index(genetic)], matrix[:, methods.index(local)]
        if (one != other).any():
            print(f"Wilcoxon {genetic} against {local}: p = {wilcoxon(one, other).pvalue:.3g}")


def heading(*names: str) -> None:
    """The first two lines of a table in Markdown."""
    print(f"| {' | '.join(names)} |\n|" + "---|" * len(names), flush=True)


def warm_up() -> None:
    """Compile what searches and audits need, so that it is in none of the times."""
    for kind in ("5x5", "4x4x4", "14x13x13"):
        searched(sample(kind, 1, sensitive=0.1, zeros=0.1), 1.0)


def report_classes(seconds: float, most: int, only: list[str] | None) -> None:
    """The paper's 30 generated tables, and its 14 large ones."""
    print(f"the paper's classes: first safe pattern, then {seconds:g} CPU s of search; every pattern audited")
    heading("table", "cells", "unsafe", "first cost", "CPU s", "cost", "CPU s", "audit", "CPU s")
    classes = [
        (f"{kind}-{s:.0%}-{seed}", kind, s, z, seed)
        for kind in ("200x5", "200x50", "4000x10")
        for s, z in ((0.02, 0.05), (0.1, 0.25))
        for seed in range(1, 6)
    ]
    large = [(kind, kind, s, z, 1) for kind, s, z in LARGE]
    for name, kind, sensitive, zeros, seed in [*classes, *large][:most]:
        if only is None or name in only or kind in only:
            found = searched(sample(kind, seed, sensitive=sensitive, zeros=zeros), seconds)
            first, first_cost = found.first
            cells, unsafe = len(found.table), len(found.table.primary)
            print(
                f"| {name} | {cells:,} | {unsafe:,} | {first_cost:,.0f} | {first:.1f} | {found.cost:,.0f} | "
                f"{found.cpu:.1f} | {found.verdict} | {found.audit_cpu:.1f} |",
                flush=True,
            )


def report_small(seconds: float, most: int, only: list[str] | None) -> None:
    """Small tables in which every step is a linear program, against one pass of full ones."""
    third = seconds / 3
    print(f"small tables: search after {third:g} and {seconds:g} CPU s against one pass of full linear programs (LP)")
    reached = "s to LP's cost"
    heading(
        "table",
        "cells",
        "unsafe",
        "LP",
        "CPU s",
        f"at {third:g} s",
        "/ LP",
        f"at {seconds:g} s",
        "/ LP",
        reached,
        "audit",
    )
    for kind in SMALL[:most]:
        if only is not None and kind not in only:
            continue
        table = sample(kind, 1, sensitive=0.1, zeros=0.25)
        problem = problem_of(table)
        cost, spent, _ = full_lp(problem)
        found = searched(table, seconds)
        early, late = found.at(third), found.cost
        print(
            f"| {kind} | {len(table):,} | {len(table.primary):,} | {cost:,.0f} | {spent:.2f} | {early:,.0f} | "
            f"{early / cost:.3f} | {late:,.0f} | {late / cost:.3f} | {found.reached(cost):.2f} | {found.verdict} |",
            flush=True,
        )


def crossed(seed: int, leaves: tuple[int, int] = (22, 14), classes: int = 3) -> Table:
    """Enterprises by activity (five levels), region (four) and size: most cells have few contributors."""
    rng = np.random.default_rng([seed, 18])
    codes = [
        np.sort(["".join(rng.choice(list("abcdef"), depth)) + f"{leaf:02}" for leaf in range(many)])
        for many, depth in zip(leaves, (3, 2), strict=True)
    ]
    shares = [rng.lognormal(0, 1.2, leaves[0]), rng.lognormal(0, 1.0, leaves[1]), 0.3 ** np.arange(classes)]
    mean = np.einsum("a,b,c->abc", *shares)
    at = np.argwhere(np.ones_like(mean, dtype=np.bool_)).repeat(rng.poisson(2.2 / mean.mean() * mean).ravel(), axis=0)
    columns = {
        "activity": codes[0][at[:, 0]],
        "region": codes[1][at[:, 1]],
        "size": np.array([f"s{one}" for one in range(classes)])[at[:, 2]],
        "turnover": np.round(rng.lognormal(3 + 2 * at[:, 2], 1.4), 1),
    }
    table = tabulate(pl.DataFrame(columns), by=["activity@1+1+1+2", "region@1+1+2", "size"], value="turnover")
    return primary(table, threshold=3, dominance=(1, 85))


def report_crossed(seconds: float, most: int) -> None:
    """Crossed hierarchies: the search against the hypercube, which it must never cost more than."""
    print(f"two hierarchies and a flat dimension: search for {seconds:g} CPU s against the hypercube")
    heading(
        "table", "cells", "unsafe", "hypercube", "CPU s", "search then", f"at {seconds:g} s", "/ hypercube", "audit"
    )
    for seed in range(min(most, 3)):
        table = crossed(seed)
        problem = problem_of(table)
        with clocked() as spent:
            cost = problem.cost(hypercube(pattern_of(problem)))
        found = searched(table, seconds)
        print(
            f"| {seed} | {len(table):,} | {len(table.primary):,} | {cost:,.0f} | {spent.cpu:.1f} | "
            f"{found.at(spent.cpu):,.0f} | {found.cost:,.0f} | {found.cost / cost:.3f} | {found.verdict} |",
            flush=True,
        )


def report_lattice(seconds: float, most: int, only: list[str] | None) -> None:
    """Full tables of three dimensions."""
    print(f"full tables of three dimensions, {seconds:g} CPU s each at most")
    bars = {
        "t15x15x15": ((1.00e6, 15),),
        "t20x20x20": ((1.865e6, 30),),
        "t30x30x30": ((6.9e6, 300), (6.6e6, 600)),
        "t100x27x18": ((7.6e6, 200), (7.3e6, 600)),
    }
    for name in ("t10x10x10", "t15x15x15", "t20x20x20", "t30x30x30", "t100x27x18")[:most]:
        if only is not None and name not in only:
            continue
        path = tables() / "jj" / f"{name}.jj.gz"
        if not path.exists():
            print(f"{name}: skipped, the reference data is not here")
            continue
        table = jj.read(path)
        mine = bars.get(name, ((float("inf"), 15),))
        found = searched(table, min(mine[-1][1], seconds))
        first, first_cost = found.first
        print(
            f"{name}: {len(table):,} cells, {len(table.primary):,} unsafe; {first_cost:,.0f} after {first:.1f} s, "
            f"{found.cost:,.0f} after {found.cpu:.1f} s, audit {found.verdict}"
        )
        for bar, limit in mine if name in bars else ():
            print(
                f"  bar {bar:,.0f} in {limit:g} s: {found.at(limit):,.0f}, reached after {found.reached(bar):.1f} s  "
                f"{met(found.at(limit), bar)}",
                flush=True,
            )
        if len(table) <= MOST_FULL:
            against_full_lp(table, found)


def against_full_lp(table: Table, found: Searched) -> None:
    """The bar of one percent above the full linear programs, within their time."""
    cost, spent, verdict = full_lp(problem_of(table))
    when = found.reached(1.01 * cost)
    print(
        f"  full LP per side: {cost:,.0f} in {spent:.2f} s, audit {verdict}; search costs 1.01 of that after "
        f"{when:.2f} s  {met(when, spent)}; in the same time {found.at(spent) / cost:.3f}, in the end "
        f"{found.cost / cost:.3f}",
        flush=True,
    )


def report_million() -> None:
    """A first safe pattern of 1,010,000 cells, and its audit."""
    print("a first safe pattern of a table of 100×100×101 cells")
    table = sample("99x99x100", 1, sensitive=0.05, zeros=0.25)
    print(f"  {len(table):,} cells, {len(table.primary):,} unsafe", flush=True)
    start = time.process_time()
    problem = problem_of(table)
    process = Components(make("search", {}, "suppression"), problem, 1)
    next(process.epochs())
    spent = time.process_time() - start
    print(f"  first pattern: cost {process.cost:,.0f}, {spent:.1f} CPU s", flush=True)
    with clocked() as audited:
        verdict = judged(problem, process.pattern())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  audit: {verdict}, {audited.cpu:.1f} CPU s; {memory:.1f} GB at most")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, help="the parts to run, all by default")
    parser.add_argument("--time", type=float, default=5.0, help="seconds of each search where the part does not say")
    parser.add_argument("--seeds", type=int, default=5, help="seeds in optimum and rivals")
    parser.add_argument("--most", type=int, default=100, help="how many tables at most in classes, small and lattice")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the tables of classes, small and lattice to run")
    chosen = parser.parse_args()
    reports: dict[str, Callable[[], None]] = {
        "peers": report_peers,
        "wide": report_wide,
        "optimum": lambda: report_optimum(chosen.seeds, chosen.time),
        "rivals": lambda: report_rivals(chosen.seeds, chosen.time),
        "table3": lambda: report_table3(chosen.time),
        "classes": lambda: report_classes(chosen.time, chosen.most, chosen.only),
        "small": lambda: report_small(chosen.time, chosen.most, chosen.only),
        "crossed": lambda: report_crossed(chosen.time, chosen.most),
        "lattice": lambda: report_lattice(chosen.time, chosen.most, chosen.only),
        "million": report_million,
    }
    warm_up()
    for part in chosen.part:
        reports[part]()
        print(flush=True)


if __name__ == "__main__":
    main()
