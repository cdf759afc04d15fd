"""Faults from outside: killed at any moment, two writers to one file, full devices, little memory, closed streams."""

from __future__ import annotations

import csv
import os
import resource
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np

from campaign.commands import start
from campaign.found import Found

KILLED = "a run that is killed leaves no release, or a whole one"
RACED = "of two runs to one output one wins, and its files belong together"
STATUS = "the status of a run does not depend on who reads what it prints"
MEMORY = "a run that gets too little memory ends orderly and leaves nothing half-written"

K = 3


def run(seed: int, folder: Path) -> Found:
    """One fault, by turns."""
    rng = np.random.default_rng([seed, 6])
    found = Found()
    path = folder / "data.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["x", "y", "s"])
        out.writerows([*rng.normal(size=2).round(3).tolist(), at] for at in range(300))
    (_kill, _race, _close, _starve)[seed % 4](rng, folder, found)
    return found


def _line(folder: Path, *more: object) -> list[object]:
    roles = ["--quasi", "x,y", "--confidential", "s", "--k", K, "--method", "mdav", "--measures", "none"]
    return ["protect", folder / "data.csv", *roles, "-o", folder / "out.csv", *more]


def _is_whole(folder: Path) -> bool:
    """Whether the release is there with all its records, at least k alike."""
    with (folder / "out.csv").open(newline="") as file:
        rows = [(row["x"], row["y"]) for row in csv.DictReader(file)]
    return len(rows) == 300 and min(Counter(rows).values()) >= K


def _kill(rng: np.random.Generator, folder: Path, found: Found) -> None:
    process = start(*_line(folder))
    # The writing is at the end of some seconds of loading: kill when its first file appears, or a little later.
    while process.poll() is None and len(list(folder.iterdir())) < 2:
        time.sleep(0.0005)
    time.sleep(float(rng.exponential(0.01)))
    process.kill()
    process.communicate()
    is_there = (folder / "out.csv").exists()
    found.hold(KILLED, not is_there or _is_whole(folder), "a release that is not whole")
    # The next run gets along with whatever was left.
    again = start(*_line(folder, "--force"))
    again.communicate()
    found.hold(KILLED, again.returncode == 0 and _is_whole(folder), "the next run did not succeed")
    strays = [one.name for one in folder.iterdir() if one.name not in _expected(folder)]
    found.hold(KILLED, not strays, f"{len(strays)} strays after the next run")


def _expected(folder: Path) -> set[str]:
    return {
        one.name
        for one in folder.iterdir()
        if one.name.startswith(("out.csv", "data.csv")) and not one.name.endswith((".tmp", ".part"))
    }


def _race(rng: np.random.Generator, folder: Path, found: Found) -> None:
    import hashlib
    import json

    runs = [start(*_line(folder, "--seed", at)) for at in (1, 2)]
    for one in runs:
        one.communicate()
    statuses = sorted(one.returncode for one in runs)
    record = json.loads((folder / "out.csv.release.json").read_text())
    digest = hashlib.sha256((folder / "out.csv").read_bytes()).hexdigest()
    found.hold(RACED, statuses[0] == 0 and statuses[1] != 0, f"statuses {statuses}")
    found.hold(RACED, digest in json.dumps(record) and _is_whole(folder), "the record is of another release")


def _close(rng: np.random.Generator, folder: Path, found: Found) -> None:
    """A promise that is not kept stays status 1 with standard output closed, full, or read by nobody."""
    made = start(*_line(folder))
    made.communicate()
    if made.returncode != 0:
        found.hold(STATUS, False, "protect did not succeed")
        return
    with (folder / "out.csv").open("a") as file:
        file.write("99999,99999,7\n")
    checked = ["verify", folder / "out.csv", "--quasi", "x,y", "--k", K]
    with Path("/dev/full").open("wb") as full, Path(os.devnull).open("wb") as null:
        for how, streams in {
            "full": {"stdout": full, "stderr": null},
            "both full": {"stdout": full, "stderr": full},
        }.items():
            found.hold(STATUS, start(*checked, **streams).wait() == 1, how)
    pipe = start(*checked)
    assert pipe.stdout is not None
    pipe.stdout.close()
    pipe.stdout = None
    pipe.communicate()
    found.hold(STATUS, pipe.returncode == 1, "closed pipe")
    ascii_only = start(*checked, "--json")
    ascii_only.communicate()
    found.hold(STATUS, ascii_only.returncode == 1, "json")


def _starve(rng: np.random.Generator, folder: Path, found: Found) -> None:
    limit = int(rng.integers(200, 3000)) * 2**20

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    process = start(*_line(folder), preexec_fn=limited, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status = process.wait()
    is_there = (folder / "out.csv").exists()
    # Libraries that are loaded may abort by themselves: then nothing may be there.
    found.hold(MEMORY, (status == 0 and _is_whole(folder)) or (status != 0 and not is_there), f"status {status}")
    found.hold(MEMORY, status != -signal.SIGSEGV, "crashed")
