"""How much memory there is, whether work fits into it, and how large a file may become when it is unpacked."""

from __future__ import annotations

import ctypes
import gc
import gzip
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import polars as pl
import pyarrow as pa

from discreet.errors import InputError

GIGABYTE = 1_000_000_000
# What a file may hold once it is unpacked, where nothing is said: so much, or so many times its size if that is more.
DEFAULT_SIZE, TIMES_THE_FILE = 4 * GIGABYTE, 100
# Of so many records what is left behind counts.
LARGE = 100_000
_PIECE = 1 << 24
_UNITS = {"": 1, "B": 1, "KB": 1_000, "MB": 1_000_000, "GB": GIGABYTE, "TB": 1_000 * GIGABYTE}


def parse_size(size: int | str) -> int:
    """Bytes that a user meant, as 8GB or a number."""
    found = re.fullmatch(r"\s*(\d{1,15})\s*([KMGT]?B?)\s*", str(size).upper())
    if isinstance(size, bool) or not found or int(found[1]) == 0:
        raise InputError("max_size must be a number of bytes, or as 500MB or 8GB")
    unit = found[2] if found[2] in _UNITS else f"{found[2]}B"
    return int(found[1]) * _UNITS[unit]


def largest_size(path: Path, said: int | str | None) -> int:
    """How many bytes a file may hold once it is unpacked."""
    return max(DEFAULT_SIZE, TIMES_THE_FILE * path.stat().st_size) if said is None else parse_size(said)


def check_size(path: Path, size: int, most: int, advice: str = "") -> None:
    """Refuse a file that is larger than allowed once it is unpacked."""
    if size > most:
        advice = advice or f"allow more with --max-size, such as {write_size(2 * size)}"
        raise InputError(
            f"{path.name} holds more than {write_size(most)} once it is unpacked; if that is right, {advice}"
        )


def unpack_gzip(path: Path, most: int, advice: str = "") -> bytes:
    """The content of a file packed by gzip; refused as soon as it is larger than allowed."""
    pieces, size = [], 0
    try:
        with gzip.open(path) as file:
            while piece := file.read(_PIECE):
                size += len(piece)
                check_size(path, size, most, advice)
                pieces.append(piece)
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path.name} is damaged or cut off, or not packed by gzip; pack it again") from None
    return b"".join(pieces)


def write_size(size: float) -> str:
    """Bytes in words."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g}{unit}"
    return f"{size:.0f}B"


@contextmanager
def allocating(name: str) -> Iterator[None]:
    """Turn a failure to allocate memory, in whatever library, into our own words."""
    try:
        with _muffling_panics():
            yield
    except (MemoryError, pa.ArrowMemoryError):
        raise InputError(
            f"{name}: there is not enough memory to read it; close other programs, take a larger machine, or keep "
            "only the columns that are needed"
        ) from None
    except (pl.exceptions.PanicException, pl.exceptions.PolarsError, pa.ArrowException):
        raise InputError(
            f"{name}: it holds something that cannot be worked with, or is damaged; save it again"
        ) from None


@contextmanager
def _muffling_panics() -> Iterator[None]:
    """Keep from the terminal what polars prints of a panic before Python hears of it, for it may hold a value."""
    with ExitStack() as stack:
        try:
            held = stack.enter_context(tempfile.TemporaryFile())
            terminal = os.dup(2)
        except OSError:  # there is no terminal, or no room: then nobody reads it, or nothing can be done
            yield
            return
        sys.stderr.flush()
        os.dup2(held.fileno(), 2)
        is_panic = False
        try:
            yield
        except pl.exceptions.PanicException:
            is_panic = True
            raise
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)
            held.seek(0)
            said = b"" if is_panic else held.read()
            if said:
                with suppress(OSError):
                    os.write(2, said)


def give_back(records: int) -> None:
    """Give the system back what a finished stage with many records no longer needs.

    That is what lies in cycles of references, and what the allocators of Arrow and of the C library keep for later: of
    a million records hundreds of megabytes.
    """
    if records <= LARGE:
        return
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def available() -> int | None:
    """Bytes of memory that are there for us, by system, container and limits of the process; None if unknown.

    What the system keeps of files is given up when it is needed, so it counts as there.
    """
    free = re.search(r"^MemAvailable:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    found = [int(free[1]) * 1024] if free else []
    for folder, most, used, kept in _CONTAINERS:
        limit, usage = _read(f"{folder}/{most}").strip(), _read(f"{folder}/{used}").strip()
        cache = re.search(rf"^{kept} (\d+)", _read(f"{folder}/memory.stat"), re.MULTILINE)
        if limit.isdigit() and usage.isdigit():
            found.append(int(limit) - int(usage) + (int(cache[1]) if cache else 0))
    return max(0, min(found + _limit_of_process())) if found else None


# Where a container's limit, use and kept files stand, in the two versions of control groups.
_CONTAINERS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"),
)


def _limit_of_process() -> list[int]:
    try:
        import resource
    except ImportError:  # not on Windows
        return []
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    used = _read("/proc/self/statm").split()
    return [] if limit == resource.RLIM_INFINITY or not used else [limit - int(used[0]) * resource.getpagesize()]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
