"""The page on which a second person approves a release, or gives it back.

What an evidence says of a release is shown as what it says; verified is only what was counted just now from the bytes.
Counting and deciding are done by the command `review`, beside the server.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nicegui import run, ui

from discreet.data.databases.address import names_table, parse
from discreet.data.toml import write_key, write_value
from discreet.errors import DiscreetError, InputError
from discreet.release.review import refuse_links
from discreet.verification.decision import NONE, OURS, digest, read_account, released_files, standing
from discreet.web import theme
from discreet.web.folder import Folder, is_plain
from discreet.web.sources import LIST, configured, find

ENDING = ".evidence.json"
COLOURS = {"approved": "good", "returned": "warn"}


def add_pages(folder: Folder) -> None:
    """Add the page to the app."""

    @ui.page("/review")
    def review() -> None:
        with theme.page(folder, "Review", "/review"):
            theme.heading("Review")
            theme.lead(
                "A second person looks at each release. It is counted again from its bytes; the decision, its time and "
                "the SHA-256 of those bytes go into the evidence."
            )
            found = list_evidences(folder.path)
            if not found:
                theme.dim("There is no release here yet.")
            for path in found:
                try:
                    row = Row(folder, path, open_account(path))
                except InputError as error:
                    _show_broken(path, error)
                else:
                    row.show()


def list_evidences(folder: Path) -> list[Path]:
    """The evidences in a folder, the newest first; a link is as old as itself."""
    return sorted(folder.glob(f"*{ENDING}"), key=lambda path: -path.lstat().st_mtime)


def _show_broken(path: Path, error: InputError) -> None:
    with theme.panel(), ui.element("div").classes("row-of"):
        theme.heading(path.name, 2)
        theme.pill("broken", "bad")
        theme.dim(str(error).replace(f"{path.parent}/", ""))


def open_account(path: Path) -> dict[str, Any]:
    """An evidence of the folder; a link out of it, or what is no evidence, is refused in our words."""
    refuse_links([path])
    return read_account(path)


def compare(path: Path, account: Mapping[str, Any]) -> str:
    """How the decision in an evidence stands to the release beside it, in a word or a few."""
    release, output = path.with_name(path.name.removesuffix(ENDING)), account["output"]
    if isinstance(output.get("database"), dict):
        return "not compared yet"  # a database is not asked by itself
    try:
        refuse_links([release, *released_files(release, output)])
        return standing(account.get("review", {}), digest(release, output))
    except (DiscreetError, OSError):
        return "its bytes are not there"


class Row:
    """A release on the page.

    Parameters
    ----------
    folder : Folder
        The folder of the app.
    path : Path
        The evidence.
    account : mapping
        What it says.
    """

    def __init__(self, folder: Folder, path: Path, account: Mapping[str, Any]) -> None:
        self.folder, self.path, self.account = folder, path, account
        self.name = path.name.removesuffix(ENDING)
        # What was counted on this page, and how the decision stands to the bytes: not known before they are read.
        self.counted: dict[str, Any] | None = None
        self.standing = "" if self.said.get("decision") else NONE
        self.is_busy, self.refused = False, ""
        self.typed = {"reviewer": "", "remarks": ""}

    @property
    def said(self) -> Mapping[str, Any]:
        """What those who decide have said."""
        found: Mapping[str, Any] = self.account.get("review", {})
        return found

    def show(self) -> None:
        """Show the release; the bytes that a decision is of are compared once the page is there."""
        self._draw()
        if not self.standing:
            ui.timer(0.01, self._compare, once=True)

    @ui.refreshable_method
    def _draw(self) -> None:
        with theme.panel():
            with ui.element("div").classes("row-of"):
                theme.heading(self.name, 2)
                theme.pill(*self._state())
            words = str((self.account.get("promise") or {}).get("words", "nothing"))
            theme.dim(f"Its evidence promises: {words}.")
            self._tell_counted()
            if rows := _tell_said(self.said):
                theme.grid(("said of it", ""), rows)
            with ui.element("div").classes("row-of"):
                for ending, word in ((".report.html", "The report"), (".internal.html", "The internal report")):
                    if self.path.with_name(f"{self.name}{ending}").is_file():
                        theme.link(word, f"/report/{quote(f'{self.name}{ending}')}", new_tab=True)
            self._ask()

    def _state(self) -> tuple[str, str]:
        """What is decided, in a word, and its colour."""
        decision = str(self.said.get("decision", ""))
        if self.standing == OURS:
            return decision, COLOURS.get(decision, "busy")
        if self.standing == NONE:
            return "to be reviewed", "busy"
        return f"{decision}: {self.standing or 'comparing the bytes'}", "bad" if self.standing else "busy"

    def _tell_counted(self) -> None:
        found = self.counted
        if self.refused:
            theme.note(f"{self.refused[:1].upper()}{self.refused[1:]}.", "bad")
        if found is None:
            theme.dim("Not verified on this page: count it again from its bytes.")
            return
        theme.note(f"Counted just now from the bytes: {found['counted']}.", "good" if found["passed"] else "bad")
        for fault in found["faults"]:
            theme.note(f"{fault[:1].upper()}{fault[1:]}.", "bad")
        for note in found["notes"]:
            theme.dim(f"{note[:1].upper()}{note[1:]}.")

    def _ask(self) -> None:
        def keep(key: str, label: str, mark: str) -> None:
            field = ui.input(label, value=self.typed[key]).props("outlined dense").style("min-width:200px").mark(mark)
            field.on_value_change(lambda event: self.typed.update({key: event.value or ""}))

        async def settle(decision: str) -> None:
            if not self.typed["reviewer"].strip():
                ui.notify("A decision needs the name of the reviewer", type="warning")
                return
            await self._run({"decision": decision, **self.typed})

        with ui.element("div").classes("row-of"):
            keep("reviewer", "Your name", "who")
            keep("remarks", "Comment", "why")
            theme.primary("Approve", lambda: settle("approved"), "approve").set_enabled(not self.is_busy)
            theme.secondary("Return", lambda: settle("returned"), "return").set_enabled(not self.is_busy)
            theme.secondary("Count again", lambda: self._run({}), "count").set_enabled(not self.is_busy)

    async def _run(self, said: Mapping[str, str]) -> None:
        """Count the release, and decide if asked to, by the command."""
        self.is_busy, self.refused = True, ""
        self._draw.refresh()
        try:
            self.counted = await _review(self.folder, self._release(), said)
            self.account = read_account(self.path)
            self.standing = standing(self.said, self.counted["sha256"])
        except DiscreetError as error:
            self.counted, self.refused = None, str(error)
        finally:
            self.is_busy = False
            self._draw.refresh()

    async def _compare(self) -> None:
        """Compare what was decided on with the file or the folder that is there; a database is not asked by itself."""

        self.standing = await run.io_bound(compare, self.path, self.account) or ""
        self._draw.refresh()

    def _release(self) -> str:
        """The release as the command names it: a file or a folder here, or a table of a database."""
        wrong = InputError(
            f"{self.path.name} is not named after a release here; review it with discreet review, or name its table in "
            f"{LIST}"
        )
        output = self.account["output"]
        database = output.get("database")
        if not isinstance(database, dict):
            if not is_plain(self.name):
                raise wrong
            return self.name
        # Of a server only those that the folder names among its sources.
        known = [one for one in configured(self.folder) if names_table(one)]
        known += [f"sqlite:{database.get('database')}#{database.get('table')}"] * (output.get("format") == "sqlite")
        for typed in known:
            if parse(typed).stem == self.name:
                return find(self.folder, typed).name
        raise wrong


async def _review(folder: Folder, release: str, said: Mapping[str, str]) -> dict[str, Any]:
    """Run the command; names and comments go by a file, for the list of processes is open to all."""
    with tempfile.NamedTemporaryFile("w", prefix="discreet-", suffix=".toml", encoding="utf-8") as file:
        file.write("".join(f"{write_key(key)} = {write_value(value)}\n" for key, value in said.items()))
        file.flush()
        return await folder.ask_now(["review", release, "--config", file.name])


def _tell_said(said: Mapping[str, Any]) -> list[list[str]]:
    """What was said of a release, by whom, and what was decided before."""
    titles = {
        "recipient": "recipient", "purpose": "purpose", "remarks": "remarks of the author",
        "named_reviewer": "reviewer that was named", "reviewer": "reviewer", "comment": "comment of the reviewer",
        "counted": "counted by the reviewer", "same_person": "beware", "decided_on": "decided on",
        "sha256": "SHA-256 of what was decided on",
    }  # fmt: skip
    who = {word: said.get(key) or {} for word, key in (("author", "author"), ("account of the reviewer", "account"))}
    rows = [[word, ", ".join(str(one) for one in person.values())] for word, person in who.items() if person]
    rows += [[word, str(said[key])] for key, word in titles.items() if said.get(key)]
    rows += [[f"safe {key}", str(text)] for key, text in said.get("five_safes", {}).items()]
    keys = ("decision", "reviewer", "decided_on", "comment", "remarks")
    rows += [["before", ", ".join(str(one[key]) for key in keys if one.get(key))] for one in said.get("earlier", [])]
    return rows
