"""Compiling without being interrupted."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep a Ctrl-C back until the block ends.

    While a kernel is compiled or loaded from its cache, LLVM calls back into Python; an interrupt that is raised there
    cannot pass through it and brings the whole process down.
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or previous is None:
        yield
        return
    kept: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: kept.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if kept:
            signal.raise_signal(signal.SIGINT)
