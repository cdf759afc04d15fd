"""The server is killed at any moment of a running job: nothing is half-written, nothing lost, and the end is the same.

DISCREET_KILLS says how often; few times in every run, thirty before a release.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.cli.app import run
from discreet.examples import make
from discreet.jobs.job import LOCK, is_locked
from discreet.jobs.queue import Jobs

PROTECT = ["protect", "survey.csv", "--config", "survey.toml", "--k", "5", "--steps", "12", "--seed", "2"]
SUPPRESS = ["suppress", "flagged.parquet", "--steps", "60", "--seed", "2"]
COMMANDS = {"release": PROTECT, "public": SUPPRESS}
KILLS = int(os.environ.get("DISCREET_KILLS", "2"))


def test_a_killed_server_and_machine_lose_nothing(survey: Path, start: Callable[..., Any]) -> None:
    os.chdir(survey)
    make("companies", survey)
    tabulate = ["tabulate", "companies.csv", "--by", "district@region.hrc", "--by", "size_class", "--value", "turnover"]
    assert run([*tabulate, "-o", "table.parquet", "--quiet"]) == 0
    assert run(["primary", "table.parquet", "--threshold", "3", "-o", "flagged.parquet", "--quiet"]) == 0
    meant = {}
    for name, words in COMMANDS.items():
        assert run([*words, "-o", f"meant-{name}.csv", "--quiet"]) == 0
        meant[name] = (survey / f"meant-{name}.csv").read_bytes()
    rng = random.Random()
    outputs = []
    for number in range(1, KILLS + 1):
        app = start(survey)  # what was killed before goes on
        name = list(COMMANDS)[number % 2]
        outputs.append((name, survey / f"{name}-{number}.csv"))
        job = Jobs(survey).add([*COMMANDS[name], "-o", outputs[-1][1].name])
        time.sleep(rng.uniform(0.0, 4.0))
        app.kill()
        if number % 3:  # the machine, not only the server
            for each in Jobs(survey).list():
                pid = each.state().pid
                if pid and is_locked(each.path / LOCK):
                    os.kill(pid, signal.SIGKILL)
        for name, path in outputs:
            assert not path.exists() or path.read_bytes() == meant[name]  # whole, or not there
        assert job.state().state in ("queued", "running", "done", "failed")
    start(survey)
    end = time.monotonic() + 60 * KILLS
    while any(
        job.state().state in ("queued", "running") or job.state().code == "killed" for job in Jobs(survey).list()
    ):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.2)
    jobs = Jobs(survey).list()
    assert len(jobs) == KILLS, "none is lost"
    for job, (name, path) in zip(jobs, outputs, strict=True):
        state = job.state()
        assert state.state == "done" or (state.state == "failed" and state.message), "a failure has its words"
        assert path.exists() == (state.state == "done")
        if state.state == "done":
            assert path.read_bytes() == meant[name]
    assert not list(survey.glob(".discreet-*"))
    if KILLS >= 30:
        print(
            f"{KILLS} kills: {sum(job.state().state == 'done' for job in jobs)} jobs done, the others failed in words"
        )
