"""Many runs of one task: on all processors, each done once, kept on disk as they end.

A study that is interrupted goes on where it was. A process does as many runs in a row as are worth handing over.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType

import polars as pl

from discreet.errors import DiscreetError, InputError, whole
from discreet.executors import make_processes, open_pool, single_threaded
from discreet.release.atomic import make_folder
from discreet.text import duration

Scalar = str | int | float | bool | None
Flat = Mapping[str, Scalar]

FILE = "runs.jsonl"


def key(settings: Flat) -> str:
    """The one text that stands for some settings, whatever their order."""
    return json.dumps(dict(settings), sort_keys=True, ensure_ascii=False)


class Store:
    """A folder with a file of one line per run: its settings and its result.

    A line counts once its end is on the disk. What a killed process left of a line is cut off when the file is opened
    again, and the run is done again; a run whose line is there is not.

    Parameters
    ----------
    folder : Path
        The folder; made if it is not there.
    about : mapping
        What all runs have in common (the data, k, the version). A folder with runs about something else is refused.
    """

    def __init__(self, folder: Path, about: Flat) -> None:
        self.file = folder / FILE
        self.done: dict[str, dict[str, Scalar]] = {}
        try:
            make_folder(folder)
            self._handle = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(
                f"{self.file}: the runs cannot be kept ({error.strerror}); choose another folder"
            ) from None
        try:
            self._lock()
            self._read(about)
        except BaseException:
            os.close(self._handle)
            raise

    def _lock(self) -> None:
        """Keep a second study out of the same file; the system lets go of the lock when a process dies."""
        try:
            import fcntl
        except ImportError:  # a system without such locks
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{self.file}: another study is writing to it; wait for its end, or choose another folder"
            ) from None

    def _read(self, about: Flat) -> None:
        content = self.file.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the process was killed within a line
            os.ftruncate(self._handle, whole)
        os.lseek(self._handle, 0, os.SEEK_END)
        lines = content[:whole].splitlines()
        if not lines:
            self._write([{"about": dict(about)}])
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                if number == 1:
                    self._check(entry["about"], about)
                else:
                    self.done.setdefault(key(entry["settings"]), entry["result"])
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(
                    f"{self.file}, line {number}: the line is damaged; delete it, and the run is done again"
                    if number > 1
                    else f"{self.file}: this is no file of runs; choose another folder"
                ) from None

    def _check(self, kept: Flat, about: Flat) -> None:
        for name in (*about, *(name for name in kept if name not in about)):
            if kept.get(name) != about.get(name):
                raise InputError(
                    f"{self.file}: these runs have another {name} ({kept.get(name)}, now {about.get(name)}); choose "
                    "another folder, or remove this one to begin anew"
                )

    def append(self, runs: Iterable[tuple[Flat, Flat]]) -> None:
        """Keep runs: they are on the disk when this returns."""
        runs = list(runs)
        self._write([{"settings": dict(settings), "result": dict(result)} for settings, result in runs])
        for settings, result in runs:
            self.done[key(settings)] = dict(result)

    def _write(self, entries: Iterable[Mapping[str, object]]) -> None:
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries).encode()
        try:
            while text:
                text = text[os.write(self._handle, text) :]
            os.fsync(self._handle)
        except OSError as error:
            raise InputError(
                f"{self.file}: a run could not be kept ({error.strerror}); those before it are there, and the study "
                "goes on from them when it is started again"
            ) from None

    def close(self) -> None:
        """Let others use the file."""
        with contextlib.suppress(OSError):
            os.close(self._handle)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Task = Callable[[Flat], Mapping[str, object]]
Done = list[tuple[Flat, Flat]]

# Seconds of work that are handed over, and kept, at a time.
SECONDS_AT_ONCE = 0.25
MOST_AT_ONCE = 500

_task: Task | None = None


def work(
    task: Task,
    settings: Sequence[Flat],
    processes: int,
    *,
    cluster: str | None = None,
    executor: Executor | None = None,
) -> Iterator[Done]:
    """Do runs, in handfuls; they come back as they end, in no particular order.

    Parameters
    ----------
    task : callable
        Makes flat results of flat settings. With several processes it is pickled, once for each.
    settings : sequence of dicts
        One for each run.
    processes : int
        How many processes work; 1 is this one.
    cluster, executor
        Where the runs are done instead, as `open_pool` takes it.
    """
    if cluster is not None or executor is not None:
        yield from _work_elsewhere(task, settings, cluster, executor)
    elif processes == 1 or len(settings) < 2:
        yield from _work_here(task, settings)
    else:
        yield from _work_in_processes(task, settings, min(processes, len(settings)))


def _work_here(task: Task, settings: Sequence[Flat]) -> Iterator[Done]:
    handful: Done = []
    start = time.perf_counter()
    for setting in settings:
        handful.append((setting, _run_one(task, setting)))
        if time.perf_counter() - start > SECONDS_AT_ONCE:
            yield handful
            handful, start = [], time.perf_counter()
    if handful:
        yield handful


def _work_in_processes(task: Task, settings: Sequence[Flat], processes: int) -> Iterator[Done]:
    place, size = 0, 1
    running: set[Future[tuple[Done, float]]] = set()
    with single_threaded():
        pool = make_processes(processes, _keep_task, task)
        try:
            while place < len(settings) or running:
                while place < len(settings) and len(running) < 2 * processes:
                    # The last handfuls are small, so that all processes end together.
                    count = max(1, min(size, (len(settings) - place) // (2 * processes)))
                    running.add(pool.submit(_run_several, settings[place : place + count]))
                    place += count
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    done, seconds = future.result()
                    size = max(1, min(MOST_AT_ONCE, int(SECONDS_AT_ONCE / max(seconds / len(done), 1e-6))))
                    yield done
        except BrokenProcessPool:
            raise DiscreetError(
                "a process that did runs was ended from outside, perhaps because memory was short; runs that are kept "
                "are not lost: start again, with fewer threads"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _keep_task(task: Task) -> None:
    global _task
    _task = task


def _work_elsewhere(
    task: Task, settings: Sequence[Flat], cluster: str | None, executor: Executor | None
) -> Iterator[Done]:
    """Do runs on a cluster or an executor, one at a time: what is worth a cluster is worth handing over alone."""
    with open_pool(cluster=cluster, executor=executor) as pool:
        for place, result in pool.each(_run_one, [(task, setting) for setting in settings]):
            yield [(settings[place], result)]


def _run_several(settings: Sequence[Flat]) -> tuple[Done, float]:
    assert _task is not None
    start = time.perf_counter()
    return [(setting, _run_one(_task, setting)) for setting in settings], time.perf_counter() - start


def _run_one(task: Task, setting: Flat) -> Flat:
    """The result as plain Python: numpy's numbers cannot be written as JSON."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in task(setting).items()}  # type: ignore[misc]


