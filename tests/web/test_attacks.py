"""Attacks on the app as it runs: other hosts and origins, markup in names, paths that lead out of the folder.

One app is attacked in all tests; it was opened as a user without `--no-browser` opens it, and is still well afterwards.
"""

import os
import re
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from playwright.sync_api import Browser, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import discreet
from discreet.errors import InputError
from discreet.jobs.history import begin_history
from discreet.release.atomic import write_table
from discreet.tabular.dimension import Dimension
from discreet.web.folder import Folder, is_plain

# Markup, a script, and what a template in the browser would compute.
EVIL = "\"'><img src=x onerror=window.owned=1>{{constructor.constructor('window.owned=1')()}}"
HEAD = f"{EVIL} head"
NAME = "<img src=x onerror=window.owned=1>"


class Target:
    """An app that was entered, its page and its cookie."""

    def __init__(self, app: Any, page: Page, file: Path) -> None:
        self.app, self.page, self.file = app, page, file
        self.port = int(app.home.rpartition(":")[2])
        self.cookie = f"discreet-{self.port}"
        self.key = {one["name"]: one["value"] for one in page.context.cookies()}[self.cookie]
        self.known = {"cookie": f"{self.cookie}={self.key}"}
        self.socket = f"ws://127.0.0.1:{self.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"

    def show(self, path: str, sign: str) -> None:
        """Go to a page, wait until it shows something, and see that nothing in it was run."""
        self.page.goto(self.app.home + path)
        expect(self.page.get_by_text(sign).first).to_be_visible()
        self.check()

    def check(self) -> None:
        """See that nothing was run, and that no name became a part of the page."""
        assert self.page.evaluate("window.owned === undefined && !document.querySelector('img[src=x]')")
        assert "owned" not in self.page.title() or NAME in self.page.title()


