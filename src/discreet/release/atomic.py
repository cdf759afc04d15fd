"""Files that appear whole or not at all: written under another name in the same folder, flushed, then put in place.

Without `force` nothing is ever replaced, whoever was quicker: a file is linked to its name, which fails if the name is
taken, and not renamed. The files of a set are put in place under a lock on their folders, so that sets of two runs do
not mix, and the one that all others are about last: where it is, they are. What a process that was killed left behind
is swept by the next.

Internal files, such as tables with their confidential values, are readable by their owner only.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import platform
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import pyarrow as pa
from pyarrow import parquet

from discreet.errors import PLACED, DiscreetError, InputError
from discreet.evolution.checkpoint import flush_folder
from discreet.tabular.files.formats import render
from discreet.tabular.files.own import INTERNAL
from discreet.tabular.table import Table


class WriteError(DiscreetError):
    """A file could not be written; what was there before is as it was."""

    exit_status = 2
    code = "write"


class AtomicFiles:
    """A set of files that appear together when the block ends well, and leave no trace when it does not.

    Parameters
    ----------
    targets : iterable of Path
        The files to be made. Their folders must exist.
    force : bool
        Whether files that exist already may be replaced.
    finish : callable, optional
        What comes last, when all files are in place: if it fails, they are taken back.

    Notes
    -----
    The temporary files are readable by their owner only, and so are the files they become.
    """

    def __init__(
        self, targets: Iterable[Path], *, force: bool = False, finish: Callable[[], None] | None = None
    ) -> None:
        self.targets = list(targets)
        self.force = force
        self._finish = finish
        self._temporary: dict[Path, Path] = {}
        # The same file can be named in several ways, through links or "..".
        if len({target.parent.resolve() / target.name for target in self.targets}) < len(self.targets):
            raise InputError("two of the files to be written have the same name; name them apart")
        for target in self.targets:
            self._check(target)

    def _check(self, target: Path) -> None:
        _check_length(target)
        folder = target.parent
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; make it first or choose another")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"{folder}: this folder cannot be written to; choose another")
        if target.is_dir():
            raise InputError(f"{target} is a folder; name a file")
        if os.path.lexists(target) and not self.force:
            raise InputError(_describe_taken(target, self.targets[0]))

    def __enter__(self) -> AtomicFiles:
        return self

    def temporary(self, target: Path) -> Path:
        """Where to write what will be `target`; it ends the same, so that the format can be told from it."""
        if target not in self._temporary:
            try:
                handle, name = tempfile.mkstemp(
                    prefix=OURS.format(pid=os.getpid()), suffix="".join(target.suffixes[-1:]), dir=target.parent
                )
            except OSError as error:
                raise WriteError(_why(target, error)) from None
            os.close(handle)
            self._temporary[target] = Path(name)
        return self._temporary[target]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        except OSError as failure:
            raise WriteError(_why(self.targets[0], failure)) from None
        finally:
            for path in self._temporary.values():
                with contextlib.suppress(OSError):
                    path.unlink()
        if isinstance(error, OSError):
            raise WriteError(_why(self.targets[0], error)) from None

    def _commit(self) -> None:
        for path in self._temporary.values():
            with path.open("rb+") as file:
                os.fsync(file.fileno())
        # The release comes last: who finds it finds its record and its evidence too.
        order = sorted(self._temporary, key=lambda target: target == self.targets[0])
        with _lock({target.parent.resolve() for target in order}):
            for target in order:
                self._check(target)
            done: list[tuple[Path, Path | None]] = []
            try:
                for target in order:
                    done.append((target, _set_aside(target) if self.force else None))
                    _place(self._temporary[target], target, replace=self.force)
                if self._finish is not None:
                    self._finish()
            except FileExistsError:  # by somebody who takes no notice of the lock; that file is not ours
                taken, _ = done.pop()
                _put_back(done)
                raise InputError(_describe_taken(taken, self.targets[0])) from None
            except BaseException:
                _put_back(done)
                raise
            PLACED.extend(order)
            for target, old in done:
                if old:
                    old.unlink()
                flush_folder(target.parent)
            for folder in {target.parent for target in order}:
                sweep(folder)


# Temporary files are named after the machine and the process that writes them, so that leftovers can be told.
OURS = f".discreet-{zlib.crc32(platform.node().encode()):08x}-{{pid}}-"


def sweep(folder: Path) -> None:
    """Remove the temporary files that processes of this machine left in a folder when they were killed."""
    for path in folder.glob(OURS.format(pid="*") + "*"):
        pid = path.name.split("-")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # elsewhere nobody can be asked without harm
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True


@contextlib.contextmanager
def _lock(folders: Iterable[Path]) -> Iterator[None]:
    """Let no other process of ours put files into the folders meanwhile, where the system knows locks on folders."""
    with contextlib.ExitStack() as stack:
        for folder in sorted(folders):  # in one order, so that two processes do not wait for each other
            with contextlib.suppress(ImportError, OSError):
                import fcntl

                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _place(path: Path, target: Path, *, replace: bool) -> None:
    """Give a file its name; one that has the name already stays, unless it may be replaced."""
    if replace:
        path.replace(target)
        return
    try:
        os.link(path, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: take the name first, then replace what is ours
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        path.replace(target)


def _describe_taken(target: Path, first: Path) -> str:
    """Why a file cannot get its name; perhaps of a run that was killed while it put its files in place."""
    if target != first and not os.path.lexists(first):
        return (
            f"{target} exists already, though {first.name} does not: perhaps a run was ended before it was done; "
            "replace it with --force (force=True), or choose another name"
        )
    return f"{target} exists already; choose another name, or replace it with --force (force=True)"


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, as far as they are missing, for their owner only."""
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)


