"""The last step: what is signed off, the files that are written, and the command that repeats it."""

from __future__ import annotations

from itertools import count
from typing import Any
from urllib.parse import quote

from nicegui import ui

from discreet.errors import DiscreetError, InputError
from discreet.jobs.job import CHECKPOINT, Job
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import GROUPING, SETTINGS, as_typed, repeat, write_sign_off
from discreet.release.atomic import write_contents
from discreet.release.reports.sign_off import FIVE_SAFES
from discreet.web import look, theme
from discreet.web.curve import Curve
from discreet.web.desk import Desk

FORMATS = (".csv", ".parquet", ".arrow", ".xlsx", ".dta", ".sav")
ASKS = {
    "projects": "Is the use lawful and of public benefit?",
    "people": "Can the recipients be trusted with it?",
    "settings": "Where will the data be used?",
    "data": "What is left of the risk?",
    "outputs": "Who checks what is published from it?",
}
FIELDS = {
    "author": "Your name",
    "recipient": "Recipient",
    "purpose": "Purpose",
    "reviewer": "Reviewer",
    "remarks": "Comment",
}


async def show(desk: Desk) -> None:
    """The page."""
    job = look.chosen(desk)
    if job is None:
        theme.note("There is no candidate yet; go back and protect the file.", "warn")
        return
    account = job.result()["printed"]
    written = _written(desk)
    theme.lead(f"Candidate {look.name_of(job)}. Nothing is written that does not keep its promise.")
    with theme.panel("Verified"):
        theme.note(f"{account['promise']['words'].capitalize()}.", "good")
        for check in account["verification"]["checks"]:
            theme.dim(_tell(account, check))
    if written is None:
        _form(desk, job)
    else:
        _result(desk, written)


def _tell(account: dict[str, Any], check: dict[str, Any]) -> str:
    """What was counted over one group of columns, in words."""
    promise, records = account["promise"], account["verification"]["records"]
    unit = next((one for one in ("household", "person") if promise.get(one)), "")
    rarest = f"with {check['smallest']:,} {unit}s" if unit else f"{check['smallest']:,} times"
    parts = [f"{check['combinations']:,} combinations in {records:,} records, the rarest {rarest}"]
    parts += [f"{one['column']} of at least {one['worst']:.3g} values" for one in check.get("l", [])]
    parts += [f"{one['column']} at most {one['worst']:.2g} from all records" for one in check.get("t", [])]
    where = f"{', '.join(check['columns'])}: " if len(promise["groups"]) > 1 else ""
    return f"{where}Counted anew from what was written: {'; '.join(parts)}."


def _written(desk: Desk) -> Job | None:
    try:
        return Jobs(desk.folder.path).get(desk.now["written"]) if desk.now.get("written") else None
    except InputError:
        return None


def _form(desk: Desk, job: Job) -> None:
    words: dict[str, Any] = {"five_safes": {}, **desk.now.get("sign_off", {})}

    def ask(label: str, own: dict[str, Any], key: str, mark: str, hint: str = "") -> None:
        field = ui.input(label, value=own.get(key, "")).props("outlined dense").style("width:100%").mark(mark)
        field.props.update({"hint": hint} if hint else {})
        field.on_value_change(lambda event: own.update({key: event.value}))
        field.on("blur", lambda: desk.history.choose(sign_off=words))  # a reload loses nothing

    with ui.element("div").classes("grid-of"):
        with theme.panel("Sign-off"):
            for key, label in FIELDS.items():
                ask(label, words, key, key)
        with theme.panel("Five Safes"):
            for key in FIVE_SAFES:
                ask(f"Safe {key}", words["five_safes"], key, f"safe-{key}", ASKS[key])
    with theme.panel("Files"):
        name = ui.input("Name of the release", value=_free_name(desk)).props("outlined dense")
        name.style("width:min(420px,100%)").mark("output")
        theme.dim(
            "Beside it: its record and a report, which may be published; the evidence, an internal report, and the "
            "configuration that repeats it, which are internal."
        )

        def begin() -> None:
            try:
                number = _begin(desk, job, str(name.value or ""), words)
            except DiscreetError as error:
                ui.notify(str(error), type="warning")
                return
            desk.history.choose(written=number, chosen=job.id)
            desk.go("write")

        with ui.element("div").classes("row-of end"):
            theme.primary("Write the release", begin, "write")


def _free_name(desk: Desk) -> str:
    """A name for the release that no file has yet."""
    suffix = desk.source.suffix if desk.source.suffix in FORMATS else ".csv"
    for number in count(1):
        name = f"{desk.source.stem}-release{'' if number == 1 else f'-{number}'}{suffix}"
        if not (desk.folder.path / name).exists():
            break
    return name


def _begin(desk: Desk, job: Job, output: str, words: dict[str, Any]) -> str:
    """Write the configuration and the sign-off, and let a job make the release from them; give its number."""
    path = desk.folder.new(output, FORMATS)
    contents = {
        path.with_name(f"{output}.toml"): (job.path / SETTINGS).read_bytes(),
        path.with_name(f"{output}.sign-off.toml"): write_sign_off(words).encode(),
    }
    grouped = (job.path / GROUPING).is_file()
    if grouped:
        contents[path.with_name(f"{output}.{GROUPING}")] = (job.path / GROUPING).read_bytes()
    command = repeat(desk.source.name, output, job.result()["printed"]["search"], grouping=grouped)
    write_contents(contents)
    # The search is not done again: it goes on from where the candidate's ended, which is its end.
    checkpoint = job.path / CHECKPOINT
    kept = ["--checkpoint", str(checkpoint.relative_to(desk.folder.path))] if checkpoint.exists() else []
    return Jobs(desk.folder.path).add([*command, *kept], title=f"Write {output}", about={"repeat": command}).id


def _result(desk: Desk, job: Job) -> None:
    state = job.state().state

    def again() -> None:
        desk.history.choose(written=None)
        desk.go("write")

    if state != "done":
        Curve(desk.folder, job, lambda: desk.go("write"))
        if state in ("failed", "stopped"):
            theme.secondary("Back to the form", again, "again")
        return
    command = [str(word) for word in job.request()["about"]["repeat"]]
    output = command[command.index("-o") + 1]
    with theme.panel("Written"):
        theme.note(f"{output} is released.", "good").mark("released")
        beside = [f"{output}.{ending}" for ending in ("toml", GROUPING, "sign-off.toml")]
        names = [*job.result()["files"], *(name for name in beside if (desk.folder.path / name).is_file())]
        theme.grid(("file", ""), [[name, _kind(name, output)] for name in sorted(names)])
        with ui.element("div").classes("row-of"):
            for ending, word in ((".report.html", "The report"), (".internal.html", "The internal report")):
                if (desk.folder.path / report_of(output, ending)).is_file():
                    theme.link(word, f"/report/{quote(report_of(output, ending))}", new_tab=True)
            theme.link("Have it reviewed", "/review")
    with theme.panel("The command that repeats it"):
        theme.code(as_typed(command))
        for name in (f"{output}.toml", f"{output}.{GROUPING}"):
            if (desk.folder.path / name).is_file():
                theme.dim(f"with {name}:")
                theme.code((desk.folder.path / name).read_text(encoding="utf-8"))
    with ui.element("div").classes("row-of end"):
        theme.secondary("Write another", again, "again")


def report_of(output: str, ending: str) -> str:
    """The name of a report of a release."""
    return f"{output}{ending}"


def _kind(name: str, output: str) -> str:
    public = name in (output, f"{output}.release.json") or name.endswith(".report.html")
    return "may be published" if public else "internal"
