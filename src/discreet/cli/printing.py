"""What a command prints: results to standard output, all else to standard error. Printing never fails a command.

The exit status is settled before anything is printed: a reader who has left, a stream that is closed or full, or an
encoding that lacks a letter changes nothing about it.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from discreet.text import as_json, printable

# So that a file which is opened later cannot take the place of a standard stream that is closed.
STREAMS = {0: ("stdin", "r"), 1: ("stdout", "w"), 2: ("stderr", "w")}


def open_streams() -> None:
    """Give closed standard streams somewhere to go, and let no letter be one that a stream cannot write."""
    for number, (name, mode) in STREAMS.items():
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def show(text: str) -> None:
    """Print a result."""
    _print(printable(text), sys.stdout)


def show_json(content: Mapping[str, Any] | list[Any]) -> None:
    """Print a result as JSON, whatever standard output can encode."""
    text = as_json(content)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = as_json(content, ascii_only=True)
    _print(text, sys.stdout)


def tell(text: str) -> None:
    """Print what is no result: progress, notes, warnings, errors, and summaries of what was written."""
    _print(printable(text), sys.stderr)


def _print(text: str, stream: TextIO | None) -> None:
    if stream is None:
        return
    try:
        try:
            stream.write(f"{text}\n")
        except UnicodeEncodeError:
            known = stream.encoding or "ascii"
            stream.write(text.encode(known, "backslashreplace").decode(known) + "\n")
        stream.flush()
    except (OSError, ValueError, KeyboardInterrupt) as error:  # full, left, closed, or somebody waits no longer
        silence(stream)
        if stream is sys.stdout and isinstance(error, OSError) and error.errno not in (errno.EPIPE, errno.ESHUTDOWN):
            tell(f"discreet: standard output could not be written ({os.strerror(error.errno or errno.EIO)})")


def silence(stream: TextIO | None) -> None:
    """Let what is still buffered for a stream go nowhere, so that the process can end without a complaint."""
    try:
        if stream is not None:
            empty = os.open(os.devnull, os.O_WRONLY)
            os.dup2(empty, stream.fileno())
            os.close(empty)
    except (OSError, ValueError):
        pass  # no stream of the system
