"""Jobs: one after the other, each in a process of its own; whatever is killed, nothing is lost or half-written."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.errors import InputError
from discreet.examples import make
from discreet.jobs.job import CHECKPOINT, LOCK, Job, is_locked, put
from discreet.jobs.queue import MOST_SITTINGS, Jobs

STEPS = ["--steps", "6", "--seed", "3", "--threads", "1"]
PROTECT = ["protect", "survey.csv", "--config", "survey.toml", "--k", "5"]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a survey, and what the command itself makes of it."""
    folder = tmp_path_factory.mktemp("survey")
    make("survey", folder, n=600)
    os.chdir(folder)
    assert run([*PROTECT, *STEPS, "-o", "meant.csv", "--quiet"]) == 0
    return folder


@pytest.fixture
def jobs(survey: Path, tmp_path: Path) -> Iterator[Jobs]:
    """The jobs of a folder with the survey; none is left running."""
    for name in ("survey.csv", "survey.toml"):
        shutil.copy(survey / name, tmp_path)
    queue = Jobs(tmp_path)
    yield queue
    for job in queue.list():
        kill(job)


def kill(job: Job) -> None:
    """Kill the process of a job, wherever it is, as the system does when memory runs out."""
    pid = job.state().pid
    if pid and is_locked(job.path / LOCK):
        os.kill(pid, signal.SIGKILL)
        wait(lambda: not is_locked(job.path / LOCK))


def wait(for_what: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not for_what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def wait_for(job: Job) -> str:
    wait(lambda: job.state().state not in ("queued", "running"))
    return job.state().state


def test_a_job_writes_what_the_command_does(jobs: Jobs, survey: Path) -> None:
    job = jobs.add([*PROTECT, *STEPS, "-o", "release.csv"], title="Survey")
    assert wait_for(job) == "done"
    assert (jobs.folder / "release.csv").read_bytes() == (survey / "meant.csv").read_bytes()
    assert sorted(job.result()["files"]) == ["release.csv", "release.csv.evidence.json", "release.csv.release.json"]
    progress = job.progress()
    assert progress["steps"] == 6
    costs = [cost for _, _, cost in progress["trace"]]
    assert costs == sorted(costs, reverse=True)
    assert 0 < costs[-1] < 100  # in percent
    # What is told last is the loss of what was written: medians lose more than the means that a search counts.
    evidence = json.loads((jobs.folder / "release.csv.evidence.json").read_text("utf-8"))
    assert progress["cost"] == evidence["measures"]["il"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (job.path, jobs.path, jobs.path.parent)} == {0o700}
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in job.path.iterdir())


def test_killed_at_any_moment_a_job_goes_on_to_the_same_bytes(jobs: Jobs, survey: Path) -> None:
    job = jobs.add([*PROTECT, *STEPS, "-o", "release.csv"])
    rng = random.Random()
    for _ in range(3):
        wait(lambda: bool(job.state().pid) or job.state().state == "done")
        time.sleep(rng.uniform(0.0, 1.5))
        kill(job)
        state = job.state()
        assert state.state in ("done", "failed")
        assert state.state == "done" or state.code == "killed"
        release = jobs.folder / "release.csv"
        if release.exists():  # it comes last and whole
            assert release.read_bytes() == (survey / "meant.csv").read_bytes()
            assert (jobs.folder / "release.csv.evidence.json").exists()
        jobs.tend()
    assert wait_for(job) == "done"
    assert (jobs.folder / "release.csv").read_bytes() == (survey / "meant.csv").read_bytes()
    record = (jobs.folder / "release.csv.release.json").read_text()
    assert record == (survey / "meant.csv.release.json").read_text().replace("meant.csv", "release.csv")
    assert not list(jobs.folder.glob(".discreet-*"))


def test_killed_while_it_wrote_a_job_replaces_its_own_files(jobs: Jobs, survey: Path) -> None:
    job = jobs.add([*PROTECT, *STEPS, "-o", "release.csv"], start=False)
    (jobs.folder / "release.csv.evidence.json").write_text("{}")
    put(job.path / "progress.json", '{"stage": "writing", "fraction": 0.0}')
    job.set_state("running", sittings=1)
    jobs.tend()
    assert wait_for(job) == "done"
    assert (jobs.folder / "release.csv").read_bytes() == (survey / "meant.csv").read_bytes()


def test_a_stopped_search_keeps_its_best_and_can_go_on(jobs: Jobs, survey: Path) -> None:
    job = jobs.add([*PROTECT, "--seed", "3", "--threads", "1", "--steps", "1000000", "-o", "release.csv"])
    wait(lambda: job.progress().get("steps", 0) > 0)
    jobs.stop(job.id)
    jobs.stop(job.id)  # asked twice, told once
    assert wait_for(job) == "stopped"
    assert (jobs.folder / "release.csv").exists()
    assert (job.path / CHECKPOINT).exists()
    steps = job.progress()["steps"]
    # Goes on from its checkpoint, and replaces its own files.
    jobs.resume(job.id)
    wait(lambda: job.state().state == "running" and job.progress().get("steps", 0) > steps)
    jobs.stop(job.id)
    assert wait_for(job) == "stopped"


