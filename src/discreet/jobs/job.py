"""A job: a command that runs in a process of its own, kept in a folder, so that nothing is lost when a process dies.

`FOLDER/.discreet/jobs/ID`, for its owner only, holds

    request.toml     the command, and when it was asked for
    state.json       queued, running, stopped, done or failed, with a code and our own words
    progress.json    the stage, how far along it is, and how the loss fell so far
    checkpoint.npz   where the search goes on from
    result.json      the files that were written, and what was printed about them
    messages.txt     what the command said
    stop             there once somebody has asked it to stop
    lock             held by the process that works on the job, as long as it lives

Each appears whole or not at all. A folder may come from anybody, and its jobs with it: a job is carried out only if
this user's folder of state holds the signature of its request, which names the files that were given to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.data import toml
from discreet.errors import InputError
from discreet.own import is_own, is_vouched, read_plain, vouch, withdraw

STATES = ("queued", "running", "stopped", "done", "failed", "unsigned")
REQUEST, STATE, PROGRESS, RESULT = "request.toml", "state.json", "progress.json", "result.json"
CHECKPOINT, MESSAGES, LOCK, STOP = "checkpoint.npz", "messages.txt", "lock", "stop"
SCHEMA = "discreet/job/1"
# The commands that may be a job, and those of them that go on from a checkpoint; the others begin again.
RESUMABLE = ("protect", "refine", "suppress")
COMMANDS = (*RESUMABLE, "audit", "group", "inspect", "measure", "primary", "report", "tabulate", "verify")
# In a command, the folder of the job itself.
HERE = "{job}"
KILLED = "killed"
UNSIGNED = (
    "you have not asked for it here: it came with the folder, or the folder was moved, or its files are not as they "
    "were; it is never carried out. If you know what it does, add its command again: discreet jobs add …"
)
# A request and the like are small.
MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class State:
    """Where a job stands, in a word, and why.

    Parameters
    ----------
    state : str
        One of `STATES`.
    code : str
        Of a failure: what a program can tell it by. `killed` is one whose process ended without a word.
    message : str
        What happened, in our words; no value of a respondent is in it.
    pid : int
        The process that works on it.
    sittings : int
        How often it was begun.
    since : str
        When it came to this state.
    """

    state: str = "queued"
    code: str = ""
    message: str = ""
    pid: int = 0
    sittings: int = 0
    since: str = ""


@dataclass(frozen=True)
class Job:
    """One job of a folder; everything about it is read from its files whenever it is asked for.

    Parameters
    ----------
    path : Path
        The job's own folder.
    """

    path: Path

    @property
    def id(self) -> str:
        """Its number among the jobs of its folder."""
        return self.path.name

    @property
    def folder(self) -> Path:
        """The folder that the job works in."""
        return self.path.parents[2]

    def request(self) -> dict[str, Any]:
        """What was asked for: `command`, `title`, `asked`, and what the caller wants to remember as `about`."""
        return self._parse(self._read_request())

    def _read_request(self) -> bytes:
        try:
            return read_plain(self.path / REQUEST, MOST_BYTES)
        except OSError:
            raise InputError(f"{self.path / REQUEST}: not the request of a job") from None

    def _parse(self, request: bytes) -> dict[str, Any]:
        said = toml.parse(request, self.path / REQUEST)
        kinds = {"command": list, "title": str, "asked": str, "about": dict, "files": dict}
        if (
            said.get("schema") != SCHEMA
            or not said.get("command")
            or any(not isinstance(said.get(name, kind()), kind) for name, kind in kinds.items())
        ):
            raise InputError(f"{self.path / REQUEST}: not the request of a job")
        return said

    @property
    def is_signed(self) -> bool:
        """Whether this user has asked for exactly this in this folder; nothing else is carried out or believed."""
        places = (self.path.parents[1], self.path.parent, self.path)
        try:
            if not all(map(is_own, places)) or any(file.is_symlink() for file in self.path.iterdir()):
                return False
            request = self._read_request()
            if not is_vouched(*self._signed_parts(request)):
                return False
            files: dict[str, str] = self._parse(request).get("files", {})
            return all(
                hashlib.sha256(read_plain(self.path / name)).hexdigest() == digest for name, digest in files.items()
            )
        except (OSError, InputError):
            return False

    def sign(self, request: str) -> None:
        """Write down that this user asks for this job; its files are on the way to their place."""
        vouch(*self._signed_parts(request.encode()))

    def withdraw(self) -> None:
        """Forget that this user asked for it."""
        with contextlib.suppress(InputError):
            withdraw(*self._signed_parts(self._read_request()))

    def _signed_parts(self, request: bytes) -> tuple[str | bytes, ...]:
        return "job", str(self.folder.resolve()), self.id, request

    @property
    def command(self) -> list[str]:
        """The words of the command; paths are relative to the folder."""
        here = str(self.path.relative_to(self.folder))
        return [str(word).replace(HERE, here) for word in self.request()["command"]]

    def state(self) -> State:
        """Where it stands. A job that should be running though its process is gone has failed: it was killed."""
        if not self.is_signed:
            return State("unsigned", "unsigned", UNSIGNED)
        said = read_json(self.path / STATE)
        known = State(**{key: said[key] for key in State.__annotations__ if key in said}) if said else State()
        if known.state == "running" and not is_locked(self.path / LOCK):
            again = read_json(self.path / STATE)  # it may have ended between the two looks
            if again.get("state") == "running":
                words = "its process ended without a word; resume it to go on"
                return State("failed", KILLED, words, 0, known.sittings, known.since)
            return self.state()
        return known

    def progress(self) -> dict[str, Any]:
        """`stage`, `fraction`, `steps`, `seconds`, `cost`, `bound` and `trace`, as far as they are known."""
        return read_json(self.path / PROGRESS) if self.is_signed else {}

    def result(self) -> dict[str, Any]:
        """`status`, `files` and `summary`; nothing while there is none."""
        return read_json(self.path / RESULT) if self.is_signed else {}

    def set_state(self, state: str, *, code: str = "", message: str = "", pid: int = 0, sittings: int = 0) -> None:
        """Write down where it stands now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        put(self.path / STATE, as_text(asdict(State(state, code, message, pid, sittings, now))))

    def describe(self) -> dict[str, Any]:
        """All of it, for a program."""
        request = self.request()
        return {
            "id": self.id,
            "title": request.get("title", ""),
            "asked": request.get("asked", ""),
            "command": self.command,
            **{key: value for key, value in asdict(self.state()).items() if key != "pid"},
            "progress": self.progress(),
            "result": self.result(),
        }


def write_request(command: Sequence[str], title: str, about: Mapping[str, Any], files: Mapping[str, str]) -> str:
    """The request of a job as TOML, with the digests of the files that are given to it."""
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    content = {
        "schema": SCHEMA,
        "title": title,
        "asked": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": list(command),
        **({"about": dict(about)} if about else {}),
        **({"files": digests} if files else {}),
    }
    return "".join(f"{key} = {toml.write_value(value)}\n" for key, value in content.items())


def as_text(content: Mapping[str, Any]) -> str:
    """A content as JSON."""
    return json.dumps(content, ensure_ascii=False) + "\n"


def put(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a file of a job, whole or not at all, for its owner only."""
    aside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """The content of a file of a job; nothing where there is none."""
    try:
        content = json.loads(read_plain(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def lock(path: Path, *, wait: bool = False) -> int | None:
    """Take a lock and give its handle; None if another process has it. The system lets go of it when a process dies."""
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def is_locked(path: Path) -> bool:
    """Whether a process holds a lock."""
    handle = lock(path)
    if handle is None:
        return True
    os.close(handle)
    return False
