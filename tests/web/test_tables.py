"""From microdata to a public table in a real browser, and the same bytes as the commands that the page shows."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from discreet.cli.app import run
from discreet.examples import make
from discreet.jobs.queue import Jobs


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def test_from_microdata_to_a_public_table(tmp_path: Path, start: Callable[..., Any], page: Page) -> None:
    make("companies", tmp_path)
    app = start(tmp_path)
    page.goto(app.link)
    page.get_by_role("link", name="build a table").first.click()
    choose(page, "Dimension 1", "district")
    choose(page, "Hierarchy", "region.hrc")
    choose(page, "Dimension 2", "size_class")
    choose(page, "Value", "turnover")
    page.get_by_role("button", name="Build the table").click()

    # Rules tell their effect as they change; a mark is kept, undone, and made again.
    expect(page.get_by_text("No rule is chosen yet")).to_be_visible()
    page.get_by_label("Least contributors").fill("3")
    expect(page.get_by_text("of 113 cells are unsafe")).to_be_visible()
    unsafe = page.locator(".ag-cell.st-1")
    expect(unsafe.first).to_be_visible()
    expect(page.get_by_text("by threshold")).to_be_visible()
    unsafe.first.click()
    expect(page.get_by_text("must be possible")).to_be_visible()
    expect(page.get_by_role("row", name="attacker's interval")).to_contain_text(" to ")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    place = page.locator(".ag-row[row-index='2'] .ag-cell[col-id='c2']")
    place.focus()
    page.keyboard.press("Enter")  # as good as a click
    expect(page.get_by_text("contributors", exact=True)).to_be_visible()
    choose(page, "Mark", "frozen: must be published")
    page.get_by_role("button", name="Mark it").click()
    expect(page.locator(".st-m")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(unsafe.first).to_be_visible()
    expect(page.locator(".st-m")).to_have_count(0)
    page.locator(".ag-row[row-index='2'] .ag-cell[col-id='c2']").click()
    choose(page, "Mark", "frozen: must be published")
    page.get_by_role("button", name="Mark it").click()
    expect(page.locator(".st-m")).to_have_count(1)
    # A code is closed and opened.
    expect(page.get_by_text("R11", exact=False).first).to_be_visible()
    page.locator(".ag-cell[col-id='code']", has_text="R1").first.click()
    expect(page.locator(".ag-cell[col-id='code']", has_text="R11")).to_have_count(0)
    expect(page.locator(".ag-cell[col-id='code']", has_text="R2").first).to_be_visible()

    page.get_by_role("button", name="Next: suppress").click()
    page.get_by_label("Seconds of search").fill("1")
    page.get_by_role("button", name="Suppress", exact=True).click()
    expect(page.get_by_text("cannot work out any of the")).to_be_visible()
    expect(page.get_by_text("no sole contributor to a cell can learn too much")).to_be_visible()
    expect(page.get_by_text("every interval of the")).to_be_visible()
    job = Jobs(tmp_path).list()[-1]
    cost = f"{job.result()['printed']['measures']['cost']:,.0f}"
    expect(page.locator(".panel", has=page.get_by_text("done", exact=True))).to_contain_text(f"cost {cost} after")
    expect(page.get_by_text(f"at a cost of {cost} (")).to_be_visible()
    expect(page.locator(".st-x").first).to_have_text("x")
    page.locator(".ag-cell.st-2").first.click()  # what it protects, as the library says
    expect(page.get_by_role("row", name="protects")).to_contain_text("district=")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Next: write").click()
    page.get_by_role("button", name="Write the table").click()
    expect(page.get_by_text("companies-public.csv is released.")).to_be_visible()
    assert (tmp_path / "companies-public.csv").read_bytes() == (job.path / "public.csv").read_bytes()
    # Another one in its place only if somebody says so, and is told what goes.
    beside = sorted(path.name for path in tmp_path.glob("companies-public.csv*"))
    assert "companies-public.csv.flagged.parquet" in beside
    page.get_by_role("button", name="Write another").click()
    page.get_by_role("button", name="Write the table").click()
    for name in beside:
        expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible()
    page.get_by_role("button", name="Replace them").click()
    expect(page.get_by_text("companies-public.csv is released.")).to_be_visible()
    assert sorted(path.name for path in tmp_path.glob("companies-public.csv*")) == beside
    commands = page.locator(".code").first.inner_text().splitlines()
    assert [line.split()[1] for line in commands] == ["tabulate", "primary", "suppress"]
    for word in ("--steps", "--seed"):
        assert word in commands[-1]
        assert f"{word[2:]} = " in page.locator(".code").last.inner_text()

    app.end()
    os.chdir(tmp_path)
    names = ("companies-public.csv", "companies-public.csv.release.json")
    written = [(tmp_path / name).read_bytes() for name in names]
    for line in commands:
        assert run([*shlex.split(line)[1:], "--force", "--quiet"]) == 0
    assert [(tmp_path / name).read_bytes() for name in names] == written
