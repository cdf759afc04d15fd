"""What is written is the candidate that was looked at; a name is taken by what was written, and replaced if asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from discreet.examples import make
from discreet.jobs.history import begin_history
from discreet.jobs.job import CHECKPOINT, Job
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import SETTINGS, try_out, write_settings
from discreet.text import entries_of

ROLES = {"person_id": "identifier", "hours": "confidential", "diagnosis": "confidential", "visits": "confidential"}
OUTPUT = "survey-release.csv"


def try_candidate(folder: Path) -> tuple[str, Job]:
    """Make a candidate as the app does, with weights and gaps; give the page on which it is written."""
    make("survey", folder, n=300)
    lines = (folder / "survey.csv").read_text().splitlines()
    head = lines[0].split(",")
    rows = [line.split(",") for line in lines[1:]]
    for name, gaps in (("wealth", range(41)), ("income", range(40))):  # one record lacks wealth alone
        for number in gaps:
            rows[number][head.index(name)] = ""
    (folder / "survey.csv").write_text("\n".join([lines[0], *map(",".join, rows)]) + "\n")
    columns: dict[str, Any] = {name: {"role": ROLES.get(name, "quasi")} for name in head}
    columns["weight"] = {"role": "sampling weight, released"}
    choices = {"kind": "microdata", "file": "survey.csv", "columns": columns, "k": 3}
    history = begin_history(folder, choices)
    words, about = try_out("survey.csv", time=1.0, seed=1), {"k": 3, "time": 1.0}
    job = Jobs(folder).add(words, title="survey.csv, k = 3", about=about, files={SETTINGS: write_settings(choices)})
    Jobs(folder).wait(job)
    assert job.state().state == "done"
    history.choose(candidates=[job.id], time=1.0)
    return f"/data/{history.id}", job


def names(folder: Path, output: str) -> list[str]:
    return sorted(path.name for path in folder.glob(f"{output}*"))


def test_of_microdata(tmp_path: Path, start: Callable[..., Any], page: Page) -> None:
    place, job = try_candidate(tmp_path)
    account = job.result()["printed"]
    app = start(tmp_path)
    page.goto(app.link)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()

    # What the command says is on every page that leads to the release, in its words; one loss for one candidate.
    messages = (job.path / "messages.txt").read_text()
    said = dict(entries_of(messages[messages.index("survey.csv: 300 records") :]))
    loss = f"{account['measures']['il']:.2f} %"
    for step in ("protect", "look", "write"):
        page.goto(f"{app.home}{place}/{step}")
        expect(page.get_by_text("Beware: ")).to_be_visible()
        shown = " ".join(page.locator("main.page").inner_text().split())
        for title in ("Beware", "Disclosed", "Population", "Blanked", "Assumed"):
            assert " ".join(said[title].split()) in shown
        if step != "write":
            expect(page.locator("main.page")).to_contain_text(loss)
        expect(page.get_by_role("heading", name="Verified")).to_have_count(0)
        expect(page.get_by_text("a tenth of the ranks")).to_have_count(0)
    assert f"IL {loss}" in said["Loss"]

    # Stopped, nothing has the name.
    settings = (job.path / SETTINGS).read_text()
    long = Jobs(tmp_path).add(try_out("survey.csv", time=600, seed=2), files={SETTINGS: settings})
    page.get_by_role("button", name="Write the release").click()
    page.get_by_role("button", name="Leave it out").click()
    expect(page.get_by_text("No file has taken the name.")).to_be_visible()
    assert names(tmp_path, OUTPUT) == []
    Jobs(tmp_path).stop(long.id)
    page.get_by_role("button", name="Back to the form").click()

    # The very candidate.
    page.get_by_role("button", name="Write the release").click()
    expect(page.get_by_text(f"{OUTPUT} is released.")).to_be_visible()
    expect(page.get_by_role("heading", name="Verified")).to_be_visible()
    expect(page.get_by_text("byte for byte")).to_be_visible()
    assert (tmp_path / OUTPUT).read_bytes() == (job.path / "candidate.csv").read_bytes()
    written = names(tmp_path, OUTPUT)
    assert {f"{OUTPUT}.toml", f"{OUTPUT}.sign-off.toml"} < set(written)

    # Another in its place only if somebody says so, and is told what goes.
    (tmp_path / f"{OUTPUT}.toml").write_text("# by hand\n")
    page.get_by_role("button", name="Write another").click()
    for name, refused in ((OUTPUT, "These files are there already"), ("survey.csv", "is the input itself")):
        page.get_by_label("Name of the release").fill(name)
        page.get_by_role("button", name="Write the release").click()
        expect(page.get_by_text(refused)).to_be_visible()
        if name == OUTPUT:
            for each in written:
                expect(page.get_by_role("cell", name=each, exact=True)).to_be_visible()
            page.get_by_role("button", name="Choose another name").click()
            assert (tmp_path / f"{OUTPUT}.toml").read_text() == "# by hand\n"
    page.get_by_label("Name of the release").fill(OUTPUT)
    page.get_by_role("button", name="Write the release").click()
    page.get_by_role("button", name="Replace them").click()
    expect(page.get_by_text(f"{OUTPUT} is released.")).to_be_visible()
    assert (tmp_path / f"{OUTPUT}.toml").read_bytes() == (job.path / SETTINGS).read_bytes()
    assert names(tmp_path, OUTPUT) == written

    # Of another format the same records, too; and the command repeats what was replaced.
    page.get_by_role("button", name="Write another").click()
    page.get_by_label("Name of the release").fill("other.parquet")
    page.get_by_role("button", name="Write the release").click()
    expect(page.get_by_text("other.parquet is released.")).to_be_visible()
    expect(page.get_by_text("compared as .csv")).to_be_visible()

    # The file has changed since it was looked at: refused, and no name is taken.
    text = (tmp_path / "survey.csv").read_text()
    (tmp_path / "survey.csv").write_text(text.replace(",40,", ",41,"))
    assert (tmp_path / "survey.csv").read_text() != text
    page.get_by_role("button", name="Write another").click()
    page.get_by_label("Name of the release").fill("late.csv")
    page.get_by_role("button", name="Write the release").click()
    expect(page.get_by_text("the release is not the one in candidate.csv")).to_be_visible()
    assert names(tmp_path, "late.csv") == []
    assert app.end() == ""


def test_who_closes_the_page_finds_the_configuration_all_the_same(
    tmp_path: Path, start: Callable[..., Any], page: Page
) -> None:
    place, job = try_candidate(tmp_path)
    (job.path / CHECKPOINT).unlink(missing_ok=True)  # so that writing takes as long as the search
    app = start(tmp_path)
    page.goto(app.link)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    page.goto(f"{app.home}{place}/write")
    page.get_by_role("button", name="Write the release").click()
    page.get_by_role("button", name="Stop", exact=True).or_(page.get_by_text("is released")).first.wait_for()
    page.goto(f"{app.home}/jobs")
    for _ in range(600):
        if (tmp_path / f"{OUTPUT}.sign-off.toml").exists():
            break
        page.wait_for_timeout(100)
    assert (tmp_path / f"{OUTPUT}.toml").read_bytes() == (job.path / SETTINGS).read_bytes()
