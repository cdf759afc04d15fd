"""A file that nobody can tell how to read is no dead end: it is said on the page, or by a configuration beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
from playwright.sync_api import Page, expect

# A code that is the name of a column, too: the first line may be a record.
UNCLEAR = '"","city","kind"\n' + "".join(f'"{i}","{"ABC"[i % 3]}","{("x", "kind", "y")[i % 3]}"\n' for i in range(12))


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_what_is_uncertain_is_said_on_the_page_or_beside_the_file(
    tmp_path: Path, start: Callable[..., Any], page: Page
) -> None:
    (tmp_path / "stops.csv").write_text(UNCLEAR)
    (tmp_path / "told.csv").write_text(UNCLEAR)
    (tmp_path / "told.toml").write_text('header = true\n[columns.city]\nrole = "quasi"\n')
    (tmp_path / "slip.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "slip.toml").write_text("headr = true\n")
    book = openpyxl.Workbook()
    people = book.create_sheet("people")
    for row in (("name", "size"), ("Jörg", 1), ("Anna", 2)):
        people.append(row)
    book.save(tmp_path / "book.xlsx")
    app = start(tmp_path)
    page.goto(app.link)

    page.get_by_role("link", name="stops.csv").click()
    expect(page.get_by_text("the first line may be a record")).to_be_visible()
    choose(page, "The first line", "names the columns")
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_text("12 records, 3 columns")).to_be_visible()
    expect(page.get_by_text("city", exact=True)).to_be_visible()
    page.get_by_role("button", name="Take the hints").click()
    page.get_by_role("button", name="Next: the promise").click()
    expect(page.get_by_text("of 12 records break it")).to_be_visible()
    page.get_by_role("link", name="Columns").click()
    page.get_by_text("How the file is read").click()
    choose(page, "The first line", "is a record")
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_text("13 records, 3 columns")).to_be_visible()
    page.get_by_text("How the file is read").click()
    page.get_by_label("Delimiter").fill(";")
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_text("stops.csv, line 1: a quote opens a field")).to_be_visible()
    page.get_by_label("Delimiter").fill(",")
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_text("13 records, 3 columns")).to_be_visible()

    # A configuration beside the file says it by itself; its roles wait for a click, and a wrong one is told.
    page.goto(app.home)
    page.get_by_role("link", name="told.csv").click()
    expect(page.get_by_text("Read as told.toml says: header yes.")).to_be_visible()
    expect(page.get_by_text("12 records, 3 columns")).to_be_visible()
    expect(page.get_by_text("3 of 3 columns are undecided")).to_be_visible()
    page.get_by_role("button", name="Take the roles of told.toml").click()
    expect(page.get_by_text("2 of 3 columns are undecided")).to_be_visible()
    page.goto(app.home)
    page.get_by_role("link", name="slip.csv").click()
    expect(page.get_by_text("slip.toml lies beside the file and is not taken")).to_be_visible()
    expect(page.get_by_text("2 records, 2 columns")).to_be_visible()

    # Of a sheet that is not there the page says so, and another can be named.
    page.goto(app.home)
    page.get_by_role("link", name="book.xlsx").click()
    page.get_by_text("How the file is read").click()
    page.get_by_label("Sheet").fill("none")
    page.get_by_role("button", name="Read it so").click()
    expect(page.locator(".note.bad")).to_contain_text("none")
    page.get_by_label("Sheet").fill("people")
    page.get_by_role("button", name="Read it so").click()
    expect(page.get_by_text("2 records, 2 columns")).to_be_visible()

    # The same on the way of a table, whose command says how the file is read.
    page.goto(app.home)
    page.locator(".row-of", has=page.get_by_role("link", name="stops.csv")).get_by_text("build a table").click()
    expect(page.get_by_text("the first line may be a record")).to_be_visible()
    choose(page, "The first line", "names the columns")
    page.get_by_role("button", name="Read it so").click()
    choose(page, "Dimension 1", "city")
    page.get_by_role("button", name="Build the table").click()
    expect(page.get_by_text("4 of 4 cells are unsafe").or_(page.get_by_text("0 of 4 cells are unsafe"))).to_be_visible()
