"""Processes that each do one run at a time, and as many runs in a row as make the way to them worth while."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from discreet.errors import DiscreetError
from discreet.experiments.store import Flat

Task = Callable[[Flat], Mapping[str, object]]
Done = list[tuple[Flat, Flat]]

# Seconds of work that are handed over, and kept, at a time.
HANDFUL = 0.25
MOST = 500
# Processes work side by side on runs: within a run one thread is enough.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_task: Task | None = None


def work(task: Task, settings: Sequence[Flat], processes: int) -> Iterator[Done]:
    """Do runs, in handfuls; they come back as they end, in no particular order.

    Parameters
    ----------
    task : callable
        Makes flat results of flat settings. With several processes it is pickled, once for each.
    settings : sequence of dicts
        One for each run.
    processes : int
        How many processes work; 1 is this one.
    """
    if processes == 1 or len(settings) < 2:
        yield from _here(task, settings)
    else:
        yield from _there(task, settings, min(processes, len(settings)))


def _here(task: Task, settings: Sequence[Flat]) -> Iterator[Done]:
    handful: Done = []
    start = time.perf_counter()
    for setting in settings:
        handful.append((setting, _result(task, setting)))
        if time.perf_counter() - start > HANDFUL:
            yield handful
            handful, start = [], time.perf_counter()
    if handful:
        yield handful


def _there(task: Task, settings: Sequence[Flat], processes: int) -> Iterator[Done]:
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    place, size = 0, 1
    running: set[Future[tuple[Done, float]]] = set()
    with _single_threaded():
        pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin, initargs=(task,))
        try:
            while place < len(settings) or running:
                while place < len(settings) and len(running) < 2 * processes:
                    # The last handfuls are small, so that all processes end together.
                    count = max(1, min(size, (len(settings) - place) // (2 * processes)))
                    running.add(pool.submit(_some, settings[place : place + count]))
                    place += count
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    done, seconds = future.result()
                    size = max(1, min(MOST, int(HANDFUL / max(seconds / len(done), 1e-6))))
                    yield done
        except BrokenProcessPool:
            raise DiscreetError(
                "a process that did runs was ended from outside, perhaps because memory was short; runs that are kept "
                "are not lost: start again, with fewer threads"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(task: Task) -> None:
    # Ctrl-C reaches all processes of a terminal; the first one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    global _task
    _task = task


def _leave_with_parent() -> None:
    """End this process if the first one dies: it would wait for work for ever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _some(settings: Sequence[Flat]) -> tuple[Done, float]:
    assert _task is not None
    start = time.perf_counter()
    return [(setting, _result(_task, setting)) for setting in settings], time.perf_counter() - start


def _result(task: Task, setting: Flat) -> Flat:
    """The result as plain Python: numpy's numbers cannot be written as JSON."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in task(setting).items()}  # type: ignore[misc]


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that start now compute on one thread each; they read this when they load the libraries."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
