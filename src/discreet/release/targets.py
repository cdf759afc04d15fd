"""Where a release goes, a file or a table of a database: written, read back, and put in place when it is verified."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet._version import __version__
from discreet.data.checks import check_room
from discreet.data.databases.address import Address
from discreet.data.databases.rows import to_storable
from discreet.data.databases.staging import Staging, stage
from discreet.data.files import check_writable_format, dialect_of, read_back, sha256, write
from discreet.data.files.source import Source
from discreet.errors import DiscreetError, InputError, PromiseNotKept
from discreet.release.atomic import AtomicFiles, WriteError
from discreet.verification.promise import Promise


class Target(Protocol):
    """Where a release goes; its methods are called in this order."""

    format: str

    def open(self, files: Mapping[str, Path], *, force: bool) -> contextlib.AbstractContextManager[AtomicFiles]:
        """Begin: all appears together when the block ends well, and leaves no trace when it does not."""

    def adapt(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The records as the target can hold them."""

    def put(self, frame: pl.DataFrame) -> None:
        """Write the records, in their order."""

    def take(self, columns: Sequence[str]) -> pl.DataFrame:
        """Read back what was written."""

    def compare(self, meant: pl.DataFrame, rows: NDArray[np.int64] | None, written: pl.DataFrame) -> None:
        """Refuse what was read back if it is not what was meant, in the order of those rows."""

    def settle(self) -> None:
        """Get ready to be put in place, once the promise was verified on what was read back."""

    def describe(self) -> dict[str, Any]:
        """What the accounts say of the target."""


class FileTarget:
    """A file, in the shape of the source that the records came from."""

    def __init__(self, path: Path, source: Source | None) -> None:
        self.path = path
        self.format = check_writable_format(path)
        self._source = source

    @contextlib.contextmanager
    def open(self, files: Mapping[str, Path], *, force: bool) -> Iterator[AtomicFiles]:
        with AtomicFiles(files.values(), force=force) as atomic:
            self._temporary = atomic.temporary(self.path)
            yield atomic

    def adapt(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame

    def put(self, frame: pl.DataFrame) -> None:
        write_file(frame, self._temporary, self.path, self.format, self._source)

    def take(self, columns: Sequence[str]) -> pl.DataFrame:
        try:
            return read_back(self._temporary, self.format, self._source, columns=columns)
        except InputError as error:
            self._check_room()
            why = str(error).replace(str(self._temporary), self.path.name).replace(self._temporary.name, self.path.name)
            what = f"{self.path} could not be written: what was written cannot be read back, nothing was left behind"
            raise WriteError(f"{what}. {why}") from None

    def compare(self, meant: pl.DataFrame, rows: NDArray[np.int64] | None, written: pl.DataFrame) -> None:
        if written.columns != meant.columns or written.height != meant.height:
            self._check_room()
            raise PromiseNotKept("the file as written is not the release that was meant; it was refused and not kept")

    def settle(self) -> None:
        pass

    def describe(self) -> dict[str, Any]:
        dialect = asdict(dialect_of(self.format, self._source)) if self.format in ("csv", "tsv") else None
        return {"file": self.path.name, "sha256": sha256(self._temporary), "dialect": dialect}

    def _check_room(self) -> None:
        """Say that the disk is full where that is why a file came out short."""
        try:
            check_room(self._temporary)
        except InputError as error:
            raise WriteError(str(error).replace(self._temporary.name, self.path.name)) from None


class TableTarget:
    """A table of a database: one transaction, committed when all files about the release are in place."""

    def __init__(self, address: Address, promise: Promise, source: Source | None, connection: Any = None) -> None:
        self.address = address
        self.format = address.system
        self._promise, self._source, self._connection = promise, source, connection
        self._staged: Staging

    @contextlib.contextmanager
    def open(self, files: Mapping[str, Path], *, force: bool) -> Iterator[AtomicFiles]:
        beside = [path for name, path in files.items() if name != "release"]
        with stage(self.address, force=force, connection=self._connection) as self._staged:
            self._place = self._staged.describe()
            if self._source is not None and self._source.database == self._place:
                raise InputError(f"{self.address.name} is the input itself, which is never written over")
            with AtomicFiles(beside, force=force, finish=self._staged.commit) as atomic:
                yield atomic

    def adapt(self, frame: pl.DataFrame) -> pl.DataFrame:
        return to_storable(frame, self.format)

    def put(self, frame: pl.DataFrame) -> None:
        self._staged.fill(frame)

    def take(self, columns: Sequence[str]) -> pl.DataFrame:
        return self._staged.read_back()

    def compare(self, meant: pl.DataFrame, rows: NDArray[np.int64] | None, written: pl.DataFrame) -> None:
        same = written.equals(meant if rows is None else meant[rows])
        if not same or self._staged.count() != meant.height:
            raise PromiseNotKept("the table as written is not the release that was meant; it was refused and not kept")

    def settle(self) -> None:
        """Let the database count by itself, and give the table its name."""
        promise = self._promise
        rare = sum(self._staged.count_rare([*promise.by, *group], promise.k) for group in promise.groups)
        if rare:
            raise PromiseNotKept(f"the release is refused: the database counts {rare:,} combinations below k")
        words = f"{promise.words()}. Released by discreet {__version__}, SHA-256 {self._staged.digest}"
        self._staged.settle(words)

    def describe(self) -> dict[str, Any]:
        return {"file": self.address.name, "sha256": self._staged.digest, "dialect": None, "database": self._place}


def write_file(frame: pl.DataFrame, path: Path, target: Path, format_name: str, like: Source | None) -> None:
    """Write a frame under a temporary name; an error names the file that it was to be."""
    try:
        write(frame, path, format_name=format_name, like=like)
    except OSError:
        raise
    except DiscreetError as error:
        # The writer knows the temporary name only.
        raise WriteError(str(error).replace(path.name, target.name)) from None
    except Exception as error:
        # A library's own message could quote a value.
        raise WriteError(f"the release could not be written as {format_name} ({type(error).__name__})") from None
