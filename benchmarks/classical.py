"""Speed, loss and memory of the classical methods on one core: `python -m benchmarks.classical`.

Every line runs in a process of its own, after a small run that loads or compiles the kernels. The data are standard
normal; k = 5. Memory is the peak of the run above what the process held before it, the points included.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.partitions.groups import total_sse, within_sse
from discreet.methods import make
from discreet.microdata.method import Construction, Run

K = 5
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    method: str
    n: int
    d: int
    params: tuple[tuple[str, str], ...] = ()

    def run(self, points: Floats) -> Ints:
        if self.method == "scan":
            from benchmarks.scan import mdav

            return mdav(points, K)
        method: Construction = make(self.method, dict(self.params))
        return method.assign(points, K, Run())

    def __str__(self) -> str:
        return " ".join([self.method, *(f"{name}={value}" for name, value in self.params)])


CASES = [
    *(Case(method, n, 5) for n in (10_000, 50_000, 100_000) for method in ("mdav", "scan")),
    *(Case(method, n, 13) for n in (1_000, 10_000, 50_000) for method in ("mdav", "scan")),
    *(Case(method, 1_000, 38) for method in ("mdav", "scan")),
    Case("mdav", 1_000_000, 5),
    Case("vmdav", 10_000, 5, (("gamma", "0.2"),)),
    Case("vmdav", 10_000, 5, (("gamma", "auto"),)),
    Case("md", 10_000, 5),
    Case("mst", 10_000, 5),
    Case("univariate", 10_000, 1),
    Case("univariate", 1_000_000, 1),
    *(Case("tour", 10_000, 5, (("order", order),)) for order in ("curve", "nearest", "mdav")),
    Case("tour", 100_000, 5, (("order", "nearest"),)),
    Case("tour", 100_000, 5, (("order", "mdav"),)),
    Case("tour", 1_000_000, 10, (("order", "curve"),)),
]


def measure(case: Case) -> dict[str, float]:
    """Run one case in this process: seconds, loss in percent, peak memory in megabytes."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rng = np.random.default_rng(1)
    small = rng.normal(size=(200, case.d))
    within_sse(small, case.run(small))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    points = rng.normal(size=(case.n, case.d))
    start = time.perf_counter()
    labels = case.run(points)
    seconds = time.perf_counter() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"seconds": seconds, "il": 100 * within_sse(points, labels) / total_sse(points), "memory": memory}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", type=int, help="run one case here and print it as JSON")
    chosen = parser.parse_args().case
    if chosen is not None:
        print(json.dumps(measure(CASES[chosen])))
        return
    print(f"{'method':<22}{'n':>10}{'d':>4}{'seconds':>10}{'IL %':>10}{'MB':>8}  against scanning")
    results: dict[Case, dict[str, float]] = {}
    for number, case in enumerate(CASES):
        command = [sys.executable, "-m", "benchmarks.classical", "--case", str(number)]
        result = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
        results[case] = result
        tree = results.get(Case("mdav", case.n, case.d)) if case.method == "scan" else None
        ratio = f"  mdav takes {tree['seconds'] / result['seconds']:.2f} of it" if tree else ""
        print(
            f"{case!s:<22}{case.n:>10,}{case.d:>4}{result['seconds']:>10.3f}{result['il']:>10.4f}"
            f"{result['memory']:>8.0f}{ratio}",
            flush=True,
        )


if __name__ == "__main__":
    main()
