"""What the app puts beside a release: kept aside until the release is there, so that only a release takes its name."""

from __future__ import annotations

import asyncio
import inspect
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.history import PLACE, History
from discreet.jobs.job import Job
from discreet.release.atomic import write_contents
from discreet.web import theme
from discreet.web.folder import Folder, is_plain

# Seconds between two looks at a job that writes.
PAUSE = 0.5


def keep_aside(folder: Folder, history: History, contents: Mapping[str, bytes]) -> Path:
    """Keep files for later, instead of those that were kept before; give the folder in which they are.

    Parameters
    ----------
    folder, history
        The folder, and the choices that lead to the release.
    contents
        The files by the names that they will have beside the release.
    """
    aside = folder.path / PLACE / f"{history.id}.write"
    aside.unlink() if aside.is_symlink() else shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=0o700)
    write_contents({aside / name: content for name, content in contents.items()})
    return aside


def is_released(job: Job) -> bool:
    """Whether a job has written its release."""
    return bool(job.result().get("files"))


def put_beside(folder: Folder, history: History, job: Job) -> None:
    """Give the files that were kept aside their names, once the release is there.

    A file that somebody else has put there meanwhile stays.
    """
    aside = folder.path / PLACE / f"{history.id}.write"
    if not is_released(job) or not aside.is_dir() or aside.is_symlink():
        return
    output, replace = str(job.request().get("about", {}).get("output", "")), "--force" in job.command
    for path in sorted(aside.iterdir()):
        ours = is_plain(path.name) and path.name.startswith(f"{output}.") and path.is_file() and not path.is_symlink()
        if ours and (replace or not os.path.lexists(folder.path / path.name)):
            path.replace(folder.path / path.name)
    shutil.rmtree(aside, ignore_errors=True)


async def follow(folder: Folder, history: History, job: Job) -> None:
    """Wait for a job that writes, whoever looks at it, and put beside its release what belongs there."""
    while job.path.is_dir() and job.state().state in ("queued", "running"):
        await asyncio.sleep(PAUSE)
    if job.path.is_dir():
        put_beside(folder, history, job)


def find_taken(folder: Folder, names: Sequence[str]) -> list[str]:
    """Those of the names that files of the folder have already; what is no such file cannot be replaced."""
    taken = [name for name in names if os.path.lexists(folder.path / name)]
    for name in taken:
        try:
            folder.file(name)
        except InputError:
            raise InputError(
                f"{name} exists already and is no file that could be replaced; choose another name"
            ) from None
    return taken


def ask_to_replace(folder: Folder, taken: Sequence[str], replace: Callable[[], Any]) -> None:
    """Show which files stand in the way, and let them be replaced, or not."""
    with ui.dialog() as dialog, ui.card().style("max-width:95vw"):
        theme.heading("These files are there already", 2)
        theme.dim("They are replaced only when the new release is verified; until then they stay as they are.")
        theme.grid(("file", "size", "written"), [_describe(folder.path / name) for name in taken], right=(1,))

        async def agree() -> None:
            dialog.close()
            if inspect.isawaitable(waited := replace()):
                await waited

        with ui.element("div").classes("row-of end").style("width:100%"):
            theme.secondary("Choose another name", dialog.close, "keep-files")
            theme.primary("Replace them", agree, "replace-files")
    dialog.open()


def _describe(path: Path) -> list[str]:
    """A file that stands in the way: its name, its size, and when it was written."""
    found = path.stat()
    when = datetime.fromtimestamp(found.st_mtime).astimezone()
    return [path.name, f"{found.st_size:,} bytes", when.strftime("%Y-%m-%d %H:%M")]
