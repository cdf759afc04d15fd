"""From a file to a signed-off release in a real browser, and the same bytes as the command that the page shows."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from discreet.cli.app import run
from discreet.examples import make
from discreet.jobs.job import CHECKPOINT
from discreet.jobs.queue import Jobs
from discreet.jobs.requests import SETTINGS, repeat, try_out

Start = Callable[..., Any]


def fit(page: Page) -> None:
    """Wait until nothing sticks out at the right; a page that does so for good fails."""
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")


def press(page: Page, thing: Locator) -> None:
    """Use a link or a button as somebody without a mouse does."""
    thing.focus()
    page.keyboard.press("Enter")


def test_from_a_file_to_a_signed_off_release(survey: Path, start: Start, page: Page) -> None:
    app = start(survey)
    page.goto(app.link)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    assert "token" not in page.url
    press(page, page.get_by_role("link", name="survey.csv"))

    # Columns: undecided ones block; a choice is kept over a reload and can be undone.
    following = page.get_by_role("button", name="Next: the promise")
    expect(following).to_be_disabled()
    expect(page.get_by_text("15 of 15 columns are undecided")).to_be_visible()
    press(page, page.get_by_role("button", name="Take the hints"))
    expect(following).to_be_enabled()
    press(page, page.get_by_role("button", name="Undo"))
    expect(page.get_by_text("15 of 15 columns are undecided")).to_be_visible()
    press(page, page.get_by_role("button", name="Take the roles of survey.toml"))
    expect(following).to_be_enabled()
    page.reload()
    expect(following).to_be_enabled()
    press(page, following)

    # Promise: what breaks it today.
    expect(page.get_by_text("Today 600 of 600 records break it.")).to_be_visible()
    page.get_by_label("k", exact=True).fill("4")
    press(page, page.get_by_role("button", name="Next: protect"))

    # Protect: two candidates queue, a reload loses nothing, a stop keeps the best.
    expect(page.get_by_label("k", exact=True)).to_have_value("4")
    page.get_by_label("Seconds of search").fill("600")
    press(page, page.get_by_role("button", name="Protect", exact=True))
    expect(page.get_by_text("running")).to_be_visible()
    page.get_by_label("Seconds of search").fill("1")
    press(page, page.get_by_role("button", name="Protect", exact=True))
    expect(page.get_by_text("queued")).to_be_visible()
    page.get_by_text("steps", exact=False).first.wait_for()
    page.reload()
    page.get_by_text("steps", exact=False).first.wait_for()
    press(page, page.get_by_role("button", name="Stop and keep the best").last)
    expect(page.get_by_text("stopped")).to_be_visible()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    press(page, page.get_by_role("button", name="Next: look"))

    # Look: both side by side, the first is chosen.
    expect(page.get_by_role("heading", name="The intruder")).to_be_visible()
    page.get_by_role("radio").first.click()
    press(page, page.get_by_role("button", name="Next: write"))

    # Write.
    page.get_by_label("Recipient").fill("The <b>institute</b>")
    page.get_by_label("Safe people").fill("They have signed.")
    page.get_by_role("button", name="Write the release").click()
    expect(page.get_by_text("survey-release.csv is released.")).to_be_visible()
    command = page.locator(".code").first.inner_text()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        fit(page)

    # Review, on a phone, in the dark.
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("body.body--dark")).to_have_count(1)
    page.get_by_role("link", name="Have it reviewed").click()
    expect(page.locator("body.body--dark")).to_have_count(1)
    expect(page.get_by_text("The <b>institute</b>")).to_be_visible()
    fit(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("needs the name of the reviewer")).to_be_visible()
    page.get_by_label("Your name").fill("R. Viewer")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("approved")).to_be_visible()
    review = json.loads((survey / "survey-release.csv.evidence.json").read_text())["review"]
    assert (review["reviewer"], review["decision"]) == ("R. Viewer", "approved")
    assert review["five_safes"] == {"people": "They have signed."}
    assert review["decided_on"]

    # The app says nothing, and the command that it shows writes the same.
    assert app.end() == ""
    os.chdir(survey)
    names = ("survey-release.csv", "survey-release.csv.release.json")
    written = [(survey / name).read_bytes() for name in names]
    for path in survey.glob("survey-release.csv*"):
        if not path.name.endswith(".toml"):
            path.unlink()
    assert run([*shlex.split(command)[1:], "--quiet"]) == 0
    assert [(survey / name).read_bytes() for name in names] == written


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_what_is_written_from_a_candidate_is_what_its_command_writes(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("survey", tmp_path, n=300)
    monkeypatch.chdir(tmp_path)
    settings = (tmp_path / "survey.toml").read_text()
    job = Jobs(tmp_path).add(try_out("survey.csv", time=0.2, seed=1), files={SETTINGS: settings}, start=False)
    kept = ["--checkpoint", str(job.path / CHECKPOINT)]
    assert run([*job.command, *kept, "--quiet"]) == 0
    account = json.loads((job.path / "candidate.csv.evidence.json").read_text())
    output = f"release{suffix}"
    (tmp_path / f"{output}.toml").write_text(settings)
    words = repeat("survey.csv", output, account["search"], report=False)
    assert run([*words, *kept, "--quiet"]) == 0
    names = [output, f"{output}.release.json"]
    written = [(tmp_path / name).read_bytes() for name in names]
    assert run([*words, "--quiet", "--force"]) == 0
    assert [(tmp_path / name).read_bytes() for name in names] == written
    if suffix == ".csv":
        assert written[0] == (job.path / "candidate.csv").read_bytes()
