"""Speed and memory of distance linkage on one core: `python -m benchmarks.linkage`.

Every line runs in a process of its own, after a small run that loads or compiles the kernels. The originals are
standard normal; the release is their group means (`tour` along a curve, k = 5), or, as the hard case without
duplicates, the originals plus normal noise. Memory is the peak of the whole process, data and libraries included.
The ratios at n = 20,000 are to blocked brute force in numpy over all candidates and to scipy's cKDTree over the
distinct ones; both give the same rates, in the same process.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import discreet
from discreet.kernels.arrays import Floats, Ints
from discreet.measures.linkage import distance_linkage, draw_sample

K = 5
SAMPLE = 100_000
ROOT = Path(__file__).resolve().parents[1]
BLOCK = 256


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    n: int
    d: int
    noise: float = 0.0  # group means if 0
    swapped: bool = False
    sample: bool = False
    rivals: bool = False
    limit: float | None = None

    def __str__(self) -> str:
        release = f"noise {self.noise}" if self.noise else "means"
        direction = "released→original" if self.swapped else "original→released"
        return f"{release:<10} {direction} {'sample' if self.sample else 'full':<7}"


CASES = [
    Case(100_000, 5, limit=10),
    Case(100_000, 13, limit=60),
    Case(100_000, 5, swapped=True, limit=10),
    Case(100_000, 13, swapped=True, limit=60),
    Case(100_000, 5, noise=0.1, limit=10),
    Case(100_000, 13, noise=0.3, limit=60),
    Case(100_000, 13, noise=1.0, limit=60),
    Case(100_000, 38, noise=0.3),
    Case(1_000_000, 5, limit=120),
    Case(1_000_000, 5, sample=True, limit=10),
    Case(1_000_000, 5, noise=0.1, limit=120),
    Case(1_000_000, 5, noise=0.1, sample=True, limit=10),
    *(Case(20_000, d, noise, rivals=True) for d in (2, 5, 13, 38, 100) for noise in (0.0, 0.3, 1.0)),
]


def released(points: Floats, noise: float) -> Floats:
    """Make the release."""
    if noise:
        return points + noise * np.random.default_rng(2).normal(size=points.shape)
    labels = discreet.partition(points, k=K, method="tour").labels
    sums = [np.bincount(labels, column) for column in points.T]
    return np.ascontiguousarray((np.stack(sums, axis=1) / np.bincount(labels)[:, None])[labels])


def brute(points: Floats, candidates: Floats, queries: Ints) -> float:
    """Link by a block of the matrix of distances at a time: products, then counts. Exact to about 1e-9."""
    squares = (candidates**2).sum(axis=1)
    total = 0.0
    for start in range(0, queries.size, BLOCK):
        rows = queries[start : start + BLOCK]
        table = points[rows] @ candidates.T
        table *= -2.0
        table += squares
        mine = table[np.arange(rows.size), rows][:, None]
        slack = 1e-9 * (np.abs(mine) + 1.0)
        nearer = (table < mine - slack).sum(axis=1)
        tied = (table <= mine + slack).sum(axis=1) - nearer
        total += float(np.where(nearer == 0, 1.0 / tied, 0.0).sum())
    return 100.0 * total / queries.size


def tree(points: Floats, candidates: Floats, queries: Ints) -> float:
    """Link by scipy's tree over the distinct candidates."""
    from scipy.spatial import cKDTree

    places, inverse, counts = np.unique(candidates, axis=0, return_inverse=True, return_counts=True)
    found = cKDTree(places).query(points[queries])[1]
    hit = found == inverse.ravel()[queries]
    return 100.0 * float((hit / counts[found]).mean())


def timed(call: Callable[[], float]) -> tuple[float, float]:
    """Run a call: seconds and what it gives."""
    start = time.perf_counter()
    rate = call()
    return time.perf_counter() - start, rate


def measure(case: Case) -> dict[str, float]:
    """Run one case in this process."""
    rng = np.random.default_rng(1)
    small = rng.normal(size=(9_000, 30))
    distance_linkage(small[:, : case.d], small[:, : case.d] + 0.5)
    distance_linkage(small, small)
    points = rng.normal(size=(case.n, case.d))
    candidates = released(points, case.noise)
    if case.swapped:
        points, candidates = candidates, points
    queries = draw_sample(case.n, SAMPLE if case.sample else case.n, 1)
    start = time.perf_counter()
    outcome = distance_linkage(points, candidates, queries=queries)
    result = {"seconds": time.perf_counter() - start, "rate": outcome.rate, "error": outcome.standard_error or 0.0}
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if case.rivals:
        result["brute"], rate = timed(lambda: brute(points, candidates, queries))
        assert abs(rate - outcome.rate) < 0.01, (rate, outcome.rate)
        result["tree"], rate = timed(lambda: tree(points, candidates, queries))
        assert abs(rate - outcome.rate) < 0.01, (rate, outcome.rate)
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", type=int, help="run one case here and print it as JSON")
    chosen = parser.parse_args().case
    if chosen is not None:
        print(json.dumps(measure(CASES[chosen])))
        return
    # The libraries count the cores when they start, so the processes must be born onto one.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{'release':<40}{'n':>10}{'d':>4}{'seconds':>9}{'limit':>7}{'rate %':>9}{'MB':>7}  brute / tree")
    for number, case in enumerate(CASES):
        command = [sys.executable, "-m", "benchmarks.linkage", "--case", str(number)]
        result = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
        error = f" ± {result['error']:.3f}" if result["error"] else ""
        rivals = [f"{result['seconds'] / result[name]:.2f}" for name in ("brute", "tree") if name in result]
        limit = f"{case.limit or '':>7}"
        print(
            f"{case!s:<40}{case.n:>10,}{case.d:>4}{result['seconds']:>9.2f}{limit}{result['rate']:>9.3f}"
            f"{result['memory']:>7.0f}  {' / '.join(rivals)}{error}",
            flush=True,
        )


if __name__ == "__main__":
    main()
