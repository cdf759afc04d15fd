"""This version against another one, side by side: `python -m benchmarks.against OTHER/src [--rounds 3] [--only ...]`.

Every job is done through the public doors with a fixed number of steps, by both versions in turns, each time in a
process of its own whose kernels are warm; what is compared is the CPU time of the job alone and the result, which must
be the same. A ratio above 1 means that this version is slower.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import discreet

ROOT = Path(__file__).resolve().parents[1]

# Beyond this the noise of a shared machine does not explain a difference.
NOISE = 1.15


def _cloud(records: int, attributes: int) -> NDArray[np.float64]:
    return np.random.default_rng(1).normal(size=(records, attributes))


def _partition(method: str, records: int, k: int, **options: object) -> Callable[[], float]:
    points = _cloud(records, 5)
    return lambda: float(discreet.partition(points, k=k, method=method, seed=1, threads=1, **options).sse)  # type: ignore[arg-type]


def _grouping(method: str) -> Callable[[], float]:
    frame = pl.DataFrame(_cloud(800, 8) @ _cloud(8, 8), schema=[f"x{number}" for number in range(8)])
    return lambda: float(discreet.group(frame, k=10, method=method, steps=8, seed=1, threads=1, quasi="all").score)


def _table(sizes: tuple[int, ...], nested: bool = False) -> object:
    generator = np.random.default_rng(2)
    count = 6 * int(np.prod(sizes))
    frame = pl.DataFrame(
        {
            f"d{axis}": [f"{'abc'[axis]}{code:03}" for code in generator.integers(0, size, count).tolist()]
            for axis, size in enumerate(sizes)
        }
        | {"value": np.ceil(generator.lognormal(4, 1.5, count))}
    )
    by: dict[str, object] = dict.fromkeys(frame.columns[:-1])
    if nested:
        codes = sorted(frame["d0"].unique())
        by["d0"] = discreet.data.Hierarchy.from_pairs(
            [(f"g{place // 7}", None) for place in range(0, len(codes), 7)]
            + [(code, f"g{place // 7}") for place, code in enumerate(codes)]
        )
    return discreet.primary(discreet.tabulate(frame, by=by, value="value", complete=True), p=15)


def _suppression(
    sizes: tuple[int, ...], steps: int, method: str = "search", nested: bool = False
) -> Callable[[], float]:
    table = _table(sizes, nested)
    return lambda: float(discreet.suppress(table, method=method, steps=steps, seed=1).cost)


def _audit(sizes: tuple[int, ...]) -> Callable[[], float]:
    released = discreet.suppress(_table(sizes), steps=3, seed=1)
    return lambda: float(len(discreet.audit(released.table).cells))


JOBS: dict[str, Callable[[], Callable[[], float]]] = {
    "mdav, 4,000 records": lambda: _partition("mdav", 4_000, 5),
    "memetic, 1,000 records, k=3": lambda: _partition("memetic", 1_000, 3, steps=400),
    "memetic, 4,000 records, k=5": lambda: _partition("memetic", 4_000, 5, steps=150),
    "memetic, 100,000 records": lambda: _partition("memetic", 100_000, 5, steps=60),
    "exact, 100 records": lambda: _partition("exact", 100, 3),
    "genetic, 50 records": lambda: _partition("genetic", 50, 3, steps=40),
    "gomm, 8 attributes": lambda: _grouping("gomm"),
    "pareto, 8 attributes": lambda: _grouping("pareto"),
    "search, 100×40": lambda: _suppression((100, 40), 60),
    "search, 60×30 nested": lambda: _suppression((60, 30), 60, nested=True),
    "search, 12×12×12": lambda: _suppression((12, 12, 12), 120),
    "exact, 60×30": lambda: _suppression((60, 30), 100, "exact"),
    "ga-swap, 30×20": lambda: _suppression((30, 20), 20, "ga-swap"),
    "audit, 2,000×60": lambda: _audit((2_000, 60)),
}


def _do(name: str) -> None:
    """Do a job twice, the first time to compile what it needs, and print its CPU seconds and its result."""
    job = JOBS[name]()
    job()
    start = time.process_time()
    result = job()
    print(json.dumps({"cpu": time.process_time() - start, "result": result}))


def _measured(name: str, source: Path) -> tuple[float, float]:
    """CPU seconds and the result of a job, done by the version whose source this is."""
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.against", "--job", name, str(source)]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["cpu"], found["result"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(JOBS))
    parser.add_argument("--job")
    options = parser.parse_args()
    if options.job:
        _do(options.job)
        return
    print(f"{'job':<32}{'other':>10}{'this':>10}{'ratio':>8}  result")
    for name in (job for job in JOBS if any(word in job for word in options.only)):
        found: dict[Path, list[tuple[float, float]]] = {options.other.resolve(): [], ROOT / "src": []}
        for _ in range(options.rounds):
            for source, runs in found.items():
                runs.append(_measured(name, source))
        other, this = (statistics.median(cpu for cpu, _ in runs) for runs in found.values())
        same = len({result for runs in found.values() for _, result in runs}) == 1
        ratio = this / other
        print(
            f"{name:<32}{other:>10.3f}{this:>10.3f}{ratio:>8.2f}  {'the same' if same else 'DIFFERS'}"
            f"{'' if ratio <= NOISE else ', slower'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
