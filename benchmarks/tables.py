"""Speed of statistical tables: `python -m benchmarks.tables`.

Parts: `intervals` (exact intervals of a 200×50 table against one warm HiGHS model and against scipy), `audit` (verdicts
on large tables), `unpick` (elimination), `build` (tables with their relations, time and memory). One thread. Compiling
is in none of the times; a bar that is not reached is printed as missed.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import highspy
import numpy as np
from benchmarks.common import clocked, verdict
from numpy.typing import NDArray

from discreet.attack.attacker import Attacker
from discreet.attack.system import System, system_of, unpick
from discreet.examples import contributors
from discreet.tables.primary import primary
from discreet.tables.tabulate import tabulate
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.certificate import Certifier

Floats = NDArray[np.float64]
PARTS = ("intervals", "audit", "unpick", "build")
SECONDARIES = 350


def generated(kind: str, *, sensitive: float, zeros: float) -> Table:
    """A table of the generator with its unsafe cells."""
    frame, hierarchies = contributors(kind, sensitive=sensitive, zeros=zeros, seed=1)
    by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
    return primary(tabulate(frame, by=by, value="value", complete=True), p=15)


def widened(table: Table, secondaries: int) -> Table:
    """The table with some random cells suppressed besides the unsafe ones."""
    generator = np.random.default_rng(1)
    status = table.status.copy()
    others = np.flatnonzero((status == 0) & (table.value > 0))
    status[generator.choice(others, secondaries, replace=False)] = SECONDARY
    return table.but(status=status)


def report_intervals() -> None:
    """All exact intervals, by three ways."""
    table = widened(generated("200x50", sensitive=0.1, zeros=0.25), SECONDARIES)
    hidden = table.suppressed
    zero = np.zeros(int(hidden.sum()))
    Attacker(table, hidden).reach(zero, zero, exact=True)
    with clocked() as ours:
        reach = Attacker(table, hidden).reach(zero, zero, exact=True)
    system = system_of(table, hidden)
    with clocked() as warm:
        low, high = warm_model(system)
    sample = np.random.default_rng(1).choice(len(system), 40, replace=False)
    with clocked() as singly:
        checked = plain(system, sample)
    error = max(np.abs(reach.down - low).max(), np.abs(reach.up - high).max(), np.abs(checked - high[sample]).max())
    each = singly.cpu / len(sample) * 2 * len(system)
    print(f"exact intervals of {len(system):,} suppressed cells of a 200×50 table; largest difference {error:.2g}")
    print(f"{'':<34}{'CPU s':>10}{'ratio':>10}{'bar':>8}")
    print(f"{'discreet':<34}{ours.cpu:>10.4f}")
    for name, seconds, bar in (
        ("the same LPs, one warm HiGHS model", warm.cpu, 10),
        ("one scipy LP per bound*", each, 50),
    ):
        ratio = seconds / ours.cpu
        print(f"{name:<34}{seconds:>10.2f}{ratio:>10.0f}{bar:>8}  {verdict(-ratio, -bar)}")
    print(f"* estimated from {len(sample)} of them")


def warm_model(system: System) -> tuple[Floats, Floats]:
    """Every bound by a model that is built once and goes on from the basis before."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    n, m = len(system), len(system.relations)
    highs.passModel(
        n,
        m,
        len(system.columns),
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        np.zeros(n),
        system.lo,
        system.hi,
        np.zeros(m),
        np.zeros(m),
        system.starts.astype(np.int32),
        system.columns.astype(np.int32),
        system.coefficients,
        np.zeros(n, np.int32),
    )
    found = np.zeros((2, n))
    for column in range(n):
        for row, side in enumerate((-1.0, 1.0)):
            highs.changeColCost(column, side)
            highs.run()
            found[row, column] = highs.getInfo().objective_function_value
        highs.changeColCost(column, 0.0)
    return found[0], found[1]


