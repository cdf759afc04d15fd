"""The guard before every request and every websocket: who may speak with the app, and what a page may do.

The server behind it answers any host and any origin; whatever it would say, nothing passes here but

- a `Host` that is the loopback address with our port, so that no other name leads here (DNS rebinding): else 421;
- an `Origin`, if one is sent, that is ours, and a `Sec-Fetch-Site` of `none` or `same-origin`: else 403;
- a sitting: the token of the printed link is exchanged once for a cookie, which ends when nobody uses it: else 403;
  what a page says by itself, such as the pulse of its websocket, is no use;
- a body that a page of ours could send: else 413.

The link that we hand to the browser in a file of our own is the one exception: browsers call whatever a local file
leads to "cross-site". It has a token of its own, good for opening a page as a whole and for nothing else.

Nothing is logged: a log would hold the token.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Refusal = tuple[int, str, str]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# Seconds after which a sitting that nobody uses is over, and the largest body of a request.
SITTING, MOST_BYTES = 8 * 3600.0, 1_000_000
ENTRANCE = "/enter"
# Where the websocket of a page lives, and how messages begin that a page sends though nobody does anything.
SOCKET, PULSE = "/_nicegui_ws/", ("3", '42["ack"')
# What browsers say of a page that a local file opens; no other site can open one with our token, which it has not.
FROM_FILE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
# NiceGUI compiles its templates in the browser ('unsafe-eval') and starts them from the page itself ('unsafe-inline').
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# A report of ours needs no script at all.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# The cookie is strict, so the page that sets it leads on by itself: a redirect would still come from elsewhere.
WELCOME = (
    b'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    b'<title>discreet</title><p><a href="/">Go on</a>'
)
SORRY = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>discreet</title>'
    '<body style="font:16px/1.5 system-ui;max-width:34rem;margin:15vh auto;padding:0 1rem"><h1>{title}</h1><p>{words}'
)


class Guard:
    """The app behind its guard.

    Parameters
    ----------
    app : callable
        The ASGI application.
    port : int
        The port on which it listens.
    report_path : str
        Paths that begin so are reports: pages without scripts.
    clock : callable
        Tells the seconds.

    Attributes
    ----------
    token : str
        What the printed link holds, until somebody has used a link.
    file_token : str
        What the link in our file holds, if there is one, until then.
    """

    def __init__(
        self, app: App, port: int, *, report_path: str = "/report/", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.app = app
        self.token, self.file_token = secrets.token_urlsafe(32), ""
        self.cookie = f"discreet-{port}"
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"} | ({"127.0.0.1", "localhost"} if port == 80 else set())
        self._report_path = report_path
        self._clock = clock
        self._key = ""
        self._used = 0.0

    @property
    def link(self) -> str:
        """The link that opens the app, once."""
        return f"http://{min(self.hosts)}{ENTRANCE}?token={self.token}"

    def make_file_link(self) -> str:
        """A link for a file that leads the browser here; whichever of the links is used first, the other is void."""
        self.file_token = secrets.token_urlsafe(32)
        return f"http://{min(self.hosts)}{ENTRANCE}?token={self.file_token}"

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Let a request through, or not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        entering = scope["type"] == "http" and scope["path"] == ENTRANCE
        refusal = self._judge_entry(scope, headers) if entering else self._judge(headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif entering:
            await self._enter(send)
        elif scope["type"] == "websocket":
            await self.app(scope, self._listen(receive, send), send)
        else:
            self._used = self._used if scope["path"].startswith(SOCKET) else self._clock()
            await self._pass(scope, headers, receive, send)

    def _listen(self, receive: Receive, send: Send) -> Receive:
        """What a websocket says, for as long as the sitting lasts; the pulse of a page does not make it last."""

        async def receive_while_sitting() -> Message:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            if self._is_over():
                await send({"type": "websocket.close", "code": 1008})
                return {"type": "websocket.disconnect", "code": 1008}
            if not (message.get("text") or "").startswith(PULSE):
                self._used = self._clock()
            return message

        return receive_while_sitting

    def _is_host_ours(self, headers: dict[str, list[str]]) -> bool:
        return len(headers.get("host", [])) == 1 and headers["host"][0].lower() in self.hosts

    def _judge(self, headers: dict[str, list[str]]) -> Refusal | None:
        """Why a request is refused; None if it is not."""
        refusal = self._judge_sender(headers)
        if refusal is None and not self._is_known(headers):
            return 403, "No sitting", "The sitting is over, or it never began. Start the app again and open its link."
        return refusal

    def _judge_entry(self, scope: MutableMapping[str, Any], headers: dict[str, list[str]]) -> Refusal | None:
        """Why the door stays shut; None if it opens, once."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0].encode()
        by_file = bool(self.file_token) and hmac.compare_digest(given, self.file_token.encode())
        if by_file and all(headers.get(name, [value]) == [value] for name, value in FROM_FILE.items()):
            headers = {**headers, "sec-fetch-site": ["none"]}
        refusal = self._judge_sender(headers)
        if refusal is not None:
            return refusal
        right = bool(self.token) and hmac.compare_digest(given, self.token.encode())
        if scope["method"] != "GET" or not (right or by_file):
            return 403, "Not this link", "The link was used already, or is another one. Start the app again."
        return None

    def _judge_sender(self, headers: dict[str, list[str]]) -> Refusal | None:
        """Why whoever sent a request is not heard; None if he is."""
        if not self._is_host_ours(headers):
            return 421, "Not here", "This address is not the one the app listens on. Use the link it printed."
        ours = {f"http://{headers['host'][0].lower()}"}
        if any(origin.lower() not in ours for origin in headers.get("origin", [])):
            return 403, "Not from there", "Another site asked for this page; the app answers its own pages only."
        if any(site not in ("none", "same-origin") for site in headers.get("sec-fetch-site", [])):
            return (
                403,
                "Not from there",
                "Another site led here; copy the link that the app printed to the address bar.",
            )
        return None

    def _is_over(self) -> bool:
        """Whether there is no sitting; one that nobody used for long is none, and stays none."""
        if self._key and self._clock() - self._used > SITTING:
            self._key = ""
        return not self._key

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        if self._is_over():
            return False
        try:
            jar = SimpleCookie("; ".join(headers.get("cookie", [])))
        except CookieError:
            return False
        given = jar[self.cookie].value if self.cookie in jar else ""
        return hmac.compare_digest(given.encode(), self._key.encode())

    async def _enter(self, send: Send) -> None:
        """Exchange the token for a cookie, once."""
        self.token = self.file_token = ""
        self._key, self._used = secrets.token_urlsafe(32), self._clock()
        cookie = f"{self.cookie}={self._key}; Path=/; HttpOnly; SameSite=Strict"
        await _send(send, 200, WELCOME, [(b"set-cookie", cookie.encode())])

    async def _pass(
        self, scope: MutableMapping[str, Any], headers: dict[str, list[str]], receive: Receive, send: Send
    ) -> None:
        """Let a request through: not more than a page of ours would send, and with our headers on the answer."""
        length = headers.get("content-length", ["0"])[0]
        if not length.isdigit() or int(length) > MOST_BYTES:
            await _answer(send, 413, "Too much", "No page of the app sends as much as this.")
            return
        seen, begun = 0, False
        # In a sandbox a page neither reloads as another one nor opens any.
        policy = f"{REPORT_POLICY}; sandbox" if scope["path"].startswith(self._report_path) else POLICY

        async def receive_some() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return {"type": "http.disconnect"} if seen > MOST_BYTES else message

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                kept = [(name, value) for name, value in message["headers"] if name.decode().lower() not in HEADERS]
                message["headers"] = [*kept, *_encode(HEADERS | {"content-security-policy": policy})]
            await send(message)

        try:
            await self.app(scope, receive_some, send_guarded)
        except Exception:
            if seen <= MOST_BYTES or begun:
                raise
            await _answer(send, 413, "Too much", "No page of the app sends as much as this.")


def _encode(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _refuse(
    scope: MutableMapping[str, Any], receive: Receive, send: Send, status: int, title: str, words: str
) -> None:
    if scope["type"] == "websocket":
        await receive()  # the wish to connect
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, status, title, words)


async def _answer(send: Send, status: int, title: str, words: str) -> None:
    await _send(send, status, SORRY.format(title=title, words=words).encode())


async def _send(send: Send, status: int, body: bytes, more: list[tuple[bytes, bytes]] | None = None) -> None:
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_encode(HEADERS | {"content-security-policy": REPORT_POLICY}),
        *(more or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
