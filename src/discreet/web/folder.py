"""The folder that the app is opened on: its files by name, and commands that run beside the server.

Nothing outside the folder is named, read or written: a name is one plain file name, and a link that leads elsewhere is
as good as no file.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.jobs.queue import Jobs
from discreet.tabular.files.own import holds_cells

MICRODATA = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".xlsx", ".dta", ".sav", ".sas7bdat")
# Files of cells that others make; our own are told from microdata by what they say of themselves.
TABLES = (".jj", ".jj.gz", ".tab")
# What we write beside a release, which is no data to open.
OURS = (".release.json", ".evidence.json", ".report.html", ".internal.html", ".sign-off.toml")


@dataclass
class Folder:
    """The folder, its jobs, and what was found out about its files while they were as they are.

    Parameters
    ----------
    path : Path
        The folder.
    dark : bool, optional
        Whether pages are dark; None for what the browser prefers.
    """

    path: Path
    dark: bool | None = None
    jobs: Jobs = field(init=False)
    _found: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path = self.path.resolve()
        self.jobs = Jobs(self.path)

    def files(self) -> list[Path]:
        """The files of the folder that may be opened, by name."""
        found = []
        for path in sorted(self.path.iterdir(), key=lambda path: path.name.casefold()):
            try:
                found.append(self.file(path.name))
            except InputError:
                continue
        return [path for path in found if path.name.lower().endswith((*MICRODATA, *TABLES, ".json", ".html", ".toml"))]

    def is_table(self, path: Path) -> bool:
        """Whether a file holds cells."""
        return path.name.lower().endswith(TABLES) or (path.suffix.lower() in (".parquet", ".csv") and holds_cells(path))

    def file(self, name: str) -> Path:
        """A file of the folder; any other name is refused."""
        path = self.path / name
        if not is_plain(name) or not path.is_file() or path.resolve().parent != self.path:
            raise InputError("there is no such file in this folder")
        return path

    def new(self, name: str, suffixes: tuple[str, ...]) -> Path:
        """Where a file to be written will be; an odd name is refused."""
        if not is_plain(name) or not name.lower().endswith(suffixes):
            raise InputError(f"the file needs a plain name that ends with {', '.join(suffixes)}")
        return self.path / name

    async def ask(self, words: list[str], *, about: Path | None, also: str = "") -> dict[str, Any]:
        """Run a short command beside the server, and give what it prints as JSON.

        It is asked once while the file that it is about, and what else it depends on, are the same; of a table of a
        server, until it is opened anew. A command that refuses raises what it said, in its own words.
        """
        stat = about.stat() if about else None
        key = (*words, also, *((stat.st_mtime_ns, stat.st_size) if stat else ()))
        if key not in self._found:
            self._found[key] = await self._run(words)
        return self._found[key]

    async def ask_now(self, words: list[str]) -> dict[str, Any]:
        """The same, asked anew each time: of what may have been changed without a trace."""
        return await self._run(words)

    def forget(self, name: str) -> None:
        """Forget what was found out about a source."""
        self._found = {key: found for key, found in self._found.items() if name not in key}

    async def do(self, words: list[str]) -> None:
        """Run a short command that writes files; one that refuses raises what it said."""
        status, _, said = await self._start(words)
        if status:
            raise InputError(said.removeprefix("discreet: ").strip() or "the command ended without a word")

    async def _run(self, words: list[str]) -> dict[str, Any]:
        status, printed, _ = await self._start([*words, "--json"])
        try:
            content = json.loads(printed)
        except ValueError:
            content = {}
        if not isinstance(content, dict) or (not content and status):
            raise InputError("the command ended without a word; run it in a terminal to see why")
        if str(content.get("schema", "")).startswith("discreet/error"):
            raise InputError(str(content.get("message")))
        return content

    async def _start(self, words: list[str]) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "discreet", *words),  # it starts in the folder, where nothing is to be imported from
            cwd=self.path,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")


def is_plain(name: str) -> bool:
    """Whether a name is one of a visible file in the folder itself, and nothing else."""
    odd = any(sign in name for sign in ("/", "\\", "\0")) or name in ("", ".", "..")
    return not odd and not name.startswith((".", "-")) and name.isprintable() and len(name.encode()) < 200
