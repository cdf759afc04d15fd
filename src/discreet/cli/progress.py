"""Progress on the terminal, for work that takes more than a second."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

from discreet.cli.printing import tell
from discreet.listening import announce_stage

PATIENCE = 1.0


class Reporter:
    """Listens to stages and fractions; draws a bar on standard error once the work has gone on for a second."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._stage, self._fraction = "", 0.0
        self._lock = threading.Lock()
        self._over, self._compiles = False, False
        self._bar: Any = None
        self._task: Any = None
        self._timer = threading.Timer(PATIENCE, self._appear)
        self._timer.daemon = True

    def __enter__(self) -> Reporter:
        from discreet.kernels.compiling import WATCHERS

        WATCHERS.append(self._mention_compiling)
        if not self.quiet and sys.stderr.isatty():
            self._timer.start()
        return self

    def __call__(self, stage: str, fraction: float) -> None:
        """Take note of a stage and how far along it is."""
        if stage == "compiling" and not self._compiles:
            stage = "preparing"  # kernels are loaded from their cache
        announce_stage(stage, fraction)
        with self._lock:
            self._stage, self._fraction = stage, fraction
            if self._bar is not None:
                self._draw()

    def _mention_compiling(self, why: str) -> None:
        """Say why nothing happens, once, when a kernel must be compiled indeed."""
        if self._compiles:
            return
        self._compiles = True
        if self._stage == "preparing":
            self("compiling", self._fraction)
        if not self.quiet and (why or not sys.stderr.isatty()):
            often = f"in each process: there is no cache for them ({why})" if why else "once"
            tell(f"compiling kernels for this machine ({often}) …")

    def _appear(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._over:
                return
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description:<10}"),
                BarColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._stage, total=None)
            self._draw()
            self._bar.start()

    def _draw(self) -> None:
        # A stage that cannot tell how far it is gets a moving bar.
        total = 1.0 if self._fraction > 0 else None
        self._bar.update(self._task, description=self._stage, total=total, completed=self._fraction)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from discreet.kernels.compiling import WATCHERS

        WATCHERS.remove(self._mention_compiling)
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()
