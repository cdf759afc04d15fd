"""Time, memory and loss of `memetic` on large data: normal, d = 5, k = 5, one core; every line a process of its own.

Memory is the peak of the whole process, data and libraries included. `mdav` is ours, on a k-d tree; `scan` is the
compiled scanning one.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.common import ROOT, clocked

import discreet
from discreet.kernels.arrays import Floats
from discreet.kernels.partitions.groups import total_sse, within_sse
from discreet.methods import make
from discreet.microdata.memetic.blocks import Blocks
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Run

D, K = 5, 5
MOST = {"mdav": 1_000_000, "scan": 100_000}  # records, beyond which the quadratic ones take too long
# The bars: at 100,000 records a share of mdav's IL in a share of its time; beyond, IL in percent in so many CPU s.
AGAINST_MDAV = {100_000: (0.94, 2.0)}
BARS = {1_000_000: (0.88, 20.0), 10_000_000: (0.375, 100.0)}
MEMORY = {10_000_000: 8_192}  # megabytes
# First partition and passes whose time is compared between n and 10n.
PASSES = 3
# Records of the run that loads or compiles the kernels.
SMALL = 1_000


def budget(n: int) -> float:
    """CPU seconds for which the search goes on: enough for several passes."""
    return 2.0 + 4e-5 * n if n < 10_000_000 else 105.0


@dataclass(frozen=True)
class Case:
    """One process: a method on n records; "passes" is the search in blocks for a fixed number of passes."""

    method: str
    n: int

    def run(self) -> dict[str, Any]:
        """Run the case in a process of its own."""
        command = [sys.executable, "-m", "benchmarks.scale", "--case", self.method, str(self.n)]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def measure(case: Case) -> dict[str, Any]:
    """Run a case in this process."""
    points = np.random.default_rng(1).normal(size=(case.n, D))
    total = total_sse(points)
    run = {"scan": _scan, "mdav": _mdav, "memetic": _memetic, "passes": _passes}[case.method]
    result = run(points)
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result["il"] = 100.0 * result.pop("sse") / total
    result["curve"] = [(step, cpu, 100.0 * cost / total) for step, cpu, cost in result.get("curve", [])]
    return result


def _scan(points: Floats) -> dict[str, Any]:
    from benchmarks.scan import mdav

    mdav(points[:SMALL].copy(), K)
    with clocked() as spent:
        labels = mdav(points, K)
    return {"cpu": spent.cpu, "wall": spent.wall, "sse": within_sse(points, labels)}


def _mdav(points: Floats) -> dict[str, Any]:
    method: Any = make("mdav", {})
    discreet.partition(points[:SMALL], k=K, method="mdav")
    with clocked() as spent:
        labels = method.assign(points, K, Run())
    return {"cpu": spent.cpu, "wall": spent.wall, "sse": within_sse(points, labels)}


def _warm_up(large: int) -> None:
    """Search a little, in blocks above so many records."""
    points = np.random.default_rng(2).normal(size=(SMALL, D))
    discreet.partition(points, k=K, method="memetic", params={"large": large}, steps=2 * PASSES, threads=1)


def _memetic(points: Floats) -> dict[str, Any]:
    """Advance until the budget is used up; a point of the curve has the time and the loss of stopping there."""
    method = Memetic()
    _warm_up(method.large if len(points) <= method.large else 1)
    curve: list[tuple[int, float, float]] = []
    with clocked() as spent:
        process = method.search(points, K, Run(seed=1, threads=1))
    cpu, wall = spent.cpu, spent.wall
    while cpu < budget(len(points)) and not process.finished:
        with clocked() as spent:
            next(process.epochs())
        cpu, wall = cpu + spent.cpu, wall + spent.wall
        if isinstance(process, Blocks):  # the answer is the groups as they are, and takes no time
            curve.append((len(curve) + 1, cpu, process.cost))
        else:
            with clocked() as spent:
                labels = process.answer()
            curve.append((len(curve) + 1, cpu + spent.cpu, float(within_sse(points, labels))))
    with clocked() as spent:
        labels = process.answer()
    if np.bincount(labels).min() < K:
        raise AssertionError("a group is too small")
    return {
        "cpu": cpu + spent.cpu,
        "wall": wall + spent.wall,
        "sse": within_sse(points, labels),
        "curve": curve,
    }


def _passes(points: Floats) -> dict[str, Any]:
    """The first partition and some passes of the search in blocks, which small data would be searched without."""
    _warm_up(1)
    process = Memetic(large=1)._blocks(points, K, Run(seed=1, threads=1))
    cpu = wall = 0.0
    while True:
        with clocked() as spent:
            next(process.epochs())
        cpu, wall = cpu + spent.cpu, wall + spent.wall
        state: dict[str, Any] = process.save()
        if state["passes"] == PASSES and state["next"] == len(state["starts"]) - 1:
            return {"cpu": cpu, "wall": wall, "sse": process.cost}


def report(sizes: Sequence[int]) -> None:
    """Print the table, then for each size when the search reached what, and how the time grows."""
    print(f"scale: normal data, d = {D}, k = {K}, threads=1; memetic until its budget of CPU s is used up")
    print(f"{'method':<10}{'n':>12}{'CPU s':>10}{'wall s':>10}{'MB':>8}{'IL %':>10}{'steps':>8}")
    results: dict[Case, dict[str, Any]] = {}
    for n in sizes:
        for method in ("mdav", "scan", "memetic"):
            if n > MOST.get(method, n):
                continue
            result = results[Case(method, n)] = Case(method, n).run()
            print(
                f"{method:<10}{n:>12,}{result['cpu']:>10.2f}{result['wall']:>10.2f}{result['memory']:>8.0f}"
                f"{result['il']:>10.4f}{len(result['curve']) or '':>8}",
                flush=True,
            )
    for n in sizes:
        _tell(n, results)
    _growth(sizes)


def _tell(n: int, results: dict[Case, dict[str, Any]]) -> None:
    """Say when the search had reached which loss."""
    found, mdav = results[Case("memetic", n)], results.get(Case("mdav", n))
    curve = found["curve"]
    print(f"\nmemetic, n = {n:,}: IL % after CPU s (steps)")
    print("   " + "   ".join(f"{il:.4f} after {cpu:.2f} ({step})" for step, cpu, il in _thinned(curve)))
    if mdav is not None:
        share, part = AGAINST_MDAV.get(n, (0.94, None))
        goal = share * mdav["il"]
        reached = _reached(curve, goal)
        print(f"   {share:g} x IL of mdav, {goal:.4f}: {_when(reached)}")
        for name, rival in (("mdav", mdav), ("scan", results.get(Case("scan", n)))):
            if rival is not None and reached is not None:
                line = f"      {reached[1] / rival['cpu']:.2f} of the {rival['cpu']:.2f} CPU s of {name}"
                print(line + (f"; bar {part:g}: {_judged(reached[1], part * rival['cpu'])}" if part else ""))
            elif rival is not None and part:
                print(f"      bar {part:g} of the {rival['cpu']:.2f} CPU s of {name}: missed")
    if n in BARS:
        goal, limit = BARS[n]
        reached = _reached(curve, goal)
        judged = _judged(reached[1] if reached else math.inf, limit)
        print(f"   IL {goal:g}: {_when(reached)}; bar {limit:g} CPU s: {judged}")
    if n in MEMORY:
        print(f"   {found['memory']:.0f} MB; bar {MEMORY[n]:,}: {_judged(found['memory'], MEMORY[n])}")


def _thinned(curve: list[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
    """The first point, the last, and those at which the time has grown by half again."""
    kept = [curve[0]]
    for point in curve[1:]:
        if point[1] >= 1.5 * kept[-1][1]:
            kept.append(point)
    return kept if kept[-1] is curve[-1] else [*kept, curve[-1]]


def _reached(curve: list[tuple[int, float, float]], goal: float) -> tuple[int, float, float] | None:
    return next((point for point in curve if point[2] <= goal), None)


def _when(point: tuple[int, float, float] | None) -> str:
    return "not reached" if point is None else f"after {point[1]:.2f} CPU s and {point[0]} steps"


def _judged(value: float, bar: float) -> str:
    return "met" if value <= bar else "missed"


def _growth(sizes: Sequence[int]) -> None:
    """Compare the time of the same passes between n and 10n with that of n log n."""
    print(f"\ngrowth: CPU s of the first partition and {PASSES} passes in blocks; the exponent of n log n beside it")
    before: tuple[int, float] | None = None
    for n in sizes:
        cpu = Case("passes", n).run()["cpu"]
        line = f"{n:>12,}{cpu:>10.2f}"
        if before is not None:
            span = math.log(n / before[0])
            exponent = math.log(cpu / before[1]) / span
            allowed = 1.0 + math.log(math.log(n) / math.log(before[0])) / span
            line += f"   exponent {exponent:.3f}; bar {allowed:.3f}: {_judged(exponent, allowed)}"
        print(line, flush=True)
        before = n, cpu


def main() -> None:
    """Run one case here and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=2, required=True, metavar=("METHOD", "N"))
    method, n = parser.parse_args().case
    print(json.dumps(measure(Case(method, int(n)))))


if __name__ == "__main__":
    main()
