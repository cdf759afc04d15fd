"""The guard: whoever comes from elsewhere, or without the link, gets nothing; over HTTP and over websockets."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, MutableMapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.cli.app import run
from discreet.jobs.job import lock
from discreet.web.app import choose_place
from discreet.web.guard import EMPTY_DOOR, HASTE, MOST_BYTES, POLICY, SITTING, App, Guard, Receive, Send

PORT = 4321
HOST = f"127.11.22.33:{PORT}"
HOME = f"http://{HOST}"


class Behind:
    """The app behind the guard: answers everybody, and remembers who got through."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.queries: list[bytes] = []
        self.sockets = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            self.sockets += 1
            await send({"type": "websocket.accept"})
            return
        while (message := await receive())["type"] == "http.request":
            if not message.get("more_body"):
                break
        else:
            raise ConnectionError
        self.asked.append(scope["path"])
        self.queries.append(scope["query_string"])
        headers = [(b"cache-control", b"public"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"secret"})


class Desk:
    """A guard, what is behind it, its clock, and a browser that has or has not opened the link."""

    def __init__(self) -> None:
        self.now = 0.0
        self.behind = Behind()
        self.guard = Guard(self.behind, HOST, clock=lambda: self.now)

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=cast_app(self.guard)), base_url=HOME)

    def get(self, path: str = "/", *, entered: bool = True, method: str = "GET", **keywords: Any) -> httpx.Response:
        """Ask as somebody who has not opened the link, or as a page does: with the cookie, the key and a pass."""

        async def ask() -> httpx.Response:
            async with self.client() as client:
                if entered:
                    key = find_key(await client.get(self.guard.link))
                    given = await client.post("/pass", headers={"x-discreet-key": key})
                    keywords["params"] = {"pass": given.text}
                return await client.request(method, path, **keywords)

        return asyncio.run(ask())

    def connect(self, headers: dict[str, str], cookie: str | None = None, key: str = "") -> str:
        """Ask for a websocket; give the type of the answer."""
        said: list[str] = []

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            said.append(message["type"])

        pairs = {"host": HOST, **headers, **({"cookie": cookie} if cookie else {})}
        scope = {
            "type": "websocket",
            "path": "/_nicegui_ws/socket.io/",
            "query_string": f"EIO=4&key={key}".encode(),
            "headers": [(name.encode(), value.encode()) for name, value in pairs.items()],
        }
        asyncio.run(self.guard(scope, receive, send))
        return said[-1]

    def enter(self) -> tuple[str, str]:
        """Open the link; give the cookie and the key."""

        async def ask() -> httpx.Response:
            async with self.client() as client:
                return await client.get(self.guard.link)

        answer = asyncio.run(ask())
        return answer.headers["set-cookie"].split(";")[0], find_key(answer)


def find_key(answer: httpx.Response) -> str:
    """The key that the first page puts into the browser's storage."""
    found = re.search(r'setItem\("discreet", "([\w-]{43,})"\)', answer.text)
    assert found is not None
    return found[1]


def cast_app(app: App) -> Any:
    return app


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_who_has_the_link_gets_in_once_and_nothing_of_it_stays_in_the_address(desk: Desk) -> None:
    token = desk.guard.token
    assert len(token) >= 43  # 256 bits
    answer = desk.get(desk.guard.link, entered=False)
    assert answer.status_code == 200
    assert token not in answer.text
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"discreet-{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert token not in cookie
    key = find_key(answer)
    assert key not in cookie
    assert key not in answer.headers["content-security-policy"]
    stolen = desk.get(f"/enter?token={token}", entered=False)
    assert stolen.status_code == 403
    assert "set-cookie" not in stolen.headers
    assert desk.behind.asked == []


