"""Attacks on the app as it runs: other hosts and origins, markup in names, paths that lead out of the folder.

One app is attacked in all tests; it was opened as a user without `--no-browser` opens it, and is still well afterwards.
"""

import os
import re
import socket
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
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
from discreet.web.beside import find_taken
from discreet.web.folder import Folder, is_plain
from discreet.web.guard import EMPTY_DOOR

# Markup, a script, and what a template in the browser would compute.
EVIL = "\"'><img src=x onerror=window.owned=1>{{constructor.constructor('window.owned=1')()}}"
HEAD = f"{EVIL} head"
NAME = "<img src=x onerror=window.owned=1>"


class Target:
    """An app that was entered, its page and its cookie."""

    def __init__(self, app: Any, page: Page, file: Path) -> None:
        self.app, self.page, self.file = app, page, file
        self.host, _, port = app.home.removeprefix("http://").rpartition(":")
        self.port = int(port)
        cookies = {one["name"]: one["value"] for one in page.context.cookies()}
        self.known = {"cookie": f"discreet-{port}={cookies[f'discreet-{port}']}"}
        self.key = page.evaluate("localStorage.getItem('discreet')")
        self.socket = f"{app.home.replace('http', 'ws')}/_nicegui_ws/socket.io/?EIO=4&transport=websocket&key="

    def get(self, path: str) -> httpx.Response:
        """Ask for a page as the browser does, with the cookie, the key and a pass."""
        given = httpx.post(f"{self.app.home}/pass", headers={**self.known, "x-discreet-key": self.key})
        return httpx.get(f"{self.app.home}{path}", params={"pass": given.text}, headers=self.known)

    def show(self, path: str, sign: str) -> None:
        """Go to a page, wait until it shows something, and see that nothing in it was run."""
        self.page.goto(self.app.home + path)
        expect(self.page.get_by_text(sign).first).to_be_visible()
        self.check()

    def check(self) -> None:
        """See that nothing was run, and that no name became a part of the page."""
        assert self.page.evaluate("window.owned === undefined && !document.querySelector('img[src=x]')")
        assert "owned" not in self.page.title() or NAME in self.page.title()


