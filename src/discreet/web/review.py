"""The page on which a second person approves a release, or gives it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from nicegui import ui

from discreet.errors import DiscreetError
from discreet.jobs.job import read_json
from discreet.release.review import decide
from discreet.web import theme
from discreet.web.folder import Folder
from discreet.web.write import evidence_of

COLOURS = {"approved": "good", "returned": "warn"}


def add_pages(folder: Folder) -> None:
    """Add the page to the app."""

    @ui.page("/review")
    def review() -> None:
        with theme.page(folder, "Review", "/review"):
            theme.heading("Review")
            theme.lead("A second person looks at each release. The decision and its time go into the evidence.")
            found = evidence_of(folder.path)
            if not found:
                theme.dim("There is no release here yet.")
            for path in found:
                _show(path)


def _show(path: Path) -> None:
    @ui.refreshable
    def shown() -> None:
        account = read_json(path)
        said: dict[str, Any] = account.get("review", {})
        name = path.name.removesuffix(".evidence.json")
        with theme.panel():
            with ui.element("div").classes("row-of"):
                theme.heading(name, 2)
                decision = said.get("decision", "")
                theme.pill(decision or "to be reviewed", COLOURS.get(decision, "busy"))
            words = (account.get("promise") or {}).get("words", "")
            passed = (account.get("verification") or {}).get("passed")
            theme.dim(f"{words[:1].upper()}{words[1:]}. {'Verified.' if passed else 'Not verified.'}")
            rows = [[key, str(said[key])] for key in ("recipient", "purpose", "reviewer", "remarks") if said.get(key)]
            rows += [[f"safe {key}", str(text)] for key, text in said.get("five_safes", {}).items()]
            rows += [["decided on", str(said["decided_on"])]] if said.get("decided_on") else []
            if rows:
                theme.grid(("said of it", ""), rows)
            with ui.element("div").classes("row-of"):
                for ending, word in ((".report.html", "The report"), (".internal.html", "The internal report")):
                    if path.with_name(f"{name}{ending}").is_file():
                        theme.link(word, f"/report/{quote(f'{name}{ending}')}", new_tab=True)
            with ui.element("div").classes("row-of"):
                who = ui.input("Your name").props("outlined dense").mark("who")
                why = ui.input("Comment").props("outlined dense").style("min-width:240px").mark("why")

                def settle(decision: str) -> None:
                    try:
                        decide(path, reviewer=who.value or "", decision=decision, remarks=why.value or "")
                    except DiscreetError as error:
                        ui.notify(str(error), type="warning")
                        return
                    shown.refresh()

                theme.primary("Approve", lambda: settle("approved"), "approve")
                theme.secondary("Return", lambda: settle("returned"), "return")

    shown()
