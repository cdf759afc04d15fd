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
from discreet.jobs.job import LOCK, is_locked
from discreet.jobs.queue import Jobs

COMMAND = ["protect", "survey.csv", "--config", "survey.toml", "--k", "5", "--steps", "12", "--seed", "2"]
KILLS = int(os.environ.get("DISCREET_KILLS", "2"))


def test_a_killed_server_and_machine_lose_nothing(survey: Path, start: Callable[..., Any]) -> None:
    os.chdir(survey)
    assert run([*COMMAND, "-o", "meant.csv", "--quiet"]) == 0
    meant = (survey / "meant.csv").read_bytes()
    rng = random.Random()
    for number in range(1, KILLS + 1):
        app = start(survey)  # what was killed before goes on
        job = Jobs(survey).add([*COMMAND, "-o", f"release-{number}.csv"])
        time.sleep(rng.uniform(0.0, 4.0))
        app.kill()
        if number % 2:  # the machine, not only the server
            for each in Jobs(survey).list():
                pid = each.state().pid
                if pid and is_locked(each.path / LOCK):
                    os.kill(pid, signal.SIGKILL)
        for path in survey.glob("release-*.csv"):
            assert path.read_bytes() == meant  # whole, or not there
        assert job.state().state in ("queued", "running", "done", "failed")
    start(survey)
    end = time.monotonic() + 60 * KILLS
    while any(
        job.state().state in ("queued", "running") or job.state().code == "killed" for job in Jobs(survey).list()
    ):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.2)
    for number, job in enumerate(Jobs(survey).list(), 1):
        state = job.state()
        assert state.state == "done" or state.message, "none is lost, and a failure has its words"
        if state.state == "done":
            assert (survey / f"release-{number}.csv").read_bytes() == meant
    assert not list(survey.glob(".discreet-*"))
