"""One file of microdata on the way to its release: the choices so far, and what was found out about the file."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from discreet.jobs.history import PLACE, History
from discreet.jobs.job import put
from discreet.jobs.requests import write_settings
from discreet.web.folder import Folder


class Desk:
    """One file on the way to its release: the folder, the choices so far, and what was found out about the file."""

    def __init__(self, folder: Folder, number: str) -> None:
        self.folder = folder
        self.history = History(folder.path / PLACE / f"{int(number):04d}.json")
        self.file = folder.file(self.now["file"])

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

    async def inspect(self) -> dict[str, Any]:
        """What the file holds, and the risk by the roles that were chosen."""
        words = ["inspect", self.file.name]
        if self.now["columns"] and not self.undecided:
            chosen = self.folder.path / PLACE / f"{self.history.id}.toml"
            text = write_settings({**self.now, "k": None})
            if not chosen.is_file() or chosen.read_text(encoding="utf-8") != text:
                put(chosen, text)
            words += ["--config", str(chosen.relative_to(self.folder.path))]
            return await self.folder.ask(words, about=self.file, also=text)
        return await self.folder.ask(words, about=self.file)

    def go(self, step: str) -> None:
        """Go to a step."""
        ui.navigate.to(f"/data/{self.history.id}/{step}")