def spare(targets: Iterable[Path], kept: Mapping[str, Path | None]) -> None:
    """Refuse to write over a file that was read, however it is named and whatever may be replaced."""
    for target in targets:
        _check_length(target)
        for what, path in kept.items():
            if path is None:
                continue
            # By name too, since a checkpoint may not be there yet.
            same = path.parent.resolve() / path.name == target.parent.resolve() / target.name
            if same or (path.exists() and target.exists() and target.samefile(path)):
                raise InputError(f"{target} is {what}, which is never written over; choose another name")


def _check_length(target: Path) -> None:
    """Refuse a name that no file can have; the files beside a release have longer names than it."""
    try:
        target.lstat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"{target.name[:20]}…{target.suffix} has a name that is too long for a file; choose a shorter one"
            ) from None


def _set_aside(target: Path) -> Path | None:
    """A second name for the file that is about to be replaced, so that it can come back."""
    if not target.exists():
        return None
    aside = target.with_name(f"{OURS.format(pid=os.getpid())}{secrets.token_hex(8)}.old")
    try:
        os.link(target, aside)
    except OSError:
        shutil.copy2(target, aside)  # a file system without hard links; the name is never without a file
    return aside


def _put_back(done: list[tuple[Path, Path | None]]) -> None:
    for target, old in reversed(done):
        with contextlib.suppress(OSError):
            if old:
                old.replace(target)
            else:
                target.unlink()


def _why(target: Path, error: OSError) -> str:
    known = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EFBIG: "the file grew too large for the disk or its limits",
        errno.EACCES: "permission denied",
        errno.EROFS: "the disk is read-only",
    }
    reason = known.get(error.errno or 0, os.strerror(error.errno) if error.errno else "the system refused it")
    return (
        f"{target} could not be written: {reason}. Nothing was left behind; free some space or choose another folder."
    )


def write_table(table: Table, path: str | Path, *, force: bool = False, read: Iterable[Path] = ()) -> list[Path]:
    """Write a table in the format that the name says; it is internal.

    Parameters
    ----------
    table : Table
        The table.
    path : path
        The file: .parquet, .csv, .jj, .jj.gz, .tab, or .txt for τ-ARGUS's code-value output.
    force : bool
        Replace files that exist already.
    read : iterable of Path
        Files that the table was made from, which are never written over.

    Returns
    -------
    list of Path
        The files written; some formats take several.
    """
    return write_contents(render(table, Path(path)), force=force, read=read)


def write_contents(contents: Mapping[Path, bytes], *, force: bool = False, read: Iterable[Path] = ()) -> list[Path]:
    """Write several files together, each whole, or none of them."""
    for path in read:
        spare(contents, {f"{path.name}, a file that was read": path})
    with AtomicFiles(contents, force=force) as files:
        for path, content in contents.items():
            files.temporary(path).write_bytes(content)
    return list(contents)


def render_frame(frame: pl.DataFrame, path: Path, schema: str, about: Mapping[str, Any]) -> dict[Path, bytes]:
    """A frame of internal figures as a Parquet file, or a CSV file with its metadata beside it."""
    said = {"internal": INTERNAL, "schema": schema, **about}
    text = json.dumps(said, indent=2, ensure_ascii=False)
    if path.suffix.lower() == ".parquet":
        arrow: pa.Table = frame.to_arrow()
        buffer = io.BytesIO()
        parquet.write_table(arrow.replace_schema_metadata({schema.split("/")[1]: text}), buffer)
        return {path: buffer.getvalue()}
    beside = path.with_suffix(f".{schema.split('/')[1]}.json")
    return {path: frame.write_csv().encode(), beside: (text + "\n").encode()}
