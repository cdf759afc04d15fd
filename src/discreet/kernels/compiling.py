"""Compiling without being interrupted."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep a Ctrl-C and its like back until the block ends.

    While a kernel is compiled or loaded from its cache, LLVM calls back into Python; an interrupt that is raised there
    cannot pass through it and brings the whole process down.
    """
    # Those that Python does not handle end the process anyway, or are somebody else's.
    handled = {number: signal.getsignal(number) for number in SIGNALS if callable(signal.getsignal(number))}
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept: list[int] = []
    for number in handled:
        signal.signal(number, lambda told, _frame: kept.append(told))
    try:
        yield
    finally:
        for number, previous in handled.items():
            signal.signal(number, previous)
        if kept:
            signal.raise_signal(kept[0])