# Told how far along the runs are, in [0, 1], and how many seconds are left.
Progress = Callable[[str, float], None]


def run_all(
    task: Task,
    settings: Sequence[Flat],
    *,
    store: Path | None = None,
    about: Flat | None = None,
    threads: int = 1,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Do a task once for each of some settings.

    Parameters
    ----------
    task : callable
        Makes a flat dict of results of a flat dict of settings, from these alone. For several processes it must be
        picklable: a function of a module, or a `functools.partial` of one with the data.
    settings : sequence of dicts
        One for each run; no two alike.
    store : Path, optional
        A folder in which runs are kept as they end. Runs that are there already are not done again.
    about : mapping, optional
        What the runs have in common, such as a digest of the data; the store refuses runs about something else.
    threads : int
        How many processes work side by side; the result does not depend on it.
    cluster : str, optional
        The address of a Dask scheduler whose workers do the runs.
    executor : concurrent.futures.Executor, optional
        Whatever else does the runs.
    progress : callable, optional
        Told the stage, with the time that is left, and how far along the runs are, in [0, 1].

    Returns
    -------
    polars.DataFrame
        A row for each of the settings, in their order: settings and results.
    """
    whole("threads", threads, 1)
    keys = [key(setting) for setting in settings]
    if len(set(keys)) < len(keys):
        raise InputError("two of the runs have the same settings; each run needs its own, a seed at least")
    with nullcontext() if store is None else Store(store, about or {}) as kept:
        done: dict[str, dict[str, Scalar]] = {} if kept is None else kept.done
        left = [setting for setting, name in zip(settings, keys, strict=True) if name not in done]
        before, start = len(keys) - len(left), time.perf_counter()
        ended = 0
        for handful in work(task, left, threads, cluster=cluster, executor=executor):
            if kept is None:
                done |= {key(setting): dict(result) for setting, result in handful}
            else:
                kept.append(handful)
            ended += len(handful)
            if progress is not None:
                pace = (time.perf_counter() - start) / ended
                stage = f"running, {duration(pace * (len(left) - ended))} left"
                progress(stage, (before + ended) / len(keys))
        rows = [_row(setting, done[name]) for setting, name in zip(settings, keys, strict=True)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _row(settings: Flat, result: Flat) -> dict[str, Scalar]:
    both = set(settings) & set(result)
    if both:
        raise ValueError(f"{', '.join(sorted(both))} is a setting and a result")
    return {**settings, **result}