def test_pages_carry_headers_that_let_nothing_leave(desk: Desk) -> None:
    headers = desk.get().headers
    assert headers["content-security-policy"] == POLICY
    for words in ("connect-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"):
        assert words in POLICY
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert "script" not in Desk().get("/report/x").headers["content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": f"evil.example:{PORT}"}, 421),  # a name that was made to lead here
        ({"host": "127.11.22.33:80"}, 421),
        ({"host": f"127.0.0.1:{PORT}"}, 421),
        ({"host": f"localhost:{PORT}"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": f"http://127.11.22.33:{PORT + 1}"}, 403),
        ({"origin": f"https://{HOST}"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_foreign_requests_are_refused_with_and_without_a_sitting(
    desk: Desk, headers: dict[str, str], status: int
) -> None:
    assert desk.get(entered=False, headers=headers).status_code == status
    assert desk.get(headers=headers).status_code == status
    assert desk.get(method="POST", data={"a": "b"}, headers=headers, entered=False).status_code == status
    assert desk.behind.asked == []
    cookie, key = Desk.enter(other := Desk())
    assert other.connect(headers, cookie, key) == "websocket.close"
    assert other.behind.sockets == 0


def test_without_a_sitting_there_is_nothing(desk: Desk) -> None:
    for path in ("/", "/_nicegui/x.js", "/_nicegui_ws/socket.io/", "/report/x", "/enter", "/enter?token="):
        assert desk.get(path, entered=False).status_code == 403
    assert desk.get(entered=False, headers={"cookie": f"discreet-{PORT}="}).status_code == 403
    assert desk.get(entered=False, headers={"cookie": f"discreet-{PORT}=guess"}).status_code == 403
    assert desk.connect({}) == "websocket.close"
    assert desk.connect({}, f"discreet-{PORT}=") == "websocket.close"
    assert desk.behind.asked == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": f"evil.example:{PORT}"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_the_door_itself_is_shut_to_other_sites_and_the_link_stays_good(
    desk: Desk, headers: dict[str, str], status: int
) -> None:
    assert desk.get(desk.guard.link, entered=False, headers=headers).status_code == status
    assert desk.get(desk.guard.link, entered=False, method="POST").status_code == 403
    by_hand = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert desk.get(desk.guard.link, entered=False, headers=by_hand).status_code == 200


def test_the_link_in_our_file_opens_a_whole_page_once_and_nothing_else(desk: Desk) -> None:
    link, printed = desk.guard.make_file_link(), desk.guard.link
    assert link != printed
    from_file = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    for name, other in (
        ("sec-fetch-dest", "iframe"),
        ("sec-fetch-dest", "image"),
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-site", "same-site"),
        ("origin", "null"),
    ):
        assert desk.get(link, entered=False, headers={**from_file, name: other}).status_code == 403
    assert desk.get(link, entered=False, headers=from_file).status_code == 200
    for used in (link, printed):
        assert desk.get(used, entered=False).status_code == 403


def test_an_open_page_does_not_outlive_the_sitting(desk: Desk) -> None:
    cookie, key = desk.enter()
    heard: list[str] = []
    sent: list[str] = []

    async def listen(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            heard.append(message["text"])

    def speak(*texts: tuple[float, str]) -> None:
        waiting = list(texts)

        async def receive() -> dict[str, Any]:
            if not waiting:
                return {"type": "websocket.disconnect"}
            desk.now, text = waiting.pop(0)
            return {"type": "websocket.receive", "text": text}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message["type"])

        headers = [(b"host", HOST.encode()), (b"cookie", cookie.encode())]
        asked = {"path": "/_nicegui_ws/socket.io/", "query_string": f"key={key}".encode()}
        scope = {"type": "websocket", **asked, "headers": headers}
        desk.guard.app = listen
        asyncio.run(desk.guard(scope, receive, send))

    speak((SITTING - 1, '42["event",{}]'), (2 * SITTING - 2, "3"), (2 * SITTING - 2, '42["ack",{}]'))
    assert len(heard) == 3  # somebody did something in between
    assert sent == []
    speak((2 * SITTING - 1, '42["event",{}]'), (3 * SITTING - 2, "3"), (3 * SITTING, "3"), (3 * SITTING, "42[1]"))
    assert heard[3:] == ['42["event",{}]', "3"]  # a page that only beats is left alone
    assert sent == ["websocket.close"]


def test_our_own_page_gets_its_websocket(desk: Desk) -> None:
    cookie, key = desk.enter()
    assert desk.connect({"origin": HOME}, cookie, key) == "websocket.accept"


def test_a_cookie_without_the_key_opens_nothing_but_code_that_anybody_has(desk: Desk) -> None:
    cookie, key = desk.enter()
    stolen = {"cookie": cookie}
    for path in ("/", "/data/0001/look", "/report/x", "/open/a.csv", "/enter?token=", "/?pass=guess", "/?pass="):
        answer = desk.get(path, entered=False, headers=stolen)
        assert answer.text == EMPTY_DOOR or answer.status_code == 403
    for path in ("/", "/report/x", "/pass"):
        assert desk.get(path, entered=False, headers=stolen, method="POST").status_code == 403
    for wrong in ("", "guess", key[:-1], cookie.partition("=")[2]):
        shown = {**stolen, "x-discreet-key": wrong}
        assert desk.get("/pass", entered=False, method="POST", headers=shown).status_code == 403
        assert desk.connect({}, cookie, wrong) == "websocket.close"
        polled = f"/_nicegui_ws/socket.io/?EIO=4&transport=polling&key={wrong}"
        assert desk.get(polled, entered=False, headers=stolen).status_code == 403
    assert desk.get("/pass", entered=False, headers={**stolen, "x-discreet-key": key}).status_code == 403  # no GET
    assert desk.get("/pass", entered=False, method="POST", headers={"x-discreet-key": key}).status_code == 403
    assert desk.connect({}, None, key) == "websocket.close"
    assert desk.behind.asked == []
    assert desk.behind.sockets == 0
    assert desk.get("/_nicegui/x.js", entered=False, headers=stolen).status_code == 200


def test_a_pass_opens_one_page_once_and_soon_and_the_page_does_not_see_it(desk: Desk) -> None:
    cookie, key = desk.enter()
    known = {"cookie": cookie}

    def give() -> str:
        return desk.get("/pass", entered=False, method="POST", headers={**known, "x-discreet-key": key}).text

    first, second, late = give(), give(), give()
    assert len({first, second, late, key, ""}) == 5
    for made in (first, second):
        assert desk.get(f"/?a=1&pass={made}", entered=False, headers=known).text == "secret"
        assert desk.get(f"/?a=1&pass={made}", entered=False, headers=known).text == EMPTY_DOOR
    assert desk.behind.queries == [b"a=1", b"a=1"]
    assert desk.get(f"/?pass={late}", entered=False).status_code == 403  # nor without the cookie
    last = give()
    desk.now += HASTE + 1
    assert desk.get(f"/?pass={last}", entered=False, headers=known).text == EMPTY_DOOR


def test_each_sitting_has_a_name_of_its_own_on_this_machine() -> None:
    found = [choose_place("linux") for _ in range(50)]
    assert len(set(found)) == 50
    for address, name in found:
        assert address == name
        assert ip_address(address).is_loopback
        assert not address.startswith("127.0.")
    named = [choose_place("darwin") for _ in range(50)]
    assert {address for address, _ in named} == {"127.0.0.1"}
    assert len({name for _, name in named}) == 50
    assert all(re.fullmatch(r"[0-9a-f]{32}\.localhost", name) for _, name in named)
    assert Guard(Behind(), "127.1.2.3:80").host == "127.1.2.3"  # as browsers send it


def test_a_sitting_that_nobody_uses_is_over(desk: Desk) -> None:
    cookie, key = desk.enter()
    known = {"cookie": cookie}

    def see() -> str:
        given = desk.get("/pass", entered=False, method="POST", headers={**known, "x-discreet-key": key})
        return desk.get(f"/?pass={given.text}", entered=False, headers=known).text if given.is_success else ""

    for _ in range(2):
        desk.now += SITTING - 1
        assert see() == "secret"
    desk.now += SITTING - 1
    assert desk.get(entered=False, headers=known).text == EMPTY_DOOR  # who has no key does not make it last
    desk.now += 2
    assert see() == ""
    desk.now = 0.0
    assert see() == ""
    assert desk.get(entered=False, headers=known).status_code == 403


def test_a_huge_body_is_refused_and_not_read(desk: Desk) -> None:
    read = 0

    async def pour() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += MOST_BYTES
            yield b"\0" * MOST_BYTES

    cookie, key = desk.enter()
    talk = f"/_nicegui_ws/socket.io/?key={key}"
    known: Any = {"entered": False, "method": "POST", "headers": {"cookie": cookie}}
    assert desk.get(talk, content=pour(), **known).status_code == 413
    assert read <= 3 * MOST_BYTES
    known["headers"]["content-length"] = "1000000000"
    assert desk.get(talk, content=b"x", **known).status_code == 413
    assert desk.behind.asked == []


def test_one_steward_at_a_time_has_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / ".discreet"
    own.mkdir()
    held = lock(own / "steward.lock")
    assert held is not None
    assert run(["app", str(tmp_path), "--no-browser"]) == 2
    assert "the app is open on this folder already" in capsys.readouterr().err
    os.close(held)
