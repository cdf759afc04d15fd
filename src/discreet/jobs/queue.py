"""The jobs of a folder, run one after the other: added, tended, stopped, resumed, removed.

Nobody has to live for the queue to go on: whoever adds, resumes or ends a job starts the next one. A job is worked on
by a process of its own, in a group of its own, which no end of a terminal, a page or a server ends.
"""

from __future__ import annotations

import os
import re
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
from discreet.own import is_own, make_state

PLACE = Path(".discreet") / "jobs"
NUMBER = "[0-9]{1,9}"
# A job whose process was killed so often, with no checkpoint newer than the last time, is not begun again by itself.
MOST_SITTINGS = 5
# Seconds between two looks at a job that is waited for.
PAUSE = 0.2


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
        """All jobs, in the order in which they were added, those among them that nobody here has asked for."""
        if self.path.parent.is_symlink() or self.path.is_symlink():
            return []
        found = []
        try:
            for path in self.path.iterdir():
                if re.fullmatch(NUMBER, path.name) and not path.is_symlink():
                    with suppress(InputError):  # what has no request is no job
                        Job(path).request()
                        found.append(path)
        except OSError:  # no folder, or another user's
            return []
        return [Job(path) for path in sorted(found, key=lambda path: int(path.name))]

    @property
    def is_ours(self) -> bool:
        """Whether jobs can be added and carried out: the hidden folder is this user's own, or not there yet."""
        return all(is_own(place) or not os.path.lexists(place) for place in (self.path.parent, self.path))

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
            taken = (int(path.name) for path in self.path.iterdir() if re.fullmatch(NUMBER, path.name))
            number = max(taken, default=0) + 1
            new = self.path / f".new-{secrets.token_hex(4)}"
            new.mkdir(mode=0o700)
            for name, text in (files or {}).items():
                put(new / name, text)
            request, job = write_request(command, title, about or {}, files or {}), Job(self.path / f"{number:04d}")
            put(new / REQUEST, request)
            put(new / STATE, as_text({"state": "queued"}))
            job.sign(request)
            new.rename(job.path)
        if start:
            self.tend()
        return job

    def tend(self) -> None:
        """Let the queue go on: jobs whose process was killed wait again, and if none runs the next is begun."""
        if not self.path.is_dir() or not self.is_ours:
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
            elif not (job.path / STOP).exists():
                put(job.path / STOP, "")  # asked once: a second signal would break off a search
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
                why = f"; {state.message}" if state.state == "unsigned" else ""
                raise InputError(f"job {job.id} cannot be resumed: it is {state.state}{why}")
            job.set_state("queued")
        self.tend()
        return job

    def remove(self, number: str | int) -> None:
        """Forget a job and its checkpoint; files that it has written elsewhere stay."""
        with self._alone():
            job = self.get(number)
            if job.state().state == "running":
                raise InputError(f"job {job.id} runs; stop it first")
            job.withdraw()
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
        if not self.is_ours:
            raise InputError(
                f"{self.path.parent}: it is a link, or another user's, or others can write to it; its jobs are shown "
                "and never carried out. Close it if it is yours (chmod -R go-w), or work in a folder of your own"
            )
        make_state()
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
        command = [sys.executable, "-P", "-m", "discreet", "work", str(job.path), str(held)]
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
