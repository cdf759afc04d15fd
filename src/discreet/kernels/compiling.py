"""Compile kernels before a search needs them: not interrupted, and with a second process compiling others meanwhile."""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_SECOND_PROCESS = """
import importlib, json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = json.loads(sys.argv[1])
from discreet.kernels.compiling import without_collection
with without_collection():
    for place, module in enumerate(sys.argv[3:]):
        if place == int(sys.argv[2]) and not sys.stdin.readline():
            break
        importlib.import_module(module).rehearse()
        print(flush=True)
"""

Kernels = Mapping[str, Sequence[Callable[..., object]]]

# Who is told when a kernel must be compiled, with the reason why it cannot be kept, if it cannot.
WATCHERS: list[Callable[[str], object]] = []


def announce_compiling(why: str) -> None:
    """Tell whoever waits that a kernel is about to be compiled."""
    for watcher in WATCHERS:
        watcher(why)


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
        signal.signal(number, lambda given, _frame: kept.append(given))
    try:
        yield
    finally:
        for number, previous in handled.items():
            signal.signal(number, previous)
        if kept:
            signal.raise_signal(kept[0])


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage in the block: numba makes millions of objects that live on, and each is looked at again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Clock:
    """Seconds, of which those that are spent on compiling do not count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses, self._paused, self._since = 0, 0.0, 0.0

    def __call__(self) -> float:
        """The seconds now; only differences mean something."""
        with self._lock:
            return (self._since if self._pauses else time.perf_counter()) - self._paused

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Let the block not count."""
        with self._lock:
            if self._pauses == 0:
                self._since = time.perf_counter()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if self._pauses == 0:
                    self._paused += time.perf_counter() - self._since


search_clock = _Clock()


@contextmanager
def compiling() -> Iterator[None]:
    """A block that compiles: it is not interrupted, no garbage is collected, and it is no part of a search's time."""
    with search_clock.pause(), uninterrupted(), without_collection():
        yield


def is_compiled(kernel: Callable[..., object]) -> bool:
    """Whether a kernel has been compiled before, in this process or into its cache."""
    return bool(getattr(kernel, "signatures", ())) or getattr(_cache_of(kernel), "holds_any", bool)()


def _cache_of(kernel: Callable[..., object]) -> Any:
    """The file to which a kernel is written once compiled, where other processes find it; None if there is none."""
    return getattr(getattr(kernel, "_cache", None), "_cache_file", None)


class _Companion:
    """Another process that compiles the kernels of some modules, one module after the other.

    Parameters
    ----------
    now, later : sequences of str
        The modules; it goes on with those for later when it is told to.
    """

    def __init__(self, now: Sequence[str], later: Sequence[str]) -> None:
        # An empty entry of the path is the current folder, which may be one of data.
        path = json.dumps([place for place in sys.path if place])
        command = [sys.executable, "-P", "-c", _SECOND_PROCESS, path, str(len(now)), *now, *later]
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._later, self._left = set(later), [*now, *later]
        self._lock = threading.Lock()
        self._owner = os.getpid()
        atexit.register(self.end)

    def wait(self, module: str) -> None:
        """Wait until a module is done, or given up."""
        assert self._child.stdout is not None
        if module in self._later:
            self.go_on()
        if module in self._left and self._owner == os.getpid():
            announce_compiling("")
        with self._lock:
            while module in self._left and self._owner == os.getpid():
                self._left = self._left[1:] if self._child.stdout.readline() else []

    def go_on(self) -> None:
        """Let it go on with what is for later: the search has begun, or is about to."""
        assert self._child.stdin is not None
        with self._lock:
            if self._later and self._owner == os.getpid():
                self._later = set()
                with suppress(OSError):
                    self._child.stdin.write(b"\n")
                    self._child.stdin.flush()

    def end(self) -> None:
        """Let it compile no more."""
        atexit.unregister(self.end)
        if self._owner != os.getpid():
            return
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        self._left, self._later = [], set()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


# Who compiles a kernel at present, and as a part of which module.
_charged: dict[Callable[..., object], tuple[_Companion, str]] = {}


def wait_for(kernel: Callable[..., object]) -> None:
    """Wait until a kernel is in its cache, if another process is compiling it."""
    companion, module = _charged.get(kernel, (None, ""))
    if companion is not None:
        companion.wait(module)


@contextmanager
def second_process(now: Kernels, later: Kernels | None = None) -> Iterator[None]:
    """While the block runs, let another process compile some kernels; then wait for those that are needed now.

    It goes on with the others; a call of one that it has not done yet waits for it (`wait_for`). What it compiles is
    found in the cache. If there is no cache, no second processor, nothing left to compile or no way to start a
    process, there is no other process; whatever it did not do is compiled when needed. It ends with this one.

    Parameters
    ----------
    now, later : dict of str to kernels
        The kernels of interest by the names of the modules whose function `rehearse` compiles them, in this order.
    """
    left = {
        module: kernels
        for module, kernels in {**now, **(later or {})}.items()
        if not all(map(is_compiled, kernels)) and not any(kernel in _charged for kernel in kernels)
    }
    companion = None
    if left and all(_cache_of(kernel) is not None for kernels in left.values() for kernel in kernels):
        first = [module for module in left if module in now]
        with suppress(OSError):
            if _processors() > 1 and sys.executable:
                companion = _Companion(first, [module for module in left if module not in now])
    try:
        if companion is not None:
            _charged.update({kernel: (companion, module) for module in left for kernel in left[module]})
        yield
        if companion is not None:
            for module in now:
                companion.wait(module)
            companion.go_on()
    except BaseException:
        if companion is not None:
            companion.end()
        raise


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
