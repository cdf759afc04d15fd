"""Runs the examples of a page of the manual and tells where what happens is not what the page says.

In a `console` block a line that begins with `$ ` is a command for `sh`; a command goes on in the next line after a
backslash. What follows is what it prints, on standard output and standard error together; a line `...` stands for any
lines and `…` for any characters within a line. Blocks `python` run in one namespace, and so do `pycon` blocks, whose
output is compared in the same way. A `python` block with a title, as in `python title="name.py"`, is written to a file
of that name instead, for later blocks to import. All blocks of a page run in order in one folder. No other block is
run.

A command that is `discreet` with its arguments and nothing else may be run in this process, without the second that a
process of its own spends on imports.
"""

import contextlib
import difflib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from discreet.cli.app import run as discreet

TIMEOUT = 300
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
_PLAIN = re.compile(r"discreet [^|&;<>`$()*?]*")
_FENCE = re.compile(r"(?P<indent> *)(?P<fence>`{3,}|~{3,}) *(?P<info>[^`]*)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the number of the line where the text begins, and its title."""

    language: str
    text: str
    line: int
    title: str = ""


class ExampleError(AssertionError):
    """An example of a page does something else than the page says."""


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page; one inside a longer fence is text and not a block."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        opened = _FENCE.fullmatch(lines[at])
        at += 1
        if not opened:
            continue
        # A fence closes with at least as many of the same sign.
        closing = re.compile(rf" *{re.escape(opened['fence'])}{re.escape(opened['fence'][0])}* *")
        end = next((place for place in range(at, len(lines)) if closing.fullmatch(lines[place])), len(lines))
        inside = [line.removeprefix(opened["indent"]) for line in lines[at:end]]
        words = opened["info"].strip("{} ").split()
        title = re.search(r"""title=["']([^"']*)""", opened["info"])
        yield Block(words[0].lstrip(".") if words else "", "\n".join(inside), at + 1, title[1] if title else "")
        at = end + 1


def run(page: Path, folder: Path, *, here: bool = False) -> None:
    """Run all examples of a page in a folder; those of `discreet` alone in this process, if it may be so."""
    space: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language == "console":
                _console(page, block, here=here)
            elif block.language == "python" and block.title:
                Path(block.title).write_text(block.text + "\n", encoding="utf-8")
            elif block.language == "python":
                # The empty lines make a traceback show the line of the page.
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), space)
            elif block.language == "pycon":
                test = doctest.DocTestParser().get_doctest(block.text, {}, page.name, str(page), block.line - 1)
                # Set here, because the parser would give the session a copy and the next block would not see its names.
                test.globs = space
                session(test)


def session(test: doctest.DocTest) -> None:
    """Run an interactive session, which leaves its names in the namespace of the test."""
    report: list[str] = []
    doctest.DocTestRunner(_Checker(), verbose=False).run(test, out=report.append, clear_globs=False)
    if report:
        raise ExampleError("".join(report))


class _Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return matches(want, got) or super().check_output(want, got, optionflags)


def _console(page: Path, block: Block, *, here: bool) -> None:
    if not block.text.startswith("$ "):
        # Otherwise a forgotten sign would turn a command into text that nobody checks.
        raise ExampleError(f"{page.name}:{block.line}: a console block begins with '$ ' and a command")
    for line, command, expected in commands(block):
        printed = _call(command) if here and _PLAIN.fullmatch(command) else _shell(command)
        # Printed only where the cache of kernels is empty, as in a new checkout.
        printed = re.sub(r"^compiling kernels for this machine .*\n", "", printed, flags=re.MULTILINE)
        where = f"{page.name}:{line}: $ {command}"
        # Three dots must not hide a crash.
        if "Traceback (most recent call last)" in printed and "Traceback" not in expected:
            raise ExampleError(f"{where}\ncrashed:\n{printed}")
        if not matches(expected, printed):
            raise ExampleError(f"{where}\n{difference(expected, printed)}")


def commands(block: Block) -> Iterator[tuple[int, str, str]]:
    """The commands of a block, each with its line number and what it should print."""
    lines = block.text.splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = start
        while lines[last].endswith("\\") and last + 1 < end:
            last += 1
        # A shell shows the lines that continue a command with a sign of its own.
        told = [lines[start][2:], *(line.removeprefix("> ") for line in lines[start + 1 : last + 1])]
        yield block.line + start, "\n".join(told), "\n".join(lines[last + 1 : end])


def _call(command: str) -> str:
    """The same of a command of ours without anything of the shell, run in this process."""
    printed = io.StringIO()
    arguments = shlex.split(command.replace("\\\n", " "))[1:]
    with (
        mock.patch.dict(os.environ, TERMINAL),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        discreet(arguments)
    return printed.getvalue()


def _shell(command: str) -> str:
    """What a command prints, in a terminal of fixed width without colours."""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    # Not resolved: the link to the interpreter stands beside the programs of the environment.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", "")])
    environment |= TERMINAL
    done = subprocess.run(
        ["sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        timeout=TIMEOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def matches(expected: str, printed: str) -> bool:
    """Whether the printed text is the expected one, apart from blanks at the ends of lines and of the text."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else _line(line) + r"\n" for line in _lines(expected))
    return re.fullmatch(pattern, "".join(line + "\n" for line in _lines(printed))) is not None


def difference(expected: str, printed: str) -> str:
    """The lines that differ, - on the page and + in truth; a line that fits a masked one is shown as that one."""
    masked = [line for line in _lines(expected) if "…" in line]
    shown = [next((mask for mask in masked if re.fullmatch(_line(mask), line)), line) for line in _lines(printed)]
    return "\n".join(difflib.unified_diff(_lines(expected), shown, "on the page", "in truth", lineterm="", n=1000))


def _line(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…"))


def _lines(text: str) -> list[str]:
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip().splitlines()
