"""Files with many categories: whether the time asked for holds, memory, Ctrl-C, and the loss against simple ways.

`python -m benchmarks.categories` generates look-alikes of what users brought, with stated seeds, and runs the command
on them, each in a process of its own: 1.2 million and 539,254 records of 9 columns with 219 categories, and 20,000
records of 10 columns with 1,900 codes each. Then ten mixed files are grouped by the default, by sorting and
cutting, by means and modes in turns as k-prototypes does (with groups of k), and by mdav. The bars are for two idle
cores.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from benchmarks.common import ROOT, verdict

import discreet

K = 5
SECONDS = 10.0
# The bars: search.seconds over what was asked, the whole command, megabytes above an idle import, seconds to Ctrl-C.
MOST_OVER, MOST_SECONDS, MOST_MEGABYTES, MOST_WAIT = 1.3, 60.0, 1_024, 2.0
LEVELS = (2, 7, 16, 14, 9, 6, 5, 60, 100)


def people(records: int, seed: int) -> pl.DataFrame:
    """Nine columns with 219 categories in all: 40 kinds of people, and values at random by Zipf's law."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 40, records)
    columns = {}
    for at, levels in enumerate(LEVELS):
        typical = rng.integers(0, levels, 40)[kind]
        values = np.where(rng.random(records) < 0.45, typical, _zipf(rng, records, levels, 1.1))
        columns[f"c{at}"] = np.char.add(f"v{at}_", values.astype(str))
    return pl.DataFrame(columns)


def diagnoses(records: int, seed: int, width: int = 10, levels: int = 1_900) -> pl.DataFrame:
    """Columns of many codes each: 2,500 typical combinations, of which every third value is another."""
    rng = np.random.default_rng(seed)
    case = _zipf(rng, records, 2_500, 0.9)
    columns = {}
    for at in range(width):
        typical = rng.integers(0, levels, 2_500)[case]
        values = np.where(rng.random(records) < 0.7, typical, _zipf(rng, records, levels, 0.8))
        columns[f"c{at}"] = np.char.add("x", values.astype(str))
    return pl.DataFrame(columns)


