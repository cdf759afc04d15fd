"""Jobs are carried out only for who asked for them: not those that came with a folder, nor those that were changed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.errors import InputError
from discreet.jobs.history import begin_history, histories
from discreet.jobs.job import LOCK, Job, lock
from discreet.jobs.queue import Jobs
from discreet.jobs.worker import carry_out

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    """A folder with a file and one job that waits."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "plain.csv").write_text("age,size\n" + "".join(f"{20 + at % 9},{at % 7}\n" for at in range(60)))
    queue = Jobs(folder)
    files = {"settings.toml": 'quasi = "all"\n'}
    queue.add(["protect", "plain.csv", "--k", "2", "--quasi", "all", "-o", "{job}/out.csv"], files=files, start=False)
    return queue


def change_request(job: Job) -> None:
    path = job.path / "request.toml"
    path.write_text(path.read_text().replace('"2"', '"1"'))


def change_file(job: Job) -> None:
    (job.path / "settings.toml").write_text("")


def link_a_file(job: Job) -> None:
    (job.path / "messages.txt").symlink_to(job.folder / "plain.csv")


def open_to_others(job: Job) -> None:
    job.path.parents[1].chmod(0o775)


def give_away(job: Job) -> None:
    os.chown(job.path.parents[1], 65534, 65534)


def renumber(job: Job) -> None:
    shutil.copytree(job.path, job.path.with_name("0002"))
    shutil.rmtree(job.path)


def lose_the_key(_job: Job) -> None:
    (Path(os.environ["XDG_STATE_HOME"]) / "discreet" / "key").unlink()


CHANGES: list[Callable[[Job], None]] = [
    change_request,
    change_file,
    link_a_file,
    open_to_others,
    renumber,
    lose_the_key,
]
CHANGES += [give_away] if IS_ROOT else []


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_was_changed_is_listed_and_never_run(
    jobs: Jobs, change: Callable[[Job], None], capsys: pytest.CaptureFixture[str]
) -> None:
    change(jobs.list()[0])
    before = (jobs.folder / "plain.csv").read_bytes()
    [job] = jobs.list()
    jobs.tend()
    assert job.state().state == "unsigned"
    assert (job.progress(), job.result()) == ({}, {})
    with pytest.raises(InputError, match="jobs add" if jobs.is_ours else "never carried out"):
        jobs.resume(job.id)
    with pytest.raises(InputError, match="jobs add"):
        carry_out(job.path, 0, lambda _words: 0)
    assert run(["jobs", "show", job.id, str(jobs.folder)]) == 0
    said = capsys.readouterr().out
    assert "unsigned" in said
    assert "discreet jobs add" in said
    assert not (job.path / "out.csv").exists()
    assert (jobs.folder / "plain.csv").read_bytes() == before


def test_a_folder_that_was_moved_or_copied_takes_no_jobs_along(jobs: Jobs, tmp_path: Path) -> None:
    shutil.copytree(jobs.folder, tmp_path / "copy")
    copied = Jobs(tmp_path / "copy")
    copied.tend()
    assert [job.state().state for job in copied.list()] == ["unsigned"]
    assert [job.state().state for job in jobs.list()] == ["queued"]
    copied.remove(1)
    assert copied.list() == []


def test_a_job_that_was_removed_cannot_be_put_back(jobs: Jobs, tmp_path: Path) -> None:
    [job] = jobs.list()
    shutil.copytree(job.path, tmp_path / "kept")
    jobs.remove(job.id)
    shutil.copytree(tmp_path / "kept", job.path)
    assert [job.state().state for job in jobs.list()] == ["unsigned"]


def test_who_asks_for_it_may_name_files_elsewhere(jobs: Jobs, tmp_path: Path) -> None:
    jobs.remove(1)
    shutil.copy(jobs.folder / "plain.csv", tmp_path / "h.csv")
    job = jobs.add(["inspect", "../h.csv"])
    jobs.wait(job)
    assert job.state().state == "done"


@pytest.mark.parametrize("spoil", [open_to_others, *([give_away] if IS_ROOT else [])], ids=lambda one: one.__name__)
def test_nothing_is_added_where_others_can_change_it(jobs: Jobs, spoil: Callable[[Job], None]) -> None:
    spoil(jobs.list()[0])
    with pytest.raises(InputError, match="another user's, or others can write"):
        jobs.add(["inspect", "plain.csv"])
    with pytest.raises(InputError, match="choices cannot be kept"):
        begin_history(jobs.folder, {"kind": "microdata", "file": "plain.csv"})


def test_links_are_not_followed(jobs: Jobs, tmp_path: Path) -> None:
    (jobs.folder / ".discreet").rename(tmp_path / "hidden")
    (jobs.folder / ".discreet").symlink_to(tmp_path / "hidden")
    assert jobs.list() == []
    jobs.tend()
    with pytest.raises(InputError, match="it is a link"):
        jobs.add(["inspect", "plain.csv"])
    target = tmp_path / "elsewhere"
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(OSError, match=r".*"):
        lock(tmp_path / "link")
    assert not target.exists()


def test_odd_things_among_the_jobs_are_no_jobs(jobs: Jobs) -> None:
    (jobs.path / "²").mkdir()
    (jobs.path / "0002").mkdir()
    (jobs.path / "0003").mkdir()
    (jobs.path / "0003" / "request.toml").write_text('schema = "discreet/job/1"\ncommand = ["protect"]\ntitle = 3\n')
    os.mkfifo(jobs.path / "0002" / "request.toml")
    assert [job.id for job in jobs.list()] == ["0001"]
    assert jobs.add(["inspect", "plain.csv"], start=False).id == "0004"


def test_choices_that_came_with_a_folder_are_nobody_s(jobs: Jobs, tmp_path: Path) -> None:
    first = {"kind": "microdata", "file": "plain.csv", "columns": {}, "k": 5}
    history = begin_history(jobs.folder, first)
    history.choose(k=3)
    assert [one.now["k"] for one in histories(jobs.folder)] == [3]
    said = json.loads(history.path.read_text())
    said["past"][-1]["k"] = 1
    history.path.write_text(json.dumps(said))
    assert histories(jobs.folder) == []
    again = begin_history(jobs.folder, first)
    assert (again.id, again.now["k"]) == ("0002", 5)
    shutil.copytree(jobs.folder, tmp_path / "copy")
    assert histories(tmp_path / "copy") == []


def test_the_process_of_a_job_looks_for_itself(jobs: Jobs) -> None:
    [job] = jobs.list()
    change_request(job)
    held = lock(job.path / LOCK)
    assert held is not None
    line = [sys.executable, "-P", "-m", "discreet", "work", str(job.path), str(held)]
    done = subprocess.run(line, cwd=jobs.folder, pass_fds=(held,), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "never carried out" in done.stderr
