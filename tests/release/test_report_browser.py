"""A report in a real browser, without a network: no message, no request, nothing that sticks out or cannot be read."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

import discreet
from reporting import ROLES, survey


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Both reports, with names that a browser might obey."""
    folder = tmp_path_factory.mktemp("reports")
    frame = survey(1200).rename({"town": "<img src=x onerror=alert(1)>"})
    roles = ROLES | {"quasi": ["age", "income", "<img src=x onerror=alert(1)>"]}
    release = discreet.protect(frame, k=5, method="mdav", **roles)
    release.evidence["alternatives"] = [{"name": f"k = {k}", "il": 5.0 + k, "dld": 40.0 / k} for k in (3, 10)]
    return [release.report(folder / f"{kind}.html", internal=kind == "internal") for kind in ("public", "internal")]


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Page]:
    """A page of the browser that is told nothing by any network."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        context = running.new_context(offline=True)
        yield context.new_page()
        running.close()


@pytest.mark.parametrize("place", [0, 1], ids=["public", "internal"])
def test_a_report_opens_quietly_and_fits(pages: list[Path], browser: Page, place: int) -> None:
    told: list[str] = []
    browser.on("console", lambda message: told.append(message.text))
    browser.on("pageerror", lambda error: told.append(str(error)))
    browser.on("request", lambda request: told.append(request.url))
    address = pages[place].as_uri()
    browser.goto(address)
    assert told == [address]
    assert browser.locator("script, img, iframe, link, object").count() == 0
    assert browser.locator(".chart svg").count() > 3
    assert all(browser.locator("[role=img]").evaluate_all("all => all.map(one => one.ariaLabel.length > 20)"))
    assert browser.locator("nav a").count() == browser.locator("main > section").count()
    headings = browser.locator("h1, h2, h3").evaluate_all("all => all.map(one => +one.tagName[1])")
    assert headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))
    for media, width, scheme in (("screen", 1200, "light"), ("screen", 400, "dark"), ("print", 700, "light")):
        browser.set_viewport_size({"width": width, "height": 900})
        browser.emulate_media(media=media, color_scheme=scheme)  # type: ignore[arg-type]
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        # Texts of charts are as dark or light as the text around them, and none is cut off.
        paper, ink = browser.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        inks = browser.locator("svg text").evaluate_all(
            "all => [...new Set(all.map(one => getComputedStyle(one).fill))]"
        )
        assert inks == [ink]
        assert paper != ink
        outside = browser.locator("svg text").evaluate_all(
            """all => all.filter(one => {
                const text = one.getBoundingClientRect(), chart = one.closest("svg").getBoundingClientRect();
                return text.left < chart.left - 3 || text.right > chart.right + 3 || text.bottom > chart.bottom + 3;
            }).map(one => one.textContent)"""
        )
        assert outside == []
    assert told == [address]
