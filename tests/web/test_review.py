"""The page Review: only what was counted just now is verified, and a broken or forged evidence harms no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Page, expect

import discreet

Start = Callable[..., Any]
FRAME = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
FORGED = {
    "schema": "discreet/evidence/5",
    "kind": "microdata",
    "parameters": {},
    "promise": {"words": "every combination occurs at least 1,000 times", "k": 1000, "groups": [["age"]]},
    "verification": {"passed": True},
    "input": {},
    "output": {"file": "forged.csv", "sha256": "0" * 64},
    "review": {"decision": "approved", "reviewer": "Nobody", "sha256": "0" * 64},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a good release, forged and broken evidences, and a link out of it."""
    folder = tmp_path / "work"
    folder.mkdir()
    release = discreet.protect(FRAME, k=3, quasi=["age"], confidential=["ill"], steps=1)
    release.write(folder / "good.csv")
    (folder / "forged.csv").write_text("age,ill\n1,2\n")
    (folder / "forged.csv.evidence.json").write_text(json.dumps(FORGED))
    broken = ('{"review": []}', "[]", "{", json.dumps(FORGED | {"review": []}), "\0", "[" * 10_000)
    for place, text in enumerate(broken):
        (folder / f"broken{place}.csv.evidence.json").write_text(text)
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(FORGED | {"promise": {"words": "a secret from outside"}}))
    (folder / "link.csv.evidence.json").symlink_to(outside)
    (folder / "nowhere.csv.evidence.json").symlink_to(tmp_path / "nowhere.json")
    return folder


def test_only_what_was_counted_just_now_is_verified(folder: Path, start: Start, page: Page) -> None:
    app = start(folder)
    page.goto(app.link)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    answer = page.goto(f"{app.home}/review")
    assert answer is not None
    assert answer.status == 200
    expect(page.get_by_text("broken", exact=True)).to_have_count(8)
    expect(page.get_by_text("a secret from outside")).to_have_count(0)
    for word in ("Error", "Traceback", "Verified.", "object has no"):
        expect(page.get_by_text(word)).to_have_count(0)
    forged = page.locator("section.panel", has_text="forged.csv")
    expect(forged.get_by_text("approved: void")).to_be_visible()
    forged.get_by_label("Your name").fill("B")
    forged.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("forged.csv is not approved")).to_be_visible()
    expect(forged.get_by_text("Counted just now")).to_have_count(0)

    good = page.locator("section.panel", has_text="good.csv")
    expect(good.get_by_text("Not verified on this page")).to_be_visible()
    good.get_by_role("button", name="Count again").click()
    expect(good.get_by_text("Counted just now from the bytes: passed: 2 combinations")).to_be_visible()
    good.get_by_label("Your name").fill("Bea <b>B</b>")
    good.get_by_label("Comment").fill("fine")
    good.get_by_role("button", name="Approve").click()
    expect(good.get_by_text("approved", exact=True)).to_be_visible()
    expect(good.get_by_text("the same account of the operating system").first).to_be_visible()
    expect(good.get_by_text("Bea <b>B</b>").first).to_be_visible()

    # Other bytes: void, and not approved.
    (folder / "good.csv").write_text((folder / "good.csv").read_text().replace("1\n", "7\n"))
    page.reload()
    expect(good.get_by_text("approved: void")).to_be_visible()
    good.get_by_role("button", name="Count again").click()
    expect(good.get_by_text("the SHA-256 differs").first).to_be_visible()
    review = json.loads((folder / "good.csv.evidence.json").read_text())["review"]
    assert (review["decision"], review["comment"], review["reviewer"]) == ("approved", "fine", "Bea <b>B</b>")
    assert (folder / "link.csv.evidence.json").is_symlink()


def test_a_page_that_fails_shows_no_words_of_another_library(tmp_path: Path, start: Start, page: Page) -> None:
    work = tmp_path / "work"
    work.mkdir()
    app = start(work)
    page.goto(app.link)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    work.rename(tmp_path / "gone")
    try:
        page.goto(f"{app.home}/")
        expect(page.get_by_text("could not be shown, by a fault of ours")).to_be_visible()
        for word in ("FileNotFoundError", "No such file", str(tmp_path)):
            expect(page.get_by_text(word)).to_have_count(0)
    finally:
        (tmp_path / "gone").rename(work)