def test_jobs_run_one_after_the_other_and_failures_are_told_in_words(jobs: Jobs) -> None:
    first = jobs.add(["protect", "nobody.csv", "--quasi", "all", "--k", "3", "-o", "a.csv"])
    second = jobs.add(["inspect", "survey.csv", "--config", "survey.toml"])
    third = jobs.add(["inspect", "survey.csv"])
    jobs.stop(third.id)
    assert third.state().state == "stopped"
    running = 0
    while second.state().state in ("queued", "running"):
        running = max(running, sum(job.state().state == "running" for job in jobs.list()))
        time.sleep(0.01)
    assert running == 1
    assert second.state().state == "done"
    state = first.state()
    assert (state.state, state.code) == ("failed", "input")
    assert "nobody.csv" in state.message
    with pytest.raises(InputError, match="it is done"):
        jobs.resume(second.id)
    jobs.remove(first.id)
    assert [job.id for job in jobs.list()] == [second.id, third.id]


def test_what_is_killed_again_and_again_is_given_up_in_words(jobs: Jobs) -> None:
    job = jobs.add(["inspect", "survey.csv"], start=False)
    job.set_state("running", sittings=MOST_SITTINGS)
    assert job.state().code == "killed"
    jobs.tend()
    state = job.state()
    assert (state.state, state.code) == ("failed", "memory")


def test_only_commands_of_ours_are_jobs(jobs: Jobs) -> None:
    for command in ([], ["work", "x"], ["jobs", "add"], ["study"]):
        with pytest.raises(InputError, match="a job is one of"):
            jobs.add(command)
    with pytest.raises(InputError, match="no job 7"):
        jobs.get(7)


def test_the_commands(jobs: Jobs, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(jobs.folder)
    assert run(["jobs", "add", "--folder", folder, "--json", "inspect", "survey.csv", "--config", "survey.toml"]) == 0
    added = json.loads(capsys.readouterr().out)
    assert added["command"] == ["inspect", "survey.csv", "--config", "survey.toml"]
    assert run(["jobs", "show", "1", folder, "--wait"]) == 0
    assert run(["jobs", "list", folder]) == 0
    assert "0001  done" in capsys.readouterr().out
    assert run(["jobs", "show", "1", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "done"
    assert run(["jobs", "stop", "1", folder]) == 2
    assert run(["jobs", "resume", folder]) == 0
    assert run(["jobs", "remove", "1", folder, "--json"]) == 0
    assert jobs.list() == []


# The process of a job, which waits in one of its stages until it has been asked to stop.
HELD = """
import sys, time
from pathlib import Path
from discreet.cli.app import run
from discreet.jobs import worker
from discreet.jobs.job import LOCK, STOP, lock

usual, path = worker.ProgressFile.stage, Path(sys.argv[1])

def stage(self, name, fraction):
    usual(self, name, fraction)
    if name.startswith(sys.argv[2]) and not (path / STOP).exists():
        while not (path / STOP).exists():
            time.sleep(0.01)
        time.sleep(0.5)  # the signal comes right after the file

worker.ProgressFile.stage = stage
worker.carry_out(path, lock(path / LOCK), run)
"""
NUMBERS = ["protect", "numbers.csv", "--quasi", "all", "--k", "4"]
SUPPRESS = ["suppress", "flagged.parquet", "--steps", "2", "--seed", "3", "--threads", "1", "-o", "release.csv"]


@pytest.mark.parametrize(
    ("command", "stage", "state"),
    [
        ([*PROTECT, *STEPS, "--bound", "-o", "release.csv"], "reading", "stopped"),
        (
            ["protect", "numbers.csv", "--quasi", "all", "--k", "4", *STEPS, "--bound", "-o", "release.csv"],
            "bounding",
            "done",
        ),
        ([*PROTECT, *STEPS, "-o", "release.csv"], "verifying", "done"),
        ([*PROTECT, *STEPS, "-o", "release.csv"], "measuring", "done"),
        ([*PROTECT, "--method", "mdav", "-o", "release.csv"], "verifying", "done"),
        (SUPPRESS, "reading", "stopped"),
        (SUPPRESS, "guarding", "done"),
        (SUPPRESS, "attacking", "done"),
        (SUPPRESS, "bounding", "done"),
        (["audit", "flagged.parquet"], "reading", "stopped"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else given,
)
def test_a_job_that_is_stopped_after_its_search_keeps_what_it_has_found(
    jobs: Jobs, command: list[str], stage: str, state: str
) -> None:
    if "flagged.parquet" in command:
        make("companies", jobs.folder)
        os.chdir(jobs.folder)
        by = ["--by", "district@region.hrc", "--by", "size_class", "--value", "turnover", "--holding", "holding"]
        assert run(["tabulate", "companies.csv", *by, "-o", "table.parquet"]) == 0
        assert run(["primary", "table.parquet", "--p", "10", "--threshold", "3", "-o", "flagged.parquet"]) == 0
    if "numbers.csv" in command:
        rng = random.Random(1)
        rows = [",".join(f"{rng.gauss(0, 1):.3f}" for _ in range(3)) for _ in range(800)]
        (jobs.folder / "numbers.csv").write_text("\n".join(["x,y,z", *rows]))
    job = jobs.add(command, start=False)
    process = subprocess.Popen([sys.executable, "-c", HELD, str(job.path), stage], cwd=jobs.folder)
    try:
        wait(lambda: job.progress().get("stage", "").startswith(stage) or process.poll() is not None)
        assert process.poll() is None, job.state()
        jobs.stop(job.id)
        process.wait(120)
    finally:
        process.kill()
        process.wait()
    assert job.state().state == state, job.state()
    assert (jobs.folder / "release.csv").exists() == (state == "done")
    assert ("release.csv" in job.result().get("files", [])) == (state == "done")
