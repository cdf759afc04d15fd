"""A run kept in a file, to go on from after a break.

The file is a numpy archive (.npz) that holds no pickles, so that reading it runs no code: one member per value, its
name "state.KEY" or "signature.KEY". It appears whole or not at all, and only its owner can read it. The state of a
random generator is kept as a text.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import finite, whole
from discreet.evolution.process import Process, State, inside, part
from discreet.evolution.stops import Moment, Trace

FORMAT = 3
RUN = {"steps", "seconds", "trace", "count", "stride"}
Signature = Mapping[str, str | int | float]


class CheckpointDamaged(ValueError):  # noqa: N818 - what happened, not a fault of the program
    """A file is damaged, or never was a checkpoint."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} is damaged or no checkpoint"


class CheckpointMismatch(ValueError):  # noqa: N818 - what happened, not a fault of the program
    """A checkpoint belongs to another run; `kept` and `expected` are None where one of them lacks the key."""

    def __init__(self, key: str, kept: str | int | float | None, expected: str | int | float | None) -> None:
        super().__init__(key, kept, expected)
        self.key = key
        self.kept = kept
        self.expected = expected

    def __str__(self) -> str:
        made = f"without {self.key}" if self.kept is None else f"with {self.key} = {self.kept}"
        has = f"has no {self.key}" if self.expected is None else f"has {self.key} = {self.expected}"
        return f"the checkpoint was made {made}, this run {has}"


class Checkpoint:
    """Keeps a run in a file, every now and then and at its end.

    Parameters
    ----------
    path : Path
        The file; if it exists, the run goes on from it.
    signature : mapping of str to str, int or float
        What the run is: digest of the data, method, parameters, seed, version. A file with another one is refused.
    every_seconds : float
        Seconds between two writes, at least 0.
    """

    def __init__(self, path: Path, signature: Signature, every_seconds: float = 30.0) -> None:
        self.path = Path(path)
        self.signature = dict(signature)
        self.every_seconds = finite("every_seconds", every_seconds, "of at least 0", least=0.0)
        self.trouble: OSError | None = None  # why it could not be written when it was last tried
        self._written = time.perf_counter()

    def restore(self, process: Process[object]) -> tuple[int, Trace]:
        """Put a process where the file left it; give back its steps and its trace."""
        self._written = time.perf_counter()
        if not self.path.parent.is_dir():  # found out now, and not when there is something to lose
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path.parent))
        kept = load(self.path, self.signature)
        if kept is None:
            return 0, Trace()
        try:
            run = cast("dict[str, Any]", part("run", kept))
            if run.keys() != RUN:  # a state that no run has left behind
                raise CheckpointDamaged(self.path)
            steps, count, stride = (whole(name, run[name], 0) for name in ("steps", "count", "stride"))
            seconds = finite("seconds", run["seconds"], least=0.0)
            state = part("process", kept)
            for key, value in state.items():
                if key.rpartition(".")[2] == "since" and whole(key, value, 0) > steps:
                    raise CheckpointDamaged(self.path)  # epochs to do again, more than were ever done
            process.load(state)
            points = tuple((int(step), float(at), float(cost)) for step, at, cost in run["trace"])
        except (KeyboardInterrupt, MemoryError):
            raise
        except Exception:
            # The state is not what this process saves: whatever it trips over, the file is to blame.
            raise CheckpointDamaged(self.path) from None
        return steps, Trace(points, count, stride, seconds)

    def offer(self, process: Process[object], moment: Moment, trace: Trace) -> None:
        """Write if it is time again."""
        if time.perf_counter() - self._written >= self.every_seconds:
            self.keep(process, moment, trace)

    def keep(self, process: Process[object], moment: Moment, trace: Trace) -> None:
        """Write if that can be done; if not, the run is worth more than its checkpoint."""
        try:
            self.write(process, moment, trace)
        except OSError as error:
            self.trouble, self._written = error, time.perf_counter()
        else:
            self.trouble = None

    def write(self, process: Process[object], moment: Moment, trace: Trace) -> None:
        """Keep a process and its run as they are now."""
        run: State = {
            "steps": moment.steps,
            "seconds": trace.earlier + moment.seconds,
            "trace": np.array(trace.points, np.float64).reshape(-1, 3),
            "count": trace.count,
            "stride": trace.stride,
        }
        state = inside("run", run) | inside("process", process.save())
        save(self.path, state, self.signature)
        self._written = time.perf_counter()


