"""Bars of large tables, bounds and linked tables in one run: `python -m benchmarks.bars`.

Every table is searched for as many CPU seconds as its bars allow, its last pattern is bounded and audited, and each bar
is printed as met or missed. `--only` picks tables by name; `--time` cuts the searches short, and bars then count at
their end. Seconds are those of one core, with the bound where a gap is asked for.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from benchmarks.searched import full_lp, judged
from benchmarks.suppression import LARGE, met, sample, tables, warm_up

import discreet
from discreet.methods import make
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.problem import problem_of, settle_ranges
from discreet.tabular.files import jj
from discreet.tabular.table import Table

MARKS = (15, 60, 150, 300, 600)


class Bars(NamedTuple):
    """What a table is to reach: a cost, a part of the first safe pattern's, a gap in percent; any that is given."""

    seconds: float
    cost: float | None = None
    part: float | None = None
    gap: float | None = None


def reference(name: str) -> Callable[[], Table]:
    """How to read a reference table."""
    folder = tables() / "jj"
    return lambda: jj.read(next(path for path in (folder / f"{name}.jj", folder / f"{name}.jj.gz") if path.exists()))


def generated(kind: str, sensitive: float, zeros: float) -> Callable[[], Table]:
    """How to make a table of the generator."""
    return lambda: sample(kind, 1, sensitive=sensitive, zeros=zeros)


def linked(codes: int = 70, records: int = 60_000) -> Table:
    """Three tables of two dimensions each, every two of which share a margin."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            name: [f"{name}{one:02}" for one in rng.integers(0, codes, records)]
            for name in ("activity", "region", "size")
        }
        | {"sales": np.round(rng.lognormal(3, 1.3, records) + 1)}
    )
    by = (["activity", "region"], ["activity", "size"], ["region", "size"])
    return discreet.link([discreet.primary(discreet.tabulate(frame, by=one, value="sales"), p=15) for one in by])


def cases() -> dict[str, tuple[Callable[[], Table], list[Bars]]]:
    """The tables by name, and their bars."""
    quarter = [Bars(600, part=0.25, gap=30.0)]
    shares = {kind: (sensitive, zeros) for kind, sensitive, zeros in LARGE}
    hierarchical = ("99x4x90h", "99x5x96h", "99x3x180h", "99x10x76h", "99x134hx8")
    return {
        "t10x10x10": (reference("t10x10x10"), []),
        "t15x15x15": (reference("t15x15x15"), [Bars(15, cost=0.985e6), Bars(600, gap=9.0)]),
        "t30x30x30": (reference("t30x30x30"), [Bars(600, cost=6.30e6), Bars(600, gap=18.0)]),
        "t100x27x18": (reference("t100x27x18"), [Bars(600, cost=7.05e6), Bars(600, gap=11.0)]),
        "t200x50": (reference("t200x50"), [Bars(60, gap=0.05)]),
        **{kind: (generated(kind, *shares[kind]), quarter) for kind in hierarchical},
        "16x14x14x12": (generated("16x14x14x12", 0.1, 0.25), quarter),
        "99x90x22": (generated("99x90x22", *shares["99x90x22"]), [Bars(600, part=0.5)]),
        "linked": (linked, [Bars(60, gap=float("inf"))]),
    }


def measure(name: str, table: Table, bars: list[Bars], most: float) -> None:
    """Search a table, bound and audit what is found, and print how it stands to its bars."""
    start = time.process_time()
    problem, lost = settle_ranges(problem_of(table, settle=False))
    problem = problem.without(lost)
    process = Components(make("search", {}, "suppression"), problem, 1)
    seconds = min(most, max((one.seconds for one in bars), default=15.0))
    trace, steps = [], 0
    while not steps or (time.process_time() - start < seconds and not process.finished):
        next(process.epochs())
        steps += 1
        trace.append((time.process_time() - start, process.cost))
    at = {mark: min((cost for when, cost in trace if when <= mark), default=np.inf) for mark in (*MARKS, seconds)}
    process.prove(steps)
    spent, bound = time.process_time() - start, process.bound or 0.0
    gap = 100.0 * (process.cost - bound) / bound if bound else np.inf
    audited = time.process_time()
    verdict = f"{judged(problem, process.pattern())} in {time.process_time() - audited:.1f} CPU s"
    costs = ", ".join(f"{at[mark]:,.0f} at {mark} s" for mark in MARKS if mark <= seconds and np.isfinite(at[mark]))
    print(f"{name}: {len(table):,} cells, {len(table.primary):,} unsafe; first {trace[0][1]:,.0f}; {costs}")
    print(f"  last {process.cost:,.0f}, bound {bound:,.0f}, gap {gap:.2f} %, {spent:.1f} CPU s, audit {verdict}")
    for one in bars:
        cost = at[min(one.seconds, seconds)]
        if one.cost is not None:
            print(f"  cost {one.cost:,.0f} in {one.seconds:g} s: {cost:,.0f}  {met(cost, one.cost)}")
        elif one.part is not None:
            part = cost / trace[0][1]
            is_met = part <= one.part or (one.gap is not None and gap <= one.gap)
            print(f"  {one.part:g} of the first cost in {one.seconds:g} s: {part:.3f}  {'met' if is_met else 'missed'}")
        elif one.gap is not None:
            is_met = gap <= one.gap and spent <= 1.02 * max(one.seconds, seconds)
            print(f"  gap of {one.gap:g} % in {one.seconds:g} s: {gap:.2f} %  {'met' if is_met else 'missed'}")
    if name == "t10x10x10":
        cost, pass_seconds, _ = full_lp(problem)
        when = next((when for when, found in trace if found <= cost), np.inf)
        print(f"  {cost:,.0f} of one pass of linear programs in its {pass_seconds:.2f} s: {when:.2f} s  ", end="")
        print(met(when, pass_seconds))


def main() -> None:
    """Print how each table stands to its bars."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(cases()), metavar="NAME", help="the tables, all by default")
    parser.add_argument("--time", type=float, default=600.0, help="CPU seconds of each search at most")
    chosen = parser.parse_args()
    warm_up()
    for name, (make_table, bars) in cases().items():
        if chosen.only is None or name in chosen.only:
            measure(name, make_table(), bars, chosen.time)


if __name__ == "__main__":
    main()
