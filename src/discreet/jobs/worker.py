"""The process that works on a job: runs its command, tells its progress, and writes down how it ended."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from discreet.errors import INTERRUPTED, PARTIAL, PLACED, InputError
from discreet.evolution.checkpoint import seconds_kept
from discreet.evolution.loop import Interrupt
from discreet.evolution.stops import Trace
from discreet.jobs.job import CHECKPOINT, MESSAGES, PROGRESS, RESULT, RESUMABLE, STOP, UNSIGNED, Job, as_text, put
from discreet.jobs.queue import Jobs
from discreet.listening import heard_by

# Seconds between two writings of the progress, and the least that a search which goes on is given.
PAUSE, LEAST = 0.25, 1.0
# The stages of which the curve is drawn.
SEARCHING = ("preparing", "compiling", "grouping", "searching")


class ProgressFile:
    """Listens to a command and keeps what it hears in a file: the stage, how far it is, and how the cost fell.

    It also heeds the wish to stop. While nothing has been found it breaks the command off; a search ends at its next
    epoch; and whatever comes after a search (proofs, attacks, checks, writing) comes to its end, or what was found
    would be lost.
    """

    def __init__(self, path: Path, earlier: float = 0.0) -> None:
        self.path = path
        self.earlier = earlier
        self.content: dict[str, Any] = {"stage": "starting", "fraction": 0.0, "began": time.time()}
        self._trace = Trace(earlier=earlier)
        self._written = 0.0
        # Seconds of the searches before this one, of those that follow each other in one command.
        self._before = 0.0
        self._has_found, self._is_to_stop = False, False
        self._write()

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Heed a signal that comes outside of a search, which heeds it by itself."""
        if not self._has_found:
            raise KeyboardInterrupt
        self._is_to_stop = True

    def found(self) -> None:
        """Take note that there is something to keep."""
        self._has_found = True

    def stage(self, name: str, fraction: float) -> None:
        """Take note of a stage and how far along it is."""
        new = name != self.content["stage"]
        self.content |= {"stage": name, "fraction": round(fraction, 4)}
        if new or time.monotonic() - self._written > PAUSE:
            self._write()

    def moment(self, steps: int, seconds: float, cost: float, bound: float | None) -> None:
        """Take note of where a search stands; short trials of other settings, in other stages, are no news."""
        self._has_found = True
        search = signal.getsignal(signal.SIGINT)
        if isinstance(search, Interrupt):  # of several searches in a row, those that follow end soon too
            self._is_to_stop = search.caught = self._is_to_stop or search.caught
        if self.content["stage"] not in SEARCHING:
            return
        last = self.content.get("seconds", 0.0) - self.earlier
        if self._before + seconds < last and steps < self.content.get("steps", 0):  # one search after another
            self._before = last
        seconds += self._before
        self._trace.note(steps, seconds, cost)
        self.content |= {"steps": steps, "seconds": round(self.earlier + seconds, 3), "cost": cost, "bound": bound}

    def _write(self) -> None:
        self._written = time.monotonic()
        points = [[step, round(seconds, 3), cost] for step, seconds, cost in self._trace.points]
        # Work is worth more than the news of it.
        with contextlib.suppress(OSError):
            put(self.path, as_text(self.content | {"trace": points}), durable=False)


def carry_out(path: Path, held: int, run: Callable[[Sequence[str]], int]) -> int:
    """Work on a job, write down how it ended, and let the next one begin.

    Parameters
    ----------
    path : Path
        The folder of the job.
    held : int
        The handle of its lock, which goes when this process does.
    run : callable
        Runs a command and gives its exit status, as the command line does.
    """
    os.set_inheritable(held, False)
    job = Job(path)
    if not job.is_signed:
        raise InputError(f"job {job.id}: {UNSIGNED}")
    sittings = job.state().sittings
    checkpoint = path / CHECKPOINT
    earlier = seconds_kept(checkpoint) if checkpoint.exists() else 0.0
    may_replace = job.progress().get("stage") == "writing" or bool(job.result())
    said = io.StringIO()
    placed = len(PLACED)
    listener = ProgressFile(path / PROGRESS, earlier)
    # Whoever started us may have been in the background, where interrupts are ignored.
    signal.signal(signal.SIGINT, listener.stop)
    try:
        job.set_state("running", pid=os.getpid(), sittings=sittings)
        if (path / STOP).exists():  # asked before it could be told
            raise KeyboardInterrupt
        with heard_by(listener), contextlib.redirect_stdout(said):
            status = run(prepare(job, earlier, may_replace))
    except KeyboardInterrupt:
        status = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left takes no time
    printed = _read(said.getvalue())
    files = [str(_relative(file, job.folder)) for file in PLACED[placed:]]
    if status in (0, PARTIAL):
        put(path / RESULT, as_text({"status": status, "files": files, "printed": printed}))
    listener.stage("ended", 1.0)
    state, code, message = _settle(status, printed, asked=(path / STOP).exists(), path=path)
    job.set_state(state, code=code, message=message, sittings=sittings)
    os.close(held)
    Jobs(job.folder).tend()
    return status


def prepare(job: Job, earlier: float, may_replace: bool) -> list[str]:
    """The words of the command as this sitting runs it: with its checkpoint, for what is left of its time.

    Parameters
    ----------
    job : Job
        The job.
    earlier : float
        Seconds of search in the sittings before.
    may_replace : bool
        Whether the files of the command are there already and the job's own.
    """
    words = job.command
    if words[0] in RESUMABLE:
        if "--checkpoint" not in words:
            words += ["--checkpoint", str(job.path / CHECKPOINT)]
        if earlier and "--time" in words:
            place = words.index("--time") + 1
            words[place] = f"{max(float(words[place]) - earlier, LEAST):g}"
        if may_replace and "--force" not in words:
            words.append("--force")
    return words if "--json" in words else [*words, "--json"]


def _settle(status: int, printed: dict[str, Any], *, asked: bool, path: Path) -> tuple[str, str, str]:
    """State, code and message of a job that has ended."""
    if status in (0, PARTIAL):
        stopped = (printed.get("search") or {}).get("stopped") == "interrupted"
        partial = "some unsafe cells are not protected" if status == PARTIAL else ""
        return ("stopped", "", "the best that was found until then is written") if stopped else ("done", "", partial)
    if status == INTERRUPTED and asked:
        return "stopped", "", "nothing was written"
    if status == INTERRUPTED:
        return "failed", "interrupted", "it was told to end, and nothing was written; resume it to go on"
    code, message = str(printed.get("code", "refused")), str(printed.get("message", ""))
    if not message:
        lines = (path / MESSAGES).read_text(encoding="utf-8", errors="replace").splitlines()
        message = lines[0] if lines else "it was refused"
    return "failed", code, message


def _read(text: str) -> dict[str, Any]:
    """What a command printed as JSON."""
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _relative(path: Path, folder: Path) -> Path:
    resolved = path.resolve()
    return resolved.relative_to(folder) if resolved.is_relative_to(folder) else resolved
