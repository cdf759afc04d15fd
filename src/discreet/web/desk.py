"""One file of microdata on the way to its release: the choices so far, and what was found out about the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.jobs.history import PLACE, History
from discreet.jobs.job import put
from discreet.jobs.requests import write_settings
from discreet.web.folder import Folder
from discreet.web.sources import find


class Desk:
    """One file on the way to its release: the folder, the choices so far, and what was found out about the file."""

    def __init__(self, folder: Folder, number: str) -> None:
        self.folder = folder
        self.history = History(folder.path / PLACE / f"{int(number):04d}.json")
        self.source = find(folder, self.now["file"])
        # Draws the steps above the page anew, once a choice has opened or closed one.
        self.refresh_steps: Callable[[], object] = bool

    @property
    def now(self) -> dict[str, Any]:
        """The choices as they stand."""
        return self.history.now

    @property
    def undecided(self) -> list[str]:
        """Columns without a role."""
        return [name for name, said in self.now["columns"].items() if not said.get("role")]

    def choose_for(self, name: str, **details: Any) -> None:
        """Choose something of a column."""
        columns = self.now["columns"]
        columns[name] = {**columns.get(name, {}), **details}
        self.history.choose(columns=columns)

    def columns_with(self, *roles: str) -> list[str]:
        """Columns that play one of the roles."""
        return [name for name, said in self.now["columns"].items() if said.get("role") in roles]

    async def inspect(self, *, decided: bool = True) -> dict[str, Any]:
        """What the file holds, and the risk by the roles that were chosen, unless it is asked for without them."""
        words = ["inspect", self.source.name]
        choices = {**self.now, "k": None} if decided and not self.undecided else {"reading": self.now.get("reading")}
        text = write_settings(choices)
        if not text.strip():
            return await self.folder.ask(words, about=self.source.file)
        return await self.folder.ask([*words, "--config", self.keep("toml", text)], about=self.source.file, also=text)

    def keep(self, suffix: str, text: str) -> str:
        """Keep a file for a command beside the choices, and give the name that the command has for it."""
        path = self.folder.path / PLACE / f"{self.history.id}.{suffix}"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            put(path, text)
        return str(path.relative_to(self.folder.path))

    def go(self, step: str) -> None:
        """Go to a step."""
        ui.navigate.to(f"/data/{self.history.id}/{step}")
