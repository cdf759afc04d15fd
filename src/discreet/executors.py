"""Where work runs: in this process, in processes of this machine, on any `concurrent.futures.Executor`, or on Dask.

Work is given as paths and numbers and leaves its results in files; what comes back is small. A task never raises: an
exception becomes a code inside the task, since a cluster would write its text, which may quote data, into its logs.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import ipaddress
import os
import platform
import secrets
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet._version import __version__
from discreet.errors import DiscreetError, InputError
from discreet.listening import unheard
from discreet.own import safe_path

# Processes work side by side on tasks: within one a single thread is enough.
ONE_THREAD = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS",
)  # fmt: skip
# How often in a row workers may die before a task is given up; each time what was under way is begun again.
MOST_DEATHS = 5
# Seconds in which a scheduler must answer, and after which it is looked whether workers are alive.
CONNECTING, LOOKING = 10, 5
# What must be the same everywhere for the same bytes.
LIBRARIES = ("numpy", "polars", "pyarrow", "numba", "scipy")
# Workers of a cluster are started by others, in a folder that may hold modules of anybody's.
UNSAFE = (
    "a worker of the cluster would import modules that lie in its current folder; start the workers with "
    "python -P -m distributed.cli.dask_worker …, or with PYTHONSAFEPATH=1 in their environment"
)

Task = Callable[..., object]


class TaskFailed(DiscreetError):  # noqa: N818 - a failure elsewhere, told here
    """A task ended with a code; the message is ours and quotes nothing."""

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(message)
        self.code, self.exit_status = code, status


def guard(task: Task, arguments: Sequence[Any]) -> dict[str, Any]:
    """Do a task; what goes wrong becomes a code, and a message only if it is one of ours."""
    try:
        return {"result": task(*arguments)}
    except DiscreetError as error:
        return {"code": error.code, "status": error.exit_status, "message": str(error)}
    except MemoryError:
        return {"code": "memory", "status": 1, "message": "not enough memory for a task; allow fewer workers"}
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else "the system refused"
        return {"code": "write", "status": 2, "message": f"a file could not be read or written: {why}"}
    except BaseException as error:  # a panic in a library is no Exception
        if os.environ.get("DISCREET_DEBUG"):
            traceback.print_exception(error)
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(last.filename)}, line {last.lineno}"  # noqa: PTH119 - a name, not a path
        return {"code": "fault", "status": 1, "message": f"a fault in a task ({type(error).__name__} in {where})"}


def guard_on_cluster(task: Task, arguments: Sequence[Any]) -> dict[str, Any]:
    """Do a task in a worker that others have started; refused if it imports what lies in its current folder."""
    if not sys.flags.safe_path:
        return {"code": "input", "status": InputError.exit_status, "message": UNSAFE}
    return guard(task, arguments)


class Pool:
    """Does tasks, each once and to its end, on whatever there is.

    Parameters
    ----------
    make : callable, optional
        Makes an executor; called again when its workers have died. Without it tasks are done here.
    workers : int
        How many tasks may be under way at once.
    versions : dict
        Versions that the workers have.
    guard : callable
        Does a task in a worker.
    """

    def __init__(
        self,
        make: Callable[[], Executor] | None,
        workers: int,
        versions: dict[str, str] | None = None,
        guard: Callable[[Task, Sequence[Any]], dict[str, Any]] = guard,
    ) -> None:
        self._make, self.workers, self._guard = make, workers, guard
        self.versions = versions or list_versions()
        self._executor: Executor | None = None

    def run(
        self, task: Task, arguments: Sequence[Sequence[Any]], tell: Callable[[float], None] = lambda _share: None
    ) -> list[Any]:
        """Do a task for each of some arguments, and give the results in their order."""
        results: dict[int, Any] = {}
        for place, result in self.each(task, arguments):
            results[place] = result
            tell(len(results) / len(arguments))
        return [results[place] for place in range(len(arguments))]

    def each(self, task: Task, arguments: Sequence[Sequence[Any]]) -> Iterator[tuple[int, Any]]:
        """The same, as they end: the place of the arguments, and the result."""
        for place, result in self._each(task, arguments):
            if "code" in result:
                raise TaskFailed(result["code"], result["status"], result["message"])
            yield place, result["result"]

    def _each(self, task: Task, arguments: Sequence[Sequence[Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        if self._make is None:
            for place, given in enumerate(arguments):
                with unheard():
                    result = guard(task, given)
                yield place, result
            return
        left, running, deaths = list(range(len(arguments)))[::-1], dict[Future[Any], int](), 0
        try:
            while left or running:
                try:
                    if self._executor is None:
                        self._executor = self._make()
                    while left and len(running) < 2 * self.workers:
                        running[self._executor.submit(self._guard, task, arguments[left[-1]])] = left[-1]
                        left.pop()
                    ended, _ = wait(running, LOOKING, return_when=FIRST_COMPLETED)
                    if not ended and _has_lost(self._executor):
                        raise BrokenExecutor
                    for future in ended:
                        place = running[future]
                        result = future.result()
                        del running[future]
                        deaths = 0
                        yield place, result
                except (InputError, KeyboardInterrupt, GeneratorExit):
                    raise
                except Exception:  # the executor's: workers have died; what they did is in files or is done again
                    deaths += 1
                    left += sorted(running.values(), reverse=True)
                    running.clear()
                    self.close(broken=True)
                    if deaths == MOST_DEATHS:
                        raise TaskFailed(
                            "workers",
                            1,
                            "workers were ended from outside again and again, perhaps because memory was short; what "
                            "is done is kept: start again, with fewer workers",
                        ) from None
        finally:
            for future in running:
                future.cancel()

    def close(self, *, broken: bool = False) -> None:
        """End the workers; of an executor that is broken at once, since it may wait for those that died."""
        executor, self._executor = self._executor, None
        if executor is not None:
            with contextlib.suppress(Exception):
                for process in _processes(executor) if broken else ():
                    process.kill()
                executor.shutdown(wait=not broken, cancel_futures=True)


def _processes(executor: Executor) -> list[Any]:
    """The processes of an executor that has its own."""
    return list((getattr(executor, "_processes", None) or {}).values())


def _has_lost(executor: Executor) -> bool:
    """Whether a worker has died; one that died in the midst of a message may not be noticed otherwise."""
    return any(not process.is_alive() for process in _processes(executor))


@contextmanager
def open_pool(
    workers: int = 1, *, cluster: str | None = None, executor: Executor | None = None, shared: Path | None = None
) -> Iterator[Pool]:
    """Something to do tasks on, for the time of a block.

    Parameters
    ----------
    workers : int
        Processes of this machine; 1 is this process.
    cluster : str, optional
        The address of a Dask scheduler instead, tls://… or, on this machine, tcp://127.0.0.1:….
    executor : Executor, optional
        Any other executor instead, whose workers see the same files; it is not shut down.
    shared : Path, optional
        The folder that all workers must see; it is tried out first.
    """
    if cluster is not None and executor is not None:
        raise InputError("give either a cluster or an executor, not both")
    if cluster is not None:
        with _open_dask(cluster) as (client, number):
            versions = _check_workers(client, shared)
            yield Pool(
                lambda: _Kept(client.get_executor(pure=False, retries=MOST_DEATHS)), number, versions, guard_on_cluster
            )
        return
    if executor is not None:
        if not isinstance(executor, Executor) and not hasattr(executor, "submit"):
            raise InputError("executor must be a concurrent.futures.Executor")
        pool = Pool(lambda: _Kept(executor), max(1, getattr(executor, "_max_workers", workers)))
        found = [_check_worker(*given) for given in pool.run(probe, [_token(shared)])] if shared else []
        pool.versions = found[0] if found else pool.versions
        yield pool
        return
    pool = Pool((lambda: make_processes(workers)) if workers > 1 else None, workers)
    try:
        with single_threaded() if workers > 1 else contextlib.nullcontext():
            yield pool
    finally:
        pool.close()


class _Kept(Executor):
    """An executor that somebody else shuts down."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def submit(self, *given: Any, **keywords: Any) -> Any:
        """Hand it on."""
        return self._inner.submit(*given, **keywords)


