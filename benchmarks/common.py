"""What the benchmarks of microaggregation share: a clock, a verdict, reference data, a run to its end."""

import csv
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import discreet
from discreet.evolution.process import Process
from discreet.kernels.arrays import Floats, Ints
from discreet.methods import make
from discreet.microdata.method import Run, begin

ROOT = Path(__file__).resolve().parents[1]


class Spent:
    """Seconds of the processor, over all threads, and of the clock on the wall."""

    def __init__(self) -> None:
        self._start = (time.process_time(), time.perf_counter())
        self.cpu, self.wall = 0.0, 0.0

    def stop(self) -> None:
        """Take the time since the start."""
        self.cpu, self.wall = time.process_time() - self._start[0], time.perf_counter() - self._start[1]


@contextmanager
def clocked() -> Iterator[Spent]:
    """Time a block."""
    spent = Spent()
    yield spent
    spent.stop()


def verdict(value: float, bar: float) -> str:
    """Whether a value is at most the bar, to the four decimals that are printed."""
    return "met" if round(value, 4) <= bar else "missed"


def standardised(values: Floats) -> Floats:
    """Z-scores."""
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def reference(name: str) -> Floats | None:
    """The standardised attributes that the literature uses of a data set, or a message that it is not here."""
    folder = Path(os.environ.get("DISCREET_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
    path = folder / "microdata" / f"{name}.csv"
    if not path.exists():
        print(f"{name}: skipped, the reference data is not here: no microdata/{path.name} in $DISCREET_REFERENCE_DATA")
        return None
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    wanted = [j for j, column in enumerate(header) if name != "eia" or column.endswith(("ID", "REVENUE", "SALES"))]
    return standardised(np.array([[float(row[j]) for j in wanted] for row in rows]))


def warm_up() -> None:
    """Search small data long enough for `memetic` to put regions together anew, so that all it needs is compiled."""
    points = np.random.default_rng((0, 200, 2)).normal(size=(200, 2))
    discreet.partition(points, k=3, method="memetic", steps=400, threads=1)


def run_out(name: str, params: Mapping[str, object], points: Floats, k: int, seed: int = 0) -> Process[Ints]:
    """Run a method until it is finished, whatever time that takes."""
    process = begin(make(name, params), points, k, Run(seed=seed))
    while not process.finished:
        next(process.epochs())
    return process
