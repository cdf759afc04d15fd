"""Wide data: loss, CPU seconds and memory of `memetic` and `mdav`, every line a process of its own, on one thread.

`python -m benchmarks.wide` generates 2,000 records of 100 and 20,000 of 200 numeric attributes (eight common factors
and noise), and 100,000 records of 5 nominal attributes with 1,000 categories each (2,500 typical combinations, of which
every third value is another). Memory is what the process has needed at its peak above what it had before the data was
made; half the records are run, too, to tell how it grows. The loss of nominal attributes is that of the modes.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.categories import diagnoses
from benchmarks.common import ROOT, clocked, standardised

from discreet.data.embedding import Axis
from discreet.methods import make
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Run
from discreet.microdata.records import Records, records_at

K = 5
FACTORS, LEVELS = 8, 1_000
# Records, attributes, whether they are nominal, and CPU seconds of search.
CASES = ((2_000, 100, False, 10.0), (20_000, 200, False, 20.0), (100_000, 5, True, 20.0))
# Records of the run that loads or compiles the kernels.
SMALL = 1_000


def numeric(n: int, d: int) -> Records:
    """Attributes that have common factors."""
    rng = np.random.default_rng(1)
    return records_at(
        standardised(rng.normal(size=(n, FACTORS)) @ rng.normal(size=(FACTORS, d)) + rng.normal(size=(n, d)))
    )


def nominal(n: int, d: int) -> Records:
    """Attributes of many categories, as their codes."""
    codes, axes = np.empty((n, d), np.int32), []
    for at, column in enumerate(diagnoses(n, 1, d, LEVELS)):
        codes[:, at] = np.unique(column.to_numpy(), return_inverse=True)[1]
        shares = np.bincount(codes[:, at]) / n
        axes.append(Axis(column.name, shares, float((1.0 - np.sum(shares**2)) ** -0.5)))
    return Records(np.zeros((n, 0)), codes, tuple(axes))


@dataclass(frozen=True)
class Case:
    """One process: a method on so many records and attributes."""

    method: str
    n: int
    d: int
    nominal: bool
    cpu: float

    def run(self) -> dict[str, float]:
        """Run the case in a process of its own."""
        told = json.dumps([self.method, self.n, self.d, self.nominal, self.cpu])
        command = [sys.executable, "-m", "benchmarks.wide", "--case", told]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        result: dict[str, float] = json.loads(done.stdout)
        return result

    def measure(self) -> dict[str, float]:
        """Run the case in this process."""
        make_records = nominal if self.nominal else numeric
        self._group(make_records(SMALL, self.d), 1.0)
        before = _peak()
        records = make_records(self.n, self.d)
        with clocked() as spent:
            labels = self._group(records, self.cpu)
        if np.bincount(labels).min() < K:
            raise AssertionError("a group is too small")
        memory = _peak() - before
        lost = records.loss(labels) if self.nominal else records.sse(labels)
        data = (records.numbers.nbytes + records.codes.nbytes) / 2**20
        return {"cpu": spent.cpu, "memory": memory, "data": data, "il": 100.0 * lost / records.sst()}

    def _group(self, records: Records, cpu: float) -> Any:
        if self.method == "mdav":
            method: Any = make("mdav", {})
            return method.assign(records.points(), K, Run())
        with clocked() as spent:
            run = Run(seed=1, threads=1)
            search = Memetic().search_records if self.nominal else None
            process = search(records, K, run) if search else Memetic().search(records.numbers, K, run)
        used, epochs = spent.cpu, process.epochs()
        while used < cpu and not process.finished:
            with clocked() as spent:
                next(epochs, None)
            used += spent.cpu
        return process.answer()


def _peak() -> float:
    """Megabytes of this process at its peak; not by getrusage, which begins with what the parent had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Print the table, or run one case here and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    told = parser.parse_args().case
    if told:
        print(json.dumps(Case(*json.loads(told)).measure()))
        return
    print(f"wide: k = {K}, threads=1")
    print(f"{'records':>8}{'attributes':>12}  {'method':<9}{'CPU s':>7}{'IL %':>9}{'MB of data':>12}{'MB above':>10}")
    for n, d, is_nominal, cpu in CASES:
        losses = {}
        for records in (n // 2, n):
            for method in ("mdav", "memetic") if records == n else ("memetic",):
                found = Case(method, records, d, is_nominal, cpu).run()
                losses[method] = found["il"]
                kind = f"{d} nominal" if is_nominal else f"{d} numeric"
                print(
                    f"{records:>8,}{kind:>12}  {method:<9}{found['cpu']:>7.1f}{found['il']:>9.3f}"
                    f"{found['data']:>12.1f}{found['memory']:>10.0f}",
                    flush=True,
                )
        print(f"   {losses['memetic'] / losses['mdav']:.3f} x the loss of mdav", flush=True)


if __name__ == "__main__":
    main()
