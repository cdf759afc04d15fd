"""Tasks for runs; other processes import them from here."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def product(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A tiny run."""
    return {"product": settings["a"] * settings["b"], "process": os.getpid()}


def noted(folder: Path, seconds: float, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A run that leaves a mark each time it is done."""
    (folder / f"{os.getpid()}.process").touch()
    time.sleep(seconds)
    with (folder / f"{settings['a']}.mark").open("a") as file:
        file.write("x")
    return {"square": settings["a"] ** 2}


def marks(folder: Path) -> dict[int, int]:
    """How often each run was done."""
    return {int(path.stem): len(path.read_text()) for path in folder.glob("*.mark")}


def alive(folder: Path) -> list[int]:
    """The processes that did runs and are still there."""
    found = [int(path.stem) for path in folder.glob("*.process")]
    return [process for process in found if process != os.getpid() and _lives(process)]


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
        # One that has ended may still be listed until somebody asks how.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:  # no such listing on this system
        return True


def failing(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A run that fails for one of the settings."""
    if settings["a"] == 5:
        raise ZeroDivisionError
    return {"square": settings["a"] ** 2}


def threads(settings: Mapping[str, Any]) -> dict[str, Any]:
    """How many threads a linear algebra library may use."""
    return {"threads": os.environ.get("OMP_NUM_THREADS", ""), "again": settings["a"]}


def dying(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A run whose process is ended from outside, for one of the settings."""
    if settings["a"] == 5:
        os._exit(9)
    return {"square": settings["a"] ** 2}
