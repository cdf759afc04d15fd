"""Data larger than memory: memory of all processes, CPU s per million records, loss, growth and speed-up.

`python -m benchmarks.large make 10000000 FOLDER` writes normal data as Parquet parts, `… run FOLDER OUTPUT` protects it
and measures, `… memory FOLDER` protects the same records in memory, `… report ROOM` does all of it and compares: in
memory so many steps are taken that both need the same CPU in all, reading, writing and verifying included.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl

K, D, PART = 5, 5, 1_000_000
# Steps of a block of a million records: the first partition, and most of a pass of 20 epochs.
STEPS = 19
SIZES = (1_000_000, 3_000_000, 10_000_000)
# Steps in memory, of 50,000 records each, by which ten million records take about as much CPU in all as in parts: the
# first partition and little more, since whatever is not the search takes longer there. Both times are printed.
MEMORY_STEPS = 20
# Bars: CPU s per million records, bytes of all processes at any moment, loss above that in memory.
CPU, MEMORY, LOSS = 12.0, 4e9, 1.02


def make(records: int, folder: Path) -> None:
    """Write normal data, a part for each million records."""
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, records, PART)):
        rng = np.random.default_rng([7, number])
        size = min(PART, records - start)
        frame = pl.DataFrame({f"x{column}": rng.normal(size=size) for column in range(D)})
        frame.write_parquet(folder / f"in-{number:05}.parquet", row_group_size=PART // 4)


class Watch:
    """The memory that this process and all that it started take together, and their CPU; looked at 5 times a second."""

    def __init__(self) -> None:
        self.peak, self._own, self._over = 0, 0.0, threading.Event()
        self._cpu: dict[int, float] = {}
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            pids = _descendants(os.getpid())
            self.peak = max(self.peak, sum(map(_private, pids)))
            self._cpu |= {pid: spent for pid in pids if (spent := _cpu(pid))}
            self._own = time.thread_time()

    def stop(self) -> tuple[int, float]:
        """The largest sum, in bytes, and the CPU s of all but this watch, those that have ended too."""
        self._over.set()
        self._thread.join()
        return self.peak, sum(self._cpu.values()) - self._own


def _cpu(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _private(pid: int) -> int:
    """The memory of a process, pages that several share counted in part, files mapped into it left out."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    found = dict(line.split(":", 1) for line in text.splitlines()[1:])
    return 1024 * int(found["Pss_Anon"].split()[0])


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text(encoding="ascii").split():
                found += _descendants(int(child))
        except OSError:
            continue
    return found


def run(folder: Path, output: Path, steps: int, workers: int, block_records: int) -> dict[str, Any]:
    """Protect the parts, and count the release by DuckDB."""
    import discreet

    watch, began = Watch(), time.perf_counter()
    release = discreet.protect_large(
        folder, output, k=K, quasi="all", steps=steps, workers=workers, block_records=block_records, force=True
    )
    wall = time.perf_counter() - began
    memory, cpu = watch.stop()
    blocks = sum(block["cpu"] for block in release.evidence["output"]["blocks"])
    records = release.evidence["output"]["records"]
    return {
        "records": records,
        "workers": workers,
        "cpu": round(cpu, 1),
        "cpu_blocks": round(blocks, 1),
        "wall": round(wall, 1),
        "memory": memory,
        "il": release.measures["il"],
        **count(folder, output),
    }


def count(folder: Path, output: Path) -> dict[str, Any]:
    """What DuckDB finds: the rarest combination, all records, and how far the sums, which means keep, have changed."""
    names = [f"x{column}" for column in range(D)]
    with duckdb.connect() as base:
        base.execute("SET memory_limit = '2GB'")
        base.execute("SET threads = 2")
        counted = base.execute(
            f"SELECT min(n), sum(n) FROM (SELECT count(*) n FROM '{output}/*.parquet' GROUP BY {', '.join(names)})"
        ).fetchone()
        sums = ", ".join([f"fsum({name})" for name in names] + [f"fsum(abs({name}))" for name in names])
        before, after = (base.execute(f"SELECT {sums} FROM '{of}/*.parquet'").fetchone() for of in (folder, output))
    assert counted
    assert before
    assert after
    apart = max(abs(before[i] - after[i]) / before[D + i] for i in range(D))
    return {"smallest": counted[0], "counted": int(counted[1]), "sums_apart": apart}


def in_memory(folder: Path, steps: int) -> dict[str, Any]:
    """Protect all records at once, by the default method, from a file to a file."""
    import discreet

    with TemporaryDirectory(dir=folder.parent) as room:
        file = Path(room) / "all.parquet"
        pl.scan_parquet(folder).sink_parquet(file)
        began = time.process_time()
        release = discreet.protect(file, k=K, quasi="all", steps=steps, threads=1)
        release.write(Path(room) / "release.parquet")
        cpu = time.process_time() - began
    return {"cpu": round(cpu, 1), "il": release.measures["il"], "memory": getrusage(RUSAGE_SELF).ru_maxrss * 1024}


def report(room: Path) -> None:
    """Growth, speed-up, and the loss against a search in memory; each run in a process of its own."""
    print(f"large: normal data, {D} columns, k = {K}, {STEPS} steps per block of a million records")
    print(f"{'records':>12}{'workers':>8}{'CPU s':>9}{'CPU/M':>8}{'wall s':>8}{'MB':>7}{'IL %':>10}{'rarest':>8}")
    for size in SIZES:
        folder = room / f"large-{size}"
        if not folder.exists():
            make(size, folder)
        walls = []
        for workers in (1, 2):
            found = _call("run", folder, room / "large-release", "--workers", workers)
            walls.append(found["wall"])
            per = found["cpu"] / size * 1e6
            print(
                f"{size:>12,}{workers:>8}{found['cpu']:>9.0f}{per:>8.2f}{found['wall']:>8.0f}"
                f"{found['memory'] / 1e6:>7.0f}{found['il']:>10.4f}{found['smallest']:>8}",
                flush=True,
            )
        print(f"{'':>12}two workers {walls[0] / walls[1]:.2f} times as fast; sums differ by {found['sums_apart']:.0e}")
    print(f"CPU s per million {per:.2f}: {_judge(per, CPU)}")
    print(f"bytes of all processes {found['memory']:.2e}: {_judge(found['memory'], MEMORY)}")
    memory = _call("memory", folder, "--steps", MEMORY_STEPS)
    ratio = found["il"] / memory["il"]
    print(f"in memory, {memory['cpu']} CPU s in all: IL {memory['il']:.4f} %, {memory['memory'] / 1e6:.0f} MB")
    print(f"in parts, {found['cpu']} CPU s in all: {ratio:.4f} times that loss: {_judge(ratio, LOSS)}")
    shutil.rmtree(room / "large-release")


def _judge(value: float, bar: float) -> str:
    return f"bar {bar:g} {'met' if value <= bar else 'missed'}"


def _call(*words: object) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large", *map(str, words)], check=True, capture_output=True, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """One of the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["make", "run", "memory", "report"])
    parser.add_argument("given", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--block-records", type=int, default=PART)
    said = parser.parse_args()
    if said.command == "make":
        make(int(said.given[0]), Path(said.given[1]))
    elif said.command == "run":
        folder, output = map(Path, said.given)
        print(json.dumps(run(folder, output, said.steps, said.workers, said.block_records)))
    elif said.command == "memory":
        print(json.dumps(in_memory(Path(said.given[0]), said.steps)))
    else:
        report(Path(said.given[0]))


if __name__ == "__main__":
    main()
