"""The jobs of a folder, run one after the other: added, tended, stopped, resumed, removed.

Nobody has to live for the queue to go on: whoever adds, resumes or ends a job starts the next one. A job is worked on
by a process of its own, in a group of its own, which no end of a terminal, a page or a server ends.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.errors import InputError, suggest
from discreet.jobs.job import (
    COMMANDS,
    KILLED,
    LOCK,
    MESSAGES,
    REQUEST,
    STATE,
    STOP,
    Job,
    as_text,
    lock,
    put,
    write_request,
)

PLACE = Path(".discreet") / "jobs"
# A job whose process was killed so often, with no checkpoint newer than the last time, is not begun again by itself.
MOST_SITTINGS = 5
# Seconds between two looks at a job that is waited for.
PAUSE = 0.2
# How the stages of a command after its search begin: a job that has come so far ends by itself.
ENDING = ("verifying", "measuring", "writing", "auditing", "reporting")


class Jobs:
    """The jobs of a folder.

    Parameters
    ----------
    folder : path
        The folder; its jobs are in `FOLDER/.discreet/jobs`.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).resolve()
        if os.name != "posix":
            raise InputError("jobs need the locks of Linux or macOS; run the command itself here")
        if not self.folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; name the folder of the jobs")
        self.path = self.folder / PLACE

    def list(self) -> list[Job]:
        """All jobs, in the order in which they were added."""
        found = [path for path in self.path.glob("*") if path.name.isdigit() and (path / REQUEST).is_file()]
        return [Job(path) for path in sorted(found, key=lambda path: int(path.name))]

    def get(self, number: str | int) -> Job:
        """The job of a number."""
        for job in self.list():
            if int(job.id) == int(number if str(number).isdigit() else -1):
                return job
        raise InputError(f"there is no job {number} in {self.folder}; discreet jobs list shows those there are")

    def add(
        self,
        command: Sequence[str],
        *,
        title: str = "",
        about: Mapping[str, Any] | None = None,
        files: Mapping[str, str] | None = None,
        start: bool = True,
    ) -> Job:
        """Add a command to the queue.

        Parameters
        ----------
        command : sequence of str
            The words after `discreet`, paths relative to the folder; `{job}` stands for the folder of the job.
        title : str
            What to call it.
        about : mapping, optional
            What the caller wants to remember with it.
        files : mapping of str to str, optional
            Texts to be kept in the folder of the job, by name.
        start : bool
            Whether it is begun at once if no other runs.
        """
        if not command or command[0] not in COMMANDS:
            near = suggest(command[0], COMMANDS) if command else ""
            raise InputError(f"a job is one of the commands {', '.join(COMMANDS)}{near}")
        with self._alone():
            number = max((int(job.id) for job in self.list()), default=0) + 1
            new = self.path / f".new-{secrets.token_hex(4)}"
            new.mkdir(mode=0o700)
            for name, text in (files or {}).items():
                put(new / name, text)
            put(new / REQUEST, write_request(command, title, about or {}))
            put(new / STATE, as_text({"state": "queued"}))
            new.rename(self.path / f"{number:04d}")
        if start:
            self.tend()
        return Job(self.path / f"{number:04d}")

    def tend(self) -> None:
        """Let the queue go on: jobs whose process was killed wait again, and if none runs the next is begun."""
        if not self.path.is_dir():
            return
        with self._alone():
            for path in (*self.path.glob(".new-*"), *self.path.glob(".gone-*")):
                shutil.rmtree(path, ignore_errors=True)
            jobs = [(job, job.state()) for job in self.list()]
            for job, state in jobs:
                if state.state == "failed" and state.code == KILLED:
                    if state.sittings < MOST_SITTINGS:
                        job.set_state("queued", sittings=state.sittings)
                    else:
                        words = f"its process was killed {state.sittings} times, perhaps for want of memory"
                        job.set_state("failed", code="memory", message=words, sittings=state.sittings)
            jobs = [(job, job.state()) for job in self.list()]
            if not any(state.state == "running" for _, state in jobs):
                for job, state in jobs:
                    if state.state == "queued":
                        self._begin(job, state.sittings)
                        break

    def stop(self, number: str | int) -> Job:
        """Stop a job: a search ends and what it has found is written; what has not begun never will."""
        with self._alone():
            job = self.get(number)
            state = job.state()
            if state.state == "queued":
                job.set_state("stopped", message="it was stopped before it began", sittings=state.sittings)
            elif state.state != "running":
                raise InputError(f"job {job.id} does not run: it is {state.state}")
            elif not job.progress().get("stage", "").startswith(ENDING) and not (job.path / STOP).exists():
                put(job.path / STOP, "")  # asked once: a second signal would break off the writing
                pid = job.state().pid  # 0 if it has only just begun: then it looks for the file by itself
                if pid:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGINT)
        return job

    def resume(self, number: str | int) -> Job:
        """Put a job that was stopped, failed or killed into the queue again; it goes on from its checkpoint."""
        with self._alone():
            job = self.get(number)
            state = job.state()
            if state.state not in ("stopped", "failed"):
                raise InputError(f"job {job.id} cannot be resumed: it is {state.state}")
            job.set_state("queued")
        self.tend()
        return job

    def remove(self, number: str | int) -> None:
        """Forget a job and its checkpoint; files that it has written elsewhere stay."""
        with self._alone():
            job = self.get(number)
            if job.state().state == "running":
                raise InputError(f"job {job.id} runs; stop it first")
            gone = self.path / f".gone-{secrets.token_hex(4)}"
            job.path.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def wait(self, job: Job) -> None:
        """Wait for the end of a job; the queue is tended meanwhile."""
        while job.state().state in ("queued", "running"):
            self.tend()
            time.sleep(PAUSE)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process change the states of these jobs meanwhile."""
        for folder in (self.path.parent, self.path):
            folder.mkdir(mode=0o700, exist_ok=True)
        handle = lock(self.path / LOCK, wait=True)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)

    def _begin(self, job: Job, sittings: int) -> None:
        """Start the process of a job. The lock of the job is handed to it, so that it is never without one."""
        held = lock(job.path / LOCK)
        if held is None:
            return
        (job.path / STOP).unlink(missing_ok=True)
        words = os.open(job.path / MESSAGES, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        command = [sys.executable, "-m", "discreet", "work", str(job.path), str(held)]
        try:
            job.set_state("running", sittings=sittings + 1)  # from here on the state is its own to write
            worker = subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                pass_fds=(held,),
                start_new_session=True,
            )
            _reap(worker)
        except OSError as error:
            why = os.strerror(error.errno or 0)
            job.set_state("failed", code="fault", message=f"no process could be started ({why})")
        finally:
            os.close(words)
            os.close(held)


def _reap(worker: subprocess.Popen[bytes]) -> None:
    """See to it that the process leaves nothing behind when it ends, if we live so long."""
    threading.Thread(target=worker.wait, daemon=True).start()
