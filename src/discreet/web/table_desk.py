"""One table on the way to its release: the choices so far, and the files that are made of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import background_tasks, run, ui

from discreet.errors import InputError
from discreet.jobs.history import PLACE, History
from discreet.jobs.job import CHECKPOINT, HERE, Job, put
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import (
    MARKS,
    as_options,
    as_typed,
    judge,
    suppress,
    tabulate,
    write_marks,
    write_table_settings,
)
from discreet.own import is_own
from discreet.release.suppressed import FORMATS
from discreet.tabular.files.formats import read_table
from discreet.tabular.table import Table
from discreet.web.beside import follow, keep_aside
from discreet.web.folder import Folder

# The table as the public would see it, which is looked at.
PUBLIC = "public.csv"
# What makes the table what it is, and its unsafe cells and marks.
BUILDING = ("file", "built", "reading", "by", "value", "holding")
JUDGING = (*BUILDING, "rules", "marks")
# So many earlier states of a table are kept beside the present one, so that an undo needs no work.
MOST_KEPT = 20


class TableDesk:
    """One table on the way to its release.

    A file of its making is named by the choices that made it: a job that waits reads what was chosen when it was asked
    for, whatever is chosen meanwhile.

    Parameters
    ----------
    folder : Folder
        The folder.
    number : str
        The number of its choices.
    """

    def __init__(self, folder: Folder, number: str) -> None:
        self.folder = folder
        self.history = History(folder.path / PLACE / f"{int(number):04d}.json")
        if self.now.get("kind") != "table":
            raise InputError("there are no such choices")
        self.file = folder.file(self.now["file"])
        self.work = folder.path / PLACE / f"{self.history.id}.work"
        if not os.path.lexists(self.work):
            self.work.mkdir(mode=0o700)
        if not is_own(self.work):
            raise InputError(f"{self.work.name} in {PLACE} is a link, or others can write to it; remove it")

    @property
    def now(self) -> dict[str, Any]:
        """The choices as they stand."""
        return self.history.now

    def choices(self) -> dict[str, Any]:
        """The choices that make the table with its unsafe cells and marks."""
        return {key: value for key, value in self.now.items() if key in JUDGING and value}

    @property
    def reading(self) -> dict[str, Any]:
        """How the microdata is read, as far as it was said."""
        return self.now.get("reading") or {}

    @property
    def is_built(self) -> bool:
        """Whether the table is made of microdata here, rather than read from a file."""
        return bool(self.now.get("built"))

    @property
    def is_ready(self) -> bool:
        """Whether there is a table."""
        return self.source.is_file()

    @property
    def source(self) -> Path:
        """The file of the table."""
        return self._made("table", BUILDING) if self.is_built else self.file

    @property
    def is_judged(self) -> bool:
        """Whether rules or marks say which cells are unsafe; else the file of the table does, if anybody."""
        return bool(self.now.get("rules")) or "unsafe" in self.now.get("marks", {}).values()

    @property
    def flagged(self) -> Path:
        """The file of the table with its unsafe cells."""
        return self._made("flagged", JUDGING) if self.is_judged else self.source

    def _made(self, kind: str, keys: tuple[str, ...]) -> Path:
        """A file that was made of choices, and of the files that they name as these are now."""
        named = [self.file, *(self.folder.path / one for by in self.now.get("by", []) for one in by.split("@")[1:])]
        stats = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in named if path.is_file()]
        said = json.dumps([{key: self.now.get(key) for key in keys}, stats], sort_keys=True)
        return self.work / f"{kind}-{hashlib.sha256(said.encode()).hexdigest()[:16]}.parquet"

    def within(self, path: Path) -> str:
        """A path as commands name it."""
        return str(path.relative_to(self.folder.path))

    async def inspect(self) -> dict[str, Any]:
        """What the microdata holds."""
        words = ["inspect", self.file.name, *as_options(self.reading)]
        return await self.folder.ask(words, about=self.file)

    async def build(self) -> None:
        """Make the table of the microdata."""
        made = self.source
        if not made.is_file():
            config = made.with_suffix(".toml")
            put(config, write_table_settings(self.now, {}))
            words = tabulate(self.file.name, self.within(config), self.within(made), self.reading)
            await self.folder.do([*words, "--force"])

    async def judge(self) -> Table:
        """Find the unsafe cells, and give the table with them."""
        made = self.flagged
        if self.is_judged and not made.is_file():
            await self.build() if self.is_built else None
            files = await self.put_marks(made)
            words = judge(self.within(self.source), self.within(made.with_suffix(".toml")), self.within(made), files)
            put(made.with_suffix(".toml"), write_table_settings(self.now, {}))
            await self.folder.do([*words, "--force"])
            self._forget()
        return await self.read(made)

    async def put_marks(self, beside: Path) -> dict[str, str]:
        """Write the files of marked cells beside a file; give their names by option."""
        contents = await self._write_marks()
        named = {option: beside.with_name(f"{beside.name}.{option}.csv") for option in contents}
        for option, path in named.items():
            put(path, contents[option])
        return {option: self.within(path) for option, path in named.items()}

    async def _write_marks(self) -> dict[str, str]:
        marks = self.now.get("marks", {})
        contents = {
            option: write_marks(marks, mark)
            for mark, option in MARKS.items()
            if mark in marks.values() and option != "manual"
        }
        if "unsafe" in marks.values():
            # What the table's own file finds unsafe stays so, unless rules are to find all of it anew.
            table = None if self.now.get("rules") else await self.read(self.source)
            given = {} if table is None else {int(c): (float(table.lpl[c]), float(table.upl[c])) for c in table.primary}
            contents["manual"] = write_marks(marks, "unsafe", given)
        return contents

    def _forget(self) -> None:
        """Leave out the oldest files of choices that nobody has made for long and no job waits for."""
        jobs = [job for job in Jobs(self.folder.path).list() if job.state().state in ("queued", "running")]
        needed = " ".join(" ".join(job.command) for job in jobs)
        made = sorted(self.work.glob("*.parquet"), key=lambda path: path.stat().st_mtime)
        for path in made[:-MOST_KEPT]:
            if path.name not in needed:
                for each in self.work.glob(f"{path.stem}.*"):
                    each.unlink(missing_ok=True)

    async def read(self, path: Path) -> Table:
        """Read a table beside the server's other work."""
        table = await run.io_bound(read_table, path)
        if table is None:
            raise InputError("the app is about to end")
        return table

    def go(self, step: str) -> None:
        """Go to a step."""
        ui.navigate.to(f"/table/{self.history.id}/{step}")

    def job(self, key: str) -> Job | None:
        """A job of the choices, if it is there still."""
        try:
            return Jobs(self.folder.path).get(self.now[key]) if self.now.get(key) else None
        except InputError:
            return None

    async def search(self, search: Mapping[str, Any]) -> None:
        """Let a job look for a pattern."""
        await self.judge()
        config = self._made("search", JUDGING).with_suffix(".toml")
        put(config, write_table_settings(self.now, {}))
        words = suppress(
            self.within(self.flagged), self.within(config), f"{HERE}/{PUBLIC}", await self.put_marks(config), search
        )
        job = Jobs(self.folder.path).add(
            [*words, "--internal", f"{HERE}/internal.parquet"],
            title=f"Suppress {self.file.name}",
            about={**search, "choices": self.choices()},
        )
        self.history.choose(job=job.id, time=search["time"])

    def is_current(self, job: Job) -> bool:
        """Whether a job was asked for with the choices of now."""
        said: Any = job.request().get("about", {}).get("choices")
        return bool(said == self.choices())

    async def write(self, job: Job, output: str, *, replace: bool) -> None:
        """Let a job write the pattern that was looked at; what repeats it is put beside it when it is there."""
        if not self.is_current(job):
            raise InputError("rules or marks have changed since the search; go back one step and suppress again")
        found = job.result()["printed"]["search"]
        search = {"steps": found["steps"] or None, "seed": found["seed"]}
        marks = await self._write_marks()
        named = {option: f"{output}.{option}.csv" for option in marks}
        config, table, flagged = f"{output}.toml", f"{output}.table.parquet", f"{output}.flagged.parquet"
        source = table if self.is_built else self.file.name
        commands = [tabulate(self.file.name, config, table, self.reading)] if self.is_built else []
        commands += [judge(source, config, flagged, named)] if self.is_judged else []
        last = suppress(flagged if self.is_judged else source, config, output, named, search)
        contents = {named[option]: text.encode() for option, text in marks.items()}
        contents[config] = write_table_settings(self.now, search).encode()
        aside = keep_aside(self.folder, self.history, contents)
        here = {name: self.within(aside / name) for name in (*contents, table, flagged)}
        for words in commands:
            await self.folder.do([here.get(word, word) for word in words])
        # The search is not done again: it goes on from where it ended, which is its end. Whatever comes out is compared
        # with what was looked at.
        further = ["--expect", self.within(job.path / PUBLIC)]
        if (job.path / CHECKPOINT).exists():
            further += ["--checkpoint", self.within(job.path / CHECKPOINT)]
        about = {"output": output, "commands": [as_typed(words) for words in (*commands, last)]}
        words = [*(here.get(word, word) for word in last), *further, *(["--force"] if replace else [])]
        written = Jobs(self.folder.path).add(words, title=f"Write {output}", about=about)
        self.history.choose(written=written.id)
        background_tasks.create(follow(self.folder, self.history, written))

    def names_of(self, output: str) -> list[str]:
        """The names of all files of a release; a name that it cannot have is refused."""
        self.folder.new(output, FORMATS)
        if output == self.file.name:
            raise InputError(f"{output} is the input itself, which is never written over; choose another name")
        made = ["table.parquet"] if self.is_built else []
        made += ["flagged.parquet"] if self.is_judged else []
        marked = self.now.get("marks", {}).values()
        made += [f"{option}.csv" for mark, option in MARKS.items() if mark in marked]
        return [output, *(f"{output}.{ending}" for ending in ("release.json", "evidence.json", "toml", *made))]