def save(path: Path, state: State, signature: Signature) -> None:
    """Write a state and the signature of its run to a file, in one piece.

    Parameters
    ----------
    path : Path
        The file; one that exists is replaced.
    state : State
        Arrays, numbers and texts by name. An array without dimensions comes back as a number.
    signature : mapping of str to str, int or float
        What must be the same for the state to be of use.
    """
    values = inside("signature", dict(signature)) | inside("state", state)
    members = {name: _array(name, value) for name, value in values.items()}
    members |= {"format": np.asarray(FORMAT), "digest": np.asarray(_digest(members))}
    # mkstemp makes a file that only its owner can read.
    handle, name = tempfile.mkstemp(prefix=".discreet-", suffix=".npz", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for key, array in members.items():
                    with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                        np.save(member, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    flush_folder(path.parent)


def load(path: Path, signature: Signature) -> State | None:
    """Read a state, or None where there is no file.

    Parameters
    ----------
    path : Path
        The file.
    signature : mapping of str to str, int or float
        What the file must have been made with.

    Raises
    ------
    CheckpointDamaged
        The file cannot be understood.
    CheckpointMismatch
        The file was made with another signature, or in another format.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    with file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                members: State = {name: archive[name] for name in archive.files}
            made = _scalar(members.pop("format"))
            # What was changed in any way, or a member that a changed table of contents hides.
            intact = made != FORMAT or _scalar(members.pop("digest")) == _digest(members)
            kept = {key: _scalar(array) for key, array in part("signature", members).items()}
        except Exception:
            # Damaged bytes fail in as many ways as there are readers below, and the errors of these can quote data.
            raise CheckpointDamaged(path) from None
    if not intact:
        raise CheckpointDamaged(path)
    if made != FORMAT:
        raise CheckpointMismatch("format", made, FORMAT)
    for key in [*signature, *kept]:
        if key not in kept or key not in signature or kept[key] != signature[key]:
            raise CheckpointMismatch(key, kept.get(key), signature.get(key))
    state = part("state", members)
    return {key: value if np.ndim(value) else _scalar(value) for key, value in state.items()}


def seconds_kept(path: Path) -> float:
    """For how many seconds the run in a file had searched; 0 where there is none that can be read."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return float(archive["state.run.seconds"])
    except Exception:  # damaged bytes fail in as many ways as there are readers below
        return 0.0


def _digest(members: Mapping[str, Any]) -> str:
    """A digest of all members: their names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(members):
        array = np.ascontiguousarray(members[name])
        digest.update(f"{name}\0{array.dtype.str}\0{np.shape(members[name])}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _array(key: str, value: NDArray[Any] | int | float | str) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(
            f"{key} cannot be kept: it is neither an array of plain values nor a number of 64 bits nor a text"
        )
    if isinstance(value, str) and array.item() != value:
        raise ValueError(f"{key} cannot be kept: a text must not end with a zero byte")
    return array


def _scalar(array: object) -> str | int | float:
    return cast("str | int | float", np.asarray(array).item())


def flush_folder(folder: Path) -> None:
    """See to it that a file's new name is on the disk too."""
    # Not every system lets a folder be opened; the rename is done either way.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def to_text(rng: np.random.Generator) -> str:
    """The state of a generator.

    Parameters
    ----------
    rng : numpy.random.Generator
        With any of numpy's bit generators.
    """
    return json.dumps(rng.bit_generator.state, default=_plain)


def from_text(rng: np.random.Generator, text: str) -> None:
    """Put a generator into a state that one of its kind was in.

    Parameters
    ----------
    rng : numpy.random.Generator
        The generator to change.
    text : str
        What `to_text` gave.
    """
    rng.bit_generator.state = json.loads(text)


def _plain(value: Any) -> Any:
    """Arrays and numpy's own numbers, which some bit generators have in their state."""
    return value.tolist()