class Thief:
    """Another server of this machine: it remembers the cookies it is sent, and leads from each page to the next."""

    def __init__(self, host: str) -> None:
        self.cookies: list[str] = []
        thief = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                thief.cookies.append(self.headers.get("cookie", ""))
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.end_headers()
                self.wfile.write(f"<!doctype html><p>{self.path}".encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((host, 0), Answers)
        self.port = self.server.server_address[1]

    def __enter__(self) -> "Thief":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def lure(self, page: Page, *names: str) -> None:
        """Lead a browser here: from one name to the next, and once more, which is then no other site any more."""
        for name in (*names, names[-1]):
            place = f"http://{name}:{self.port}/{len(self.cookies)}"
            if page.url == "about:blank":
                page.goto(place)
            else:
                page.evaluate("place => { location.href = place; }", place)
                page.wait_for_url(place)


@contextmanager
def tunnel(host: str, port: int) -> Iterator[int]:
    """A port of 127.0.0.1, where made-up names lead, that hands requests on to an address of another."""

    class Hand(BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((host, port)) as far:
                far.sendall(self.request.recv(65536))
                while data := far.recv(65536):
                    self.request.sendall(data)

    with ThreadingTCPServer(("127.0.0.1", 0), Hand) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


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
    assert "evil.csv" in evil.get("/").text
    assert httpx.get(home, headers=known).text == EMPTY_DOOR  # the cookie alone
    assert httpx.get(home).status_code == 403
    assert httpx.get(evil.app.link).status_code == 403  # the other link is void, too
    for headers, status in (
        ({"host": f"evil.example:{evil.port}"}, 421),
        ({"host": f"{evil.host}:{evil.port + 1}"}, 421),
        ({"host": f"127.0.0.1:{evil.port}"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
    ):
        assert httpx.get(home, headers={**known, **headers}).status_code == status
        assert httpx.post(home, data={"a": "b"}, headers={**known, **headers}).status_code == status
        sent = {**known, **headers}
        with pytest.raises(InvalidStatus) as refused, connect(evil.socket + evil.key, additional_headers=sent):
            pass
        assert refused.value.response.status_code == 403
    for key, sent in ((evil.key, {}), ("", known), ("guess", known)):
        with pytest.raises(InvalidStatus), connect(evil.socket + key, additional_headers={**sent, "origin": home}):
            pass
    with connect(evil.socket + evil.key, additional_headers={**known, "origin": home}):
        pass
    # It listens on this machine alone.
    listening = Path(f"/proc/{evil.app.process.pid}/net/tcp").read_text()
    assert f"{int.from_bytes(ip_address(evil.host).packed, 'little'):08X}:{evil.port:04X}" in listening
    assert f"00000000:{evil.port:04X}" not in listening


def test_another_site_in_the_same_browser_gets_nothing(evil: Target) -> None:
    """A name that was made to lead here, a form and a script of another site, a websocket, a frame."""
    page = evil.page.context.new_page()
    page.set_default_timeout(60_000)
    with tunnel(evil.host, evil.port) as port:
        rebound = page.goto(f"http://evil.example:{port}/")
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


def test_the_cookie_goes_to_no_other_server_of_the_machine(evil: Target) -> None:
    page = evil.page.context.new_page()
    with Thief("127.0.0.1") as thief:
        thief.lure(page, "localhost", "127.0.0.1")
        assert len(thief.cookies) >= 3
        assert set(thief.cookies) == {""}
    page.close()


def test_where_there_is_one_loopback_address_the_name_is_of_the_sitting(
    tmp_path: Path, start: Callable[..., Any], browser: Browser
) -> None:
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n3,4\n")
    app = start(tmp_path, first="from discreet.web.app import choose_place; choose_place.__defaults__ = ('darwin',)")
    assert re.fullmatch(r"http://[0-9a-f]{32}\.localhost:\d+", app.home)
    context = browser.new_context()
    page = context.new_page()
    page.goto(app.link)
    page.get_by_role("link", name="plain.csv").click()
    expect(page.get_by_text("2 of 2 columns are undecided")).to_be_visible(timeout=60_000)
    assert page.url.startswith(app.home)
    other = context.new_page()
    with Thief("127.0.0.1") as thief:
        thief.lure(other, "localhost", "other.localhost", "127.0.0.1")
        assert len(thief.cookies) >= 4
        assert set(thief.cookies) == {""}
    context.close()


def test_who_has_the_cookie_all_the_same_sees_nothing(evil: Target, browser: Browser) -> None:
    """Another user of the machine can see our address, and take the cookie at another port of it."""
    page = evil.page.context.new_page()
    home = evil.app.home
    with Thief("0.0.0.0") as thief:
        thief.lure(page, "localhost", evil.host)
        assert evil.known["cookie"] in thief.cookies  # cookies know no ports
        answers: list[int] = []
        page.on("response", lambda answer: answers.append(answer.status) if answer.url.startswith(home) else None)
        read = page.evaluate(
            """async home => {
                const tried = [localStorage.getItem('discreet') ?? ''];
                for (const path of ['/', '/pass', '/report/evil-release.csv.internal.html'])
                    for (const how of [{}, {credentials: 'include'}, {mode: 'no-cors', credentials: 'include'}])
                        tried.push(await fetch(home + path, how).then(answer => answer.text(), () => ''));
                tried.push(await new Promise(done => {
                    const talk = new WebSocket(home.replace('http', 'ws') + '/_nicegui_ws/socket.io/?EIO=4');
                    talk.onopen = () => done('open'); talk.onerror = () => done('');
                }));
                const frame = document.createElement('iframe');
                frame.src = home;
                document.body.append(frame);
                await new Promise(done => { frame.onload = done; });
                return tried;
            }""",
            home,
        )
        assert set(read) == {""}
        assert set(answers) == {403}
    page.close()
    # With the cookie and a connection of his own.
    for path in ("/", "/jobs", "/review", "/open/evil.csv", "/data/0001/look", "/report/x.report.html"):
        answer = httpx.get(home + path, headers=evil.known)
        assert answer.text == EMPTY_DOOR
        assert httpx.post(home + path, headers=evil.known).status_code == 403
    for path in ("/_nicegui/x", "/favicon.ico"):
        assert "evil.csv" not in httpx.get(home + path, headers=evil.known).text
    assert not list((evil.app.folder / ".discreet").glob("history/*"))  # nor has anything been begun
    with pytest.raises(InvalidStatus), connect(evil.socket, additional_headers={**evil.known, "origin": home}):
        pass
    # With the cookie in a browser of his own; the one that the app was opened in goes on, in any tab.
    context = browser.new_context()
    name, _, value = evil.known["cookie"].partition("=")
    context.add_cookies([{"name": name, "value": value, "url": home}])
    his = context.new_page()
    his.goto(home)
    expect(his.get_by_role("heading", name="Not this browser")).to_be_visible()
    assert "evil.csv" not in his.content()
    context.close()
    tab = evil.page.context.new_page()
    for _ in range(2):
        tab.goto(home + "/jobs")
        expect(tab.get_by_text("There are no jobs yet.")).to_be_visible()
        tab.reload()
        expect(tab.get_by_text("There are no jobs yet.")).to_be_visible()
        assert tab.url == home + "/jobs"
    assert evil.key not in tab.content()
    tab.close()


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
        answer = evil.get(path)
        # A page says so once it is connected: its first answer holds nothing of the file in any case.
        assert "secret" not in answer.text
        assert "root:" not in answer.text
        assert answer.status_code in (200, 404)
        assert "no such" in answer.text or "Not found" in answer.text or answer.status_code == 404
    for who in (evil.known, {}):
        with socket.create_connection((evil.host, evil.port)) as talk:
            asked = f"/_nicegui_ws/socket.io/?key={evil.key}"
            lines = [f"POST {asked} HTTP/1.1", f"Host: {evil.host}:{evil.port}", "Content-Length: 1000000000"]
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
    (tmp_path / "link.csv").symlink_to("/etc/passwd")
    assert find_taken(folder, ["inside.csv", "new.csv"]) == ["inside.csv"]
    for name in ("link.csv", "pipe.csv", "sub"):
        with pytest.raises(InputError, match="no file that could be replaced"):
            find_taken(folder, [name])


def test_a_page_that_is_only_fetched_begins_nothing(evil: Target) -> None:
    begun = sorted((evil.app.folder / ".discreet" / "history").glob("*"))
    for path in ("/open/evil.csv", "/open-table/evil.csv", "/build-table/evil.csv"):
        assert httpx.get(evil.app.home + path, headers=evil.known, timeout=30).status_code == 200
    assert sorted((evil.app.folder / ".discreet" / "history").glob("*")) == begun


def test_a_report_cannot_lead_elsewhere_by_itself(evil: Target) -> None:
    (evil.app.folder / "lure.report.html").write_text('<meta http-equiv="refresh" content="0;url=/jobs"><p>a lure')
    try:
        page, policies = evil.page.context.new_page(), []
        page.on("response", lambda answer: policies.append(answer.headers["content-security-policy"].split("; ")))
        page.goto(f"{evil.app.home}/report/lure.report.html")
        expect(page.get_by_text("a lure")).to_be_visible()
        page.wait_for_timeout(1_000)
        assert page.url.split("?")[0].endswith("/report/lure.report.html")
        assert "sandbox" in policies[-1]  # after the empty door
        page.close()
    finally:
        (evil.app.folder / "lure.report.html").unlink()
