"""The command line as a trial calls it: in this process, or in one of its own that may be killed."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from discreet.cli.app import run

# A value of a respondent: planted in data, and looked for in everything printed.
CANARY = "Zq7316094825"


@dataclass(frozen=True)
class Result:
    """The status of a command and all that it printed."""

    status: int
    text: str

    @property
    def is_orderly(self) -> bool:
        """Whether it ended with a status of ours and a message of ours."""
        return self.status in (0, 1, 2, 3) and "Traceback" not in self.text and "internal error" not in self.text


def call(*arguments: object) -> Result:
    """Run a command in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = run([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException as error:
            # A panic of polars is no Exception; whatever it is, it should never come out here.
            return Result(-1, f"{out.getvalue()} {type(error).__name__} came out")
    return Result(status, out.getvalue())


def start(*arguments: object, **streams: object) -> subprocess.Popen[bytes]:
    """Start a command in a process of its own."""
    line = [sys.executable, "-m", "discreet", *(str(argument) for argument in arguments)]
    held = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.Popen(line, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, **held)  # type: ignore[call-overload,no-any-return]


def leftovers(folder: Path, known: set[Path]) -> set[Path]:
    """Files that were not there before, hidden ones and temporaries among them; a lock may stay."""
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"} - known
