"""The last step: what is signed off, the files that are written, and the command that repeats it."""

from __future__ import annotations

from itertools import count
from typing import Any
from urllib.parse import quote

from nicegui import background_tasks, ui

from discreet.errors import DiscreetError, InputError
from discreet.jobs.job import CHECKPOINT, Job
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import GROUPING, RELEASE, SETTINGS, as_typed, repeat, write_sign_off
from discreet.release.reports.sign_off import FIVE_SAFES
from discreet.release.summary import tell_release
from discreet.web import look, theme
from discreet.web.beside import ask_to_replace, find_taken, follow, is_released, keep_aside, put_beside
from discreet.web.curve import Curve
from discreet.web.desk import Desk

# What else is named after a release.
ENDINGS = ("release.json", "evidence.json", "report.html", "internal.html", "toml", "sign-off.toml")
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
    written = _written(desk)
    if written is not None:
        _result(desk, written)
        return
    job = look.chosen(desk)
    if job is None:
        theme.note("There is no candidate yet; go back and protect the file.", "warn")
        return
    account = job.result()["printed"]
    theme.lead(
        f"Candidate {look.name_of(job)}. What is written is this very candidate: its bytes are compared with those "
        "that were looked at, and its promise is counted again."
    )
    with theme.panel("What is signed off"):
        theme.note(_sentence(account["promise"]["words"]))
        for check in account["verification"]["checks"]:
            theme.dim(f"Counted in the candidate: {_tell(account, check)}.")
        theme.entries(tell_release(account))
    _form(desk, job)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _tell(account: dict[str, Any], check: dict[str, Any]) -> str:
    """What was counted over one group of columns, in words."""
    promise, records = account["promise"], account["verification"]["records"]
    unit = next((one for one in ("household", "person") if promise.get(one)), "")
    rarest = f"with {check['smallest']:,} {unit}s" if unit else f"{check['smallest']:,} times"
    parts = [f"{check['combinations']:,} combinations in {records:,} records, the rarest {rarest}"]
    parts += [f"{one['column']} of at least {one['worst']:.3g} values" for one in check.get("l", [])]
    parts += [f"{one['column']} at most {one['worst']:.2g} from all records" for one in check.get("t", [])]
    where = f"{', '.join(check['columns'])}: " if len(promise["groups"]) > 1 else ""
    return f"{where}{'; '.join(parts)}"


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

        def begin(*, replace: bool = False) -> None:
            output = str(name.value or "")
            try:
                taken = find_taken(desk.folder, names_of(desk, job, output))
                if taken and not replace:
                    ask_to_replace(desk.folder, taken, lambda: begin(replace=True))
                    return
                written = _begin(desk, job, output, words, replace=bool(taken))
            except DiscreetError as error:
                ui.notify(str(error), type="warning")
                return
            desk.history.choose(written=written.id, chosen=job.id)
            background_tasks.create(follow(desk.folder, desk.history, written))
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


def names_of(desk: Desk, job: Job, output: str) -> list[str]:
    """The names of all files of a release; a name that it cannot have is refused."""
    desk.folder.new(output, FORMATS)
    if desk.source.file is not None and output == desk.source.file.name:
        raise InputError(f"{output} is the input itself, which is never written over; choose another name")
    grouping = [GROUPING] if (job.path / GROUPING).is_file() else []
    return [output, *(f"{output}.{ending}" for ending in (*ENDINGS, *grouping))]


def _begin(desk: Desk, job: Job, output: str, words: dict[str, Any], *, replace: bool) -> Job:
    """Let a job write the candidate with what is signed off; its configuration is put beside it when it is there."""
    contents = {
        f"{output}.toml": (job.path / SETTINGS).read_bytes(),
        f"{output}.sign-off.toml": write_sign_off(words).encode(),
    }
    grouped = (job.path / GROUPING).is_file()
    if grouped:
        contents[f"{output}.{GROUPING}"] = (job.path / GROUPING).read_bytes()
    command = repeat(desk.source.name, output, job.result()["printed"]["search"], grouping=grouped)
    aside = keep_aside(desk.folder, desk.history, contents)
    here = {name: str((aside / name).relative_to(desk.folder.path)) for name in contents}
    # The search is not done again: it goes on from where the candidate's ended, which is its end. Whatever comes out
    # is compared with what was looked at.
    kept = [str((job.path / name).relative_to(desk.folder.path)) for name in (RELEASE, CHECKPOINT)]
    further = ["--expect", kept[0], *(["--checkpoint", kept[1]] if (job.path / CHECKPOINT).exists() else [])]
    return Jobs(desk.folder.path).add(
        [*(here.get(word, word) for word in command), *further, *(["--force"] if replace else [])],
        title=f"Write {output}",
        about={"repeat": command, "output": output, "candidate": look.name_of(job)},
    )


def _result(desk: Desk, job: Job) -> None:
    def again() -> None:
        desk.history.choose(written=None)
        desk.go("write")

    if not is_released(job):
        Curve(desk.folder, job, lambda: desk.go("write"), measure="il")
        if job.state().state in ("failed", "stopped"):
            theme.dim("No file has taken the name.")
            theme.secondary("Back to the form", again, "again")
        return
    put_beside(desk.folder, desk.history, job)
    about, account = job.request()["about"], job.result()["printed"]
    command = [str(word) for word in about["repeat"]]
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
    with theme.panel("Verified"):
        theme.note(_sentence(account["promise"]["words"]), "good")
        for check in account["verification"]["checks"]:
            theme.dim(f"Counted anew from what was written: {_tell(account, check)}.")
        if about.get("candidate"):
            how = "byte for byte" if output.lower().endswith(".csv") else "compared as .csv"
            theme.dim(f"It is candidate {about['candidate']}, {how}.")
        theme.dim(f"SHA-256 of {output}: {account['output']['sha256']}").style("overflow-wrap:anywhere")
        theme.entries(tell_release(account))
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
