"""Files that appear whole or not at all: written under another name in the same folder, flushed, then renamed.

Internal files, such as tables with their confidential values, are readable by their owner only.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl
import pyarrow as pa
from pyarrow import parquet

from discreet.errors import DiscreetError, InputError
from discreet.release.ledger import PLACED
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

    Notes
    -----
    The temporary files are readable by their owner only, and so are the files they become.
    """

    def __init__(self, targets: Iterable[Path], *, force: bool = False) -> None:
        self.targets = list(targets)
        self.force = force
        self._temporary: dict[Path, Path] = {}
        # The same file can be named in several ways, through links or "..".
        if len({target.parent.resolve() / target.name for target in self.targets}) < len(self.targets):
            raise InputError("two of the files to be written have the same name; name them apart")
        for target in self.targets:
            self._check(target)

    def _check(self, target: Path) -> None:
        folder = target.parent
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; make it first or choose another")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"{folder}: this folder cannot be written to; choose another")
        if target.is_dir():
            raise InputError(f"{target} is a folder; name a file")
        if target.exists() and not self.force:
            raise InputError(f"{target} exists already; choose another name, or replace it with --force (force=True)")

    def __enter__(self) -> AtomicFiles:
        return self

    def temporary(self, target: Path) -> Path:
        """Where to write what will be `target`; it ends the same, so that the format can be told from it."""
        if target not in self._temporary:
            try:
                handle, name = tempfile.mkstemp(
                    prefix=".discreet-", suffix="".join(target.suffixes[-1:]), dir=target.parent
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
        for target in self._temporary:
            self._check(target)
        done: list[tuple[Path, Path | None]] = []
        try:
            for target, path in self._temporary.items():
                old = _set_aside(target)
                done.append((target, old))
                path.replace(target)
        except BaseException:
            for target, old in reversed(done):
                _put_back(target, old)
            raise
        PLACED.extend(self._temporary)
        for target, old in done:
            if old:
                old.unlink()
            _flush_folder(target.parent)


def spare(targets: Iterable[Path], kept: Mapping[str, Path | None]) -> None:
    """Refuse to write over a file that was read, however it is named and whatever may be replaced."""
    for target in targets:
        for what, path in kept.items():
            if path is not None and path.exists() and target.exists() and target.samefile(path):
                raise InputError(f"{target} is {what}, which is never written over; choose another name")


def _set_aside(target: Path) -> Path | None:
    """A second name for the file that is about to be replaced, so that it can come back."""
    if not target.exists():
        return None
    aside = target.with_name(f".discreet-{secrets.token_hex(8)}.old")
    try:
        os.link(target, aside)
    except OSError:
        target.replace(aside)  # a file system without hard links
    return aside


def _put_back(target: Path, old: Path | None) -> None:
    with contextlib.suppress(OSError):
        if old:
            old.replace(target)
        else:
            target.unlink()


def _flush_folder(folder: Path) -> None:
    # Not every system lets a folder be opened; the rename is done either way.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