def plain(system: System, columns: NDArray[np.int64]) -> Floats:
    """How far up some columns go, each by a program of its own."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n, m = len(system), len(system.relations)
    matrix = csr_array((system.coefficients, system.columns, system.starts), shape=(m, n))
    bounds = np.stack([system.lo, system.hi], axis=1)
    found = []
    for column in columns.tolist():
        cost = np.zeros(n)
        cost[column] = -1.0
        found.append(-linprog(cost, A_eq=matrix, b_eq=np.zeros(m), bounds=bounds, method="highs").fun)
    return np.array(found)


def report_audit() -> None:
    """Verdicts on large tables with nothing but their unsafe cells suppressed, and with a third of the others too."""
    print("audits of large tables: the unsafe cells alone suppressed (many are then not protected), and others besides")
    print("under each, the part of its time in which proofs are added up in exact arithmetic, and what is proven so")
    print(f"{'table':<16}{'cells':>9}{'primary':>9}{'hidden':>8}{'CPU s':>8}{'bar':>6}  {'':<8}{'not protected':>14}")
    cases: list[tuple[str, float, float, float | None]] = [
        ("200x50", 0.1, 0.25, None),
        ("99x26x17", 0.28, 0.44, 15.0),
        ("4000x10", 0.1, 0.25, None),
        ("60x5x80h", 0.1, 0.25, None),
    ]
    for kind, sensitive, zeros, bar in cases:
        table = generated(kind, sensitive=sensitive, zeros=zeros)
        for case in (table, widened(table, len(table) // 10)):
            audit(generated("6x5x4", sensitive=0.1, zeros=0.2))
            with added_up() as adding, clocked() as spent:
                found = audit(case)
            judged = "" if bar is None else verdict(spent.cpu, bar)
            print(
                f"{kind:<16}{len(case):>9,}{(case.status == PRIMARY).sum():>9,}{case.suppressed.sum():>8,}"
                f"{spent.cpu:>8.2f}{bar or '':>6}  {judged:<8}{len(found.failed):>14,}",
                flush=True,
            )
            share, said = 100.0 * adding[0] / spent.cpu, found.as_dict()
            print(
                f"{'  exact additions':<42}{adding[0]:>8.2f}  {share:>4.1f} % of it, bar 30 %  {verdict(share, 30.0)}; "
                f"{said['certified']:,} of {said['protected']:,} protected cells, the others by solver only"
            )


@contextmanager
def added_up() -> Iterator[list[float]]:
    """CPU seconds that audits spend on adding up proofs."""
    spent = [0.0]
    made, shown = Certifier.__init__, Certifier.show

    def clock(work: Callable[..., None]) -> Callable[..., None]:
        def run(*given: Any) -> None:
            with clocked() as one:
                work(*given)
            spent[0] += one.cpu

        return run

    Certifier.__init__, Certifier.show = clock(made), clock(shown)  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Certifier.__init__, Certifier.show = made, shown  # type: ignore[method-assign]


def cube(sizes: tuple[int, ...]) -> tuple[list[Dimension], NDArray[np.int32], Floats]:
    """Dimensions, codes and values of a table that is full."""
    dimensions = [
        Dimension(f"d{axis}", Hierarchy.flat([f"{code:04}" for code in range(size - 1)]))
        for axis, size in enumerate(sizes)
    ]
    inner = np.random.default_rng(1).integers(0, 1000, [size - 1 for size in sizes]).astype(np.float64)
    for axis in range(len(sizes)):
        inner = np.concatenate([inner.sum(axis=axis, keepdims=True), inner], axis=axis)
    codes = np.stack([grid.ravel() for grid in np.indices(sizes)], axis=1).astype(np.int32)
    return dimensions, codes, inner.ravel()


def report_unpick() -> None:
    """Elimination in a table of a million cells."""
    dimensions, codes, value = cube((100, 100, 100))
    table = Table.of(value, dimensions=dimensions, codes=codes)
    print("elimination in 1,000,000 cells, relations built")
    for share in (0.02, 0.1, 0.3):
        hidden = np.random.default_rng(1).random(len(table)) < share
        unpick(table, hidden)
        with clocked() as spent:
            found = unpick(table, hidden)
        judged = verdict(spent.cpu, 0.1)
        print(f"  {share:>4.0%} hidden: {len(found):>8,} follow, {spent.cpu:.4f} CPU s, bar 0.1  {judged}")


def build(sizes: tuple[int, ...]) -> None:
    """Make one table and print its time and the memory of the process."""
    dimensions, codes, value = cube(sizes)
    with clocked() as spent:
        table = Table.of(value, dimensions=dimensions, codes=codes)
        table.relations.by_cell  # noqa: B018 - the transpose is part of what is built
        table.check()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{len(table)} {len(table.relations)} {spent.cpu} {memory}")


def report_build() -> None:
    """Tables with their relations, each in a process of its own."""
    print("tables with relations built, transposed and checked; and from microdata")
    print(f"{'table':<14}{'cells':>11}{'relations':>11}{'CPU s':>8}{'bar':>5}  {'':<8}{'GB':>6}{'bar':>5}")
    for sizes, seconds, memory in (((100, 91, 23), 2.0, None), ((100, 100, 100), 10.0, 2.0)):
        name = "x".join(map(str, sizes))
        command = [sys.executable, "-m", "benchmarks.tables", "--build", name]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        cells, relations, spent, used = int(out[0]), int(out[1]), float(out[2]), float(out[3])
        fits = "" if memory is None else verdict(used, memory)
        print(
            f"{name:<14}{cells:>11,}{relations:>11,}{spent:>8.2f}{seconds:>5g}  {verdict(spent, seconds):<8}"
            f"{used:>6.2f}{memory or '':>5}  {fits}"
        )
    for kind in ("99x90x22", "99x99x99"):
        frame, _ = contributors(kind, sensitive=0.1, zeros=0.25, seed=1)
        with clocked() as once:
            table = tabulate(frame, by=frame.columns[:-1], value="value")
        print(f"{kind} from {frame.height:,} records: {len(table):,} cells, {once.cpu:.2f} CPU s")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS, help="the parts to run, all by default")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.build:
        build(tuple(int(size) for size in chosen.build.split("x")))
        return
    reports: dict[str, Callable[[], None]] = {
        "intervals": report_intervals,
        "audit": report_audit,
        "unpick": report_unpick,
        "build": report_build,
    }
    for part in chosen.part:
        reports[part]()
        print(flush=True)


if __name__ == "__main__":
    main()