def mixture(seed: int, records: int = 3_000) -> pl.DataFrame:
    """Two numbers and five nominal columns of 2 to 300 categories, more or less bound to each other."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 60, records)
    bound = 0.3 + 0.05 * (seed % 10)
    columns: dict[str, Any] = {
        "a": rng.normal(size=records) + 2.0 * bound * rng.normal(size=60)[kind],
        "b": np.exp(rng.normal(size=records)),
    }
    for at, levels in enumerate((2, 5, 12, 50, 300)):
        typical = rng.integers(0, levels, 60)[kind]
        values = np.where(rng.random(records) < bound, typical, _zipf(rng, records, levels, 1.0))
        columns[f"c{at}"] = np.char.add("v", values.astype(str))
    return pl.DataFrame(columns)


def _zipf(rng: np.random.Generator, count: int, levels: int, power: float) -> Any:
    odds = 1.0 / np.arange(1, levels + 1) ** power
    return rng.choice(levels, count, p=odds / odds.sum())


def command(frame: pl.DataFrame, folder: Path) -> dict[str, Any]:
    """Protect a file by the command; what it took."""
    frame.write_parquet(folder / "in.parquet")
    out = folder / "out.csv"
    call = [sys.executable, "-m", "discreet", "protect", str(folder / "in.parquet"), "--k", str(K), "--quasi", "all"]
    began = time.perf_counter()
    subprocess.run([*call, "--time", f"{SECONDS:g}", "-o", str(out), "--force", "--quiet"], cwd=ROOT, check=True)
    seconds = time.perf_counter() - began
    account = json.loads(Path(f"{out}.evidence.json").read_text())
    return {"command": seconds, "search": account["search"]["seconds"], "il": account["measures"]["il"]}


def wait_for_interrupt(path: Path) -> float:
    """Seconds from a Ctrl-C in the midst of a search to its end."""
    code = (
        "import sys, discreet\n"
        f"discreet.protect(sys.argv[1], k={K}, quasi='all', time=600, measures='none',"
        " progress=lambda stage, _: print(stage, flush=True))"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if line.strip() == "grouping":
            break
    time.sleep(5.0)
    child.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    for line in child.stdout:
        if line.strip() == "verifying":
            break
    waited = time.perf_counter() - sent
    child.stdout.read()
    child.wait()
    return waited


def peak(code: str, *arguments: str) -> float:
    """Megabytes at the peak of a process that runs some Python."""
    # Not by getrusage, which begins with what the parent had.
    told = f"{code}\nprint(*(int(l.split()[1]) / 1024 for l in open('/proc/self/status') if l.startswith('VmHWM')))"
    call = [sys.executable, "-c", told, *arguments]
    return float(subprocess.run(call, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1])


def cut(frame: pl.DataFrame, order: list[str]) -> float:
    """The loss of sorting by some columns and cutting after every k records."""
    rows = frame.with_row_index("row").sort(order)["row"].to_numpy()
    labels = np.empty(len(rows), np.int64)
    labels[rows] = np.minimum(np.arange(len(rows)) // K, len(rows) // K - 1)
    return loss(frame, labels)


def prototypes(frame: pl.DataFrame, rounds: int = 5) -> float:
    """The least loss of rounds in which groups of k are filled, the nearest pairs first, from means and modes."""
    numbers = np.column_stack([frame[name] for name in frame.columns if frame.schema[name].is_numeric()])
    numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    texts = [name for name in frame.columns if not frame.schema[name].is_numeric()]
    codes = [np.unique(frame[name].to_numpy(), return_inverse=True)[1] for name in texts]
    prices = [2.0 / (1.0 - np.sum((np.bincount(code) / len(code)) ** 2)) for code in codes]
    groups = len(frame) // K
    seeds = np.random.default_rng(0).choice(len(frame), groups, replace=False)
    means, modes, losses = numbers[seeds], [code[seeds] for code in codes], []
    for _ in range(rounds):
        distances = ((numbers[:, None] - means[None]) ** 2).sum(axis=2)
        for code, mode, price in zip(codes, modes, prices, strict=True):
            distances += price * (code[:, None] != mode[None])
        labels, room = np.full(len(frame), -1), np.full(groups, K)
        room[0] += len(frame) - K * groups
        for pair in np.argsort(distances, axis=None).tolist():
            record, group = divmod(pair, groups)
            if labels[record] < 0 and room[group]:
                labels[record] = group
                room[group] -= 1
        losses.append(loss(frame, labels))
        means = np.array([numbers[labels == group].mean(axis=0) for group in range(groups)])
        modes = [np.array([np.bincount(code[labels == g]).argmax() for g in range(groups)]) for code in codes]
    return min(losses)


def loss(frame: pl.DataFrame, labels: Any) -> float:
    """The loss of groups, by means and modes."""
    groups = pl.Series("group", labels)
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    texts = [name for name in frame.columns if name not in numbers]
    parts = [frame.select(pl.col(numbers).mean().over(groups)), frame.select(pl.col(texts).mode().first().over(groups))]
    released = pl.concat(parts, how="horizontal").select(frame.columns)
    return float(discreet.measure(frame, released, quasi="all", measures=["il"])["il"])


def judge_files() -> None:
    """Time, memory and Ctrl-C on large files."""
    files = {
        "1.2 million × 9": people(1_200_000, 1),
        "539,254 × 9": people(539_254, 3),
        "20,000 × 10 codes": diagnoses(20_000, 2),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command(mixture(0), folder)  # compiles
        for name, frame in files.items():
            found = command(frame, folder)
            told = f"{found['search']:.1f} s of search, {found['command']:.1f} s in all, IL {found['il']:.2f}"
            met = verdict(found["search"], MOST_OVER * SECONDS), verdict(found["command"], MOST_SECONDS)
            print(f"{name}: {told}", *met, flush=True)
        path = folder / "large.parquet"
        files["1.2 million × 9"].write_parquet(path)
        waited = wait_for_interrupt(path)
        print(f"Ctrl-C: {waited:.1f} s", verdict(waited, MOST_WAIT), flush=True)
        idle = peak("import discreet.microdata.protection, discreet.microdata.memetic.memetic")
        run = f"discreet.protect(sys.argv[1], k={K}, quasi='all', time=5).write(sys.argv[1] + '.csv')"
        above = peak(f"import sys, discreet; {run}", str(path)) - idle
        print(f"memory: {above:.0f} MB above {idle:.0f}", verdict(above, MOST_MEGABYTES), flush=True)


def judge_mixtures(seconds: float) -> None:
    """The loss on ten mixed files."""
    for seed in range(10):
        frame = mixture(seed)
        best = discreet.protect(frame, k=K, quasi="all", time=seconds, measures="none").measures["il"]
        others = {
            "prototypes": prototypes(frame),
            "sorted": cut(frame, frame.columns[2:] + frame.columns[:2]),
            "mdav": discreet.protect(frame, k=K, quasi="all", method="mdav", measures="none").measures["il"],
        }
        told = ", ".join(f"{name} {il:.2f}" for name, il in others.items())
        print(f"mixture {seed}: {best:.2f}; {told}", verdict(best, min(others.values())), flush=True)


def main() -> None:
    """Run all, or the files or the mixtures alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=("files", "mixtures"))
    parser.add_argument("--time", type=float, default=SECONDS, help="seconds of search for each mixture")
    asked = parser.parse_args()
    only = asked.only
    if only != "mixtures":
        judge_files()
    if only != "files":
        judge_mixtures(asked.time)


if __name__ == "__main__":
    main()
