"""Long kernels run in chunks, so that Python between them can report progress and be interrupted.

A kernel keeps its whole state in arrays and stops after a given amount of work; where it stops never changes what it
computes, so the size of the chunks may follow the clock.
"""

import time
from collections.abc import Callable

from discreet.kernels.arrays import Progress

SECONDS = 0.2


def drive(advance: Callable[[int], float], progress: Progress) -> None:
    """Run a kernel to its end in chunks of about 0.2 s.

    Parameters
    ----------
    advance : callable
        Does the given units of work and returns the fraction of all work that is done; 1 or more ends the run.
    progress : callable
        Told that fraction after each chunk.
    """
    work = 1
    while True:
        start = time.perf_counter()
        done = advance(work)
        progress(min(done, 1.0))
        if done >= 1.0:
            return
        # The first chunk may include compilation, so neither growth nor shrinking follows one measurement all the way.
        ratio = SECONDS / max(time.perf_counter() - start, 1e-6)
        work = max(1, int(work * min(max(ratio, 0.25), 16.0)))


def sweep(step: Callable[[int, int], object], size: int, progress: Progress) -> None:
    """Run a kernel over the range 0 to size, stretch by stretch: `step` is given the start and end of each."""
    done = 0

    def advance(work: int) -> float:
        nonlocal done
        start, done = done, min(done + work, size)
        step(start, done)
        return done / size

    drive(advance, progress)


def part(progress: Progress, start: float, end: float) -> Progress:
    """Report a step of a larger run: its own 0 to 1 as the start to end of the whole."""
    return lambda fraction: progress(start + (end - start) * fraction)
