"""The loop that every search runs in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from discreet.evolution.checkpoint import Checkpoint
from discreet.evolution.interrupt import interruptible
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

    Returns
    -------
    Outcome
        Steps, seconds, the reason for the end and the trace.
    """
    listeners = tuple(listeners)
    steps, trace = (0, Trace()) if checkpoint is None else checkpoint.restore(process)
    start = time.perf_counter()
    moment = Moment(steps, 0.0, process.cost)
    trace.note(moment.steps, moment.seconds, moment.cost)
    fraction = 0.0
    with interruptible() as interrupt:
        # An interrupt before the first epoch waits for its end: there may be no answer yet.
        reason = "finished" if process.finished else stop(moment)
        for _ in process.epochs() if reason is None else ():
            moment = moment.after(time.perf_counter() - start, process.cost)
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
            checkpoint.write(process, moment, trace)
    return Outcome(moment.steps, time.perf_counter() - start, reason or "finished", trace.points)
