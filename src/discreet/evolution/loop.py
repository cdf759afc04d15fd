"""The loop that every search runs in, and how a run is interrupted without losing what it has found."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from discreet.evolution.checkpoint import Checkpoint
from discreet.evolution.process import Process
from discreet.evolution.stops import Moment, Point, Stop, Trace

Listener = Callable[[Moment, float], None]


@dataclass(frozen=True)
class Outcome:
    """How a run went.

    Parameters
    ----------
    steps : int
        Epochs done, those before a resumption included.
    seconds : float
        Seconds of this sitting.
    stopped : str
        Why it ended: "finished", "interrupted", or the reason of the stop.
    trace : tuple of (step, seconds, cost)
        When the best cost fell, in at most 200 points; the seconds are those of all sittings.
    """

    steps: int
    seconds: float
    stopped: str
    trace: tuple[Point, ...]


def evolve(
    process: Process[object],
    stop: Stop,
    *,
    listeners: Iterable[Listener] = (),
    checkpoint: Checkpoint | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Outcome:
    """Advance a process, epoch by epoch, until there is a reason to stop.

    The first Ctrl-C lets the running epoch end and stops the run; the second one raises KeyboardInterrupt.

    Parameters
    ----------
    process : Process
        The search; it holds the answer afterwards.
    stop : Stop
        Asked after each epoch, and once before the first.
    listeners : iterable of callables
        Told the moment and the progress in [0, 1], which never falls, after each epoch.
    checkpoint : Checkpoint, optional
        Where the run goes on from, and where it is kept.
    clock : callable
        Tells the seconds.

    Returns
    -------
    Outcome
        Steps, seconds, the reason for the end and the trace.
    """
    listeners = tuple(listeners)
    steps, trace = (0, Trace()) if checkpoint is None else checkpoint.restore(process)
    start = clock()
    moment = Moment(steps, 0.0, process.cost)
    trace.note(moment.steps, moment.seconds, moment.cost)
    fraction = 0.0
    with interruptible() as interrupt:
        # An interrupt before the first epoch waits for its end: there may be no answer yet.
        reason = "finished" if process.finished else stop(moment)
        for _ in process.epochs() if reason is None else ():
            moment = moment.after(clock() - start, process.cost)
            trace.note(moment.steps, moment.seconds, moment.cost)
            fraction = 1.0 if process.finished else max(fraction, stop.progress(moment))
            for listener in listeners:
                listener(moment, fraction)
            if checkpoint is not None:
                checkpoint.offer(process, moment, trace)
            reason = "finished" if process.finished else "interrupted" if interrupt.caught else stop(moment)
            if reason is not None:
                break
        if checkpoint is not None:
            checkpoint.keep(process, moment, trace)
    return Outcome(moment.steps, clock() - start, reason or "finished", trace.points)


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
