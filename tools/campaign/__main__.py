"""Run a campaign: `python -m campaign` in the folder tools, or `make campaign` for ten minutes of everything.

Trials run in processes of their own, in batches of seeds; a batch whose process dies is a crash, counted and named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from campaign.found import Found, Trial
from campaign.ledger import Entry, Ledger

# Each trial with the number of seeds in a batch, so that a batch takes about half a minute.
BATCHES = {
    "frames": 1500,
    "tables": 500,
    "counts": 300,
    "files": 400,
    "states": 60,
    "names": 60,
    "faults": 4,
    "minimality": 8,
    "folders": 10,
    "reviews": 25,
    "insiders": 250,
}
CRASHED = "nothing ends the process but itself"


def trial_of(name: str) -> Trial:
    """The trial of a name."""
    run: Trial = import_module(f"campaign.{name}").run
    return run


def run_batch(name: str, first: int, last: int) -> Iterator[str]:
    """Run a range of seeds in this process; a line of JSON for each."""
    trial = trial_of(name)
    for seed in range(first, last):
        with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
            try:
                found = trial(seed, Path(folder))
            except Exception as error:
                # A fault of ours or of the trial itself: either is to be looked at.
                found = Found(Counter({CRASHED: 1}), [(CRASHED, f"{type(error).__name__} in the trial")])
        yield json.dumps(
            {"seed": seed, "tried": dict(found.tried), "broken": found.broken, "measured": dict(found.measured)}
        )


def start_batch(name: str, first: int, last: int) -> Found:
    """Run a range of seeds in a process of its own, which may crash."""
    line = [sys.executable, "-m", "campaign", "--trials", name, "--seeds", f"{first}:{last}", "--here"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    found, reached = Found(), first
    for text in done.stdout.splitlines():
        if not text.startswith('{"seed"'):
            continue
        said = json.loads(text)
        broken = [(promise, f"{name} {said['seed']}: {what}") for promise, what in said["broken"]]
        found.add(Found(Counter(said["tried"]), broken, Counter(said["measured"])))
        reached = said["seed"] + 1
    found.hold(CRASHED, done.returncode == 0, f"{name} {reached}: the process ended with status {done.returncode}")
    if done.returncode != 0 and reached + 1 < last:
        found.add(start_batch(name, reached + 1, last))
    return found


def main() -> int:
    """Run what is asked for, and add it to the page."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--trials", default=",".join(BATCHES), help="which trials, with commas between")
    parser.add_argument("--seeds", help="FIRST:LAST (not included) of each trial; by default on from the last tried")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long at most, where no seeds are given")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes at once")
    parser.add_argument("--ledger", type=Path, help="where counts are added; by default docs/campaign.json")
    parser.add_argument("--here", action="store_true", help="one batch in this process, to look at what broke")
    asked = parser.parse_args()
    names = asked.trials.split(",")
    unknown = set(names) - set(BATCHES)
    if unknown:
        parser.error(f"no such trial: {', '.join(sorted(unknown))}; there are {', '.join(BATCHES)}")
    seeds = tuple(map(int, asked.seeds.split(":"))) if asked.seeds else None
    if asked.here:
        if seeds is None or len(names) != 1:
            parser.error("--here needs one trial and its seeds")
        for text in run_batch(names[0], *seeds):
            print(text, flush=True)
        return 0
    ledger = Ledger(asked.ledger) if asked.ledger else Ledger()
    broken = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for entries in _rounds(names, seeds, asked.minutes, asked.jobs, ledger):
            ranges = [(name, first, last) for name, first, last in entries]
            for (name, first, last), found in zip(ranges, pool.map(lambda one: start_batch(*one), ranges), strict=True):
                ledger.add(Entry(name, first, last, found))
                broken += found.broken
                print(
                    f"{name} {first}:{last}  {sum(found.tried.values()):,} tried, {len(found.broken)} broken",
                    flush=True,
                )
            ledger.write()
    for promise, what in broken:
        print(f"BROKEN  {promise}: {what}")
    return int(bool(broken))


def _rounds(
    names: list[str], seeds: tuple[int, ...] | None, minutes: float, jobs: int, ledger: Ledger
) -> Iterator[list[tuple[str, int, int]]]:
    """Batches that may run at once; round after round until the seeds or the minutes are used up."""
    end = time.monotonic() + 60.0 * minutes
    at = {name: seeds[0] if seeds else ledger.next_seed(name) for name in names}
    while names and (seeds is not None or time.monotonic() < end):
        batch = []
        for name in names * (1 if len(names) >= jobs else jobs):
            last = at[name] + BATCHES[name] if seeds is None else min(at[name] + BATCHES[name], seeds[1])
            if last > at[name]:
                batch.append((name, at[name], last))
                at[name] = last
        if not batch:
            return
        yield batch


if __name__ == "__main__":
    sys.exit(main())
