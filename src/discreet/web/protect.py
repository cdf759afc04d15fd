"""The steps of the promise and of the protection: what is promised, and the searches for candidates."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from discreet.errors import InputError
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import SETTINGS, try_out, write_settings
from discreet.methods import list_methods
from discreet.web import look, theme
from discreet.web.curve import Curve
from discreet.web.desk import Desk


async def show_promise(desk: Desk) -> None:
    found = await desk.inspect()
    records = found["records"]
    theme.lead("Every combination of the quasi-identifiers will occur at least k times in the release.")
    with ui.element("div").classes("grid-of"):
        with theme.panel("The promise"):
            k = ui.number("k", value=desk.now["k"], min=2, max=max(2, records), precision=0, step=1).mark("k")
            k.props("outlined dense")
            told = theme.dim("")
            strata = [name for name, said in desk.now["columns"].items() if said.get("role") == "by"]
            theme.dim(
                f"Strata: {', '.join(strata) if strata else 'none; choose the role “by” for a column to have them'}"
            )

            def tell() -> None:
                now = desk.now["k"]
                known = found["risk"].get(str(now))
                words = "" if known is None else f"Today {known:,} of {records:,} records break it."
                told.set_text(words or "How many records break it today is told for k = 2, 3, 5 and 10.")

            def choose_k(event: Any) -> None:
                if event.value and event.value >= 2:
                    desk.history.choose(k=int(event.value))
                    tell()

            k.on_value_change(choose_k)
            tell()
            confidential = [name for name, said in desk.now["columns"].items() if said.get("role") == "confidential"]
            if confidential:
                _diversity(desk, confidential)
        with theme.panel("The file as it is"):
            rows = [[f"fewer than {size}", f"{n:,}", f"{100 * n / records:.1f} %"] for size, n in found["risk"].items()]
            theme.dim("Records in combinations that so few share:")
            theme.grid(("shared by", "records", "share"), rows, right=(1, 2))
    with theme.panel("Which columns drive the risk"):
        theme.dim(
            "Records with a value that fewer than 5 share, and records in combinations of fewer than 5 if the column "
            "were left out. Whoever must coarsen or leave out something begins at the top."
        )
        risks = found["risk_by_column"].items()
        ranked = sorted(risks, key=lambda pair: (pair[1]["without"]["5"], -pair[1]["alone"]["5"]))
        share = [
            [name, *(f"{100 * one[key]['5'] / records:.1f} %" for key in ("alone", "without"))] for name, one in ranked
        ]
        theme.grid(("column", "rare by itself", "risk without it"), share, right=(1, 2))
    with ui.element("div").classes("row-of end"):
        theme.primary("Next: protect", lambda: desk.go("protect"), "next")


def _diversity(desk: Desk, confidential: list[str]) -> None:
    with ui.expansion("Further promises").style("width:100%"):
        theme.dim("Different values of a confidential column in each class (l), or how far its distribution in a class")
        theme.dim("may be from that of all records (t, from 0 to 1). Leave empty what is not promised.")
        for name in confidential:
            with ui.element("div").classes("row-of"):
                ui.label(name).style("min-width:110px;font-weight:600")
                for key, least, most, step in (("l", 2, None, 1), ("t", 0.01, 1.0, 0.05)):
                    field = ui.number(key, value=desk.now.get(key, {}).get(name), min=least, max=most, step=step)

                    def choose(event: Any, key: str = key, name: str = name) -> None:
                        said = {one: value for one, value in desk.now.get(key, {}).items() if one != name}
                        value = int(event.value) if key == "l" and event.value else event.value
                        desk.history.choose(**{key: said | ({name: value} if value else {})})

                    field.props("outlined dense").style("width:110px").on_value_change(choose)


async def show_protect(desk: Desk) -> None:
    theme.lead("A search in the background finds groups that lose as little as possible. Try several and compare them.")
    jobs = Jobs(desk.folder.path)
    names = {"": "the best there is (memetic)"}
    names |= {method.name: method.name for method in list_methods("partition") if method.name != "memetic"}
    with theme.panel("A candidate"), ui.element("div").classes("row-of"):
        k = ui.number("k", value=desk.now["k"], min=2, precision=0, step=1).props("outlined dense").mark("try-k")
        method = ui.select(names, value="", label="Method").props("outlined dense").style("min-width:240px")
        seconds = ui.number("Seconds of search", value=desk.now.get("time", 10), min=1, step=5).mark("seconds")
        seed = ui.number("Seed", value=0, min=0, precision=0, step=1)
        for each in (seconds, seed):
            each.props("outlined dense").style("width:150px")
        quasi = [name for name, said in desk.now["columns"].items() if said.get("role") == "quasi"]
        groups = ui.input("Grouping", placeholder="all together; or age,income;region").props("outlined dense")
        groups.style("min-width:240px").mark("grouping")

        def begin() -> None:
            try:
                grouping = _groups(groups.value, quasi)
            except InputError as error:
                ui.notify(str(error), type="warning")
                return
            chosen: dict[str, Any] = {"k": int(k.value or 0), "method": method.value or None, "grouping": grouping}
            about = {**chosen, "time": float(seconds.value or 10), "seed": int(seed.value or 0)}
            job = jobs.add(
                try_out(desk.file.name, time=about["time"], seed=about["seed"]),
                title=f"{desk.file.name}, k = {chosen['k']}",
                about={key: value for key, value in about.items() if value is not None},
                files={SETTINGS: write_settings({**desk.now, **chosen})},
            )
            desk.history.choose(candidates=[*desk.now.get("candidates", []), job.id], time=about["time"])
            shown.refresh()

        theme.primary("Protect", begin, "protect")

    @ui.refreshable
    def shown() -> None:
        for number in reversed(desk.now.get("candidates", [])[-4:]):
            try:
                Curve(desk.folder, jobs.get(number), shown.refresh)
            except InputError:
                continue  # removed meanwhile
        with ui.element("div").classes("row-of end"):
            ready = any(look.is_ready(jobs, number) for number in desk.now.get("candidates", []))
            theme.primary("Next: look", lambda: desk.go("look"), "next").set_enabled(ready)

    shown()


def _groups(text: str | None, quasi: list[str]) -> list[list[str]] | None:
    """Groups of columns as they are typed, or none."""
    if not (text or "").strip():
        return None
    groups = [[name.strip() for name in part.split(",") if name.strip()] for part in str(text).split(";")]
    for name in (name for group in groups for name in group):
        if name not in quasi:
            raise InputError(f"{name} is no quasi-identifier; groups are of quasi-identifiers")
    return groups
