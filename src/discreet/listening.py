"""Who listens to the progress of a verb: whoever the call names, else a bar in a notebook, else nobody.

Whoever runs commands for somebody else, in another process, listens to them too: to stages and to the falling cost.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from html import escape
from typing import Any, ParamSpec, Protocol, TypeVar

# Seconds until a bar appears, and between two drawings of it.
PATIENCE, PAUSE = 1.0, 0.2

P = ParamSpec("P")
R = TypeVar("R")


class Listener(Protocol):
    """Who is told how a command gets on."""

    def stage(self, name: str, fraction: float) -> None:
        """Be told the stage and how far along it is, in [0, 1]."""
        ...

    def moment(self, steps: int, seconds: float, cost: float, bound: float | None) -> None:
        """Be told where a search stands after an epoch: its steps, the seconds of this sitting, best cost and bound.

        Of microdata both are losses in percent. Told last, when the search is over, is that of what will be written.
        """
        ...

    def found(self) -> None:
        """Be told that a search has ended: from now on there is something to keep."""
        ...


LISTENERS: list[Listener] = []


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tell a listener of all stages and searches within the block."""
    LISTENERS.append(listener)
    try:
        yield
    finally:
        LISTENERS.remove(listener)


@contextmanager
def unheard() -> Iterator[None]:
    """Tell nobody of what goes on in the block: a task is heard of nowhere else either, when it is done elsewhere."""
    listeners, LISTENERS[:] = LISTENERS[:], []
    try:
        yield
    finally:
        LISTENERS[:] = listeners


def announce_stage(name: str, fraction: float) -> None:
    """Tell whoever listens the stage of a command."""
    for listener in LISTENERS:
        listener.stage(name, fraction)


def announce_moment(steps: int, seconds: float, cost: float, bound: float | None) -> None:
    """Tell whoever listens where a search stands."""
    for listener in LISTENERS:
        listener.moment(steps, seconds, cost, bound)


def announce_found() -> None:
    """Tell whoever listens that a search has ended."""
    for listener in LISTENERS:
        listener.found()


def shows_progress(verb: Callable[P, R]) -> Callable[P, R]:
    """Let a verb show a bar where it runs in a notebook and its call names no `progress`; `False` shows none."""

    @wraps(verb)
    def run(*args: P.args, **keywords: P.kwargs) -> R:
        progress = keywords.get("progress")
        if progress is False:
            keywords["progress"] = None
        if progress is not None or not in_notebook():
            return verb(*args, **keywords)
        bar = NotebookBar()
        keywords["progress"] = bar
        try:
            return verb(*args, **keywords)
        finally:
            bar.close()

    return run


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; a terminal with IPython is none."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class NotebookBar:
    """Draws stage and fraction below a cell, once the work has gone on for a second, and takes them away at the end."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PATIENCE
        self._handle: Any = None

    def __call__(self, stage: str, fraction: float) -> None:
        """Take note of a stage and how far along it is."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + PAUSE
        # A stage that cannot tell how far it is gets a moving bar.
        value = f' value="{fraction:.3f}"' if fraction > 0 else ""
        self._show(f"{stage} {100 * fraction:.0f} %", f"<progress{value}></progress> {escape(stage)}")

    def close(self) -> None:
        """Leave nothing behind."""
        if self._handle is not None:
            self._show("", "")

    def _show(self, plain: str, html: str) -> None:
        content = {"text/plain": plain, "text/html": html}
        if self._handle is None:
            self._handle = sys.modules["IPython"].display.display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)
