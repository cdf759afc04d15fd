"""Stopping a run by hand, without losing what it has found."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """A signal handler that remembers the first signal and lets the second one break in."""

    def __init__(self) -> None:
        self.caught = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if self.caught:
            raise KeyboardInterrupt
        self.caught = True


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Let the block look at `caught` where it can end well, instead of being broken off by the first Ctrl-C.

    Only the main thread can be interrupted; elsewhere nothing is caught. A block within another one leaves the signal
    to the outer one, so that a search inside an epoch of another search runs as far as it always does.
    """
    interrupt = Interrupt()
    previous = {number: signal.getsignal(number) for number in _caught()}
    for number in previous:
        signal.signal(number, interrupt)
    try:
        yield interrupt
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _caught() -> list[signal.Signals]:
    """The signals to catch."""
    if threading.current_thread() is not threading.main_thread():
        return []
    caught = []
    present = signal.getsignal(signal.SIGINT)
    # One that is ignored (a job in the background) stays so; None is a handler that could not be put back.
    if not isinstance(present, Interrupt) and present not in (None, signal.SIG_IGN):
        caught.append(signal.SIGINT)
    # Whoever wants these to end a program like Ctrl-C has given them its handler. Not every system has all of them.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.default_int_handler:
            caught.append(number)
    return caught
