"""The step of the promise: what is promised, how many records break it today, and which columns drive the risk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.data.groupings import groups_text, read_groups
from discreet.errors import InputError
from discreet.jobs.job import Job
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import GROUPING, SETTINGS, count_broken, find_grouping, write_settings
from discreet.web import theme
from discreet.web.curve import Curve
from discreet.web.desk import Desk

# Seconds that a grouping is searched for.
GROUPING_TIME = 20.0
ENTROPY = "entropy:"


async def show_promise(desk: Desk) -> None:
    """The page."""
    found = await desk.inspect()
    records = found["records"]
    theme.lead("Every combination of the quasi-identifiers will occur at least k times in the release.")

    @ui.refreshable
    def drivers() -> None:
        _show_drivers(found, desk.now["k"])

    with ui.element("div").classes("grid-of"):
        with theme.panel("The promise"):
            k = ui.number("k", value=desk.now["k"], min=2, max=max(2, records), precision=0, step=1).mark("k")
            k.props("outlined dense debounce=400")
            theme.dim("Offices often ask for 3, 5 or 10. The larger k, the safer the release, and the more is lost.")
            _show_units(desk)
        with theme.panel("The file as it is"):
            today = ui.element("div").classes("content").props('role="status"')
            rows = [[f"fewer than {size}", f"{n:,}", f"{100 * n / records:.1f} %"] for size, n in found["risk"].items()]
            theme.dim("Records in combinations that so few share:")
            theme.grid(("shared by", "records", "share"), rows, right=(1, 2))
    asked = 0

    async def count() -> None:
        nonlocal asked
        asked += 1
        mine = asked
        today.clear()
        with today:
            theme.dim("Counting …")
        words = await _count(desk)
        if mine == asked:  # else something else was chosen meanwhile
            today.clear()
            with today:
                for line, kind in words:
                    theme.note(line, kind)

    async def choose_k(event: Any) -> None:
        if event.value and event.value >= 2:
            desk.history.choose(k=int(event.value))
            drivers.refresh()
            await count()

    k.on_value_change(choose_k)
    confidential = desk.columns_with("confidential", "sampling weight, released")
    if confidential:
        _show_further(desk, confidential, count)
    quasi = quasi_of(desk)
    if len(quasi) > 1:
        _show_grouping(desk, quasi, count)
    drivers()
    with ui.element("div").classes("row-of end"):
        theme.primary("Next: protect", lambda: desk.go("protect"), "next")
    ui.timer(0.01, count, once=True)


def quasi_of(desk: Desk) -> list[str]:
    """The quasi-identifiers."""
    return desk.columns_with("quasi", "sampling weight, averaged")


def groups_of(desk: Desk) -> list[list[str]]:
    """The groups of quasi-identifiers as they were chosen; all in one if nothing was, or if it is of other columns."""
    quasi = quasi_of(desk)
    said: list[list[str]] = [[name for name in group if name in quasi] for group in desk.now.get("grouping") or []]
    lost = [name for name in quasi if not any(name in group for group in said)]
    return [group for group in (*said, lost) if group]


async def _count(desk: Desk) -> list[tuple[str, str]]:
    """How many records break the promise today, in words."""
    groups = groups_of(desk)
    text = groups_text(groups, {})
    words = count_broken(desk.source.name, desk.now, desk.keep(GROUPING, text))
    try:
        told = (await desk.folder.ask(words, about=desk.source.file, also=text))["verification"]
    except InputError as error:
        return [(str(error), "warn")]
    records, k = told["records"], desk.now["k"]
    unit = next(iter(desk.columns_with("household", "person")), None)
    who = desk.now["columns"][unit]["role"] if unit else "record"
    lines = []
    for check, group in zip(told["checks"], groups, strict=True):
        where = f"{', '.join(group)}: " if len(groups) > 1 else ""
        lines.append(
            f"{where}Today {check['records_exposed']:,} of {records:,} records break it: fewer than {k} {who}s share "
            "their combination."
            if check["records_exposed"]
            else f"{where}Today no record breaks it: at least {k} {who}s share each combination."
        )
        for key in ("l", "t"):
            lines += [
                f"{where}{key} of {one['column']}: {one['records_exposed']:,} of {records:,} records break it; the "
                f"worst combination has {one['worst']:.3g}."
                for one in check.get(key, [])
            ]
    return [(line, "good" if "no record" in line or " 0 of" in line else "warn") for line in lines]


def _show_units(desk: Desk) -> None:
    """What the columns have settled already: strata, and who is counted."""
    strata = desk.columns_with("by")
    theme.dim(f"Strata: {', '.join(strata) if strata else 'none; choose the role “by” for a column to have them'}.")
    for name in desk.columns_with("person"):
        theme.dim(f"Persons are counted, by {name}: k persons share each combination, however many records they have.")
    for name in desk.columns_with("household"):
        theme.dim(f"Households are counted, by {name}: k households look alike, all members taken together.")
        most = ui.number("Cut households of more than so many members", value=desk.now.get("split_households"), min=1)
        most.props("outlined dense clearable precision=0").style("width:min(380px,100%)")
        most.on_value_change(
            lambda event: desk.history.choose(split_households=int(event.value) if event.value else None)
        )
    for name, said in desk.now["columns"].items():
        if str(said.get("role")).startswith("sampling weight"):
            theme.dim(f"Means, risk and loss are weighted by {name}.")


def _show_further(desk: Desk, confidential: list[str], changed: Callable[[], Any]) -> None:
    """Further promises on confidential columns."""
    with theme.panel("Further promises"):
        theme.dim(
            "Whoever finds a class, the records that share a combination, may learn a confidential value of all in it. "
            "l asks for so many different values in each class, also counted by entropy, which asks for equal shares; "
            "t, from 0 to 1, says how far their distribution may be from that of all records. Leave empty what is not "
            "promised."
        )
        for name in confidential:
            said = str(desk.now.get("l", {}).get(name, ""))
            with ui.element("div").classes("row-of"):
                ui.label(name).style("min-width:130px;font-weight:600;overflow-wrap:anywhere")
                number = ui.number("l", value=float(said.removeprefix(ENTROPY)) if said else None, min=1, step=1)
                how = ui.select({"": "different", ENTROPY: "by entropy"}, value=ENTROPY if ENTROPY in said else "")
                close = ui.number("t", value=desk.now.get("t", {}).get(name), min=0.01, max=1.0, step=0.05)
                for field, words in ((number, "l of {}"), (how, "How l of {} is counted"), (close, "t of {}")):
                    field.props("outlined dense debounce=400").style("width:150px")
                    field.props["aria-label"] = words.format(name)

            async def choose(
                _: Any, name: str = name, number: ui.number = number, how: ui.select = how, close: ui.number = close
            ) -> None:
                plain = number.value and (int(number.value) if number.value == int(number.value) else number.value)
                wanted = {"l": f"{ENTROPY}{number.value:g}" if plain and how.value else plain, "t": close.value}
                chosen = {
                    key: {one: value for one, value in desk.now.get(key, {}).items() if one != name}
                    | ({name: wanted[key]} if wanted[key] else {})
                    for key in ("l", "t")
                }
                desk.history.choose(**chosen)
                await changed()

            for field in (number, how, close):
                field.on_value_change(choose)


def _show_grouping(desk: Desk, quasi: list[str], changed: Callable[[], Any]) -> None:
    """Which quasi-identifiers are protected together: by hand, or as a search finds."""

    def keep(groups: list[list[str]] | None) -> None:
        desk.history.choose(grouping=groups if groups and len(groups) > 1 else None)

    async def put(name: str, number: int) -> None:
        groups = [[one for one in group if one != name] for group in groups_of(desk)]
        groups += [[] for _ in range(number - len(groups))]
        groups[number - 1].append(name)
        keep([[one for one in quasi if one in group] for group in groups if group])
        shown.refresh()
        await changed()

    async def take(groups: list[list[str]] | None) -> None:
        keep(groups)
        shown.refresh()
        await changed()

    def search() -> None:
        settings = write_settings(desk.now)
        words = find_grouping(desk.source.name, time=GROUPING_TIME)
        title = f"{desk.source.title}, groups of columns"
        job = desk.folder.jobs.add(words, title=title, about={"time": GROUPING_TIME}, files={SETTINGS: settings})
        desk.history.choose(grouping_job=job.id)
        shown.refresh()

    @ui.refreshable
    def shown() -> None:
        groups = groups_of(desk)
        with ui.element("div").classes("row-of"):
            for name in quasi:
                at = next(number for number, group in enumerate(groups, 1) if name in group)
                most = min(len(groups) + 1, len(quasi))
                field = ui.select({number: f"group {number}" for number in range(1, most + 1)}, value=at, label=name)
                field.props("outlined dense options-dense").style("min-width:150px").mark(f"group-{name}")
                field.on_value_change(lambda event, name=name: put(name, int(event.value)))
        job = _grouping_job(desk)
        if job is not None and job.state().state in ("queued", "running"):
            Curve(desk.folder, job, shown.refresh)
        elif job is not None and job.state().state == "failed":
            theme.note(f"No grouping was found: {job.state().message}.", "warn")
        with ui.element("div").classes("row-of"):
            theme.secondary(f"Search for groups ({GROUPING_TIME:.0f} s)", search, "find-grouping")
            if job is not None and (job.path / GROUPING).is_file():
                best = read_groups(job.path / GROUPING)
                theme.secondary("Take what was found", lambda: take(best), "take-grouping")
                theme.dim(
                    f"Found: {'; '.join(', '.join(group) for group in best)}"
                    if len(best) > 1
                    else "Found: all together"
                )
            if len(groups) > 1:
                theme.secondary("All together", lambda: take(None), "together")

    with theme.panel("Groups of columns"):
        theme.dim(
            "With many quasi-identifiers much is lost. Columns in groups are protected group by group: at least k "
            "records share each combination within a group, and nothing is promised across groups."
        )
        shown()


def _grouping_job(desk: Desk) -> Job | None:
    number = desk.now.get("grouping_job")
    try:
        return Jobs(desk.folder.path).get(number) if number else None
    except InputError:
        return None


def _show_drivers(found: dict[str, Any], k: int) -> None:
    """Which columns drive the risk, for the size that is counted and nearest to k."""
    records = found["records"]
    size = max((int(one) for one in found["risk"] if int(one) <= k), default=min(map(int, found["risk"])))
    with theme.panel("Which columns drive the risk"):
        theme.dim(
            f"Records with a value that fewer than {size} share, and records in combinations of fewer than {size} if "
            "the column were left out. Whoever must coarsen or leave out something begins at the top."
        )
        risks = found["risk_by_column"].items()
        ranked = sorted(risks, key=lambda pair: (pair[1]["without"][str(size)], -pair[1]["alone"][str(size)]))
        share = [
            [name, *(f"{100 * one[key][str(size)] / records:.1f} %" for key in ("alone", "without"))]
            for name, one in ranked
        ]
        theme.grid(("column", "rare by itself", "risk without it"), share, right=(1, 2))
