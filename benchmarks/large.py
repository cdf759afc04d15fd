"""Data larger than memory: memory of all processes, CPU s per million records, loss, growth and speed-up.

`python -m benchmarks.large make 10000000 FOLDER` writes normal data as Parquet parts, `… run FOLDER OUTPUT` protects it
and measures, `… memory FOLDER` searches the same records in memory for the same CPU, `… report` does all of it.
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
from typing import Any

import duckdb
import numpy as np
import polars as pl

K, D, PART = 5, 5, 1_000_000
# Steps of a block of a million records: the first partition, and less than half of a pass of 20 epochs.
STEPS = 9
SIZES = (1_000_000, 3_000_000, 10_000_000)
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
        self.peak, self._over = 0, threading.Event()
        self._cpu: dict[int, float] = {}
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            pids = _descendants(os.getpid())
            self.peak = max(self.peak, sum(map(_private, pids)))
            self._cpu |= {pid: spent for pid in pids if (spent := _cpu(pid))}

    def stop(self) -> tuple[int, float]:
        """The largest sum, in bytes, and the CPU s of all, those that have ended too."""
        self._over.set()
        self._thread.join()
        return self.peak, sum(self._cpu.values())


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
    with duckdb.connect() as base:
        base.execute("SET memory_limit = '2GB'")
        columns = ", ".join(f"x{column}" for column in range(D))
        counted = base.execute(
            f"SELECT min(n), sum(n) FROM (SELECT count(*) n FROM '{output}/*.parquet' GROUP BY {columns})"
        ).fetchone()
    return {
        "records": records,
        "workers": workers,
        "cpu": round(cpu, 1),
        "cpu_blocks": round(blocks, 1),
        "wall": round(wall, 1),
        "memory": memory,
        "il": release.measures["il"],
        "smallest": counted[0] if counted else None,
        "counted": int(counted[1]) if counted else None,
    }


def in_memory(folder: Path, cpu: float) -> dict[str, Any]:
    """Search all records at once until so much CPU is used up, reading them excluded."""
    from discreet.microdata.memetic.memetic import Memetic
    from discreet.microdata.method import Run

    frame = pl.read_parquet(folder)
    points = np.column_stack([(frame[name] - frame[name].mean()) / frame[name].std(ddof=0) for name in frame.columns])
    del frame
    points = np.ascontiguousarray(points)
    total = float((points**2).sum())
    method = Memetic()
    method.rehearse(points[:2000], K, [len(points)])
    began = time.process_time()
    process = method.search(points, K, Run(seed=0, threads=1))
    for _ in process.epochs():
        if time.process_time() - began > cpu and process.cost < np.inf:
            break
    return {"cpu": round(time.process_time() - began, 1), "il": 100.0 * process.cost / total}


def report(room: Path) -> None:
    """Growth, speed-up, and the loss against a search in memory; each run in a process of its own."""
    print(f"large: normal data, {D} columns, k = {K}, {STEPS} steps per block of a million records")
    print(f"{'records':>12}{'workers':>8}{'CPU s':>9}{'CPU/M':>8}{'wall s':>8}{'MB':>7}{'IL %':>10}{'rarest':>8}")
    for size in SIZES:
        folder = room / f"large-{size}"
        if not folder.exists():
            make(size, folder)
        for workers in (1, 2):
            found = _call("run", folder, room / "large-release", "--workers", workers)
            per = found["cpu"] / size * 1e6
            print(
                f"{size:>12,}{workers:>8}{found['cpu']:>9.0f}{per:>8.2f}{found['wall']:>8.0f}"
                f"{found['memory'] / 1e6:>7.0f}{found['il']:>10.4f}{found['smallest']:>8}",
                flush=True,
            )
    memory = _call("memory", folder, "--cpu", found["cpu"])
    ratio = found["il"] / memory["il"]
    print(f"in memory, {memory['cpu']} CPU s: IL {memory['il']:.4f} %; in parts {ratio:.4f} times as much (bar {LOSS})")
    shutil.rmtree(room / "large-release")


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
    parser.add_argument("--cpu", type=float, default=60.0)
    said = parser.parse_args()
    if said.command == "make":
        make(int(said.given[0]), Path(said.given[1]))
    elif said.command == "run":
        folder, output = map(Path, said.given)
        print(json.dumps(run(folder, output, said.steps, said.workers, said.block_records)))
    elif said.command == "memory":
        print(json.dumps(in_memory(Path(said.given[0]), said.cpu)))
    else:
        report(Path(said.given[0]))


if __name__ == "__main__":
    main()
