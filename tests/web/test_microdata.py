"""From a file to a signed-off release in a real browser, and the same bytes as the command that the page shows."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from discreet.cli.app import run
from discreet.jobs.history import PLACE


def fit(page: Page) -> None:
    """Wait until nothing sticks out at the right; a page that does so for good fails."""
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")


def tab_to(page: Page, thing: Locator) -> None:
    """Go to a part of the page by the key Tab alone."""
    thing.wait_for()
    for _ in range(400):
        if thing.evaluate("own => own.contains(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("no number of tabs leads there")


def press(page: Page, thing: Locator) -> None:
    """Use a link or a button as somebody without a mouse does."""
    tab_to(page, thing)
    page.keyboard.press("Enter")


def write(page: Page, label: str, words: str) -> None:
    """Fill in a field without a mouse."""
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type(words)


def pick(page: Page, label: str, option: str) -> None:
    """Choose from a list without a mouse."""
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.press("Enter")
    page.get_by_role("option").first.wait_for()
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if page.locator(".q-manual-focusable--focused").inner_text() == option:
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("option")).to_have_count(0)


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list with a mouse."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    expect(page.get_by_role("option")).to_have_count(0)


def wait_until_kept(app: Any, page: Page, words: str) -> None:
    """Wait until the app has what was written: a page that leaves at once may take its last words with it."""
    for _ in range(600):
        if any(words in path.read_text(encoding="utf-8") for path in (app.folder / PLACE).glob("*.json")):
            return
        page.wait_for_timeout(100)
    raise AssertionError("the app does not keep what was written")


def repeats(folder: Path, command: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that a page shows writes the same data and record."""
    monkeypatch.chdir(folder)
    names = (output, f"{output}.release.json")
    written = [(folder / name).read_bytes() for name in names]
    for path in folder.glob(f"{output}*"):
        if not path.name.endswith(".toml"):
            path.unlink()
    assert run([*shlex.split(command)[1:], "--quiet"]) == 0
    assert [(folder / name).read_bytes() for name in names] == written


