"""The work folder of a large protection: every result is a file that appears whole, and whose presence means done.

Files are written under a name of their own, flushed, and renamed. A task that runs twice at once writes the same bytes
under the same name, whoever is last.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from discreet.data.memory import write_size
from discreet.errors import InputError
from discreet.own import is_own, is_vouched, read_plain, vouch, withdraw
from discreet.release.atomic import WriteError

_ROWS = 1 << 16
# The file by which work that this user has begun is told from work that came with a folder.
BEGUN = "begun"


class Damaged(WriteError):  # noqa: N818 - the work is, and the next run mends it
    """A file of the work folder is not as it was written; what it says is forgotten, so that it is made anew."""

    code = "damaged"


class Work:
    """A folder for the files of one protection, readable by its owner only.

    Parameters
    ----------
    folder : Path
        The folder.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def make(self) -> None:
        """Make the folder, if it is not there yet; one that this user has not begun is not gone on with."""
        with self._writing("the work folder"):
            self.folder.mkdir(mode=0o700, exist_ok=True)
            is_new = {path.name for path in self.folder.iterdir()} <= {BEGUN}
            if is_new and is_own(self.folder, closed=True):
                token = secrets.token_hex(16)
                with suppress(InputError):  # without a folder of state it cannot go on after a break
                    vouch(*self._signed_parts(token.encode()))
                self.place(BEGUN, lambda path: _write_bytes(path, token.encode()))
                return
        if not self._is_signed:
            raise InputError(
                f"{self.folder}: you have not begun this work here, or the folder was moved or opened to others; "
                "remove it to begin anew"
            )

    def remove(self) -> None:
        """Remove the folder: the work is done."""
        with suppress(OSError):
            withdraw(*self._signed_parts(read_plain(self.path(BEGUN))))
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _is_signed(self) -> bool:
        if not is_own(self.folder, closed=True) or any(path.is_symlink() for path in self.folder.rglob("*")):
            return False
        try:
            return is_vouched(*self._signed_parts(read_plain(self.path(BEGUN))))
        except OSError:
            return False

    def _signed_parts(self, token: bytes) -> tuple[str | bytes, ...]:
        return "work", str(self.folder.parent.resolve() / self.folder.name), token

    def path(self, name: str) -> Path:
        """Where a file of the work stands."""
        return self.folder / name

    def has(self, name: str) -> bool:
        """Whether a file is there, and so whole."""
        return self.path(name).exists()

    def forget(self, *names: str) -> None:
        """Remove files, so that what made them is done again."""
        for name in names:
            with suppress(FileNotFoundError):
                self.path(name).unlink()

    def read(self, name: str) -> Any:
        """What a JSON file holds."""
        try:
            return json.loads(self.path(name).read_text(encoding="utf-8"))
        except (ValueError, OSError):
            self.forget(name)
            raise Damaged(describe_damage(name)) from None

    def write(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON file."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        self.place(name, lambda path: _write_bytes(path, text))

    def read_frame(self, name: str) -> pl.DataFrame:
        """The records of an Arrow file, not copied but mapped into memory."""
        try:
            with pa.memory_map(str(self.path(name))) as file:
                table = pa.ipc.open_file(file).read_all()
            table.validate(full=True)
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)
            return frame
        except (pa.ArrowException, OSError, ValueError):
            # What says that it is there is forgotten, so that it is made anew.
            if name.startswith("look-"):
                self.forget(f"{name[:10]}.json")
            elif not name.startswith(("block-", "homes-", "rows-")):
                self.forget("request.json" if name == "schema.arrow" else "picture.json")
            raise Damaged(describe_damage(name)) from None

    def read_rows(self, name: str, begin: int, end: int) -> pl.DataFrame:
        """Some rows of an Arrow file; the others are not looked at."""
        try:
            with pa.memory_map(str(self.path(name))) as file:
                table = pa.ipc.open_file(file).read_all().slice(begin, end - begin)
            table.validate(full=True)
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)
            return frame
        except (pa.ArrowException, OSError, ValueError):
            raise Damaged(describe_damage(name)) from None

    def read_batch(self, name: str, place: int) -> pl.DataFrame:
        """One record batch of an Arrow file."""
        try:
            with pa.OSFile(str(self.path(name))) as file:
                table = pa.Table.from_batches([pa.ipc.open_file(file).get_batch(place)])
            table.validate(full=True)
            frame = pl.from_arrow(table)
            assert isinstance(frame, pl.DataFrame)
            return frame
        except (pa.ArrowException, OSError, ValueError, IndexError):
            raise Damaged(describe_damage(name)) from None

    def write_frames(self, name: str, frames: Sequence[pl.DataFrame]) -> None:
        """Write frames as record batches of one Arrow file, a batch each."""

        def fill(path: Path) -> None:
            schema = _arrow(frames[0]).schema
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
                for frame in frames:
                    writer.write_batch(_arrow(frame).combine_chunks().to_batches()[0])

        self.place(name, fill)

    def write_frame(self, name: str, frame: pl.DataFrame) -> None:
        """Write a frame as an Arrow file of moderate batches."""

        def fill(path: Path) -> None:
            table = _arrow(frame)
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=_ROWS)

        self.place(name, fill)

    def place(self, name: str, fill: Callable[[Path], None]) -> None:
        """Let a function write a file under a name of its own, and give it its name when it is whole."""
        target = self.path(name)
        own = target.with_name(f".{secrets.token_hex(8)}-{target.name}")
        try:
            with self._writing(name):
                os.close(os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                fill(own)
                with own.open("rb+") as file:
                    os.fsync(file.fileno())
                own.replace(target)
        finally:
            with suppress(OSError):
                own.unlink()

    def sweep(self) -> None:
        """Remove what a process that was killed left half-written."""
        for path in sorted(self.folder.rglob(".*-*")):
            with suppress(OSError):
                path.unlink()

    def check_room(self, needed: float) -> None:
        """Refuse work for which there is no room on the disk."""
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise InputError(
                f"{self.folder.parent}: the work needs some {write_size(needed)} of disk, and {write_size(free)} are "
                "free; make room, or choose an output on another disk"
            )

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            known = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
            # Arrow gives the number in the text only.
            full = error.errno is None and "[errno 28]" in str(error).lower()
            why = "the disk is full" if full else known.get(error.errno or 0)
            why = why or (os.strerror(error.errno) if error.errno else "the system refused it")
            raise WriteError(
                f"{self.folder.name}/{name} could not be written: {why}. Nothing was published; what is done is kept: "
                "free some space and start again"
            ) from None


def describe_damage(name: str) -> str:
    """What is told of a file that is not as it was written."""
    return f"{name} of the work folder is damaged or missing. Nothing was published; start again: it is made anew"


def _write_bytes(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)


def _arrow(frame: pl.DataFrame) -> Any:
    return frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())


def checksum(frame: pl.DataFrame) -> int:
    """A number for the records of a frame in whatever order: the sum of a hash of each, modulo 2^64."""
    if not frame.width or not frame.height:
        return 0
    return int(np.add.reduce(frame.hash_rows(seed=0).to_numpy()))
