"""Work on several threads whose result does not depend on their number."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from discreet.evolution.checks import whole

Item = TypeVar("Item")
Result = TypeVar("Result")

_here = threading.local()


def mapped(function: Callable[[Item], Result], items: Iterable[Item], threads: int = 1) -> list[Result]:
    """Apply a function to each item and give the results in the order of the items.

    Threads help where the function releases the interpreter lock, as compiled kernels and solvers do.

    Parameters
    ----------
    function : callable
        It must neither depend on nor change what the others work on.
    items : iterable
        What it is applied to.
    threads : int
        How many threads work, at least 1. Within such a thread there are no further ones.
    """
    items = list(items)
    if whole("threads", threads, 1) == 1 or len(items) < 2 or getattr(_here, "works", False):
        return [function(item) for item in items]
    return list(_pool(threads, os.getpid()).map(function, items))


@lru_cache(maxsize=4)
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    # Kept, because an epoch is shorter than threads take to start. A forked process gets its own: threads do not fork.
    return ThreadPoolExecutor(threads, thread_name_prefix="discreet", initializer=_begin_work)


def _begin_work() -> None:
    # A thread that waited for others of its own pool could wait for ever.
    _here.works = True