@pytest.fixture(scope="module")
def evil(
    tmp_path_factory: pytest.TempPathFactory, start_shared: Callable[..., Any], browser: Browser
) -> Iterator[Target]:
    """A folder whose names and categories are attacks, and the app on it, entered by the file that opens a browser."""
    base = tmp_path_factory.mktemp("evil")
    folder = base / "work"
    folder.mkdir()
    codes = [EVIL, "<b>bold</b>", "plain"] * 12
    frame = pl.DataFrame({HEAD: codes, "size": ["s", "m", "l", "l"] * 9, "third": ["u", "v"] * 18, "ill": range(36)})
    frame.write_csv(folder / "evil.csv")
    table = discreet.tabulate(frame.rename({HEAD: "kind"}), by=["kind", "size", "third"], value="ill")
    named = (Dimension(HEAD, table.dimensions[0].hierarchies), *table.dimensions[1:])
    write_table(table.but(dimensions=named), folder / f"{NAME}.parquet")
    (folder / "out.csv").symlink_to("/etc/passwd")
    (folder / "up.csv").symlink_to(base / "beside.csv")
    (base / "beside.csv").write_text("secret\n1\n")
    opener = base / "open.sh"
    opener.write_text(f'#!/bin/sh\necho "$1" > {base}/opened\n')
    opener.chmod(0o700)
    app = start_shared(folder, browser=f"{opener} %s")
    assert httpx.get(app.home, timeout=60).status_code == 403  # it answers once the browser was called
    opened = (base / "opened").read_text().strip()
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(60_000)
    file = Path(opened.removeprefix("file://"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"token=([\w-]+)", file.read_text())[0] not in processes
    page.goto(opened)
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    assert "token" not in page.url
    yield Target(app, page, file)
    # It is well, has said nothing, and has left no file with a link behind.
    assert httpx.get(app.home, headers={"cookie": page.context.cookies()[0]["name"]}).status_code == 403
    page.context.close()
    assert app.end() == ""
    assert not file.exists()


def test_whoever_has_no_sitting_or_comes_from_elsewhere_gets_nothing(evil: Target, browser: Browser) -> None:
    home, known = evil.app.home, evil.known
    assert httpx.get(home, headers=known).status_code == 200
    assert httpx.get(home).status_code == 403
    assert httpx.get(evil.app.link).status_code == 403  # the other link is void, too
    for headers, status in (
        ({"host": f"evil.example:{evil.port}"}, 421),
        ({"host": f"127.0.0.1:{evil.port + 1}"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ):
        assert httpx.get(home, headers={**known, **headers}).status_code == status
        assert httpx.post(home, data={"a": "b"}, headers={**known, **headers}).status_code == status
        with pytest.raises(InvalidStatus) as refused, connect(evil.socket, additional_headers={**known, **headers}):
            pass
        assert refused.value.response.status_code == 403
    with pytest.raises(InvalidStatus), connect(evil.socket):
        pass
    with connect(evil.socket, additional_headers={**known, "origin": home}):
        pass
    # It listens on this machine alone.
    listening = Path(f"/proc/{evil.app.process.pid}/net/tcp").read_text()
    assert f"0100007F:{evil.port:04X}" in listening
    assert f"00000000:{evil.port:04X}" not in listening


def test_another_site_in_the_same_browser_gets_nothing(evil: Target) -> None:
    """A name that was made to lead here, a form and a script of another site, a websocket, a frame."""
    page = evil.page.context.new_page()
    page.set_default_timeout(60_000)
    rebound = page.goto(f"http://evil.example:{evil.port}/")
    assert rebound is not None
    assert rebound.status == 421
    page.route("http://other.example/", lambda route: route.fulfill(content_type="text/html", body="<p>other"))
    page.goto("http://other.example/")
    answers: list[tuple[str, int]] = []
    page.on("response", lambda answer: answers.append((answer.request.method, answer.status)))
    read = page.evaluate(
        """async home => {
            const tried = [];
            for (const how of [{}, {credentials: 'include'}, {mode: 'no-cors', credentials: 'include'}])
                tried.push(await fetch(home, how).then(answer => answer.text(), () => ''));
            tried.push(await new Promise(done => {
                const path = '/_nicegui_ws/socket.io/?EIO=4&transport=websocket';
                const talk = new WebSocket(home.replace('http', 'ws') + path);
                talk.onopen = () => done('open'); talk.onerror = () => done('');
            }));
            const frame = document.createElement('iframe');
            frame.src = home;
            document.body.append(frame);
            await new Promise(done => { frame.onload = done; });
            document.body.insertAdjacentHTML('beforeend', `<form method=post action="${home}"><input name=a></form>`);
            return tried;
        }""",
        evil.app.home,
    )
    assert read == ["", "", "", ""]
    with page.expect_navigation():
        page.evaluate("document.forms[0].submit()")
    assert ("POST", 403) in answers
    assert {status for _, status in answers} <= {403}
    page.close()


def test_paths_out_of_the_folder_and_huge_bodies_are_refused(evil: Target) -> None:
    expect(evil.page.get_by_text("evil.csv").first).to_be_visible()
    for name in ("out.csv", "up.csv"):  # links out of the folder are not listed
        expect(evil.page.get_by_text(name)).to_have_count(0)
    for path in (
        "/open/..%2fbeside.csv",
        "/open/%2e%2e%2fbeside.csv",
        "/open/up.csv",
        "/open/out.csv",
        "/open/.discreet",
        "/open-table/..%2fbeside.csv",
        "/build-table/out.csv",
        "/data/..%2f1/columns",
        "/table/99/cells",
        "/report/..%2f..%2fetc%2fpasswd",
        "/report/evil.csv",
        "/_nicegui/..%2f..%2f..%2fetc%2fpasswd",
    ):
        answer = httpx.get(evil.app.home + path, headers=evil.known)
        # A page says so once it is connected: its first answer holds nothing of the file in any case.
        assert "secret" not in answer.text
        assert "root:" not in answer.text
        assert answer.status_code in (200, 404)
        assert "no such" in answer.text or "Not found" in answer.text or answer.status_code == 404
    for who in (evil.known, {}):
        with socket.create_connection(("127.0.0.1", evil.port)) as talk:
            lines = ["POST / HTTP/1.1", f"Host: 127.0.0.1:{evil.port}", "Content-Length: 1000000000"]
            lines += [f"{name}: {value}" for name, value in who.items()]
            talk.sendall("\r\n".join([*lines, "", ""]).encode())
            assert talk.recv(100).split()[1] == (b"413" if who else b"403")


def test_names_and_categories_of_microdata_are_text_on_every_page(evil: Target) -> None:
    page = evil.page
    evil.show("/", f"{NAME}.parquet")
    evil.show("/open/evil.csv", EVIL)
    history = begin_history(evil.app.folder, {"kind": "microdata", "file": "evil.csv", "columns": {}, "k": 5})
    columns = {
        HEAD: {"role": "quasi", "type": "ordinal", "order": ["plain", EVIL, "<b>bold</b>"]},
        "size": {"role": "quasi", "type": "nominal"},
        "third": {"role": "by", "type": "nominal"},
        "ill": {"role": "confidential", "type": "numeric"},
    }
    history.choose(columns=columns, k=3)
    place = f"/data/{history.id}"
    evil.show(f"{place}/columns", "<b>bold</b>")
    page.get_by_role("button", name="Show some records").click()
    page.get_by_role("button", name="Show them").click()
    expect(page.get_by_role("cell", name="<b>bold</b>").first).to_be_visible()
    evil.check()
    evil.show(f"{place}/promise", EVIL)
    page.goto(evil.app.home + f"{place}/protect")
    page.get_by_label("Seconds of search").fill("1")
    page.get_by_role("button", name="Protect", exact=True).click()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    evil.check()
    evil.show(f"{place}/look", EVIL)
    evil.show(f"{place}/write", "Sign-off")
    page.get_by_label("Recipient").fill(EVIL)
    page.get_by_role("button", name="Write the release").click()
    expect(page.get_by_text("is released.")).to_be_visible()
    expect(page.get_by_text(EVIL).first).to_be_visible()  # in the configuration
    evil.check()
    for report in ("report", "internal"):
        evil.show(f"/report/evil-release.csv.{report}.html", "evil-release.csv")
    evil.show("/review", EVIL)


def test_names_and_codes_of_tables_are_text_on_every_page(evil: Target) -> None:
    page = evil.page
    evil.show(f"/open-table/{NAME}.parquet".replace("<", "%3C").replace(">", "%3E").replace(" ", "%20"), EVIL)
    page.get_by_role("button", name="Next: rules and cells").click()
    page.get_by_label("Least contributors").fill("4")
    page.locator(".ag-cell.st-1").first.click()
    expect(page.get_by_role("heading", name=EVIL)).to_be_visible()
    evil.check()
    page.get_by_label("Mark").first.click()
    page.get_by_role("option", name="unsafe", exact=True).click()
    page.get_by_role("button", name="Mark it").click()
    expect(page.locator(".st-m")).to_have_count(1)
    # Beyond two dimensions: a slice is chosen, and another dimension goes across.
    before = page.locator(".ag-cell[col-id='c0']").first.inner_text()
    page.get_by_label("third").click()
    page.get_by_role("option", name="u", exact=False).last.click()
    expect(page.locator(".ag-cell[col-id='c0']").first).not_to_have_text(before)
    page.get_by_label("Down").click()
    evil.check()
    page.get_by_role("option", name="size", exact=True).click()
    expect(page.locator(".ag-header-cell-text", has_text=EVIL)).to_be_visible()
    evil.check()
    page.get_by_role("button", name="Next: suppress").click()
    page.get_by_label("Seconds of search").fill("1")
    page.get_by_role("button", name="Suppress", exact=True).click()
    expect(page.get_by_text("cannot work out any of the")).to_be_visible()
    evil.check()
    page.get_by_role("button", name="Next: write").click()
    page.get_by_label("Name of the public table").fill("public.csv")
    page.get_by_role("button", name="Write the table").click()
    expect(page.get_by_text("public.csv is released.")).to_be_visible()
    evil.check()
    evil.show("/jobs", NAME)
    evil.show("/review", "public.csv")


def test_names_that_are_no_plain_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inside.csv").write_text("a\n1\n")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    folder = Folder(tmp_path)
    assert folder.file("inside.csv").exists()
    for name in (
        "",
        ".",
        "..",
        "../x.csv",
        "sub",
        "/etc/passwd",
        "a\\b.csv",
        "a\0.csv",
        ".hidden.csv",
        "-o.csv",
        "a\nb.csv",
    ):
        with pytest.raises(InputError):
            folder.file(name)
        with pytest.raises(InputError):
            folder.new(name, (".csv",))
    with pytest.raises(InputError):
        folder.file("pipe.csv")
    assert not is_plain("x" * 300)
    with pytest.raises(InputError, match="exists already"):
        folder.new("inside.csv", (".csv",))


def test_a_page_that_is_only_fetched_begins_nothing(evil: Target) -> None:
    begun = sorted((evil.app.folder / ".discreet" / "history").glob("*"))
    for path in ("/open/evil.csv", "/open-table/evil.csv", "/build-table/evil.csv"):
        assert httpx.get(evil.app.home + path, headers=evil.known, timeout=30).status_code == 200
    assert sorted((evil.app.folder / ".discreet" / "history").glob("*")) == begun


def test_a_report_cannot_lead_elsewhere_by_itself(evil: Target) -> None:
    (evil.app.folder / "lure.report.html").write_text('<meta http-equiv="refresh" content="0;url=/jobs"><p>a lure')
    try:
        answer = httpx.get(f"{evil.app.home}/report/lure.report.html", headers=evil.known)
        assert "sandbox" in answer.headers["content-security-policy"].split("; ")
        page = evil.page.context.new_page()
        page.goto(f"{evil.app.home}/report/lure.report.html")
        expect(page.get_by_text("a lure")).to_be_visible()
        page.wait_for_timeout(1_000)
        assert page.url.endswith("/report/lure.report.html")
        page.close()
    finally:
        (evil.app.folder / "lure.report.html").unlink()