def make_processes(workers: int, initializer: Callable[..., object] | None = None, *given: Any) -> ProcessPoolExecutor:
    """Processes of this machine that end with this one, and leave Ctrl-C to it."""
    with safe_path():  # beside the workers there is one that looks after what they share
        return ProcessPoolExecutor(workers, _Context(), initializer=_start_worker, initargs=(initializer, given))


class _Process(SpawnProcess):
    """A process that imports nothing from the current folder, not even while it starts."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - what the library calls
        usual: Any = SpawnProcess
        with safe_path():
            return usual._Popen(process_obj)


class _Context(SpawnContext):
    """How such processes are started."""

    Process = _Process


def _start_worker(initializer: Callable[..., object] | None, given: Sequence[Any]) -> None:
    # Ctrl-C reaches all processes of a terminal; the first one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*given)


def _leave_with_parent() -> None:
    """End this process if the first one dies: it would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def single_threaded() -> Iterator[None]:
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


def list_versions() -> dict[str, str]:
    """The versions of this process that decide on the bytes of a result."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"discreet": __version__, "python": platform.python_version(), **found}


def probe(path: str, token: str) -> tuple[dict[str, str], bool]:
    """What a worker has: its versions, and whether it sees a file of ours with what we wrote into it."""
    try:
        sees = Path(path).read_text(encoding="ascii") == token
    except OSError:
        sees = False
    return list_versions(), sees


def _token(shared: Path | None) -> tuple[str, str]:
    if shared is None:
        return "", ""
    path, token = shared / ".seen", secrets.token_hex(16)
    path.write_text(token, encoding="ascii")
    return str(path), token


def _check_worker(versions: dict[str, str], sees: bool) -> dict[str, str]:
    """The versions of a worker; refused where they are not ours, or where it sees other files."""
    ours = list_versions()
    differs = [name for name in ours if versions.get(name) != ours[name]]
    if differs:
        told = ", ".join(f"{name} {versions.get(name, 'none')} there, {ours[name]} here" for name in differs)
        raise InputError(f"a worker has other versions: {told}; install the same everywhere")
    if not sees:
        raise InputError(
            "a worker does not see the work folder; put the output on a folder that all machines share, under the same "
            "path"
        )
    return versions


@contextmanager
def _open_dask(address: str) -> Iterator[tuple[Any, int]]:
    """A client of a Dask scheduler; only on this machine, or encrypted."""
    parts = urlsplit(address)
    if parts.scheme not in ("tcp", "tls") or not parts.hostname or not parts.port:
        raise InputError("cluster must be the address of a Dask scheduler, as tls://host:8786 or tcp://127.0.0.1:8786")
    if parts.scheme == "tcp" and not _is_loopback(parts.hostname):
        raise InputError(
            f"{parts.hostname} is another machine, and tcp is not encrypted; start the scheduler and the workers with "
            "certificates, and give its address as tls://…"
        )
    try:
        import distributed
    except ImportError:
        raise InputError("a cluster needs the extra 'cluster': pip install 'discreet[cluster]'") from None
    try:
        client: Any = distributed.Client(address, timeout=CONNECTING, set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:
        why = "no certificates are configured" if isinstance(error, TypeError) else "nobody answers"
        raise InputError(f"{address}: there is no Dask scheduler that can be reached ({why})") from None
    try:
        number = sum(client.nthreads().values())
        if not number:
            raise InputError(f"{address}: the cluster has no workers")
        yield client, number
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_workers(client: Any, shared: Path | None) -> dict[str, str]:
    """Try out all workers: the same versions, one shared folder."""
    path, token = _token(shared)
    found = client.run(guard_on_cluster, probe, (path, token))
    for answer in found.values():
        if "code" in answer:
            raise TaskFailed(answer["code"], answer["status"], answer["message"])
    answers = [_check_worker(versions, sees or shared is None) for versions, sees in map(_result, found.values())]
    return answers[0]


def _result(answer: dict[str, Any]) -> tuple[dict[str, str], bool]:
    versions, sees = answer["result"]
    return versions, sees
