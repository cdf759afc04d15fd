"""The full grid of the 2006 paper on 11 records, 12,100 runs: `python -m benchmarks.sensitivity`.

Two ways: as `discreet study sensitivity` does it, where a run that has reached the proven optimum is over; and with all
10,000 generations of every run, of which one in `--share`, drawn at random, is done and the time multiplied. The bar is
15 minutes on 2 cores. It is held against the processor's time divided by the processes, since other work may share the
machine.
"""

import argparse
import random
import time
from functools import partial

from discreet.experiments.papers.p2006.runs import K, uniform
from discreet.experiments.runs import run_all
from discreet.experiments.sensitivity import combinations, parse, proven, run_method, seed_of
from discreet.kernels.arrays import Floats

GRID = ("mutation=0:1:0.1", "crossover=0:1:0.1", "population=10:100:10")
RUNS = 10
BAR = 15.0


def report(threads: int, share: int) -> None:
    """Print both ways."""
    points = uniform(11, 2, 1)
    optimum = proven(points, K)
    print(f"{'runs':<34}{'of 12,100':>10}{'wall min':>10}{'CPU min / processes':>21}{'bar':>6}  {'optimum found':>13}")
    _line("ended at the proven optimum", points, optimum, threads, 1)
    _line("all generations of every run", points, None, threads, share)


def _line(title: str, points: Floats, target: float | None, threads: int, share: int) -> None:
    settings = [
        {**combination, "run": run, "seed": seed_of({**combination, "run": run, "from": 0})}
        for run in range(1, RUNS + 1)
        for combination in combinations(parse(GRID, "genetic"), "genetic")
    ]
    if share > 1:  # at random: every so manieth run would always have the same population
        settings = random.Random(0).sample(settings, len(settings) // share)
    start = time.perf_counter()
    runs = run_all(partial(run_method, points, K, "genetic", {}, None, target), settings, threads=threads)
    wall = (time.perf_counter() - start) / 60
    cpu = share * float(runs["seconds"].sum()) / 60 / threads
    best = float((runs["sse"] <= (proven(points, K) or 0.0) * (1 + 1e-9)).mean())  # type: ignore[arg-type]
    # The start of the processes is in the clock on the wall: it cannot be multiplied.
    told = f"{wall:.1f}" if share == 1 else "–"
    print(
        f"{title:<34}{len(settings):>10,}{told:>10}{cpu:>21.1f}{BAR:>6.0f}  {100 * best:>11.1f} %"
        f"  {'met' if cpu <= BAR else 'missed'}",
        flush=True,
    )


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--share", type=int, default=20)
    options = parser.parse_args()
    report(options.threads, options.share)


if __name__ == "__main__":
    main()
