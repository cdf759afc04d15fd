"""What a report adds to a protection, in time and memory: `python benchmarks/report.py [RECORDS] [COLUMNS]`.

The protection is that of the command line, from reading to writing, with the default search; the reports are both.
Printed is the time of the reports as a share of that of the protection (at most 20 % is what we want, of 1,000,000
records and 20 columns), and by how much the largest memory grows (less than 500 MB).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

RUN = """
import resource, sys, time
import discreet
from discreet.data.files import read
source, target, report = sys.argv[1:4]
quasi = [f"q{i}" for i in range(int(sys.argv[4]))]
began = time.perf_counter(), time.process_time()
release = discreet.protect(read(source), k=5, quasi=quasi, confidential="rest", seed=0)
release.write(target, report=report == "yes", force=True)
written = time.perf_counter(), time.process_time()
print(written[0] - began[0], written[1] - began[1], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def make(records: int, columns: int, path: Path) -> int:
    """Data of mixed types: three quarters of the columns are quasi-identifiers."""
    rng = np.random.default_rng(0)
    quasi = 3 * columns // 4
    made = {}
    for i in range(columns):
        name = f"q{i}" if i < quasi else f"c{i}"
        values = np.round(rng.lognormal(8, 1, records), 2) if i % 3 else rng.integers(0, 90, records)
        made[name] = rng.choice(["north", "south", "east", "west"], records) if i % 5 == 4 else values
    pl.DataFrame(made).write_parquet(path)
    return quasi


def main(records: int, columns: int) -> None:
    """Protect with and without reports, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        quasi = make(records, columns, source)
        found = {}
        for report in ("no", "yes"):
            command = [sys.executable, "-c", RUN, str(source), str(target), report, str(quasi)]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            found[report] = [float(word) for word in told[-3:]]
            seconds, processor, memory = found[report]
            which = "with" if report == "yes" else "without"
            print(f"{which} reports: {seconds:.1f} s, {processor:.1f} CPU s, {memory:.0f} MB", flush=True)
        (before, busy, held), (after, busier, more) = found["no"], found["yes"]
        print(
            f"reports add {100 * (after / before - 1):.1f} % of the time ({100 * (busier / busy - 1):.1f} % of the CPU "
            f"time), {more - held:.0f} MB"
        )


if __name__ == "__main__":
    main(*(int(argument.replace("_", "")) for argument in (sys.argv[1:] or ["1000000", "20"])))
