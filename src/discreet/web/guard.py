"""The guard before every request and every websocket: who may speak with the app, and what a page may do.

The server behind it answers any host and any origin; whatever it would say, nothing passes here but

- a `Host` that is the loopback address with our port, so that no other name leads here (DNS rebinding): else 421;
- an `Origin`, if one is sent, that is ours, and a `Sec-Fetch-Site` of `none` or `same-origin`: else 403;
- a sitting: the token of the printed link is exchanged once for a cookie, which ends when nobody uses it: else 403;
- a body that a page of ours could send: else 413.

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
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# Seconds after which a sitting that nobody uses is over, and the largest body of a request.
SITTING, MOST_BYTES = 8 * 3600.0, 1_000_000
ENTRANCE = "/enter"
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
        What the printed link holds, until somebody has used it.
    """

    def __init__(
        self, app: App, port: int, *, report_path: str = "/report/", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.app = app
        self.token = secrets.token_urlsafe(32)
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

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Let a request through, or not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if scope["type"] == "http" and scope["path"] == ENTRANCE and self._is_host_ours(headers):
            await self._enter(scope, send)
            return
        refusal = self._judge(headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "websocket":
            self._used = self._clock()
            await self.app(scope, receive, send)
        else:
            self._used = self._clock()
            await self._pass(scope, headers, receive, send)

    def _is_host_ours(self, headers: dict[str, list[str]]) -> bool:
        return len(headers.get("host", [])) == 1 and headers["host"][0].lower() in self.hosts

    def _judge(self, headers: dict[str, list[str]]) -> tuple[int, str, str] | None:
        """Why a request is refused; None if it is not."""
        if not self._is_host_ours(headers):
            return 421, "Not here", "This address is not the one the app listens on. Use the link it printed."
        ours = {f"http://{headers['host'][0].lower()}"}
        if any(origin.lower() not in ours for origin in headers.get("origin", [])):
            return 403, "Not from there", "Another site asked for this page; the app answers its own pages only."
        if any(site not in ("none", "same-origin") for site in headers.get("sec-fetch-site", [])):
            return 403, "Not from there", "Another site led here; open the link that the app printed."
        if not self._is_known(headers):
            return 403, "No sitting", "The sitting is over, or it never began. Start the app again and open its link."
        return None

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        if not self._key or self._clock() - self._used > SITTING:
            self._key = ""
            return False
        try:
            jar = SimpleCookie("; ".join(headers.get("cookie", [])))
        except CookieError:
            return False
        given = jar[self.cookie].value if self.cookie in jar else ""
        return hmac.compare_digest(given.encode(), self._key.encode())

    async def _enter(self, scope: MutableMapping[str, Any], send: Send) -> None:
        """Exchange the token for a cookie, once."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        given = query.get("token", [""])[0]
        right = bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())
        if scope["method"] != "GET" or not right:
            await _answer(
                send, 403, "Not this link", "The link was used already, or is another one. Start the app again."
            )
            return
        self.token = ""
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
        policy = REPORT_POLICY if scope["path"].startswith(self._report_path) else POLICY

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
