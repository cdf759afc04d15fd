"""Compile kernels before a search begins: not interrupted, and with a second process compiling others meanwhile."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_SECOND_PROCESS = """
import importlib, json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = json.loads(sys.argv[1])
from discreet.kernels.compiling import without_collection
with without_collection():
    for module in sys.argv[2:]:
        importlib.import_module(module).rehearse()
"""


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


@contextmanager
def compiling() -> Iterator[None]:
    """A block that compiles: it is not interrupted, and no garbage is collected."""
    with uninterrupted(), without_collection():
        yield


def is_compiled(kernel: Callable[..., object]) -> bool:
    """Whether a kernel has been compiled before, in this process or into its cache."""
    cache = _cache_of(kernel)
    return bool(getattr(kernel, "signatures", ())) or (cache is not None and bool(cache._load_index()))


def _cache_of(kernel: Callable[..., object]) -> Any:
    """The file to which a kernel is written once compiled, where other processes find it; None if there is none."""
    return getattr(getattr(kernel, "_cache", None), "_cache_file", None)


@contextmanager
def second_process(modules: Sequence[str], kernels: Iterable[Callable[..., object]]) -> Iterator[None]:
    """While the block runs, let another process compile the kernels of some modules, and wait for it in the end.

    What it compiles is found in the cache afterwards. If there is no cache, no second processor, nothing left to
    compile or no way to start a process, there is no other process; whatever it did not do is compiled when needed.

    Parameters
    ----------
    modules : sequence of str
        Their names; the function `rehearse` of each is called.
    kernels : iterable of kernels
        Some that it compiles, to see whether there is anything to do.
    """
    needed = [kernel for kernel in kernels if not is_compiled(kernel)]
    child: subprocess.Popen[bytes] | None = None
    if needed and all(_cache_of(kernel) is not None for kernel in needed) and _processors() > 1 and sys.executable:
        command = [sys.executable, "-P", "-c", _SECOND_PROCESS, json.dumps(sys.path), *modules]
        nothing = subprocess.DEVNULL
        try:
            child = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
        except OSError:
            child = None
    try:
        yield
        if child is not None:
            child.wait()
    finally:
        if child is not None and child.poll() is None:
            child.kill()
            child.wait()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
