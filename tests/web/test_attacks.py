"""Attacks on the app as it runs: other hosts and origins, markup in names, paths that lead out of the folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from discreet.errors import InputError
from discreet.web.folder import Folder, is_plain

EVIL = "<img src=x onerror=document.title='owned'>"


def test_the_app_as_it_runs(tmp_path: Path, start: Callable[..., Any], page: Page) -> None:
    """Names and categories with markup are text; who has no sitting, or comes from elsewhere, gets nothing."""
    (tmp_path / "evil.csv").write_text(f'"{EVIL}",ill\n' + "a,1\nb,2\nb,1\na,2\n" * 5)
    (tmp_path / "out.csv").symlink_to("/etc/passwd")
    (tmp_path / "<b>x.csv").write_text("a,b\n1,2\n")
    app = start(tmp_path)
    port = int(app.home.rpartition(":")[2])
    # A name that was made to lead here, a foreign origin, no token: over HTTP and websocket.
    assert httpx.get(app.home, headers={"host": f"evil.example:{port}"}).status_code == 421
    assert httpx.get(app.home).status_code == 403
    assert httpx.post(app.home, data={"a": "b"}, headers={"origin": "https://evil.example"}).status_code == 403
    socket_path = f"ws://127.0.0.1:{port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    for headers in ({}, {"origin": "https://evil.example"}, {"host": "evil.example"}):
        with pytest.raises(InvalidStatus) as refused, connect(socket_path, additional_headers=headers):
            pass
        assert refused.value.response.status_code == 403
    rebound = page.goto(f"http://evil.example:{port}/enter?token={app.link.rpartition('=')[2]}")
    assert rebound is not None
    assert rebound.status == 421
    # It listens on this machine alone.
    listening = subprocess.run(["cat", f"/proc/{app.process.pid}/net/tcp"], capture_output=True, text=True, check=True)
    assert f"0100007F:{port:04X}" in listening.stdout
    assert f"00000000:{port:04X}" not in listening.stdout

    page.goto(app.link)
    expect(page.get_by_role("link", name="<b>x.csv")).to_be_visible()
    expect(page.get_by_text("out.csv")).to_have_count(0)  # a link out of the folder
    cookie = {one["name"]: one["value"] for one in page.context.cookies()}
    assert set(cookie) == {f"discreet-{port}"}
    known = {"cookie": f"discreet-{port}={cookie[f'discreet-{port}']}"}
    assert httpx.get(app.home, headers=known).status_code == 200
    assert httpx.get(app.link).status_code == 403  # used already
    with connect(socket_path, additional_headers={**known, "origin": app.home}):
        pass
    with (
        pytest.raises(InvalidStatus),
        connect(socket_path, additional_headers={**known, "origin": "http://evil.example"}),
    ):
        pass
    for path in (
        "/open/..%2fevil.csv",
        "/open/out.csv",
        "/open/.discreet",
        "/report/..%2f..%2fetc%2fpasswd",
        "/report/evil.csv",
    ):
        answer = httpx.get(app.home + path, headers=known)
        assert "Not found" in answer.text or answer.status_code == 404
    page.get_by_role("link", name="evil.csv").click()
    expect(page.get_by_text(EVIL).first).to_be_visible()
    assert "owned" not in page.title()
    assert page.locator("img[src='x']").count() == 0
    assert app.end() == ""


def test_names_that_are_no_plain_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inside.csv").write_text("a\n1\n")
    (tmp_path / "sub").mkdir()
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
    assert not is_plain("x" * 300)
    with pytest.raises(InputError, match="exists already"):
        folder.new("inside.csv", (".csv",))
