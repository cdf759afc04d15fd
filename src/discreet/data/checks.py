"""Checks that every file format shares. No message here ever repeats the text of a library's exception."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from discreet.errors import InputError

# At most this many columns or lines are listed in a message; the rest are counted.
SHOWN = 5


def itemize(items: Sequence[str]) -> str:
    """Join the first few items with commas and count the rest."""
    rest = len(items) - SHOWN
    return ", ".join(items[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def check_path(path: Path | str) -> None:
    """Refuse a path that no file can have: one that is too long, or has a zero byte."""
    try:
        os.stat(path)  # noqa: PTH116 - a Path would do the same
    except ValueError:
        why = "a zero byte"
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            return  # whether it is there is asked by whoever opens it
        why = "a name that is too long"
    else:
        return
    raise InputError(f"{str(path)[:20]!r}… has {why}, which no file has; check the name")


def check_readable(path: Path) -> None:
    """Refuse a path that is not a file we may read, or one with nothing in it."""
    check_path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; name a file in it")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name and the folder") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    if empty:
        raise InputError(f"{path.name} is empty (0 bytes); is it the right file, and was it saved completely?")


def settle_header(path: Path, doubt: str, first: str = "line") -> None:
    """Refuse a file of which nobody said whether its first line names the columns, where there is a doubt."""
    if doubt:
        raise InputError(
            f"{path.name}: the first {first} may be a record or the names of the columns ({doubt}); say which with "
            "--header yes or --header no (in Python, read(path, header=True) of discreet.data.files)"
        )


def name_index(names: Sequence[str]) -> list[str]:
    """Column names with one for a first column that has none: pandas and R write the labels of rows so."""
    if len(names) < 2 or names[0].strip():
        return list(names)
    free = (name for name in ("index", *(f"index_{i}" for i in range(1, len(names) + 1))) if name not in names)
    return [next(free), *names[1:]]


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse blank and repeated column names."""
    blank = [str(i) for i, name in enumerate(names, 1) if not name.strip()]
    if blank:
        raise InputError(f"{path.name}: no name for column {itemize(blank)}; give every column a name")
    places: dict[str, list[str]] = {}
    for position, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(position))
    repeated = {name: at for name, at in places.items() if len(at) > 1}
    if repeated:
        told = itemize([f"'{name}' (columns {', '.join(at)})" for name, at in repeated.items()])
        raise InputError(f"{path.name}: column names occur more than once: {told}; give every column its own name")


def check_rows(path: Path, rows: int) -> None:
    """Refuse a file without records."""
    if rows == 0:
        raise InputError(f"{path.name} has column names but no records; there is nothing to protect")


_UNITS_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def find_outside_calendar(column: pl.Series) -> pl.Series:
    """The rows of a column of dates that lie outside the years 1 to 9999, which no library writes alike."""
    unit = _UNITS_PER_DAY.get(getattr(column.dtype, "time_unit", ""), 1)
    numbers = column.to_physical().cast(pl.Int64)
    outside = (numbers < -719_162 * unit) | (numbers >= 2_932_897 * unit) if unit < 10**12 else pl.Series([False])
    return outside.fill_null(False).arg_true()


def extra(module: str, doing: str) -> Any:
    """Import a module of the `formats` extra, or say how to install it; `doing` is such as "reading Stata files"."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{doing} needs the 'formats' extra: pip install 'discreet[formats]'") from None


_ROOM = 1 << 16


def check_room(path: Path) -> None:
    """Refuse, in the words of the file system, a file that cannot grow: libraries that write it do not say why."""
    with writing(path), path.open("ab") as file:
        end = file.tell()
        file.write(bytes(_ROOM))
        file.flush()
        os.fsync(file.fileno())
        file.truncate(end)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure of the file system while writing `path` into our own words."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file system refused"
        raise InputError(f"{path} cannot be written ({reason}); check the folder, its permissions and space") from None
