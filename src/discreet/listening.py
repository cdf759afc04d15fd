"""Who listens to the progress of a verb: whoever the call names, else a bar in a notebook, else nobody."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any, ParamSpec, TypeVar

# Seconds until a bar appears, and between two drawings of it.
PATIENCE, PAUSE = 1.0, 0.2

P = ParamSpec("P")
R = TypeVar("R")


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
