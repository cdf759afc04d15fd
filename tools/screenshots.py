"""Make the pictures of the web app in docs/pictures: `python tools/screenshots.py`.

The app is started on the examples in a temporary folder, and Chromium goes through both ways to the written files.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

from discreet.examples import make

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
# Pixels of a window, and the most of a page that is shown.
WIDTH, HEIGHT = 1100, 1250


def shoot(page: Page, name: str, part: Locator | None = None) -> None:
    """Take a picture of the page, as far as a reader wants to see it, or of a part of it."""
    page.set_viewport_size({"width": WIDTH, "height": 400})
    page.wait_for_timeout(700)
    whole = int(page.evaluate("document.documentElement.scrollHeight"))
    # A window as high as the picture, so that the bar above the page lies over nothing.
    page.set_viewport_size({"width": WIDTH, "height": min(whole, HEIGHT) if part is None else whole})
    page.wait_for_timeout(300)
    (page if part is None else part).screenshot(path=PICTURES / f"app-{name}.png")
    page.set_viewport_size({"width": WIDTH, "height": 900})


def go_through_microdata(page: Page) -> None:
    """From a survey to its release."""
    page.get_by_role("link", name="survey.csv").click()
    page.get_by_role("button", name="Take the roles of survey.toml").click()
    shoot(page, "columns")
    page.get_by_role("button", name="Next: the promise").click()
    page.get_by_text("records break it").first.wait_for()
    shoot(page, "promise")
    page.get_by_role("button", name="Next: protect").click()
    for k in ("5", "10"):
        page.get_by_label("k", exact=True).fill(k)
        page.get_by_label("Seconds of search").fill("5")
        page.get_by_role("button", name="Protect", exact=True).click()
        page.wait_for_timeout(300)
    page.wait_for_function("document.querySelectorAll('.pill.good').length == 2")
    shoot(page, "protect")
    page.get_by_role("button", name="Next: look").click()
    page.get_by_role("heading", name="Correlations").wait_for()
    shoot(page, "look")
    shoot(page, "compare", page.locator("section", has=page.get_by_role("heading", name="Distributions")))
    page.get_by_role("button", name="Next: write").click()
    page.get_by_label("Recipient").fill("University library")
    page.get_by_label("Purpose").fill("Teaching")
    shoot(page, "write")
    page.get_by_role("button", name="Write the release").click()
    page.get_by_text("The command that repeats it").wait_for()
    page.get_by_role("link", name="Have it reviewed").click()
    page.get_by_role("button", name="Approve").wait_for()
    shoot(page, "review")


def go_through_tables(page: Page) -> None:
    """From companies to a public table."""
    page.get_by_role("link", name="Files").click()
    page.get_by_role("link", name="build a table").first.click()
    for label, option in (("Dimension 1", "district"), ("Hierarchy", "region.hrc"), ("Dimension 2", "size_class")):
        page.get_by_label(label).first.click()
        page.get_by_role("option", name=option, exact=True).click()
    page.get_by_label("Value").click()
    page.get_by_role("option", name="turnover", exact=True).click()
    page.get_by_role("button", name="Build the table").click()
    page.get_by_label("Least contributors").fill("3")
    page.get_by_text("No rule is chosen yet").wait_for(state="hidden")
    shoot(page, "cells")
    page.get_by_role("button", name="Next: suppress").click()
    page.get_by_label("Seconds of search").fill("4")
    page.get_by_role("button", name="Suppress", exact=True).click()
    page.get_by_text("What the public will see").wait_for()
    shoot(page, "suppress")


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name) / "office"
        folder.mkdir()
        make("companies", folder)
        make("survey", folder)
        app = subprocess.Popen(
            [sys.executable, "-m", "discreet", "app", str(folder), "--no-browser"], stdout=subprocess.PIPE, text=True
        )
        assert app.stdout is not None
        found = re.search(r"http://\S+", app.stdout.readline())
        assert found is not None
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=root)
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.set_default_timeout(120_000)
        try:
            page.goto(found[0])
            page.get_by_role("heading", name="Files").wait_for()
            shoot(page, "files")
            go_through_microdata(page)
            go_through_tables(page)
        finally:
            browser.close()
            app.send_signal(signal.SIGINT)
            app.wait()


if __name__ == "__main__":
    main()