def test_a_table_of_a_database_with_all_that_can_be_chosen(
    opened: tuple[Any, Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, page = opened
    page.get_by_role("link", name="office.db#people").click()
    page.get_by_role("button", name="Take the hints").click()
    following = page.get_by_role("button", name="Next: the promise")
    expect(following).to_be_enabled()

    # Records only behind a click, and no more than were asked for.
    page.get_by_role("button", name="Show some records").click()
    expect(page.locator("table.plain tbody tr")).to_have_count(0)
    page.get_by_label("How many records").fill("3")
    page.get_by_role("button", name="Show them").click()
    expect(page.locator("table.plain tbody tr")).to_have_count(3)
    page.get_by_role("button", name="Close").click()

    # Persons and weights; the order of an ordinal column by a real drag, and by keys that stay with what they move.
    choose(page, "Role of weight", "person")
    choose(page, "Role of person_id", "person")
    expect(page.get_by_text("Only one column can be the person")).to_be_visible()
    expect(following).to_be_disabled()
    choose(page, "Role of weight", "sampling weight")
    choose(page, "Type of education", "ordinal")
    chips = page.locator(".drag")
    expect(chips).to_have_text(["bachelor", "master", "primary", "secondary", "vocational"])
    chips.nth(0).drag_to(chips.nth(4))
    expect(chips).to_have_text(["master", "primary", "secondary", "vocational", "bachelor"])
    page.reload()  # a list that has closed takes the focus a while after
    expect(chips).to_have_text(["master", "primary", "secondary", "vocational", "bachelor"])
    chips.nth(0).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(chips).to_have_text(["primary", "secondary", "vocational", "bachelor", "master"])
    page.keyboard.press("ArrowLeft")
    expect(chips.nth(3)).to_have_text("master")
    page.keyboard.press("ArrowRight")
    expect(chips.nth(4)).to_have_text("master")
    for name in ("income", "household_size", "visits"):
        choose(page, f"Type of {name}", "numeric")
    page.get_by_role("button", name="More of income").click()
    page.get_by_label("Coarsen").fill("/etc/hostname:1")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("there is no such file in this folder")).to_be_visible()
    page.get_by_label("Coarsen").fill("")
    page.get_by_label("Round to multiples of").fill("100")
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_text("round to multiples of 100")).to_be_visible()
    following.click()

    # What breaks the promise today follows what is promised.
    expect(page.get_by_text("Today 400 of 400 records break it: fewer than 5 persons")).to_be_visible()
    choose(page, "How l of diagnosis is counted", "by entropy")
    page.get_by_label("l of diagnosis", exact=True).fill("2")
    expect(page.get_by_text("l of diagnosis: 400 of 400 records break it")).to_be_visible()
    choose(page, "sex", "group 2")
    expect(
        page.get_by_text("sex: Today no record breaks it: at least 5 persons share each combination.")
    ).to_be_visible()
    page.get_by_role("button", name="Next: protect").click()
    page.get_by_label("Seconds of search").fill("1")
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next: look").click()

    # Everything that tells about a candidate is on the page.
    for title in ("The intruder", "The analyst", "Loss per column", "Class sizes", "Distributions", "Correlations"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    page.get_by_role("button", name="Next: write").click()
    expect(page.get_by_text("the rarest with", exact=False).first).to_be_visible()
    page.get_by_role("button", name="Write the release").click()
    output = "office.db.people-release.csv"
    expect(page.get_by_text(f"{output} is released.")).to_be_visible()
    command = page.locator(".code").first.inner_text()
    assert f"--grouping {output}.grouping.toml" in command
    repeats(app.folder, command.partition(" --report")[0], output, monkeypatch)
    kept = json.loads((app.folder / f"{output}.evidence.json").read_text())
    assert (kept["promise"]["person"], len(kept["promise"]["groups"])) == ("person_id", 2)
    assert kept["parameters"]["columns"]["education"]["order"][-2:] == ["bachelor", "master"]


def test_from_a_file_to_a_signed_off_release_by_keyboard(
    opened: tuple[Any, Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, page = opened
    page.goto(app.home)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    assert "token" not in page.url
    press(page, page.get_by_role("link", name="survey.csv"))

    # Columns: undecided ones block; a choice is kept over a reload and can be undone.
    following = page.get_by_role("button", name="Next: the promise")
    expect(following).to_be_disabled()
    expect(page.get_by_text("15 of 15 columns are undecided")).to_be_visible()
    place = page.url.rpartition("/")[0]
    press(page, page.get_by_role("button", name="Take the hints"))
    expect(following).to_be_enabled()
    press(page, page.get_by_role("button", name="Undo"))
    expect(page.get_by_text("15 of 15 columns are undecided")).to_be_visible()
    press(page, page.get_by_role("button", name="Take the roles of survey.toml"))
    expect(following).to_be_enabled()
    pick(page, "What replaces income", "the median")
    page.reload()
    expect(following).to_be_enabled()
    press(page, following)

    # Promise: what breaks it today.
    write(page, "k", "4")
    expect(page.get_by_text("Today 400 of 400 records break it: fewer than 4 records")).to_be_visible()
    press(page, page.get_by_role("button", name="Next: protect"))

    # Protect: two candidates queue, a reload loses nothing, a stop keeps the best.
    expect(page.get_by_label("k", exact=True)).to_have_value("4")
    write(page, "Seconds of search", "600")
    press(page, page.get_by_role("button", name="Protect", exact=True))
    expect(page.get_by_text("running")).to_be_visible()
    write(page, "Seconds of search", "1")
    press(page, page.get_by_role("button", name="Protect", exact=True))
    expect(page.get_by_text("queued")).to_be_visible()
    page.get_by_text("steps", exact=False).first.wait_for()
    page.reload()
    page.get_by_text("s left", exact=False).first.wait_for()
    press(page, page.get_by_role("button", name="Stop and keep the best").last)
    expect(page.get_by_text("stopped")).to_be_visible()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    press(page, page.get_by_role("button", name="Next: look"))

    # Look: both side by side, the first is chosen.
    expect(page.get_by_role("heading", name="The intruder")).to_be_visible()
    tab_to(page, page.get_by_role("radio").first)
    page.keyboard.press(" ")
    expect(page.get_by_role("radio").first).to_be_checked()
    press(page, page.get_by_role("button", name="Next: write"))

    # Write, and review on a phone, in the dark.
    write(page, "Recipient", "The <b>institute</b>")
    write(page, "Safe people", "They have signed.")
    page.keyboard.press("Tab")
    wait_until_kept(app, page, "They have signed.")
    page.reload()
    expect(page.get_by_label("Safe people", exact=True)).to_have_value("They have signed.")
    press(page, page.get_by_role("button", name="Write the release"))
    expect(page.get_by_text("survey-release.csv is released.")).to_be_visible()
    command = page.locator(".code").first.inner_text()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        fit(page)
    press(page, page.get_by_role("button", name="Light or dark"))
    expect(page.locator("body.body--dark")).to_have_count(1)
    press(page, page.get_by_role("link", name="Have it reviewed"))
    expect(page.locator("body.body--dark")).to_have_count(1)
    expect(page.get_by_text("The <b>institute</b>")).to_be_visible()
    fit(page)
    press(page, page.get_by_role("button", name="Approve").first)
    expect(page.get_by_text("needs the name of the reviewer")).to_be_visible()
    tab_to(page, page.get_by_label("Your name").first)
    page.keyboard.type("R. Viewer")
    press(page, page.get_by_role("button", name="Approve").first)
    expect(page.get_by_text("approved")).to_be_visible()
    review = json.loads((app.folder / "survey-release.csv.evidence.json").read_text())["review"]
    assert (review["reviewer"], review["decision"]) == ("R. Viewer", "approved")
    assert review["five_safes"] == {"people": "They have signed."}
    assert review["decided_on"]

    # No page is wider than a phone.
    for step in ("columns", "promise", "protect", "look", "write"):
        page.goto(f"{place}/{step}")
        expect(page.locator("nav.steps")).to_be_visible()
        expect(page.get_by_text("Looking at the file")).to_have_count(0)
        fit(page)

    # The app says nothing, and the command that it shows writes the same.
    assert app.end() == ""
    repeats(app.folder, command, "survey-release.csv", monkeypatch)
