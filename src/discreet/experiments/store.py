"""Runs kept on disk as they end, so that a study can be interrupted and goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from discreet.errors import InputError

Scalar = str | int | float | bool | None
Flat = Mapping[str, Scalar]

FILE = "runs.jsonl"


def key(settings: Flat) -> str:
    """The one text that stands for some settings, whatever their order."""
    return json.dumps(dict(settings), sort_keys=True, ensure_ascii=False)


class Store:
    """A folder with a file of one line per run: its settings and its result.

    A line counts once its end is on the disk. What a killed process left of a line is cut off when the file is opened
    again, and the run is done again; a run whose line is there is not.

    Parameters
    ----------
    folder : Path
        The folder; made if it is not there.
    about : mapping
        What all runs have in common (the data, k, the version). A folder with runs about something else is refused.
    """

    def __init__(self, folder: Path, about: Flat) -> None:
        self.file = folder / FILE
        self.done: dict[str, dict[str, Scalar]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(
                f"{self.file}: the runs cannot be kept ({error.strerror}); choose another folder"
            ) from None
        try:
            self._lock()
            self._read(about)
        except BaseException:
            os.close(self._handle)
            raise

    def _lock(self) -> None:
        """Keep a second study out of the same file; the system lets go of the lock when a process dies."""
        try:
            import fcntl
        except ImportError:  # a system without such locks
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{self.file}: another study is writing to it; wait for its end, or choose another folder"
            ) from None

    def _read(self, about: Flat) -> None:
        content = self.file.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the process was killed within a line
            os.ftruncate(self._handle, whole)
        os.lseek(self._handle, 0, os.SEEK_END)
        lines = content[:whole].splitlines()
        if not lines:
            self._write([{"about": dict(about)}])
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if number == 1:
                    self._check(entry["about"], about)
                else:
                    self.done.setdefault(key(entry["settings"]), entry["result"])
            except (ValueError, KeyError, TypeError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(
                    f"{self.file}, line {number}: the line is damaged; delete it, and the run is done again"
                    if number > 1
                    else f"{self.file}: this is no file of runs; choose another folder"
                ) from None

    def _check(self, kept: Flat, about: Flat) -> None:
        for name in (*about, *(name for name in kept if name not in about)):
            if kept.get(name) != about.get(name):
                raise InputError(
                    f"{self.file}: these runs have another {name} ({kept.get(name)}, now {about.get(name)}); choose "
                    "another folder, or remove this one to begin anew"
                )

    def append(self, runs: Iterable[tuple[Flat, Flat]]) -> None:
        """Keep runs: they are on the disk when this returns."""
        runs = list(runs)
        self._write([{"settings": dict(settings), "result": dict(result)} for settings, result in runs])
        for settings, result in runs:
            self.done[key(settings)] = dict(result)

    def _write(self, entries: Iterable[Mapping[str, object]]) -> None:
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries).encode()
        try:
            while text:
                text = text[os.write(self._handle, text) :]
            os.fsync(self._handle)
        except OSError as error:
            raise InputError(
                f"{self.file}: a run could not be kept ({error.strerror}); those before it are there, and the study "
                "goes on from them when it is started again"
            ) from None

    def close(self) -> None:
        """Let others use the file."""
        with contextlib.suppress(OSError):
            os.close(self._handle)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
